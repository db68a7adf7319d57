//! The directory of a database, as the database reaches it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{DirectoryHold, Env};

use crate::error::Result;

/// A database's directory, held open if the environment can do that. The database then stays in the directory wherever
/// that is moved, and leaves alone whatever is created at the old path. All paths into the directory begin with
/// [`directory`](Self::directory) and go to [`env`](Self::env).
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) directory: PathBuf,
    pub(crate) env: Arc<dyn Env>,
    /// Readers keep it with their super version, so that it outlives the database while they need files.
    pub(crate) hold: Option<Arc<dyn DirectoryHold>>,
}

impl Home {
    /// Holds `directory`, which must exist.
    pub(crate) fn hold(directory: &Path, env: &Arc<dyn Env>) -> Result<Self> {
        let directory = directory.to_owned();
        Ok(match env.hold_directory(&directory)? {
            Some(held) => Self { directory, env: held.env, hold: Some(held.hold) },
            None => Self { directory, env: Arc::clone(env), hold: None },
        })
    }

    /// Like [`hold`](Self::hold), but returns `None` if there is no such directory.
    pub(crate) fn hold_existing(directory: &Path, env: &Arc<dyn Env>) -> Result<Option<Self>> {
        if env.exists(directory)? { Self::hold(directory, env).map(Some) } else { Ok(None) }
    }
}
