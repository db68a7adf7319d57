//! The one error type of the engine: few kinds, named by what the caller can do about them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::EnvError;
use terrace_format::{FormatError, FormatErrorKind};

/// The result of every engine operation that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an [`Error`], named by what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call is wrong: it exceeds a limit, or names a comparator that is not the database's. Change the call.
    InvalidArgument,
    /// The directory holds no database, and the call does not create one.
    NoDatabase,
    /// The directory already holds a database, and [`Options::error_if_exists`](crate::Options::error_if_exists) is on.
    AlreadyExists,
    /// The directory is already open as a database, in this process or another one. Close it there first.
    Locked,
    /// Stored bytes are damaged, or a file is missing. The error names the file and, where there is one, the offset. See
    /// [`Db::repair`](crate::Db::repair).
    Corruption,
    /// The bytes are well-formed, but this engine does not know their format: it is newer, or a fork's.
    Unsupported,
    /// The operating system failed an operation on a file.
    Io,
    /// The device is full, or the quota is used up. The same call may succeed later, when there is room.
    DiskFull,
    /// The process or the system has as many files open as its limit allows. Close some, or raise the limit (`ulimit -n`).
    TooManyFiles,
    /// The database was opened read-only, or the file system or a permission forbids the operation.
    ReadOnly,
    /// The database is closed.
    Closed,
    /// The database was open when this process was forked, and belongs to the parent. Open it again in this process.
    Forked,
    /// An earlier failure makes further writes unsafe. Close the database and open it again.
    Poisoned,
    /// The answer is not in memory, and the call asked not to wait for the disk.
    WouldBlock,
    /// A condition of the write does not hold; see [`Error::failed_conditions`]. Nothing was written. Read again, and repeat
    /// the write if it is still wanted.
    Conflict,
    /// Another process has kept writing to a database that is open read-only here, and files of the state that the
    /// database, a snapshot or an iterator shows are gone. Call [`Db::refresh`](crate::Db::refresh) and read again.
    Outdated,
}

/// A failure, with its kind, a message, and the file and the offset that it concerns, where there are any.
///
/// `Display` gives the message with the file and the offset. They come before the last semicolon of the message, if it has one: what
/// follows is advice, or a detail. Clones are cheap.
#[derive(Debug, Clone)]
pub struct Error {
    inner: Arc<ErrorInner>,
}

#[derive(Debug)]
struct ErrorInner {
    kind: ErrorKind,
    message: String,
    path: Option<PathBuf>,
    offset: Option<u64>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
    failed_conditions: Vec<usize>,
}

