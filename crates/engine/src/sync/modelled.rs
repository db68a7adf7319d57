//! loom's primitives under the names and with the methods of those that a normal build has.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError};

use loom::sync::atomic::Ordering;
pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};
pub(crate) use loom::thread::{ThreadId, current as current_thread};

/// `len` atomics that hold 0.
pub(crate) fn zeroed_atomics(len: usize) -> Box<[AtomicU64]> {
    (0..len).map(|_| AtomicU64::new(0)).collect()
}

/// As `parking_lot::Mutex`: locking does not fail.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Empty only while [`Condvar::wait`] has the guard.
pub(crate) struct MutexGuard<'a, T>(Option<loom::sync::MutexGuard<'a, T>>);

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().expect("the lock is held")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_deref_mut().expect("the lock is held")
    }
}

/// As `parking_lot::Condvar`: it takes the guard by reference.
#[derive(Debug)]
pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(loom::sync::Condvar::new())
    }

    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().expect("the lock is held");
        guard.0 = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// As `arc_swap::ArcSwap`, whose promises it reduces to one atomic: a store is `Release`, a load is `Acquire` and shows
/// the newest value. (An older one would be what an earlier load shows, which the model tries as well.)
#[derive(Debug)]
pub(crate) struct ArcSwap<T> {
    stores: AtomicUsize,
    /// Changed and cloned right behind an access to `stores`. loom lets no other thread run in between, so this lock is
    /// never waited for, and adds no order that loom would see.
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
        // It may be the last handle: what is dropped with it must find the lock free.
        drop(old);
    }
}

/// As `arc_swap::Guard`.
pub(crate) struct Loaded<T>(Arc<T>);

impl<T> Deref for Loaded<T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.0
    }
}

/// A cell of loom, which reports accesses that no order keeps apart.
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
