//! Commits a group of batches. Predecessor: `write/commit_queue`. Successors: `write/room`, `wal/writer`, the memtable.
//!
//! All steps run under the commit token:
//!
//! 1. Make room (`write/room`). The first sync since the open waits until what the open read from logs is durable.
//! 2. Number the operations: sequences are contiguous, in the order of the log.
//! 3. Append the group to the log as one record; sync if asked.
//! 4. Insert it into the memtable.
//! 5. Publish: store the new visible sequence. Readers see either the whole group or nothing of it.
//!
//! If step 3 fails and leaves the log as it was (a full disk), the group is refused. Any other failure there poisons
//! the database: the contents of the log are unknown, so nothing more may be acknowledged.

use terrace_format::batch::{BatchOp, WriteBatch};
use terrace_format::internal_key::{MAX_SEQUENCE_NUMBER, ValueKind};

use crate::error::{Error, ErrorKind, Result};
use crate::memtable::MemTable;
use crate::write::room::Patience;
use crate::write::writer::{Backlog, CommitState, Writer};

impl<B: Backlog> Writer<B> {
    /// Writes what `fill` puts into a batch. A writer that need not wait uses the buffer that comes with the token.
    #[inline]
    pub(crate) fn write_one(
        &self,
        sync: bool,
        fill: impl FnOnce(&mut WriteBatch) -> terrace_format::error::Result<()>,
    ) -> Result<()> {
        self.health.check_writable()?;
        let shares_sync = sync && self.queue.expects_others();
        let Some(mut token) = (!shares_sync).then(|| self.queue.try_token()).flatten() else {
            let mut batch = WriteBatch::new();
            fill(&mut batch).map_err(Error::refused)?;
            return self.write(batch, sync);
        };
        let mut batch = token.buffer.take().unwrap_or_default();
        batch.clear();
        let result = fill(&mut batch)
            .map_err(Error::refused)
            .and_then(|()| self.commit_group(&mut token, std::slice::from_mut(&mut batch), sync));
        token.keep_buffer(batch);
        result
    }

    /// Writes `batch` in its turn, as part of a group.
    pub(crate) fn write(&self, batch: WriteBatch, sync: bool) -> Result<()> {
        self.health.check_writable()?;
        if batch.is_empty() {
            return Ok(());
        }
        self.queue.write(batch, sync, |commit, batches, sync| self.commit_group(commit, batches, sync))
    }

    /// Writes `batch` without a sync if it need not wait for anything. Returns whether it was written.
    pub(crate) fn try_write(&self, batch: &mut WriteBatch) -> Result<bool> {
        let Some(mut token) = self.queue.try_token() else { return Ok(false) };
        self.try_commit(&mut token, batch)
    }

    /// Commits `batch` without a sync if that need not wait for anything. Returns whether it did.
    #[inline]
    pub(super) fn try_commit(&self, token: &mut CommitState, batch: &mut WriteBatch) -> Result<bool> {
        if token.wal.as_ref().is_some_and(|wal| !wal.is_ready(batch.as_bytes().len())) {
            return Ok(false);
        }
        // The database may have been closed or poisoned since the caller checked.
        self.health.check_writable()?;
        match self.make_room(token, batch.approximate_size_bytes(), Patience::Refuse) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
            Ok(()) => {
                self.commit_with_room(token, std::slice::from_mut(batch), false)?;
                Ok(true)
            }
        }
    }

    /// Commits `batches` as one group.
    pub(super) fn commit_group(
        &self,
        commit: &mut CommitState,
        batches: &mut [WriteBatch],
        sync: bool,
    ) -> Result<()> {
        self.health.check_writable()?;
        let bytes = batches.iter().map(WriteBatch::approximate_size_bytes).sum();
        self.make_room(commit, bytes, Patience::Wait)?;
        if sync {
            self.make_recovered_durable(commit)?;
        }
        self.commit_with_room(commit, batches, sync)
    }

    /// Runs steps 2 to 5 for a group that [`make_room`](Self::make_room) has admitted.
    fn commit_with_room(
        &self,
        commit: &mut CommitState,
        batches: &mut [WriteBatch],
        sync: bool,
    ) -> Result<()> {
        if let [single] = batches {
            return self.commit_batch(commit, single, sync);
        }
        let mut joined = commit.buffer.take().unwrap_or_default();
        joined.clear();
        let result = batches
            .iter()
            .try_for_each(|batch| joined.append(batch).map_err(Error::refused))
            .and_then(|()| self.commit_batch(commit, &mut joined, sync));
        commit.keep_buffer(joined);
        result
    }

    fn commit_batch(&self, commit: &mut CommitState, batch: &mut WriteBatch, sync: bool) -> Result<()> {
        let first_sequence = commit.last_sequence + 1;
        let count = u64::from(batch.count());
        if MAX_SEQUENCE_NUMBER - commit.last_sequence < count {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the database has too few sequence numbers left; copy its entries into a new database",
            ));
        }
        batch.set_sequence(first_sequence);
        if let Some(Ok(first)) = batch.iter().next() {
            commit.memtable.prefetch(first.key());
        }
        if sync {
            // This comes before the append: if the directory cannot be opened for want of a descriptor, nothing has
            // changed.
            self.sync_outgoing_logs(commit).inspect_err(|error| {
                if error.kind() != ErrorKind::TooManyFiles {
                    self.backlog.poison(error);
                }
            })?;
        }
        let wal = commit.wal.as_mut().ok_or_else(Error::closed)?;
        if let Err(error) = wal.append(batch.as_bytes()) {
            if !error.may_pass() || wal.is_damaged() {
                self.backlog.poison(&error);
            }
            return Err(error);
        }
        if sync {
            wal.sync(&*self.files.env).inspect_err(|error| self.backlog.poison(error))?;
        }
        let holds_deletions = insert_batch(&commit.memtable, batch, first_sequence)?;
        commit.last_sequence = first_sequence + count - 1;
        self.published.publish(commit.last_sequence);
        if holds_deletions {
            self.backlog.watch_for_idleness();
        }
        Ok(())
    }
}

/// Inserts the operations of `batch` with sequences from `first_sequence` on. Returns whether the batch held deletions.
pub(crate) fn insert_batch(memtable: &MemTable, batch: &WriteBatch, first_sequence: u64) -> Result<bool> {
    let mut holds_deletions = false;
    let mut inserter = memtable.inserter();
    let mut operations = batch.iter();
    let mut next = operations.next();
    let mut sequence = first_sequence;
    while let Some(operation) = next {
        next = operations.next();
        if let Some(Ok(next)) = &next {
            memtable.prefetch(next.key());
        }
        match operation {
            Ok(BatchOp::Put { key, value }) => inserter.insert(sequence, ValueKind::Value, key, value),
            Ok(BatchOp::Delete { key }) => {
                holds_deletions = true;
                inserter.insert(sequence, ValueKind::Deletion, key, &[]);
            }
            Err(error) => return Err(Error::refused(error)),
        }
        sequence += 1;
    }
    Ok(holds_deletions)
}
