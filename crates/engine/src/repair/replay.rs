//! Turns every intact write of the logs into tables. Predecessor: [`log_salvage`](super::log_salvage). Successor: level
//! 0, or the merge.
//!
//! This works as an open does, but damage is skipped and reported. A memtable is written to a table whenever it is
//! full, so the size of a memtable and of the largest batch bounds the memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{Env, RandomAccessFile};
use terrace_format::batch::{BatchOp, BatchRef};
use terrace_format::coding::decode_fixed64;
use terrace_format::file_name;
use terrace_format::internal_key::{MAX_SEQUENCE_NUMBER, SequenceNumber, ValueKind, parse_internal_key};
use terrace_format::limits::{BATCH_HEADER_SIZE_BYTES, MAX_KEY_SIZE_BYTES, MAX_STORED_VALUE_SIZE_BYTES};
use terrace_format::log::LogEncoder;

use crate::compaction::drop_rule::DropRule;
use crate::error::{Error, ErrorKind, Result};
use crate::iterator::InternalIterator;
use crate::memtable::MemTable;
use crate::recovery::block_signs::{Sequences, next_batch};
use crate::recovery::log_end::{LogEnd, LogRest, TornTail, Trouble};
use crate::recovery::synced_files::SyncedFiles;
use crate::repair::log_salvage::{LogPiece, LogVisitor, Tail, read_log};
use crate::repair::repairer::{Repairer, WrittenTable};
use crate::repair::report::{Damage, ReplayedLog};

/// How much of a key the report shows.
const SHOWN_KEY_BYTES: usize = 40;

/// The contents of the logs.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// Oldest first.
    pub(super) tables: Vec<WrittenTable>,
    pub(super) logs: Vec<ReplayedLog>,
    pub(super) last_sequence: SequenceNumber,
}

/// Reads the logs with these numbers, in ascending order, into tables.
pub(super) fn replay_logs(repairer: &Repairer, numbers: &[u64]) -> Result<Replayed> {
    let memtable = Arc::new(MemTable::new(repairer.comparator.clone()));
    let mut to_tables = ToTables { repairer, memtable, tables: Vec::new() };
    let mut replayed = Replayed::default();
    for number in numbers {
        let (log, last_sequence) = read_batches(repairer, *number, &mut to_tables)?;
        replayed.logs.push(log);
        replayed.last_sequence = replayed.last_sequence.max(last_sequence);
    }
    to_tables.write_memtable()?;
    replayed.tables = to_tables.tables;
    Ok(replayed)
}

/// The sequence numbers in the intact records of the logs, as inclusive ranges.
pub(super) fn logged_sequences(
    repairer: &Repairer,
    numbers: &[u64],
) -> Result<Vec<(SequenceNumber, SequenceNumber)>> {
    let mut ranges = Ranges(Vec::new());
    for number in numbers {
        read_batches(repairer, *number, &mut ranges)?;
    }
    let mut merged: Vec<(SequenceNumber, SequenceNumber)> = Vec::new();
    ranges.0.sort_unstable();
    for (first, last) in ranges.0 {
        match merged.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => merged.push((first, last)),
        }
    }
    Ok(merged)
}

/// Whether an intact record of the logs puts an entry that satisfies `condition`.
pub(super) fn any_put(
    repairer: &Repairer,
    numbers: &[u64],
    condition: fn(&[u8], &[u8]) -> bool,
) -> Result<bool> {
    let mut search = Search { condition, is_found: false };
    for number in numbers {
        read_batches(repairer, *number, &mut search)?;
    }
    Ok(search.is_found)
}

/// Calls `take` with the offset and the bytes of each intact record of the log at `path`. Records after damage count as they
/// do in a repair, which keeps the same ones.
///
/// # Errors
/// `Unsupported` for a format that this engine does not know; `Io`, `ReadOnly` or `TooManyFiles` from the operating system.
pub fn intact_records(env: &dyn Env, path: &Path, take: &mut dyn FnMut(u64, &[u8])) -> Result<()> {
    let log = ReplayedLog {
        name: String::new(),
        records_kept: 0,
        writes_kept: 0,
        damage: Vec::new(),
        unfinished_tail_bytes: 0,
    };
    let batches = BatchVisitor {
        sink: &mut Nowhere,
        path: path.to_owned(),
        log,
        last_sequence: 0,
        zeros: None,
        sound_end: 0,
    };
    read_log(env, path, &mut Intact { batches, take })
}

struct Intact<'a> {
    batches: BatchVisitor<'a>,
    take: &'a mut dyn FnMut(u64, &[u8]),
}

impl LogVisitor for Intact<'_> {
    fn take(&mut self, piece: LogPiece<'_>) -> Result<()> {
        if let LogPiece::Record { payload, offset } = piece {
            (self.take)(offset, payload);
        }
        self.batches.take(piece)
    }

    fn is_plausible(&self, payload: &[u8], is_whole: bool) -> bool {
        self.batches.is_plausible(payload, is_whole)
    }

    fn extent(&self, bytes: &[u8], is_missing: bool) -> Option<usize> {
        self.batches.extent(bytes, is_missing)
    }

    fn is_unfinished(&self, file: &dyn RandomAccessFile, offset: u64, tail: Tail<'_>) -> Result<bool> {
        self.batches.is_unfinished(file, offset, tail)
    }
}

