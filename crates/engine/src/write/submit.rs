//! Writes whose caller does not wait. They queue up, and the pool's commit thread writes all waiting writes of a
//! database as one group with one sync, then those of the next database. Predecessor: `db`. Between:
//! `write/submit_queue`. Successor: `write/commit`.

use std::sync::Arc;

use terrace_format::batch::WriteBatch;

use crate::error::{Error, Result};
use crate::options::WriteOptions;
use crate::pool::{BackgroundPool, JobKind};
use crate::write::MAX_GROUP_BYTES;
use crate::write::conditions::Condition;
use crate::write::submit_queue::{Next, SubmitQueue};
use crate::write::writer::{Backlog, Writer};

/// Called with the result of a submitted write, on the commit thread. It must not wait for the database.
pub type WriteDone = Box<dyn FnOnce(Result<()>) + Send>;

/// A write that waits for the commit thread.
struct Submission {
    batch: WriteBatch,
    /// What must hold for it; `None` for a write without conditions.
    conditions: Option<Vec<Condition>>,
    sync: bool,
    done: WriteDone,
}

/// The submitted writes of a database.
pub(crate) struct Submissions<B> {
    queue: SubmitQueue<Submission>,
    writer: Arc<Writer<B>>,
    /// `None` for a read-only database.
    pool: Option<Arc<BackgroundPool>>,
}

impl<B: Backlog + Send + Sync + 'static> Submissions<B> {
    pub(crate) fn new(writer: Arc<Writer<B>>, pool: Option<Arc<BackgroundPool>>) -> Arc<Self> {
        Arc::new(Self { queue: SubmitQueue::new(), writer, pool })
    }

    /// Queues a write. `done` is called once the write is committed or has failed.
    pub(crate) fn submit(
        self: &Arc<Self>,
        batch: WriteBatch,
        conditions: Option<Vec<Condition>>,
        options: WriteOptions,
        done: WriteDone,
    ) {
        let submission = Submission { batch, conditions, sync: options.sync, done };
        if self.pool.as_ref().is_none_or(|pool| pool.needs_steps()) {
            self.commit(vec![submission]);
            return;
        }
        match self.queue.push(submission) {
            Ok(Next::Nothing) => {}
            Ok(Next::Serve) => self.serve_soon(),
            Err(refused) => (refused.done)(Err(Error::closed())),
        }
    }

    /// Has the commit thread write what was submitted. If there can be no such thread, it is written here.
    fn serve_soon(self: &Arc<Self>) {
        let Some(pool) = &self.pool else { return };
        let submissions = Arc::clone(self);
        let serve = move || {
            let write = |waiting| submissions.commit(waiting);
            if submissions.queue.serve(|submission| submission.sync, write) == Next::Serve {
                // This database's turn comes after the others that share the thread.
                submissions.serve_soon();
            }
        };
        if !pool.submit(JobKind::Commit, Box::new(serve)) {
            pool.run_one_of(&[JobKind::Commit]);
        }
    }

    /// Whether no write waits or is being written. A write that must follow submitted ones in order must be submitted,
    /// too.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_idle()
    }

    /// Accepts no more writes, and writes those that wait on this thread.
    pub(crate) fn close(&self) {
        self.queue.close(|waiting| self.commit(waiting));
    }

    fn commit(&self, submissions: Vec<Submission>) {
        let mut remaining = submissions.into_iter().peekable();
        while let Some(first) = remaining.next() {
            if let Some(conditions) = &first.conditions {
                // Alone: the conditions must hold after what was submitted before.
                (first.done)(self.writer.write_if(first.batch, conditions, first.sync));
                continue;
            }
            let (mut size_bytes, mut sync) = (first.batch.approximate_size_bytes(), first.sync);
            let (mut batches, mut dones) = (vec![first.batch], vec![first.done]);
            let joins =
                |next: &Submission, size_bytes| next.conditions.is_none() && size_bytes < MAX_GROUP_BYTES;
            while let Some(next) = remaining.next_if(|next| joins(next, size_bytes)) {
                size_bytes += next.batch.approximate_size_bytes();
                sync |= next.sync;
                batches.push(next.batch);
                dones.push(next.done);
            }
            let result = {
                let mut token = self.writer.queue.take_token();
                self.writer.commit_group(&mut token, &mut batches, sync)
            };
            for done in dones {
                done(result.clone());
            }
        }
    }
}
