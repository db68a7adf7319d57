//! What an open left out of the logs. Predecessors: `replay`, `needed_logs`. Successor: the database, which reports it.

use std::fmt;

use crate::error::Error;

/// Writes of the logs that an open does not show.
///
/// A loss of power can leave a hole in a log. What follows the hole was never synced, so the open leaves it out. Damage
/// cannot always be distinguished from such a hole, so the part left out may also have been lost to damage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeftOutLog {
    /// Name of the log.
    pub name: String,
    /// Why its writes are left out.
    pub kind: LeftOutKind,
    /// Bytes that were left out, later logs included; 0 if they are not in the directory.
    pub bytes: u64,
    /// What is wrong, with the file and, where there is one, the offset.
    pub reason: Error,
}

/// Why an open does not show writes of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOutKind {
    /// The log has a hole. An open for writing moved the log and all later ones to the directory `lost`.
    Hole,
    /// Another engine wrote the database, and the log is missing. It was not copied with the other files, for example.
    MissingLog,
    /// Another engine wrote the log. It ends in an unfinished record, and the next log continues with a later sequence.
    MissingEnd,
}

/// One line for people.
impl fmt::Display for LeftOutLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, reason, .. } = self;
        match self.kind {
            LeftOutKind::Hole => write!(
                f,
                "writes are left out: {reason}: it looks as if a loss of power removed a part that was not synced, so the \
                 next open for writing moves what follows to the directory `lost` ({bytes} bytes)"
            ),
            LeftOutKind::MissingLog | LeftOutKind::MissingEnd => write!(f, "writes are missing: {reason}"),
        }
    }
}
