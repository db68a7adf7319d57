//! What a search needs of a table's index, in separate memory: once the database has [outgrown](super::paging) memory,
//! a page of the index may cost a disk read.
//!
//! predecessor: [`index`](super::index) · successor: the handle of a data block
//!
//! It holds the rank of every separator (see [`index`](super::index)) and the offset of every block: twelve bytes per
//! block, where the index takes about forty. A target that has the rank of a separator requires a search of the index
//! itself.

use terrace_format::internal_key::{InternalKeyComparator, user_key};
use terrace_format::limits::BLOCK_TRAILER_SIZE_BYTES;
use terrace_format::table::BlockHandle;

use crate::key_prefix::first_word;

/// What a search by ranks finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The number of the first block whose separator is not before the target; the number of blocks if there is none.
    Block(usize),
    /// Either this block or a later one: the target has the rank of this block's separator, and of no other.
    Perhaps(usize),
    /// Ranks do not tell.
    Unclear,
}

/// Separators by rank, and blocks by offset.
#[derive(Debug)]
pub(super) struct BlockMap {
    /// The prefix that all separators but the last share.
    prefix: Box<[u8]>,
    /// The ranks of all separators but the last, in ascending order.
    ranks: Box<[u64]>,
    last_separator: Box<[u8]>,
    /// Where each block begins, and where one after the last would.
    offsets: Box<[u32]>,
}

impl BlockMap {
    /// The map of blocks with these handles. All separators but the last have `ranks` after `prefix`. `None` if the blocks do not
    /// follow each other, or the table is too large, or there are none.
    pub(super) fn new(
        prefix: &[u8],
        ranks: impl Iterator<Item = u64>,
        last_separator: &[u8],
        handles: impl Iterator<Item = Option<BlockHandle>>,
    ) -> Option<Self> {
        let (mut offsets, mut end) = (Vec::new(), None);
        for handle in handles {
            let handle = handle?;
            if end.is_some_and(|end| end != handle.offset) {
                return None;
            }
            offsets.push(u32::try_from(handle.offset).ok()?);
            end = Some(handle.offset.checked_add(handle.size)?.checked_add(BLOCK_TRAILER_SIZE_BYTES as u64)?);
        }
        offsets.push(u32::try_from(end?).ok()?);
        let (offsets, last_separator) = (offsets.into(), last_separator.into());
        Some(Self { prefix: prefix.into(), ranks: ranks.collect(), last_separator, offsets })
    }

    /// Looks for the block of `internal_target`.
    #[inline]
    pub(super) fn find(&self, comparator: &InternalKeyComparator, internal_target: &[u8]) -> Found {
        let target = user_key(internal_target);
        let found = if let Some(rest) = target.strip_prefix(&*self.prefix) {
            let rank = first_word(rest);
            let found = self.ranks.partition_point(|&other| other < rank);
            if self.ranks.get(found) == Some(&rank) {
                let is_alone = self.ranks.get(found + 1) != Some(&rank);
                return if is_alone { Found::Perhaps(found) } else { Found::Unclear };
            }
            found
        } else if *target < *self.prefix {
            0
        } else {
            self.ranks.len()
        };
        let is_beyond =
            found == self.ranks.len() && comparator.compare(&self.last_separator, internal_target).is_lt();
        Found::Block(found + usize::from(is_beyond))
    }

    /// The handle of the block of that number, if there is one.
    #[inline]
    pub(super) fn handle(&self, number: usize) -> Option<BlockHandle> {
        let [begin, end] = *self.offsets.get(number..)?.first_chunk()?;
        let size = u64::from(end - begin) - BLOCK_TRAILER_SIZE_BYTES as u64;
        Some(BlockHandle { offset: u64::from(begin), size })
    }
}
