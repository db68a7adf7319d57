//! Tables on a real file system, read through a mapping of the file. No descriptor is held, so a process may have
//! more tables than descriptors.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(any(target_os = "linux", windows))]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::paging::Advice;
#[cfg(any(target_os = "linux", windows))]
use super::residency::Residency;
use crate::system::mapping::Mapping;
use crate::{RandomAccessFile, ReadPattern, Result};

#[derive(Debug)]
pub(crate) struct HostMappedFile {
    mapping: Arc<Mapping>,
    path: PathBuf,
    expects_random_reads: AtomicBool,
    /// What is known about the mapping's pages, created at the first question.
    #[cfg(any(target_os = "linux", windows))]
    residency: OnceLock<Residency>,
}

/// One of several owners of a [`Mapping`], as [`Bytes`] hold it.
struct SharedMapping(Arc<Mapping>);

impl AsRef<[u8]> for SharedMapping {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl HostMappedFile {
    /// Maps `file` as it is now. The caller may close it afterwards.
    ///
    /// # Errors
    ///
    /// If the system refuses: the file is empty, or the process has too many mappings or too little address space.
    pub(crate) fn new(file: &File, path: &Path) -> io::Result<Self> {
        let size_bytes = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        Ok(Self {
            mapping: Arc::new(Mapping::new(file, size_bytes)?),
            path: path.to_owned(),
            expects_random_reads: AtomicBool::new(false),
            #[cfg(any(target_os = "linux", windows))]
            residency: OnceLock::new(),
        })
    }

    fn bytes(&self) -> &[u8] {
        (*self.mapping).as_ref()
    }

    /// Advises the system about those of these bytes that the file has.
    fn advise(&self, offset: u64, size_bytes: usize, advice: Advice) {
        let mapped_bytes = self.bytes().len();
        let offset = usize::try_from(offset).unwrap_or(mapped_bytes).min(mapped_bytes);
        let size_bytes = size_bytes.min(mapped_bytes - offset);
        if size_bytes > 0 {
            self.mapping.advise(offset, size_bytes, advice);
        }
    }
}

impl RandomAccessFile for HostMappedFile {
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

    #[cfg(any(target_os = "linux", windows))]
    fn mapped_is_in_memory(&self, offset: u64, size_bytes: usize) -> bool {
        let mapped_bytes = self.bytes().len();
        match usize::try_from(offset) {
            Ok(offset) if offset <= mapped_bytes && size_bytes <= mapped_bytes - offset => {
                let residency = self.residency.get_or_init(|| Residency::new(mapped_bytes));
                let with_neighbours = !self.expects_random_reads.load(Ordering::Relaxed);
                residency.is_in_memory(&self.mapping, offset, size_bytes, with_neighbours)
            }
            _ => false,
        }
    }

    fn expect_reads(&self, pattern: ReadPattern) {
        self.expects_random_reads.store(pattern == ReadPattern::Random, Ordering::Relaxed);
        let advice = match pattern {
            ReadPattern::Usual => Advice::Usual,
            ReadPattern::Random => Advice::Random,
        };
        self.advise(0, usize::MAX, advice);
    }

    fn start_reading(&self, offset: u64, size_bytes: usize) {
        self.advise(offset, size_bytes, Advice::Soon);
    }

    fn stop_reading(&self, offset: u64, size_bytes: usize) {
        self.advise(offset, size_bytes, Advice::NotSoon);
    }

    fn size_bytes(&self) -> Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(bytes: &[u8]) -> (tempfile::TempDir, HostMappedFile) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        std::fs::write(&path, bytes).unwrap();
        let file = File::open(&path).unwrap();
        let mapped = HostMappedFile::new(&file, &path).unwrap();
        (directory, mapped)
    }

    #[test]
    fn advice_changes_no_byte_wherever_it_is_given() {
        let bytes: Vec<u8> = (0..300_000u32).map(|n| (n * 7) as u8).collect();
        let (_directory, file) = mapped(&bytes);
        for pattern in [ReadPattern::Random, ReadPattern::Usual, ReadPattern::Random] {
            file.expect_reads(pattern);
            for (offset, size_bytes) in [
                (0, 1),
                (4_095, 2),
                (100_001, 50_000),
                (299_999, 10),
                (300_000, 1),
                (u64::MAX, usize::MAX),
                (0, 0),
            ] {
                file.start_reading(offset, size_bytes);
                file.stop_reading(offset, size_bytes);
            }
            assert_eq!(file.bytes(), bytes);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_started_comes_into_memory() {
        let (_directory, file) = mapped(&vec![7; 1 << 20]);
        file.expect_reads(ReadPattern::Random);
        file.stop_reading(0, 1 << 20);
        file.start_reading(0, 1 << 20);
        crate::conformance::eventually("the file is in memory", || file.mapped_is_in_memory(0, 1 << 20));
    }
}
