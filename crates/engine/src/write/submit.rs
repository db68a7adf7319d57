//! Writes whose caller does not wait: they queue up, and the database's own commit thread writes all that are
//! waiting as one group with one sync. Predecessor: `db`. Between: `write/submit_queue`. Successor: `write/commit`.

use std::sync::{Arc, Weak};

use terrace_format::batch::WriteBatch;

use crate::db::inner::DbInner;
use crate::error::Result;
use crate::options::WriteOptions;

/// Called with the result of a submitted write, on the commit thread. It must not wait for the database.
pub type WriteDone = Box<dyn FnOnce(Result<()>) + Send>;

/// A group is closed when its batches reach this size.
const MAX_GROUP_BYTES: usize = 4 << 20;

/// A write that waits for the commit thread.
pub(crate) struct Submission {
    batch: WriteBatch,
    sync: bool,
    done: WriteDone,
}

impl DbInner {
    /// Queues a write. `done` is called once it is committed, or cannot be.
    pub(crate) fn submit_write(self: &Arc<Self>, batch: WriteBatch, options: WriteOptions, done: WriteDone) {
        let submission = Submission { batch, sync: options.sync, done };
        if self.pool.as_ref().is_none_or(|pool| pool.needs_steps()) {
            self.commit_submissions(vec![submission]);
            return;
        }
        let start = || {
            let weak = Arc::downgrade(self);
            Ok(self.env.spawn("terrace-commit", Box::new(move || run_commit_thread(&weak)))?)
        };
        if let Err((refused, error)) = self.submissions.push(submission, start) {
            (refused.done)(Err(error));
        }
    }

    /// Whether submitted writes wait or are being written. A write that has to follow them in order has to be
    /// submitted, too.
    pub(crate) fn has_submissions(&self) -> bool {
        !self.submissions.is_idle()
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
    // Closing the database ends this thread before the database goes.
    let Some(inner) = weak.upgrade() else { return };
    inner
        .submissions
        .serve(|submission| submission.sync, |submissions| inner.commit_submissions(submissions));
}
