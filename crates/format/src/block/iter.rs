//! Walking a block in both directions.
//!
//! Predecessor: a [`Block`], shared or borrowed. Successor: the engine's table iterator, which strings blocks together.
//!
//! Forward, an entry follows from the one before it. Backward there is no such link, so a step back decodes the entries
//! from the last restart point up to the current one, once, and keeps them in a [`Run`]: the steps that follow take
//! them from there.
//!
//! ```text
//!           restart                          current
//!   ──────────┬────────┬────────┬────────┬──────┬─────────
//!             │ entry  │ entry  │ entry  │ entry│
//!   ──────────┴────────┴────────┴────────┴──────┴─────────
//!             └── the run: a stack, last on top ┘
//! ```

use std::ops::{Deref, Range};

use super::block::{Block, KeyPlace, Position};
use crate::error::{FormatError, Result};
use crate::internal_key::KeyCompare;

/// Bounds of a run. They exceed any interval that writers use; a hostile block whose keys grow by decoding cannot make a
/// run take more memory, it only makes the steps back slower.
const MAX_RUN_ENTRIES: usize = 256;
const MAX_RUN_KEY_BYTES: usize = 64 << 10;

/// An iterator over a block that it owns in some way: `&Block`, `Arc<Block>`, or whatever else derefs to one.
///
/// It stands on an entry or is invalid. It starts invalid; `seek…` places it; [`next`](Self::next) beyond the last entry,
/// [`prev`](Self::prev) before the first and every error make it invalid, and a later seek may succeed again. The memory
/// for keys is reused from entry to entry.
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
    position: Option<Position>,
    /// The current key, where it is not stored whole.
    buffer: Vec<u8>,
    run: Run,
}

/// Decoded entries that directly precede one offset.
#[derive(Clone, Debug, Default)]
struct Run {
    /// Offset of the entry, or of the end, before which the last of `entries` lies.
    end: usize,
    entries: Vec<RunEntry>,
    /// The keys of `entries` that are not stored whole, back to back.
    keys: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct RunEntry {
    position: Position,
    /// Where its key starts in the run's keys, if it is there.
    key_start: usize,
}

impl<D: Deref<Target = Block>> BlockIter<D> {
    /// An iterator over `block`, not yet on an entry.
    #[inline]
    pub fn new(block: D) -> Self {
        Self { block, position: None, buffer: Vec::new(), run: Run::default() }
    }

    /// Leaves the block for another one, keeping the memory. Not yet on an entry.
    #[inline]
    pub fn set_block(&mut self, block: D) {
        self.block = block;
        self.position = None;
        self.run.clear();
    }

    /// The block, as the iterator holds it.
    #[inline]
    pub fn block(&self) -> &D {
        &self.block
    }

    /// Whether the iterator stands on an entry.
    #[inline]
    pub fn valid(&self) -> bool {
        self.position.is_some()
    }

    /// The key of the entry; empty if the iterator is not [valid](Self::valid).
    #[inline]
    pub fn key(&self) -> &[u8] {
        match self.position {
            Some(position) => self.block.key(position.key, &self.buffer),
            None => &[],
        }
    }

    /// The value of the entry; empty if the iterator is not [valid](Self::valid).
    #[inline]
    pub fn value(&self) -> &[u8] {
        &self.block.contents()[self.value_range()]
    }

    /// Where the value lies in the block's [contents](Block::contents), for a caller who keeps it with the block. Empty
    /// if the iterator is not [valid](Self::valid).
    #[inline]
    pub fn value_range(&self) -> Range<usize> {
        self.position.map_or(0..0, |position| position.value_start..position.value_end)
    }

    /// Goes to the first entry, if there is one. Fails if it is damaged.
    #[inline]
    pub fn seek_to_first(&mut self) -> Result<()> {
        self.read_at(0, KeyPlace::NONE)
    }

    /// Goes to the last entry, if there is one. Fails if an entry between the last restart point and the end is damaged.
    #[inline]
    pub fn seek_to_last(&mut self) -> Result<()> {
        self.step_back_from(self.block.entries_end())
    }

