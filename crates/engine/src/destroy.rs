//! Removing a database from disk.

use std::path::Path;

use terrace_env::{Env, LockError};
use terrace_format::file_name::{self, FileKind};

use crate::db::home::Home;
use crate::db::open::lock_error;
use crate::error::Result;
use crate::options::Options;
use crate::repair::LOST_DIRECTORY;

/// Removes every file of the database in `directory`, including what repairs set aside, and the directory if nothing else is
/// in it. Other files stay. Does nothing if there is no directory.
///
/// # Errors
/// `Locked` if the database is open; otherwise the failure to remove the first file that could not be removed, after
/// trying all of them.
pub(crate) fn destroy(directory: &Path, options: &Options) -> Result<()> {
    let Some(home) = Home::hold_existing(directory, &options.env)? else { return Ok(()) };
    let env = &*home.env;
    let names = env.list(directory)?;
    let ours: Vec<String> = names.into_iter().filter(|name| file_name::parse(name).is_some()).collect();
    if ours.is_empty() {
        return Ok(());
    }
    let lock_path = directory.join(file_name::LOCK);
    let lock = env.lock(&lock_path).map_err(|error: LockError| lock_error(directory, error))?;
    let mut result = Ok(());
    // CURRENT goes first, so that a half-destroyed directory is not taken for a database.
    let is_current = |name: &&String| file_name::parse(name) == Some(FileKind::Current);
    let is_lock = |name: &&String| file_name::parse(name) == Some(FileKind::Lock);
    let others = ours.iter().filter(|name| !is_current(name) && !is_lock(name));
    for name in ours.iter().filter(is_current).chain(others) {
        if let Err(error) = env.remove_file(&directory.join(name))
            && !error.is_not_found()
            && result.is_ok()
        {
            result = Err(error.into());
        }
    }
    let _ = env.remove_file(&directory.join(file_name::SYNCED));
    remove_lost(env, directory);
    drop(lock);
    let _ = env.remove_file(&lock_path);
    // Windows does not remove a directory that is held.
    drop(home);
    // Fails if something else is in the directory, which then is not ours to remove.
    let _ = options.env.remove_directory(directory);
    result
}

/// Removes what repairs set aside. A file that cannot be removed keeps the directory, which does no harm.
fn remove_lost(env: &dyn Env, directory: &Path) {
    let lost = directory.join(LOST_DIRECTORY);
    for name in env.list(&lost).unwrap_or_default() {
        let _ = env.remove_file(&lost.join(name));
    }
    let _ = env.remove_directory(&lost);
}
