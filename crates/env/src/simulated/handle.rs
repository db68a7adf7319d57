//! Open files of a simulated process. They do what the files of the posix environment do, call by call.

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::call::{Call, CallKind};
use super::names::File;
use super::process::Process;
use crate::error::given_up;
use crate::log_state::LogState;
use crate::{
    EnvError, FileLock, LOG_RECORD_HEADER_SIZE_BYTES, LogFile, RandomAccessFile, Result, SequentialFile,
    WritableFile,
};

/// Number of bytes collected in the process before one write to the system, as in the posix environment.
const WRITE_BUFFER_SIZE_BYTES: usize = 64 << 10;

/// A file opened by a process, under some path.
pub(super) struct Handle {
    process: Process,
    file: File,
    path: PathBuf,
    /// How many failures to write the file have been reported to this handle, or never will be.
    known_failures: u64,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Handle {
    pub(super) fn new(process: &Process, file: File, path: &Path) -> Self {
        let known_failures = process.failures_at_open(&file);
        Self { process: process.clone(), file, path: path.to_owned(), known_failures }
    }

    fn sync(&mut self, kind: CallKind, step: &'static str) -> io::Result<()> {
        let Self { process, file, path, known_failures } = self;
        process.sync(Call::new(kind, step, path), file, known_failures)
    }

    fn failed(&self, operation: &'static str) -> impl Fn(io::Error) -> EnvError {
        let path = self.path.clone();
        move |source| EnvError::new(operation, &path, source)
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.process.read(&self.path, &self.file, offset, buffer).map_err(self.failed("read"))
    }
}

#[derive(Debug)]
pub(super) struct SimulatedRandomAccessFile(pub(super) Handle);

impl RandomAccessFile for SimulatedRandomAccessFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.0.read(offset, buffer)
    }

    fn read_at_without_waiting(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        self.0.read(offset, buffer).map(Some)
    }

    /// Maps every second file, so that trials cover both ways of reading. The bytes are a copy as of now.
    fn mapped(&self) -> Option<Bytes> {
        let number = self.0.path.file_stem()?.as_encoded_bytes().last()?;
        if number % 2 == 0 {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(self.size_bytes().ok()?).ok()?];
        self.read_exact_at(0, &mut bytes).ok()?;
        Some(bytes.into())
    }

    fn mapped_is_in_memory(&self, _offset: u64, _size_bytes: usize) -> bool {
        true
    }

    fn size_bytes(&self) -> Result<u64> {
        let Handle { process, file, path, .. } = &self.0;
        process.size_of(path, file).map_err(self.0.failed("get the size of"))
    }

    fn path(&self) -> &Path {
        &self.0.path
    }
}

pub(super) struct SimulatedSequentialFile {
    handle: Handle,
    offset: u64,
}

impl SimulatedSequentialFile {
    pub(super) fn new(handle: Handle) -> Self {
        Self { handle, offset: 0 }
    }
}

impl SequentialFile for SimulatedSequentialFile {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read_bytes = self.handle.read(self.offset, buffer)?;
        self.offset += read_bytes as u64;
        Ok(read_bytes)
    }
}

pub(super) struct SimulatedWritableFile {
    handle: Handle,
    buffer: Vec<u8>,
    /// Includes what is in the buffer.
    size_bytes: u64,
    is_closed: bool,
    /// The first failure, after which everything fails.
    failure: Option<io::ErrorKind>,
}

impl SimulatedWritableFile {
    pub(super) fn new(handle: Handle) -> Self {
        let size_bytes = handle.file.lock().bytes().len() as u64;
        Self { handle, buffer: Vec::new(), size_bytes, is_closed: false, failure: None }
    }

