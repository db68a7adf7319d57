//! Decides what runs in the background, and when. It is asked after every change: a sealed memtable, a finished
//! job, idleness. Predecessors: `write/commit`, finished jobs. Successors: `flush` and `compaction/job`.
//!
//! A failed job: where the disk is full, or the process has no descriptor left, it is tried again every [`RETRY_AFTER`], and only
//! writes that have to wait for it are refused; any other failure poisons the database against writes, and reads go on.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use terrace_env::locks::MutexGuard;
use terrace_format::limits::LEVEL_COUNT;

use crate::compaction::picker::{self, CompactPointers, CompactionPlan, PickerOptions};
use crate::compaction::pool::{Lane, without_panic};
use crate::compaction::reservations::{ReservationId, Reservations};
use crate::db::inner::DbInner;
use crate::error::{Error, Result};
use crate::wal::writer::WalWriter;

/// Share of the entries in tables that a memtable's deletions must reach for it to be flushed when idle.
const IDLE_FLUSH_SHARE: f64 = 0.1;

/// Size of an entry in tables that do not say how many they hold.
const ASSUMED_ENTRY_SIZE_BYTES: u64 = 128;

/// How long a job that found no room, or no descriptor, waits before it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What the background is doing. Guarded by one mutex, which readers never take and which is never held during
/// reads or writes of files.
#[derive(Default)]
pub(crate) struct BackgroundState {
    pub(crate) flush_running: bool,
    pub(crate) compactions_running: usize,
    /// Deletions of obsolete tables that were asked for.
    pub(crate) chores_running: usize,
    /// Steps of manual compactions, which run on their callers' threads.
    pub(crate) manual_running: usize,
    pub(crate) reservations: Reservations,
    pub(crate) pointers: CompactPointers,
    /// Logs in the directory that may still be needed, or are about to be removed.
    pub(crate) logs: Vec<u64>,
    /// Logs that this session wrote and nobody needs any more, for the flush thread to close: the file is removed by then, and
    /// to free its space may take the system longer than a write should wait.
    pub(crate) logs_to_close: Vec<WalWriter>,
    /// Why a job waits to be tried again: a full disk, or too many open files.
    pub(crate) obstacle: Option<Error>,
    pub(crate) retry_waits: bool,
    /// Flushes since the throttle was last told.
    pub(crate) flushed: Throughput,
    /// What compactions took out of level 0 since the throttle was last told. The time is that of all compactions: what
    /// the others take, level 0 has to wait.
    pub(crate) level0_drained: Throughput,
    pub(crate) stats: [LevelStats; LEVEL_COUNT],
    /// Whether no write has come for a while.
    pub(crate) idle: bool,
    /// The visible sequence when idleness was last checked.
    pub(crate) sequence_at_idle_check: u64,
    pub(crate) closing: bool,
}

impl BackgroundState {
    /// Whether nothing runs that touches files.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.flush_running && self.compactions_running + self.manual_running + self.chores_running == 0
    }
}

/// Bytes as their writers count them, uncompressed, and the time that the background took for them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Throughput {
    pub(crate) bytes: u64,
    pub(crate) micros: u64,
}

impl Throughput {
    pub(crate) fn add(&mut self, bytes: u64, micros: u64) {
        self.bytes += bytes;
        self.micros += micros;
    }

    /// What was measured, to begin anew; `None` if nothing came through yet.
    pub(crate) fn take(&mut self) -> Option<Self> {
        (self.bytes > 0).then(|| std::mem::take(self))
    }

    pub(crate) fn bytes_per_second(self) -> f64 {
        self.bytes as f64 * 1e6 / self.micros.max(1) as f64
    }
}

/// What flushes and compactions into one level have cost since the database was opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LevelStats {
    pub(crate) jobs: u64,
    pub(crate) micros: u64,
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
}

impl LevelStats {
    pub(crate) fn record(&mut self, micros: u64, read_bytes: u64, written_bytes: u64) {
        self.jobs += 1;
        self.micros += micros;
        self.read_bytes += read_bytes;
        self.written_bytes += written_bytes;
    }
}

