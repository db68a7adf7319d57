//! How many of the process's descriptors (`RLIMIT_NOFILE`) may be kept for files that are read at random, so that logs,
//! new tables and the rest of the program find free ones.

use std::sync::atomic::{AtomicUsize, Ordering};

/// One descriptor in this many, as in LevelDB.
const SHARE: u64 = 5;

/// Number of descriptors taken by the whole process, for all its open databases.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The right to keep one descriptor, returned on drop.
#[derive(Debug)]
pub(super) struct DescriptorShare(());

impl DescriptorShare {
    /// `None` if the share is used up. The limit is read each time, because a process may change it.
    pub(super) fn take() -> Option<Self> {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let share = limit.map_or(usize::MAX, |limit| usize::try_from(limit / SHARE).unwrap_or(usize::MAX));
        let take = |taken: usize| (taken < share).then_some(taken + 1);
        TAKEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Self(()))
    }
}

impl Drop for DescriptorShare {
    fn drop(&mut self) {
        TAKEN.fetch_sub(1, Ordering::Relaxed);
    }
}
