//! What a reader pins: the memtables and the version that together hold the whole database.

use std::sync::Arc;

use terrace_env::DirectoryHold;

use crate::memtable::MemTable;
use crate::version::version::Version;

/// A memtable that takes no more writes and waits for its flush.
#[derive(Clone, Debug)]
pub(crate) struct SealedMemTable {
    pub(crate) table: Arc<MemTable>,
    /// The number of the table file that it becomes, from
    /// [`new_flush_number`](crate::version::VersionSet::new_flush_number). It is given at sealing, so that the order of
    /// numbers in level 0 is the order of writes.
    pub(crate) file_number: u64,
    /// Logs below this number hold nothing newer than this memtable.
    pub(crate) next_log_number: u64,
    /// The newest sequence when it was sealed.
    pub(crate) last_sequence: u64,
}

/// A consistent set of memtables and tables. A reader loads it once, without a lock, and keeps it until it is done;
/// everything in it stays readable that long.
#[derive(Clone, Debug)]
pub(crate) struct SuperVersion {
    pub(crate) active: Arc<MemTable>,
    /// Newest first.
    pub(crate) sealed: Vec<Arc<SealedMemTable>>,
    pub(crate) version: Arc<Version>,
    /// The hold on the directory, if the environment has one. It lets readers that keep the view open its tables.
    pub(crate) hold: Option<Arc<dyn DirectoryHold>>,
}

impl SuperVersion {
    /// Replaces the active memtable, which is now `sealed`, by the empty one `active`.
    pub(crate) fn seal(&mut self, active: Arc<MemTable>, sealed: Arc<SealedMemTable>) {
        self.active = active;
        self.sealed.insert(0, sealed);
    }

    /// Removes sealed memtables and installs `version`, which has the tables that they became. Both happen in one step, so
    /// that each reader finds the entries in one of the two.
    pub(crate) fn replace_by_tables(&mut self, sealed: &[Arc<SealedMemTable>], version: Arc<Version>) {
        self.version = version;
        self.sealed.retain(|other| sealed.iter().all(|sealed| sealed.file_number != other.file_number));
    }
}
