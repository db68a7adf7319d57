//! Snapshots: sequence numbers whose versions flushes and compactions must keep.
//!
//! Predecessor: the database, which hands out snapshots. Successors: reads, which see nothing newer than their
//! snapshot; flush and compaction, which ask [`SnapshotList::readers`] which versions they may drop.
//!
//! Rules:
//! 1. Taking a snapshot and listing the readers both load the visible sequence while the list is locked. A snapshot
//!    taken after the listing is therefore at or after the visible sequence that was listed, and misses no version
//!    that was dropped because one at or below that sequence hides it.
//! 2. A snapshot is released when its last clone is dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_env::ProcessMark;
use terrace_format::internal_key::SequenceNumber;

use crate::read::super_version::SuperVersion;
use crate::sync::{AtomicU64, Mutex};

/// The snapshots of one database that are in use.
#[derive(Debug)]
pub struct SnapshotList {
    /// A forked child cannot read from snapshots and leaves the list alone: a thread that the child lacks may hold the lock.
    process: ProcessMark,
    /// The number of unreleased snapshots at each sequence number.
    counts: Mutex<BTreeMap<SequenceNumber, usize>>,
}

impl SnapshotList {
    /// A list without snapshots.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { process: ProcessMark::here(), counts: Mutex::default() })
    }

    /// Takes a snapshot at the sequence number in `visible`, which is that of the newest published write.
    pub fn acquire(self: &Arc<Self>, visible: &AtomicU64) -> Snapshot {
        self.add(|| visible.load(Ordering::Acquire), None)
    }

    /// Takes a snapshot of `view` at `sequence` and keeps the view. A read-only database needs this: the process that
    /// writes the database knows nothing of these snapshots, so a later state may lack what this one shows.
    pub(crate) fn pin(self: &Arc<Self>, view: Arc<SuperVersion>, sequence: SequenceNumber) -> Snapshot {
        self.add(|| sequence, Some(view))
    }

    /// Adds a snapshot. Calls `sequence` while the list is locked.
    fn add(
        self: &Arc<Self>,
        sequence: impl FnOnce() -> SequenceNumber,
        pinned: Option<Arc<SuperVersion>>,
    ) -> Snapshot {
        let mut counts = self.process.is_here().then(|| self.counts.lock());
        let sequence = sequence();
        if let Some(counts) = &mut counts {
            *counts.entry(sequence).or_insert(0) += 1;
        }
        drop(counts);
        Snapshot { handle: Arc::new(SnapshotHandle { list: Arc::clone(self), sequence, pinned }) }
    }

    /// The sequence numbers at which current and future readers read: those of all snapshots, then the one in
    /// `visible`; ascending, each once.
    pub fn readers(&self, visible: &AtomicU64) -> Vec<SequenceNumber> {
        let counts = self.counts.lock();
        let newest = visible.load(Ordering::Acquire);
        let mut sequences: Vec<_> = counts.keys().copied().filter(|sequence| *sequence < newest).collect();
        sequences.push(newest);
        sequences
    }

    /// The smallest sequence number in use.
    pub fn oldest(&self) -> Option<SequenceNumber> {
        self.counts.lock().keys().next().copied()
    }

    fn release(&self, sequence: SequenceNumber) {
        if !self.process.is_here() {
            return;
        }
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&sequence) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&sequence);
            }
        }
    }
}

struct SnapshotHandle {
    list: Arc<SnapshotList>,
    sequence: SequenceNumber,
    pinned: Option<Arc<SuperVersion>>,
}

impl Drop for SnapshotHandle {
    fn drop(&mut self) {
        self.list.release(self.sequence);
    }
}

/// A state of a database that reads can return to, whatever is written later.
///
/// Taking a snapshot costs nothing. While it lives, compactions keep the old versions that it sees, and these take
/// space: drop it when you are done. Clones share one snapshot, which is released with the last of them.
#[derive(Clone)]
pub struct Snapshot {
    handle: Arc<SnapshotHandle>,
}

impl Snapshot {
    /// The sequence number of the last write that the snapshot sees.
    pub fn sequence(&self) -> SequenceNumber {
        self.handle.sequence
    }

    /// The state that reads of this snapshot use, if it is not the current one.
    pub(crate) fn pinned(&self) -> Option<&Arc<SuperVersion>> {
        self.handle.pinned.as_ref()
    }

    /// Whether this snapshot was taken from `list` and so belongs to that list's database.
    pub(crate) fn belongs_to(&self, list: &Arc<SnapshotList>) -> bool {
        Arc::ptr_eq(&self.handle.list, list)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("sequence", &self.sequence()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sequence numbers of all snapshots, which are below 100 here.
    fn all(list: &SnapshotList) -> Vec<SequenceNumber> {
        let mut readers = list.readers(&AtomicU64::new(100));
        assert_eq!(readers.pop(), Some(100));
        readers
    }

    #[test]
    fn a_snapshot_is_listed_until_its_last_clone_is_dropped() {
        let list = SnapshotList::new();
        assert_eq!((list.oldest(), all(&list)), (None, vec![]));
        let at_seven = list.acquire(&AtomicU64::new(7));
        let also_at_seven = list.acquire(&AtomicU64::new(7));
        let at_three = list.acquire(&AtomicU64::new(3));
        let clone = at_three.clone();
        assert_eq!((list.oldest(), all(&list)), (Some(3), vec![3, 7]));
        drop(at_three);
        assert_eq!(all(&list), [3, 7]);
        assert_eq!(clone.sequence(), 3);
        drop(clone);
        assert_eq!((list.oldest(), all(&list)), (Some(7), vec![7]));
        drop(at_seven);
        assert_eq!(all(&list), [7]);
        drop(also_at_seven);
        assert_eq!((list.oldest(), all(&list)), (None, vec![]));
    }

    #[test]
    fn a_snapshot_knows_its_database() {
        let (list, other) = (SnapshotList::new(), SnapshotList::new());
        let snapshot = list.acquire(&AtomicU64::new(1));
        assert!(snapshot.belongs_to(&list) && snapshot.clone().belongs_to(&list));
        assert!(!snapshot.belongs_to(&other));
        assert_eq!(format!("{snapshot:?}"), "Snapshot { sequence: 1 }");
    }

    #[test]
    fn readers_are_the_snapshots_and_the_visible_sequence() {
        let list = SnapshotList::new();
        let visible = AtomicU64::new(4);
        assert_eq!(list.readers(&visible), [4]);
        let _at_four = list.acquire(&visible);
        assert_eq!(list.readers(&visible), [4]);
        visible.store(9, Ordering::Release);
        let _at_nine = list.acquire(&visible);
        visible.store(12, Ordering::Release);
        assert_eq!(list.readers(&visible), [4, 9, 12]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes when interpreted")]
    fn many_threads_leave_an_empty_list() {
        let list = SnapshotList::new();
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let list = &list;
                scope.spawn(move || {
                    for round in 0..2_000 {
                        let snapshot = list.acquire(&AtomicU64::new((round * 7 + thread) % 13));
                        assert!(all(list).contains(&snapshot.sequence()));
                        assert!(list.oldest().is_some_and(|oldest| oldest <= snapshot.sequence()));
                    }
                });
            }
        });
        assert_eq!(all(&list), []);
    }
}
