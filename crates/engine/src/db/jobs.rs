//! The place where the parts of a database meet: the jobs that its background runs ([`Jobs`]), and how its writer gives
//! work to the background ([`Backlog`]). Predecessors: `background/scheduler`, `write/room`. Successors: `flush`,
//! `compaction/job`.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use terrace_format::file_name;

use crate::background::scheduler::{Background, Jobs};
use crate::background::state::BackgroundState;
use crate::compaction::picker::{self, CompactionPlan, CompactionReason, PickerOptions};
use crate::db::inner::DbInner;
use crate::error::{Error, Result};
use crate::flush::flush;
use crate::memtable::MemTable;
use crate::read::super_version::SealedMemTable;
use crate::wal::writer::WalWriter;
use crate::write::writer::{Backlog, Measured};

/// The share of the entries in tables that a memtable's deletions must reach for an idle database to flush it.
const IDLE_FLUSH_SHARE: f64 = 0.1;

/// The assumed size of an entry in tables that do not record how many entries they hold.
const ASSUMED_ENTRY_SIZE_BYTES: u64 = 128;

impl Jobs for DbInner {
    fn pick_compaction(&self, state: &BackgroundState) -> Option<CompactionPlan> {
        let version = self.files.versions.current();
        // A manual compaction tells by their numbers which tables of level 0 it has to push down.
        let mut options = self.picker_options();
        options.merges_within_level0 = state.manual_calls == 0;
        picker::pick(&version, &state.reservations, &state.pointers, &options, state.idle)
    }

    fn flush(&self, sealed: &Arc<SealedMemTable>) -> Result<()> {
        self.flush_sealed(std::slice::from_ref(sealed))
    }

    fn compact(&self, plan: &CompactionPlan, helpers: usize) -> Result<()> {
        self.run_compaction(plan, helpers)
    }

    fn clean_up(&self) {
        self.files.remove_obsolete_tables();
    }

    /// Flushes deletions, and reads what the picker needs to find tables with many of them.
    fn use_idle_time(&self) -> bool {
        self.load_missing_counts();
        self.flush_if_deletions()
    }
}

impl Backlog for Arc<Background> {
    fn take_over(&self, sealed: SealedMemTable, active: Arc<MemTable>, needless: Vec<WalWriter>) -> Measured {
        let mut state = self.lock();
        state.logs.push(sealed.next_log_number);
        state.logs_to_close.extend(needless);
        state.idle = false;
        self.update_super_version(&state, |view| view.seal(active, Arc::new(sealed)));
        let measured =
            Measured { flushed: state.flushed.take(), level0_drained: state.level0_drained.take() };
        self.schedule(&mut state);
        drop(state);
        self.watch_for_idleness();
        measured
    }

    fn close_later(&self, needless: Vec<WalWriter>) {
        self.lock().logs_to_close.extend(needless);
    }

    fn wait_for_change(&self, changed: impl Fn() -> bool) -> Result<()> {
        Background::wait_for_change(self, changed)
    }

    /// Does some of the background's work if it has no threads.
    fn pause(&self, delay: Duration) {
        Background::pause(self, delay);
    }

    fn watch_for_idleness(&self) {
        Background::watch_for_idleness(self);
    }

    /// The write that failed returns `cause`.
    fn poison(&self, cause: &Error) {
        Background::poison(self, cause);
        self.note_failure_reported();
    }
}

impl DbInner {
    /// Flushes `sealed`, which must be the oldest ones, oldest first. Runs on one thread at a time.
    pub(crate) fn flush_sealed(&self, sealed: &[Arc<SealedMemTable>]) -> Result<()> {
        let Some(newest) = sealed.last() else { return Ok(()) };
        let started = self.files.env.monotonic_micros();
        let unneeded = std::mem::take(&mut self.background.lock().logs_to_close);
        // Closed before the table is written, because on a full disk the table may need the room.
        drop(unneeded);
        self.published.super_version().active.prepare_successor(&newest.table);
        let tables = flush(&self.files, &self.published, sealed)?;

        let micros = self.files.env.monotonic_micros() - started;
        let size_bytes = tables.iter().map(|table| table.entry.size_bytes).sum();
        let mut background = self.background.lock();
        background.stats[0].record(micros, 0, size_bytes);
        background.flushed.add(tables.iter().map(|table| table.counts.raw_bytes()).sum(), micros);
        self.background.update_super_version(&background, |view| {
            view.replace_by_tables(sealed, self.files.versions.current());
        });
        drop(background);
        let entries: u64 = sealed.iter().map(|sealed| sealed.table.entries()).sum();
        let numbers: Vec<_> = tables.iter().map(|table| table.entry.number).collect();
        self.files.info_log.line(format_args!(
            "flushed {entries} entries to tables {numbers:?} ({size_bytes} bytes, {} ms)",
            micros / 1000
        ));
        self.remove_old_logs();
        Ok(())
    }

