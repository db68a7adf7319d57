//! Decides what runs in the background, and when. It decides again after every change: a sealed memtable, a finished
//! job, idleness. Predecessors: seals (`write/room`), finished jobs. Successors: the [`Jobs`] of the database
//! (`db/jobs`).
//!
//! If a job fails because the disk is full or the process has no descriptor left, it is retried every [`RETRY_AFTER`],
//! and only writes that have to wait for it are rejected. Any other failure poisons the database: writes are rejected,
//! and reads continue.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::time::Duration;

use terrace_env::Env;
use terrace_env::locks::{Condvar, Mutex, MutexGuard};

use crate::background::state::BackgroundState;
use crate::compaction::picker::CompactionPlan;
use crate::compaction::reservations::ReservationId;
use crate::error::{Error, Result};
use crate::health::Health;
use crate::info_log::InfoLog;
use crate::pool::{BackgroundPool, JobKind, without_panic};
use crate::read::published::Published;
use crate::read::super_version::{SealedMemTable, SuperVersion};

/// How long a job that found no room or no descriptor waits before it is tried again.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The work that there is to do for a database, one job at a time. Except for
/// [`pick_compaction`](Self::pick_compaction), none of these is called while the state of the background is locked.
pub(crate) trait Jobs: Send + Sync {
    /// The compaction that is due, if any. It touches nothing that a running one has reserved.
    fn pick_compaction(&self, state: &BackgroundState) -> Option<CompactionPlan>;

    /// Replaces `sealed`, the oldest sealed memtable, by a table.
    fn flush(&self, sealed: &Arc<SealedMemTable>) -> Result<()>;

    /// Runs `plan`, whose range is reserved, with up to `helpers` threads of the pool besides this one.
    fn compact(&self, plan: &CompactionPlan, helpers: usize) -> Result<()>;

    /// Removes the files that are no longer needed now that a job has ended.
    fn clean_up(&self);

    /// Uses the time while nothing is written. Returns whether it found work or could not look for it.
    fn use_idle_time(&self) -> bool;
}

/// The background of one database.
pub(crate) struct Background {
    pub(super) state: Mutex<BackgroundState>,
    /// Signalled whenever a job ends.
    pub(super) progress: Condvar,
    pub(super) idle_check_armed: AtomicBool,
    pub(super) parts: BackgroundParts,
}

/// What a background works with.
pub(crate) struct BackgroundParts {
    /// `None` for a read-only database, which has no background.
    pub(crate) pool: Option<Arc<BackgroundPool>>,
    pub(crate) jobs: Weak<dyn Jobs>,
    pub(crate) health: Arc<Health>,
    pub(crate) published: Arc<Published>,
    pub(crate) info_log: Arc<InfoLog>,
    pub(crate) env: Arc<dyn Env>,
    /// How many threads may work on compactions at once.
    pub(crate) compaction_threads: usize,
    /// How long nothing must be written for the database to count as idle.
    pub(crate) idle_after: Duration,
}

