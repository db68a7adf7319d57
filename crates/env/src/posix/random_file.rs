//! Files that are read at any offset by system calls.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::PosixEnv;
use super::descriptor_share::DescriptorShare;
use super::raw_file::read_at;
use crate::host_files::beyond_any_file;
use crate::{EnvError, RandomAccessFile, Result};

/// A file that is read by system calls.
#[derive(Debug)]
pub(super) struct PosixRandomAccessFile {
    path: PathBuf,
    /// The environment in which the path is resolved.
    env: PosixEnv,
    /// `None` if the process has too few descriptors to keep one for this file, which is then opened for each read.
    open: Option<(File, DescriptorShare)>,
    /// Set once the system has reported that this file cannot be read without waiting, so that it is queried only once.
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
