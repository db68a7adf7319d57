//! The adapter for RocksDB, over its C interface and the installed library, whose version the results name.

mod ffi;
mod options;

use std::ffi::c_char;
use std::fs;
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::Arc;

use terrace_bench::{BatchSink, Engine, Reader, Result, Settings, Start, Store};

use crate::c_library::{self, c_path};
use ffi::*;
use options::{OpenOptions, Tuning};

/// RocksDB with the options of a run.
pub(crate) struct RocksDb {
    options: Arc<OpenOptions>,
    settings: String,
}

impl RocksDb {
    pub(crate) fn new(settings: &Settings) -> Self {
        let tuning = Tuning::new(settings);
        Self { options: Arc::new(OpenOptions::new(&tuning)), settings: tuning.describe() }
    }
}

/// The error that a call of RocksDB left.
fn check(error: *mut c_char) -> Result<()> {
    // SAFETY: RocksDB leaves null or a string that ends with a zero byte, ours to free.
    unsafe { c_library::check(error, rocksdb_free) }
}

/// The version of the loaded library, from its file name: the C interface has no call for it.
fn loaded_version() -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let (_, rest) = maps.split_once("librocksdb.so.")?;
    rest.lines().next().map(str::to_owned)
}

impl Engine for RocksDb {
    fn name(&self) -> &str {
        "rocksdb"
    }

    fn version(&self) -> String {
        loaded_version().unwrap_or_else(|| "of unknown version".to_owned())
    }

    fn settings(&self) -> String {
        self.settings.clone()
    }

    fn with(&self, settings: &Settings) -> Box<dyn Engine> {
        Box::new(Self::new(settings))
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Store>> {
        let name = c_path(directory)?;
        let mut error = ptr::null_mut();
        // SAFETY: the options and the name are alive; the store keeps the options.
        let db = unsafe { rocksdb_open(self.options.options, name.as_ptr(), &mut error) };
        check(error)?;
        Ok(Box::new(RocksStore { db, choices: Choices::new(), _options: self.options.clone() }))
    }

    fn destroy(&self, directory: &Path) -> Result<()> {
        let name = c_path(directory)?;
        let mut error = ptr::null_mut();
        // SAFETY: the options and the name are alive.
        unsafe { rocksdb_destroy_db(self.options.options, name.as_ptr(), &mut error) };
        check(error)
    }
}

/// Options of single calls.
struct Choices {
    read: *mut ReadOptions,
    /// Without and with a sync.
    writes: [*mut WriteOptions; 2],
    flush: *mut FlushOptions,
}

impl Choices {
    fn new() -> Self {
        // SAFETY: the only precondition is that the options are alive.
        unsafe {
            Self {
                read: rocksdb_readoptions_create(),
                writes: [0, 1].map(|sync| {
                    let options = rocksdb_writeoptions_create();
                    rocksdb_writeoptions_set_sync(options, sync);
                    options
                }),
                flush: rocksdb_flushoptions_create(),
            }
        }
    }

    fn write(&self, sync: bool) -> *const WriteOptions {
        self.writes[usize::from(sync)]
    }
}

impl Drop for Choices {
    fn drop(&mut self) {
        // SAFETY: they were created here and are released once.
        unsafe {
            rocksdb_readoptions_destroy(self.read);
            self.writes.iter().for_each(|options| rocksdb_writeoptions_destroy(*options));
            rocksdb_flushoptions_destroy(self.flush);
        }
    }
}

struct RocksStore {
    db: *mut Db,
    choices: Choices,
    /// The database uses its cache.
    _options: Arc<OpenOptions>,
}

// SAFETY: a RocksDB database may be used from any thread.
unsafe impl Send for RocksStore {}
// SAFETY: and from several at once; the options never change.
unsafe impl Sync for RocksStore {}

impl Drop for RocksStore {
    fn drop(&mut self) {
        // SAFETY: readers borrow the store, so none is left.
        unsafe {
            rocksdb_cancel_all_background_work(self.db, 1);
            rocksdb_close(self.db);
        }
    }
}

impl RocksStore {
    fn cursor(&self) -> Cursor<'_> {
        // SAFETY: the database is open, and the cursor borrows it.
        let iter = unsafe { rocksdb_create_iterator(self.db, self.choices.read) };
        Cursor { iter, _store: self }
    }
}

impl Store for RocksStore {
    fn put(&self, key: &[u8], value: &[u8], sync: bool) -> Result<()> {
        let mut error = ptr::null_mut();
        // SAFETY: the database is open, and the pointers are to slices of those lengths.
        unsafe {
            let (key_start, value_start) = (key.as_ptr().cast(), value.as_ptr().cast());
            let options = self.choices.write(sync);
            rocksdb_put(self.db, options, key_start, key.len(), value_start, value.len(), &mut error);
        }
        check(error)
    }

    fn delete(&self, key: &[u8], sync: bool) -> Result<()> {
        let mut error = ptr::null_mut();
        // SAFETY: as in `put`.
        unsafe {
            let options = self.choices.write(sync);
            rocksdb_delete(self.db, options, key.as_ptr().cast(), key.len(), &mut error);
        }
        check(error)
    }

