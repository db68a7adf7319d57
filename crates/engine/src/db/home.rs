//! The directory of a database, as the database reaches it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{DirectoryHold, Env};

use crate::error::Result;

/// A database's directory, held where the environment can do that: the database stays in it wherever it is moved to, and leaves
/// alone what comes to its old place. All paths into it begin with [`directory`](Self::directory) and go to [`env`](Self::env).
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) directory: PathBuf,
    pub(crate) env: Arc<dyn Env>,
    /// Readers keep it with their super version, so that it outlives the database as long as they need files.
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

    /// As [`hold`](Self::hold); `None` if there is no such directory.
    pub(crate) fn hold_existing(directory: &Path, env: &Arc<dyn Env>) -> Result<Option<Self>> {
        if env.exists(directory)? { Self::hold(directory, env).map(Some) } else { Ok(None) }
    }
}
