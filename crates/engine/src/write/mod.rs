//! Writing: the commit queue that orders writers, the commit itself, and the queue for writers that do not wait.
//!
//! ```text
//! Db::write ─► commit_queue ─► commit ─► room (throttle, seal) ─► outgoing_logs ─► wal/writer ─► memtable ─► publish
//! Db::submit ─► submit ──┘         └─► Backlog: flushes and compactions
//! ```

mod commit;
pub(crate) mod commit_queue;
pub(crate) mod conditions;
mod gather;
mod outgoing_logs;
mod room;
pub(crate) mod submit;
pub(crate) mod submit_queue;
#[cfg(test)]
mod tests;
pub(crate) mod throttle;
mod wait_group;
pub(crate) mod writer;

/// A group of batches that share a log write and a sync is closed when it reaches this size.
const MAX_GROUP_BYTES: usize = 4 << 20;
