//! The writes of a database that have not ended, in the order of their calls, and which of them may begin.
//!
//! A clear reads what it deletes, so it begins after all earlier writes have ended, and later ones wait for it.

use std::collections::VecDeque;

use terrace_engine::{Condition, WriteBatch, WriteOptions};

use crate::clear::Clear;
use crate::value::Deferred;

/// Writes of one database that have not ended.
#[derive(Default)]
pub struct WriteQueue {
    /// Number of writes that the engine's commit thread has; it keeps their order.
    submitted: usize,
    clearing: bool,
    /// Operations that may not begin yet.
    waiting: VecDeque<Operation>,
}

/// What changes the database, with the promise of its caller.
pub enum Operation {
    /// With conditions, it is written only if they hold.
    Write {
        batch: WriteBatch,
        conditions: Option<Vec<Condition>>,
        options: WriteOptions,
        deferred: Deferred,
    },
    Clear {
        clear: Clear,
        deferred: Deferred,
    },
}

impl WriteQueue {
    /// Whether a write could begin and end at once.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.submitted == 0 && !self.clearing && self.waiting.is_empty()
    }

    /// Adds an operation after all others.
    pub fn push(&mut self, operation: Operation) {
        self.waiting.push_back(operation);
    }

    /// Takes the next operation if it may begin. Its end must be reported.
    pub fn begin_next(&mut self) -> Option<Operation> {
        let begins_after_writes = matches!(self.waiting.front(), Some(Operation::Clear { .. }));
        if self.clearing || (begins_after_writes && self.submitted > 0) {
            return None;
        }
        let next = self.waiting.pop_front()?;
        match next {
            Operation::Write { .. } => self.submitted += 1,
            Operation::Clear { .. } => self.clearing = true,
        }
        Some(next)
    }

    /// A write that had begun has ended.
    pub fn end_write(&mut self) {
        self.submitted -= 1;
    }

    /// The clear that had begun has ended.
    pub fn end_clear(&mut self) {
        self.clearing = false;
    }
}
