//! Reads the logs back into memtables at open. Predecessor: `wal/writer` of the run before. Successors: the sealed
//! memtables, which the flush thread writes to tables like any others.
//!
//! A log ends at its last whole record: what follows was being written when the process died. A loss of power may also
//! take sectors out of the middle of what was not synced. Recovery stops at the first such hole, in whichever log it
//! is, so that what is recovered is a prefix of what was written; what lies behind is set aside in the folder `lost`.
//! A hole shows as a lost sector in a damaged record, or as a gap in the sequences.
//!
//! Damage that no loss of power explains is another matter. It fails the open with file and offset, and nothing is
//! changed: to go on would silently lose synced writes, or keep later ones without earlier ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{Env, SequentialFile};
use terrace_format::FormatError;
use terrace_format::batch::{BatchOp, BatchRef};
use terrace_format::file_name::{self, FileKind};
use terrace_format::internal_key::{InternalKeyComparator, ValueKind};
use terrace_format::log::{LogEvent, LogReader, LogSource};

use crate::error::{Error, ErrorKind, Result};
use crate::info_log::InfoLog;
use crate::log_tail::{Found, find_record_behind, is_next};
use crate::log_verdict::{LogRest, Trouble, Verdict, is_plausible};
use crate::lost_sectors::is_zeros;
use crate::memtable::MemTable;
use crate::version::RecoveredNumbers;

/// A memtable read from logs, with what its flush has to record.
pub(crate) struct RecoveredMemTable {
    pub(crate) table: Arc<MemTable>,
    pub(crate) last_sequence: u64,
    /// The log that the memtable after this one begins in; still needed once this one is flushed.
    pub(crate) next_log_number: Option<u64>,
}

impl RecoveredMemTable {
    fn new(table: MemTable) -> Self {
        Self { table: Arc::new(table), last_sequence: 0, next_log_number: None }
    }
}

/// What the logs held.
pub(crate) struct RecoveredLogs {
    /// Oldest first; only the last may be empty.
    pub(crate) memtables: Vec<RecoveredMemTable>,
    pub(crate) last_sequence: u64,
    /// The log in which a loss of power left a hole. What follows the hole there, and all later logs, do not count.
    pub(crate) stopped_in_log: Option<u64>,
}

/// How to read the logs.
pub(crate) struct Replay<'a> {
    pub(crate) env: &'a dyn Env,
    /// The logs are Terrace's: each record begins with the sequence after the last one's. So does LevelDB write them,
    /// but forks of it leave gaps.
    pub(crate) contiguous_sequences: bool,
    pub(crate) comparator: &'a InternalKeyComparator,
    pub(crate) info_log: &'a InfoLog,
    pub(crate) paranoid_checks: bool,
    /// A process may be writing these logs, since the open is to read only.
    pub(crate) writer_may_live: bool,
    pub(crate) write_buffer_size_bytes: usize,
}

/// How a log ends.
enum End {
    /// Behind its last record.
    Whole,
    /// In a record that was never finished.
    Unfinished,
    /// Its writer lives and has added records since we read there. What it adds to later logs is newer still.
    Growing,
    /// A loss of power took a part of it: then what follows, later logs included, does not count.
    Hole(Error),
}

const ZEROS_IN_LOG: &str = "zeros where a log record should begin";