struct Nowhere;

impl BatchSink for Nowhere {
    fn take(&mut self, _: &BatchRef<'_>) -> Result<()> {
        Ok(())
    }
}

/// Receives each batch of a log.
trait BatchSink {
    fn take(&mut self, batch: &BatchRef<'_>) -> Result<()>;
}

fn read_batches(
    repairer: &Repairer,
    number: u64,
    sink: &mut dyn BatchSink,
) -> Result<(ReplayedLog, SequenceNumber)> {
    let name = file_name::log_name(number);
    let path = repairer.path(&name);
    let log =
        ReplayedLog { name, records_kept: 0, writes_kept: 0, damage: Vec::new(), unfinished_tail_bytes: 0 };
    let mut visitor =
        BatchVisitor { sink, path: path.clone(), log, last_sequence: 0, zeros: None, sound_end: 0 };
    read_log(&*repairer.env, &path, &mut visitor)?;
    visitor.lose_what_was_synced(SyncedFiles::read(&*repairer.env, &repairer.directory).end_of_log(number));
    Ok((visitor.log, visitor.last_sequence))
}

struct BatchVisitor<'a> {
    sink: &'a mut dyn BatchSink,
    path: PathBuf,
    log: ReplayedLog,
    /// The last sequence of the batches so far.
    last_sequence: SequenceNumber,
    /// Zeros before the next record, whose sequence number tells whether they replaced any records.
    zeros: Option<(u64, u64)>,
    /// Where the last record ends.
    sound_end: u64,
}

impl LogVisitor for BatchVisitor<'_> {
    fn take(&mut self, piece: LogPiece<'_>) -> Result<()> {
        match piece {
            LogPiece::Record { payload, offset } => {
                let zeros = self.zeros.take();
                self.sound_end =
                    offset + LogEncoder::at_offset(offset).encoded_size_bytes(payload.len()) as u64;
                let batch = match BatchRef::parse(payload)
                    .map_err(|error| Error::format(&self.path, offset, error))
                {
                    Err(error) if error.kind() == ErrorKind::Corruption => {
                        self.lose(offset, payload.len() as u64, "a record that is no batch of writes");
                        return Ok(());
                    }
                    batch => batch?,
                };
                if let Some((offset, size_bytes)) = zeros
                    && self.log.records_kept > 0
                    && batch.sequence() > self.last_sequence + 1
                {
                    self.lose(offset, size_bytes, "zeros where records were");
                }
                let mut left_out = 0;
                // Only such a record can have an operation that is too large.
                if payload.len() > MAX_KEY_SIZE_BYTES {
                    for operation in batch.iter().flatten() {
                        if let Some((size_bytes, reason)) = too_large(&operation) {
                            self.lose(offset, size_bytes, &reason);
                            left_out += 1;
                        }
                    }
                }
                if batch.count() > 0 {
                    self.sink.take(&batch)?;
                    let last = batch.sequence() + u64::from(batch.count()) - 1;
                    self.last_sequence = self.last_sequence.max(last);
                }
                self.log.records_kept += 1;
                self.log.writes_kept += u64::from(batch.count()) - left_out;
            }
            LogPiece::Damage { offset, lost_bytes, reason } => self.lose(offset, lost_bytes, reason),
            LogPiece::Zeros { offset, size_bytes } => self.zeros = Some((offset, size_bytes)),
            LogPiece::UnfinishedTail { lost_bytes, .. } => self.log.unfinished_tail_bytes = lost_bytes,
        }
        Ok(())
    }

    fn is_plausible(&self, payload: &[u8], is_whole: bool) -> bool {
        // At least one write was lost before it.
        payload.len() >= BATCH_HEADER_SIZE_BYTES
            && decode_fixed64(payload) > self.last_sequence + 1
            && decode_fixed64(payload) <= MAX_SEQUENCE_NUMBER
            && (!is_whole || BatchRef::parse(payload).is_ok())
    }

    fn extent(&self, bytes: &[u8], is_missing: bool) -> Option<usize> {
        let last = self.last_sequence;
        let batch = if is_missing {
            let mut bytes = bytes.to_vec();
            *bytes.first_mut()? = (last + 1).to_le_bytes()[0];
            next_batch(&bytes, Sequences { last, are_contiguous: true })
        } else {
            // Some sequences may be missing after damage before this record.
            next_batch(bytes, Sequences { last, are_contiguous: false })
        };
        let batch = batch.filter(|batch| batch.sequence <= MAX_SEQUENCE_NUMBER)?;
        Some(batch.end_within(bytes.len()).unwrap_or(bytes.len()))
    }

    fn is_unfinished(&self, file: &dyn RandomAccessFile, offset: u64, tail: Tail<'_>) -> Result<bool> {
        let sequences = Sequences { last: self.last_sequence, are_contiguous: true };
        Ok(match tail {
            Tail::Torn(record) => {
                let rest = LogRest { file, sound_end: self.sound_end, sequences };
                // The sequence that should begin the log is not known here, so a gap before it cannot be known either.
                !matches!(rest.judge_torn(record, offset), TornTail::Damaged(_))
            }
            Tail::WithoutHeader => {
                let rest = LogRest { file, sound_end: offset, sequences };
                rest.judge(Trouble::Zeros)? == LogEnd::Unfinished
            }
        })
    }
}

