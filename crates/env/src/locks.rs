//! The standard library's locks without poisoning: a lock whose holder panicked can still be taken.
//!
//! They keep no state outside themselves. A lock that keeps a list of waiting threads elsewhere breaks in a forked
//! child: the list refers to threads that the child does not have, in memory that the child's own threads get.

use std::ops::{Deref, DerefMut};
use std::sync::{self, PoisonError, TryLockError};
use std::time::Duration;

/// A lock around a value.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Creates a lock that is free.
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Waits until the lock is free, and takes it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(MutexGuard(Some(guard))),
            Err(TryLockError::Poisoned(poisoned)) => Some(MutexGuard(Some(poisoned.into_inner()))),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The value. The exclusive borrow proves that no other thread uses it.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to use the value of a [`Mutex`] until this is dropped.
#[derive(Debug)]
pub struct MutexGuard<'a, T>(
    /// Empty only during [`Condvar::wait`] and [`Condvar::wait_for`].
    Option<sync::MutexGuard<'a, T>>,
);

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().expect("the lock is held")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_deref_mut().expect("the lock is held")
    }
}

/// A condition on which threads that hold a lock release it and wait for others. They may wake up spuriously.
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// Creates a condition without waiters.
    pub const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    /// Releases the lock, waits for a notification, and takes the lock again.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().expect("the lock is held");
        guard.0 = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
    }

    /// Like [`wait`](Self::wait), for at most `duration`.
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, duration: Duration) {
        let held = guard.0.take().expect("the lock is held");
        let (held, _) = self.0.wait_timeout(held, duration).unwrap_or_else(PoisonError::into_inner);
        guard.0 = Some(held);
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
