//! The cursor that memtables, tables and levels have in common.

use crate::error::Result;

/// A cursor over entries in the order of internal keys (user key ascending, newest version first).
///
/// A cursor starts out not valid: position it with a seek. After an error it is not valid; a later seek may
/// succeed.
pub trait InternalIterator: Send {
    /// Whether the cursor stands on an entry.
    fn valid(&self) -> bool;

    /// Moves to the first entry.
    fn seek_to_first(&mut self) -> Result<()>;

    /// Moves to the last entry.
    fn seek_to_last(&mut self) -> Result<()>;

    /// Moves to the first entry whose internal key is at or after `internal_target`.
    fn seek(&mut self, internal_target: &[u8]) -> Result<()>;

    /// Moves to the next entry. Needs [`valid`](Self::valid).
    fn next(&mut self) -> Result<()>;

    /// Moves to the entry before. Needs [`valid`](Self::valid).
    fn prev(&mut self) -> Result<()>;

    /// The internal key of the current entry. Needs [`valid`](Self::valid).
    fn key(&self) -> &[u8];

    /// The value of the current entry. Needs [`valid`](Self::valid).
    fn value(&self) -> &[u8];
}
