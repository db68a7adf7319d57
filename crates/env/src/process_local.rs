//! Values that a forked child does not share with its parent.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::process_mark::ProcessMark;

/// A value that each process has for itself: a forked child starts with a new one, whatever the parent's other
/// threads were doing with theirs, including locks that they held. For statics: a value is never dropped.
#[derive(Debug)]
pub struct ProcessLocal<T: 'static> {
    value: AtomicPtr<(ProcessMark, T)>,
}

impl<T: Default + Send + Sync> ProcessLocal<T> {
    /// A value that each process makes when it first asks for it.
    #[allow(clippy::new_without_default, reason = "it is for statics")]
    pub const fn new() -> Self {
        Self { value: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// This process's value.
    pub fn get(&self) -> &'static T {
        loop {
            let found = self.value.load(Ordering::Acquire);
            // SAFETY: the pointer leads to what was leaked below, initialized before the pointer was stored, and only
            // shared.
            if let Some((mark, value)) = unsafe { found.as_ref() }
                && mark.is_here()
            {
                return value;
            }
            let own = Box::into_raw(Box::new((ProcessMark::here(), T::default())));
            let stored = self.value.compare_exchange(found, own, Ordering::Release, Ordering::Relaxed);
            if stored.is_err() {
                // SAFETY: created above and never shared: another thread was faster.
                drop(unsafe { Box::from_raw(own) });
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::locks::Mutex;
    use crate::process_mark::tests::assert_in_child;

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
