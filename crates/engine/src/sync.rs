//! The atomics, locks and shared pointers of the modules that a model checker also runs: the memtable, the commit queue, the
//! queue of submitted writes, snapshots, and what readers see.
//!
//! Normally these are the usual ones, at no cost. A test build with `--cfg loom` replaces them by those of
//! [loom](https://docs.rs/loom) ([`modelled`]). Then only the tests in `models/` can run. They try every order of what their
//! threads do, and every old value that an atomic may still show (`make threads`).

#[cfg(not(all(test, loom)))]
use std::sync::Arc;

#[cfg(all(test, loom))]
mod locks;
#[cfg(all(test, loom))]
mod modelled;

#[cfg(all(test, loom))]
pub(crate) use locks::{Condvar, Mutex, MutexGuard};
#[cfg(not(all(test, loom)))]
pub(crate) use terrace_env::locks::{Condvar, Mutex, MutexGuard};

#[cfg(all(test, loom))]
pub(crate) use modelled::{
    ArcSwap, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, PlainMemory, ThreadId, current_thread, loaded,
    yield_now, zeroed_atomics,
};

#[cfg(not(all(test, loom)))]
pub(crate) use {
    arc_swap::{ArcSwap, Guard as Loaded},
    std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize},
    std::thread::{ThreadId, current as current_thread, yield_now},
};

/// What [`ArcSwap::load`] returns, made from a value that is not in an `ArcSwap`.
#[cfg(not(all(test, loom)))]
#[inline]
pub(crate) fn loaded<T>(value: Arc<T>) -> Loaded<Arc<T>> {
    Loaded::from_inner(value)
}

/// `len` atomics that hold 0. The system provides the memory of large arrays page by page when it is touched.
#[cfg(not(all(test, loom)))]
pub(crate) fn zeroed_atomics(len: usize) -> Box<[AtomicU64]> {
    if align_of::<AtomicU64>() != align_of::<u64>() {
        return (0..len).map(|_| AtomicU64::new(0)).collect();
    }
    let zeroes = Box::into_raw(vec![0u64; len].into_boxed_slice());
    // SAFETY: the standard library promises `AtomicU64` the size and the bit validity of `u64`; their alignments were
    // compared above. The box was given up one line before.
    unsafe { Box::from_raw(zeroes as *mut [AtomicU64]) }
}

/// Stands for memory that is neither atomic nor locked, whose accesses a model checker does not see. Code that writes
/// or reads such memory reports it here. In a normal build this does nothing.
#[cfg(not(all(test, loom)))]
pub(crate) struct PlainMemory;

#[cfg(not(all(test, loom)))]
impl PlainMemory {
    #[inline]
    pub(crate) fn new() -> Self {
        Self
    }

    /// Reports a write of the memory.
    #[inline]
    pub(crate) fn write(&self) {}

    /// Reports a read of the memory. All writes must have happened before.
    #[inline]
    pub(crate) fn read(&self) {}
}
