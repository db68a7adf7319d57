//! A clock that only the test advances, so that everything that depends on time depends on the test alone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

/// A clock that stands still until [`advance`](Self::advance) is called. Clones are the same clock.
///
/// [`MemoryEnv::with_clock`](crate::MemoryEnv::with_clock) makes it the clock of an environment.
#[derive(Debug, Clone, Default)]
pub struct HeldClock(Arc<Held>);

#[derive(Debug, Default)]
struct Held {
    micros: AtomicU64,
    watchers: Mutex<Vec<Weak<dyn ClockWatcher>>>,
}

/// What waits for a time on a clock that can be advanced.
pub trait ClockWatcher: Send + Sync {
    /// Called on the thread that has advanced the clock.
    fn clock_advanced(&self);
}

impl HeldClock {
    /// Creates a clock that reads 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Advances the clock, and wakes those who wait for a time.
    pub fn advance(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.0.micros.fetch_add(micros, Ordering::SeqCst);
        let watchers: Vec<_> = {
            let mut watchers = self.0.watchers.lock();
            watchers.retain(|watcher| watcher.strong_count() > 0);
            watchers.iter().filter_map(Weak::upgrade).collect()
        };
        for watcher in watchers {
            watcher.clock_advanced();
        }
    }

    pub(crate) fn micros(&self) -> u64 {
        self.0.micros.load(Ordering::SeqCst)
    }

    pub(crate) fn watch(&self, watcher: Weak<dyn ClockWatcher>) {
        self.0.watchers.lock().push(watcher);
    }
}
