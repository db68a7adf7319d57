//! Writes whose caller does not wait: they queue up, and the database's own commit thread writes all that are
//! waiting as one group with one sync. Predecessor: `db`. Successor: `write/commit`.

use std::sync::{Arc, Weak};

use parking_lot::{Condvar, Mutex};
use terrace_env::ThreadHandle;
use terrace_format::batch::WriteBatch;

use crate::db::inner::DbInner;
use crate::error::{Error, Result};
use crate::options::WriteOptions;

/// Called with the result of a submitted write, on the commit thread. It must not wait for the database.
pub type WriteDone = Box<dyn FnOnce(Result<()>) + Send>;

/// A group is closed when its batches reach this size.
const MAX_GROUP_BYTES: usize = 4 << 20;

struct Submission {
    batch: WriteBatch,
    sync: bool,
    done: WriteDone,
}

/// The queue of submitted writes and its thread.
pub(crate) struct SubmitQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: Vec<Submission>,
    running: bool,
    ending: bool,
    thread: Option<Box<dyn ThreadHandle>>,
}

impl SubmitQueue {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until what was submitted is written, then ends the thread.
    pub(crate) fn close(&self) {
        let thread = {
            let mut state = self.state.lock();
            state.ending = true;
            state.thread.take()
        };
        self.changed.notify_all();
        if let Some(thread) = thread {
            thread.join();
        }
    }
}

impl DbInner {
    /// Queues a write. `done` is called once it is committed, or cannot be.
    pub(crate) fn submit_write(self: &Arc<Self>, batch: WriteBatch, options: WriteOptions, done: WriteDone) {
        let submission = Submission { batch, sync: options.sync, done };
        if self.pool.as_ref().is_none_or(|pool| pool.needs_steps()) {
            self.commit_submissions(vec![submission]);
            return;
        }
        let queue = &self.submissions;
        let mut state = queue.state.lock();
        if state.ending {
            drop(state);
            (submission.done)(Err(Error::closed()));
            return;
        }
        state.waiting.push(submission);
        if state.thread.is_none() {
            let weak = Arc::downgrade(self);
            match self.env.spawn("terrace-commit", Box::new(move || run_commit_thread(&weak))) {
                Ok(thread) => state.thread = Some(thread),
                Err(error) => {
                    let refused = state.waiting.pop();
                    drop(state);
                    if let Some(refused) = refused {
                        (refused.done)(Err(error.into()));
                    }
                    return;
                }
            }
        }
        drop(state);
        queue.changed.notify_one();
    }

    /// Whether submitted writes wait or are being written. A write that has to follow them in order has to be
    /// submitted, too.
    pub(crate) fn has_submissions(&self) -> bool {
        let state = self.submissions.state.lock();
        state.running || !state.waiting.is_empty()
    }

    fn commit_submissions(self: &Arc<Self>, submissions: Vec<Submission>) {
        let mut remaining = submissions.into_iter().peekable();
        while remaining.peek().is_some() {
            let (mut batches, mut dones) = (Vec::new(), Vec::new());
            let (mut size_bytes, mut sync) = (0, false);
            while let Some(next) = remaining.next_if(|_| size_bytes < MAX_GROUP_BYTES) {
                size_bytes += next.batch.approximate_size_bytes();
                sync |= next.sync;
                batches.push(next.batch);
                dones.push(next.done);
            }
            let result = {
                let mut token = self.line.take_token();
                self.commit_group(&mut token, &mut batches, sync)
            };
            for done in dones {
                done(result.clone());
            }
        }
    }
}

fn run_commit_thread(weak: &Weak<DbInner>) {
    loop {
        // The queue outlives the thread: closing the database joins it before the database goes.
        let Some(inner) = weak.upgrade() else { return };
        let queue = &inner.submissions;
        let mut state = queue.state.lock();
        while state.waiting.is_empty() {
            if state.ending {
                return;
            }
            queue.changed.wait(&mut state);
        }
        let submissions = std::mem::take(&mut state.waiting);
        state.running = true;
        drop(state);
        inner.commit_submissions(submissions);
        inner.submissions.state.lock().running = false;
    }
}
