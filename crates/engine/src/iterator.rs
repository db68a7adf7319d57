//! The cursor that memtables, tables and levels have in common.

use terrace_format::limits::BLOCK_TRAILER_SIZE_BYTES;

use crate::error::Result;

/// A part of the work of a seek. It ends by asking for the memory that the next part reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// Find out which block to read.
    FindBlock,
    /// Load that block.
    LoadBlock,
}

/// All parts of a seek that can be prepared, in order.
pub const PREPARATIONS: [Preparation; 2] = [Preparation::FindBlock, Preparation::LoadBlock];

/// A block as it lies in a table.
#[derive(Clone, Copy, Debug)]
pub struct StoredBlock<'a> {
    /// Its contents, compressed or not.
    pub contents: &'a [u8],
    /// Its trailer.
    pub trailer: &'a [u8; BLOCK_TRAILER_SIZE_BYTES],
}

/// A cursor over entries in the order of internal keys (user key ascending, newest version first).
///
/// A new cursor is not valid: position it with a seek. After an error it is not valid; a later seek may succeed.
pub trait InternalIterator: Send {
    /// Whether the cursor stands on an entry.
    fn valid(&self) -> bool;

    /// Moves to the first entry.
    fn seek_to_first(&mut self) -> Result<()>;

    /// Moves to the last entry.
    fn seek_to_last(&mut self) -> Result<()>;

    /// Moves to the first entry whose internal key is at or after `internal_target`.
    fn seek(&mut self, internal_target: &[u8]) -> Result<()>;

    /// Does a part of a [`seek`](Self::seek) to the same target, which must be the next call. Preparing several cursors
    /// fetches the memory that they need at the same time: call this for each of the [`PREPARATIONS`], in order, and in each
    /// for every cursor. The cursor is not valid meanwhile.
    fn prepare_seek(&mut self, _internal_target: &[u8], _preparation: Preparation) {}

    /// Moves to the next entry. Needs [`valid`](Self::valid).
    fn next(&mut self) -> Result<()>;

    /// Moves to the previous entry. Needs [`valid`](Self::valid).
    fn prev(&mut self) -> Result<()>;

    /// Moves to the next entry if that is already decoded, and returns its internal key and value. Otherwise stays and
    /// returns `None`, which says nothing about what follows. Needs [`valid`](Self::valid).
    #[inline]
    fn next_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        None
    }

    /// As [`next_at_hand`](Self::next_at_hand), for the previous entry.
    #[inline]
    fn prev_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        None
    }

    /// The internal key of the current entry. Needs [`valid`](Self::valid).
    fn key(&self) -> &[u8];

    /// The value of the current entry. Needs [`valid`](Self::valid).
    fn value(&self) -> &[u8];

    /// The current entry's internal key and value; cheaper than asking for each. Needs [`valid`](Self::valid).
    #[inline]
    fn entry(&self) -> (&[u8], &[u8]) {
        (self.key(), self.value())
    }

    /// The internal key of the previous entry, if it is known without moving. `None` says nothing.
    fn key_before(&self) -> Option<&[u8]> {
        None
    }

    /// The block that holds only the current entry, if there is one at hand. Its checksum was verified and its entry
    /// decoded, so it may be passed on unchanged. Needs [`valid`](Self::valid).
    fn stored_block(&self) -> Option<StoredBlock<'_>> {
        None
    }
}

impl InternalIterator for Box<dyn InternalIterator> {
    fn valid(&self) -> bool {
        (**self).valid()
    }

    fn seek_to_first(&mut self) -> Result<()> {
        (**self).seek_to_first()
    }

    fn seek_to_last(&mut self) -> Result<()> {
        (**self).seek_to_last()
    }

    fn seek(&mut self, internal_target: &[u8]) -> Result<()> {
        (**self).seek(internal_target)
    }

    fn next(&mut self) -> Result<()> {
        (**self).next()
    }

    fn prev(&mut self) -> Result<()> {
        (**self).prev()
    }

    fn next_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        (**self).next_at_hand()
    }

    fn prev_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        (**self).prev_at_hand()
    }

    fn key(&self) -> &[u8] {
        (**self).key()
    }

    fn value(&self) -> &[u8] {
        (**self).value()
    }

    fn entry(&self) -> (&[u8], &[u8]) {
        (**self).entry()
    }

    fn key_before(&self) -> Option<&[u8]> {
        (**self).key_before()
    }

    fn stored_block(&self) -> Option<StoredBlock<'_>> {
        (**self).stored_block()
    }
}
