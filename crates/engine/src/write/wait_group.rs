//! The places where writers of the commit queue wait. Each writer has its own seat, and the writers of a group have
//! seats in one wait group. Predecessor and successor: `write/commit_queue`.
//!
//! The writers of a wait group sleep on one word of memory, so one system call wakes a whole group. A writer that is to
//! lead is woken alone, provided that the queue gave it a separate wait group.

use std::sync::Arc;

use crate::error::Result;
use crate::sync::{Condvar, Mutex};

/// Writers that are woken together.
pub(super) struct WaitGroup {
    /// One for each seat.
    phases: Mutex<Vec<Phase>>,
    changed: Condvar,
}

/// What a writer waits for.
pub(super) enum Phase {
    Waiting,
    /// The writer has the token.
    Lead,
    /// The write was committed, or failed.
    Done(Result<()>),
}

/// The place where one writer waits.
#[derive(Clone)]
pub(super) struct Seat {
    wait_group: Arc<WaitGroup>,
    place: usize,
}

impl WaitGroup {
    /// A wait group without seats.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { phases: Mutex::new(Vec::new()), changed: Condvar::new() })
    }

    /// Adds a seat.
    pub(super) fn add_seat(self: &Arc<Self>) -> Seat {
        let mut phases = self.phases.lock();
        phases.push(Phase::Waiting);
        Seat { wait_group: Arc::clone(self), place: phases.len() - 1 }
    }

    /// Sets the phase of each of `seats`, which belong to this wait group, to what `phase` returns.
    fn advance(&self, seats: &[Seat], phase: impl Fn() -> Phase) {
        let mut phases = self.phases.lock();
        for seat in seats {
            phases[seat.place] = phase();
        }
        // The writers that wake need the lock.
        drop(phases);
        self.changed.notify_all();
    }
}

impl Seat {
    /// Waits until the writer is the leader (`None`), or until there is a result of its write.
    pub(super) fn wait(&self) -> Option<Result<()>> {
        let mut phases = self.wait_group.phases.lock();
        loop {
            match std::mem::replace(&mut phases[self.place], Phase::Waiting) {
                Phase::Waiting => self.wait_group.changed.wait(&mut phases),
                Phase::Lead => return None,
                Phase::Done(result) => return Some(result),
            }
        }
    }

    /// Gives the token to the writer at this seat.
    pub(super) fn lead(&self) {
        self.wait_group.advance(std::slice::from_ref(self), || Phase::Lead);
    }

    /// Tells the writers at `seats` the result of their group.
    pub(super) fn finish(seats: &[Self], result: &Result<()>) {
        for together in seats.chunk_by(|seat, next| Arc::ptr_eq(&seat.wait_group, &next.wait_group)) {
            together[0].wait_group.advance(together, || Phase::Done(result.clone()));
        }
    }
}
