//! Reads the logs back into memtables at open. Predecessor: `wal/writer` of the run before. Successors: the sealed
//! memtables, which the flush thread writes to tables like any others.
//!
//! A log ends at its last whole record: what follows was being written when the process died. A loss of power may also
//! take sectors out of the middle of what was not synced. Recovery stops at the first such hole, whichever log it is
//! in, so that it recovers a prefix of what was written. What comes after the hole is set aside in the directory
//! `lost`. A hole shows as a lost sector in a damaged record or as a gap in the sequences. If the next log continues
//! with the very next sequence, there is no hole, however the log before it ends: nothing that counts is missing
//! between the two.
//!
//! Damage that no loss of power explains is another matter, and so is any damage below the point up to which a log is
//! known to have been synced (`synced_files`). The open then fails with file and offset, and changes nothing:
//! continuing would silently lose synced writes, or keep later writes without earlier ones.

use std::sync::Arc;

use terrace_format::FormatError;
use terrace_format::batch::{BatchOp, BatchRef};
use terrace_format::file_name::log_name;
use terrace_format::internal_key::{InternalKeyComparator, ValueKind};
use terrace_format::log::{LogEvent, LogReader};

use crate::error::{Error, ErrorKind, Result};
use crate::info_log::InfoLog;
use crate::memtable::MemTable;
use crate::recovery::block_signs::Sequences;
use crate::recovery::left_out::{LeftOutKind, LeftOutLog};
use crate::recovery::log_end::{LogEnd, LogRest, TornTail, Trouble};
use crate::recovery::needed_logs::OpenLog;
use crate::recovery::source::{FileSource, first_content};
use crate::recovery::synced_files::SyncedFiles;
use crate::recovery::tail::is_next;

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
    unfinished: Option<(u64, u64)>,
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

/// How to read the logs.
pub(crate) struct Replay<'a> {
    /// Whether the logs are Terrace's: each record begins with the sequence that follows the last one of the record
    /// before. LevelDB leaves a gap after a write that failed, and forks of it leave others.
    pub(crate) contiguous_sequences: bool,
    pub(crate) comparator: &'a InternalKeyComparator,
    pub(crate) info_log: &'a InfoLog,
    pub(crate) paranoid_checks: bool,
    /// Whether a process may be writing these logs, because the open is read-only.
    pub(crate) writer_may_live: bool,
    pub(crate) write_buffer_size_bytes: usize,
    /// How far the logs are known to have been synced.
    pub(crate) synced_files: &'a SyncedFiles,
}

/// How a log ends.
enum End {
    /// After its last record.
    Whole,
    /// In a record that was never finished.
    Unfinished,
    /// Its writer is alive and has added records since we read there. What the writer adds to later logs is newer
    /// still.
    Growing,
    /// A loss of power took part of it. What follows, later logs included, does not count.
    Hole { offset: u64, reason: Error },
}

const ZEROS_IN_LOG: &str = "zeros where a log record should begin";

