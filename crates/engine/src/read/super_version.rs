//! What a reader pins: the memtables and the version that together hold the whole database.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_env::DirectoryHold;
use terrace_format::internal_key::SequenceNumber;

use crate::memtable::MemTable;
use crate::read::snapshot::Snapshot;
use crate::sync::{ArcSwap, AtomicU64, loaded};
use crate::version::version::Version;

/// A memtable that takes no more writes and waits for its flush.
#[derive(Clone, Debug)]
pub(crate) struct SealedMemTable {
    pub(crate) table: Arc<MemTable>,
    /// The number of the table file that it becomes. It is given at sealing, so that the order of numbers in level 0 is
    /// the order of writes.
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

    /// Removes a sealed memtable and installs `version`, which has the table that it became. Both happen in one step, so
    /// that each reader finds the entries in one of the two.
    pub(crate) fn replace_by_table(&mut self, sealed: &SealedMemTable, version: Arc<Version>) {
        self.version = version;
        self.sealed.retain(|other| other.file_number != sealed.file_number);
    }
}

/// What readers see: the super version in force, and the newest sequence in it that they may see.
#[derive(Debug)]
pub(crate) struct Published {
    super_version: ArcSwap<SuperVersion>,
    visible_sequence: AtomicU64,
}

impl Published {
    pub(crate) fn new(super_version: SuperVersion, visible_sequence: SequenceNumber) -> Self {
        Self {
            super_version: ArcSwap::from_pointee(super_version),
            visible_sequence: AtomicU64::new(visible_sequence),
        }
    }

    /// The super version in force.
    #[inline]
    pub(crate) fn super_version(&self) -> impl Deref<Target = Arc<SuperVersion>> + use<> {
        self.super_version.load()
    }

    /// The newest sequence that readers see.
    #[inline]
    pub(crate) fn visible_sequence(&self) -> SequenceNumber {
        self.visible_sequence.load(Ordering::Acquire)
    }

    /// The visible sequence, for callers that must load it while they hold a lock of their own.
    pub(crate) fn visible(&self) -> &AtomicU64 {
        &self.visible_sequence
    }

    /// The super version and the sequence that a read works on: those of `snapshot` if there is one. The caller must check
    /// afterwards that the database is open, because a close leaves an empty super version.
    ///
    /// The super version is loaded *before* the visible sequence. What is written in between is either in one of its
    /// memtables, where the sequence decides, or in a later memtable, which the read does not look at. The other way round,
    /// a flush in between might drop what the sequence still shows.
    #[inline]
    pub(crate) fn for_read(
        &self,
        snapshot: Option<&Snapshot>,
    ) -> (impl Deref<Target = Arc<SuperVersion>> + use<>, SequenceNumber) {
        let pinned = snapshot.and_then(Snapshot::pinned);
        let super_version = pinned.map_or_else(|| self.super_version.load(), |view| loaded(Arc::clone(view)));
        let sequence = snapshot.map_or_else(|| self.visible_sequence(), Snapshot::sequence);
        (super_version, sequence)
    }

    /// Shows readers `next` and everything up to `sequence` in it. One change at a time, as with [`change`](Self::change).
    ///
    /// The sequence is stored first, and never falls. A reader may then see the old state with the new sequence, which
    /// shows all of it, but never the new state with an old sequence, whose versions the new state may have dropped.
    pub(crate) fn replace(&self, next: Arc<SuperVersion>, sequence: SequenceNumber) {
        self.visible_sequence.fetch_max(sequence, Ordering::Release);
        self.super_version.store(next);
    }

    /// Shows readers everything up to `sequence`. The caller holds the commit token and has inserted all of it.
    pub(crate) fn publish(&self, sequence: SequenceNumber) {
        self.visible_sequence.store(sequence, Ordering::Release);
    }

    /// Replaces the super version by a changed copy. The caller holds a lock, so that there is one change at a time.
    pub(crate) fn change(&self, change: impl FnOnce(&mut SuperVersion)) {
        let mut next = SuperVersion::clone(&self.super_version());
        change(&mut next);
        self.super_version.store(Arc::new(next));
    }
}
