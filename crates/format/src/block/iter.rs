//! Walking a block, shared or borrowed, in both directions.
//!
//! The iterator is at an entry of a [`Window`] of decoded ones. A step within the window changes an index; a step out
//! of it moves the window. An entry thus costs the same in both directions, although the block itself only leads
//! forward.

use std::cmp::Ordering;
use std::ops::{Deref, Range};

use super::block::Block;
use super::first_at_or_after::{FirstAtOrAfter, first_at_or_after};
use super::window::{DecodedEntry, ENTRIES_AHEAD, ENTRIES_PER_SEARCH, Window};
use crate::error::Result;
use crate::internal_key::KeyCompare;
use crate::limits::INTERNAL_KEY_TAG_SIZE_BYTES;

/// An iterator over a block that it holds as `&Block`, `Arc<Block>`, or anything else that derefs to one.
///
/// It is at an entry or invalid. It starts invalid, and a `seek…` moves it to an entry. [`next`](Self::next) beyond
/// the last entry, [`prev`](Self::prev) before the first, and every error make it invalid; a later seek may succeed
/// again. Entries reuse the memory for keys.
///
/// ```
/// use terrace_format::block::{Block, BlockBuilder, BlockIter};
/// use terrace_format::comparator::UserComparator;
///
/// let mut builder = BlockBuilder::new(16);
/// builder.add(b"ash", b"tree");
/// builder.add(b"aster", b"flower");
/// let block = Block::new(builder.finish().to_vec())?;
/// let mut iter = BlockIter::new(&block);
/// iter.seek(&UserComparator::Bytewise, b"asp")?;
/// assert_eq!((iter.key(), iter.value()), (&b"aster"[..], &b"flower"[..]));
/// iter.prev()?;
/// assert_eq!(iter.key(), b"ash");
/// iter.prev()?;
/// assert!(!iter.valid());
/// # Ok::<(), terrace_format::FormatError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BlockIter<D: Deref<Target = Block>> {
    block: D,
    /// Empty while the iterator is not valid.
    window: Window,
    /// Index in the window of the entry that the iterator is at.
    at: usize,
}

/// The memory of a [`BlockIter`], for another iterator to reuse.
#[derive(Debug, Default)]
pub struct BlockIterMemory(Window);

impl BlockIterMemory {
    /// Size of the memory, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

impl<D: Deref<Target = Block>> BlockIter<D> {
    /// Creates an iterator over `block` that is not yet at an entry.
    #[inline]
    pub fn new(block: D) -> Self {
        Self { block, window: Window::default(), at: 0 }
    }

    /// Like [`new`](Self::new), with the memory of another iterator. Treats an entry whose key is too short for an
    /// internal key as damaged.
    #[inline]
    pub fn over_internal_keys(block: D, BlockIterMemory(mut window): BlockIterMemory) -> Self {
        window.set_least_key_length(INTERNAL_KEY_TAG_SIZE_BYTES);
        Self { block, window, at: 0 }
    }

    /// The block, as the iterator held it, and the memory.
    #[inline]
    pub fn into_parts(mut self) -> (D, BlockIterMemory) {
        self.window.clear();
        (self.block, BlockIterMemory(self.window))
    }

    /// Switches to another block and keeps the memory. The iterator is not yet at an entry.
    #[inline]
    pub fn set_block(&mut self, block: D) {
        self.block = block;
        self.window.clear();
    }

    /// The block, as the iterator holds it.
    #[inline]
    pub fn block(&self) -> &D {
        &self.block
    }

    /// Whether the iterator is at an entry.
    #[inline]
    pub fn valid(&self) -> bool {
        self.at < self.window.len()
    }

    /// The key of the entry; empty if the iterator is not [valid](Self::valid).
    #[inline]
    pub fn key(&self) -> &[u8] {
        self.window.get(self.at).map_or(&[], |entry| self.window.key_of(entry))
    }

    /// The value of the entry; empty if the iterator is not [valid](Self::valid).
    #[inline]
    pub fn value(&self) -> &[u8] {
        &self.block.contents()[self.value_range()]
    }

    /// The range of the value in the block's [contents](Block::contents), for a caller that keeps it with the block.
    /// Empty if the iterator is not [valid](Self::valid).
    #[inline]
    pub fn value_range(&self) -> Range<usize> {
        self.window.get(self.at).map_or(0..0, |entry| entry.value_start..entry.value_end)
    }

    /// The key and the value of the entry; empty if the iterator is not [valid](Self::valid).
    #[inline]
    pub fn entry(&self) -> (&[u8], &[u8]) {
        self.window.get(self.at).map_or((&[], &[]), |entry| self.parts_of(entry))
    }

    /// The key of the previous entry, if it is available without moving. `None` says nothing.
    #[inline]
    pub fn key_before(&self) -> Option<&[u8]> {
        let entry = self.window.get(self.at.checked_sub(1)?)?;
        Some(self.window.key_of(entry))
    }

