//! A cursor over a vector that counts its movements and can be made to fail, and a small random generator.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering as Memory};

use terrace_format::comparator::{Comparator, UserComparator};
use terrace_format::internal_key::{InternalKeyComparator, ValueKind, append_internal_key};

use crate::error::{Error, ErrorKind, Result};
use crate::iterator::InternalIterator;

/// Internal key and value.
pub(crate) type Entry = (Vec<u8>, Vec<u8>);

/// Counts what happens to a [`VecIterator`], and makes it fail.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    pub(crate) steps: AtomicUsize,
    pub(crate) seeks: AtomicUsize,
    /// The number of the movement, counted from now, that fails; 0 for none.
    pub(crate) fail_after: AtomicUsize,
}

impl Moves {
    fn count(&self, counter: &AtomicUsize) -> Result<()> {
        counter.fetch_add(1, Memory::Relaxed);
        let left = self.fail_after.load(Memory::Relaxed);
        self.fail_after.store(left.saturating_sub(1), Memory::Relaxed);
        if left == 1 { Err(Error::new(ErrorKind::Io, "a failure on order")) } else { Ok(()) }
    }
}

/// A cursor over a vector of entries.
pub(crate) struct VecIterator {
    comparator: InternalKeyComparator,
    entries: Vec<Entry>,
    /// The length of `entries` if the cursor is not valid.
    position: usize,
    moves: Arc<Moves>,
}

impl VecIterator {
    pub(crate) fn new(comparator: &InternalKeyComparator, mut entries: Vec<Entry>) -> Self {
        entries.sort_by(|a, b| comparator.compare(&a.0, &b.0));
        Self::unordered(comparator, entries)
    }

    /// A cursor over the entries in the given order: a table whose keys do not ascend.
    pub(crate) fn unordered(comparator: &InternalKeyComparator, entries: Vec<Entry>) -> Self {
        let position = entries.len();
        Self { comparator: comparator.clone(), entries, position, moves: Arc::default() }
    }

    pub(crate) fn moves(&self) -> Arc<Moves> {
        Arc::clone(&self.moves)
    }

    fn go(&mut self, counter: fn(&Moves) -> &AtomicUsize, position: usize) -> Result<()> {
        self.position = self.entries.len();
        self.moves.count(counter(&self.moves))?;
        self.position = position;
        Ok(())
    }
}

impl InternalIterator for VecIterator {
    fn valid(&self) -> bool {
        self.position < self.entries.len()
    }

    fn seek_to_first(&mut self) -> Result<()> {
        self.go(|moves| &moves.seeks, 0)
    }

    fn seek_to_last(&mut self) -> Result<()> {
        self.go(|moves| &moves.seeks, self.entries.len().saturating_sub(1))
    }

    fn seek(&mut self, internal_target: &[u8]) -> Result<()> {
        let before = |entry: &Entry| self.comparator.compare(&entry.0, internal_target) == Ordering::Less;
        let position = self.entries.iter().position(|entry| !before(entry)).unwrap_or(self.entries.len());
        self.go(|moves| &moves.seeks, position)
    }

    fn next(&mut self) -> Result<()> {
        assert!(self.valid());
        self.go(|moves| &moves.steps, self.position + 1)
    }

    fn prev(&mut self) -> Result<()> {
        assert!(self.valid());
        self.go(|moves| &moves.steps, self.position.checked_sub(1).unwrap_or(self.entries.len()))
    }

    fn key(&self) -> &[u8] {
        &self.entries[self.position].0
    }

    fn value(&self) -> &[u8] {
        &self.entries[self.position].1
    }

    /// Sometimes `None`, as with a block's cursor.
    fn key_before(&self) -> Option<&[u8]> {
        let before = self.position.checked_sub(1)?;
        (before % 4 != 3).then(|| &self.entries[before].0[..])
    }
}

pub(crate) fn internal_key(user_key: &[u8], sequence: u64, kind: ValueKind) -> Vec<u8> {
    let mut key = Vec::new();
    append_internal_key(&mut key, user_key, sequence, kind);
    key
}

/// The reverse of the bytewise order, in which keys that differ only in the case of letters are one key.
#[derive(Debug)]
struct ReverseComparator;

impl Comparator for ReverseComparator {
    fn name(&self) -> &[u8] {
        b"test.ReverseIgnoringCase"
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        b.to_ascii_lowercase().cmp(&a.to_ascii_lowercase())
    }

    fn find_shortest_separator(&self, _start: &mut Vec<u8>, _limit: &[u8]) {}

    fn find_short_successor(&self, _key: &mut Vec<u8>) {}
}

/// The bytewise order, which counts comparisons.
#[derive(Debug, Default)]
pub(crate) struct Counting(pub(crate) AtomicUsize);

impl Comparator for Counting {
    fn name(&self) -> &[u8] {
        b"test.Counting"
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.0.fetch_add(1, Memory::Relaxed);
        a.cmp(b)
    }

    fn find_shortest_separator(&self, _start: &mut Vec<u8>, _limit: &[u8]) {}

    fn find_short_successor(&self, _key: &mut Vec<u8>) {}
}

/// The orders in which every model test runs.
pub(crate) fn comparators() -> [InternalKeyComparator; 2] {
    [UserComparator::Bytewise, UserComparator::Custom(Arc::new(ReverseComparator))]
        .map(InternalKeyComparator::new)
}

/// Steele, Lea and Flood's SplitMix64: small, and the same on every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True once in `times`.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A key of up to `size_bytes` bytes from a small alphabet, also the empty key.
    pub(crate) fn key(&mut self, size_bytes: usize) -> Vec<u8> {
        (0..self.below(size_bytes + 1)).map(|_| b"abAc\xff"[self.below(5)]).collect()
    }
}
