//! Waits for writers to share a sync. Predecessors: `write/commit_queue` and `write/submit_queue`. Successor: none.

use crate::sync::yield_now;

/// How often other threads may run without anyone joining before the wait ends.
const QUIET_YIELDS: usize = if cfg!(all(test, loom)) { 1 } else { 32 };

/// Lets other threads run until as many writers have arrived as are expected, or none has arrived for a while. `look`
/// returns both numbers. The cost is that these threads run first; in return they share this sync instead of waiting
/// for the next one.
pub(super) fn gather(look: impl Fn() -> (usize, usize)) {
    let (mut quiet, mut arrived_before) = (0, 0);
    while quiet < QUIET_YIELDS {
        let (arrived, expected) = look();
        if arrived >= expected {
            return;
        }
        quiet = if arrived > arrived_before { 0 } else { quiet + 1 };
        arrived_before = arrived;
        yield_now();
    }
}