impl Replay<'_> {
    /// Reads `logs`, ascending, into memtables. `last_sequence` is the newest one in tables.
    pub(crate) fn run(&self, logs: Vec<OpenLog>, last_sequence: u64) -> Result<RecoveredLogs> {
        let first = RecoveredMemTable::new(MemTable::new(self.comparator.clone()));
        let mut recovered = RecoveredLogs { memtables: vec![first], last_sequence, stopped_in_log: None };
        for log in logs {
            let number = log.number;
            match self.replay_log(log, &mut recovered)? {
                End::Whole | End::Unfinished => {}
                End::Growing => break,
                End::Hole(reason) if self.paranoid_checks => return Err(reason),
                End::Hole(reason) => {
                    self.info_log
                        .line(format_args!("what follows is left out, never having been synced: {reason}"));
                    recovered.stopped_in_log = Some(number);
                    break;
                }
            }
        }
        Ok(recovered)
    }

    /// What `trouble` at `offset` means, behind the last record of the log at `path`, which ends at `end_of_last_record`.
    ///
    /// Errors: the damage, if nothing explains it.
    fn judge(
        &self,
        path: &Path,
        end_of_last_record: u64,
        last_sequence: u64,
        trouble: Trouble,
        offset: u64,
        problem: String,
    ) -> Result<End> {
        let rest =
            LogRest::read(self.env, path, end_of_last_record, last_sequence, self.contiguous_sequences)?;
        match rest.judge(trouble) {
            Verdict::Unfinished => Ok(End::Unfinished),
            Verdict::Growing if self.writer_may_live => Ok(End::Growing),
            Verdict::PowerLoss => Ok(End::Hole(Error::corruption(path, offset, problem))),
            Verdict::Damage | Verdict::Growing => {
                Err(Error::corruption(path, offset, format!("{problem}; repair keeps what is intact")))
            }
        }
    }

    /// What is wrong, if a record shows that the last one, between `offset` and `end`, only seems unfinished.
    fn hidden_by_tail(
        &self,
        path: &Path,
        offset: u64,
        end: u64,
        last_sequence: u64,
    ) -> Result<Option<String>> {
        let follows = |found: &Found<'_>| is_plausible(found, last_sequence, self.contiguous_sequences);
        let found = find_record_behind(self.env, path, offset, end, follows)?;
        Ok(found.map(|at| format!("damaged log record: a bad length, as the record at byte {at} shows")))
    }

    /// Reads one log, and says how it ends.
    fn replay_log(&self, log: OpenLog, recovered: &mut RecoveredLogs) -> Result<End> {
        let OpenLog { number, path, file } = log;
        let mut reader = LogReader::new(FileSource { file });
        let mut records = 0u64;
        let end = loop {
            let sound_end = reader.end_of_last_record();
            let last_sequence = recovered.last_sequence;
            let judge = |trouble, offset, problem| {
                self.judge(&path, sound_end, last_sequence, trouble, offset, problem)
            };
            match reader.next().map_err(Error::from)? {
                LogEvent::Record { payload, offset } => {
                    let at_record = |error| Error::format(&path, offset, error);
                    let batch = BatchRef::parse(payload).map_err(at_record)?;
                    let expected = last_sequence + 1;
                    if self.contiguous_sequences && batch.sequence() > expected {
                        let problem = format!(
                            "the log goes on with sequence {} instead of {expected}",
                            batch.sequence()
                        );
                        if records > 0 && !is_next(sound_end, offset) {
                            break judge(Trouble::Zeros, sound_end, problem)?;
                        }
                        break End::Hole(Error::corruption(&path, offset, problem));
                    }
                    records += 1;
                    self.apply(number, batch, recovered).map_err(at_record)?;
                }
                LogEvent::Damage { offset, dropped_bytes, reason } => {
                    let problem = format!("damaged log record: {reason} ({dropped_bytes} bytes)");
                    break judge(Trouble::Damage(offset), offset, problem)?;
                }
                LogEvent::TornTail { offset, dropped_bytes } => {
                    let end = offset + dropped_bytes;
                    if let Some(problem) = self.hidden_by_tail(&path, offset, end, last_sequence)? {
                        break judge(Trouble::Damage(offset), offset, problem)?;
                    }
                    if !is_zeros(self.env, &path, sound_end, offset)? {
                        break judge(Trouble::Zeros, sound_end, ZEROS_IN_LOG.to_owned())?;
                    }
                    self.info_log.line(format_args!(
                        "log {number} ends in an unfinished record of {dropped_bytes} bytes at {offset}: left out"
                    ));
                    break End::Unfinished;
                }
                LogEvent::End => {
                    if is_zeros(self.env, &path, sound_end, reader.end_of_bytes())? {
                        break End::Whole;
                    }
                    break judge(Trouble::Zeros, sound_end, ZEROS_IN_LOG.to_owned())?;
                }
            }
        };
        match &end {
            End::Hole(_) => {}
            _ => self.info_log.line(format_args!("read {records} records from log {number}")),
        }
        Ok(end)
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
        // An empty one is as large as the one before it had grown.
        !last.table.is_empty() && last.table.approximate_memory_bytes() >= self.write_buffer_size_bytes
    }
}

/// A file as the log reader wants it.
struct FileSource {
    file: Box<dyn SequentialFile>,
}

impl LogSource for FileSource {
    type Error = terrace_env::EnvError;

    fn read(&mut self, buffer: &mut [u8]) -> std::result::Result<usize, Self::Error> {
        self.file.read(buffer)
    }
}

/// Whether the MANIFEST, which says these numbers, still needs the log `number`.
pub(crate) fn is_log_needed(number: u64, log_number: u64, previous_log_number: u64) -> bool {
    number >= log_number || (number == previous_log_number && number != 0)
}

/// Whether a MANIFEST that says these numbers needs a log. Where none is needed any more, the number is its own, or 0.
pub(crate) fn names_log(log_number: u64, manifest_number: u64) -> bool {
    log_number != 0 && log_number != manifest_number
}

/// Fails if the first log that counts is missing: a MANIFEST of ours names one that was there. So is found that a
/// MANIFEST has lost its last records, too: the log that the state before them needs was removed since.
pub(crate) fn check_first_log(folder: &Path, numbers: &RecoveredNumbers, logs: &[OpenLog]) -> Result<()> {
    let number = numbers.log_number;
    let names_one = numbers.is_ours && names_log(number, numbers.manifest_number);
    if !names_one || logs.iter().any(|log| log.number == number) {
        return Ok(());
    }
    let manifest = file_name::manifest_name(numbers.manifest_number);
    let problem = format!("{manifest} needs a log that is missing; repair keeps what is there");
    Err(Error::at_path(ErrorKind::Corruption, &folder.join(file_name::log_name(number)), problem))
}

/// A log that can be read, also if its writer removes it meanwhile.
pub(crate) struct OpenLog {
    pub(crate) number: u64,
    pub(crate) path: PathBuf,
    pub(crate) file: Box<dyn SequentialFile>,
}

/// Opens every log among `names`, the files in `folder`, ascending. Do it before the MANIFEST is read: a log that a running writer removes
/// before is in tables that the MANIFEST names then.
pub(crate) fn open_logs(env: &dyn Env, folder: &Path, names: &[String]) -> Result<Vec<OpenLog>> {
    let mut logs = Vec::new();
    for name in names {
        if let Some(FileKind::Log(number)) = file_name::parse(name) {
            let path = folder.join(name);
            match env.open_sequential(&path) {
                Ok(file) => logs.push(OpenLog { number, path, file }),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    logs.sort_by_key(|log| log.number);
    Ok(logs)
}
