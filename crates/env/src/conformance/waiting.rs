//! How tests wait for other threads and processes: for a condition, never for a time.

use std::time::{Duration, Instant};

/// A test that waits this long counts as hanging. No machine is slow enough to need it.
pub const HANGS_AFTER: Duration = Duration::from_secs(300);

const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(1);

/// Waits until `is_so` returns true. It is called again and again, and may do a part of the work each time.
///
/// # Panics
///
/// With `what`, which says what the caller waits for, if it does not come within [`HANGS_AFTER`].
#[track_caller]
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < HANGS_AFTER, "waited {HANGS_AFTER:?} in vain: {what}");
        std::thread::sleep(LOOK_AGAIN_AFTER);
    }
}
