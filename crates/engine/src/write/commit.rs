//! Commits a group of batches. Predecessor: `write/line`. Successors: `wal/writer`, the memtable, and `flush` once
//! the memtable is full.
//!
//! Steps, all under the commit token:
//!
//! 1. Make room: seal a full memtable, wait for flushes and compactions that lag behind. The first sync since the open waits
//!    for the flush of what the open read from logs.
//! 2. Number the operations: sequences are contiguous, in the order of the log.
//! 3. Append the group to the log as one record; sync if asked.
//! 4. Insert it into the memtable.
//! 5. Publish: store the new visible sequence. Readers see the whole group or nothing of it.
//!
//! A failure in step 3 that leaves the log as it was (a full disk) refuses the group. Any other failure there
//! poisons the database: what is in the log is unknown, so nothing more may be acknowledged.

use std::sync::Arc;
use std::time::Duration;

use terrace_format::batch::{BatchOp, WriteBatch};
use terrace_format::file_name;
use terrace_format::internal_key::{MAX_SEQUENCE_NUMBER, ValueKind};

use crate::compaction::throttle::{Pressure, STOP_FILES, Throttle};
use crate::db::inner::DbInner;
use crate::error::{Error, ErrorKind, Result};
use crate::memtable::MemTable;
use crate::read::super_version::SealedMemTable;
use crate::recovery::synced_files::SyncedFiles;
use crate::wal::writer::WalWriter;

/// What the commit token guards.
pub(crate) struct CommitState {
    /// The log of the active memtable; none once the database is closed or if it is read-only.
    pub(crate) wal: Option<WalWriter>,
    /// Logs of sealed memtables that were not synced, oldest first. They are synced before a sync on the active log
    /// counts: otherwise a later write could survive a power cut that an earlier one does not.
    pub(crate) outgoing: Vec<WalWriter>,
    /// The newest sealed memtable that was read from the logs found at the open, by its number; none once a sync has
    /// waited for it.
    pub(crate) recovered: Option<u64>,
    pub(crate) memtable: Arc<MemTable>,
    pub(crate) last_sequence: u64,
    pub(crate) throttle: Throttle,
    /// A buffer for a batch: of a single write, or of a group's batches joined.
    pub(crate) buffer: Option<WriteBatch>,
}

impl CommitState {
    /// Keeps `buffer` for the next one who needs it, unless it is very large.
    pub(crate) fn keep_buffer(&mut self, buffer: WriteBatch) {
        const LARGEST_BYTES: usize = 1 << 20;
        if buffer.approximate_size_bytes() <= LARGEST_BYTES {
            self.buffer = Some(buffer);
        }
    }
}

/// Whether a call may wait for the background, or has to leave things as they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    Wait,
    Refuse,
}

impl DbInner {
    /// Commits `batches` as one group.
    pub(crate) fn commit_group(
        self: &Arc<Self>,
        commit: &mut CommitState,
        batches: &mut [WriteBatch],
        sync: bool,
    ) -> Result<()> {
        self.check_writable()?;
        let bytes = batches.iter().map(WriteBatch::approximate_size_bytes).sum();
        self.make_room(commit, bytes, Patience::Wait)?;
        if sync {
            self.flush_recovered(commit)?;
        }
        self.commit_with_room(commit, batches, sync)
    }

