//! One bit for each piece of a table file, which says something about the blocks that begin there.
//!
//! predecessors: [`mapped_file`](super::mapped_file), [`block_fetch`](super::block_fetch) · successor: none
//!
//! The bits take 1/2048 of the file's size, so those of the blocks in use stay in the processor's caches. All accesses are
//! relaxed: a bit is about bytes that never change, or is a hint.

use std::sync::atomic::{AtomicU64, Ordering};

/// The size of a piece. With a larger one the bits take less memory, and more blocks share a bit.
pub(super) const GRANULE_SIZE_BYTES: u64 = 256;

/// One bit for every [`GRANULE_SIZE_BYTES`] of a file, all clear at first. Threads share it.
#[derive(Debug)]
pub(super) struct GranuleBits {
    words: Box<[AtomicU64]>,
}

impl GranuleBits {
    /// The bits for a file of `size_bytes`.
    pub(super) fn new(size_bytes: u64) -> Self {
        let granules = size_bytes.div_ceil(GRANULE_SIZE_BYTES);
        Self { words: (0..granules.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Whether the bit of the block at `offset` is set; `false` beyond the end of the file.
    #[inline]
    pub(super) fn is_set(&self, offset: u64) -> bool {
        self.place(offset).is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }

    pub(super) fn set(&self, offset: u64) {
        if let Some((word, bit)) = self.place(offset) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    pub(super) fn clear(&self, offset: u64) {
        if let Some((word, bit)) = self.place(offset) {
            word.fetch_and(!bit, Ordering::Relaxed);
        }
    }

    #[inline]
    fn place(&self, offset: u64) -> Option<(&AtomicU64, u64)> {
        let granule = offset / GRANULE_SIZE_BYTES;
        let word = self.words.get(usize::try_from(granule / 64).ok()?)?;
        Some((word, 1 << (granule % 64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_that_of_its_granule_alone() {
        let bits = GranuleBits::new(100_000);
        bits.set(1_000);
        for offset in (0..100_000).step_by(100) {
            assert_eq!(bits.is_set(offset), (768..1_024).contains(&offset), "at {offset}");
        }
        bits.clear(800);
        assert!(!bits.is_set(1_000));
    }

    #[test]
    fn beyond_the_end_nothing_is_ever_set() {
        let bits = GranuleBits::new(1_000);
        for offset in [1 << 20, 1 << 40, u64::MAX] {
            bits.set(offset);
            bits.clear(offset);
            assert!(!bits.is_set(offset));
        }
        assert!(!GranuleBits::new(0).is_set(0));
    }
}
