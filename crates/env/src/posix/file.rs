//! Tables, MANIFEST and info log on a real file system: reads at an offset, reads in sequence, buffered writes.
//!
//! Predecessor: the engine's table reader and builder, and its version set. Successor: the operating system.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::PosixEnv;
use super::descriptor_share::DescriptorShare;
use crate::error::given_up;
use crate::{EnvError, RandomAccessFile, Result, SequentialFile, WritableFile};

/// Number of bytes collected in the process before one write to the system, which begins and ends at a multiple of it in
/// the file: the system then uses large pages for the file, and a byte costs it 0.27 ns; in steps of 64 KiB, 0.34, and 0.41
/// in pieces of 100 KB. Every table under construction takes as much memory.
const WRITE_STEP_BYTES: usize = 256 << 10;

/// Number of bytes after which the system is asked to begin writing to the disk, so that the final sync waits only
/// for the last ones.
const WRITEBACK_STEP_BYTES: u64 = 1 << 20;

/// A file that is read by system calls.
#[derive(Debug)]
pub(super) struct PosixRandomAccessFile {
    path: PathBuf,
    /// The environment in which the path is looked up.
    env: PosixEnv,
    /// `None` if the process has too few descriptors to keep one for this file, which is then opened for each read.
    open: Option<(File, DescriptorShare)>,
    /// Set once the system has said that this file cannot be read without waiting, so that it is asked only once.
    #[cfg(target_os = "linux")]
    always_waits: std::sync::atomic::AtomicBool,
}

impl PosixRandomAccessFile {
    pub(super) fn new(file: File, env: &PosixEnv, path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            env: env.clone(),
            open: DescriptorShare::take().map(|share| (file, share)),
            #[cfg(target_os = "linux")]
            always_waits: std::sync::atomic::AtomicBool::new(false),
        }
    }

    fn failed(&self, source: io::Error) -> EnvError {
        EnvError::new("read", &self.path, source)
    }

    /// Runs `read` on the file, opening it first if necessary.
    fn with_file<T>(&self, read: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        match &self.open {
            Some((file, _)) => read(file),
            None => read(&self.env.path_at(&self.path)?.open(OFlags::RDONLY)?),
        }
    }
}

/// Whether these bytes lie where no file can reach: the system rejects such offsets; we treat them as after the end.
fn beyond_any_file(offset: u64, buffer: &[u8]) -> bool {
    i64::try_from(offset.saturating_add(buffer.len() as u64)).is_err()
}

fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read_bytes = 0;
    while read_bytes < buffer.len() {
        match file.read_at(&mut buffer[read_bytes..], offset + read_bytes as u64) {
            Ok(0) => break,
            Ok(count) => read_bytes += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read_bytes)
}

impl RandomAccessFile for PosixRandomAccessFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        if beyond_any_file(offset, buffer) {
            return Ok(0);
        }
        self.with_file(|file| read_at(file, offset, buffer)).map_err(|error| self.failed(error))
    }

    #[cfg(target_os = "linux")]
    fn read_at_without_waiting(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        use std::sync::atomic::Ordering;

        use rustix::io::{Errno, ReadWriteFlags};

        if beyond_any_file(offset, buffer) {
            return Ok(Some(0));
        }
        let Some((file, _)) = &self.open else { return Ok(None) };
        if self.always_waits.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let wanted_bytes = buffer.len();
        let slices = &mut [io::IoSliceMut::new(buffer)];
        match rustix::io::preadv2(file, slices, offset, ReadWriteFlags::NOWAIT) {
            Ok(read_bytes) if read_bytes == wanted_bytes => Ok(Some(read_bytes)),
            // Fewer bytes at the end of the file, or where the next page is not in memory.
            Ok(read_bytes) => {
                let at_end = offset + read_bytes as u64 >= self.size_bytes()?;
                Ok(at_end.then_some(read_bytes))
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            // The file system or the kernel has no such read (old kernels return INVAL for the flag).
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
                self.always_waits.store(true, Ordering::Relaxed);
                Ok(None)
            }
            Err(error) => Err(self.failed(error.into())),
        }
    }

    #[cfg(target_os = "linux")]
    fn next_data(&self, offset: u64) -> Result<Option<u64>> {
        use rustix::fs::{SeekFrom, seek};
        use rustix::io::Errno;

        // Reads pass their own offsets, so it does not matter where this leaves the file's.
        let found = self.with_file(|file| match seek(file, SeekFrom::Data(offset)) {
            Ok(data) => Ok(Some(Some(data))),
            Err(Errno::NXIO) => Ok(Some(None)),
            // The file system cannot tell.
            Err(_) => Ok(None),
        });
        match found.map_err(|source| EnvError::new("read", &self.path, source))? {
            Some(next) => Ok(next),
            None => Ok((offset < self.size_bytes()?).then_some(offset)),
        }
    }

    fn size_bytes(&self) -> Result<u64> {
        let metadata = self.with_file(File::metadata);
        Ok(metadata.map_err(|source| EnvError::new("get the size of", &self.path, source))?.len())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

pub(super) struct PosixSequentialFile {
    file: File,
    path: PathBuf,
}

impl PosixSequentialFile {
    pub(super) fn new(file: File, path: &Path) -> Self {
        Self { file, path: path.to_owned() }
    }
}

impl SequentialFile for PosixSequentialFile {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map_err(|source| EnvError::new("read", &self.path, source)),
            }
        }
    }
}

