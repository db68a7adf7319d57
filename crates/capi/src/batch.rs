//! Write batches.
//!
//! The functions that fill a batch cannot return an error. The first error is kept, and makes the write fail.

use std::ffi::{c_char, c_void};

use terrace_engine::{BatchOp, WriteBatch};

use crate::barrier;
use crate::failure::{Failure, Result};
use crate::memory::{bytes, drop_box};

/// A `leveldb_writebatch_t`.
#[derive(Default)]
pub(crate) struct BatchHandle {
    operations: WriteBatch,
    failure: Option<Failure>,
}

impl BatchHandle {
    /// The operations.
    ///
    /// # Errors
    ///
    /// The error of the operation that could not be added.
    pub(crate) fn operations(&mut self) -> Result<&mut WriteBatch> {
        match &self.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(&mut self.operations),
        }
    }

    fn add(&mut self, add: impl FnOnce(&mut WriteBatch) -> Result<()>) {
        let added = barrier::catch(|| add(&mut self.operations));
        if let Err(failure) = added {
            self.failure.get_or_insert(failure);
        }
    }
}

/// The failure for an operation over a limit of the engine's format.
fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::argument(error)
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_writebatch_create() -> *mut BatchHandle {
    barrier::or_else(std::ptr::null_mut(), || Box::into_raw(Box::default()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_writebatch_destroy(batch: *mut BatchHandle) {
    // SAFETY: by the header's rule it is NULL or came from `leveldb_writebatch_create`, and is no longer used.
    barrier::or_else((), || unsafe { drop_box(batch) });
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_writebatch_clear(batch: Option<&mut BatchHandle>) {
    barrier::or_else((), || {
        if let Some(batch) = batch {
            batch.operations.clear();
            batch.failure = None;
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_writebatch_put(
    batch: Option<&mut BatchHandle>,
    key: *const c_char,
    key_length: usize,
    value: *const c_char,
    value_length: usize,
) {
    let Some(batch) = batch else { return };
    batch.add(|operations| {
        // SAFETY: by the header's rule the pointers are to that many bytes.
        let (key, value) = unsafe { (bytes("key", key, key_length)?, bytes("value", value, value_length)?) };
        operations.put(key, value).map_err(refused)
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_writebatch_delete(
    batch: Option<&mut BatchHandle>,
    key: *const c_char,
    key_length: usize,
) {
    let Some(batch) = batch else { return };
    batch.add(|operations| {
        // SAFETY: by the header's rule the pointer is to that many bytes.
        let key = unsafe { bytes("key", key, key_length)? };
        operations.delete(key).map_err(refused)
    });
}

type Put = unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize);
type Deleted = unsafe extern "C" fn(*mut c_void, *const c_char, usize);

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_writebatch_iterate(
    batch: *const BatchHandle,
    state: *mut c_void,
    put: Option<Put>,
    deleted: Option<Deleted>,
) {
    barrier::or_else((), || {
        // A copy, and no reference that outlives it, so that the callbacks may do anything to the batch.
        // SAFETY: by the header's rule it is NULL or a batch.
        let operations = unsafe { batch.as_ref() }.map(|batch| batch.operations.clone());
        let Some(operations) = operations else { return };
        for operation in operations.iter().map_while(std::result::Result::ok) {
            match operation {
                BatchOp::Put { key, value } => {
                    if let Some(put) = put {
                        let (key_start, value_start) = (key.as_ptr().cast(), value.as_ptr().cast());
                        // SAFETY: the program gave the function for this state; it may read the slices.
                        unsafe { put(state, key_start, key.len(), value_start, value.len()) };
                    }
                }
                BatchOp::Delete { key } => {
                    if let Some(deleted) = deleted {
                        // SAFETY: as above.
                        unsafe { deleted(state, key.as_ptr().cast(), key.len()) };
                    }
                }
            }
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_writebatch_append(destination: *mut BatchHandle, source: *const BatchHandle) {
    barrier::or_else((), || {
        // SAFETY: by the header's rule each is NULL or a batch. They may be the same one, so this reference ends before the
        // next begins.
        let Some(source) = (unsafe { source.as_ref() }) else { return };
        let (operations, failure) = (source.operations.clone(), source.failure.clone());
        // SAFETY: as above.
        let Some(destination) = (unsafe { destination.as_mut() }) else { return };
        destination.add(|destination| match failure {
            Some(failure) => Err(failure),
            None => destination.append(&operations).map_err(refused),
        });
    });
}
