//! What is known of each author's batches while they are written, and whether the threads continue.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use terrace_engine::{Error, ErrorKind};

use super::content::{AUTHORS, Numbers};

/// Shared by all threads of one life of the database.
pub(super) struct Progress {
    /// The last batch that each author began to write.
    begun: [AtomicU64; AUTHORS],
    /// The last batch of each author that was acknowledged.
    acknowledged: [AtomicU64; AUTHORS],
    failed: AtomicBool,
}

/// Why a thread ends.
pub(super) enum Stop {
    /// The database was closed, as planned.
    Closed,
    Broken(String),
}

pub(super) type Step<T = ()> = Result<T, Stop>;

/// Every failure breaks a promise, except those caused by the close.
pub(super) fn stop(action: &'static str) -> impl Fn(Error) -> Stop {
    move |error| match error.kind() {
        ErrorKind::Closed => Stop::Closed,
        _ => Stop::Broken(format!("{action}: {error}")),
    }
}

impl Progress {
    pub(super) fn new(numbers: Numbers) -> Self {
        Self {
            begun: numbers.map(AtomicU64::new),
            acknowledged: numbers.map(AtomicU64::new),
            failed: AtomicBool::new(false),
        }
    }

    /// The number of the author's next batch.
    pub(super) fn begin(&self, author: usize) -> u64 {
        self.begun[author].fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(super) fn acknowledge(&self, author: usize, number: u64) {
        self.acknowledged[author].store(number, Ordering::SeqCst);
    }

    pub(super) fn acknowledged(&self) -> Numbers {
        self.acknowledged.each_ref().map(|number| number.load(Ordering::SeqCst))
    }

    pub(super) fn begun(&self) -> Numbers {
        self.begun.each_ref().map(|number| number.load(Ordering::SeqCst))
    }

    /// Checks that the batches read lie between `floor`, loaded before the read began, and what has begun by now.
    pub(super) fn check(&self, floor: &Numbers, seen: &Numbers) -> Result<(), String> {
        let ceiling = self.begun();
        let author = (0..AUTHORS).find(|&author| !(floor[author]..=ceiling[author]).contains(&seen[author]));
        let Some(author) = author else { return Ok(()) };
        Err(format!(
            "author {author}: batch {} was the last one seen, but {} had been seen or acknowledged before, and {} begun",
            seen[author], floor[author], ceiling[author]
        ))
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    /// Runs a thread's work until it stops. A failure or a panic also stops the other threads.
    pub(super) fn guard<T>(&self, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        struct Alarm<'a>(&'a AtomicBool);
        impl Drop for Alarm<'_> {
            fn drop(&mut self) {
                if thread::panicking() {
                    self.0.store(true, Ordering::SeqCst);
                }
            }
        }
        let _alarm = Alarm(&self.failed);
        work().inspect_err(|_| self.failed.store(true, Ordering::SeqCst))
    }

    /// Repeats `step` until the database is closed, or another thread has failed.
    pub(super) fn repeat(&self, mut step: impl FnMut() -> Step) -> Result<(), String> {
        while !self.has_failed() {
            match step() {
                Ok(()) => {}
                Err(Stop::Closed) => break,
                Err(Stop::Broken(problem)) => return Err(problem),
            }
        }
        Ok(())
    }
}
