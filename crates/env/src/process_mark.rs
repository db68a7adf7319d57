//! Which process this is: a forked child has everything that its parent had open, and must leave it alone.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of forks between this process and the one in which the first mark was made.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Remembers the process in which it was made. A forked child has a copy, but is not that process.
///
/// Asking costs a load and a comparison. A handler of `fork` (`pthread_atfork`) counts children. Calls that bypass it
/// (`vfork`, a bare `clone`) share the parent's memory or may only call `exec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessMark(u64);

impl ProcessMark {
    /// Creates a mark of this process.
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

/// A mark that can be revoked: from then on, nothing that it stands for is allowed, in this process or another.
/// Checking it costs no more than checking a [`ProcessMark`].
#[derive(Debug)]
pub struct RevocableMark(AtomicU64);

impl RevocableMark {
    /// No process has made so many forks.
    const REVOKED: u64 = u64::MAX;

    /// One for the process of `mark`.
    pub fn new(mark: ProcessMark) -> Self {
        Self(AtomicU64::new(mark.0))
    }

    /// Whether this is the process of the mark, and the mark is not revoked. A caller that finds it revoked also sees
    /// what came before the revocation.
    #[inline]
    pub fn is_here(&self) -> bool {
        self.0.load(Ordering::Acquire) == FORKS.load(Ordering::Relaxed)
    }

    /// Revokes the mark for good.
    pub fn revoke(&self) {
        self.0.store(Self::REVOKED, Ordering::Release);
    }
}

#[cfg(unix)]
fn count_forks() {
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: the handler is a function that lives as long as this library, and does nothing that is forbidden to a
    // child before `exec`.
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

#[cfg(all(test, unix))]
pub(crate) mod tests {
    use super::*;

    /// Forks, and asserts that `holds` is true in the child.
    #[track_caller]
    pub(crate) fn assert_in_child(holds: impl FnOnce() -> bool) {
        // SAFETY: the child only looks at memory, and exits without running anything of the parent's.
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
    fn a_revoked_mark_is_of_no_process() {
        let mark = RevocableMark::new(ProcessMark::here());
        assert!(mark.is_here());
        assert_in_child(|| !mark.is_here());
        mark.revoke();
        assert!(!mark.is_here());
        assert_in_child(|| !mark.is_here());
    }
}
