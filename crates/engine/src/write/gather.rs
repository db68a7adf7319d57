//! Waiting for writers to share a sync. Predecessors: `write/line` and `write/submit_queue`. Successor: none.

use crate::sync::yield_now;

/// So often other threads are let run without anyone joining, before it goes on without them.
const QUIET_YIELDS: usize = if cfg!(all(test, loom)) { 1 } else { 32 };

/// Lets other threads run until as many writers have arrived as are expected, or nobody has come for a while. `look` tells
/// both numbers. For the price of running first those share the sync, instead of waiting for the next.
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
