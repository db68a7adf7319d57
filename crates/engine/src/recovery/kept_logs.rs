//! Logs that keep the records that an open found in them. Predecessor: `replay`. Successor: `write/outgoing_logs`.
//!
//! If a killed process left little in its logs, the memtable read from them becomes the active one instead of a table.
//! The logs stay until that memtable is flushed with what is written later. A sync of a log that was found proves
//! nothing, so each kept log is written once more in place, with the bytes that were read. The handle that does so
//! learns of every failure to store them, and its sync counts. Bytes that are on the disk already do not change, so a
//! loss of power can take nothing.
//!
//! A log that an earlier session noted as synced is not kept: its records are found for the second time, and a table
//! spares later opens from reading them again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{Env, RandomAccessFile, WritableFile};

use crate::error::Result;
use crate::recovery::needed_logs::OpenLog;
use crate::recovery::replay::RecoveredLogs;
use crate::recovery::synced_files::SyncedFiles;

/// Logs that hold more in total are flushed to tables: writing them again would take longer than an open should.
const MAX_KEPT_BYTES: u64 = 1 << 20;

/// More logs are flushed to tables, so that sessions that are killed one after the other do not leave ever more of them.
const MAX_KEPT_LOGS: usize = 4;

/// A log whose records are in the active memtable. It was written once more and waits for a sync.
pub(crate) struct KeptLog {
    pub(crate) number: u64,
    file: Box<dyn WritableFile>,
    has_durable_name: bool,
}

impl KeptLog {
    fn rewrite(env: &dyn Env, log: &OpenLog, end: u64) -> Result<Self> {
        let mut bytes = vec![0; end as usize];
        log.file.read_exact_at(0, &mut bytes)?;
        let mut file = env.open_to_rewrite(&log.path)?;
        file.append(&bytes)?;
        file.flush()?;
        Ok(Self { number: log.number, file, has_durable_name: false })
    }

    /// Bytes of whole records.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.file.size_bytes()
    }

    /// Notes that the file's name is durable.
    pub(crate) fn note_synced_name(&mut self) {
        self.has_durable_name = true;
    }

    /// Makes the records durable, along with the file's name.
    pub(crate) fn sync(&mut self, env: &dyn Env, directory: &Path) -> Result<()> {
        self.file.sync()?;
        if !self.has_durable_name {
            env.sync_directory(directory)?;
            self.has_durable_name = true;
        }
        Ok(())
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

/// Writes `logs`, which [`hold_if_small`] holds in memory, once more if they are to be kept. Otherwise, or if that
/// fails, the result is empty, and what was recovered must be flushed.
pub(crate) fn keep(
    env: &dyn Env,
    logs: &[OpenLog],
    recovered: &RecoveredLogs,
    synced: &SyncedFiles,
) -> Vec<KeptLog> {
    let fills_one_memtable = matches!(&recovered.memtables[..], [only] if !only.table.is_empty());
    let are_whole = recovered.ends.len() == logs.len();
    let are_new = logs.iter().all(|log| synced.end_of_log(log.number) == 0);
    if !(fills_one_memtable && are_whole && are_new) {
        return Vec::new();
    }
    let with_records = logs.iter().zip(&recovered.ends).filter(|(_, end)| **end > 0);
    with_records.map(|(log, end)| KeptLog::rewrite(env, log, *end)).collect::<Result<_>>().unwrap_or_default()
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
