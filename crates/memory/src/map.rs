//! The map itself: its root, and what it counts.

use std::ops::Bound;
use std::rc::Rc;

use crate::cursor::Cursor;
use crate::inner::{Inner, Node};

/// An ordered map of byte strings. A clone takes constant time and is a snapshot: neither map sees the other's changes.
#[derive(Clone)]
pub struct Map {
    root: Node,
    entries: usize,
    data_bytes: usize,
}

/// How many keys are collected before they are deleted.
const KEYS_AT_ONCE: usize = 1024;

impl Default for Map {
    fn default() -> Self {
        Self { root: Node::empty(), entries: 0, data_bytes: 0 }
    }
}

impl Map {
    /// A key longer than this, in bytes, must not be stored: a leaf counts in 32 bits.
    pub const LONGEST_KEY_BYTES: usize = 1 << 30;

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// The lengths of all keys and values together.
    pub fn data_bytes(&self) -> usize {
        self.data_bytes
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.root.get(key)
    }

    /// Stores a value.
    ///
    /// # Panics
    /// If the key is longer than [`LONGEST_KEY_BYTES`](Self::LONGEST_KEY_BYTES).
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        assert!(key.len() <= Self::LONGEST_KEY_BYTES, "a key must not be longer than a GiB");
        let put = self.root.put(key, value);
        if let Some((separator, later)) = put.split {
            let earlier = std::mem::replace(&mut self.root, Node::empty());
            self.root = Node::Inner(Rc::new(Inner::over(earlier, &separator, later)));
        }
        self.data_bytes += value.len();
        match put.replaced {
            Some(replaced) => self.data_bytes -= replaced,
            None => {
                self.data_bytes += key.len();
                self.entries += 1;
            }
        }
    }

    /// Deletes a key. Returns whether it was there. Without it, nothing is copied.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        if self.get(key).is_none() {
            return false;
        }
        if let Some(removed) = self.root.remove(key) {
            self.data_bytes -= key.len() + removed;
            self.entries -= 1;
            self.root = std::mem::replace(&mut self.root, Node::empty()).lowered();
        }
        true
    }

    /// Deletes all entries.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Deletes up to `limit` keys of a range, from its beginning, or its end if `reverse` says so.
    pub fn remove_range(&mut self, range: (Bound<&[u8]>, Bound<&[u8]>), reverse: bool, limit: usize) {
        if range == (Bound::Unbounded, Bound::Unbounded) && limit >= self.entries {
            return self.clear();
        }
        let mut remaining = limit;
        while remaining > 0 {
            // The cursor is gone before the first deletion, which would otherwise copy what it shows.
            let keys = self.keys(range, reverse, remaining.min(KEYS_AT_ONCE));
            for key in &keys {
                self.remove(key);
            }
            remaining -= keys.len();
            if keys.len() < KEYS_AT_ONCE {
                return;
            }
        }
    }

    /// The first or last keys of a range.
    fn keys(&self, range: (Bound<&[u8]>, Bound<&[u8]>), reverse: bool, limit: usize) -> Vec<Vec<u8>> {
        let mut cursor = self.cursor();
        let mut keys = Vec::new();
        cursor.seek_within(range, reverse);
        while keys.len() < limit
            && let Some((key, _)) = cursor.entry().filter(|(key, _)| is_within(key, range))
        {
            keys.push(key.to_vec());
            cursor.step(reverse);
        }
        keys
    }

    /// Whether a range has the same entries here as in another map. The entries before the first difference are read.
    pub fn is_same_within(&self, other: &Self, range: (Bound<&[u8]>, Bound<&[u8]>)) -> bool {
        let [mut own, mut others] = [self, other].map(|map| {
            let mut cursor = map.cursor();
            cursor.seek_within(range, false);
            cursor
        });
        loop {
            let [entry, other] =
                [&own, &others].map(|cursor| cursor.entry().filter(|(key, _)| is_within(key, range)));
            if entry != other {
                return false;
            }
            if entry.is_none() {
                return true;
            }
            own.step(false);
            others.step(false);
        }
    }

    /// A cursor over the map as it is now, at no entry.
    pub fn cursor(&self) -> Cursor {
        Cursor::new(self.root.clone())
    }
}

/// Whether a key is in a range.
#[inline]
pub fn is_within(key: &[u8], (lower, upper): (Bound<&[u8]>, Bound<&[u8]>)) -> bool {
    std::ops::RangeBounds::<[u8]>::contains(&(lower, upper), key)
}
