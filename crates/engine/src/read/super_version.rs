//! What a reader pins: the memtables and the version that together hold the whole database.

use std::sync::Arc;

use terrace_env::DirectoryHold;

use crate::memtable::MemTable;
use crate::version::version::Version;

/// A memtable that takes no more writes and waits for its flush.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub(crate) struct SuperVersion {
    pub(crate) active: Arc<MemTable>,
    /// Newest first.
    pub(crate) sealed: Vec<Arc<SealedMemTable>>,
    pub(crate) version: Arc<Version>,
    /// The hold on the directory, where the environment has one: whoever keeps the view can open its tables.
    pub(crate) hold: Option<Arc<dyn DirectoryHold>>,
}

impl SuperVersion {
    /// Puts an empty memtable in the place of the active one, which is `sealed` now.
    pub(crate) fn seal(&mut self, active: Arc<MemTable>, sealed: Arc<SealedMemTable>) {
        self.active = active;
        self.sealed.insert(0, sealed);
    }

    /// Puts `version`, which has the table that it became, in the place of a sealed memtable: both in one step, so that
    /// each reader finds the entries in one of the two.
    pub(crate) fn replace_by_table(&mut self, sealed: &SealedMemTable, version: Arc<Version>) {
        self.version = version;
        self.sealed.retain(|other| other.file_number != sealed.file_number);
    }
}