    /// Removes logs whose writes are all in tables.
    fn remove_old_logs(&self) {
        let log_number = self.files.versions.log_number();
        let mut background = self.background.lock();
        let old: Vec<u64> = background.logs.extract_if(.., |number| *number < log_number).collect();
        drop(background);
        for number in old {
            let _ = self.files.env.remove_file(&self.files.directory.join(file_name::log_name(number)));
        }
    }

    /// Runs `plan`, whose range is reserved, and shows readers the result. Up to `helpers` threads of the pool may take
    /// part besides this one.
    pub(crate) fn run_compaction(&self, plan: &CompactionPlan, helpers: usize) -> Result<()> {
        let started = self.files.env.monotonic_micros();
        let done = self.compactor.run(plan, helpers)?;

        let micros = self.files.env.monotonic_micros() - started;
        let mut background = self.background.lock();
        background.stats[plan.output_level].record(micros, done.read_bytes, done.written_bytes);
        if plan.reason != CompactionReason::Manual {
            let leaving = if plan.level == 0 && plan.output_level > 0 { &plan.inputs[0][..] } else { &[] };
            background.level0_drained.add(leaving.iter().map(|file| file.raw_bytes()).sum(), micros);
        }
        self.background
            .update_super_version(&background, |view| view.version = self.files.versions.current());
        drop(background);
        self.files.info_log.line(format_args!(
            "compacted {} + {} tables of level {} to {} tables of level {} ({:?}; read {}, wrote {} bytes, {} ms)",
            plan.inputs[0].len(),
            plan.inputs[1..].iter().map(Vec::len).sum::<usize>(),
            plan.level,
            done.tables,
            plan.output_level,
            plan.reason,
            done.read_bytes,
            done.written_bytes,
            micros / 1000
        ));
        Ok(())
    }

    pub(crate) fn picker_options(&self) -> PickerOptions {
        PickerOptions::new(
            self.files.comparator.clone(),
            self.options.max_file_size_bytes,
            self.options.deletion_ratio_trigger,
            self.published.oldest_snapshot(),
        )
        .with_write_buffer_size(self.options.write_buffer_size_bytes as u64)
    }

    /// Seals the active memtable if its deletions may give back much space. Returns whether it did so or could not
    /// look.
    fn flush_if_deletions(&self) -> bool {
        let Some(mut token) = self.writer.queue.try_token() else { return true };
        let deletions = token.memtable.deletions();
        if deletions == 0 || self.health.check_writable().is_err() {
            return false;
        }
        let (mut entries, mut size_bytes) = (0, 0);
        for file in self.files.versions.current().files() {
            let estimate = file.size_bytes / ASSUMED_ENTRY_SIZE_BYTES;
            entries += file.counts().map_or(estimate, |counts| counts.entries);
            size_bytes += file.size_bytes;
        }
        let share = (deletions as f64 / entries.max(1) as f64).min(1.0);
        // A trickle of deletions must not cost a table each time the database comes to rest.
        let least_bytes = self.options.write_buffer_size_bytes as f64 / 16.0;
        let worthwhile = share >= IDLE_FLUSH_SHARE && share * size_bytes as f64 >= least_bytes;
        worthwhile && self.writer.seal_memtable(&mut token).is_ok()
    }

    /// Reads the counts of tables written before the database was opened, which the tombstone rule needs.
    fn load_missing_counts(&self) {
        for file in self.files.versions.current().levels.iter().flatten() {
            if !file.counts_looked_up() && !self.compactor.gives_up.load(Ordering::Relaxed) {
                // If a table cannot be opened, the read that needs it reports the error.
                let _ = self.files.tables.table(file);
            }
        }
    }
}
