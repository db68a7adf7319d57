//! Which process this is: a forked child has all that its parent had open, and must leave it alone.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// How many forks this process is away from the one in which the first mark was made.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Remembers the process in which it was made. A forked child has it, too, and is not that process.
///
/// To ask costs a load and a comparison. Children are counted by a handler of `fork` (`pthread_atfork`). What does not call it (`vfork`,
/// a bare `clone`) shares the parent's memory or may only call `exec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMark(u64);

impl ProcessMark {
    /// A mark of this process.
    pub fn here() -> Self {
        #[cfg(unix)]
        count_forks();
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// Whether this is the process in which the mark was made.
    #[inline]
    pub fn is_here(self) -> bool {
        self.0 == FORKS.load(Ordering::Relaxed)
    }
}

#[cfg(unix)]
fn count_forks() {
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: the handler is a function that lives as long as this library, and does nothing that a child may not do before `exec`.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// A value that each process has for itself: a forked child begins with a new one, whatever the parent's other threads were doing
/// with theirs, locks that they held included.
pub(crate) struct ProcessLocal<T: 'static> {
    value: AtomicPtr<(ProcessMark, T)>,
}

impl<T: Default + Send + Sync> ProcessLocal<T> {
    pub(crate) const fn new() -> Self {
        Self { value: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// This process's value.
    pub(crate) fn get(&self) -> &'static T {
        loop {
            let found = self.value.load(Ordering::Acquire);
            // SAFETY: what the pointer shows was leaked below, initialized before the pointer was stored, and is shared only.
            if let Some((mark, value)) = unsafe { found.as_ref() }
                && mark.is_here()
            {
                return value;
            }
            let own = Box::into_raw(Box::new((ProcessMark::here(), T::default())));
            let stored = self.value.compare_exchange(found, own, Ordering::Release, Ordering::Relaxed);
            if stored.is_err() {
                // SAFETY: made above, and shown to nobody: another thread was faster.
                drop(unsafe { Box::from_raw(own) });
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::locks::Mutex;

    /// Forks, and asserts that `holds` is true in the child.
    #[track_caller]
    fn assert_in_child(holds: impl FnOnce() -> bool) {
        // SAFETY: the child looks at memory, and leaves without anything of the parent's.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let status = i32::from(!holds());
            // SAFETY: ends the child.
            unsafe { libc::_exit(status) };
        }
        let mut status = 0;
        // SAFETY: waits for the child; the number lives during the call.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }

    #[test]
    fn a_forked_child_is_another_process() {
        let mark = ProcessMark::here();
        assert!(mark.is_here());
        assert_in_child(|| !mark.is_here() && ProcessMark::here().is_here());
        assert!(mark.is_here());
    }

    #[test]
    fn a_forked_child_does_not_wait_for_a_lock_that_its_parent_holds() {
        static NUMBER: ProcessLocal<Mutex<u32>> = ProcessLocal::new();
        let mut held = NUMBER.get().lock();
        *held = 7;
        assert_in_child(|| NUMBER.get().try_lock().is_some_and(|number| *number == 0));
        drop(held);
        assert_eq!(*NUMBER.get().lock(), 7);
    }
}
