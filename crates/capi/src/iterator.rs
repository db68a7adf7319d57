//! Iterators. They may outlive the closing of their database: they then have no current entry and report why.
//!
//! The engine's [`DbIterator`] keeps the bytes of the current entry in place until it moves.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use terrace_engine::{DbIterator, Error, IterOptions};

use crate::barrier::{self, ErrorPointer, report};
use crate::database::Database;
use crate::failure::{Failure, Result, given};
use crate::memory::{bytes, drop_box, put_length};
use crate::read_write_options::ReadOptionsHandle;

/// A `leveldb_iterator_t`.
pub(crate) struct IteratorHandle {
    /// `None` if it could not be created.
    entries: Option<DbIterator>,
    /// `None` if it could not be created.
    database: Option<Arc<Database>>,
    /// The first failure. As in LevelDB, it persists.
    failure: Option<Failure>,
    /// A movement panicked, so the rest of the cursor is not touched any more.
    is_broken: bool,
}

impl IteratorHandle {
    fn new(database: Option<&Database>, options: Option<&ReadOptionsHandle>) -> Result<Self> {
        let database = given("db", database)?;
        let read = given("options", options)?.0.clone();
        let entries = database.db().iter(IterOptions { read, ..IterOptions::default() })?;
        Ok(Self { entries: Some(entries), database: database.share(), failure: None, is_broken: false })
    }

    fn failed(failure: Failure) -> Self {
        Self { entries: None, database: None, failure: Some(failure), is_broken: false }
    }

    fn is_closed(&self) -> bool {
        self.database.as_ref().is_none_or(|database| database.is_closed())
    }

    /// The cursor, if it is at an entry.
    #[inline]
    fn entry(&self) -> Option<&DbIterator> {
        self.entries.as_ref().filter(|entries| entries.valid() && !self.is_broken && !self.is_closed())
    }

    #[inline]
    fn go(&mut self, movement: impl FnOnce(&mut DbIterator) -> Result<()>) {
        if self.is_broken || self.is_closed() {
            return;
        }
        let Some(entries) = &mut self.entries else { return };
        let mut has_returned = false;
        let moved = barrier::catch(|| {
            let moved = movement(entries);
            has_returned = true;
            moved
        });
        self.is_broken = !has_returned;
        if let Err(failure) = moved {
            self.failure.get_or_insert(failure);
        }
    }
}

/// Moves an iterator, if there is one.
#[inline]
fn go(
    iterator: Option<&mut IteratorHandle>,
    movement: impl FnOnce(&mut DbIterator) -> std::result::Result<(), Error>,
) {
    if let Some(iterator) = iterator {
        iterator.go(|entries| Ok(movement(entries)?));
    }
}

/// A part of the current entry; NULL and length 0 if there is none.
#[inline]
fn part(
    iterator: Option<&IteratorHandle>,
    length: Option<&mut MaybeUninit<usize>>,
    part: impl for<'a> FnOnce(&'a DbIterator) -> &'a [u8],
) -> *const c_char {
    barrier::or_else(ptr::null(), || match iterator.and_then(IteratorHandle::entry) {
        Some(entry) => {
            let bytes = part(entry);
            put_length(length, bytes.len());
            bytes.as_ptr().cast()
        }
        None => {
            put_length(length, 0);
            ptr::null()
        }
    })
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_create_iterator(
    database: Option<&Database>,
    options: Option<&ReadOptionsHandle>,
) -> *mut IteratorHandle {
    barrier::or_else(ptr::null_mut(), || {
        let iterator = barrier::catch(|| IteratorHandle::new(database, options));
        Box::into_raw(Box::new(iterator.unwrap_or_else(IteratorHandle::failed)))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_iter_destroy(iterator: *mut IteratorHandle) {
    // SAFETY: by the header's rule it is NULL or came from `leveldb_create_iterator`, and is no longer used.
    barrier::or_else((), || unsafe { drop_box(iterator) });
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_iter_valid(iterator: Option<&IteratorHandle>) -> u8 {
    u8::from(iterator.is_some_and(|iterator| iterator.entry().is_some()))
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_iter_seek_to_first(iterator: Option<&mut IteratorHandle>) {
    go(iterator, DbIterator::seek_to_first);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_iter_seek_to_last(iterator: Option<&mut IteratorHandle>) {
    go(iterator, DbIterator::seek_to_last);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_iter_seek(
    iterator: Option<&mut IteratorHandle>,
    key: *const c_char,
    key_length: usize,
) {
    let Some(iterator) = iterator else { return };
    iterator.go(|entries| {
        // SAFETY: by the header's rule the pointer is to that many bytes.
        let key = unsafe { bytes("key", key, key_length)? };
        Ok(entries.seek(key)?)
    });
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_iter_next(iterator: Option<&mut IteratorHandle>) {
    go(iterator, DbIterator::next);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_iter_prev(iterator: Option<&mut IteratorHandle>) {
    go(iterator, DbIterator::prev);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_iter_key(
    iterator: Option<&IteratorHandle>,
    length: Option<&mut MaybeUninit<usize>>,
) -> *const c_char {
    part(iterator, length, DbIterator::key)
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_iter_value(
    iterator: Option<&IteratorHandle>,
    length: Option<&mut MaybeUninit<usize>>,
) -> *const c_char {
    part(iterator, length, DbIterator::value)
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_iter_get_error(iterator: Option<&IteratorHandle>, error: ErrorPointer<'_>) {
    barrier::or_else((), || {
        let Some(iterator) = iterator else { return };
        if let Some(failure) = &iterator.failure {
            report(error, failure);
        } else if iterator.is_closed() {
            report(error, &Error::closed().into());
        }
    });
}
