//! Removing a database from disk.

use std::path::Path;

use terrace_env::Env;
use terrace_format::file_name::{self, FileKind};

use crate::directory::HeldDirectory;
use crate::error::Result;
use crate::options::Options;
use crate::repair::LOST_DIRECTORY;

/// Removes every file of the database in `directory`, including what repairs set aside, and the directory if nothing else is
/// in it. Other files stay. Returns whether there was a database.
///
/// A symbolic link in the directory is removed, never what it leads to.
///
/// # Errors
/// `Locked` if the database is open; otherwise the failure to remove the first file that could not be removed, after
/// trying all of them.
pub(crate) fn destroy(directory: &Path, options: &Options) -> Result<bool> {
    let Some(held) = HeldDirectory::hold_existing(directory, &options.env)? else { return Ok(false) };
    let env = &*held.env;
    let names = env.list(directory)?;
    if !holds_database(env, directory, &names)? {
        return Ok(false);
    }
    let lock = held.lock()?;
    let mut ours: Vec<(u8, &String)> = names.iter().filter_map(|name| Some((rank(name)?, name))).collect();
    ours.sort_unstable();
    let mut result = Ok(());
    for (_, name) in ours {
        if let Err(error) = env.remove_file(&directory.join(name))
            && !error.is_not_found()
            && result.is_ok()
        {
            result = Err(error.into());
        }
    }
    remove_lost(env, directory)?;
    drop(lock);
    let _ = env.remove_file(&directory.join(file_name::LOCK));
    // Windows does not remove a directory that is held.
    drop(held);
    // Fails if something else is in the directory, which then is not ours to remove.
    let _ = options.env.remove_directory(directory);
    result.map(|()| true)
}

/// Whether files with these names are a database, or a part of one. A log alone is not: other programs have files such as
/// `20241231.log`.
fn holds_database(env: &dyn Env, directory: &Path, names: &[String]) -> Result<bool> {
    let kinds: Vec<_> =
        names.iter().filter_map(|name| Some((file_name::parse_canonical(name)?, name))).collect();
    if kinds.iter().any(|(kind, _)| {
        use FileKind::{Current, LegacyTable, Manifest, Table};
        matches!(kind, Current | Manifest(_) | Table(_) | LegacyTable(_))
    }) {
        return Ok(true);
    }
    // A process that died while it created a database leaves these two.
    let empty = |name: &str| Ok::<_, crate::Error>(env.file_size(&directory.join(name))? == 0);
    let first_log = file_name::log_name(1);
    let has = |name: &str| names.iter().any(|listed| listed == name);
    Ok(has(file_name::LOCK) && has(&first_log) && empty(file_name::LOCK)? && empty(&first_log)?)
}

/// When a file of the database is removed, if it is one; `None` also for the lock, which is held. `CURRENT` goes first, so that a
/// directory in which the process dies is not opened as a database. MANIFESTs go last, so that it is known for one all the same.
fn rank(name: &str) -> Option<u8> {
    match file_name::parse_canonical(name) {
        Some(FileKind::Current) => Some(0),
        Some(FileKind::Lock) => None,
        Some(FileKind::Manifest(_)) => Some(2),
        Some(_) => Some(1),
        None => (name == file_name::FORMER_SYNCED).then_some(1),
    }
}

/// Removes what repairs set aside. A file that cannot be removed keeps the directory, which does no harm.
fn remove_lost(env: &dyn Env, directory: &Path) -> Result<()> {
    let lost = directory.join(LOST_DIRECTORY);
    if env.is_link(&lost)? {
        return Ok(());
    }
    for name in env.list(&lost).unwrap_or_default().iter().filter(|name| was_set_aside(name)) {
        let _ = env.remove_file(&lost.join(name));
    }
    let _ = env.remove_directory(&lost);
    Ok(())
}

/// Whether a repair gives a file this name: its own, perhaps with a number that tells it from another one.
fn was_set_aside(name: &str) -> bool {
    let own = match name.rsplit_once('.') {
        Some((own, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => own,
        _ => name,
    };
    file_name::parse_canonical(own).is_some()
}
