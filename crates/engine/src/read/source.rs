//! The cursors that an iterator of the database merges. Predecessor: [`MergingIterator`](super::merging_iterator::MergingIterator).
//! Successors: the cursors of memtables and levels.
//!
//! They are one enum and not boxed: nearly every step moves an index within decoded entries, and is inlined all the way
//! up.

use crate::error::Result;
use crate::iterator::{InternalIterator, Preparation};
use crate::memtable::MemTableIterator;
use crate::version::level_iterator::LevelIterator;

/// A cursor over one part of the database.
#[expect(clippy::large_enum_variant, reason = "there are few, and a box would cost each step a load")]
pub(crate) enum Source {
    Memtable(MemTableIterator),
    /// A level, or one table of level 0.
    Level(LevelIterator),
    #[cfg(test)]
    Test(crate::read::merging_iterator::test_support::VecIterator),
}

macro_rules! each {
    ($source:expr, $cursor:ident => $call:expr) => {
        match $source {
            Source::Memtable($cursor) => $call,
            Source::Level($cursor) => $call,
            #[cfg(test)]
            Source::Test($cursor) => $call,
        }
    };
}

impl InternalIterator for Source {
    #[inline(always)]
    fn valid(&self) -> bool {
        each!(self, cursor => cursor.valid())
    }

    fn seek_to_first(&mut self) -> Result<()> {
        each!(self, cursor => cursor.seek_to_first())
    }

    fn seek_to_last(&mut self) -> Result<()> {
        each!(self, cursor => cursor.seek_to_last())
    }

    fn seek(&mut self, internal_target: &[u8]) -> Result<()> {
        each!(self, cursor => cursor.seek(internal_target))
    }

    fn prepare_seek(&mut self, internal_target: &[u8], preparation: Preparation) {
        each!(self, cursor => cursor.prepare_seek(internal_target, preparation));
    }

    #[inline(always)]
    fn next(&mut self) -> Result<()> {
        each!(self, cursor => cursor.next())
    }

    #[inline(always)]
    fn prev(&mut self) -> Result<()> {
        each!(self, cursor => cursor.prev())
    }

    #[inline(always)]
    fn next_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        each!(self, cursor => cursor.next_at_hand())
    }

    #[inline(always)]
    fn prev_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        each!(self, cursor => cursor.prev_at_hand())
    }

    #[inline(always)]
    fn key(&self) -> &[u8] {
        each!(self, cursor => cursor.key())
    }

    #[inline(always)]
    fn value(&self) -> &[u8] {
        each!(self, cursor => cursor.value())
    }

    #[inline(always)]
    fn entry(&self) -> (&[u8], &[u8]) {
        each!(self, cursor => cursor.entry())
    }

    #[inline(always)]
    fn key_before(&self) -> Option<&[u8]> {
        each!(self, cursor => cursor.key_before())
    }
}
