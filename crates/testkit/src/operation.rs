//! The operations that a trial can apply to a database.

use std::fmt;
use std::ops::Bound;

/// A key or value. Failures show its beginning and its length.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 24;
        write!(f, "\"{}", self.0[..self.0.len().min(SHOWN)].escape_ascii())?;
        if self.0.len() > SHOWN { write!(f, "…\" ({} bytes)", self.0.len()) } else { write!(f, "\"") }
    }
}

/// One change of a batch: a put, or a deletion if the value is `None`.
pub type Change = (Bytes, Option<Bytes>);

/// One movement of an iterator.
#[derive(Clone, Debug)]
pub enum Movement {
    /// To the first entry.
    First,
    /// To the last entry.
    Last,
    /// To the first entry at or after the key.
    Seek(Bytes),
    /// To the last entry at or before the key.
    SeekForPrev(Bytes),
    /// To the next entry.
    Next,
    /// To the previous entry.
    Prev,
}

/// The keys that an iterator may visit.
#[derive(Clone, Debug)]
pub struct Range {
    /// Where it begins.
    pub lower: Bound<Bytes>,
    /// Where it ends.
    pub upper: Bound<Bytes>,
}

/// One step of a trial. Numbers of snapshots and iterators are taken modulo their count, so that every number exists.
#[derive(Clone, Debug)]
pub enum Operation {
    /// One change by `put` or `delete`.
    Change(Change),
    /// Several changes in one batch.
    Batch(Vec<Change>),
    /// Several batches handed over at once, to be committed in order.
    Submit(Vec<Vec<Change>>),
    /// Table files of these changes, written separately and added as one.
    Ingest(Vec<Change>),
    /// A point read of the newest state.
    Get(Bytes),
    /// A point read at a snapshot.
    GetAt(usize, Bytes),
    /// An iterator that lives for these movements; at a snapshot if there is a number.
    Walk(Option<usize>, Range, Vec<Movement>),
    /// An iterator that stays open while other operations change the database.
    OpenIterator(Range),
    /// Movements of an open iterator.
    MoveIterator(usize, Vec<Movement>),
    /// The end of an open iterator.
    CloseIterator(usize),
    /// A snapshot of the current state.
    TakeSnapshot,
    /// The end of a snapshot.
    DropSnapshot(usize),
    /// Compares every entry, forwards and backwards.
    CompareAll,
    /// A flush of the memtable to a table.
    Flush,
    /// A manual compaction of a range; `None` is an open end.
    Compact(Option<Bytes>, Option<Bytes>),
    /// One background job, if the environment has no threads.
    Step,
    /// Closing and opening again, with other sizes.
    Reopen,
    /// Closing, repairing and opening again; without CURRENT and MANIFEST if true. Nothing is damaged, so nothing may
    /// change.
    Repair(bool),
    /// A second, read-only opening beside the first.
    OpenReadOnly,
    /// A copy by hard links, which is opened and compared.
    Checkpoint,
    /// A check of every block and table.
    Verify,
    /// A question for sizes and properties, which must at least make sense.
    Inspect(Bytes, Bytes),
}