impl Replay<'_> {
    /// Reads `logs`, in ascending order, into memtables. `last_sequence` is the newest sequence in tables.
    pub(crate) fn run(&self, logs: &[OpenLog], last_sequence: u64) -> Result<RecoveredLogs> {
        let first = RecoveredMemTable::new(Arc::new(MemTable::new(self.comparator.clone())));
        let mut recovered =
            RecoveredLogs { memtables: vec![first], last_sequence, ..RecoveredLogs::default() };
        for (index, log) in logs.iter().enumerate() {
            let end = self.replay_log(log, &mut recovered);
            let problem = match &end {
                Ok(End::Hole { reason, .. }) => Some(reason),
                Err(error) if error.kind() == ErrorKind::Corruption => Some(error),
                _ => None,
            };
            if let Some(problem) = problem
                && self.goes_on_in(&logs[index + 1..], recovered.last_sequence)?
            {
                self.info_log.line(format_args!("nothing is missing, since the next log goes on: {problem}"));
                continue;
            }
            match end? {
                End::Whole | End::Unfinished => {}
                End::Growing => break,
                End::Hole { reason, .. } if self.paranoid_checks => return Err(reason),
                End::Hole { offset, reason } => {
                    let sizes = logs[index..].iter().map(|log| Ok(log.file.size_bytes()?));
                    let left_out_bytes = sizes.sum::<Result<u64>>()?.saturating_sub(offset);
                    self.info_log.line(format_args!(
                        "{left_out_bytes} bytes of logs are left out, as if a loss of power had taken a part: {reason}"
                    ));
                    recovered.hole = Some(LogHole { number: log.number, left_out_bytes, reason });
                    break;
                }
            }
        }
        Ok(recovered)
    }

    /// Whether the first of the `later` logs that holds anything begins with the sequence after `last_sequence`.
    fn goes_on_in(&self, later: &[OpenLog], last_sequence: u64) -> Result<bool> {
        for log in later.iter().filter(|_| self.contiguous_sequences) {
            match LogReader::new(FileSource::new(&*log.file)).next().map_err(Error::from)? {
                LogEvent::Record { payload, .. } => {
                    let batch = BatchRef::parse(payload);
                    return Ok(batch.is_ok_and(|batch| batch.sequence() == last_sequence + 1));
                }
                LogEvent::End => {}
                LogEvent::Damage { .. } | LogEvent::TornTail { .. } => break,
            }
        }
        Ok(false)
    }

    /// Decides what `trouble` at `offset` means. `sound_end` is where the last record of `log` before it ends.
    ///
    /// # Errors
    /// The damage, if nothing explains it.
    fn judge(
        &self,
        log: &OpenLog,
        sound_end: u64,
        sequences: Sequences,
        trouble: Trouble,
        offset: u64,
        problem: String,
    ) -> Result<End> {
        let damage = |problem: String| {
            Err(Error::corruption(&log.path, offset, format!("{problem}; repair keeps what is intact")))
        };
        if offset < self.synced_files.end_of_log(log.number) {
            return damage(format!("{problem}, in a part of the log that was synced"));
        }
        match (LogRest { file: &*log.file, sound_end, sequences }).judge(trouble)? {
            LogEnd::Unfinished => Ok(End::Unfinished),
            LogEnd::Growing if self.writer_may_live => Ok(End::Growing),
            LogEnd::PowerLoss => {
                Ok(End::Hole { offset, reason: Error::corruption(&log.path, offset, problem) })
            }
            LogEnd::Damage | LogEnd::Growing => damage(problem),
        }
    }

    /// Reads one log and says how it ends.
    fn replay_log(&self, log: &OpenLog, recovered: &mut RecoveredLogs) -> Result<End> {
        let OpenLog { number, path, file } = log;
        let mut reader = LogReader::new(FileSource::new(&**file));
        let gap = |offset, first, expected| Error::corruption(path, offset, gap_problem(first, expected));
        let mut records = 0u64;
        let mut next_in_log = None;
        let end = loop {
            let sound_end = reader.end_of_last_record();
            // Writes of later logs may already be in tables, and `recovered.last_sequence` includes those.
            let last = next_in_log.map_or(recovered.last_sequence, |next: u64| next.saturating_sub(1));
            let sequences = Sequences { last, are_contiguous: self.contiguous_sequences };
            let judge =
                |trouble, offset, problem| self.judge(log, sound_end, sequences, trouble, offset, problem);
            match reader.next().map_err(Error::from)? {
                LogEvent::Record { payload, offset } => {
                    let at_record = |error| Error::format(path, offset, error);
                    let batch = BatchRef::parse(payload).map_err(at_record)?;
                    let first = batch.sequence();
                    let expected = next_in_log.unwrap_or(last + 1);
                    // The first record may be in tables already.
                    let goes_on = first == expected || (next_in_log.is_none() && first < expected);
                    if self.contiguous_sequences && !goes_on {
                        let reason = gap(offset, first, expected);
                        match next_in_log {
                            None => break End::Hole { offset, reason },
                            // A loss of power that takes what was between two records leaves a gap between them.
                            Some(_) if is_next(sound_end, offset) => return Err(reason),
                            Some(_) => {
                                break judge(Trouble::Zeros, sound_end, gap_problem(first, expected))?;
                            }
                        }
                    }
                    if let Some((unfinished, at)) = recovered.unfinished.take()
                        && first > expected
                    {
                        recovered.missing_ends.push(self.missing_end(log, unfinished, at, first, expected));
                    }
                    next_in_log = Some(first + u64::from(batch.count()));
                    records += 1;
                    self.apply(*number, batch, recovered).map_err(at_record)?;
                }
                LogEvent::Damage { offset, dropped_bytes, reason } => {
                    let problem = format!("damaged log record: {reason} ({dropped_bytes} bytes)");
                    let trouble = Trouble::Damage { record: offset, at: reader.damaged_at() };
                    break judge(trouble, offset, problem)?;
                }
                LogEvent::TornTail { offset, dropped_bytes } => {
                    let end = reader.end_of_bytes();
                    if self.writer_may_live && file.size_bytes()? > end {
                        break End::Growing;
                    }
                    let trouble = Trouble::Damage { record: offset, at: reader.damaged_at() };
                    if end <= self.synced_files.end_of_log(*number) {
                        break judge(trouble, offset, "damaged log record: a bad length".to_owned())?;
                    }
                    let rest = LogRest { file: &**file, sound_end, sequences };
                    let tail = rest.judge_torn(reader.take_torn_record().as_ref(), offset);
                    if let TornTail::Damaged(problem) = tail {
                        break judge(trouble, offset, format!("damaged log record: {problem}"))?;
                    }
                    if first_content(&**file, sound_end, offset)?.is_some() {
                        break judge(Trouble::Zeros, sound_end, ZEROS_IN_LOG.to_owned())?;
                    }
                    if let TornTail::AfterGap(first) = tail {
                        break End::Hole { offset, reason: gap(offset, first, last + 1) };
                    }
                    self.info_log.line(format_args!(
                        "log {number} ends in an unfinished record of {dropped_bytes} bytes at {offset}: left out"
                    ));
                    recovered.unfinished = Some((*number, offset));
                    break End::Unfinished;
                }
                LogEvent::End => {
                    let end = reader.end_of_bytes();
                    if first_content(&**file, sound_end, end)?.is_some() {
                        break judge(Trouble::Zeros, sound_end, ZEROS_IN_LOG.to_owned())?;
                    }
                    let synced_end = self.synced_files.end_of_log(*number);
                    if sound_end < synced_end {
                        let problem =
                            format!("the log ends here, though it was synced up to byte {synced_end}");
                        let problem = format!("{problem}; repair keeps what is there");
                        return Err(Error::corruption(path, sound_end, problem));
                    }
                    recovered.ends.push(sound_end);
                    break End::Whole;
                }
            }
        };
        if !matches!(end, End::Hole { .. }) {
            self.info_log.line(format_args!("read {records} records from log {number}"));
        }
        Ok(end)
    }

    /// What is said of a log that ends in an unfinished record at `offset`, if `next` begins with the sequence `first`. A
    /// process that dies leaves such an end, and one that writes on after an error leaves such a gap; a loss of power leaves both.
    fn missing_end(&self, next: &OpenLog, number: u64, offset: u64, first: u64, expected: u64) -> LeftOutLog {
        let name = log_name(number);
        let later = log_name(next.number);
        let problem = format!(
            "the log ends in an unfinished record, and {later} begins with sequence {first} instead of {expected}, as a loss \
             of power leaves them"
        );
        self.info_log.line(format_args!("{name}: {problem}"));
        let reason = Error::corruption(&next.path.with_file_name(&name), offset, problem);
        LeftOutLog { name, kind: LeftOutKind::MissingEnd, bytes: 0, reason }
    }

    fn apply(
        &self,
        log_number: u64,
        batch: BatchRef<'_>,
        recovered: &mut RecoveredLogs,
    ) -> std::result::Result<(), FormatError> {
        if self.is_full(recovered) {
            let full = recovered.memtables.last_mut().expect("there is always one");
            full.next_log_number = Some(log_number);
            let next = RecoveredMemTable::new(full.table.successor());
            recovered.memtables.push(next);
        }
        let current = recovered.memtables.last_mut().expect("there is always one");
        let mut inserter = current.table.inserter();
        for (sequence, operation) in (batch.sequence()..).zip(batch.iter()) {
            match operation? {
                BatchOp::Put { key, value } => inserter.insert(sequence, ValueKind::Value, key, value),
                BatchOp::Delete { key } => inserter.insert(sequence, ValueKind::Deletion, key, &[]),
            }
            recovered.last_sequence = recovered.last_sequence.max(sequence);
            current.last_sequence = recovered.last_sequence;
        }
        Ok(())
    }

    fn is_full(&self, recovered: &RecoveredLogs) -> bool {
        let last = recovered.memtables.last().expect("there is always one");
        // An empty memtable is as large as the one before it had grown.
        !last.table.is_empty() && last.table.approximate_memory_bytes() >= self.write_buffer_size_bytes
    }
}

fn gap_problem(first: u64, expected: u64) -> String {
    format!("the log goes on with sequence {first} instead of {expected}")
}