    /// Steps 2 to 5, for a group that [`make_room`](Self::make_room) has let pass.
    pub(crate) fn commit_with_room(
        self: &Arc<Self>,
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

    fn commit_batch(
        self: &Arc<Self>,
        commit: &mut CommitState,
        batch: &mut WriteBatch,
        sync: bool,
    ) -> Result<()> {
        let first_sequence = commit.last_sequence + 1;
        let count = u64::from(batch.count());
        if MAX_SEQUENCE_NUMBER - commit.last_sequence < count {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the database has used up its sequence numbers",
            ));
        }
        batch.set_sequence(first_sequence);
        if let Some(Ok(first)) = batch.iter().next() {
            commit.memtable.prefetch(first.key());
        }
        if sync {
            // Before the append: where the directory cannot be opened for want of a descriptor, nothing has changed.
            self.sync_outgoing_logs(commit).inspect_err(|error| {
                if error.kind() != ErrorKind::TooManyFiles {
                    self.poison(error);
                }
            })?;
        }
        let wal = commit.wal.as_mut().ok_or_else(Error::closed)?;
        if let Err(error) = wal.append(batch.as_bytes()) {
            if !error.may_pass() || wal.is_damaged() {
                self.poison(&error);
            }
            return Err(error);
        }
        if sync {
            wal.sync(&*self.env).inspect_err(|error| self.poison(error))?;
        }
        let holds_deletions = insert_batch(&commit.memtable, batch, first_sequence)?;
        commit.last_sequence = first_sequence + count - 1;
        self.published.publish(commit.last_sequence);
        if holds_deletions {
            self.watch_for_idleness();
        }
        Ok(())
    }

    /// Waits until what was read from logs at the open is in tables. Nothing that comes after it is durable before: a sync of
    /// those logs proves nothing, since pages that a device refused count as clean from then on, and only the handles that
    /// were open at the time are told.
    pub(crate) fn flush_recovered(self: &Arc<Self>, commit: &mut CommitState) -> Result<()> {
        if let Some(newest) = commit.recovered {
            self.wait_for_flush_of(newest)?;
            commit.recovered = None;
        }
        Ok(())
    }

    /// Syncs and closes the logs behind the active one that still matter.
    pub(crate) fn sync_outgoing_logs(&self, commit: &mut CommitState) -> Result<()> {
        if commit.outgoing.is_empty() {
            return Ok(());
        }
        let flushed = self.take_flushed_logs(commit);
        self.background.lock().logs_to_close.extend(flushed);
        let log_number = || self.versions.log_number();
        // A flush that made a log needless may have removed it meanwhile.
        let unless_needless = |number: u64, result: Result<()>| match result {
            Err(_) if number < log_number() => Ok(()),
            result => result,
        };
        for outgoing in &mut commit.outgoing {
            unless_needless(outgoing.number(), outgoing.sync(&*self.env))?;
        }
        commit.outgoing.drain(..).try_for_each(|outgoing| {
            let (number, size_bytes) = (outgoing.number(), outgoing.size_bytes());
            unless_needless(number, outgoing.close())?;
            self.note_synced_log(number, size_bytes);
            Ok(())
        })
    }

    /// Leaves word that the log `number`, which takes no more records, is durable up to `size_bytes`: the next open then
    /// takes no damage there for a loss of power.
    pub(crate) fn note_synced_log(&self, number: u64, size_bytes: u64) {
        let oldest = self.versions.log_number();
        self.note_synced(|synced| synced.note_log(number, size_bytes, oldest));
    }

    /// Adds to what is known to have been synced, and writes it down if it is news.
    pub(crate) fn note_synced(&self, note: impl FnOnce(&mut SyncedFiles)) {
        let mut synced = self.synced_files.lock();
        let before = synced.clone();
        note(&mut synced);
        if *synced != before {
            synced.write(&*self.env, &self.directory);
        }
    }

    /// Logs whose memtables are in tables by now need no sync any more.
    fn take_flushed_logs(&self, commit: &mut CommitState) -> Vec<WalWriter> {
        let oldest_needed = self.versions.log_number();
        commit.outgoing.extract_if(.., |outgoing| outgoing.number() < oldest_needed).collect()
    }

    /// Step 1. With [`Patience::Refuse`] returns `WouldBlock` instead of waiting, having done nothing. To seal a memtable is
    /// waiting too: it begins a log, for which the file system may have to finish other work first.
    pub(crate) fn make_room(
        self: &Arc<Self>,
        commit: &mut CommitState,
        bytes: usize,
        patience: Patience,
    ) -> Result<()> {
        let would_block = || Err(Error::new(ErrorKind::WouldBlock, "the write would have to wait"));
        if commit.throttle.is_active() {
            let now = self.env.monotonic_micros();
            let delay = commit.throttle.delay_micros(now);
            if delay > 0 {
                if patience == Patience::Refuse {
                    return would_block();
                }
                self.wait_for_background(Duration::from_micros(delay));
            }
            if delay > 0 || commit.throttle.is_stale() {
                commit.throttle.set_pressure(self.pressure(&commit.memtable));
            }
            commit.throttle.charge(bytes, now + delay);
        }
        if commit.memtable.approximate_memory_bytes() >= self.options.write_buffer_size_bytes {
            if patience == Patience::Refuse {
                return would_block();
            }
            if !self.may_seal() {
                self.wait_for_change(|| self.may_seal())?;
            }
            self.seal_memtable(commit)?;
        }
        Ok(())
    }

    /// Whether flushes and compactions have kept up so far that another memtable may be sealed.
    pub(crate) fn may_seal(&self) -> bool {
        let view = self.published.super_version();
        view.sealed.len() < self.options.max_sealed_memtables.max(1)
            && view.version.levels[0].len() < STOP_FILES
    }

    /// What is waiting in the background now, behind the `active` memtable.
    pub(crate) fn pressure(&self, active: &MemTable) -> Pressure {
        let view = self.published.super_version();
        let flushes_lag = view.sealed.len() >= self.options.max_sealed_memtables.max(1);
        let room_bytes =
            || self.options.write_buffer_size_bytes.saturating_sub(active.approximate_memory_bytes());
        Pressure { level0_files: view.version.levels[0].len(), room_bytes: flushes_lag.then(room_bytes) }
    }

    /// Gives the active memtable to the flush thread and begins a new one with a new log.
    pub(crate) fn seal_memtable(self: &Arc<Self>, commit: &mut CommitState) -> Result<()> {
        let file_number = self.versions.new_file_number();
        let log_number = self.versions.new_file_number();
        let path = self.directory.join(file_name::log_name(log_number));
        let wal = WalWriter::create(&*self.env, path, log_number, self.options.map_log)?;
        let flushed = self.take_flushed_logs(commit);
        commit.outgoing.extend(commit.wal.replace(wal));
        let next = Arc::new(commit.memtable.successor());
        let sealed = Arc::new(SealedMemTable {
            table: std::mem::replace(&mut commit.memtable, next),
            file_number,
            next_log_number: log_number,
            last_sequence: commit.last_sequence,
        });
        let mut background = self.background.lock();
        background.logs.push(log_number);
        background.logs_to_close.extend(flushed);
        background.idle = false;
        self.update_super_version(&background, |view| {
            view.seal(Arc::clone(&commit.memtable), sealed);
        });
        if let Some(drained) = background.level0_drained.take() {
            commit.throttle.record_drain(drained);
        }
        if let Some(flushed) = background.flushed.take() {
            commit.throttle.record_flush(flushed);
        }
        commit.throttle.set_pressure(self.pressure(&commit.memtable));
        self.schedule(&mut background);
        Ok(())
    }
}

/// Inserts the operations of `batch` with sequences from `first_sequence` on. Returns whether it held deletions.
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
