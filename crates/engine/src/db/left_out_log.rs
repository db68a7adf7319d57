//! What an open left out of the logs. Predecessor: `recovery`.

use terrace_format::file_name::log_name;

use crate::error::Error;
use crate::recovery::LogHole;

/// What an open left out of the logs: they hold a place that looks as a loss of power leaves it, and what follows such a
/// place was never synced, so that it may not count. It may have been damage all the same, which cannot always be told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeftOutLog {
    /// The log with that place. An open to write has moved it, and all later ones, to the directory `lost`.
    pub name: String,
    /// Bytes that were left out, later logs included.
    pub bytes: u64,
    /// What is wrong there, with file and offset.
    pub reason: Error,
}

impl From<LogHole> for LeftOutLog {
    fn from(hole: LogHole) -> Self {
        Self { name: log_name(hole.number), bytes: hole.left_out_bytes, reason: hole.reason }
    }
}
