//! What was read from logs: memtables, and what an open left out. Predecessors: [`log_replay`](super::log_replay), which fills it, and
//! [`replay`](super::replay). Successors: `kept_logs`, and the first memtables of the session.

use std::sync::Arc;

use terrace_format::FormatError;
use terrace_format::batch::{BatchOp, BatchRef};
use terrace_format::file_name::log_name;
use terrace_format::internal_key::{InternalKeyComparator, ValueKind};

use crate::error::Error;
use crate::memtable::MemTable;
use crate::recovery::left_out::{LeftOutKind, LeftOutLog};

/// A memtable read from logs, with what its flush must record.
pub(crate) struct RecoveredMemTable {
    pub(crate) table: Arc<MemTable>,
    pub(crate) last_sequence: u64,
    /// The log that the next memtable begins in. It is still needed once this memtable is flushed.
    pub(crate) next_log_number: Option<u64>,
}

impl RecoveredMemTable {
    fn new(table: Arc<MemTable>) -> Self {
        Self { table, last_sequence: 0, next_log_number: None }
    }

    #[inline]
    fn is_full(&self, write_buffer_size_bytes: usize) -> bool {
        // An empty memtable is as large as the one before it had grown.
        !self.table.is_empty() && self.table.approximate_memory_bytes() >= write_buffer_size_bytes
    }
}

/// What the logs held.
#[derive(Default)]
pub(crate) struct RecoveredLogs {
    /// Oldest first. Only the last one may be empty.
    pub(crate) memtables: Vec<RecoveredMemTable>,
    pub(crate) last_sequence: u64,
    /// Where the last record ends in each log that ends after it.
    pub(crate) ends: Vec<u64>,
    /// The hole that a loss of power left. What follows it in its log does not count, and neither do later logs.
    pub(crate) hole: Option<LogHole>,
    /// Logs of another engine that end in an unfinished record before a gap in the sequences.
    pub(crate) missing_ends: Vec<LeftOutLog>,
    /// The number of the last log that ended in an unfinished record, and where.
    pub(super) unfinished: Option<(u64, u64)>,
}

impl RecoveredLogs {
    /// Nothing yet. `last_sequence` is the newest sequence in tables.
    pub(super) fn new(comparator: &InternalKeyComparator, last_sequence: u64) -> Self {
        let first = RecoveredMemTable::new(Arc::new(MemTable::new(comparator.clone())));
        Self { memtables: vec![first], last_sequence, ..Self::default() }
    }

    /// Adds the writes of `batch`, read from the log `log_number`. Begins another memtable if the last one has grown to
    /// `write_buffer_size_bytes`.
    #[inline]
    pub(super) fn apply(
        &mut self,
        log_number: u64,
        batch: BatchRef<'_>,
        write_buffer_size_bytes: usize,
    ) -> Result<(), FormatError> {
        let last = self.memtables.last().expect("there is always one");
        if last.is_full(write_buffer_size_bytes) {
            self.begin_memtable(log_number);
        }
        let current = self.memtables.last_mut().expect("there is always one");
        let mut inserter = current.table.inserter();
        for (sequence, operation) in (batch.sequence()..).zip(batch.iter()) {
            match operation? {
                BatchOp::Put { key, value } => inserter.insert(sequence, ValueKind::Value, key, value),
                BatchOp::Delete { key } => inserter.insert(sequence, ValueKind::Deletion, key, &[]),
            }
            self.last_sequence = self.last_sequence.max(sequence);
            current.last_sequence = self.last_sequence;
        }
        Ok(())
    }

    /// Ends the last memtable in the log `log_number`.
    #[cold]
    fn begin_memtable(&mut self, log_number: u64) {
        let full = self.memtables.last_mut().expect("there is always one");
        full.next_log_number = Some(log_number);
        let next = RecoveredMemTable::new(full.table.successor());
        self.memtables.push(next);
    }
}

/// A place in a log that looks like the result of a loss of power. Nothing after it was recovered.
#[derive(Clone, Debug)]
pub(crate) struct LogHole {
    /// The number of the log.
    pub(crate) number: u64,
    /// Bytes from the hole to the end of what the logs hold.
    pub(crate) left_out_bytes: u64,
    /// What is wrong there, with file and offset.
    pub(crate) reason: Error,
}

impl From<LogHole> for LeftOutLog {
    fn from(hole: LogHole) -> Self {
        let LogHole { number, left_out_bytes, reason } = hole;
        Self { name: log_name(number), kind: LeftOutKind::Hole, bytes: left_out_bytes, reason }
    }
}
