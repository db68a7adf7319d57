//! The options of one read and one write. [`snapshot`](crate::snapshot) sets that of a read.
//!
//! The engine's [`ReadOptions`] and [`WriteOptions`] are kept ready, so that a call need not build them.

use terrace_engine::{ReadOptions, WriteOptions};

use crate::barrier;
use crate::memory::drop_box;

/// A `leveldb_readoptions_t`. Unlike in LevelDB, checksums are verified unless the program turns that off.
#[derive(Default)]
pub(crate) struct ReadOptionsHandle(pub(crate) ReadOptions);

/// A `leveldb_writeoptions_t`.
#[derive(Default)]
pub(crate) struct WriteOptionsHandle(pub(crate) WriteOptions);

#[unsafe(no_mangle)]
extern "C" fn leveldb_readoptions_create() -> *mut ReadOptionsHandle {
    barrier::or_else(std::ptr::null_mut(), || Box::into_raw(Box::default()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_readoptions_destroy(options: *mut ReadOptionsHandle) {
    // SAFETY: by the header's rule it is NULL or came from `leveldb_readoptions_create`, and is no longer used.
    barrier::or_else((), || unsafe { drop_box(options) });
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_readoptions_set_verify_checksums(options: Option<&mut ReadOptionsHandle>, value: u8) {
    if let Some(options) = options {
        options.0.verify_checksums = value != 0;
    }
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_readoptions_set_fill_cache(options: Option<&mut ReadOptionsHandle>, value: u8) {
    if let Some(options) = options {
        options.0.fill_cache = value != 0;
    }
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_writeoptions_create() -> *mut WriteOptionsHandle {
    barrier::or_else(std::ptr::null_mut(), || Box::into_raw(Box::default()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_writeoptions_destroy(options: *mut WriteOptionsHandle) {
    // SAFETY: by the header's rule it is NULL or came from `leveldb_writeoptions_create`, and is no longer used.
    barrier::or_else((), || unsafe { drop_box(options) });
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_writeoptions_set_sync(options: Option<&mut WriteOptionsHandle>, value: u8) {
    if let Some(options) = options {
        options.0.sync = value != 0;
    }
}