impl Error {
    /// An error of `kind` that concerns no particular file.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::build(kind, message.into(), None, None, None)
    }

    /// An error of `kind` about the file or directory at `path`.
    pub fn at_path(kind: ErrorKind, path: &Path, message: impl Into<String>) -> Self {
        Self::build(kind, message.into(), Some(path.to_owned()), None, None)
    }

    /// A `Corruption` of the file at `path`, at byte `offset`.
    pub fn corruption(path: &Path, offset: u64, problem: impl Into<String>) -> Self {
        Self::build(ErrorKind::Corruption, problem.into(), Some(path.to_owned()), Some(offset), None)
    }

    /// The error of a decoder whose input began at byte `base_offset` of the file at `path`: `Corruption` or `Unsupported`.
    pub fn format(path: &Path, base_offset: u64, error: FormatError) -> Self {
        let kind = match error.kind {
            FormatErrorKind::Corrupt => ErrorKind::Corruption,
            FormatErrorKind::Unsupported => ErrorKind::Unsupported,
        };
        let offset = base_offset.saturating_add(error.offset);
        let message = format!("{}: {}", error.structure, error.problem);
        Self::build(kind, message, Some(path.to_owned()), Some(offset), Some(Box::new(error)))
    }

    /// The `InvalidArgument` for a key, a value or a batch that an encoder refused because it is over a limit.
    pub fn refused(error: FormatError) -> Self {
        let message = format!("{}: {}", error.structure, error.problem);
        Self::build(ErrorKind::InvalidArgument, message, None, None, Some(Box::new(error)))
    }

    /// The error of every write after `cause` made writes unsafe.
    pub fn poisoned(cause: &Error) -> Self {
        let message =
            format!("an earlier failure made writes unsafe; close the database and open it again ({cause})");
        Self::build(ErrorKind::Poisoned, message, None, None, Some(Box::new(cause.clone())))
    }

    /// The error of every operation on a database that was open when this process was forked from its parent.
    #[cold]
    pub fn forked() -> Self {
        let message = "the database was open when this process was forked, and belongs to the parent process; \
                       open it again in this process: read-only at any time, for writing once the parent has closed it";
        Self::new(ErrorKind::Forked, message)
    }

    /// The error of a write of whose `all` conditions those with the indices `failed` do not hold.
    pub fn conflict(failed: Vec<usize>, all: usize) -> Self {
        let message = match &failed[..] {
            [index] => format!("condition {} of {all} does not hold", index + 1),
            _ => format!("{} of {all} conditions do not hold", failed.len()),
        };
        let message = format!("{message}; nothing was written");
        let inner = ErrorInner {
            kind: ErrorKind::Conflict,
            message,
            path: None,
            offset: None,
            source: None,
            failed_conditions: failed,
        };
        Self { inner: Arc::new(inner) }
    }

    /// The error of every operation on a closed database.
    pub fn closed() -> Self {
        Self::new(ErrorKind::Closed, "the database is closed")
    }

    fn build(
        kind: ErrorKind,
        message: String,
        path: Option<PathBuf>,
        offset: Option<u64>,
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let failed_conditions = Vec::new();
        Self { inner: Arc::new(ErrorInner { kind, message, path, offset, source, failed_conditions }) }
    }

    /// The kind of the failure, which determines what the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Whether room or descriptors ran out: nothing is broken, and the same operation may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.kind(), ErrorKind::DiskFull | ErrorKind::TooManyFiles)
    }

    /// The file or directory that the failure concerns, if there is one.
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// The byte offset in [`path`](Self::path) where the damage begins, if it is known.
    pub fn offset(&self) -> Option<u64> {
        self.inner.offset
    }

    /// For a [`Conflict`](ErrorKind::Conflict): the indices of the [conditions](crate::Conditions) that do not hold, ascending.
    /// Otherwise empty.
    pub fn failed_conditions(&self) -> &[usize] {
        &self.inner.failed_conditions
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.inner;
        let (what, advice) = match inner.message.rsplit_once("; ") {
            Some((what, advice)) => (what, Some(advice)),
            None => (&*inner.message, None),
        };
        f.write_str(what)?;
        match (&inner.path, inner.offset) {
            (Some(path), Some(offset)) => write!(f, " in {} at byte {offset}", path.display())?,
            (Some(path), None) if !inner.message.contains(&*path.to_string_lossy()) => {
                write!(f, ": {}", path.display())?;
            }
            _ => {}
        }
        advice.map_or(Ok(()), |advice| write!(f, "; {advice}"))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner.source.as_deref().map(|source| source as _)
    }
}

impl From<EnvError> for Error {
    fn from(error: EnvError) -> Self {
        let kind = if error.is_no_space() {
            ErrorKind::DiskFull
        } else if error.is_out_of_descriptors() {
            ErrorKind::TooManyFiles
        } else if error.is_read_only() {
            ErrorKind::ReadOnly
        } else {
            ErrorKind::Io
        };
        Self::build(kind, error.to_string(), Some(error.path.clone()), None, Some(Box::new(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_comes_before_the_advice() {
        let path = Path::new("fruit/000005.log");
        let message = "the log is too short; repair keeps what is intact";
        let shown = Error::corruption(path, 7, message).to_string();
        assert_eq!(shown, "the log is too short in fruit/000005.log at byte 7; repair keeps what is intact");
        let shown = Error::at_path(ErrorKind::Locked, path, "it is in use; close it first").to_string();
        assert_eq!(shown, "it is in use: fruit/000005.log; close it first");
        assert_eq!(Error::at_path(ErrorKind::Io, path, "no").to_string(), "no: fruit/000005.log");
        assert_eq!(
            Error::new(ErrorKind::Closed, "it is closed; open it").to_string(),
            "it is closed; open it"
        );
    }
}
