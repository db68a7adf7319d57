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

impl DbInner {
    /// See [`Db::compact_range`](crate::Db::compact_range).
    pub(crate) fn compact_range(self: &Arc<Self>, begin: Option<&[u8]>, end: Option<&[u8]>) -> Result<()> {
        // From here on, no table of level 0 gets a new number that hides how old its entries are.
        self.background.lock().manual_calls += 1;
        let result = self.compact_in_steps(begin, end);
        self.background.lock().manual_calls -= 1;
        result
    }

    fn compact_in_steps(self: &Arc<Self>, begin: Option<&[u8]>, end: Option<&[u8]>) -> Result<()> {
        self.writer.flush()?;
        let next_file_number = self.files.versions.next_file_number();
        let mut range =
            RangeCompaction::new(begin.map(<[u8]>::to_vec), end.map(<[u8]>::to_vec), next_file_number);
        self.background.lock().manual_due += 1;
        while let Next::Run(plan, reservation) = self.next_step(&mut range)? {
            let result = self.run_compaction(&plan, self.options.compaction_threads.max(1));
            drop(plan);
            let failure = result.as_ref().err().cloned();
            self.files.remove_obsolete_tables();
            self.background.finish_job(result, |background| {
                background.manual_running -= 1;
                background.manual_due += usize::from(failure.is_none());
                background.reservations.release(reservation);
            });
            if let Some(failure) = failure {
                return Err(failure);
            }
        }
        Ok(())
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
