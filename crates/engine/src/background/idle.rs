//! Detects that nothing is written for a while, so that level 0 is emptied and space is given back without a call.
//! Predecessors: commits with deletions, seals, and the open. Successors:
//! [`Jobs::use_idle_time`](super::scheduler::Jobs::use_idle_time), the scheduler.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::background::scheduler::Background;

impl Background {
    /// Arms the check for idleness, unless it is armed.
    pub(crate) fn watch_for_idleness(self: &Arc<Self>) {
        if !self.idle_check_armed.swap(true, Ordering::AcqRel) {
            self.arm_idle_check();
        }
    }

    fn arm_idle_check(self: &Arc<Self>) {
        let Some(pool) = self.parts.pool.as_ref().filter(|pool| !pool.needs_steps()) else { return };
        let weak = Arc::downgrade(self);
        let check = move || {
            if let Some(background) = weak.upgrade() {
                background.check_idleness();
            }
        };
        pool.submit_after(self.parts.idle_after, Box::new(check));
    }

    /// If nothing was written since the last check, has the time used, and lets the picker look for tables with many
    /// deletions. Continues to check while it finds work.
    pub(super) fn check_idleness(self: &Arc<Self>) {
        let Some(jobs) = self.parts.jobs.upgrade() else { return };
        let visible = self.parts.published.visible_sequence();
        let mut state = self.lock();
        if state.closing || self.parts.health.is_poisoned() {
            return;
        }
        let quiet = state.sequence_at_idle_check == visible;
        state.sequence_at_idle_check = visible;
        state.idle = quiet;
        drop(state);
        let mut goes_on = !quiet;
        if quiet {
            goes_on |= jobs.use_idle_time();
            let mut state = self.lock();
            self.schedule(&mut state);
            goes_on |= state.compactions_running > 0 || state.flush_running;
            // Once the snapshot is released, what it held back may go.
            goes_on |= self.parts.published.oldest_snapshot().is_some();
        }
        if goes_on {
            self.arm_idle_check();
        } else {
            self.idle_check_armed.store(false, Ordering::Release);
        }
    }
}
