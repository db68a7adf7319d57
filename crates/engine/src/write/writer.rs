//! The writer of a database: what the commit token guards, and what a commit works with. It knows the background as the
//! [`Backlog`] that it fills, and is tested with another.

use std::sync::Arc;
use std::time::Duration;

use terrace_format::batch::WriteBatch;

use crate::background::state::Throughput;
use crate::error::{Error, Result};
use crate::files::Files;
use crate::health::Health;
use crate::memtable::MemTable;
use crate::read::published::Published;
use crate::read::super_version::SealedMemTable;
use crate::wal::writer::WalWriter;
use crate::write::line::CommitLine;
use crate::write::throttle::Throttle;

/// What a writer needs of the background: it takes full memtables, and says when there is room for more.
pub(crate) trait Backlog {
    /// Takes `sealed` over, which `active` follows for readers, and has it flushed. `needless` are logs that nobody needs any
    /// more, to be closed. Returns what was measured since the last call.
    fn take_over(&self, sealed: SealedMemTable, active: Arc<MemTable>, needless: Vec<WalWriter>) -> Measured;

    /// Closes logs that nobody needs any more, on another thread: to free their space may take the system longer than a write
    /// should wait.
    fn close_later(&self, needless: Vec<WalWriter>);

    /// Waits until flushes and compactions have made `changed` true. An error if they cannot.
    fn wait_for_change(&self, changed: impl Fn() -> bool) -> Result<()>;

    /// Gives the background some time.
    fn pause(&self, delay: Duration);

    /// Deletions were written: once nothing is written for a while, they may give back space.
    fn watch_for_idleness(&self);

    /// Refuses writes from now on because of `cause`.
    fn poison(&self, cause: &Error);
}

/// What the background has measured; `None` where nothing came through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) flushed: Option<Throughput>,
    pub(crate) level0_drained: Option<Throughput>,
}

/// The writer.
pub(crate) struct Writer<B> {
    pub(crate) line: CommitLine<CommitState>,
    pub(crate) files: Arc<Files>,
    pub(crate) health: Arc<Health>,
    pub(crate) published: Arc<Published>,
    pub(crate) backlog: B,
    /// Size at which a memtable is sealed, in bytes.
    pub(crate) write_buffer_size_bytes: usize,
    /// How many sealed memtables may wait for their flush; at least one.
    pub(crate) max_sealed_memtables: usize,
    /// Whether logs are mapped into memory.
    pub(crate) map_log: bool,
}

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
    pub(super) fn keep_buffer(&mut self, buffer: WriteBatch) {
        const LARGEST_BYTES: usize = 1 << 20;
        if buffer.approximate_size_bytes() <= LARGEST_BYTES {
            self.buffer = Some(buffer);
        }
    }
}
