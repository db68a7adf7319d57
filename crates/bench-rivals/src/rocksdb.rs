//! The adapter for RocksDB. Beyond LevelDB's settings it is tuned as RocksDB's wiki advises ("Setup Options and Basic
//! Tuning"): background jobs for the cores, level sizes from the last level up, compaction by smallest overlap, Bloom
//! filters of 10 bits, index and filter blocks in the cache, syncs of files in the background each MiB.

use std::path::Path;

use rocksdb::{
    BlockBasedOptions, Cache, CompactionPri, DB, DBCompressionType, DBRawIterator, Options, WriteBatch,
    WriteOptions,
};
use terrace_bench::{BatchSink, Engine, Reader, Result, Settings, Start, Store};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// The wiki's.
const TUNED_BLOCK_SIZE_BYTES: usize = 16 * KIB;
const TUNED_BLOOM_BITS: usize = 10;
const FORMAT_VERSION: i32 = 5;
/// RocksDB's own default.
const DEFAULT_WRITE_BUFFER_SIZE_BYTES: usize = 64 * MIB;
const DEFAULT_CACHE_SIZE_BYTES: usize = 32 * MIB;

/// RocksDB with the options of a run.
pub(crate) struct RocksDb {
    options: Options,
    settings: String,
}

impl RocksDb {
    pub(crate) fn new(settings: &Settings) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from) as i32;
        let write_buffer = settings.write_buffer_size.unwrap_or(DEFAULT_WRITE_BUFFER_SIZE_BYTES);
        let cache_size = settings.cache_size.unwrap_or(DEFAULT_CACHE_SIZE_BYTES);
        let block_size = settings.block_size.unwrap_or(TUNED_BLOCK_SIZE_BYTES);
        let bloom_bits = settings.bloom_bits.unwrap_or(TUNED_BLOOM_BITS);

        let mut table = BlockBasedOptions::default();
        table.set_block_cache(&Cache::new_lru_cache(cache_size));
        table.set_block_size(block_size);
        table.set_cache_index_and_filter_blocks(true);
        table.set_pin_l0_filter_and_index_blocks_in_cache(true);
        table.set_format_version(FORMAT_VERSION);
        if bloom_bits > 0 {
            table.set_bloom_filter(bloom_bits as f64, false);
        }
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_block_based_table_factory(&table);
        options.set_write_buffer_size(write_buffer);
        options.set_level_compaction_dynamic_level_bytes(true);
        options.set_max_background_jobs(cores.max(2));
        options.set_bytes_per_sync(MIB as u64);
        options.set_compaction_pri(CompactionPri::MinOverlappingRatio);
        options.set_max_open_files(settings.open_files.map_or(-1, |count| count as i32));
        if let Some(bytes) = settings.max_file_size {
            options.set_target_file_size_base(bytes as u64);
        }
        let compression =
            if settings.compression { DBCompressionType::Snappy } else { DBCompressionType::None };
        options.set_compression_type(compression);
        let settings = format!(
            "write buffer {} KiB, block cache {} KiB with index and filters, blocks {block_size} B, filter \
             {bloom_bits} bits a key, {compression:?}, {} background jobs, dynamic level sizes",
            write_buffer / KIB,
            cache_size / KIB,
            cores.max(2),
        );
        Self { options, settings }
    }
}

impl Engine for RocksDb {
    fn name(&self) -> &str {
        "rocksdb"
    }

    fn version(&self) -> String {
        "11.8.1 (crate rocksdb 0.25)".to_owned()
    }

    fn settings(&self) -> String {
        self.settings.clone()
    }

    fn with(&self, settings: &Settings) -> Box<dyn Engine> {
        Box::new(Self::new(settings))
    }

    fn open(&self, folder: &Path) -> Result<Box<dyn Store>> {
        let db = DB::open(&self.options, folder)?;
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        Ok(Box::new(RocksStore { db, writes: [WriteOptions::default(), synced] }))
    }

    fn destroy(&self, folder: &Path) -> Result<()> {
        Ok(DB::destroy(&self.options, folder)?)
    }
}

struct RocksStore {
    db: DB,
    /// Without and with a sync.
    writes: [WriteOptions; 2],
}

// SAFETY: the options never change, and RocksDB reads them from any thread.
unsafe impl Sync for RocksStore {}

impl Store for RocksStore {
    fn put(&self, key: &[u8], value: &[u8], sync: bool) -> Result<()> {
        Ok(self.db.put_opt(key, value, &self.writes[usize::from(sync)])?)
    }

    fn delete(&self, key: &[u8], sync: bool) -> Result<()> {
        Ok(self.db.delete_opt(key, &self.writes[usize::from(sync)])?)
    }

    fn write(&self, fill: &mut dyn FnMut(&mut dyn BatchSink) -> Result<()>, sync: bool) -> Result<()> {
        let mut batch = Batch(WriteBatch::default());
        fill(&mut batch)?;
        Ok(self.db.write_opt(batch.0, &self.writes[usize::from(sync)])?)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let Some(found) = self.db.get_pinned(key)? else { return Ok(false) };
        value.clear();
        value.extend_from_slice(&found);
        Ok(true)
    }

    fn scan(&self, start: Start<'_>, visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let mut iterator = self.db.raw_iterator();
        match start {
            Start::First => iterator.seek_to_first(),
            Start::Last => iterator.seek_to_last(),
            Start::At(key) => iterator.seek(key),
        }
        let backward = matches!(start, Start::Last);
        while let Some((key, value)) = iterator.item() {
            if !visit(key, value) {
                break;
            }
            if backward {
                iterator.prev();
            } else {
                iterator.next();
            }
        }
        Ok(iterator.status()?)
    }

    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(RocksReader { store: self, iterator: None }))
    }

    fn flush(&self) -> Result<()> {
        Ok(self.db.flush()?)
    }

    fn compact(&self) -> Result<()> {
        self.db.compact_range::<&[u8], &[u8]>(None, None);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.db.cancel_all_background_work(true);
        Ok(())
    }
}

struct Batch(WriteBatch);

impl BatchSink for Batch {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.put(key, value);
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.delete(key);
        Ok(())
    }
}

struct RocksReader<'a> {
    store: &'a RocksStore,
    /// Made by the first seek.
    iterator: Option<DBRawIterator<'a>>,
}

impl Reader for RocksReader<'_> {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        self.store.get(key, value)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let iterator = self.iterator.get_or_insert_with(|| self.store.db.raw_iterator());
        iterator.seek(target);
        iterator.status()?;
        Ok(iterator.key() == Some(target))
    }
}
