//! Opens a database. A writable open takes these steps:
//!
//! 1. Lock the directory.
//! 2. Look at what is in it. Create a database if there is none and the options allow that.
//! 3. Read the MANIFEST (`version/set`).
//! 4. Read the logs that the MANIFEST still needs into memtables (`recovery`). If they hold little, the memtable becomes
//!    the active one (`recovery/kept_logs`).
//! 5. Begin a new log.
//! 6. Write a new MANIFEST, unless the one that was read is known to be durable. If it is another engine's, the memtables of
//!    step 4 become tables first. Remove what an earlier crash left behind (`db/finish_open`).
//! 7. Start the background, which flushes the other memtables of step 4.
//!
//! A read-only open takes only steps 3 and 4, without the lock and without writing: see
//! [`read_only`](super::read_only).

use std::path::Path;
use std::sync::Arc;

use terrace_env::{Env, FileLock};
use terrace_format::file_name::{self, FileKind};

use crate::db::assemble::{Parts, RecoveredWrites};
use crate::db::finish_open::FoundLogs;
use crate::db::inner::DbInner;
use crate::directory::HeldDirectory;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::refuse_foreign_layout;
use crate::info_log::InfoLog;
use crate::options::Options;
use crate::recovery::kept_logs;
use crate::recovery::log_replay::ReplayOptions;
use crate::recovery::lost_edits::check_last_edits;
use crate::recovery::needed_logs::{RecoveredNumbers, is_log_needed, missing_log, open_logs};
use crate::recovery::replay::replay;
use crate::recovery::synced_files::SyncedFiles;
use crate::version::VersionSet;

/// What a directory holds.
pub(super) enum Contents {
    Database,
    /// Files of a database, but no CURRENT to tell which of them count.
    Fragments(String),
    Nothing,
}

/// Opens the database in `directory` to read and write.
pub(super) fn open(directory: &Path, options: Options) -> Result<Arc<DbInner>> {
    let env = &options.env;
    let existed = env.exists(directory)?;
    let no_database = || {
        let message = "there is no database here, and create_if_missing is off";
        Error::at_path(ErrorKind::NoDatabase, directory, message)
    };
    if options.create_if_missing {
        env.create_directory_all(directory)?;
    } else if !existed {
        return Err(no_database());
    }
    // The directory is also examined before the lock, so that no LOCK file is left in a directory that holds no
    // database.
    if !options.create_if_missing {
        let names = env.list(directory)?;
        refuse_foreign_layout(&names, directory)?;
        if matches!(look_into(&names), Contents::Nothing) {
            return Err(no_database());
        }
    }
    let held = HeldDirectory::hold(directory, env)?;
    let (env, lock) = (&held.env, held.lock()?);
    // Listed once for all that need it: with ten thousand tables, listing takes longer than the rest.
    let names = env.list(directory)?;
    let contents = look_into(&names);
    refuse_foreign_layout(&names, directory)?;
    if let Contents::Fragments(name) = &contents
        && !was_never_finished(&**env, directory, &names)?
    {
        return Err(missing_current(directory, name));
    }
    if options.error_if_exists && matches!(contents, Contents::Database) {
        let message = "there is a database here already, and error_if_exists is on";
        return Err(Error::at_path(ErrorKind::AlreadyExists, directory, message));
    }
    let info_log = InfoLog::open(Arc::clone(env), directory);
    info_log.line(format_args!("Terrace {} opens {}", env!("CARGO_PKG_VERSION"), directory.display()));
    let (inner, found) = match contents {
        Contents::Database => recover(held, options, info_log, Some(lock), &names)?,
        _ => {
            if existed {
                sync_name(&*options.env, directory)?;
            }
            (create(held, options, info_log, lock)?, FoundLogs { are_foreign: true, stopped: Vec::new() })
        }
    };
    if found.are_foreign {
        // The file is about logs that are gone, whose numbers may be used again. It goes before a MANIFEST of ours gives
        // it a meaning.
        SyncedFiles::remove(&*inner.files.env, directory, &names)?;
    }
    inner.finish_open(&found, &names)?;
    if !found.are_foreign && names.iter().any(|name| name == file_name::FORMER_SYNCED) {
        inner.files.synced.lock().rename_former(&*inner.files.env, directory);
    }
    let mut background = inner.background.lock();
    inner.background.schedule(&mut background);
    drop(background);
    if inner.background.runs_in_steps() {
        // Sessions that are never closed leave logs and tables, too, and no thread takes them away.
        inner.flush_many_logs();
        inner.merge_small_tables();
    }
    let view = inner.published.super_version();
    if !view.sealed.is_empty() || view.version.files().next().is_some() {
        inner.background.watch_for_idleness();
    }
    Ok(inner)
}

/// Decides what a directory with these names holds.
pub(super) fn look_into(names: &[String]) -> Contents {
    if names.iter().any(|name| name == file_name::CURRENT) {
        return Contents::Database;
    }
    let fragment = names.iter().find(|name| {
        // A crash during the creation of a database may leave nothing but a MANIFEST.
        use FileKind::{LegacyTable, Log, Table};
        matches!(file_name::parse(name), Some(Log(_) | Table(_) | LegacyTable(_)))
    });
    fragment.cloned().map_or(Contents::Nothing, Contents::Fragments)
}