pub(super) struct PosixWritableFile {
    /// `None` only after closing.
    file: Option<File>,
    path: PathBuf,
    buffer: Vec<u8>,
    size_bytes: u64,
    /// The end of the range that the system was asked to write to the disk.
    writeback_begun_bytes: u64,
    synced_before: bool,
    /// The first failure, after which everything fails.
    failure: Option<io::ErrorKind>,
}

impl PosixWritableFile {
    /// `size_bytes` is the size of the file before the first appended byte.
    pub(super) fn new(file: File, path: &Path, size_bytes: u64) -> Self {
        Self {
            file: Some(file),
            path: path.to_owned(),
            buffer: Vec::new(),
            size_bytes,
            writeback_begun_bytes: size_bytes,
            synced_before: false,
            failure: None,
        }
    }

    /// Runs `work` on the file, or fails if anything failed before. Remembers a failure.
    fn attempt(
        &mut self,
        operation: &'static str,
        work: impl FnOnce(&mut File, &mut Vec<u8>) -> io::Result<()>,
    ) -> Result<()> {
        let result = match (self.failure, &mut self.file) {
            (None, Some(file)) => work(file, &mut self.buffer),
            (Some(kind), _) => Err(given_up(kind)),
            (None, None) => Err(given_up(io::ErrorKind::InvalidInput)),
        };
        result.map_err(|source| {
            self.failure.get_or_insert(source.kind());
            EnvError::new(operation, &self.path, source)
        })
    }
}

/// Makes bytes and size durable. The first sync covers everything about the file, which may be new. Later ones cover
/// only what is needed to read the bytes again (`fdatasync`), which spares the disk a write of the times.
pub(super) fn sync_file(file: &File, synced_before: bool) -> io::Result<()> {
    if synced_before { file.sync_data() } else { file.sync_all() }
}

/// Closes the file and reports errors that dropping a `File` would swallow: network file systems report failed writes
/// there.
pub(super) fn close_file(file: File) -> io::Result<()> {
    let descriptor = file.into_raw_fd();
    // SAFETY: `into_raw_fd` made this function the only owner of the descriptor, and it is not used again.
    if unsafe { libc::close(descriptor) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        // The descriptor is gone all the same.
        error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        error => Err(error),
    }
}

/// Asks the system to begin writing these bytes to the disk. They are durable only after a sync of the file, which
/// also reports what goes wrong here.
#[cfg(target_os = "linux")]
fn begin_writeback(file: &File, from: u64, to: u64) {
    use std::os::fd::AsRawFd;

    let (Ok(offset), Ok(length)) = (i64::try_from(from), i64::try_from(to - from)) else { return };
    // SAFETY: the descriptor is open while `file` is borrowed, and the call touches no memory of this process.
    unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, libc::SYNC_FILE_RANGE_WRITE) };
}

#[cfg(not(target_os = "linux"))]
fn begin_writeback(_file: &File, _from: u64, _to: u64) {}

/// Adds `bytes`, of which `until_step_bytes` lead to the next multiple of [`WRITE_STEP_BYTES`], and writes whole steps.
fn collect(file: &mut File, buffer: &mut Vec<u8>, bytes: &[u8], until_step_bytes: usize) -> io::Result<()> {
    let Some((until_step, rest)) = bytes.split_at_checked(until_step_bytes) else {
        buffer.extend_from_slice(bytes);
        return Ok(());
    };
    buffer.extend_from_slice(until_step);
    write_out(file, buffer)?;
    let (steps, rest) = rest.split_at(rest.len() / WRITE_STEP_BYTES * WRITE_STEP_BYTES);
    file.write_all(steps)?;
    buffer.extend_from_slice(rest);
    Ok(())
}

fn write_out(file: &mut File, buffer: &mut Vec<u8>) -> io::Result<()> {
    file.write_all(buffer)?;
    buffer.clear();
    Ok(())
}

impl WritableFile for PosixWritableFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let end = (self.size_bytes % WRITE_STEP_BYTES as u64) as usize;
        self.attempt("write", |file, buffer| collect(file, buffer, bytes, WRITE_STEP_BYTES - end))?;
        self.size_bytes += bytes.len() as u64;
        let written_bytes = self.size_bytes - self.buffer.len() as u64;
        if written_bytes >= self.writeback_begun_bytes + WRITEBACK_STEP_BYTES {
            if let Some(file) = &self.file {
                begin_writeback(file, self.writeback_begun_bytes, written_bytes);
            }
            self.writeback_begun_bytes = written_bytes;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.attempt("write", write_out)
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        let synced_before = self.synced_before;
        self.attempt("sync", |file, _| sync_file(file, synced_before))?;
        self.synced_before = true;
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        let flushed = self.flush();
        let closed = match self.file.take() {
            Some(file) => close_file(file).map_err(|source| EnvError::new("close", &self.path, source)),
            None => Ok(()),
        };
        flushed.and(closed)
    }
}

impl Drop for PosixWritableFile {
    fn drop(&mut self) {
        if self.failure.is_none()
            && let Some(file) = &mut self.file
        {
            // Nobody is left to receive an error.
            let _ = file.write_all(&self.buffer);
        }
    }
}
