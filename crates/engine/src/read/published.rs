//! What readers load before each read, and what writers, flushes and compactions change for them. Predecessors: the commit,
//! which publishes a sequence; seals, flushes and compactions, which change the super version. Successors: all reads.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_format::internal_key::SequenceNumber;

use crate::read::snapshot::{Snapshot, SnapshotList};
use crate::read::super_version::SuperVersion;
use crate::sync::{ArcSwap, AtomicU64, loaded};

/// What readers see: the super version in force, the newest sequence in it that they may see, and the snapshots of earlier
/// sequences.
#[derive(Debug)]
pub(crate) struct Published {
    super_version: ArcSwap<SuperVersion>,
    visible_sequence: AtomicU64,
    snapshots: Arc<SnapshotList>,
    /// See [`forgotten`](Self::forgotten).
    forgotten: AtomicU64,
}

impl Published {
    pub(crate) fn new(super_version: SuperVersion, visible_sequence: SequenceNumber) -> Self {
        Self {
            super_version: ArcSwap::from_pointee(super_version),
            visible_sequence: AtomicU64::new(visible_sequence),
            snapshots: SnapshotList::new(),
            // What was dropped before the open is unknown.
            forgotten: AtomicU64::new(visible_sequence),
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

    /// A snapshot of the newest sequence that readers see.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.snapshots.acquire(&self.visible_sequence)
    }

    /// A snapshot that keeps the super version in force. For a database that is only read: see [`SnapshotList::pin`].
    pub(crate) fn pinned_snapshot(&self) -> Snapshot {
        let (view, sequence) = self.for_read(None);
        self.snapshots.pin(Arc::clone(&view), sequence)
    }

    /// Whether `snapshot` was taken here.
    #[inline]
    pub(crate) fn owns(&self, snapshot: &Snapshot) -> bool {
        snapshot.belongs_to(&self.snapshots)
    }

    /// The sequence of the oldest snapshot that is in use.
    pub(crate) fn oldest_snapshot(&self) -> Option<SequenceNumber> {
        self.snapshots.oldest()
    }

    /// The sequences at which current and future readers read, ascending. No flush or compaction may drop what they
    /// see.
    pub(crate) fn reader_sequences(&self) -> Vec<SequenceNumber> {
        self.snapshots.readers(&self.visible_sequence)
    }

    /// A tombstone that no snapshot needs is dropped in the end, and with it what shows that its key has changed. The sequence
    /// returned is at least that of every such tombstone that a super version loaded before this call lacks.
    pub(crate) fn forgotten(&self) -> SequenceNumber {
        self.forgotten.load(Ordering::Acquire)
    }

    /// Notes that tombstones up to `sequence` are missing from a super version that will be shown.
    pub(crate) fn forget(&self, sequence: SequenceNumber) {
        self.forgotten.fetch_max(sequence, Ordering::Release);
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
