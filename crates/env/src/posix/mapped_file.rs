//! Tables on a real file system, read through a mapping of the file. No descriptor is held, so a process may have
//! more tables than descriptors.
//!
//! Predecessor: the engine's table reader. Successors: `mapping`, `residency`.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

use bytes::Bytes;

use super::mapping::Mapping;
#[cfg(target_os = "linux")]
use super::residency::Residency;
use crate::{RandomAccessFile, Result};

#[derive(Debug)]
pub(super) struct PosixMappedFile {
    mapping: Arc<Mapping>,
    path: PathBuf,
    /// What is known about the mapping's pages, created at the first question.
    #[cfg(target_os = "linux")]
    residency: OnceLock<Residency>,
}

/// One of several owners of a [`Mapping`], as [`Bytes`] hold it.
struct SharedMapping(Arc<Mapping>);

impl AsRef<[u8]> for SharedMapping {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl PosixMappedFile {
    /// Maps `file` as it is now. The caller may close it afterwards.
    ///
    /// # Errors
    ///
    /// If the system refuses: the file is empty, or the process has too many mappings or too little address space.
    pub(super) fn new(file: &File, path: &Path) -> io::Result<Self> {
        let size_bytes = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        Ok(Self {
            mapping: Arc::new(Mapping::new(file, size_bytes)?),
            path: path.to_owned(),
            #[cfg(target_os = "linux")]
            residency: OnceLock::new(),
        })
    }

    fn bytes(&self) -> &[u8] {
        (*self.mapping).as_ref()
    }
}

impl RandomAccessFile for PosixMappedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let start = usize::try_from(offset).ok();
        let rest = start.and_then(|start| self.bytes().get(start..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn read_at_without_waiting(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        let rest_bytes = (self.bytes().len() as u64).saturating_sub(offset);
        let count = usize::try_from(rest_bytes).unwrap_or(usize::MAX).min(buffer.len());
        if self.mapped_is_in_memory(offset, count) {
            self.read_at(offset, buffer).map(Some)
        } else {
            Ok(None)
        }
    }

    fn mapped(&self) -> Option<Bytes> {
        Some(Bytes::from_owner(SharedMapping(Arc::clone(&self.mapping))))
    }

    #[cfg(target_os = "linux")]
    fn mapped_is_in_memory(&self, offset: u64, size_bytes: usize) -> bool {
        let mapped_bytes = self.bytes().len();
        match usize::try_from(offset) {
            Ok(offset) if offset <= mapped_bytes && size_bytes <= mapped_bytes - offset => {
                let residency = self.residency.get_or_init(|| Residency::new(mapped_bytes));
                residency.is_in_memory(&self.mapping, offset, size_bytes)
            }
            _ => false,
        }
    }

    fn size_bytes(&self) -> Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
