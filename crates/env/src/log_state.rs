//! The state of the file of a write-ahead log, for every environment whose appends and syncs can fail.

use std::io;

use crate::error::given_up;

/// The state of the file of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LogState {
    /// It holds exactly the appended bytes.
    Whole,
    /// A failed append left bytes after the end. A truncation heals it.
    Damaged(io::ErrorKind),
    /// A sync failed, so the system may have dropped pages; or a mapped page was missing. Nothing heals it.
    Lost(io::ErrorKind),
}

impl LogState {
    /// Returns the error of appends and syncs, unless the file is whole.
    pub(crate) fn check(self) -> io::Result<()> {
        match self {
            Self::Whole => Ok(()),
            Self::Damaged(kind) | Self::Lost(kind) => Err(given_up(kind)),
        }
    }

    pub(crate) fn is_damaged(self) -> bool {
        matches!(self, Self::Damaged(_))
    }

    /// Notes that the file was truncated to its proper size.
    pub(crate) fn heal(&mut self) {
        if self.is_damaged() {
            *self = Self::Whole;
        }
    }
}
