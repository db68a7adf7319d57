//! A table file in memory, and which of its blocks were found to be intact.
//!
//! predecessor: [`block_fetch`](super::block_fetch) · successor: `RandomAccessFile::mapped`
//!
//! A block's checksum is verified when the block is first read. The [bit](super::granule_bits) of the piece in which the
//! block begins remembers it, so that reading the block again costs nothing. Blocks that are so small that several may begin
//! in one piece are verified each time.

use bytes::Bytes;
use terrace_env::RandomAccessFile;

use super::granule_bits::{GRANULE_SIZE_BYTES, GranuleBits};

/// The bytes of a table file. Threads share it.
#[derive(Debug)]
pub(crate) struct MappedFile {
    bytes: Bytes,
    /// Set for blocks whose checksum was right.
    intact: GranuleBits,
}

impl MappedFile {
    /// The first `size_bytes` of `file`, if the environment maps files and the file has that many bytes.
    pub(crate) fn new(file: &dyn RandomAccessFile, size_bytes: u64) -> Option<Self> {
        let mut bytes = file.mapped()?;
        let size = usize::try_from(size_bytes).ok().filter(|&size| size <= bytes.len())?;
        bytes.truncate(size);
        Some(Self { bytes, intact: GranuleBits::new(size_bytes) })
    }

    /// The bytes of the file.
    #[inline]
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Whether the block at `offset`, of `size_bytes` with its trailer, is known to be intact.
    #[inline]
    pub(crate) fn is_intact(&self, offset: u64, size_bytes: usize) -> bool {
        has_own_bit(size_bytes) && self.intact.is_set(offset)
    }

    /// Notes that the block's checksum was right.
    pub(crate) fn note_intact(&self, offset: u64, size_bytes: usize) {
        if has_own_bit(size_bytes) {
            self.intact.set(offset);
        }
    }
}

/// Whether no other block can begin in the same granule as a block of this size.
fn has_own_bit(size_bytes: usize) -> bool {
    size_bytes as u64 >= GRANULE_SIZE_BYTES
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use terrace_env::{Env, MemoryEnv};

    fn mapped(size_bytes: usize) -> MappedFile {
        let env = MemoryEnv::new();
        env.create(Path::new("/file")).unwrap().append(&vec![7; size_bytes]).unwrap();
        MappedFile::new(&*env.open_mapped(Path::new("/file")).unwrap(), size_bytes as u64).unwrap()
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
        assert!(MappedFile::new(&*env.open_mapped(Path::new("/file")).unwrap(), 6).is_none());
    }
}
