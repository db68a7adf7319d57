//! Open files of a pool.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::slots::SlotFile;
use crate::error::{given_up, sync_failed};
use crate::log_state::LogState;
use crate::{
    EnvError, LOG_RECORD_HEADER_SIZE_BYTES, LogFile, RandomAccessFile, Result, SequentialFile, WritableFile,
};

/// Bytes that a writer collects before it writes them: each write costs the host as much as copying some 10 KiB.
const BUFFER_SIZE_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct PooledRandomAccessFile {
    pub(super) file: Arc<SlotFile>,
    pub(super) path: PathBuf,
}

impl RandomAccessFile for PooledRandomAccessFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.file.read_at(offset, buffer).map_err(|source| EnvError::new("read", &self.path, source))
    }

    fn size_bytes(&self) -> Result<u64> {
        Ok(self.file.size_bytes())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

pub(super) struct PooledSequentialFile {
    file: PooledRandomAccessFile,
    offset: u64,
}

impl PooledSequentialFile {
    pub(super) fn new(file: PooledRandomAccessFile) -> Self {
        Self { file, offset: 0 }
    }
}

impl SequentialFile for PooledSequentialFile {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read_bytes = self.file.read_at(self.offset, buffer)?;
        self.offset += read_bytes as u64;
        Ok(read_bytes)
    }
}

pub(super) struct PooledWritableFile {
    file: Arc<SlotFile>,
    path: PathBuf,
    buffer: Vec<u8>,
    /// Where the bytes of the buffer belong.
    offset: u64,
    failure: Option<io::ErrorKind>,
}

impl PooledWritableFile {
    /// A writer of the bytes from `offset` on.
    pub(super) fn new(file: Arc<SlotFile>, path: &Path, offset: u64) -> Self {
        Self { file, path: path.to_owned(), buffer: Vec::new(), offset, failure: None }
    }

    /// Runs an operation, unless an earlier one failed.
    fn attempt(
        &mut self,
        name: &'static str,
        operation: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<()> {
        let result = match self.failure {
            Some(kind) => Err(given_up(kind)),
            None => operation(self),
        };
        result.map_err(|source| {
            self.failure.get_or_insert(source.kind());
            EnvError::new(name, &self.path, source)
        })
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.file.write_at(self.offset, &self.buffer)?;
            self.offset += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl WritableFile for PooledWritableFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.attempt("write", |this| {
            if this.buffer.is_empty() && bytes.len() >= BUFFER_SIZE_BYTES {
                this.file.write_at(this.offset, bytes)?;
                this.offset += bytes.len() as u64;
                return Ok(());
            }
            this.buffer.extend_from_slice(bytes);
            if this.buffer.len() >= BUFFER_SIZE_BYTES { this.write_buffer() } else { Ok(()) }
        })
    }

    fn flush(&mut self) -> Result<()> {
        self.attempt("write", Self::write_buffer)
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.attempt("sync", |this| this.file.flush().map_err(sync_failed))
    }

    fn size_bytes(&self) -> u64 {
        self.offset + self.buffer.len() as u64
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.attempt("close", Self::write_buffer)
    }
}

impl Drop for PooledWritableFile {
    fn drop(&mut self) {
        // By the contract, errors are lost here.
        let _ = self.flush();
    }
}

/// Every append is one write.
pub(super) struct PooledLogFile {
    file: Arc<SlotFile>,
    path: PathBuf,
    size_bytes: u64,
    state: LogState,
}

impl PooledLogFile {
    /// Creates a log in a file, which is empty.
    pub(super) fn new(file: Arc<SlotFile>, path: &Path) -> Self {
        Self { file, path: path.to_owned(), size_bytes: 0, state: LogState::Whole }
    }

    fn failed(&self, operation: &'static str, source: io::Error) -> EnvError {
        EnvError::new(operation, &self.path, source)
    }

    fn check_whole(&self, operation: &'static str) -> Result<()> {
        self.state.check().map_err(|source| self.failed(operation, source))
    }
}

impl LogFile for PooledLogFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_whole("write")?;
        if bytes.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.file.write_at(self.size_bytes, bytes) {
            // A part may have been written. A later record after it would be unreadable.
            if self.file.truncate(self.size_bytes).is_err() {
                self.state = LogState::Damaged(error.kind());
            }
            return Err(self.failed("write", error));
        }
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    fn append_record(
        &mut self,
        padding_bytes: usize,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        fragment: &[u8],
    ) -> Result<()> {
        self.append_pieces(&[&vec![0; padding_bytes], header, fragment])
    }

    fn is_damaged(&self) -> bool {
        self.state.is_damaged()
    }

    fn truncate(&mut self, size_bytes: u64) -> Result<()> {
        if size_bytes > self.size_bytes {
            return Err(self.failed("truncate", io::ErrorKind::InvalidInput.into()));
        }
        self.file.truncate(size_bytes).map_err(|source| self.failed("truncate", source))?;
        self.size_bytes = size_bytes;
        self.state.heal();
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.check_whole("sync")?;
        self.file.flush().map_err(sync_failed).map_err(|error| {
            self.state = LogState::Lost(error.kind());
            self.failed("sync", error)
        })
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn close(self: Box<Self>) -> Result<()> {
        if self.state.is_damaged() {
            self.file.truncate(self.size_bytes).map_err(|source| self.failed("close", source))?;
        }
        Ok(())
    }
}
