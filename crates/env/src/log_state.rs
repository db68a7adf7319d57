//! What the file behind a write-ahead log is in, for every environment whose appends and syncs can fail.

use std::io;

use crate::error::given_up;

/// What the file behind a log is in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LogState {
    /// It holds exactly what was appended.
    Whole,
    /// A failed append left bytes behind the end. A truncation heals it.
    Damaged(io::ErrorKind),
    /// A sync failed, and the system may have dropped pages; or a mapped page was not there. Nothing heals it.
    Lost(io::ErrorKind),
}

impl LogState {
    /// The error of appends and syncs, unless the file is whole.
    pub(crate) fn check(self) -> io::Result<()> {
        match self {
            Self::Whole => Ok(()),
            Self::Damaged(kind) | Self::Lost(kind) => Err(given_up(kind)),
        }
    }

    pub(crate) fn is_damaged(self) -> bool {
        matches!(self, Self::Damaged(_))
    }

    /// The file was cut to what it should hold.
    pub(crate) fn heal(&mut self) {
        if self.is_damaged() {
            *self = Self::Whole;
        }
    }
}
