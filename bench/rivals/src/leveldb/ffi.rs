//! The part of `leveldb/c.h`, LevelDB's C interface, that is used here.

use std::ffi::{c_char, c_int, c_void};

use crate::c_library::opaque;

opaque!(Db, Options, ReadOptions, WriteOptions, Cache, FilterPolicy, Iter, WriteBatch);

pub(super) const NO_COMPRESSION: c_int = 0;
pub(super) const SNAPPY_COMPRESSION: c_int = 1;

#[link(name = "leveldb")]
unsafe extern "C" {
    pub(super) fn leveldb_open(
        options: *const Options,
        name: *const c_char,
        error: *mut *mut c_char,
    ) -> *mut Db;
    pub(super) fn leveldb_close(db: *mut Db);
    pub(super) fn leveldb_destroy_db(options: *const Options, name: *const c_char, error: *mut *mut c_char);
    pub(super) fn leveldb_put(
        db: *mut Db,
        options: *const WriteOptions,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
        error: *mut *mut c_char,
    );
    pub(super) fn leveldb_delete(
        db: *mut Db,
        options: *const WriteOptions,
        key: *const c_char,
        key_len: usize,
        error: *mut *mut c_char,
    );
    pub(super) fn leveldb_write(
        db: *mut Db,
        options: *const WriteOptions,
        batch: *mut WriteBatch,
        error: *mut *mut c_char,
    );
    pub(super) fn leveldb_get(
        db: *mut Db,
        options: *const ReadOptions,
        key: *const c_char,
        key_len: usize,
        value_len: *mut usize,
        error: *mut *mut c_char,
    ) -> *mut c_char;
    pub(super) fn leveldb_compact_range(
        db: *mut Db,
        start: *const c_char,
        start_len: usize,
        limit: *const c_char,
        limit_len: usize,
    );

    pub(super) fn leveldb_create_iterator(db: *mut Db, options: *const ReadOptions) -> *mut Iter;
    pub(super) fn leveldb_iter_destroy(iter: *mut Iter);
    pub(super) fn leveldb_iter_valid(iter: *const Iter) -> u8;
    pub(super) fn leveldb_iter_seek_to_first(iter: *mut Iter);
    pub(super) fn leveldb_iter_seek_to_last(iter: *mut Iter);
    pub(super) fn leveldb_iter_seek(iter: *mut Iter, key: *const c_char, key_len: usize);
    pub(super) fn leveldb_iter_next(iter: *mut Iter);
    pub(super) fn leveldb_iter_prev(iter: *mut Iter);
    pub(super) fn leveldb_iter_key(iter: *const Iter, len: *mut usize) -> *const c_char;
    pub(super) fn leveldb_iter_value(iter: *const Iter, len: *mut usize) -> *const c_char;
    pub(super) fn leveldb_iter_get_error(iter: *const Iter, error: *mut *mut c_char);

    pub(super) fn leveldb_writebatch_create() -> *mut WriteBatch;
    pub(super) fn leveldb_writebatch_destroy(batch: *mut WriteBatch);
    pub(super) fn leveldb_writebatch_put(
        batch: *mut WriteBatch,
        key: *const c_char,
        key_len: usize,
        value: *const c_char,
        value_len: usize,
    );
    pub(super) fn leveldb_writebatch_delete(batch: *mut WriteBatch, key: *const c_char, key_len: usize);

    pub(super) fn leveldb_options_create() -> *mut Options;
    pub(super) fn leveldb_options_destroy(options: *mut Options);
    pub(super) fn leveldb_options_set_create_if_missing(options: *mut Options, is_set: u8);
    pub(super) fn leveldb_options_set_write_buffer_size(options: *mut Options, size_bytes: usize);
    pub(super) fn leveldb_options_set_max_open_files(options: *mut Options, count: c_int);
    pub(super) fn leveldb_options_set_block_size(options: *mut Options, size_bytes: usize);
    pub(super) fn leveldb_options_set_max_file_size(options: *mut Options, size_bytes: usize);
    pub(super) fn leveldb_options_set_compression(options: *mut Options, kind: c_int);
    pub(super) fn leveldb_options_set_cache(options: *mut Options, cache: *mut Cache);
    pub(super) fn leveldb_options_set_filter_policy(options: *mut Options, policy: *mut FilterPolicy);
    pub(super) fn leveldb_cache_create_lru(capacity: usize) -> *mut Cache;
    pub(super) fn leveldb_cache_destroy(cache: *mut Cache);
    pub(super) fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> *mut FilterPolicy;
    pub(super) fn leveldb_filterpolicy_destroy(policy: *mut FilterPolicy);

    pub(super) fn leveldb_readoptions_create() -> *mut ReadOptions;
    pub(super) fn leveldb_readoptions_destroy(options: *mut ReadOptions);
    pub(super) fn leveldb_writeoptions_create() -> *mut WriteOptions;
    pub(super) fn leveldb_writeoptions_destroy(options: *mut WriteOptions);
    pub(super) fn leveldb_writeoptions_set_sync(options: *mut WriteOptions, is_set: u8);

    pub(super) fn leveldb_free(pointer: *mut c_void);
    pub(super) fn leveldb_major_version() -> c_int;
    pub(super) fn leveldb_minor_version() -> c_int;
}