    fn write(&self, fill: &mut dyn FnMut(&mut dyn BatchSink) -> Result<()>, sync: bool) -> Result<()> {
        let mut batch = Batch::new();
        fill(&mut batch)?;
        let mut error = ptr::null_mut();
        // SAFETY: the database is open and the batch alive.
        unsafe { rocksdb_write(self.db, self.choices.write(sync), batch.0, &mut error) };
        check(error)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let mut error = ptr::null_mut();
        // SAFETY: as in `put`.
        let found = unsafe {
            rocksdb_get_pinned(self.db, self.choices.read, key.as_ptr().cast(), key.len(), &mut error)
        };
        check(error)?;
        if found.is_null() {
            return Ok(false);
        }
        let mut len = 0;
        value.clear();
        // SAFETY: the slice is alive until it is destroyed, once, after the copy; it points to that many bytes.
        unsafe {
            let start = rocksdb_pinnableslice_value(found, &mut len);
            value.extend_from_slice(slice::from_raw_parts(start.cast(), len));
            rocksdb_pinnableslice_destroy(found);
        }
        Ok(true)
    }

    fn scan(&self, start: Start<'_>, visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let mut cursor = self.cursor();
        cursor.start(start);
        let backward = matches!(start, Start::Last);
        while let Some((key, value)) = cursor.entry() {
            if !visit(key, value) {
                break;
            }
            cursor.step(backward);
        }
        cursor.check()
    }

    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(RocksReader { store: self, cursor: None }))
    }

    fn flush(&self) -> Result<()> {
        let mut error = ptr::null_mut();
        // SAFETY: the database is open.
        unsafe { rocksdb_flush(self.db, self.choices.flush, &mut error) };
        check(error)
    }

    fn compact(&self) -> Result<()> {
        // SAFETY: the database is open; null means an open end.
        unsafe { rocksdb_compact_range(self.db, ptr::null(), 0, ptr::null(), 0) };
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct Batch(*mut WriteBatch);

impl Batch {
    fn new() -> Self {
        // SAFETY: no preconditions.
        Self(unsafe { rocksdb_writebatch_create() })
    }
}

impl BatchSink for Batch {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        // SAFETY: the batch is alive, and the pointers are to slices of those lengths, which are copied.
        unsafe {
            let (key_start, value_start) = (key.as_ptr().cast(), value.as_ptr().cast());
            rocksdb_writebatch_put(self.0, key_start, key.len(), value_start, value.len());
        }
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        // SAFETY: as in `put`.
        unsafe { rocksdb_writebatch_delete(self.0, key.as_ptr().cast(), key.len()) };
        Ok(())
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // SAFETY: it was created here and is released once.
        unsafe { rocksdb_writebatch_destroy(self.0) }
    }
}

struct Cursor<'a> {
    iter: *mut Iter,
    _store: &'a RocksStore,
}

impl Cursor<'_> {
    fn start(&mut self, start: Start<'_>) {
        // SAFETY: the iterator is alive.
        unsafe {
            match start {
                Start::First => rocksdb_iter_seek_to_first(self.iter),
                Start::Last => rocksdb_iter_seek_to_last(self.iter),
                Start::At(key) => rocksdb_iter_seek(self.iter, key.as_ptr().cast(), key.len()),
            }
        }
    }

    /// The current entry, valid until the iterator moves.
    fn entry(&self) -> Option<(&[u8], &[u8])> {
        // SAFETY: the iterator is alive; if it is valid, key and value are, until it moves, which takes `&mut self`.
        unsafe {
            if rocksdb_iter_valid(self.iter) == 0 {
                return None;
            }
            let (mut key_len, mut value_len) = (0, 0);
            let key = rocksdb_iter_key(self.iter, &mut key_len);
            let value = rocksdb_iter_value(self.iter, &mut value_len);
            Some((slice::from_raw_parts(key.cast(), key_len), slice::from_raw_parts(value.cast(), value_len)))
        }
    }

    /// Steps from an entry.
    fn step(&mut self, backward: bool) {
        // SAFETY: the iterator is at an entry, as the caller has checked.
        unsafe {
            if backward {
                rocksdb_iter_prev(self.iter);
            } else {
                rocksdb_iter_next(self.iter);
            }
        }
    }

    fn check(&self) -> Result<()> {
        let mut error = ptr::null_mut();
        // SAFETY: the iterator is alive.
        unsafe { rocksdb_iter_get_error(self.iter, &mut error) };
        check(error)
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: it was created by the store and is released once.
        unsafe { rocksdb_iter_destroy(self.iter) }
    }
}

struct RocksReader<'a> {
    store: &'a RocksStore,
    /// Created by the first seek.
    cursor: Option<Cursor<'a>>,
}

impl Reader for RocksReader<'_> {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        self.store.get(key, value)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let cursor = self.cursor.get_or_insert_with(|| self.store.cursor());
        cursor.start(Start::At(target));
        cursor.check()?;
        Ok(cursor.entry().is_some_and(|(key, _)| key == target))
    }
}
