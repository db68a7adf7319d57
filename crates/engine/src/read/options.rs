//! The options of a read and of an iterator, each with its purpose, default and cost.

use std::ops::Bound;

use crate::read::snapshot::Snapshot;
use crate::read_tier::ReadTier;

/// Settings of one read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Read the state of this snapshot; `None` reads the newest state. Default `None`.
    pub snapshot: Option<Snapshot>,
    /// Put blocks that were read into the block cache. Default `true`.
    ///
    /// An iterator that has read a few blocks in a row, without a seek, no longer fills the cache, so that a long scan does
    /// not evict what other reads need.
    pub fill_cache: bool,
    /// Verify the checksum of every block read from disk. In a mapped table each block is verified once, when it is first
    /// read. Default `true`.
    pub verify_checksums: bool,
    /// Whether the read may wait for the disk. Default [`ReadTier::Disk`].
    pub tier: ReadTier,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { snapshot: None, fill_cache: true, verify_checksums: true, tier: ReadTier::Disk }
    }
}

/// The range of keys that an iterator may visit, in the comparator's order. Default all keys.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Where the range begins.
    pub lower: Bound<Vec<u8>>,
    /// Where the range ends.
    pub upper: Bound<Vec<u8>>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { lower: Bound::Unbounded, upper: Bound::Unbounded }
    }
}

/// Settings of an iterator.
#[derive(Clone, Debug, Default)]
pub struct IterOptions {
    /// How the iterator reads, and from which snapshot.
    pub read: ReadOptions,
    /// The range of keys that the iterator may visit.
    pub bounds: Bounds,
}
