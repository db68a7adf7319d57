//! Writing: the commit line that orders writers, and the queue for writers that do not wait.

mod cohort;
pub(crate) mod commit;
mod gather;
pub(crate) mod line;
pub(crate) mod submit;
pub(crate) mod submit_queue;

/// A group of batches that share a log write, and a sync, is closed when they reach this size.
const MAX_GROUP_BYTES: usize = 4 << 20;
