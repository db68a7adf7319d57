//! The part of `rocksdb/c.h`, RocksDB's C interface, that is used here. These calls have been the same since RocksDB 6.

use std::ffi::{c_char, c_int, c_void};

use crate::c_library::opaque;

opaque!(
    Db,
    Options,
    BlockOptions,
    ReadOptions,
    WriteOptions,
    FlushOptions,
    Cache,
    FilterPolicy,
    Iter,
    WriteBatch,
    PinnableSlice
);

pub(super) const NO_COMPRESSION: c_int = 0;
pub(super) const SNAPPY_COMPRESSION: c_int = 1;

#[link(name = "rocksdb")]
unsafe extern "C" {
    pub(super) fn rocksdb_open(
        options: *const Options,
        name: *const c_char,
        error: *mut *mut c_char,
    ) -> *mut Db;
    pub(super) fn rocksdb_close(db: *mut Db);
    pub(super) fn rocksdb_cancel_all_background_work(db: *mut Db, wait: u8);
    pub(super) fn rocksdb_destroy_db(options: *const Options, name: *const c_char, error: *mut *mut c_char);
    pub(super) fn rocksdb_put(
        db: *mut Db,
        options: *const WriteOptions,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
        error: *mut *mut c_char,
    );
    pub(super) fn rocksdb_delete(
        db: *mut Db,
        options: *const WriteOptions,
        key: *const c_char,
        key_len: usize,
        error: *mut *mut c_char,
    );
    pub(super) fn rocksdb_write(
        db: *mut Db,
        options: *const WriteOptions,
        batch: *mut WriteBatch,
        error: *mut *mut c_char,
    );
    pub(super) fn rocksdb_get_pinned(
        db: *mut Db,
        options: *const ReadOptions,
        key: *const c_char,
        key_len: usize,
        error: *mut *mut c_char,
    ) -> *mut PinnableSlice;
    pub(super) fn rocksdb_pinnableslice_value(slice: *const PinnableSlice, len: *mut usize) -> *const c_char;
    pub(super) fn rocksdb_pinnableslice_destroy(slice: *mut PinnableSlice);
    pub(super) fn rocksdb_flush(db: *mut Db, options: *const FlushOptions, error: *mut *mut c_char);
    pub(super) fn rocksdb_compact_range(
        db: *mut Db,
        start: *const c_char,
        start_len: usize,
        limit: *const c_char,
        limit_len: usize,
    );

    pub(super) fn rocksdb_create_iterator(db: *mut Db, options: *const ReadOptions) -> *mut Iter;
    pub(super) fn rocksdb_iter_destroy(iter: *mut Iter);
    pub(super) fn rocksdb_iter_valid(iter: *const Iter) -> u8;
    pub(super) fn rocksdb_iter_seek_to_first(iter: *mut Iter);
    pub(super) fn rocksdb_iter_seek_to_last(iter: *mut Iter);
    pub(super) fn rocksdb_iter_seek(iter: *mut Iter, key: *const c_char, key_len: usize);
    pub(super) fn rocksdb_iter_next(iter: *mut Iter);
    pub(super) fn rocksdb_iter_prev(iter: *mut Iter);
    pub(super) fn rocksdb_iter_key(iter: *const Iter, len: *mut usize) -> *const c_char;
    pub(super) fn rocksdb_iter_value(iter: *const Iter, len: *mut usize) -> *const c_char;
    pub(super) fn rocksdb_iter_get_error(iter: *const Iter, error: *mut *mut c_char);

    pub(super) fn rocksdb_writebatch_create() -> *mut WriteBatch;
    pub(super) fn rocksdb_writebatch_destroy(batch: *mut WriteBatch);
    pub(super) fn rocksdb_writebatch_put(
        batch: *mut WriteBatch,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
    );
    pub(super) fn rocksdb_writebatch_delete(batch: *mut WriteBatch, key: *const c_char, key_len: usize);

    pub(super) fn rocksdb_options_create() -> *mut Options;
    pub(super) fn rocksdb_options_destroy(options: *mut Options);
    pub(super) fn rocksdb_options_set_create_if_missing(options: *mut Options, is_set: u8);
    pub(super) fn rocksdb_options_set_write_buffer_size(options: *mut Options, bytes: usize);
    pub(super) fn rocksdb_options_set_max_open_files(options: *mut Options, count: c_int);
    pub(super) fn rocksdb_options_set_target_file_size_base(options: *mut Options, bytes: u64);
    pub(super) fn rocksdb_options_set_level_compaction_dynamic_level_bytes(options: *mut Options, is_set: u8);
    pub(super) fn rocksdb_options_set_max_background_jobs(options: *mut Options, count: c_int);
    pub(super) fn rocksdb_options_set_bytes_per_sync(options: *mut Options, bytes: u64);
    pub(super) fn rocksdb_options_set_compression(options: *mut Options, compression: c_int);
    pub(super) fn rocksdb_options_set_block_based_table_factory(
        options: *mut Options,
        blocks: *mut BlockOptions,
    );

    pub(super) fn rocksdb_block_based_options_create() -> *mut BlockOptions;
    pub(super) fn rocksdb_block_based_options_destroy(blocks: *mut BlockOptions);
    pub(super) fn rocksdb_block_based_options_set_block_size(blocks: *mut BlockOptions, bytes: usize);
    pub(super) fn rocksdb_block_based_options_set_block_cache(blocks: *mut BlockOptions, cache: *mut Cache);
    pub(super) fn rocksdb_block_based_options_set_format_version(blocks: *mut BlockOptions, version: c_int);
    pub(super) fn rocksdb_block_based_options_set_cache_index_and_filter_blocks(
        blocks: *mut BlockOptions,
        is_set: u8,
    );
    /// Takes ownership of the policy.
    pub(super) fn rocksdb_block_based_options_set_filter_policy(
        blocks: *mut BlockOptions,
        policy: *mut FilterPolicy,
    );
    pub(super) fn rocksdb_filterpolicy_create_bloom_full(bits_per_key: f64) -> *mut FilterPolicy;
    pub(super) fn rocksdb_cache_create_lru(bytes: usize) -> *mut Cache;
    pub(super) fn rocksdb_cache_destroy(cache: *mut Cache);

    pub(super) fn rocksdb_readoptions_create() -> *mut ReadOptions;
    pub(super) fn rocksdb_readoptions_destroy(options: *mut ReadOptions);
    pub(super) fn rocksdb_writeoptions_create() -> *mut WriteOptions;
    pub(super) fn rocksdb_writeoptions_destroy(options: *mut WriteOptions);
    pub(super) fn rocksdb_writeoptions_set_sync(options: *mut WriteOptions, is_set: u8);
    pub(super) fn rocksdb_flushoptions_create() -> *mut FlushOptions;
    pub(super) fn rocksdb_flushoptions_destroy(options: *mut FlushOptions);

    pub(super) fn rocksdb_free(pointer: *mut c_void);
}
