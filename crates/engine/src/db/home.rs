//! The folder of a database, as the database reaches it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{Env, FolderHold};

use crate::error::Result;

/// A database's folder, held where the environment can do that: the database stays in it wherever it is moved to, and leaves
/// alone what comes to its old place. All paths into it begin with [`folder`](Self::folder) and go to [`env`](Self::env).
#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) folder: PathBuf,
    pub(crate) env: Arc<dyn Env>,
    /// Readers keep it with their super version, so that it outlives the database as long as they need files.
    pub(crate) hold: Option<Arc<dyn FolderHold>>,
}

impl Home {
    /// Holds `folder`, which must exist.
    pub(crate) fn hold(folder: &Path, env: &Arc<dyn Env>) -> Result<Self> {
        let folder = folder.to_owned();
        Ok(match env.hold_folder(&folder)? {
            Some(held) => Self { folder, env: held.env, hold: Some(held.hold) },
            None => Self { folder, env: Arc::clone(env), hold: None },
        })
    }

    /// As [`hold`](Self::hold); `None` if there is no such folder.
    pub(crate) fn hold_existing(folder: &Path, env: &Arc<dyn Env>) -> Result<Option<Self>> {
        if env.exists(folder)? { Self::hold(folder, env).map(Some) } else { Ok(None) }
    }
}
