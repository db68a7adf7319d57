//! The directory of a database, as the database reaches it. Predecessors: `db/open`, `repair` and `destroy`. Successor: the env.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{DirectoryHold, Env, FileLock, LockError};
use terrace_format::file_name;

use crate::error::{Error, ErrorKind, Result};

/// A database's directory, held open if the environment can do that. The database then stays in the directory wherever
/// that is moved, and leaves alone whatever is created at the old path. All paths into the directory begin with
/// [`path`](Self::path) and go to [`env`](Self::env).
#[derive(Clone, Debug)]
pub(crate) struct HeldDirectory {
    pub(crate) path: PathBuf,
    pub(crate) env: Arc<dyn Env>,
    /// Readers keep it with their super version, so that it outlives the database while they need files.
    pub(crate) hold: Option<Arc<dyn DirectoryHold>>,
}

impl HeldDirectory {
    /// Holds the directory at `path`, which must exist.
    pub(crate) fn hold(path: &Path, env: &Arc<dyn Env>) -> Result<Self> {
        let path = path.to_owned();
        Ok(match env.hold_directory(&path)? {
            Some(held) => Self { path, env: held.env, hold: Some(held.hold) },
            None => Self { path, env: Arc::clone(env), hold: None },
        })
    }

    /// Like [`hold`](Self::hold), but returns `None` if there is no such directory.
    pub(crate) fn hold_existing(path: &Path, env: &Arc<dyn Env>) -> Result<Option<Self>> {
        if env.exists(path)? { Self::hold(path, env).map(Some) } else { Ok(None) }
    }

    /// Acquires the lock that keeps other processes and other opens from writing here.
    ///
    /// # Errors
    /// `Locked` if it is held; otherwise errors of the file system.
    pub(crate) fn lock(&self) -> Result<Box<dyn FileLock>> {
        self.env.lock(&self.path.join(file_name::LOCK)).map_err(|error| lock_error(&self.path, error))
    }
}

fn lock_error(directory: &Path, error: LockError) -> Error {
    let locked = |by: &str| {
        let message =
            format!("the database is {by}; close it there first, or open it read-only, which needs no lock");
        Error::at_path(ErrorKind::Locked, directory, message)
    };
    match error {
        LockError::Held { this_process: true, .. } => locked("open already in this process"),
        LockError::Held { holder: Some(pid), .. } => locked(&format!("in use by process {pid}")),
        LockError::Held { .. } => locked("in use by another process"),
        LockError::Env(error) => error.into(),
    }
}