impl BatchVisitor<'_> {
    /// Called after the last piece of a log that was synced up to `synced_end`. A log that ends earlier has lost its
    /// end.
    fn lose_what_was_synced(&mut self, synced_end: u64) {
        let damage_ends = self.log.damage.iter().map(|damage| damage.offset + damage.lost_bytes);
        let end = damage_ends.fold(self.sound_end, u64::max);
        if end < synced_end {
            self.log.unfinished_tail_bytes = 0;
            self.lose(end, synced_end - end, "the end of the log is missing, though it was synced");
        }
    }

    fn lose(&mut self, offset: u64, lost_bytes: u64, reason: &str) {
        self.log.damage.push(Damage { offset, lost_bytes, reason: reason.to_owned() });
    }
}

struct ToTables<'a> {
    repairer: &'a Repairer,
    memtable: Arc<MemTable>,
    tables: Vec<WrittenTable>,
}

impl ToTables<'_> {
    fn write_memtable(&mut self) -> Result<()> {
        // No reader reads at an older sequence, so the newest version of each key is enough.
        let mut rule = DropRule::new(self.repairer.comparator.user().clone(), vec![MAX_SEQUENCE_NUMBER]);
        let mut entries = self.memtable.iter();
        let path = self.repairer.directory.clone();
        let mut table = self.repairer.begin_table();
        entries.seek_to_first()?;
        while entries.valid() {
            let parsed = parse_internal_key(entries.key()).map_err(|error| Error::format(&path, 0, error))?;
            if !rule.may_drop(&parsed, |_| false) {
                table.add(entries.key(), entries.value())?;
            }
            entries.next()?;
        }
        self.tables.extend(table.finish()?);
        self.memtable = self.memtable.successor();
        Ok(())
    }
}

impl BatchSink for ToTables<'_> {
    fn take(&mut self, batch: &BatchRef<'_>) -> Result<()> {
        if self.memtable.approximate_memory_bytes() >= self.repairer.options.write_buffer_size_bytes {
            self.write_memtable()?;
        }
        for (sequence, operation) in (batch.sequence()..).zip(batch.iter()) {
            // The batch was checked as a whole, so no operation fails.
            match operation.map_err(|error| Error::format(&self.repairer.directory, 0, error))? {
                operation if too_large(&operation).is_some() => {}
                BatchOp::Put { key, value } => self.memtable.insert(sequence, ValueKind::Value, key, value),
                BatchOp::Delete { key } => self.memtable.insert(sequence, ValueKind::Deletion, key, &[]),
            }
        }
        Ok(())
    }
}

/// The size of an operation that no table can hold, and what it is. Earlier builds for browsers acknowledged such keys.
fn too_large(operation: &BatchOp<'_>) -> Option<(u64, String)> {
    let (key, value) = match operation {
        BatchOp::Put { key, value } => (*key, *value),
        BatchOp::Delete { key } => (*key, &[][..]),
    };
    let (what, size, limit) = if key.len() > MAX_KEY_SIZE_BYTES {
        ("key", key.len(), MAX_KEY_SIZE_BYTES)
    } else if value.len() > MAX_STORED_VALUE_SIZE_BYTES {
        ("value", value.len(), MAX_STORED_VALUE_SIZE_BYTES)
    } else {
        return None;
    };
    let (shown, more) = key.split_at(key.len().min(SHOWN_KEY_BYTES));
    let more = if more.is_empty() { "" } else { "…" };
    let reason = format!(
        "a write whose {what} has {size} bytes, of {limit} that can be stored, left out: the key \"{}{more}\"",
        shown.escape_ascii()
    );
    Some(((key.len() + value.len()) as u64, reason))
}

struct Search {
    condition: fn(&[u8], &[u8]) -> bool,
    is_found: bool,
}

impl BatchSink for Search {
    fn take(&mut self, batch: &BatchRef<'_>) -> Result<()> {
        let condition = self.condition;
        self.is_found |= batch
            .iter()
            .any(|operation| matches!(operation, Ok(BatchOp::Put { key, value }) if condition(key, value)));
        Ok(())
    }
}

struct Ranges(Vec<(SequenceNumber, SequenceNumber)>);

impl BatchSink for Ranges {
    fn take(&mut self, batch: &BatchRef<'_>) -> Result<()> {
        let (first, last) = (batch.sequence(), batch.sequence() + u64::from(batch.count()) - 1);
        match self.0.last_mut() {
            // The usual case keeps the list short.
            Some((_, end)) if first == *end + 1 => *end = last,
            _ => self.0.push((first, last)),
        }
        Ok(())
    }
}
