//! What the background knows about itself.

use terrace_format::limits::LEVEL_COUNT;

use crate::compaction::picker::CompactPointers;
use crate::compaction::reservations::Reservations;
use crate::error::Error;
use crate::wal::writer::WalWriter;

/// What the background is doing and what it has measured. One mutex guards it, which readers never take and which is
/// never held while files are read or written.
#[derive(Default)]
pub(crate) struct BackgroundState {
    pub(crate) flush_running: bool,
    pub(crate) compactions_running: usize,
    /// Requested deletions of obsolete tables.
    pub(crate) chores_running: usize,
    /// Steps of manual compactions, which run on their callers' threads.
    pub(crate) manual_running: usize,
    /// Manual compactions that have begun and not ended.
    pub(crate) manual_calls: usize,
    /// Manual compactions whose next step may begin, or waits for a running job.
    pub(crate) manual_due: usize,
    pub(crate) reservations: Reservations,
    pub(crate) pointers: CompactPointers,
    /// Logs in the directory that may still be needed, or are about to be removed.
    pub(crate) logs: Vec<u64>,
    /// Logs that this session wrote and that are no longer needed, for the flush thread to close. Their files are
    /// already removed, and freeing the space may take the system longer than a write should wait.
    pub(crate) logs_to_close: Vec<WalWriter>,
    /// Why a job waits for a retry: a full disk, or too many open files.
    pub(crate) obstacle: Option<Error>,
    pub(crate) retry_waits: bool,
    /// Flushes since the throttle was last told.
    pub(crate) flushed: Throughput,
    /// What compactions took out of level 0 since the throttle was last told. The time is that of all compactions,
    /// because level 0 has to wait while others run.
    pub(crate) level0_drained: Throughput,
    pub(crate) stats: [LevelStats; LEVEL_COUNT],
    /// Whether no write has come for a while.
    pub(crate) idle: bool,
    /// The visible sequence when idleness was last checked.
    pub(crate) sequence_at_idle_check: u64,
    pub(crate) closing: bool,
}

impl BackgroundState {
    /// Whether the next compaction to begin is a manual one. A compaction that went first would write what a manual one
    /// merges again. While a step of a manual one runs, others begin, because writers may wait for them.
    pub(super) fn manual_goes_first(&self) -> bool {
        self.manual_due > 0 && self.manual_running == 0
    }

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

    /// Takes the measurement and starts a new one. `None` if nothing was processed yet.
    pub(crate) fn take(&mut self) -> Option<Self> {
        (self.bytes > 0).then(|| std::mem::take(self))
    }

    pub(crate) fn bytes_per_second(self) -> f64 {
        self.bytes as f64 * 1e6 / self.micros.max(1) as f64
    }
}

/// The cost of flushes and compactions into one level since the database was opened.
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
