//! What a reader pins: the memtables and the version that together hold the whole database.

use std::sync::Arc;

use crate::memtable::MemTable;
use crate::version::version::Version;

/// A memtable that takes no more writes and waits for its flush.
#[derive(Debug)]
pub(crate) struct SealedMemTable {
    pub(crate) table: Arc<MemTable>,
    /// The number of the table file it becomes. Given when it was sealed, so that the order of numbers in
    /// level 0 is the order of writes.
    pub(crate) file_number: u64,
    /// Logs below this number hold nothing newer than this memtable.
    pub(crate) next_log_number: u64,
    /// The newest sequence at the time of sealing.
    pub(crate) last_sequence: u64,
}

/// A consistent set of memtables and tables. Readers load it once, without a lock, and keep it until done;
/// everything in it stays readable for that long.
///
/// Load the super version *before* the visible sequence: what is written in between lands in memtables that
/// are either in it (and newer than the sequence, hence hidden) or created later (and not looked at).
#[derive(Debug)]
pub(crate) struct SuperVersion {
    pub(crate) active: Arc<MemTable>,
    /// Newest first.
    pub(crate) sealed: Vec<Arc<SealedMemTable>>,
    pub(crate) version: Arc<Version>,
}