    /// Runs `work`, or fails if anything failed before. Remembers a failure.
    fn attempt(
        &mut self,
        operation: &'static str,
        work: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<()> {
        let result = match self.failure {
            // Bytes that stay in the buffer make no call, but a dead process does not even buffer.
            None => self.handle.process.check_alive().and_then(|()| work(self)),
            Some(kind) => Err(given_up(kind)),
        };
        result.map_err(|source| {
            self.failure.get_or_insert(source.kind());
            self.handle.failed(operation)(source)
        })
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let Handle { process, file, path, .. } = &self.handle;
        process.write(Call::new(CallKind::Write, "write", path), file, offset, bytes)
    }

    fn write_out(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            self.write(self.size_bytes - self.buffer.len() as u64, &self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl WritableFile for SimulatedWritableFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.attempt("write", |this| {
            if this.buffer.len() + bytes.len() > WRITE_BUFFER_SIZE_BYTES {
                this.write_out()?;
            }
            if bytes.len() >= WRITE_BUFFER_SIZE_BYTES {
                this.write(this.size_bytes, bytes)?;
            } else {
                this.buffer.extend_from_slice(bytes);
            }
            this.size_bytes += bytes.len() as u64;
            Ok(())
        })
    }

    fn flush(&mut self) -> Result<()> {
        self.attempt("write", Self::write_out)
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.attempt("sync", |this| this.handle.sync(CallKind::Sync, "sync"))
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        let flushed = self.flush();
        self.is_closed = true;
        let closed = self.handle.process.close(&self.handle.path).map_err(self.handle.failed("close"));
        flushed.and(closed)
    }
}

impl Drop for SimulatedWritableFile {
    fn drop(&mut self) {
        if self.failure.is_none() && !self.is_closed {
            // The error has no caller to go to.
            let _ = self.write_out();
        }
    }
}

pub(super) struct SimulatedLogFile {
    handle: Handle,
    size_bytes: u64,
    state: LogState,
}

impl SimulatedLogFile {
    /// Creates a log in an empty file.
    pub(super) fn new(handle: Handle) -> Self {
        Self { handle, size_bytes: 0, state: LogState::Whole }
    }

    fn check_whole(&self, operation: &'static str) -> Result<()> {
        self.state.check().map_err(self.handle.failed(operation))
    }

    /// Appends `bytes`; `header` is the offset in them of a header that is stored last, if there is one.
    fn write(&mut self, bytes: &[u8], header: Option<usize>) -> Result<()> {
        self.check_whole("write")?;
        let Handle { process, file, path, .. } = &self.handle;
        let call = Call::new(CallKind::WriteLog, "write log", path);
        if let Err(error) = process.write_log(call, file, self.size_bytes, bytes, header) {
            if self.cut_to(self.size_bytes).is_err() {
                self.state = LogState::Damaged(error.kind());
            }
            return Err(self.handle.failed("write")(error));
        }
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    fn cut_to(&self, size_bytes: u64) -> io::Result<()> {
        let Handle { process, file, path, .. } = &self.handle;
        process.truncate_log(path, file, size_bytes)
    }
}

impl LogFile for SimulatedLogFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes, None)
    }

    fn append_record(
        &mut self,
        padding_bytes: usize,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        payload: &[u8],
    ) -> Result<()> {
        let mut bytes = vec![0; padding_bytes];
        bytes.extend_from_slice(header);
        bytes.extend_from_slice(payload);
        self.write(&bytes, Some(padding_bytes))
    }

    fn is_damaged(&self) -> bool {
        self.state.is_damaged()
    }

    fn truncate(&mut self, size_bytes: u64) -> Result<()> {
        if size_bytes > self.size_bytes {
            return Err(self.handle.failed("truncate")(io::ErrorKind::InvalidInput.into()));
        }
        self.cut_to(size_bytes).map_err(self.handle.failed("truncate"))?;
        self.size_bytes = size_bytes;
        self.state.heal();
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.check_whole("sync")?;
        if let Err(error) = self.handle.sync(CallKind::SyncLog, "sync log") {
            self.state = LogState::Lost(error.kind());
            return Err(self.handle.failed("sync")(error));
        }
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn close(self: Box<Self>) -> Result<()> {
        let whole = if self.is_damaged() { self.cut_to(self.size_bytes) } else { Ok(()) };
        let Handle { process, file, path, .. } = &self.handle;
        let closed = process.close(path);
        if closed.is_ok() {
            file.lock().close_log();
        }
        whole.and(closed).map_err(self.handle.failed("close"))
    }
}

/// A lock on one file, held until it is dropped.
#[derive(Debug)]
pub(super) struct SimulatedLock(pub(super) Handle);

impl FileLock for SimulatedLock {}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        self.0.process.unlock(&self.0.file);
    }
}
