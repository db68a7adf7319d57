//! The write-ahead log on a real file system: each append is one write at a known offset.
//!
//! Predecessor: the engine's log writer. Successor: the operating system's page cache, and at a sync the disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::file::{close_file, given_up, sync_file};
use crate::{EnvError, LogFile, Result};

/// What the file behind a log is in.
#[derive(Clone, Copy)]
enum State {
    /// It holds exactly what was appended.
    Whole,
    /// A failed append left bytes behind the end. A truncation heals it.
    Damaged(io::ErrorKind),
    /// A sync failed: the system may have dropped pages, and nothing heals it.
    Lost(io::ErrorKind),
}

pub(super) struct PosixLogFile {
    file: File,
    path: PathBuf,
    size_bytes: u64,
    synced_before: bool,
    state: State,
}

impl PosixLogFile {
    /// A log in `file`, which is empty.
    pub(super) fn new(file: File, path: &Path) -> Self {
        Self { file, path: path.to_owned(), size_bytes: 0, synced_before: false, state: State::Whole }
    }

    fn failed(&self, operation: &'static str, source: io::Error) -> EnvError {
        EnvError::new(operation, &self.path, source)
    }

    fn check_whole(&self, operation: &'static str) -> Result<()> {
        match self.state {
            State::Whole => Ok(()),
            State::Damaged(kind) | State::Lost(kind) => Err(self.failed(operation, given_up(kind))),
        }
    }
}

impl LogFile for PosixLogFile {
    fn append(&mut self, record: &[u8]) -> Result<()> {
        self.check_whole("write")?;
        if let Err(error) = self.file.write_all_at(record, self.size_bytes) {
            // Part of the record may be there. A later record behind it would be unreadable.
            if self.file.set_len(self.size_bytes).is_err() {
                self.state = State::Damaged(error.kind());
            }
            return Err(self.failed("write", error));
        }
        self.size_bytes += record.len() as u64;
        Ok(())
    }

    fn is_damaged(&self) -> bool {
        matches!(self.state, State::Damaged(_))
    }

    fn truncate(&mut self, size_bytes: u64) -> Result<()> {
        if size_bytes > self.size_bytes {
            return Err(self.failed("truncate", io::ErrorKind::InvalidInput.into()));
        }
        self.file.set_len(size_bytes).map_err(|source| self.failed("truncate", source))?;
        self.size_bytes = size_bytes;
        if self.is_damaged() {
            self.state = State::Whole;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.check_whole("sync")?;
        if let Err(error) = sync_file(&self.file, self.synced_before) {
            self.state = State::Lost(error.kind());
            return Err(self.failed("sync", error));
        }
        self.synced_before = true;
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { file, path, size_bytes, state, .. } = *self;
        let whole = match state {
            State::Damaged(_) => file.set_len(size_bytes),
            State::Whole | State::Lost(_) => Ok(()),
        };
        whole.and(close_file(file)).map_err(|source| EnvError::new("close", path, source))
    }
}
