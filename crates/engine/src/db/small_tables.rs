//! Reduces the number of small tables where each session leaves one and is too short for a compaction. Predecessors:
//! `db/close`, `db/open` where jobs run in steps, programs that must keep the number of files low. Successors: the
//! scheduler, the picker of neighbours.
//!
//! What a close does here is bounded, whatever the database holds:
//!
//! - If level 0 has [`MANY_SMALL_TABLES`], compactions that are due: at most as many, and none begins after
//!   [`STEP_BYTES`] were written. That is how tables leave level 0, merged if they overlap others, and otherwise moved.
//!   The picker bounds each: it takes level 0 and what that overlaps in level 1, or a table of a deeper level and what
//!   that overlaps below.
//! - One merge of neighbours in another level, if that saves as many. It reads no more than a table's size.
//!
//! A short session leaves one table in level 0, so each close has to move at most one table out of it. In another
//! level, at most some eight tables are together no larger than one may be.

use std::sync::Arc;

use crate::background::state::BackgroundState;
use crate::compaction::picker::{CompactionPlan, neighbours};
use crate::db::inner::DbInner;
use crate::error::Result;

/// So many small tables in a level show that compactions get no turn.
const MANY_SMALL_TABLES: usize = 8;

/// After so many written bytes, a close begins no further compaction.
const STEP_BYTES: u64 = 16 << 20;

impl DbInner {
    /// If sessions that were too short for a compaction have left many small tables in a level, merges some of them, within the bounds
    /// above.
    pub(super) fn merge_small_tables(self: &Arc<Self>) {
        self.empty_level0();
        // If it fails, the tables are unchanged.
        let _ = self.merge_neighbours(MANY_SMALL_TABLES - 1);
    }

    /// The same for sessions that were killed before the flush of what the ones before them have left in logs: if there are many, waits
    /// for it.
    pub(super) fn flush_many_logs(&self) {
        if self.background.lock().logs.len() < MANY_SMALL_TABLES {
            return;
        }
        drop(self.background.wait_until(|state| {
            self.background.schedule(state);
            !state.flush_running
        }));
    }

    /// If level 0 has many tables, waits for compactions that leave fewer. Does not wait behind a compaction that a call asked for, nor,
    /// where threads run compactions, for those of larger tables.
    fn empty_level0(&self) {
        let largest_bytes = if self.background.runs_in_steps() {
            u64::MAX
        } else {
            self.options.write_buffer_size_bytes as u64
        };
        let is_due = || {
            let view = self.published.super_version();
            let level0 = &view.version.levels[0];
            let size_bytes: u64 = level0.iter().map(|file| file.size_bytes).sum();
            level0.len() >= MANY_SMALL_TABLES && size_bytes <= largest_bytes
        };
        let background = self.background.lock();
        if background.manual_calls > 0 || !is_due() {
            return;
        }
        let (jobs, bytes) = work_done(&background);
        drop(background);
        drop(self.background.wait_until(|state| {
            let (jobs_now, bytes_now) = work_done(state);
            if !is_due() || jobs_now - jobs >= MANY_SMALL_TABLES as u64 || bytes_now - bytes >= STEP_BYTES {
                return true;
            }
            self.background.schedule(state);
            // None runs if there is no room for it, if a manual compaction goes first, or if the database is poisoned.
            state.compactions_running == 0
        }));
    }

    /// See [`Db::merge_neighbours`](crate::Db::merge_neighbours).
    pub(super) fn merge_neighbours(self: &Arc<Self>, least_saved: usize) -> Result<bool> {
        let mut background = self.background.lock();
        if background.closing || background.obstacle.is_some() || !self.health.takes_writes() {
            return Ok(false);
        }
        let version = self.files.versions.current();
        let options = self.picker_options();
        let Some(plan) = neighbours::pick(&version, &background.reservations, &options, least_saved) else {
            return Ok(false);
        };
        background.manual_running += 1;
        let reservation = plan.reserve(&mut background.reservations);
        drop((background, version));
        let merged = self.run_here(plan);
        // If it has failed, all tables are unchanged, and the database keeps working. A failure that concerns the MANIFEST is remembered there.
        if let Err(error) = &merged {
            self.files.info_log.line(format_args!("small tables were not merged: {error}"));
        }
        self.background.finish_job(Ok(()), |background| {
            background.manual_running -= 1;
            background.reservations.release(reservation);
        });
        merged.map(|()| true)
    }

    /// Runs a plan, whose range is reserved, on this thread.
    pub(super) fn run_here(&self, plan: CompactionPlan) -> Result<()> {
        let result = self.run_compaction(&plan, self.options.compaction_threads.max(1));
        drop(plan);
        self.files.remove_obsolete_tables();
        result
    }
}

/// The jobs that have ended, and the bytes that they have written.
fn work_done(state: &BackgroundState) -> (u64, u64) {
    state.stats.iter().fold((0, 0), |(jobs, bytes), level| (jobs + level.jobs, bytes + level.written_bytes))
}
