//! loom's primitives under the names and with the methods of those that a normal build has.

use std::ops::Deref;
use std::sync::{Arc, PoisonError};

use loom::sync::atomic::Ordering;
pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
pub(crate) use loom::thread::{ThreadId, current as current_thread, yield_now};

/// `len` atomics that hold 0.
pub(crate) fn zeroed_atomics(len: usize) -> Box<[AtomicU64]> {
    (0..len).map(|_| AtomicU64::new(0)).collect()
}

/// Like `arc_swap::ArcSwap`, whose promises it reduces to one atomic: a store is `Release`, a load is `Acquire` and shows
/// the newest value. (An older value is what an earlier load shows, which the model tries as well.)
#[derive(Debug)]
pub(crate) struct ArcSwap<T> {
    stores: AtomicUsize,
    /// Changed and cloned right after an access to `stores`. loom lets no other thread run in between, so no thread
    /// ever waits for this lock, and it adds no order that loom would see.
    value: std::sync::Mutex<Arc<T>>,
}

impl<T> ArcSwap<T> {
    pub(crate) fn from_pointee(value: T) -> Self {
        Self { stores: AtomicUsize::new(0), value: std::sync::Mutex::new(Arc::new(value)) }
    }

    pub(crate) fn load(&self) -> Loaded<T> {
        self.stores.fetch_add(0, Ordering::Acquire);
        Loaded(Arc::clone(&self.value.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(crate) fn store(&self, value: Arc<T>) {
        self.stores.fetch_add(1, Ordering::Release);
        let old = std::mem::replace(&mut *self.value.lock().unwrap_or_else(PoisonError::into_inner), value);
        // This may be the last handle. What is dropped with it must find the lock free.
        drop(old);
    }
}

/// As `arc_swap::Guard`.
pub(crate) struct Loaded<T>(Arc<T>);

/// What [`ArcSwap::load`] returns, made from a value that is not in an `ArcSwap`.
pub(crate) fn loaded<T>(value: Arc<T>) -> Loaded<T> {
    Loaded(value)
}

impl<T> Deref for Loaded<T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.0
    }
}

/// A cell of loom, which reports accesses that are not ordered.
pub(crate) struct PlainMemory(loom::cell::UnsafeCell<()>);

impl PlainMemory {
    pub(crate) fn new() -> Self {
        Self(loom::cell::UnsafeCell::new(()))
    }

    pub(crate) fn write(&self) {
        self.0.with_mut(|_| ());
    }

    pub(crate) fn read(&self) {
        self.0.with(|_| ());
    }
}
