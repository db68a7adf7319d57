//! The error of every operation on an environment: the operation, its path, and the cause.

use std::io;
use std::path::{Path, PathBuf};

/// The result of an operation on an environment.
pub type Result<T> = std::result::Result<T, EnvError>;

/// The system's error numbers for too many open files: in the process, in the system.
#[cfg(unix)]
pub(crate) const TOO_MANY_FILES: [i32; 2] = [libc::EMFILE, libc::ENFILE];
/// The system's error number for too many open files: `ERROR_TOO_MANY_OPEN_FILES`.
#[cfg(not(unix))]
pub(crate) const TOO_MANY_FILES: [i32; 1] = [4];

/// An operation that the environment refused. Displays as `could not OPERATION PATH: cause`.
#[derive(Debug, thiserror::Error)]
#[error("could not {operation} {}: {source}", path.display())]
pub struct EnvError {
    /// The operation, as a phrase that precedes the path: `read`, `sync directory`.
    pub operation: &'static str,
    /// The file or directory of the operation, or the name of the thread.
    pub path: PathBuf,
    /// Why it failed.
    pub source: io::Error,
}

impl EnvError {
    /// Creates an error of `operation` on `path`.
    pub fn new(operation: &'static str, path: impl AsRef<Path>, source: io::Error) -> Self {
        Self { operation, path: path.as_ref().to_owned(), source }
    }

    /// The error of an operation from one name to another. If `to` exists already, the error names `to`, with the
    /// second phrase; otherwise it names `from`, with the first.
    pub(crate) fn between(operations: [&'static str; 2], from: &Path, to: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::AlreadyExists => Self::new(operations[1], to, source),
            _ => Self::new(operations[0], from, source),
        }
    }

    /// The kind of the cause.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// Whether the file or directory, or one of its parents, does not exist.
    pub fn is_not_found(&self) -> bool {
        self.kind() == io::ErrorKind::NotFound
    }

    /// Whether a file or directory of that name already exists.
    pub fn is_already_exists(&self) -> bool {
        self.kind() == io::ErrorKind::AlreadyExists
    }

    /// Whether there is no room: the device is full (`ENOSPC`) or the quota is used up (`EDQUOT`).
    pub fn is_no_space(&self) -> bool {
        matches!(self.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }

    /// Whether the process (`EMFILE`) or the system (`ENFILE`) has reached its limit of open files.
    pub fn is_out_of_descriptors(&self) -> bool {
        self.source.raw_os_error().is_some_and(|code| TOO_MANY_FILES.contains(&code))
    }

    /// Whether the file system (`EROFS`) or a permission (`EACCES`, `EPERM`) forbids the operation.
    pub fn is_read_only(&self) -> bool {
        matches!(self.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
    }
}

/// The error of a failed sync. After `source`, whatever its number, it is unknown what is durable. So the result is never a missing
/// permission or descriptor, from which a caller may conclude that nothing happened. A lack of room remains one.
pub(crate) fn sync_failed(source: io::Error) -> io::Error {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => source,
        _ => io::Error::other(source),
    }
}

/// The error of every operation on a file after an operation failed with `kind`.
pub(crate) fn given_up(kind: io::ErrorKind) -> io::Error {
    io::Error::new(kind, format!("an earlier operation on the file failed: {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_where_and_why() {
        let error = EnvError::new("read", "a/b", io::Error::other("the cable is cut"));
        assert_eq!(error.to_string(), "could not read a/b: the cable is cut");
    }

    #[cfg(unix)]
    #[test]
    fn classes_of_system_errors() {
        let of = |code| EnvError::new("write", "x", io::Error::from_raw_os_error(code));
        for code in [libc::ENOSPC, libc::EDQUOT] {
            assert!(of(code).is_no_space(), "{code}");
            assert!(!of(code).is_read_only(), "{code}");
        }
        for code in [libc::EROFS, libc::EACCES, libc::EPERM] {
            assert!(of(code).is_read_only(), "{code}");
            assert!(!of(code).is_no_space(), "{code}");
        }
        for code in [libc::EMFILE, libc::ENFILE] {
            assert!(of(code).is_out_of_descriptors() && !of(code).is_no_space(), "{code}");
        }
        assert!(of(libc::ENOENT).is_not_found() && !of(libc::EEXIST).is_not_found());
        assert!(of(libc::EEXIST).is_already_exists() && !of(libc::ENOENT).is_already_exists());
        for code in [libc::EROFS, libc::EACCES, libc::EPERM, libc::EMFILE, libc::ENFILE] {
            let error = EnvError::new("sync", "x", sync_failed(io::Error::from_raw_os_error(code)));
            assert!(!error.is_read_only() && !error.is_out_of_descriptors(), "{error}");
            assert!(error.to_string().ends_with(&format!("(os error {code})")), "{error}");
        }
        let full = sync_failed(io::Error::from_raw_os_error(libc::EDQUOT));
        assert!(EnvError::new("sync", "x", full).is_no_space());
        let device = of(libc::EIO);
        assert!(!device.is_no_space() && !device.is_read_only() && !device.is_out_of_descriptors());
    }
}
