use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A queue from the threads of a job to its owner, who takes from it when there is time. Nobody waits, so it is for news
/// whose amount is bounded by the job itself.
///
/// Clones share the queue.
#[derive(Debug)]
pub struct Feed<T>(Arc<Mutex<VecDeque<T>>>);

impl<T> Feed<T> {
    /// Adds news.
    pub fn push(&self, news: T) {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push_back(news);
    }

    /// Takes the oldest news, at most so many.
    pub fn take(&self, at_most: usize) -> Vec<T> {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = queue.len().min(at_most);
        queue.drain(..count).collect()
    }
}

impl<T> Default for Feed<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(VecDeque::new())))
    }
}

impl<T> Clone for Feed<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_come_in_order_and_in_parts() {
        let feed = Feed::default();
        let writer = feed.clone();
        (0..5).for_each(|number| writer.push(number));
        assert_eq!(feed.take(2), [0, 1]);
        assert_eq!(feed.take(9), [2, 3, 4]);
        assert!(feed.take(9).is_empty());
    }
}
