//! Appends write batches to the log. Predecessor: `write/commit`. Successor: the memtable, and `recovery` at the
//! next open.
//!
//! One batch is one logical record. If it fits a block, it is one physical record, which `env` may store into memory that
//! is mapped; so a process that dies leaves it whole or not at all. A larger one is split into several (see
//! `terrace_format::log`), which reach the operating system by one append.

use std::path::PathBuf;

use terrace_env::{Env, LogFile};
use terrace_format::log::{Fragmentation, LogEncoder};

use crate::error::Result;

/// A log that is being written.
pub(crate) struct WalWriter {
    number: u64,
    path: PathBuf,
    file: Box<dyn LogFile>,
    encoder: LogEncoder,
    has_unsynced: bool,
    folder_synced: bool,
}

impl WalWriter {
    /// Creates the log `number` at `path`, mapped into memory if `map` and the environment is fit for that.
    pub(crate) fn create(env: &dyn Env, path: PathBuf, number: u64, map: bool) -> Result<Self> {
        let file = if map { env.create_log(&path)? } else { env.create_unmapped_log(&path)? };
        Ok(Self {
            number,
            path,
            file,
            encoder: LogEncoder::new(Fragmentation::KeepWhole),
            has_unsynced: false,
            folder_synced: false,
        })
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether no record was ever appended.
    pub(crate) fn is_empty(&self) -> bool {
        self.file.size_bytes() == 0
    }

    /// Closes the log and removes its file. For a log without records.
    pub(crate) fn discard(self, env: &dyn Env) -> Result<()> {
        let Self { file, path, .. } = self;
        file.close()?;
        Ok(env.remove_file(&path)?)
    }

    /// Whether a failed append left something behind that could not be cut off again.
    pub(crate) fn is_damaged(&self) -> bool {
        self.file.is_damaged()
    }

    /// Whether a record of so many bytes can be appended without waiting for the file system.
    #[inline]
    pub(crate) fn is_ready(&self, payload_bytes: usize) -> bool {
        self.file.is_ready(payload_bytes)
    }

    /// Appends one record. On success it survives the death of the process. After an error the log is as it was
    /// before, unless [`is_damaged`](Self::is_damaged).
    #[inline]
    pub(crate) fn append(&mut self, payload: &[u8]) -> Result<()> {
        let size_before = self.file.size_bytes();
        self.has_unsynced = true;
        let result = match self.encoder.encode_whole(payload) {
            Some(record) => self.file.append_record(record.padding_bytes, &record.header, payload),
            None => {
                let mut encoded = Vec::new();
                self.encoder.encode_into(payload, &mut encoded);
                self.file.append(&encoded)
            }
        };
        result.map_err(|error| {
            self.encoder = LogEncoder::at_offset(Fragmentation::KeepWhole, size_before);
            error.into()
        })
    }

    /// Makes everything appended so far survive a loss of power, the file's name included.
    pub(crate) fn sync(&mut self, env: &dyn Env) -> Result<()> {
        if self.has_unsynced {
            self.file.sync()?;
            self.has_unsynced = false;
        }
        if !self.folder_synced {
            if let Some(folder) = self.path.parent() {
                env.sync_folder(folder)?;
            }
            self.folder_synced = true;
        }
        Ok(())
    }

    /// Closes the file and reports what closing reports.
    pub(crate) fn close(self) -> Result<()> {
        Ok(self.file.close()?)
    }
}