impl DbInner {
    /// Starts every job that is due and may run now.
    pub(crate) fn schedule(self: &Arc<Self>, background: &mut BackgroundState) {
        let Some(pool) = &self.pool else { return };
        let stopped = background.closing || background.retry_waits || self.health.is_poisoned();
        if stopped {
            return;
        }
        if !background.flush_running && !self.published.super_version().sealed.is_empty() {
            background.flush_running = true;
            let inner = Arc::clone(self);
            pool.submit(Lane::Flush, Box::new(move || inner.run_flush_job()));
        }
        while background.compactions_running < self.options.compaction_threads.max(1) {
            let Some(plan) = self.pick_compaction(background) else { break };
            let reservation = background.reservations.reserve(&plan);
            background.pointers.advance(&plan);
            background.compactions_running += 1;
            let inner = Arc::clone(self);
            pool.submit(Lane::Compaction, Box::new(move || inner.run_compaction_job(plan, reservation)));
        }
    }

    fn pick_compaction(&self, background: &BackgroundState) -> Option<CompactionPlan> {
        let version = self.files.versions.current();
        let options = self.picker_options();
        picker::pick(&version, &background.reservations, &background.pointers, &options, background.idle)
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

    fn run_flush_job(self: &Arc<Self>) {
        let oldest = self.published.super_version().sealed.last().cloned();
        let result = oldest.map_or(Ok(()), |sealed| without_panic(|| self.flush_sealed(&sealed)));
        self.files.remove_obsolete_tables();
        self.finish_job(result, |background| background.flush_running = false);
    }

    fn run_compaction_job(self: &Arc<Self>, plan: CompactionPlan, reservation: ReservationId) {
        let free_threads = {
            let background = self.background.lock();
            self.options.compaction_threads.saturating_sub(background.compactions_running)
        };
        let result = without_panic(|| self.run_compaction(&plan, free_threads));
        drop(plan);
        self.files.remove_obsolete_tables();
        self.finish_job(result, |background| {
            background.compactions_running -= 1;
            background.reservations.release(reservation);
        });
    }

    /// Takes note of a job's end and starts what is due next.
    pub(crate) fn finish_job(
        self: &Arc<Self>,
        result: Result<()>,
        release: impl FnOnce(&mut BackgroundState),
    ) {
        let mut background = self.background.lock();
        release(&mut background);
        match result {
            Ok(()) => {}
            Err(_) if background.closing => {}
            Err(error) if error.may_pass() => {
                self.files.info_log.line(format_args!("a background job will be tried again: {error}"));
                background.obstacle = Some(error);
                self.retry_later(&mut background);
            }
            Err(error) => {
                self.files.info_log.line(format_args!("a background job failed: {error}"));
                self.poison(&error);
            }
        }
        self.schedule(&mut background);
        drop(background);
        self.progress.notify_all();
    }

    fn retry_later(self: &Arc<Self>, background: &mut BackgroundState) {
        let Some(pool) = &self.pool else { return };
        if background.retry_waits || pool.needs_steps() {
            return;
        }
        let weak = Arc::downgrade(self);
        let retry = move || {
            if let Some(inner) = weak.upgrade() {
                let mut background = inner.background.lock();
                background.retry_waits = false;
                background.obstacle = None;
                inner.schedule(&mut background);
                drop(background);
                inner.progress.notify_all();
            }
        };
        background.retry_waits = true;
        pool.submit_after(RETRY_AFTER, Box::new(retry));
    }

    /// Removes, in the background, the tables that no version lists and no reader pins any more, if there are any.
    pub(crate) fn remove_obsolete_tables_soon(self: &Arc<Self>) {
        let Some(pool) = self.pool.as_ref().filter(|_| !self.files.obsolete.is_empty()) else { return };
        let mut background = self.background.lock();
        if background.closing {
            return;
        }
        background.chores_running += 1;
        let inner = Arc::clone(self);
        let chore = move || {
            inner.files.remove_obsolete_tables();
            inner.background.lock().chores_running -= 1;
            inner.progress.notify_all();
        };
        pool.submit(Lane::Flush, Box::new(chore));
    }

    /// Waits until the background has made `changed` true. An error if it cannot.
    pub(crate) fn wait_for_change(self: &Arc<Self>, changed: impl Fn() -> bool) -> Result<()> {
        self.try_again_where_no_thread_does();
        let background = self.wait_until(|background| {
            self.schedule(background);
            changed() || background.closing || background.obstacle.is_some() || self.health.is_poisoned()
        });
        if changed() {
            return Ok(());
        }
        if let Some(error) = &background.obstacle {
            return Err(error.clone());
        }
        drop(background);
        self.health.check_writable()?;
        Err(Error::closed())
    }

    /// After a job found no room: where there are no threads, whoever waits has the jobs tried again.
    pub(crate) fn try_again_where_no_thread_does(&self) {
        if self.pool.as_ref().is_some_and(|pool| pool.needs_steps()) {
            self.background.lock().obstacle = None;
        }
    }

    /// Gives the background some time. Where there are no threads for it, does some of its work.
    pub(crate) fn wait_for_background(&self, delay: Duration) {
        if !self.step_background() {
            self.files.env.sleep(delay);
        }
    }

    /// Where there are no threads for them: runs one waiting job here. Returns whether it did.
    pub(crate) fn step_background(&self) -> bool {
        self.pool.as_ref().is_some_and(|pool| pool.lend_a_hand())
    }

    /// Waits until `done` says so, or until nothing runs that could change its mind.
    pub(crate) fn wait_until<'a>(
        self: &'a Arc<Self>,
        mut done: impl FnMut(&mut BackgroundState) -> bool,
    ) -> MutexGuard<'a, BackgroundState> {
        loop {
            let mut background = self.background.lock();
            if done(&mut background) {
                return background;
            }
            drop(background);
            if self.step_background() {
                continue;
            }
            let mut background = self.background.lock();
            if done(&mut background) {
                return background;
            }
            self.progress.wait_for(&mut background, Duration::from_millis(50));
        }
    }

    /// Arms the check for idleness, unless it is armed.
    pub(crate) fn watch_for_idleness(self: &Arc<Self>) {
        if !self.idle_check_armed.swap(true, Ordering::AcqRel) {
            self.arm_idle_check();
        }
    }

    fn arm_idle_check(self: &Arc<Self>) {
        let Some(pool) = self.pool.as_ref().filter(|pool| !pool.needs_steps()) else { return };
        let weak = Arc::downgrade(self);
        let delay = Duration::from_millis(self.options.idle_after_ms.max(1));
        let check = move || {
            if let Some(inner) = weak.upgrade() {
                inner.check_idleness();
            }
        };
        pool.submit_after(delay, Box::new(check));
    }

    /// If nothing was written since the last check: flushes deletions, and lets the picker look for tables with
    /// many of them. Goes on checking while it finds work.
    fn check_idleness(self: &Arc<Self>) {
        let visible = self.published.visible_sequence();
        let mut background = self.background.lock();
        if background.closing || self.health.is_poisoned() {
            return;
        }
        let quiet = background.sequence_at_idle_check == visible;
        background.sequence_at_idle_check = visible;
        background.idle = quiet;
        drop(background);
        let mut goes_on = !quiet;
        if quiet {
            self.load_missing_counts();
            goes_on |= self.flush_if_deletions();
            let mut background = self.background.lock();
            self.schedule(&mut background);
            goes_on |= background.compactions_running > 0 || background.flush_running;
            // Once it is released, what a snapshot held back may go.
            goes_on |= self.published.oldest_snapshot().is_some();
        }
        if goes_on {
            self.arm_idle_check();
        } else {
            self.idle_check_armed.store(false, Ordering::Release);
        }
    }

    /// Seals the active memtable if its deletions may give back much space. Returns whether it did or could not look.
    fn flush_if_deletions(self: &Arc<Self>) -> bool {
        let Some(mut token) = self.line.try_token() else { return true };
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
        worthwhile && self.seal_memtable(&mut token).is_ok()
    }

    /// Reads the counts of tables written before the database was opened, which the tombstone rule needs.
    fn load_missing_counts(&self) {
        for file in self.files.versions.current().levels.iter().flatten() {
            if !file.counts_looked_up() && !self.compactor.gives_up.load(Ordering::Relaxed) {
                // A table that cannot be opened reports that to whoever reads it.
                let _ = self.files.tables.table(file);
            }
        }
    }
}
