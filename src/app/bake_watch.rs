use std::time::{Duration, Instant};

use crate::ui::BakePace;

/// Measures what a running bake does to the window.
pub(super) struct BakeWatch {
    started: Instant,
    pub(super) pace: BakePace,
    pub(super) frames: u32,
    /// The longest frame.
    pub(super) worst: FrameTimes,
}

/// What a frame spent its time on, one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameTimes {
    pub(super) began: Instant,
    last: Instant,
    /// Taking in what jobs say.
    pub(super) news: Duration,
    /// Laying out the panels.
    pub(super) panels: Duration,
    /// Doing what was clicked.
    pub(super) commands: Duration,
    /// Uploading, and recording the picture of the map.
    pub(super) map: Duration,
    /// Recording the panels and waiting for the device; a software renderer draws meanwhile.
    pub(super) present: Duration,
}

impl FrameTimes {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            last: now,
            news: Duration::ZERO,
            panels: Duration::ZERO,
            commands: Duration::ZERO,
            map: Duration::ZERO,
            present: Duration::ZERO,
        }
    }

    /// Time since the last lap.
    pub(super) fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.last, now)
    }

    /// From its beginning to the last lap.
    pub(super) fn total(&self) -> Duration {
        self.last - self.began
    }
}

impl std::fmt::Display for FrameTimes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let millis = |time: Duration| time.as_secs_f32() * 1e3;
        write!(
            f,
            "{:.0} ms (news {:.1}, panels {:.1}, commands {:.1}, map {:.1}, present {:.1})",
            millis(self.total()),
            millis(self.news),
            millis(self.panels),
            millis(self.commands),
            millis(self.map),
            millis(self.present)
        )
    }
}

impl BakeWatch {
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            pace: BakePace::default(),
            frames: 0,
            worst: FrameTimes::start(),
        }
    }

    /// Counts a frame; `has_light` says that it shows light of the bake.
    pub(super) fn count(&mut self, times: FrameTimes, has_light: bool) {
        self.frames += 1;
        log::debug!(
            "{:.3} s after the start of the bake a frame of {times}",
            self.started.elapsed().as_secs_f32()
        );
        if times.total() > self.worst.total() {
            self.worst = times;
            self.pace.worst_frame_secs = times.total().as_secs_f32();
        }
        if has_light && self.pace.first_picture_secs.is_none() {
            self.pace.first_picture_secs = Some(self.started.elapsed().as_secs_f32());
        }
    }
}
