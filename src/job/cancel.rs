use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The work was cancelled; nothing was produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// A flag shared by the one who asks to stop and the one who works. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    flag: Arc<AtomicBool>,
    /// The flag of whoever this work is a part of.
    whole: Option<Arc<AtomicBool>>,
}

impl CancelToken {
    /// Asks the work to stop; cannot be taken back.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether stopping was asked for.
    pub fn is_cancelled(&self) -> bool {
        let is_set = |flag: &Arc<AtomicBool>| flag.load(Ordering::Relaxed);
        is_set(&self.flag) || self.whole.as_ref().is_some_and(is_set)
    }

    /// A token for a part of the work: cancelled with this one or alone. Of a part's part only the part counts.
    #[must_use]
    pub fn part(&self) -> Self {
        Self {
            flag: Arc::default(),
            whole: Some(Arc::clone(&self.flag)),
        }
    }

    /// For `?` in a worker's loop.
    ///
    /// # Errors
    /// [`Cancelled`] once [`CancelToken::cancel`] was called.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_the_whole_and_not_the_other_way_round() {
        let whole = CancelToken::default();
        let (one, other) = (whole.part(), whole.part());
        one.cancel();
        assert!(one.is_cancelled() && !other.is_cancelled() && !whole.is_cancelled());
        whole.cancel();
        assert!(other.check().is_err());
    }
}
