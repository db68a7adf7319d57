//! Waits for the background, and does its work if it has no threads. Predecessors: writes that need room, requested
//! flushes and compactions, closing.

use std::sync::Arc;
use std::time::Duration;

use terrace_env::locks::MutexGuard;

use crate::background::scheduler::Background;
use crate::background::state::BackgroundState;
use crate::error::{Error, Result};

/// How long to wait at once for a signal that a job has ended. If the system refuses threads, the waiting callers run
/// the jobs.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(50);

impl Background {
    /// Waits until the background has made `changed` true. Returns an error if it cannot.
    pub(crate) fn wait_for_change(self: &Arc<Self>, changed: impl Fn() -> bool) -> Result<()> {
        self.try_again_where_no_thread_does();
        let health = &self.parts.health;
        let state = self.wait_until(|state| {
            self.schedule(state);
            changed() || state.closing || self.is_stuck(state) || health.is_poisoned()
        });
        if changed() {
            return Ok(());
        }
        if let Some(error) = &state.obstacle {
            return Err(error.clone());
        }
        drop(state);
        health.check_writable()?;
        Err(Error::closed())
    }

    /// Called after a job found no room: if there are no threads, the waiting caller has the jobs tried again.
    pub(crate) fn try_again_where_no_thread_does(&self) {
        self.forget_obstacle_of_steps(&mut self.lock());
    }

    /// Whether a job found no room, and none waits for a step that might make some.
    fn is_stuck(&self, state: &BackgroundState) -> bool {
        let waits = || self.parts.pool.as_ref().is_some_and(|pool| pool.has_waiting());
        state.obstacle.is_some() && !(self.runs_in_steps() && waits())
    }

    /// Gives the background some time. If it has no threads, does some of its work.
    pub(crate) fn pause(&self, delay: Duration) {
        if !self.step() {
            self.parts.env.sleep(delay);
        }
    }

    /// Runs one waiting job here if there are no threads for it. Returns whether it ran one.
    pub(crate) fn step(&self) -> bool {
        self.parts.pool.as_ref().is_some_and(|pool| pool.lend_a_hand())
    }

    /// Runs waiting jobs here, like [`step`](Self::step), until one has ended well. What found no room is tried again once. Returns whether
    /// one has ended well, so that another call may do more.
    pub(crate) fn step_well(self: &Arc<Self>) -> bool {
        self.try_again_where_no_thread_does();
        self.schedule(&mut self.lock());
        while self.step() {
            if self.lock().obstacle.is_none() {
                return true;
            }
        }
        false
    }

    /// Waits until `done` returns true, or until nothing runs that could change its answer.
    pub(crate) fn wait_until(
        &self,
        mut done: impl FnMut(&mut BackgroundState) -> bool,
    ) -> MutexGuard<'_, BackgroundState> {
        loop {
            let mut state = self.lock();
            if done(&mut state) {
                return state;
            }
            drop(state);
            if self.step() {
                continue;
            }
            let mut state = self.lock();
            if done(&mut state) {
                return state;
            }
            self.progress.wait_for(&mut state, LOOK_AGAIN_AFTER);
        }
    }
}
