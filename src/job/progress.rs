use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How far a job is: a stage name, a count and a total. Clones share the numbers; workers add without a lock.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    done: AtomicU64,
    total: AtomicU64,
    stage: Mutex<(&'static str, Instant)>,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            stage: Mutex::new(("starting", Instant::now())),
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

impl Progress {
    /// Begins a stage of `total` items (0: not known) and sets the count to zero.
    pub fn begin(&self, stage: &'static str, total: u64) {
        let mut current = self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.total.store(total, Ordering::Relaxed);
        self.0.done.store(0, Ordering::Relaxed);
        *current = (stage, Instant::now());
    }

    /// Adds finished items.
    pub fn add(&self, items: u64) {
        self.0.done.fetch_add(items, Ordering::Relaxed);
    }

    /// Reads stage, counts and time.
    pub fn snapshot(&self) -> ProgressSnapshot {
        let (stage, since) = *self.0.stage.lock().unwrap_or_else(PoisonError::into_inner);
        ProgressSnapshot {
            stage,
            done: self.0.done.load(Ordering::Relaxed),
            total: self.0.total.load(Ordering::Relaxed),
            elapsed: since.elapsed(),
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
    }
}
