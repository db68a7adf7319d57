//! What the engine knows about one table file, and the queue of files that nothing refers to any more.
//!
//! Predecessor: `flush` and `compaction::job`, which write table files. Successor: `version`, which lists them by level.
//!
//! A file's life: written → named by an edit in the MANIFEST (a `FileMeta` is made) → part of one or more versions →
//! removed by a later edit (marked obsolete) → the last version, iterator or job that holds it drops it → its number
//! enters [`ObsoleteFiles`] → a background thread unlinks it. A file is therefore never unlinked while it is being read.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use terrace_env::RandomAccessFile;
use terrace_env::locks::Mutex;
use terrace_format::internal_key::{SequenceNumber, user_key};
use terrace_format::table::TableCounts;
use terrace_format::version_edit::FileEntry;

use crate::table::Table;

/// More bytes than any table holds.
const MAX_TABLE_BYTES: u64 = 1 << 40;

/// Whether a file comes from another session of the database (perhaps LevelDB's) or from this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOrigin {
    /// Listed in the MANIFEST that was found at open. LevelDB may have written it, so its last user key may continue in
    /// the next file of its level.
    Recovered,
    /// Written by this session, which never splits a user key across two files.
    Written,
}

/// One table file: its name, size and key range, and what was learnt about it since.
///
/// Every version that lists the file shares this. Everything but the learnt parts is immutable.
pub struct FileMeta {
    /// The number in the file's name.
    pub number: u64,
    /// The file's length.
    pub size_bytes: u64,
    /// The first internal key.
    pub smallest: Vec<u8>,
    /// The last internal key.
    pub largest: Vec<u8>,
    /// No entry of the file is newer than this, as far as the MANIFEST says.
    newest_sequence: SequenceNumber,
    origin: FileOrigin,
    /// An inner `None` means that the file was checked and has no counts (LevelDB's files have none).
    counts: OnceLock<Option<TableCounts>>,
    /// Whether the number before [`number`](Self::number) was left to what the file is merged into within level 0.
    leaves_number: AtomicBool,
    /// The file, kept open so that another process may remove it. For a read-only database.
    pinned: OnceLock<Arc<dyn RandomAccessFile>>,
    /// The open table, if it is open. Owned by the table cache.
    pub(crate) table: ArcSwapOption<Table>,
    obsolete: AtomicBool,
    on_obsolete: Arc<ObsoleteFiles>,
}

impl FileMeta {
    /// The file that `entry` describes. `newest_sequence` is an upper bound on its entries' sequence numbers.
    /// When the `FileMeta` is dropped after [`mark_obsolete`](Self::mark_obsolete), its number goes to `on_obsolete`.
    pub fn new(
        entry: FileEntry,
        newest_sequence: SequenceNumber,
        origin: FileOrigin,
        on_obsolete: Arc<ObsoleteFiles>,
    ) -> Self {
        Self {
            number: entry.number,
            size_bytes: entry.size_bytes,
            smallest: entry.smallest,
            largest: entry.largest,
            newest_sequence,
            origin,
            counts: OnceLock::new(),
            leaves_number: AtomicBool::new(false),
            pinned: OnceLock::new(),
            table: ArcSwapOption::empty(),
            obsolete: AtomicBool::new(false),
            on_obsolete,
        }
    }

    /// The file as a version edit lists it.
    pub fn entry(&self) -> FileEntry {
        FileEntry {
            number: self.number,
            size_bytes: self.size_bytes,
            smallest: self.smallest.clone(),
            largest: self.largest.clone(),
        }
    }

    /// The user key of [`smallest`](Self::smallest).
    #[inline]
    pub fn smallest_user_key(&self) -> &[u8] {
        user_key(&self.smallest)
    }

    /// The user key of [`largest`](Self::largest).
    #[inline]
    pub fn largest_user_key(&self) -> &[u8] {
        user_key(&self.largest)
    }

    /// An upper bound on the sequence numbers of the file's entries. Once the counts are known, it is exact for a table that
    /// this engine wrote.
    #[inline]
    pub fn newest_sequence(&self) -> SequenceNumber {
        let stated = self.counts.get().and_then(|counts| counts.as_ref()?.newest_sequence);
        stated.unwrap_or(self.newest_sequence)
    }

    pub(crate) fn set_newest_sequence(&mut self, newest_sequence: SequenceNumber) {
        self.newest_sequence = newest_sequence;
    }

    /// Whether this session wrote the file.
    pub fn origin(&self) -> FileOrigin {
        self.origin
    }

    /// How many entries and deletions the file holds; `None` while unknown, and always for LevelDB's files.
    pub fn counts(&self) -> Option<TableCounts> {
        self.counts.get().cloned().flatten()
    }

