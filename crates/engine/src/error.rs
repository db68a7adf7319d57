//! The one error type of the engine: few kinds, named by what the caller can do about them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::EnvError;
use terrace_format::{FormatError, FormatErrorKind};

/// Result of every fallible operation of the engine.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of failure an [`Error`] is: what the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call is wrong: a limit exceeded, a comparator that does not fit. Change the call.
    InvalidArgument,
    /// The directory holds no database, and `create_if_missing` is off.
    NoDatabase,
    /// The directory holds a database, and `error_if_exists` is on.
    AlreadyExists,
    /// Another open database, in this or another process, holds the directory.
    Locked,
    /// Stored bytes are damaged. The error names the file and, where there is one, the offset.
    Corruption,
    /// The bytes are well-formed but of a kind this engine does not know: a newer format, or a fork's.
    Unsupported,
    /// The operating system refused an operation on a file.
    Io,
    /// There is no room left on the device, or the quota is used up.
    DiskFull,
    /// The process, or the system, has as many files open as it may. Close some, or raise the limit (`ulimit -n`).
    TooManyFiles,
    /// The database or its file system may only be read.
    ReadOnly,
    /// The database was closed.
    Closed,
    /// The database was open when this process was forked, and belongs to the other one. Open it anew in this process.
    Forked,
    /// An earlier failure makes further writes unsafe. Close the database and open it again.
    Poisoned,
    /// The answer is not in memory, and the call asked not to wait for the disk.
    WouldBlock,
    /// Another process has written the database on, and the state that a read-only database or a snapshot or iterator of
    /// it shows is gone from the disk. Call [`Db::refresh`](crate::Db::refresh), and read again.
    Outdated,
}

/// A failure, with the file and offset it concerns where there is one.
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
}

impl Error {
    /// An error of `kind` that concerns no file in particular.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::build(kind, message.into(), None, None, None)
    }

    /// An error of `kind` about the file or directory at `path`.
    pub fn at_path(kind: ErrorKind, path: &Path, message: impl Into<String>) -> Self {
        Self::build(kind, message.into(), Some(path.to_owned()), None, None)
    }

    /// Damage in `path` at byte `offset`.
    pub fn corruption(path: &Path, offset: u64, problem: impl Into<String>) -> Self {
        Self::build(ErrorKind::Corruption, problem.into(), Some(path.to_owned()), Some(offset), None)
    }

    /// What a decoder said of bytes that begin at `base_offset` of the file at `path`.
    pub fn format(path: &Path, base_offset: u64, error: FormatError) -> Self {
        let kind = match error.kind {
            FormatErrorKind::Corrupt => ErrorKind::Corruption,
            FormatErrorKind::Unsupported => ErrorKind::Unsupported,
        };
        let offset = base_offset.saturating_add(error.offset);
        let message = format!("{}: {}", error.structure, error.problem);
        Self::build(kind, message, Some(path.to_owned()), Some(offset), Some(Box::new(error)))
    }

    /// What an encoder said of a key, a value or a batch that is over a limit.
    pub fn refused(error: FormatError) -> Self {
        let message = format!("{}: {}", error.structure, error.problem);
        Self::build(ErrorKind::InvalidArgument, message, None, None, Some(Box::new(error)))
    }

    /// The error that later writes get after `cause` made them unsafe.
    pub fn poisoned(cause: &Error) -> Self {
        let message = format!("writes are refused since an earlier failure; close and open again ({cause})");
        Self::build(ErrorKind::Poisoned, message, None, None, Some(Box::new(cause.clone())))
    }

    /// The error of every operation on a database that was open when this process was forked.
    #[cold]
    pub fn forked() -> Self {
        let message = "the database was open when this process was forked, and is the other process's; \
                       open it anew here: read-only at once, for writing once the other process has closed it";
        Self::new(ErrorKind::Forked, message)
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
        Self { inner: Arc::new(ErrorInner { kind, message, path, offset, source }) }
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Whether it is want of room or of descriptors: nothing is broken, and the same may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.kind(), ErrorKind::DiskFull | ErrorKind::TooManyFiles)
    }

    /// The file or directory that the failure concerns.
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// The byte offset in [`path`](Self::path) where damage begins.
    pub fn offset(&self) -> Option<u64> {
        self.inner.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.inner;
        f.write_str(&inner.message)?;
        match (&inner.path, inner.offset) {
            (Some(path), Some(offset)) => write!(f, " in {} at byte {offset}", path.display()),
            (Some(path), None) if !inner.message.contains(&*path.to_string_lossy()) => {
                write!(f, ": {}", path.display())
            }
            _ => Ok(()),
        }
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
