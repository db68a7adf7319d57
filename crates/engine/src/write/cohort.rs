//! Where writers of the commit line wait: each at its seat, and those of a group at seats of one cohort. Predecessor and
//! successor: `write/line`.
//!
//! They sleep on one word of memory, so one call to the system wakes a whole group. To be made leader, a writer is woken
//! alone, as far as the line gives it a cohort of its own.

use std::sync::Arc;

use crate::error::Result;
use crate::sync::{Condvar, Mutex};

/// Writers that are woken together.
pub(super) struct Cohort {
    /// One a seat.
    phases: Mutex<Vec<Phase>>,
    changed: Condvar,
}

/// What a writer waits for.
pub(super) enum Phase {
    Waiting,
    /// The token is the writer's.
    Lead,
    /// The write was committed, or could not be.
    Done(Result<()>),
}

/// Where one writer waits.
#[derive(Clone)]
pub(super) struct Seat {
    cohort: Arc<Cohort>,
    place: usize,
}

impl Cohort {
    /// One without seats.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { phases: Mutex::new(Vec::new()), changed: Condvar::new() })
    }

    /// Another seat.
    pub(super) fn add_seat(self: &Arc<Self>) -> Seat {
        let mut phases = self.phases.lock();
        phases.push(Phase::Waiting);
        Seat { cohort: Arc::clone(self), place: phases.len() - 1 }
    }

    /// Tells those at `seats`, which are of this cohort, what `phase` returns.
    fn advance(&self, seats: &[Seat], phase: impl Fn() -> Phase) {
        let mut phases = self.phases.lock();
        for seat in seats {
            phases[seat.place] = phase();
        }
        // Those who wake need the lock.
        drop(phases);
        self.changed.notify_all();
    }
}

impl Seat {
    /// Waits to be the leader (none), or for the result of the write.
    pub(super) fn wait(&self) -> Option<Result<()>> {
        let mut phases = self.cohort.phases.lock();
        loop {
            match std::mem::replace(&mut phases[self.place], Phase::Waiting) {
                Phase::Waiting => self.cohort.changed.wait(&mut phases),
                Phase::Lead => return None,
                Phase::Done(result) => return Some(result),
            }
        }
    }

    /// Gives the token to the writer here.
    pub(super) fn lead(&self) {
        self.cohort.advance(std::slice::from_ref(self), || Phase::Lead);
    }

    /// Tells the writers at `seats` what came of their group.
    pub(super) fn finish(seats: &[Self], result: &Result<()>) {
        for together in seats.chunk_by(|seat, next| Arc::ptr_eq(&seat.cohort, &next.cohort)) {
            together[0].cohort.advance(together, || Phase::Done(result.clone()));
        }
    }
}
