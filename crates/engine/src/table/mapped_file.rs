//! A table file in memory, and which of its blocks were found to be intact.
//!
//! predecessor: [`block_fetch`](super::block_fetch) · successor: `RandomAccessFile::mapped`
//!
//! A block's checksum is verified when the block is first read. It is remembered in one bit for each
//! [`GRANULE_SIZE_BYTES`] of the file, that in which the block begins, so that reading it again costs nothing. Blocks
//! smaller than that, several of which may begin in one place, are verified each time.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use terrace_env::RandomAccessFile;

/// Larger costs less memory, and more blocks are too small for it.
const GRANULE_SIZE_BYTES: u64 = 256;

/// The bytes of a table file. Threads share it.
#[derive(Debug)]
pub(crate) struct MappedFile {
    bytes: Bytes,
    /// One bit a granule.
    intact: Box<[AtomicU64]>,
}

impl MappedFile {
    /// The first `size_bytes` of `file`, if the environment maps files and the file has as many.
    pub(crate) fn new(file: &dyn RandomAccessFile, size_bytes: u64) -> Option<Self> {
        let mut bytes = file.mapped()?;
        let size = usize::try_from(size_bytes).ok().filter(|&size| size <= bytes.len())?;
        bytes.truncate(size);
        let granules = size_bytes.div_ceil(GRANULE_SIZE_BYTES);
        let intact = (0..granules.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Some(Self { bytes, intact })
    }

    /// The bytes of the file.
    #[inline]
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Whether a block at `offset`, of `size_bytes` with its trailer, is known to be intact.
    #[inline]
    pub(crate) fn is_intact(&self, offset: u64, size_bytes: usize) -> bool {
        match self.bit(offset, size_bytes) {
            Some((word, bit)) => word.load(Ordering::Relaxed) & bit != 0,
            None => false,
        }
    }

    /// Notes that the block's checksum was right. Relaxed, since the bytes that it stands for never change.
    pub(crate) fn note_intact(&self, offset: u64, size_bytes: usize) {
        if let Some((word, bit)) = self.bit(offset, size_bytes) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// The bit of a block, if it is large enough to have one.
    #[inline]
    fn bit(&self, offset: u64, size_bytes: usize) -> Option<(&AtomicU64, u64)> {
        if (size_bytes as u64) < GRANULE_SIZE_BYTES {
            return None;
        }
        let granule = offset / GRANULE_SIZE_BYTES;
        Some((self.intact.get((granule / 64) as usize)?, 1 << (granule % 64)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use terrace_env::{Env, MemoryEnv};

    fn mapped(size_bytes: usize) -> MappedFile {
        let env = MemoryEnv::new();
        env.create(Path::new("/file")).unwrap().append(&vec![7; size_bytes]).unwrap();
        MappedFile::new(&*env.open_random(Path::new("/file")).unwrap(), size_bytes as u64).unwrap()
    }

    #[test]
    fn a_block_is_intact_once_it_was_noted_and_no_other_is() {
        let file = mapped(100_000);
        file.note_intact(1_000, 300);
        assert!(file.is_intact(1_000, 300));
        for offset in [0, 700, 1_300, 99_000] {
            assert!(!file.is_intact(offset, 300), "at {offset}");
        }
    }

    #[test]
    fn small_blocks_and_places_beyond_the_file_are_never_known() {
        let file = mapped(1_000);
        for (offset, size_bytes) in [(10, 100), (1 << 40, 300), (u64::MAX, 300)] {
            file.note_intact(offset, size_bytes);
            assert!(!file.is_intact(offset, size_bytes));
        }
    }

    #[test]
    fn a_file_that_is_too_short_is_not_mapped() {
        let env = MemoryEnv::new();
        env.create(Path::new("/file")).unwrap().append(b"short").unwrap();
        assert!(MappedFile::new(&*env.open_random(Path::new("/file")).unwrap(), 6).is_none());
    }
}
