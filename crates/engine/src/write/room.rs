//! Makes room for a write: slows it while flushes and compactions lag, and seals a full memtable. Predecessor:
//! `write/commit`. Successor: the [`Backlog`].

use std::sync::Arc;
use std::time::Duration;

use terrace_format::file_name;

use crate::error::{Error, ErrorKind, Result};
use crate::read::super_version::SealedMemTable;
use crate::wal::writer::WalWriter;
use crate::write::throttle::Pressure;
use crate::write::writer::{Backlog, CommitState, Writer};

/// Whether a call may wait for the background, or must leave everything unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    Wait,
    Refuse,
}

impl<B: Backlog> Writer<B> {
    /// Admits a write of `bytes` once there is room for it. With [`Patience::Refuse`], returns `WouldBlock` instead of
    /// waiting, and changes nothing. Sealing a memtable does not count as waiting, although it creates a log: an append
    /// asks as much of the file system, and another thread would take over only once it gets a processor.
    pub(super) fn make_room(&self, commit: &mut CommitState, bytes: usize, patience: Patience) -> Result<()> {
        let would_block = || Err(Error::new(ErrorKind::WouldBlock, "the write would have to wait"));
        if commit.throttle.is_active() {
            let now = self.files.env.monotonic_micros();
            let delay = commit.throttle.delay_micros(now);
            if delay > 0 {
                if patience == Patience::Refuse {
                    return would_block();
                }
                self.backlog.pause(Duration::from_micros(delay));
            }
            if delay > 0 || commit.throttle.is_stale() {
                self.note_pressure(commit);
            }
            commit.throttle.charge(bytes, now + delay);
        }
        if commit.memtable.approximate_memory_bytes() >= self.write_buffer_size_bytes {
            if patience == Patience::Refuse && !self.may_seal() {
                return would_block();
            }
            self.wait_until_it_may_seal()?;
            self.seal_memtable(commit)?;
        }
        Ok(())
    }

    /// Waits until flushes and compactions have caught up enough for another memtable to be sealed.
    fn wait_until_it_may_seal(&self) -> Result<()> {
        if self.may_seal() { Ok(()) } else { self.backlog.wait_for_change(|| self.may_seal()) }
    }

    fn may_seal(&self) -> bool {
        let view = self.published.super_version();
        view.sealed.len() < self.max_sealed_memtables && view.version.levels[0].len() < self.stop_files
    }

    /// Tells the throttle what is now waiting in the background besides the active memtable.
    pub(crate) fn note_pressure(&self, commit: &mut CommitState) {
        let view = self.published.super_version();
        let flushes_lag = view.sealed.len() >= self.max_sealed_memtables;
        let used_bytes = commit.memtable.approximate_memory_bytes();
        let room_bytes = flushes_lag.then(|| self.write_buffer_size_bytes.saturating_sub(used_bytes));
        commit.throttle.set_pressure(Pressure { level0_files: view.version.levels[0].len(), room_bytes });
    }

    /// Gives the active memtable to the flush thread and begins a new one with a new log.
    pub(crate) fn seal_memtable(&self, commit: &mut CommitState) -> Result<()> {
        let file_number = self.files.versions.new_flush_number();
        let log_number = self.files.versions.new_file_number();
        let path = self.files.directory.join(file_name::log_name(log_number));
        let wal = WalWriter::create(&*self.files.env, path, log_number, self.map_log)?;
        let flushed_logs = self.take_flushed_logs(commit);
        commit.outgoing.extend(commit.wal.replace(wal));
        let active = commit.memtable.successor();
        let sealed = SealedMemTable {
            table: std::mem::replace(&mut commit.memtable, Arc::clone(&active)),
            file_number,
            next_log_number: log_number,
            last_sequence: commit.last_sequence,
        };
        let measured = self.backlog.take_over(sealed, active, flushed_logs);
        if let Some(drained) = measured.level0_drained {
            commit.throttle.record_drain(drained);
        }
        if let Some(flushed) = measured.flushed {
            commit.throttle.record_flush(flushed);
        }
        self.note_pressure(commit);
        Ok(())
    }

    /// Seals the active memtable, unless it is empty, and waits until all sealed ones are in tables.
    pub(crate) fn flush(&self) -> Result<()> {
        let mut token = self.queue.take_token();
        // The database may have been closed while this call waited, and the directory may belong to another one by now.
        self.health.check_writable()?;
        if !token.memtable.is_empty() {
            self.backlog.wait_for_change(|| self.may_seal())?;
            self.seal_memtable(&mut token)?;
        }
        let newest = self.newest_sealed();
        drop(token);
        newest.map_or(Ok(()), |newest| self.wait_for_flush_of(newest))
    }

    /// Seals the active memtable, unless it is empty, and waits until everything is in tables, keeping the token.
    pub(crate) fn flush_with_token(&self, commit: &mut CommitState) -> Result<()> {
        if !commit.memtable.is_empty() {
            self.seal_memtable(commit)?;
        }
        self.newest_sealed().map_or(Ok(()), |newest| self.wait_for_flush_of(newest))
    }

    fn newest_sealed(&self) -> Option<u64> {
        self.published.super_version().sealed.first().map(|sealed| sealed.file_number)
    }

    /// Waits until what the open read from logs is durable: in tables, or in new logs in the place of those that were found.
    /// Nothing that comes later is durable before that. A mere sync of those logs proves nothing: pages that a device
    /// refused count as clean afterwards, and only the handles that were open at the time learn of the failure.
    pub(crate) fn make_recovered_durable(&self, commit: &mut CommitState) -> Result<()> {
        if let Some(newest) = commit.recovered {
            self.wait_for_flush_of(newest)?;
            commit.recovered = None;
        }
        if self.replace_kept_logs(commit).is_err() {
            // The memtable has everything that is in these logs.
            self.flush_with_token(commit)?;
        }
        commit.kept.clear();
        Ok(())
    }

    /// Waits until the sealed memtable with this number, and those before it, are in tables.
    fn wait_for_flush_of(&self, file_number: u64) -> Result<()> {
        self.backlog.wait_for_change(|| {
            self.published.super_version().sealed.iter().all(|sealed| sealed.file_number > file_number)
        })
    }
}
