//! RocksDB's options as its wiki recommends ("Setup Options and Basic Tuning"), as owners of the C objects behind
//! them.

use std::ffi::c_int;

use terrace_bench::Settings;

use super::ffi::*;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// The wiki's recommendation.
const TUNED_BLOCK_SIZE_BYTES: usize = 16 * KIB;
const TUNED_BLOOM_BITS: usize = 10;
const SYNCED_EVERY_BYTES: u64 = MIB as u64;
const FORMAT_VERSION: c_int = 5;
/// RocksDB's own default.
const DEFAULT_WRITE_BUFFER_SIZE_BYTES: usize = 64 * MIB;
/// The same as Terrace's.
const DEFAULT_CACHE_SIZE_BYTES: usize = 32 * MIB;

/// The numbers that follow from a run's settings.
pub(super) struct Tuning {
    write_buffer_size_bytes: usize,
    cache_size_bytes: usize,
    block_size_bytes: usize,
    bloom_bits: usize,
    table_size_bytes: Option<usize>,
    open_files: Option<usize>,
    is_compressed: bool,
    background_jobs: usize,
}

impl Tuning {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            write_buffer_size_bytes: settings.write_buffer_size.unwrap_or(DEFAULT_WRITE_BUFFER_SIZE_BYTES),
            cache_size_bytes: settings.cache_size.unwrap_or(DEFAULT_CACHE_SIZE_BYTES),
            block_size_bytes: settings.block_size.unwrap_or(TUNED_BLOCK_SIZE_BYTES),
            bloom_bits: settings.bloom_bits.unwrap_or(TUNED_BLOOM_BITS),
            table_size_bytes: settings.max_file_size,
            open_files: settings.open_files,
            is_compressed: settings.compression,
            // One of them flushes.
            background_jobs: settings.compaction_threads.map_or_else(
                || std::thread::available_parallelism().map_or(2, usize::from).max(2),
                |threads| threads + 1,
            ),
        }
    }

    pub(super) fn describe(&self) -> String {
        format!(
            "write buffer {} KiB, block cache {} KiB beside index and filters, tables {} KiB, blocks {} B, filter {} \
             bits per key, {}, {} background jobs, dynamic level sizes",
            self.write_buffer_size_bytes / KIB,
            self.cache_size_bytes / KIB,
            self.table_size_bytes.unwrap_or(64 * MIB) / KIB,
            self.block_size_bytes,
            self.bloom_bits,
            if self.is_compressed { "snappy" } else { "no compression" },
            self.background_jobs,
        )
    }
}

/// Options for opening a database. The objects that they point to live as long as they do.
pub(super) struct OpenOptions {
    pub(super) options: *mut Options,
    blocks: *mut BlockOptions,
    cache: *mut Cache,
}

// SAFETY: RocksDB reads options and caches from any thread.
unsafe impl Send for OpenOptions {}
// SAFETY: as above; nothing here changes after its creation.
unsafe impl Sync for OpenOptions {}

impl OpenOptions {
    pub(super) fn new(tuning: &Tuning) -> Self {
        // SAFETY: these calls have no preconditions.
        let created = unsafe {
            Self {
                options: rocksdb_options_create(),
                blocks: rocksdb_block_based_options_create(),
                cache: rocksdb_cache_create_lru(tuning.cache_size_bytes),
            }
        };
        created.set_blocks(tuning);
        created.set_options(tuning);
        created
    }

    fn set_blocks(&self, tuning: &Tuning) {
        // Index and filters stay outside the cache, which is RocksDB's own default. The wiki recommends putting them
        // into it if memory must be bounded, but for a cache of gigabytes: a filter here is larger than one shard of
        // the cache, and would be read again for each get.
        // SAFETY: options and cache are alive; the filter policy is handed over.
        unsafe {
            rocksdb_block_based_options_set_block_cache(self.blocks, self.cache);
            rocksdb_block_based_options_set_block_size(self.blocks, tuning.block_size_bytes);
            rocksdb_block_based_options_set_format_version(self.blocks, FORMAT_VERSION);
            rocksdb_block_based_options_set_cache_index_and_filter_blocks(self.blocks, 0);
            if tuning.bloom_bits > 0 {
                let policy = rocksdb_filterpolicy_create_bloom_full(tuning.bloom_bits as f64);
                rocksdb_block_based_options_set_filter_policy(self.blocks, policy);
            }
        }
    }

    fn set_options(&self, tuning: &Tuning) {
        let compression = if tuning.is_compressed { SNAPPY_COMPRESSION } else { NO_COMPRESSION };
        // SAFETY: the options are alive, and what they refer to lives as long.
        unsafe {
            rocksdb_options_set_create_if_missing(self.options, 1);
            rocksdb_options_set_write_buffer_size(self.options, tuning.write_buffer_size_bytes);
            rocksdb_options_set_max_open_files(self.options, tuning.open_files.map_or(-1, |n| n as c_int));
            if let Some(bytes) = tuning.table_size_bytes {
                rocksdb_options_set_target_file_size_base(self.options, bytes as u64);
            }
            rocksdb_options_set_level_compaction_dynamic_level_bytes(self.options, 1);
            rocksdb_options_set_max_background_jobs(self.options, tuning.background_jobs as c_int);
            rocksdb_options_set_bytes_per_sync(self.options, SYNCED_EVERY_BYTES);
            rocksdb_options_set_compression(self.options, compression);
            rocksdb_options_set_block_based_table_factory(self.options, self.blocks);
        }
    }
}

impl Drop for OpenOptions {
    fn drop(&mut self) {
        // SAFETY: each object was created here and is released once; databases keep the options alive.
        unsafe {
            rocksdb_options_destroy(self.options);
            rocksdb_block_based_options_destroy(self.blocks);
            rocksdb_cache_destroy(self.cache);
        }
    }
}
