//! Logs that keep the records that an open found in them. Predecessor: `replay`. Successor: `write/outgoing_logs`.
//!
//! If a killed process left little in its logs, the memtable read from them becomes the active one instead of a table.
//! The logs stay until that memtable is flushed with what is written later. A sync of a log that was found proves
//! nothing, and nor does writing it again in place: ext4 loses what is written to a page that it once failed to write
//! and that was new at the time, and the sync succeeds. So before a sync or a close counts, each kept log is replaced by
//! a new file, with the bytes that were read. They are held in memory until then.
//!
//! A log that an earlier session noted as synced is not kept: its records are found for the second time, and a table
//! spares later opens from reading them again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{Env, RandomAccessFile};
use terrace_format::file_name;

use crate::error::Result;
use crate::recovery::needed_logs::OpenLog;
use crate::recovery::recovered_logs::RecoveredLogs;
use crate::recovery::synced_files::SyncedFiles;

/// Logs that hold more in total are flushed to tables: holding and writing them again would cost more than a table.
const MAX_KEPT_BYTES: u64 = 1 << 20;

/// More logs are flushed to tables, so that sessions that are killed one after the other do not leave ever more of them.
const MAX_KEPT_LOGS: usize = 4;

/// A log whose records are in the active memtable. It must be replaced before they are durable.
pub(crate) struct KeptLog {
    pub(crate) number: u64,
    /// Bytes of whole records.
    pub(crate) size_bytes: u64,
    found: Arc<dyn RandomAccessFile>,
}

impl KeptLog {
    /// Puts a new file with the same records in the log's place. They and its name are durable then.
    pub(crate) fn replace(&self, env: &dyn Env, directory: &Path) -> Result<()> {
        let mut bytes = vec![0; self.size_bytes as usize];
        self.found.read_exact_at(0, &mut bytes)?;
        let temporary = directory.join(file_name::temporary_name(self.number));
        Ok(env.replace_file(&directory.join(file_name::log_name(self.number)), &bytes, &temporary)?)
    }
}

/// Reads `logs` into memory if they are small enough to be kept, so that the bytes written again are those that were
/// read. Returns whether they are.
pub(crate) fn hold_if_small(logs: &mut [OpenLog]) -> Result<bool> {
    if logs.len() > MAX_KEPT_LOGS {
        return Ok(false);
    }
    let sizes = logs.iter().map(|log| log.file.size_bytes()).collect::<terrace_env::Result<Vec<_>>>()?;
    if sizes.iter().sum::<u64>() > MAX_KEPT_BYTES {
        return Ok(false);
    }
    for (log, size_bytes) in logs.iter_mut().zip(sizes) {
        let mut bytes = vec![0; size_bytes as usize];
        let read_bytes = log.file.read_at(0, &mut bytes)?;
        bytes.truncate(read_bytes);
        log.file = Arc::new(HeldFile { bytes, path: log.path.clone() });
    }
    Ok(true)
}

/// The logs with records among `logs`, which [`hold_if_small`] holds in memory, if they are to be kept. If the result is empty, what was
/// recovered must be flushed.
pub(crate) fn to_keep(logs: &[OpenLog], recovered: &RecoveredLogs, synced: &SyncedFiles) -> Vec<KeptLog> {
    let fills_one_memtable = matches!(&recovered.memtables[..], [only] if !only.table.is_empty());
    let are_whole = recovered.ends.len() == logs.len();
    let are_new = logs.iter().all(|log| synced.end_of_log(log.number) == 0);
    if !(fills_one_memtable && are_whole && are_new) {
        return Vec::new();
    }
    let with_records = logs.iter().zip(&recovered.ends).filter(|(_, end)| **end > 0);
    let kept = |(log, end): (&OpenLog, &u64)| KeptLog {
        number: log.number,
        size_bytes: *end,
        found: Arc::clone(&log.file),
    };
    with_records.map(kept).collect()
}

/// The empty logs that need not stay until a flush, so that sessions that were killed before they wrote anything leave none. The first log
/// stays, because the MANIFEST may name it, and so do all if a flush of what was recovered would name one of them.
pub(crate) fn needless(
    logs: &[OpenLog],
    recovered: &RecoveredLogs,
    kept: &[KeptLog],
    synced: &SyncedFiles,
) -> Vec<u64> {
    let nothing_to_flush = recovered.memtables.iter().all(|memtable| memtable.table.is_empty());
    if recovered.hole.is_some() || (kept.is_empty() && !nothing_to_flush) {
        return Vec::new();
    }
    let is_empty = |log: &&OpenLog| {
        log.file.size_bytes().is_ok_and(|size_bytes| size_bytes == 0) && synced.end_of_log(log.number) == 0
    };
    logs.iter().skip(1).filter(is_empty).map(|log| log.number).collect()
}

/// The contents of a file as they were read.
#[derive(Debug)]
struct HeldFile {
    bytes: Vec<u8>,
    path: PathBuf,
}

impl RandomAccessFile for HeldFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> terrace_env::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.bytes.get(start..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn size_bytes(&self) -> terrace_env::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
