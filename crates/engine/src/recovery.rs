//! Reads the logs back into memtables at open. Predecessor: `wal/writer` of the run before. Successors: the sealed
//! memtables, which the flush thread writes to tables like any others.
//!
//! A log ends at its last whole record: what follows was being written when the process died, and was never
//! acknowledged as synced. Damage with whole records behind it is another matter. It is reported with file and
//! offset, and nothing is changed: opening anyway would silently lose writes, or keep later ones without earlier
//! ones.

use std::path::Path;
use std::sync::Arc;

use terrace_env::{Env, SequentialFile};
use terrace_format::batch::{BatchOp, BatchRef};
use terrace_format::file_name;
use terrace_format::internal_key::{InternalKeyComparator, ValueKind};
use terrace_format::log::{LogEvent, LogReader, LogSource};

use crate::error::{Error, Result};
use crate::info_log::InfoLog;
use crate::memtable::MemTable;

/// A memtable read from logs, with what its flush has to record.
pub(crate) struct RecoveredMemTable {
    pub(crate) table: Arc<MemTable>,
    pub(crate) last_sequence: u64,
    /// The log that the memtable after this one begins in; still needed once this one is flushed.
    pub(crate) next_log_number: Option<u64>,
}

/// What the logs held.
pub(crate) struct RecoveredLogs {
    /// Oldest first; only the last may be empty.
    pub(crate) memtables: Vec<RecoveredMemTable>,
    pub(crate) last_sequence: u64,
}

/// How to read the logs.
pub(crate) struct Replay<'a> {
    pub(crate) env: &'a dyn Env,
    pub(crate) folder: &'a Path,
    pub(crate) comparator: &'a InternalKeyComparator,
    pub(crate) info_log: &'a InfoLog,
    pub(crate) paranoid_checks: bool,
    pub(crate) write_buffer_size_bytes: usize,
}

impl Replay<'_> {
    /// Reads `logs`, ascending, into memtables. `last_sequence` is the newest one in tables.
    pub(crate) fn run(&self, logs: &[u64], last_sequence: u64) -> Result<RecoveredLogs> {
        let mut recovered = RecoveredLogs { memtables: vec![self.empty_memtable()], last_sequence };
        for number in logs {
            self.replay_log(*number, &mut recovered)?;
        }
        Ok(recovered)
    }

    fn empty_memtable(&self) -> RecoveredMemTable {
        RecoveredMemTable {
            table: Arc::new(MemTable::new(self.comparator.clone())),
            last_sequence: 0,
            next_log_number: None,
        }
    }

    fn replay_log(&self, number: u64, recovered: &mut RecoveredLogs) -> Result<()> {
        let path = self.folder.join(file_name::log_name(number));
        let source = FileSource { file: self.env.open_sequential(&path)? };
        let mut reader = LogReader::new(source);
        let mut damage: Option<Error> = None;
        let mut records = 0u64;
        loop {
            match reader.next().map_err(Error::from)? {
                LogEvent::Record { payload, offset } => {
                    if let Some(damage) = damage {
                        return Err(damage);
                    }
                    records += 1;
                    self.apply(number, payload, &path, offset, recovered)?;
                }
                LogEvent::Damage { offset, dropped_bytes, reason } => {
                    let problem = format!(
                        "damaged log record: {reason} ({dropped_bytes} bytes); repair keeps what is intact"
                    );
                    let error = Error::corruption(&path, offset, problem);
                    if self.paranoid_checks {
                        return Err(error);
                    }
                    damage.get_or_insert(error);
                }
                LogEvent::TornTail { offset, dropped_bytes } => {
                    self.info_log.line(format_args!(
                        "log {number} ends in an unfinished record of {dropped_bytes} bytes at {offset}: left out"
                    ));
                }
                LogEvent::End => break,
            }
        }
        if let Some(damage) = damage {
            self.info_log.line(format_args!("log {number} has a damaged tail: left out ({damage})"));
        }
        self.info_log.line(format_args!("read {records} records from log {number}"));
        Ok(())
    }

    fn apply(
        &self,
        log_number: u64,
        payload: &[u8],
        path: &Path,
        offset: u64,
        recovered: &mut RecoveredLogs,
    ) -> Result<()> {
        let at_record = |error| Error::format(path, offset, error);
        let batch = BatchRef::parse(payload).map_err(at_record)?;
        if self.is_full(recovered) {
            let full = recovered.memtables.last_mut().expect("there is always one");
            full.next_log_number = Some(log_number);
            recovered.memtables.push(self.empty_memtable());
        }
        let current = recovered.memtables.last_mut().expect("there is always one");
        for (sequence, operation) in (batch.sequence()..).zip(batch.iter()) {
            match operation.map_err(at_record)? {
                BatchOp::Put { key, value } => current.table.insert(sequence, ValueKind::Value, key, value),
                BatchOp::Delete { key } => current.table.insert(sequence, ValueKind::Deletion, key, &[]),
            }
            recovered.last_sequence = recovered.last_sequence.max(sequence);
            current.last_sequence = recovered.last_sequence;
        }
        Ok(())
    }

    fn is_full(&self, recovered: &RecoveredLogs) -> bool {
        let last = recovered.memtables.last().expect("there is always one");
        last.table.approximate_memory_bytes() >= self.write_buffer_size_bytes
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

/// The logs in `names` that the MANIFEST still needs, ascending.
pub(crate) fn needed_logs(names: &[String], log_number: u64, previous_log_number: u64) -> Vec<u64> {
    let mut logs: Vec<u64> = names
        .iter()
        .filter_map(|name| match file_name::parse(name) {
            Some(file_name::FileKind::Log(number))
                if number >= log_number || (number == previous_log_number && number != 0) =>
            {
                Some(number)
            }
            _ => None,
        })
        .collect();
    logs.sort_unstable();
    logs
}
