//! The expected contents of a database: the same keys and values in a `BTreeMap`.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use terrace_engine::UserComparator;

use crate::operation::{Bytes, Change, Movement, Range};

/// A key that the database's comparator orders.
#[derive(Clone, Debug)]
struct OrderedKey {
    bytes: Arc<[u8]>,
    comparator: UserComparator,
}

impl Ord for OrderedKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.comparator.compare(&self.bytes, &other.bytes)
    }
}

impl PartialOrd for OrderedKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OrderedKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for OrderedKey {}

/// The expected state of a database. A clone is a snapshot.
#[derive(Clone, Debug)]
pub struct Model {
    comparator: UserComparator,
    entries: BTreeMap<OrderedKey, Arc<[u8]>>,
}

impl Model {
    /// Creates an empty state with keys in this order.
    pub fn new(comparator: UserComparator) -> Self {
        Self { comparator, entries: BTreeMap::new() }
    }

    /// Applies one change.
    pub fn apply(&mut self, (key, value): &Change) {
        let key = self.ordered(&key.0);
        match value {
            Some(value) => self.entries.insert(key, value.0.as_slice().into()),
            None => self.entries.remove(&key),
        };
    }

    /// The value of a key.
    pub fn get(&self, key: &Bytes) -> Option<&[u8]> {
        self.entries.get(&self.ordered(&key.0)).map(|value| &**value)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the state has no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A cursor over the keys in `range`, as they are now.
    pub fn cursor(&self, range: &Range) -> Cursor {
        // Each key is compared with both bounds, which is slow but leaves nothing to get wrong.
        let after_lower = |key: &[u8]| match &range.lower {
            Bound::Included(lower) => self.comparator.compare(key, &lower.0).is_ge(),
            Bound::Excluded(lower) => self.comparator.compare(key, &lower.0).is_gt(),
            Bound::Unbounded => true,
        };
        let before_upper = |key: &[u8]| match &range.upper {
            Bound::Included(upper) => self.comparator.compare(key, &upper.0).is_le(),
            Bound::Excluded(upper) => self.comparator.compare(key, &upper.0).is_lt(),
            Bound::Unbounded => true,
        };
        let entries = self
            .entries
            .iter()
            .filter(|(key, _)| after_lower(&key.bytes) && before_upper(&key.bytes))
            .map(|(key, value)| (Arc::clone(&key.bytes), Arc::clone(value)))
            .collect();
        Cursor { comparator: self.comparator.clone(), entries, at: None }
    }

    fn ordered(&self, key: &[u8]) -> OrderedKey {
        OrderedKey { bytes: key.into(), comparator: self.comparator.clone() }
    }
}

type Entry = (Arc<[u8]>, Arc<[u8]>);

/// The expected behaviour of an iterator.
#[derive(Debug)]
pub struct Cursor {
    comparator: UserComparator,
    entries: Vec<Entry>,
    at: Option<usize>,
}

impl Cursor {
    /// Does one movement. Without an entry, steps do nothing.
    pub fn go(&mut self, movement: &Movement) {
        let within = |at: usize| (at < self.entries.len()).then_some(at);
        self.at = match movement {
            Movement::First => within(0),
            Movement::Last => self.entries.len().checked_sub(1),
            Movement::Seek(key) => within(self.entries_before(|order| order.is_lt(), key)),
            Movement::SeekForPrev(key) => self.entries_before(|order| order.is_le(), key).checked_sub(1),
            Movement::Next => self.at.and_then(|at| within(at + 1)),
            Movement::Prev => self.at.and_then(|at| at.checked_sub(1)),
        };
    }

    /// The current entry.
    pub fn entry(&self) -> Option<(&[u8], &[u8])> {
        self.at.map(|at| (&*self.entries[at].0, &*self.entries[at].1))
    }

    fn entries_before(&self, holds: impl Fn(Ordering) -> bool, key: &Bytes) -> usize {
        self.entries.partition_point(|(entry, _)| holds(self.comparator.compare(entry, &key.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Bytes {
        Bytes(text.into())
    }

    fn model(keys: &[&str]) -> Model {
        let mut model = Model::new(UserComparator::Bytewise);
        for key in keys {
            model.apply(&(bytes(key), Some(bytes(key))));
        }
        model
    }

    const ALL: Range = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

    #[test]
    fn a_clone_does_not_change() {
        let mut model = model(&["a", "b"]);
        let snapshot = model.clone();
        model.apply(&(bytes("a"), None));
        assert_eq!((model.get(&bytes("a")), model.len()), (None, 1));
        assert_eq!((snapshot.get(&bytes("a")), snapshot.len()), (Some(&b"a"[..]), 2));
    }

    #[test]
    fn a_cursor_moves_both_ways_and_past_the_ends() {
        let mut cursor = model(&["a", "c", "e"]).cursor(&ALL);
        let steps = [
            (Movement::Next, None),
            (Movement::First, Some("a")),
            (Movement::Next, Some("c")),
            (Movement::Prev, Some("a")),
            (Movement::Prev, None),
            (Movement::Seek(bytes("b")), Some("c")),
            (Movement::Seek(bytes("f")), None),
            (Movement::SeekForPrev(bytes("d")), Some("c")),
            (Movement::SeekForPrev(bytes("c")), Some("c")),
            (Movement::SeekForPrev(bytes("0")), None),
            (Movement::Last, Some("e")),
            (Movement::Next, None),
        ];
        for (movement, expected) in steps {
            cursor.go(&movement);
            assert_eq!(cursor.entry().map(|(key, _)| key), expected.map(str::as_bytes), "{movement:?}");
        }
    }

    #[test]
    fn a_cursor_keeps_to_its_range() {
        let range = Range { lower: Bound::Excluded(bytes("a")), upper: Bound::Included(bytes("c")) };
        let mut cursor = model(&["a", "b", "c", "d"]).cursor(&range);
        cursor.go(&Movement::First);
        assert_eq!(cursor.entry().map(|(key, _)| key), Some(&b"b"[..]));
        cursor.go(&Movement::Seek(bytes("d")));
        assert_eq!(cursor.entry(), None);
        cursor.go(&Movement::Last);
        assert_eq!(cursor.entry().map(|(key, _)| key), Some(&b"c"[..]));
    }
}
