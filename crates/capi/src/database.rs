//! An open database: opening, closing, reads, writes, and its properties.

use std::ffi::{c_char, c_int};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use terrace_engine::{Db, Options};

use crate::barrier::{self, ErrorPointer, or_report};
use crate::batch::BatchHandle;
use crate::failure::{Failure, Result, given};
use crate::memory::{bytes, copy, copy_text, directory, put_length, text};
use crate::options::{HeldCallbacks, OptionsHandle};
use crate::read_write_options::{ReadOptionsHandle, WriteOptionsHandle};

/// A `leveldb_t`. The program holds one reference; its iterators and snapshots hold the others.
pub(crate) struct Database {
    db: Db,
    is_closed: AtomicBool,
    callbacks: HeldCallbacks,
    this: Weak<Database>,
}

impl Database {
    /// Opens the database in `directory`. `change` may adjust the program's options.
    pub(crate) fn open(
        options: Option<&OptionsHandle>,
        directory: &Path,
        change: impl FnOnce(&mut Options),
    ) -> Result<*const Self> {
        // Dropped last if opening fails: the callbacks are in use until then.
        let (mut options, callbacks) = given("options", options)?.to_engine()?;
        change(&mut options);
        let db = Db::open(directory, options).map_err(|error| Failure::of_directory(directory, error))?;
        let database = Arc::new_cyclic(|this| Self {
            db,
            is_closed: AtomicBool::new(false),
            callbacks: Mutex::new(Some(callbacks)),
            this: Weak::clone(this),
        });
        Ok(Arc::into_raw(database))
    }

    pub(crate) fn db(&self) -> &Db {
        &self.db
    }

