use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Stages whose times are kept.
const STAGES_MAX: usize = 1000;

/// How far a job is: a stage name, a count and a total. Clones share the numbers; workers add without a lock.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    done: AtomicU64,
    total: AtomicU64,
    stage: Mutex<Stage>,
}

#[derive(Debug)]
struct Stage {
    name: &'static str,
    since: Instant,
    /// Those before it, in order.
    ended: Vec<StageTime>,
}

/// How long a stage took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageTime {
    /// Its name.
    pub stage: &'static str,
    /// Seconds.
    pub secs: f32,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            stage: Mutex::new(Stage {
                name: "starting",
                since: Instant::now(),
                ended: Vec::new(),
            }),
        }
    }
}

/// A reading of [`Progress`] at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProgressSnapshot {
    /// What is being done, in words.
    pub stage: &'static str,
    /// Items finished in this stage.
    pub done: u64,
    /// Items in this stage; 0 when not known.
    pub total: u64,
    /// Time since the stage began.
    pub elapsed: Duration,
}

impl Stage {
    fn time(&self) -> StageTime {
        StageTime {
            stage: self.name,
            secs: self.since.elapsed().as_secs_f32(),
        }
    }
}

impl Progress {
    /// Begins a stage of `total` items (0: not known) and sets the count to zero.
    pub fn begin(&self, stage: &'static str, total: u64) {
        let mut current = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.total.store(total, Ordering::Relaxed);
        self.0.done.store(0, Ordering::Relaxed);
        let ended = current.time();
        if current.ended.len() < STAGES_MAX {
            current.ended.push(ended);
        }
        current.name = stage;
        current.since = Instant::now();
    }

    /// Times of all stages in order, the present one so far included. Of more than a thousand the last are left out.
    pub fn stages(&self) -> Vec<StageTime> {
        let current = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = current.ended.iter().copied();
        ended.chain([current.time()]).collect()
    }

    /// Adds finished items.
    pub fn add(&self, items: u64) {
        self.0.done.fetch_add(items, Ordering::Relaxed);
    }

    /// Reads stage, counts and time.
    pub fn snapshot(&self) -> ProgressSnapshot {
        let current = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        ProgressSnapshot {
            stage: current.name,
            done: self.0.done.load(Ordering::Relaxed),
            total: self.0.total.load(Ordering::Relaxed),
            elapsed: current.since.elapsed(),
        }
    }
}

impl ProgressSnapshot {
    /// Share done in 0 to 1; 0 when the total is not known.
    pub fn fraction(&self) -> f32 {
        if self.total == 0 {
            0.0
        } else {
            (self.done as f32 / self.total as f32).min(1.0)
        }
    }

    /// Items a second so far in this stage; 0 before the first item.
    pub fn rate(&self) -> f32 {
        let secs = self.elapsed.as_secs_f32();
        if secs > 0.0 {
            self.done as f32 / secs
        } else {
            0.0
        }
    }

    /// Seconds left at the present rate; `None` before the first item or with an unknown total.
    pub fn remaining_secs(&self) -> Option<f32> {
        let rate = self.rate();
        (rate > 0.0 && self.total > 0).then(|| self.total.saturating_sub(self.done) as f32 / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_a_stage_resets_the_count() {
        let progress = Progress::default();
        progress.begin("first", 10);
        progress.add(7);
        assert!((progress.snapshot().fraction() - 0.7).abs() < 1e-6);
        progress.begin("second", 0);
        let snapshot = progress.snapshot();
        assert_eq!((snapshot.stage, snapshot.done), ("second", 0));
        assert_eq!(snapshot.remaining_secs(), None);
        let times = progress.stages();
        let names: Vec<&str> = times.iter().map(|time| time.stage).collect();
        assert_eq!(names, ["starting", "first", "second"]);
        assert!(times.iter().all(|time| time.secs >= 0.0));
    }
}
