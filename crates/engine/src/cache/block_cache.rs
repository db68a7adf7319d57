//! The cache of uncompressed data blocks, shared by all tables of one or more databases.
//!
//! predecessor: table/block_fetch (asks here before it reads the file) · successor: none, the data's path ends here
//!
//! A block is in one of three states:
//!
//! ```text
//!   absent ──insert──▶ cached ──evicted──▶ pinned ──last reader drops it──▶ freed
//!                        └── evicted, no reader ──────────────────────────▶ freed
//! ```
//!
//! Readers hold a block by `Arc`, so eviction never waits for them and never invalidates what they see. Blocks that
//! only readers hold do not count as used bytes.
//!
//! A block's key is the id of its open table (never reused during the life of the cache) and its offset. The blocks of
//! a closed table are never requested again; eviction removes them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use quick_cache::Weighter;
use quick_cache::sync::{Cache, DefaultLifecycle};
use terrace_format::block::Block;

/// What a cached block costs besides its contents: the cache's own entry and the headers of the allocations.
const ENTRY_OVERHEAD_BYTES: u64 = 128;

/// The size of a typical block. The cache uses it to guess how many blocks it will hold.
const TYPICAL_BLOCK_SIZE_BYTES: u64 = 4096;

/// The cache remembers one miss for this many blocks that it can hold. With fewer remembered misses, the cache changes little
/// if the blocks in demand are many times its size, and takes several rounds to fill if they fit.
const BLOCKS_A_REMEMBERED_MISS: u64 = 16;

/// The largest number of remembered misses, of eight bytes each.
const MAX_REMEMBERED_MISSES: u64 = 1 << 16;

/// A cache of uncompressed data blocks with a limit in bytes. Threads and databases may share it: see
/// [`Options::block_cache`](crate::Options::block_cache).
///
/// The cache is divided into shards with a lock each. The `quick_cache` crate decides which block to evict; its policy keeps
/// blocks that are read again and again when a scan passes by. A block larger than a shard's share of the capacity is not
/// kept.
pub struct BlockCache {
    /// Made for the first block that is kept: most databases of a program with many never keep one.
    blocks: OnceLock<Blocks>,
    capacity_bytes: u64,
    next_file_id: AtomicU64,
    /// The hash of the block that was missed last, for each remainder of the keys' hashes. Made for the first miss.
    missed: OnceLock<Box<[AtomicU64]>>,
}

type Blocks = Cache<BlockKey, Arc<Block>, BlockWeighter, ahash::RandomState>;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct BlockKey {
    file_id: u64,
    offset: u64,
}

#[derive(Clone)]
struct BlockWeighter;

impl Weighter<BlockKey, Arc<Block>> for BlockWeighter {
    fn weight(&self, _key: &BlockKey, block: &Arc<Block>) -> u64 {
        block.size_bytes() as u64 + ENTRY_OVERHEAD_BYTES
    }
}

impl BlockCache {
    /// A cache that holds blocks up to `capacity_bytes`. 0 turns caching off.
    pub fn new(capacity_bytes: usize) -> Self {
        let capacity_bytes = capacity_bytes as u64;
        let next_file_id = AtomicU64::new(1);
        Self { blocks: OnceLock::new(), capacity_bytes, next_file_id, missed: OnceLock::new() }
    }

    fn new_blocks(&self) -> Blocks {
        let expected_blocks = (self.capacity_bytes / TYPICAL_BLOCK_SIZE_BYTES).max(1) as usize;
        // The keys are our own numbers, so no attacker can choose them for their hashes.
        let hasher = ahash::RandomState::with_seeds(0, 1, 2, 3);
        let lifecycle = DefaultLifecycle::default();
        Cache::with(expected_blocks, self.capacity_bytes, BlockWeighter, hasher, lifecycle)
    }

    fn new_missed(&self) -> Box<[AtomicU64]> {
        let remembered_misses = (self.capacity_bytes / TYPICAL_BLOCK_SIZE_BYTES / BLOCKS_A_REMEMBERED_MISS)
            .clamp(1, MAX_REMEMBERED_MISSES);
        (0..remembered_misses).map(|_| AtomicU64::new(0)).collect()
    }

