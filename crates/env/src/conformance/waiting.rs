//! How tests wait for other threads and processes: for a condition, never for a time.

use std::time::{Duration, Instant};

/// A test that waits this long counts as hanging. No machine is slow enough to need it.
pub const HANGS_AFTER: Duration = Duration::from_secs(300);

const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(1);

/// Calls `is_so` repeatedly until it returns true. Each call may do part of the work.
///
/// # Panics
///
/// With `what`, which describes what the caller waits for, if that takes longer than [`HANGS_AFTER`].
#[track_caller]
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < HANGS_AFTER, "waited {HANGS_AFTER:?} in vain: {what}");
        std::thread::sleep(LOOK_AGAIN_AFTER);
    }
}