    /// Goes to the first entry, if there is one.
    ///
    /// # Errors
    ///
    /// `Corrupt` if that entry is damaged.
    #[inline]
    pub fn seek_to_first(&mut self) -> Result<()> {
        self.at = 0;
        self.window.restart_at(&self.block, 0, self.block.entries_end(), ENTRIES_AHEAD)
    }

    /// Goes to the last entry, if there is one.
    ///
    /// # Errors
    ///
    /// `Corrupt` if an entry between the last restart point and the end is damaged.
    #[inline]
    pub fn seek_to_last(&mut self) -> Result<()> {
        self.stand_before(self.block.entries_end())
    }

    /// Goes to the first entry whose key is not before `target`, if there is one.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the search meets a damaged restart point or entry.
    #[inline]
    pub fn seek<C: KeyCompare>(&mut self, comparator: &C, target: &[u8]) -> Result<()> {
        let is_before = |key: &[u8]| comparator.compare_keys(key, target) == Ordering::Less;
        // A scan by short seeks often stays within the decoded entries.
        if self.window.spans(is_before) {
            self.at = self.window.partition_point(is_before);
            return Ok(());
        }
        self.at = 0;
        self.window.clear();
        if self.block.entries_end() == 0 {
            return Ok(());
        }
        let restart = self.block.last_restart_before_key(comparator, target)?;
        if comparator.is_bytewise_by_user_key() && self.window.holds_internal_keys() {
            let entries = &self.block.contents()[..self.block.entries_end()];
            match first_at_or_after(entries, self.block.restart(restart), target) {
                FirstAtOrAfter::Entry { offset, shared, .. } => {
                    return self.window.stand_on(&self.block, offset, &target[..shared]);
                }
                FirstAtOrAfter::Incomplete { offset } if offset == entries.len() => return Ok(()),
                _ => {}
            }
        }
        let (start, next) = (self.block.restart(restart), self.block.restart_after(restart));
        // The search ends at the next restart point, which is not before the target.
        let is_sound = start < next && next <= self.block.entries_end();
        let end = if is_sound { next } else { self.block.entries_end() };
        self.window.restart_at(&self.block, start, end, ENTRIES_PER_SEARCH)?;
        loop {
            self.at = self.window.partition_point(is_before);
            if self.valid() || self.window.len() == 0 {
                return Ok(());
            }
            // The entry at the next restart point is the answer: decode no more than that.
            let max_entries = if self.window.end() == next { 1 } else { ENTRIES_PER_SEARCH };
            self.window.advance_by(&self.block, max_entries)?;
        }
    }

    /// Goes to the next entry; does nothing if the iterator is not [valid](Self::valid).
    ///
    /// # Errors
    ///
    /// `Corrupt` if that entry is damaged.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "a cursor in both directions is not an Iterator")]
    pub fn next(&mut self) -> Result<()> {
        if self.step_forward().is_some() {
            return Ok(());
        }
        self.at = 0;
        if self.window.len() == 0 { Ok(()) } else { self.window.advance(&self.block) }
    }

    /// Goes to the previous entry; does nothing if the iterator is not [valid](Self::valid).
    ///
    /// # Errors
    ///
    /// `Corrupt` if an entry between the restart point and the current entry is damaged.
    #[inline]
    pub fn prev(&mut self) -> Result<()> {
        if self.step_backward().is_some() || self.window.len() == 0 {
            return Ok(());
        }
        self.stand_before(self.window.start())
    }

    /// Goes to the next entry if it is already decoded, and returns its key and value. Nearly every step is of this
    /// kind; it cannot fail.
    #[inline]
    pub fn step_forward(&mut self) -> Option<(&[u8], &[u8])> {
        let at = self.at + 1;
        let entry = self.window.get(at)?;
        self.at = at;
        Some(self.parts_of(entry))
    }

    /// Goes to the previous entry if it is already decoded, and returns its key and value. Nearly every step is of
    /// this kind; it cannot fail.
    #[inline]
    pub fn step_backward(&mut self) -> Option<(&[u8], &[u8])> {
        let at = self.at.checked_sub(1)?;
        let entry = self.window.get(at)?;
        self.at = at;
        Some(self.parts_of(entry))
    }

    #[inline]
    fn parts_of(&self, entry: &DecodedEntry) -> (&[u8], &[u8]) {
        (self.window.key_of(entry), &self.block.contents()[entry.value_start..entry.value_end])
    }

    /// Moves to the entry that ends at `end`, or to none if `end` is 0.
    fn stand_before(&mut self, end: usize) -> Result<()> {
        self.at = 0;
        self.window.retreat(&self.block, end)?;
        self.at = self.window.len().saturating_sub(1);
        Ok(())
    }
}
