//! The adapter for LevelDB, over its C interface, which has costs that db_bench's C++ avoids: a get allocates its
//! result and copies it, about 30 ns, and a step of a scan is four calls into a shared library, about 8 ns.

mod ffi;
mod options;

use std::ffi::c_char;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use terrace_bench::{BatchSink, Engine, Reader, Result, Settings, Start, Store};

use crate::c_library::{self, c_path};
use ffi::*;
use options::OpenOptions;

/// LevelDB with the options of a run.
pub(crate) struct LevelDb {
    name: &'static str,
    options: Arc<OpenOptions>,
    settings: String,
}

impl LevelDb {
    /// LevelDB's defaults as changed by `settings`. `name` tells builds of LevelDB apart.
    pub(crate) fn new(name: &'static str, settings: &Settings) -> Self {
        let defaults = Settings::default().as_leveldb();
        let kib = |set: Option<usize>, default: Option<usize>| set.or(default).unwrap_or(0) >> 10;
        let text = format!(
            "write buffer {} KiB, block cache {} KiB, tables {} KiB, blocks {} B, filter {} bits per key, {}",
            kib(settings.write_buffer_size, defaults.write_buffer_size),
            kib(settings.cache_size, defaults.cache_size),
            kib(settings.max_file_size, defaults.max_file_size),
            settings.block_size.or(defaults.block_size).unwrap_or(0),
            settings.bloom_bits.unwrap_or(0),
            if settings.compression { "snappy" } else { "no compression" },
        );
        Self { name, options: Arc::new(OpenOptions::new(settings)), settings: text }
    }
}

/// The error that a call of LevelDB left.
fn check(error: *mut c_char) -> Result<()> {
    // SAFETY: LevelDB leaves null or a string that ends with a zero byte, ours to free.
    unsafe { c_library::check(error, leveldb_free) }
}

impl Engine for LevelDb {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> String {
        // SAFETY: no preconditions.
        let version = unsafe { format!("{}.{}", leveldb_major_version(), leveldb_minor_version()) };
        // Two builds may call themselves the same; the file of one that stands in for the system's names its commit.
        match std::env::var_os("LD_PRELOAD").as_deref().and_then(|library| Path::new(library).file_stem()) {
            Some(name) => format!("{version}, {}", name.display()),
            None => version,
        }
    }

    fn settings(&self) -> String {
        self.settings.clone()
    }

    fn with(&self, settings: &Settings) -> Box<dyn Engine> {
        Box::new(Self::new(self.name, settings))
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Store>> {
        let name = c_path(directory)?;
        let mut error = ptr::null_mut();
        // SAFETY: the options and the name are alive; the store keeps the options.
        let db = unsafe { leveldb_open(self.options.options, name.as_ptr(), &mut error) };
        check(error)?;
        Ok(Box::new(LevelStore {
            db,
            read: ReadChoice::new(),
            write: WriteChoice::new(),
            _options: self.options.clone(),
        }))
    }

    fn destroy(&self, directory: &Path) -> Result<()> {
        let name = c_path(directory)?;
        let mut error = ptr::null_mut();
        // SAFETY: the options and the name are alive.
        unsafe { leveldb_destroy_db(self.options.options, name.as_ptr(), &mut error) };
        check(error)
    }
}

struct ReadChoice(*mut ReadOptions);

impl ReadChoice {
    fn new() -> Self {
        // SAFETY: no preconditions.
        Self(unsafe { leveldb_readoptions_create() })
    }
}

impl Drop for ReadChoice {
    fn drop(&mut self) {
        // SAFETY: it was created here and is released once.
        unsafe { leveldb_readoptions_destroy(self.0) }
    }
}

/// Options of a write without and with a sync.
struct WriteChoice([*mut WriteOptions; 2]);

impl WriteChoice {
    fn new() -> Self {
        // SAFETY: the only precondition is that the options are alive.
        Self([0, 1].map(|sync| unsafe {
            let options = leveldb_writeoptions_create();
            leveldb_writeoptions_set_sync(options, sync);
            options
        }))
    }

    fn get(&self, sync: bool) -> *const WriteOptions {
        self.0[usize::from(sync)]
    }
}

impl Drop for WriteChoice {
    fn drop(&mut self) {
        // SAFETY: they were created here and are released once.
        self.0.iter().for_each(|options| unsafe { leveldb_writeoptions_destroy(*options) });
    }
}

struct LevelStore {
    db: *mut Db,
    read: ReadChoice,
    write: WriteChoice,
    /// The database uses its cache and its filter.
    _options: Arc<OpenOptions>,
}

// SAFETY: a LevelDB database may be used from any thread.
unsafe impl Send for LevelStore {}
// SAFETY: and from several at once; the options never change.
unsafe impl Sync for LevelStore {}

impl Drop for LevelStore {
    fn drop(&mut self) {
        // SAFETY: readers borrow the store, so none is left.
        unsafe { leveldb_close(self.db) }
    }
}

impl LevelStore {
    fn cursor(&self) -> Cursor<'_> {
        // SAFETY: the database is open, and the cursor borrows it.
        let iter = unsafe { leveldb_create_iterator(self.db, self.read.0) };
        Cursor { iter, _store: self }
    }
}

