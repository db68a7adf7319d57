//! Files that are read at any offset by calls.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::raw_file;
use crate::host_files::beyond_any_file;
use crate::{EnvError, RandomAccessFile, Result};

/// A file that is read by calls. Windows has millions of handles for a process, so it stays open.
#[derive(Debug)]
pub(super) struct WindowsRandomAccessFile {
    path: PathBuf,
    file: File,
}

impl WindowsRandomAccessFile {
    pub(super) fn new(file: File, path: &Path) -> Self {
        Self { path: path.to_owned(), file }
    }
}

impl RandomAccessFile for WindowsRandomAccessFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        if beyond_any_file(offset, buffer) {
            return Ok(0);
        }
        raw_file::read_at(&self.file, offset, buffer)
            .map_err(|source: io::Error| EnvError::new("read", &self.path, source))
    }

    fn size_bytes(&self) -> Result<u64> {
        let metadata = self.file.metadata();
        Ok(metadata.map_err(|source| EnvError::new("get the size of", &self.path, source))?.len())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