    /// Size of its entries before compression, in bytes, as far as it is known.
    pub fn raw_bytes(&self) -> u64 {
        // A file's own counts may be damaged; sums of them must not overflow.
        self.counts().map_or(self.size_bytes, |counts| counts.raw_bytes()).min(MAX_TABLE_BYTES)
    }

    /// Whether [`set_counts`](Self::set_counts) was called. Then opening the table reveals nothing more.
    pub fn counts_looked_up(&self) -> bool {
        self.counts.get().is_some()
    }

    /// Stores the counts in the file, `None` if it has none. Only the first call has an effect.
    pub fn set_counts(&self, counts: Option<TableCounts>) {
        // A second call brings the same counts: the file is immutable.
        let _ = self.counts.set(counts);
    }

    /// Whether the number before the file's own is free: see [`note_left_number`](Self::note_left_number).
    pub fn leaves_number(&self) -> bool {
        self.leaves_number.load(Ordering::Relaxed)
    }

    /// Notes that the file's number is from [`VersionSet::new_flush_number`](crate::version::VersionSet::new_flush_number)
    /// of this session. A merge within level 0 of which this is the newest input may then take the number before it.
    pub(crate) fn note_left_number(&self) {
        self.leaves_number.store(true, Ordering::Relaxed);
    }

    /// The file, if [`pin`](Self::pin) was called.
    pub(crate) fn pinned(&self) -> Option<&Arc<dyn RandomAccessFile>> {
        self.pinned.get()
    }

    /// Keeps `file` open while this lives.
    pub(crate) fn pin(&self, file: Arc<dyn RandomAccessFile>) {
        // A second call brings another handle of the same file.
        let _ = self.pinned.set(file);
    }

    /// Notes that no future version lists the file. Its number enters the queue when the last holder drops it.
    pub fn mark_obsolete(&self) {
        self.obsolete.store(true, Ordering::Release);
    }
}

impl Drop for FileMeta {
    fn drop(&mut self) {
        if *self.obsolete.get_mut() {
            // The table must be closed before the background thread sees the number, because some systems refuse to remove
            // an open file.
            self.table.store(None);
            self.on_obsolete.push(self.number);
        }
    }
}

impl fmt::Debug for FileMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileMeta")
            .field("number", &self.number)
            .field("size_bytes", &self.size_bytes)
            .field("smallest", &self.smallest.escape_ascii().to_string())
            .field("largest", &self.largest.escape_ascii().to_string())
            .finish_non_exhaustive()
    }
}

/// The numbers of table files that nothing refers to any more and that wait to be unlinked.
#[derive(Debug, Default)]
pub struct ObsoleteFiles {
    numbers: Mutex<Vec<u64>>,
}

impl ObsoleteFiles {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    pub fn push(&self, number: u64) {
        self.numbers.lock().push(number);
    }

    /// Whether no file waits.
    pub fn is_empty(&self) -> bool {
        self.numbers.lock().is_empty()
    }

    /// Takes all files out.
    pub fn take(&self) -> Vec<u64> {
        std::mem::take(&mut *self.numbers.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(number: u64, queue: &Arc<ObsoleteFiles>) -> FileMeta {
        let entry = FileEntry {
            number,
            size_bytes: 1,
            smallest: b"a\x01\0\0\0\0\0\0\0".to_vec(),
            largest: b"b\x01\0\0\0\0\0\0\0".to_vec(),
        };
        FileMeta::new(entry, 7, FileOrigin::Written, queue.clone())
    }

    #[test]
    fn an_obsolete_file_enters_the_queue_when_its_last_holder_drops_it() {
        let queue = Arc::new(ObsoleteFiles::new());
        drop(file(1, &queue));
        assert!(queue.take().is_empty());

        let first_holder = Arc::new(file(2, &queue));
        let second_holder = first_holder.clone();
        first_holder.mark_obsolete();
        drop(first_holder);
        assert!(queue.take().is_empty());
        drop(second_holder);
        assert_eq!(queue.take(), [2]);
        assert!(queue.take().is_empty());
    }

    #[test]
    fn counts_are_unknown_then_fixed() {
        let queue = Arc::new(ObsoleteFiles::new());
        let file = file(1, &queue);
        assert_eq!((file.counts(), file.counts_looked_up()), (None, false));
        file.set_counts(None);
        assert_eq!((file.counts(), file.counts_looked_up()), (None, true));
        assert_eq!((file.smallest_user_key(), file.largest_user_key()), (&b"a"[..], &b"b"[..]));
    }
}