impl Background {
    /// Creates a background that runs nothing yet: see [`schedule`](Self::schedule).
    pub(crate) fn new(state: BackgroundState, parts: BackgroundParts) -> Arc<Self> {
        let (state, progress) = (Mutex::new(state), Condvar::new());
        Arc::new(Self { state, progress, idle_check_armed: AtomicBool::new(false), parts })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, BackgroundState> {
        self.state.lock()
    }

    /// Replaces the super version by a changed copy. The caller holds the lock of the background, so changes happen one
    /// after the other.
    pub(crate) fn update_super_version(
        &self,
        _held: &BackgroundState,
        change: impl FnOnce(&mut SuperVersion),
    ) {
        self.parts.published.change(change);
    }

    /// Refuses writes from now on because of `cause`, and tells everyone who waits for a job.
    pub(crate) fn poison(&self, cause: &Error) {
        self.parts.health.poison(cause);
        self.progress.notify_all();
    }

    /// Notes that a call returns the failure to the program.
    pub(crate) fn note_failure_reported(&self) {
        self.parts.health.note_failure_reported();
    }

    /// Starts every job that is due and may run now. Where jobs run in steps, one that found no room is not tried again before
    /// another has ended well or [`try_again_where_no_thread_does`](Self::try_again_where_no_thread_does) is called.
    pub(crate) fn schedule(self: &Arc<Self>, state: &mut BackgroundState) {
        let (Some(pool), Some(jobs)) = (&self.parts.pool, self.parts.jobs.upgrade()) else { return };
        let lacks_room = state.obstacle.is_some() && self.runs_in_steps();
        if state.closing || state.retry_waits || lacks_room || self.parts.health.is_poisoned() {
            return;
        }
        if !state.flush_running && !self.parts.published.super_version().sealed.is_empty() {
            state.flush_running = true;
            let (background, jobs) = (Arc::clone(self), Arc::clone(&jobs));
            pool.submit(JobKind::Flush, Box::new(move || background.run_flush(&*jobs)));
        }
        while state.compactions_running < compactions_at_once(self.parts.compaction_threads)
            && !state.manual_goes_first()
        {
            let Some(plan) = jobs.pick_compaction(state) else { break };
            let reservation = plan.reserve(&mut state.reservations);
            state.pointers.advance(&plan);
            state.compactions_running += 1;
            let (background, jobs) = (Arc::clone(self), Arc::clone(&jobs));
            let run = move || background.run_compaction(&*jobs, plan, reservation);
            pool.submit(JobKind::Compaction, Box::new(run));
        }
    }

    fn run_flush(self: &Arc<Self>, jobs: &dyn Jobs) {
        let oldest = self.parts.published.super_version().sealed.last().cloned();
        let result = oldest.map_or(Ok(()), |sealed| without_panic(|| jobs.flush(&sealed)));
        jobs.clean_up();
        self.finish_job(result, |state| state.flush_running = false);
    }

    fn run_compaction(self: &Arc<Self>, jobs: &dyn Jobs, plan: CompactionPlan, reservation: ReservationId) {
        let free_threads = self.parts.compaction_threads.saturating_sub(self.lock().compactions_running);
        let result = without_panic(|| jobs.compact(&plan, free_threads));
        drop(plan);
        jobs.clean_up();
        self.finish_job(result, |state| {
            state.compactions_running -= 1;
            state.reservations.release(reservation);
        });
    }

    /// Notes the end of a job and starts what is due next.
    pub(crate) fn finish_job(
        self: &Arc<Self>,
        result: Result<()>,
        release: impl FnOnce(&mut BackgroundState),
    ) {
        let mut state = self.lock();
        release(&mut state);
        match result {
            // It may have made room.
            Ok(()) => self.forget_obstacle_of_steps(&mut state),
            Err(_) if state.closing => {}
            Err(error) if error.may_pass() => {
                self.parts.info_log.line(format_args!("a background job will be tried again: {error}"));
                state.obstacle = Some(error);
                self.retry_later(&mut state);
            }
            Err(error) => {
                self.parts.info_log.line(format_args!("a background job failed: {error}"));
                self.poison(&error);
            }
        }
        self.schedule(&mut state);
        drop(state);
        self.progress.notify_all();
    }

    /// Where jobs run in steps, has those tried again that found no room.
    pub(super) fn forget_obstacle_of_steps(&self, state: &mut BackgroundState) {
        if self.runs_in_steps() {
            state.obstacle = None;
        }
    }

    pub(crate) fn runs_in_steps(&self) -> bool {
        self.parts.pool.as_ref().is_some_and(|pool| pool.needs_steps())
    }

    fn retry_later(self: &Arc<Self>, state: &mut BackgroundState) {
        let Some(pool) = &self.parts.pool else { return };
        if state.retry_waits || pool.needs_steps() {
            return;
        }
        let weak = Arc::downgrade(self);
        let retry = move || {
            if let Some(background) = weak.upgrade() {
                let mut state = background.lock();
                state.retry_waits = false;
                state.obstacle = None;
                background.schedule(&mut state);
                drop(state);
                background.progress.notify_all();
            }
        };
        state.retry_waits = true;
        pool.submit_after(RETRY_AFTER, Box::new(retry));
    }

    /// Runs `chore` on the flush thread, after what already waits there. Does nothing once the database is closing.
    pub(crate) fn run_chore(self: &Arc<Self>, chore: impl FnOnce() + Send + 'static) {
        let Some(pool) = &self.parts.pool else { return };
        let mut state = self.lock();
        if state.closing {
            return;
        }
        state.chores_running += 1;
        let background = Arc::clone(self);
        let run = move || {
            chore();
            background.lock().chores_running -= 1;
            background.progress.notify_all();
        };
        pool.submit(JobKind::Flush, Box::new(run));
    }
}

/// How many compactions run at once where up to `threads` threads work on them. Several at once cannot all take the range for
/// which the least is rewritten, so half of the threads only help: each large compaction is cut into parts.
fn compactions_at_once(threads: usize) -> usize {
    threads.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_work_on_one_compaction_and_four_on_two() {
        let running = [1, 2, 3, 4, 8].map(compactions_at_once);
        assert_eq!(running, [1, 1, 2, 2, 4]);
    }
}
