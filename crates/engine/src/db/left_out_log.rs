//! What an open left out of the logs. Predecessor: `recovery`.

use terrace_format::file_name::log_name;

use crate::error::Error;
use crate::recovery::replay::LogHole;

/// The part of the logs that an open left out.
///
/// A loss of power can leave a hole in a log. What follows the hole was never synced, so the open leaves it out. Damage
/// cannot always be told from such a hole, so the part left out may also have been lost to damage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeftOutLog {
    /// Name of the log with the hole. An open for writing moved this log and all later ones to the directory `lost`.
    pub name: String,
    /// Bytes that were left out, later logs included.
    pub bytes: u64,
    /// What is wrong at the hole, with file and offset.
    pub reason: Error,
}

impl From<LogHole> for LeftOutLog {
    fn from(hole: LogHole) -> Self {
        Self { name: log_name(hole.number), bytes: hole.left_out_bytes, reason: hole.reason }
    }
}
