//! A file that is read once, from front to back, on a real file system.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::{EnvError, Result, SequentialFile};

pub(crate) struct HostSequentialFile {
    file: File,
    path: PathBuf,
}

impl HostSequentialFile {
    pub(crate) fn new(file: File, path: &Path) -> Self {
        Self { file, path: path.to_owned() }
    }
}

impl SequentialFile for HostSequentialFile {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map_err(|source| EnvError::new("read", &self.path, source)),
            }
        }
    }
}
