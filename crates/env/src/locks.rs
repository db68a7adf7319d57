//! The standard library's locks, without errors: a lock whose holder panicked is had all the same.
//!
//! They keep nothing outside of themselves. A lock that keeps a list of waiting threads elsewhere breaks in a forked child: the list
//! shows threads that the child does not have, in memory that its own threads get.

use std::ops::{Deref, DerefMut};
use std::sync::{self, PoisonError, TryLockError};
use std::time::Duration;

/// A lock around a value.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock that nobody holds.
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// Waits until nobody else holds the lock, and takes it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Takes the lock if nobody holds it.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(MutexGuard(Some(guard))),
            Err(TryLockError::Poisoned(poisoned)) => Some(MutexGuard(Some(poisoned.into_inner()))),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The value, which nobody else can be using.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to use the value of a [`Mutex`], until it is dropped.
#[derive(Debug)]
pub struct MutexGuard<'a, T>(
    /// Empty only while [`Condvar::wait`] or [`Condvar::wait_for`] has it.
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

/// Where threads that hold a lock let go of it and wait for others. They may wake up for nothing.
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl Condvar {
    /// One on which nobody waits.
    pub const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    /// Lets go of the lock, waits to be notified, and takes the lock again.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().expect("the lock is held");
        guard.0 = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
    }

    /// As [`wait`](Self::wait), for no longer than `duration`.
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
