//! Manual compaction of a key range. Predecessor: `db`. Successors: the range picker, which names the next step, and
//! `compaction/job`, which runs here on the caller's thread.

use std::sync::Arc;

use crate::compaction::picker::{CompactionPlan, RangeCompaction, RangeStep};
use crate::compaction::reservations::ReservationId;
use crate::db::inner::DbInner;
use crate::error::Result;

/// A step that is due, with its range reserved, or the end.
enum Next {
    Run(Box<CompactionPlan>, ReservationId),
    Done,
}

/// A compaction of a range of keys that its caller carries out step by step: see [`Db::begin_compact_range`](crate::Db::begin_compact_range).
pub struct CompactRange {
    call: ManualCall,
    range: RangeCompaction,
}

/// A manual compaction that has begun. It ends when this is dropped.
struct ManualCall {
    db: Arc<DbInner>,
}

impl ManualCall {
    fn new(db: &Arc<DbInner>) -> Self {
        // From here on, no table of level 0 gets a new number that hides how old its entries are.
        db.background.lock().manual_calls += 1;
        Self { db: Arc::clone(db) }
    }
}

impl Drop for ManualCall {
    fn drop(&mut self) {
        self.db.background.lock().manual_calls -= 1;
    }
}

impl CompactRange {
    /// Also merges neighbouring tables that are smaller than `size_bytes`, to keep the number of files low. Entries
    /// written in order make tables that overlap no others, and such tables are otherwise only moved.
    #[must_use]
    pub fn merging_below(mut self, size_bytes: u64) -> Self {
        self.range.merge_below(size_bytes);
        self
    }

    /// Runs one step: a compaction of some files. Returns whether there may be another one.
    ///
    /// # Errors
    /// [Read and write errors](crate::Db#errors). The compaction then ends; what earlier steps did stays.
    pub fn step(&mut self) -> Result<bool> {
        // Not due between two steps: a write in between that needs a compaction would wait for a step that no thread
        // runs.
        self.call.db.background.lock().manual_due += 1;
        self.run_due_step(false)
    }

    /// Runs the step that is due. If `goes_on`, the one after it is due at once, so that no other compaction begins before it.
    fn run_due_step(&mut self, goes_on: bool) -> Result<bool> {
        let db = &self.call.db;
        let Next::Run(plan, reservation) = db.next_step(&mut self.range)? else { return Ok(false) };
        let result = db.run_here(*plan);
        let failure = result.as_ref().err().cloned();
        db.background.finish_job(result, |background| {
            background.manual_running -= 1;
            background.manual_due += usize::from(failure.is_none() && goes_on);
            background.reservations.release(reservation);
        });
        failure.map_or(Ok(true), Err)
    }
}

impl DbInner {
    /// See [`Db::compact_range`](crate::Db::compact_range).
    pub(crate) fn compact_range(self: &Arc<Self>, begin: Option<&[u8]>, end: Option<&[u8]>) -> Result<()> {
        let mut compaction = self.begin_compact_range(begin, end)?;
        self.background.lock().manual_due += 1;
        while compaction.run_due_step(true)? {}
        Ok(())
    }

    /// See [`Db::begin_compact_range`](crate::Db::begin_compact_range).
    pub(crate) fn begin_compact_range(
        self: &Arc<Self>,
        begin: Option<&[u8]>,
        end: Option<&[u8]>,
    ) -> Result<CompactRange> {
        let call = ManualCall::new(self);
        self.writer.flush()?;
        let next_file_number = self.files.versions.next_file_number();
        let range =
            RangeCompaction::new(begin.map(<[u8]>::to_vec), end.map(<[u8]>::to_vec), next_file_number);
        Ok(CompactRange { call, range })
    }

    /// Asks the picker until it names a step. Waits for the jobs that are in the way, unless they find no room. The step is
    /// due when this is called, and no longer when it returns.
    fn next_step(self: &Arc<Self>, range: &mut RangeCompaction) -> Result<Next> {
        let mut next = None;
        self.background.try_again_where_no_thread_does();
        let mut background = self.background.wait_until(|background| {
            if background.closing || self.health.check_writable().is_err() {
                return true;
            }
            let version = self.files.versions.current();
            next = match range.next_step(&version, &background.reservations, &self.picker_options()) {
                RangeStep::Run(plan) => {
                    background.manual_running += 1;
                    let reservation = plan.reserve(&mut background.reservations);
                    Some(Next::Run(plan, reservation))
                }
                RangeStep::Done => Some(Next::Done),
                RangeStep::Wait => None,
            };
            next.is_some() || background.obstacle.is_some()
        });
        let obstacle = background.obstacle.clone();
        background.manual_due -= 1;
        self.background.schedule(&mut background);
        drop(background);
        match (next, obstacle) {
            (Some(next), _) => Ok(next),
            (None, Some(error)) => Err(error),
            (None, None) => {
                self.health.check_writable()?;
                Ok(Next::Done)
            }
        }
    }
}