/// Whether the fragments in a directory without CURRENT are logs that never held anything, because a creation was
/// interrupted.
fn was_never_finished(env: &dyn Env, directory: &Path, names: &[String]) -> Result<bool> {
    for name in names {
        let holds_data = match file_name::parse(name) {
            Some(FileKind::Log(_)) => env.file_size(&directory.join(name))? > 0,
            Some(FileKind::Table(_) | FileKind::LegacyTable(_)) => true,
            _ => false,
        };
        if holds_data {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn missing_current(directory: &Path, fragment: &str) -> Error {
    let message = format!(
        "the file CURRENT is missing, but {fragment} of a database exists; restore CURRENT, or repair the database"
    );
    Error::at_path(ErrorKind::Corruption, &directory.join(file_name::CURRENT), message)
}

/// Makes the name of the existing `directory` durable. A process may have created the directory and died before its
/// name was durable.
fn sync_name(env: &dyn Env, directory: &Path) -> Result<()> {
    let above =
        directory.parent().map(|above| if above.as_os_str().is_empty() { Path::new(".") } else { above });
    match above.map(|above| env.sync_directory(above)) {
        // A process that may not read there did not create the directory.
        Some(Err(error)) if !error.is_read_only() => Err(error.into()),
        _ => Ok(()),
    }
}

/// Creates the log before the MANIFEST that names it and before CURRENT. [`finish_open`](DbInner::finish_open) writes both of
/// those.
fn create(
    directory: HeldDirectory,
    options: Options,
    info_log: InfoLog,
    lock: Box<dyn FileLock>,
) -> Result<Arc<DbInner>> {
    let parts = Parts::new(directory, options, info_log, Some(lock));
    let versions = VersionSet::create_new(parts.version_set_options(), Arc::clone(&parts.obsolete))?;
    parts.info_log.line(format_args!("created a new database"));
    parts.assemble(versions, RecoveredWrites::default())
}

/// Reads the MANIFEST and the logs among `names`, which were listed before. Also returns what
/// [`finish_open`](DbInner::finish_open) must know of the logs.
pub(super) fn recover(
    directory: HeldDirectory,
    options: Options,
    info_log: InfoLog,
    lock: Option<Box<dyn FileLock>>,
    names: &[String],
) -> Result<(Arc<DbInner>, FoundLogs)> {
    let parts = Parts::new(directory, options, info_log, lock);
    let HeldDirectory { path: directory, env, .. } = &parts.directory;
    let mut logs = open_logs(&**env, directory, names)?;
    // A reader beside a writer may find tables in the MANIFEST that were not there when it listed the names.
    let all_names = (!parts.options.read_only).then_some(names);
    let (versions, numbers) =
        VersionSet::recover(parts.version_set_options(), all_names, Arc::clone(&parts.obsolete))?;
    let missing_log = missing_log(&**env, directory, &numbers, &logs)?;
    check_last_edits(&**env, directory, names, &numbers, &logs)?;
    let RecoveredNumbers { log_number, previous_log_number, last_sequence, is_ours, .. } = numbers;
    logs.retain(|log| is_log_needed(log.number, log_number, previous_log_number));
    let mut log_numbers: Vec<u64> = logs.iter().map(|log| log.number).collect();
    for number in &log_numbers {
        versions.mark_file_number_used(*number);
    }
    // Another engine may have started over since, with the same numbers.
    let synced_files = if is_ours { SyncedFiles::read(&**env, directory) } else { SyncedFiles::default() };
    let replay_options = ReplayOptions {
        contiguous_sequences: is_ours,
        comparator: &parts.comparator,
        info_log: &parts.info_log,
        paranoid_checks: parts.options.paranoid_checks,
        writer_may_live: parts.options.read_only,
        write_buffer_size_bytes: parts.options.write_buffer_size_bytes,
        synced_files: &synced_files,
    };
    let may_keep = is_ours && !parts.options.read_only && kept_logs::hold_if_small(&mut logs)?;
    let recovered = replay(&replay_options, &logs, last_sequence)?;
    let kept = if may_keep { kept_logs::to_keep(&logs, &recovered, &synced_files) } else { Vec::new() };
    if is_ours && !parts.options.read_only {
        let needless = kept_logs::needless(&logs, &recovered, &kept, &synced_files);
        log_numbers.retain(|number| !needless.contains(number));
    }
    let stop = recovered.hole.as_ref().map(|hole| hole.number);
    let stopped =
        log_numbers.iter().copied().filter(|number| stop.is_some_and(|stop| *number >= stop)).collect();
    let found = FoundLogs { stopped, are_foreign: !is_ours };
    let writes = RecoveredWrites { logs: recovered, missing_log, log_numbers, synced_files, kept };
    Ok((parts.assemble(versions, writes)?, found))
}