    /// An id for a table that is being opened; unique in this cache.
    pub(crate) fn new_file_id(&self) -> u64 {
        self.next_file_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The block at byte `offset` of the table with `file_id`, if it is cached.
    pub(crate) fn get(&self, file_id: u64, offset: u64) -> Option<Arc<Block>> {
        self.blocks.get()?.get(&BlockKey { file_id, offset })
    }

    /// Notes that the block was not cached. Returns whether it was also missed a short time ago and so is worth caching.
    ///
    /// Decompressing a whole block and evicting another for it costs as much as several lookups that decompress a part. If the
    /// blocks in demand exceed the cache, few are therefore worth it. If they fit, they are cached bit by bit, and the
    /// faster the more of them already are, because cached blocks are not missed.
    pub(crate) fn note_miss(&self, file_id: u64, offset: u64) -> bool {
        // Two odd constants keep neighbours far apart. A wrong answer only costs time.
        let hash = (file_id.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ offset).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let hash = hash ^ hash >> 32;
        let missed = self.missed.get_or_init(|| self.new_missed());
        let place = &missed[(hash % missed.len() as u64) as usize];
        if place.load(Ordering::Relaxed) == hash {
            return true;
        }
        place.store(hash, Ordering::Relaxed);
        false
    }

    /// Caches `block` as the one at byte `offset` of the table with `file_id`. Others may be evicted.
    pub(crate) fn insert(&self, file_id: u64, offset: u64, block: Arc<Block>) {
        if self.capacity_bytes > 0 {
            self.blocks.get_or_init(|| self.new_blocks()).insert(BlockKey { file_id, offset }, block);
        }
    }

    /// Removes all blocks.
    pub(crate) fn clear(&self) {
        if let Some(blocks) = self.blocks.get() {
            blocks.clear();
        }
    }

    /// The size of the cached blocks, including what the cache itself needs for each, in bytes.
    pub fn used_bytes(&self) -> u64 {
        self.blocks.get().map_or(0, Cache::weight)
    }

    /// The limit on [`used_bytes`](Self::used_bytes). The shards' shares are rounded up, so their sum may exceed the limit
    /// by a few bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }
}

impl fmt::Debug for BlockCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockCache")
            .field("capacity_bytes", &self.capacity_bytes)
            .field("used_bytes", &self.used_bytes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_format::block::BlockBuilder;

    fn block(value_size_bytes: usize) -> Arc<Block> {
        let mut builder = BlockBuilder::new(16);
        builder.add(b"key", &vec![7; value_size_bytes]);
        Arc::new(Block::new(builder.finish().to_vec()).unwrap())
    }

    #[test]
    fn a_block_is_found_under_its_file_and_offset_only() {
        let cache = BlockCache::new(1 << 20);
        let (a, b) = (cache.new_file_id(), cache.new_file_id());
        assert_ne!(a, b);
        let first = block(100);
        cache.insert(a, 0, first.clone());
        assert!(Arc::ptr_eq(&cache.get(a, 0).unwrap(), &first));
        assert!(cache.get(a, 1).is_none());
        assert!(cache.get(b, 0).is_none());
        assert!(cache.used_bytes() >= first.size_bytes() as u64);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes when interpreted")]
    fn the_bound_holds_however_much_is_inserted() {
        let capacity_bytes = 256 << 10;
        let cache = BlockCache::new(capacity_bytes);
        let file_id = cache.new_file_id();
        let mut kept = 0;
        for number in 0..2_000 {
            cache.insert(file_id, number, block(500 + (number as usize * 37) % 4_000));
            assert!(cache.used_bytes() <= capacity_bytes as u64 + 64, "{cache:?} after {number}");
        }
        for number in 0..2_000 {
            kept += usize::from(cache.get(file_id, number).is_some());
        }
        assert!(kept > 20, "only {kept} blocks were kept");
    }

    #[test]
    fn a_reader_keeps_an_evicted_block() {
        let cache = BlockCache::new(8 << 10);
        let file_id = cache.new_file_id();
        cache.insert(file_id, 0, block(1_000));
        let held = cache.get(file_id, 0).unwrap();
        for number in 1..if cfg!(miri) { 50 } else { 500 } {
            cache.insert(file_id, number, block(1_000));
            cache.get(file_id, number);
            cache.get(file_id, number);
        }
        assert_eq!(held.contents(), block(1_000).contents());
    }

    #[test]
    fn a_second_miss_is_worth_caching_unless_too_many_came_between() {
        let cache = BlockCache::new(16 << 20);
        let file_id = cache.new_file_id();
        assert!(!cache.note_miss(file_id, 4096));
        assert!(cache.note_miss(file_id, 4096));
        assert!(!cache.note_miss(file_id + 1, 4096));
        let second_misses = |count: u64| {
            let file_id = cache.new_file_id();
            (0..2 * count).filter(|number| cache.note_miss(file_id, 4096 * (number % count))).count()
        };
        assert!(second_misses(50) > 30);
        assert!(second_misses(5_000) < 500);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes when interpreted")]
    fn blocks_that_fit_are_cached_in_a_few_rounds_and_too_many_are_hardly_cached() {
        let kept_after = |block_count: u64, gets: u64| {
            let cache = BlockCache::new(16 << 20);
            let file_id = cache.new_file_id();
            let mut inserted = 0;
            for number in 0..gets {
                let offset = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
                let offset = offset.wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
                let offset = offset % block_count;
                if cache.get(file_id, offset).is_none() && cache.note_miss(file_id, offset) {
                    cache.insert(file_id, offset, block(4_000));
                    inserted += 1;
                }
            }
            inserted
        };
        let fitting = kept_after(1_000, 30_000);
        assert!(fitting > 900, "{fitting} of 1000 blocks were cached");
        let large = kept_after(100_000, 30_000);
        assert!(large < 300, "{large} blocks were cached in 30000 gets");
    }

    #[test]
    fn capacity_zero_keeps_nothing() {
        let cache = BlockCache::new(0);
        let file_id = cache.new_file_id();
        cache.insert(file_id, 0, block(10));
        assert!(cache.get(file_id, 0).is_none());
        assert_eq!(cache.used_bytes(), 0);
    }

    #[test]
    fn a_block_larger_than_the_cache_is_not_kept() {
        let cache = BlockCache::new(4 << 10);
        let file_id = cache.new_file_id();
        cache.insert(file_id, 0, block(64 << 10));
        assert!(cache.get(file_id, 0).is_none());
        assert_eq!(cache.used_bytes(), 0);
    }
}