    /// Creates one more reference, for an iterator or a snapshot.
    pub(crate) fn share(&self) -> Option<Arc<Self>> {
        self.this.upgrade()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Closes the database. No callback is called after this returns.
    ///
    /// # Safety
    ///
    /// `this` came from [`open`](Self::open), and either it is closed for the first time, or an iterator or a
    /// snapshot of it still exists.
    pub(crate) unsafe fn close(this: *const Self) -> Result<()> {
        // SAFETY: the caller guarantees that the object exists.
        if unsafe { &*this }.is_closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        // SAFETY: this is the reference that the program got, and it is given back once.
        let this = unsafe { Arc::from_raw(this) };
        let closed = barrier::catch(|| Ok(this.db.close()?));
        let callbacks = this.callbacks.lock().take();
        drop(callbacks);
        closed
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_open(
    options: Option<&OptionsHandle>,
    name: *const c_char,
    error: ErrorPointer<'_>,
) -> *const Database {
    or_report(error, ptr::null(), || {
        // SAFETY: by the header's rule it is NULL or a string.
        let directory = unsafe { directory("name", name)? };
        Database::open(options, directory, |_| {})
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_close(database: *const Database) {
    barrier::or_else((), || {
        if !database.is_null() {
            // There is no errptr; the database's LOG has the error.
            // SAFETY: by the header's rule it came from `leveldb_open`, and is closed once; or iterators or snapshots
            // of it still exist.
            let _ = unsafe { Database::close(database) };
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_put(
    database: Option<&Database>,
    options: Option<&WriteOptionsHandle>,
    key: *const c_char,
    key_length: usize,
    value: *const c_char,
    value_length: usize,
    error: ErrorPointer<'_>,
) {
    or_report(error, (), || {
        let (database, options) = (given("db", database)?, given("options", options)?);
        // SAFETY: by the header's rule the pointers are to that many bytes.
        let (key, value) = unsafe { (bytes("key", key, key_length)?, bytes("value", value, value_length)?) };
        Ok(database.db.put(key, value, &options.0)?)
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_delete(
    database: Option<&Database>,
    options: Option<&WriteOptionsHandle>,
    key: *const c_char,
    key_length: usize,
    error: ErrorPointer<'_>,
) {
    or_report(error, (), || {
        let (database, options) = (given("db", database)?, given("options", options)?);
        // SAFETY: by the header's rule the pointer is to that many bytes.
        let key = unsafe { bytes("key", key, key_length)? };
        Ok(database.db.delete(key, &options.0)?)
    });
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_write(
    database: Option<&Database>,
    options: Option<&WriteOptionsHandle>,
    batch: Option<&mut BatchHandle>,
    error: ErrorPointer<'_>,
) {
    or_report(error, (), || {
        let (database, options) = (given("db", database)?, given("options", options)?);
        let operations = given("batch", batch)?.operations()?;
        // A write that need not wait uses the batch in place.
        if !database.db.try_write(operations, &options.0)? {
            database.db.write(operations.clone(), &options.0)?;
        }
        Ok(())
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_get(
    database: Option<&Database>,
    options: Option<&ReadOptionsHandle>,
    key: *const c_char,
    key_length: usize,
    value_length: Option<&mut MaybeUninit<usize>>,
    error: ErrorPointer<'_>,
) -> *mut c_char {
    let mut length = 0;
    let value = or_report(error, ptr::null_mut(), || {
        let (database, options) = (given("db", database)?, given("options", options)?);
        // SAFETY: by the header's rule the pointer is to that many bytes.
        let key = unsafe { bytes("key", key, key_length)? };
        let found = database.db.get_with(key, &options.0, |value| {
            length = value.len();
            copy(value)
        })?;
        found.unwrap_or(Ok(ptr::null_mut()))
    });
    put_length(value_length, if value.is_null() { 0 } else { length });
    value
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_property_value(database: Option<&Database>, name: *const c_char) -> *mut c_char {
    barrier::or_else(ptr::null_mut(), || {
        // SAFETY: by the header's rule it is NULL or a string.
        let name = unsafe { text("propname", name) }.ok().and_then(|name| name.to_str().ok());
        let value = database.zip(name).and_then(|(database, name)| database.db.property(name));
        value.map_or(ptr::null_mut(), |value| copy_text(&value))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_approximate_sizes(
    database: Option<&Database>,
    count: c_int,
    starts: *const *const c_char,
    start_lengths: *const usize,
    limits: *const *const c_char,
    limit_lengths: *const usize,
    sizes: *mut u64,
) {
    barrier::or_else((), || {
        let count = usize::try_from(count).unwrap_or(0);
        let is_null =
            starts.is_null() || start_lengths.is_null() || limits.is_null() || limit_lengths.is_null();
        if is_null || sizes.is_null() {
            return;
        }
        for index in 0..count {
            // SAFETY: by the header's rule the lists have `count` elements, and each pointer is to as many bytes as
            // its length says.
            let range = unsafe {
                let start = bytes("start", *starts.add(index), *start_lengths.add(index));
                let limit = bytes("limit", *limits.add(index), *limit_lengths.add(index));
                start.and_then(|start| Ok((start, limit?)))
            };
            // There is no errptr.
            let size = barrier::catch(|| {
                let (start, limit) = range?;
                Ok(given("db", database)?.db.approximate_size(start, limit)?)
            });
            // SAFETY: by the header's rule there is room for `count` sizes.
            unsafe { sizes.add(index).write(size.unwrap_or(0)) };
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_compact_range(
    database: Option<&Database>,
    start: *const c_char,
    start_length: usize,
    limit: *const c_char,
    limit_length: usize,
) {
    // There is no errptr. The database's LOG also has the error that stops a compaction.
    let _ = barrier::catch(|| {
        let end = |name, key: *const c_char, length| {
            // SAFETY: by the header's rule it is NULL, for an open end, or points to that many bytes.
            (!key.is_null()).then(|| unsafe { bytes(name, key, length) }).transpose()
        };
        let (start, limit) = (end("start_key", start, start_length)?, end("limit_key", limit, limit_length)?);
        Ok(given("db", database)?.db.compact_range(start, limit)?)
    });
}
