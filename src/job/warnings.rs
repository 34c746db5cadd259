use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Kinds kept apart at most; anything further is only counted, so hostile input cannot fill the memory.
const DISTINCT_LIMIT: usize = 1000;

/// One kind of recoverable trouble and how often it came up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Stable code, for example `W120`.
    pub code: &'static str,
    /// What failed, where, and what to try; one line.
    pub text: String,
    /// How often the same text was reported.
    pub count: usize,
}

/// Collects recoverable trouble, counted and without duplicates. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Store>>);

#[derive(Debug, Default)]
struct Store {
    order: Vec<Warning>,
    index: BTreeMap<(&'static str, String), usize>,
    dropped: usize,
}

impl Warnings {
    /// Adds one; an equal code and text only raises its count.
    pub fn push(&self, code: &'static str, text: impl Into<String>) {
        let text = text.into();
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&at) = store.index.get(&(code, text.clone())) {
            store.order[at].count += 1;
        } else if store.order.len() < DISTINCT_LIMIT {
            let at = store.order.len();
            store.index.insert((code, text.clone()), at);
            store.order.push(Warning {
                code,
                text,
                count: 1,
            });
        } else {
            store.dropped += 1;
        }
    }

    /// All so far, in the order of their first appearance; a last entry counts what did not fit.
    pub fn list(&self) -> Vec<Warning> {
        let store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = store.order.clone();
        if store.dropped > 0 {
            list.push(Warning {
                code: "W000",
                text: format!("{} more warnings of other kinds", store.dropped),
                count: 1,
            });
        }
        list
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        let store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        store.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_counted_and_the_list_is_bounded() {
        let warnings = Warnings::default();
        assert!(warnings.is_empty());
        warnings.push("W1", "same");
        warnings.push("W1", "same");
        assert_eq!(warnings.list()[0].count, 2);
        for i in 0..DISTINCT_LIMIT + 5 {
            warnings.push("W2", format!("{i}"));
        }
        let list = warnings.list();
        assert_eq!(list.len(), DISTINCT_LIMIT + 1);
        assert!(list[DISTINCT_LIMIT].text.starts_with("6 more"));
    }
}
