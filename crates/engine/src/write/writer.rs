//! The writer of a database: what the commit token guards, and what a commit works with. It knows the background only
//! as the [`Backlog`] that it fills, and is tested with another one.

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
use crate::recovery::kept_logs::KeptLog;
use crate::wal::writer::WalWriter;
use crate::write::commit_queue::CommitQueue;
use crate::write::throttle::Throttle;

/// What a writer needs of the background, which takes full memtables and signals when there is room for more.
pub(crate) trait Backlog {
    /// Takes over `sealed`, which `active` follows for readers, and has it flushed. `needless` are logs that are no
    /// longer needed, to be closed. Returns what was measured since the last call.
    fn take_over(&self, sealed: SealedMemTable, active: Arc<MemTable>, needless: Vec<WalWriter>) -> Measured;

    /// Closes logs that are no longer needed, on another thread, because freeing their space may take the system longer
    /// than a write should wait.
    fn close_later(&self, needless: Vec<WalWriter>);

    /// Waits until flushes and compactions have made `changed` true. Returns an error if they cannot.
    fn wait_for_change(&self, changed: impl Fn() -> bool) -> Result<()>;

    /// Gives the background some time.
    fn pause(&self, delay: Duration);

    /// Called when deletions were written: they may give back space once nothing is written for a while.
    fn watch_for_idleness(&self);

    /// Refuses writes from now on because of `cause`.
    fn poison(&self, cause: &Error);
}

/// What the background has measured; `None` if nothing was processed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) flushed: Option<Throughput>,
    pub(crate) level0_drained: Option<Throughput>,
}

/// The writer.
pub(crate) struct Writer<B> {
    pub(crate) queue: CommitQueue<CommitState>,
    pub(crate) files: Arc<Files>,
    pub(crate) health: Arc<Health>,
    pub(crate) published: Arc<Published>,
    pub(crate) backlog: B,
    /// The size at which a memtable is sealed, in bytes.
    pub(crate) write_buffer_size_bytes: usize,
    /// How many sealed memtables may wait for their flush; at least one.
    pub(crate) max_sealed_memtables: usize,
    /// The number of files in level 0 at which writes wait for a compaction.
    pub(crate) stop_files: usize,
    /// Whether logs are mapped into memory.
    pub(crate) map_log: bool,
}

/// What the commit token guards.
pub(crate) struct CommitState {
    /// The log of the active memtable; `None` once the database is closed, or if it is read-only.
    pub(crate) wal: Option<WalWriter>,
    /// Logs of sealed memtables that were not synced, oldest first. They are synced before a sync of the active log
    /// counts. Otherwise a later write could survive a power cut that an earlier one does not.
    pub(crate) outgoing: Vec<WalWriter>,
    /// Logs found at the open whose records are in the active memtable and may not be durable.
    pub(crate) kept: Vec<KeptLog>,
    /// The number of the newest sealed memtable that was read from the logs found at the open; `None` once a sync has
    /// waited for it.
    pub(crate) recovered: Option<u64>,
    pub(crate) memtable: Arc<MemTable>,
    pub(crate) last_sequence: u64,
    pub(crate) throttle: Throttle,
    /// A buffer for the batch of a single write, or for the joined batches of a group.
    pub(crate) buffer: Option<WriteBatch>,
}

impl CommitState {
    /// Keeps `buffer` for the next writer that needs it, unless it is very large.
    pub(super) fn keep_buffer(&mut self, buffer: WriteBatch) {
        const LARGEST_BYTES: usize = 1 << 20;
        if buffer.approximate_size_bytes() <= LARGEST_BYTES {
            self.buffer = Some(buffer);
        }
    }
}