impl Store for LevelStore {
    fn put(&self, key: &[u8], value: &[u8], sync: bool) -> Result<()> {
        let mut error = ptr::null_mut();
        // SAFETY: the database is open, and the pointers are to slices of those lengths.
        unsafe {
            let (key_start, value_start) = (key.as_ptr().cast(), value.as_ptr().cast());
            leveldb_put(
                self.db,
                self.write.get(sync),
                key_start,
                key.len(),
                value_start,
                value.len(),
                &mut error,
            );
        }
        check(error)
    }

    fn delete(&self, key: &[u8], sync: bool) -> Result<()> {
        let mut error = ptr::null_mut();
        // SAFETY: as in `put`.
        unsafe { leveldb_delete(self.db, self.write.get(sync), key.as_ptr().cast(), key.len(), &mut error) };
        check(error)
    }

    fn write(&self, fill: &mut dyn FnMut(&mut dyn BatchSink) -> Result<()>, sync: bool) -> Result<()> {
        let mut batch = Batch::new();
        fill(&mut batch)?;
        let mut error = ptr::null_mut();
        // SAFETY: the database is open and the batch alive.
        unsafe { leveldb_write(self.db, self.write.get(sync), batch.0, &mut error) };
        check(error)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let (mut len, mut error) = (0, ptr::null_mut());
        // SAFETY: as in `put`.
        let found = unsafe {
            leveldb_get(self.db, self.read.0, key.as_ptr().cast(), key.len(), &mut len, &mut error)
        };
        check(error)?;
        if found.is_null() {
            return Ok(false);
        }
        value.clear();
        // SAFETY: LevelDB returned that many bytes, ours to free.
        unsafe {
            value.extend_from_slice(std::slice::from_raw_parts(found.cast(), len));
            leveldb_free(found.cast());
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
        Ok(Box::new(LevelReader { store: self, cursor: None }))
    }

    /// LevelDB has no such call.
    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        // SAFETY: the database is open; null means an open end.
        unsafe { leveldb_compact_range(self.db, ptr::null(), 0, ptr::null(), 0) };
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
        Self(unsafe { leveldb_writebatch_create() })
    }
}

impl BatchSink for Batch {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        // SAFETY: the batch is alive, and the pointers are to slices of those lengths, which are copied.
        unsafe {
            let (key_start, value_start) = (key.as_ptr().cast(), value.as_ptr().cast());
            leveldb_writebatch_put(self.0, key_start, key.len(), value_start, value.len());
        }
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        // SAFETY: as in `put`.
        unsafe { leveldb_writebatch_delete(self.0, key.as_ptr().cast(), key.len()) };
        Ok(())
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // SAFETY: it was created here and is released once.
        unsafe { leveldb_writebatch_destroy(self.0) }
    }
}

struct Cursor<'a> {
    iter: *mut Iter,
    _store: &'a LevelStore,
}

impl Cursor<'_> {
    fn start(&mut self, start: Start<'_>) {
        // SAFETY: the iterator is alive.
        unsafe {
            match start {
                Start::First => leveldb_iter_seek_to_first(self.iter),
                Start::Last => leveldb_iter_seek_to_last(self.iter),
                Start::At(key) => leveldb_iter_seek(self.iter, key.as_ptr().cast(), key.len()),
            }
        }
    }

    /// The current entry, valid until the iterator moves.
    fn entry(&self) -> Option<(&[u8], &[u8])> {
        // SAFETY: the iterator is alive; if it is valid, key and value are, until it moves, which takes `&mut self`.
        unsafe {
            if leveldb_iter_valid(self.iter) == 0 {
                return None;
            }
            let (mut key_len, mut value_len) = (0, 0);
            let key = leveldb_iter_key(self.iter, &mut key_len);
            let value = leveldb_iter_value(self.iter, &mut value_len);
            Some((
                std::slice::from_raw_parts(key.cast(), key_len),
                std::slice::from_raw_parts(value.cast(), value_len),
            ))
        }
    }

    /// Steps from an entry.
    fn step(&mut self, backward: bool) {
        // SAFETY: the iterator is at an entry, as the caller has checked.
        unsafe {
            if backward {
                leveldb_iter_prev(self.iter);
            } else {
                leveldb_iter_next(self.iter);
            }
        }
    }

    fn check(&self) -> Result<()> {
        let mut error = ptr::null_mut();
        // SAFETY: the iterator is alive.
        unsafe { leveldb_iter_get_error(self.iter, &mut error) };
        check(error)
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: it was created by the store and is released once.
        unsafe { leveldb_iter_destroy(self.iter) }
    }
}

struct LevelReader<'a> {
    store: &'a LevelStore,
    /// Created by the first seek.
    cursor: Option<Cursor<'a>>,
}

impl Reader for LevelReader<'_> {
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
