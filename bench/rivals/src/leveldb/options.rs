//! LevelDB's options, as an owner of the C objects behind them.

use std::ffi::c_int;
use std::ptr;

use terrace_bench::Settings;

use super::ffi::*;

/// Options for opening a database. The objects that they point to live as long as they do.
pub(super) struct OpenOptions {
    pub(super) options: *mut Options,
    cache: *mut Cache,
    filter: *mut FilterPolicy,
}

// SAFETY: LevelDB reads options, caches and filter policies from any thread.
unsafe impl Send for OpenOptions {}
// SAFETY: as above; nothing here changes after its creation.
unsafe impl Sync for OpenOptions {}

impl OpenOptions {
    pub(super) fn new(settings: &Settings) -> Self {
        // SAFETY: these calls have no preconditions.
        let (options, cache, filter) = unsafe {
            let cache = settings.cache_size.map_or(ptr::null_mut(), |bytes| leveldb_cache_create_lru(bytes));
            let bits = settings.bloom_bits.filter(|&bits| bits > 0);
            let filter =
                bits.map_or(ptr::null_mut(), |bits| leveldb_filterpolicy_create_bloom(bits as c_int));
            (leveldb_options_create(), cache, filter)
        };
        let created = Self { options, cache, filter };
        created.set(settings);
        created
    }

    fn set(&self, settings: &Settings) {
        let compression = if settings.compression { SNAPPY_COMPRESSION } else { NO_COMPRESSION };
        // SAFETY: the options are alive, and the cache and the filter live as long.
        unsafe {
            leveldb_options_set_create_if_missing(self.options, 1);
            leveldb_options_set_compression(self.options, compression);
            if let Some(bytes) = settings.write_buffer_size {
                leveldb_options_set_write_buffer_size(self.options, bytes);
            }
            if let Some(bytes) = settings.max_file_size {
                leveldb_options_set_max_file_size(self.options, bytes);
            }
            if let Some(bytes) = settings.block_size {
                leveldb_options_set_block_size(self.options, bytes);
            }
            if let Some(count) = settings.open_files {
                leveldb_options_set_max_open_files(self.options, count as c_int);
            }
            if !self.cache.is_null() {
                leveldb_options_set_cache(self.options, self.cache);
            }
            if !self.filter.is_null() {
                leveldb_options_set_filter_policy(self.options, self.filter);
            }
        }
    }
}

impl Drop for OpenOptions {
    fn drop(&mut self) {
        // SAFETY: each object was created here and is released once; databases keep the options alive.
        unsafe {
            leveldb_options_destroy(self.options);
            if !self.cache.is_null() {
                leveldb_cache_destroy(self.cache);
            }
            if !self.filter.is_null() {
                leveldb_filterpolicy_destroy(self.filter);
            }
        }
    }
}
