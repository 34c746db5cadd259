use std::sync::{Arc, Mutex, PoisonError};

/// A slot that keeps only the newest value: a slow reader neither blocks the worker nor makes memory grow.
///
/// Clones share the slot.
#[derive(Debug)]
pub struct Latest<T>(Arc<Mutex<Option<T>>>);

impl<T> Latest<T> {
    /// Replaces whatever is in the slot.
    pub fn put(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    }

    /// Takes the newest value; `None` when nothing came since the last call.
    pub fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(None)))
    }
}

impl<T> Clone for Latest<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
