//! Locks on files that no other process can open.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::{FileLock, LockError};

/// The files of an environment that are locked. A lock belongs to the file, whatever its name.
#[derive(Debug)]
pub(crate) struct LockedFiles<File>(Mutex<Vec<Arc<File>>>);

impl<File> LockedFiles<File>
where
    File: fmt::Debug + Send + Sync + 'static,
{
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Vec::new())))
    }

    /// Locks a file for this process, whose number is `process` if it has one. It is an error if the file is locked.
    pub(crate) fn lock(
        self: &Arc<Self>,
        file: Arc<File>,
        process: Option<u32>,
    ) -> Result<Box<dyn FileLock>, LockError> {
        let mut locked = self.0.lock();
        if locked.iter().any(|other| Arc::ptr_eq(other, &file)) {
            return Err(LockError::Held { holder: process, this_process: true });
        }
        locked.push(Arc::clone(&file));
        drop(locked);
        Ok(Box::new(HeldLock { all: Arc::clone(self), file }))
    }
}

/// A lock on one file, held until it is dropped.
#[derive(Debug)]
struct HeldLock<File> {
    all: Arc<LockedFiles<File>>,
    file: Arc<File>,
}

impl<File> Drop for HeldLock<File> {
    fn drop(&mut self) {
        self.all.0.lock().retain(|other| !Arc::ptr_eq(other, &self.file));
    }
}

impl<File> FileLock for HeldLock<File> where File: fmt::Debug + Send + Sync {}