    /// Goes to the first entry whose key is not before `target`, if there is one. Fails if a restart point or an entry
    /// on the way is damaged.
    #[inline]
    pub fn seek<C: KeyCompare>(&mut self, comparator: &C, target: &[u8]) -> Result<()> {
        // Not in force while the buffer changes: an error leaves the iterator invalid.
        self.position = None;
        self.position = self.block.lower_bound(comparator, target, &mut self.buffer)?;
        Ok(())
    }

    /// Goes to the next entry; does nothing if the iterator is not [valid](Self::valid). Fails if that entry is damaged.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "a cursor in both directions is no Iterator")]
    pub fn next(&mut self) -> Result<()> {
        match self.position {
            Some(position) => self.read_at(position.value_end, position.key),
            None => Ok(()),
        }
    }

    /// Goes to the entry before; does nothing if the iterator is not [valid](Self::valid). Fails if an entry between the
    /// restart point and the current entry is damaged.
    #[inline]
    pub fn prev(&mut self) -> Result<()> {
        match self.position {
            Some(position) => self.step_back_from(position.offset),
            None => Ok(()),
        }
    }

    /// Stands on the entry at `offset`, the key before which is at `previous`.
    #[inline]
    fn read_at(&mut self, offset: usize, previous: KeyPlace) -> Result<()> {
        self.position = None;
        if offset < self.block.entries_end() {
            let position = self.block.read(offset, previous, &mut self.buffer);
            self.position = Some(position.ok_or_else(|| self.block.damaged_entry(offset))?);
        }
        Ok(())
    }

    /// Stands on the entry that ends at `end`, or on none if `end` is 0.
    fn step_back_from(&mut self, end: usize) -> Result<()> {
        self.position = None;
        if end == 0 {
            return Ok(());
        }
        if self.run.end != end || self.run.entries.is_empty() {
            self.run.fill(&self.block, end, &mut self.buffer)?;
        }
        self.position = self.run.pop(&mut self.buffer);
        Ok(())
    }
}

impl Run {
    fn clear(&mut self) {
        self.entries.clear();
        self.keys.clear();
    }

    /// Decodes the entries from the last restart point up to `end`, which must not be 0.
    fn fill(&mut self, block: &Block, end: usize, buffer: &mut Vec<u8>) -> Result<()> {
        self.clear();
        let mut offset = block.restart_before(end);
        let mut key = KeyPlace::NONE;
        while offset < end {
            let Some(position) = block.read(offset, key, buffer) else {
                self.clear();
                return Err(block.damaged_entry(offset));
            };
            if self.entries.len() >= MAX_RUN_ENTRIES || self.keys.len() >= MAX_RUN_KEY_BYTES {
                self.clear();
            }
            self.entries.push(RunEntry { position, key_start: self.keys.len() });
            if let KeyPlace::Buffer = position.key {
                self.keys.extend_from_slice(buffer);
            }
            key = position.key;
            offset = position.value_end;
        }
        if offset != end {
            self.clear();
            return Err(FormatError::corrupt("block", "a restart point lies inside an entry", end as u64));
        }
        self.end = end;
        Ok(())
    }

    /// Takes the last entry; its key, if it was put together, goes to `buffer`.
    fn pop(&mut self, buffer: &mut Vec<u8>) -> Option<Position> {
        let RunEntry { position, key_start } = self.entries.pop()?;
        if let KeyPlace::Buffer = position.key {
            buffer.clear();
            buffer.extend_from_slice(&self.keys[key_start..]);
        }
        self.keys.truncate(key_start);
        self.end = position.offset;
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockBuilder;

    #[test]
    fn a_run_of_long_keys_stays_small() {
        let prefix = vec![b'p'; 5_000];
        let keys: Vec<Vec<u8>> = (0..100u8).map(|n| [&prefix[..], &[n]].concat()).collect();
        let mut builder = BlockBuilder::new(keys.len());
        for key in &keys {
            builder.add(key, b"");
        }
        let block = Block::new(builder.finish().to_vec()).unwrap();
        let mut iter = BlockIter::new(&block);
        iter.seek_to_last().unwrap();
        for key in keys.iter().rev() {
            assert_eq!(iter.key(), key);
            assert!(iter.run.keys.len() <= MAX_RUN_KEY_BYTES + prefix.len() + 1);
            iter.prev().unwrap();
        }
        assert!(!iter.valid());
    }
}
