//! A database that is only read, perhaps beside a process that writes it.
//!
//! The reader takes no lock, so the writer replaces files while they are read: CURRENT leads to a MANIFEST that is
//! gone, the MANIFEST names tables that a compaction has replaced, or a close cuts a log to its size. None of that is
//! damage. A second attempt shows whether the first one failed because of such a change: damage is still there, in an
//! unchanged directory. A failure therefore counts only if it occurred twice while nothing changed ([`beside_writer`]).
//!
//! Once a state has been read, it is kept: its memtables are in memory, and its tables stay open, so the writer may
//! remove them. Only tables that cannot be mapped, beyond `max_open_files` of them, are opened when they are needed. If
//! one of these is gone by then, reads of the state in force automatically move on to the newest state. Snapshots, and
//! iterators that have shown an entry, fail with [`Outdated`](ErrorKind::Outdated).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use terrace_env::Env;
use terrace_format::file_name::{self, FileKind};

use crate::db::inner::DbInner;
use crate::db::open::{Contents, look_into, missing_current, recover};
use crate::directory::HeldDirectory;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::refuse_foreign_layout;
use crate::info_log::InfoLog;
use crate::options::Options;
use crate::read::super_version::SuperVersion;
use crate::version::recover::read_current;

/// The maximum number of attempts to read the state, or to move on, beside a writer that changes it each time.
pub(crate) const MOST_ATTEMPTS: u32 = 64;

/// If the same failure occurs this often in a row, changes did not cause it, even if they continue.
const MOST_ALIKE: u32 = 8;

const LONGEST_PAUSE: Duration = Duration::from_millis(32);

/// Opens the database in `directory` read-only.
pub(super) fn open(directory: &Path, options: Options) -> Result<Arc<DbInner>> {
    match HeldDirectory::hold_existing(directory, &options.env)? {
        Some(held) => open_at(&held, &options),
        None => Err(no_database(directory)),
    }
}

fn no_database(directory: &Path) -> Error {
    let message = "there is no database here, and a read-only open creates none";
    Error::at_path(ErrorKind::NoDatabase, directory, message)
}

fn open_at(held: &HeldDirectory, options: &Options) -> Result<Arc<DbInner>> {
    beside_writer(&*held.env, &held.path, || read_state(held, options.clone()))
}

fn read_state(held: &HeldDirectory, options: Options) -> Result<Arc<DbInner>> {
    let HeldDirectory { path: directory, env, .. } = held;
    let names = env.list(directory)?;
    refuse_foreign_layout(&names, directory)?;
    match look_into(&names) {
        Contents::Database => {}
        Contents::Fragments(name) => return Err(missing_current(directory, &name)),
        Contents::Nothing => return Err(no_database(directory)),
    }
    let info_log = InfoLog::none(Arc::clone(env));
    let (inner, _) = recover(held.clone(), options, info_log, None, &names)?;
    for (place, file) in inner.files.versions.current().files().enumerate() {
        match inner.files.tables.pin(file, place) {
            Err(error) if error.kind() == ErrorKind::Outdated => return Err(error),
            // The table is opened when it is read. That read fails if it must.
            Err(_) => break,
            Ok(()) => {}
        }
    }
    Ok(inner)
}

/// Calls `read` until it succeeds, or fails for a reason other than a writer that changes the directory.
fn beside_writer<T>(env: &dyn Env, directory: &Path, mut read: impl FnMut() -> Result<T>) -> Result<T> {
    let mut before = None;
    let mut alike = 0;
    let mut pause = Duration::from_millis(1);
    for _ in 0..MOST_ATTEMPTS {
        let error = match read() {
            Err(error) if may_be_of_a_change(error.kind()) => error,
            result => return result,
        };
        let found = (error.to_string(), listing(env, directory));
        let is_alike = before.as_ref().is_some_and(|(message, _)| *message == found.0);
        alike = if is_alike { alike + 1 } else { 1 };
        if alike == MOST_ALIKE || before.as_ref() == Some(&found) {
            return Err(error);
        }
        before = Some(found);
        env.sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    let last = before.map(|(message, _)| message).unwrap_or_default();
    let message = format!(
        "the database was changed during each of {MOST_ATTEMPTS} attempts to read its state; try again ({last})"
    );
    Err(Error::at_path(ErrorKind::Outdated, directory, message))
}

/// Whether an error of this kind may only mean that files were replaced meanwhile.
fn may_be_of_a_change(kind: ErrorKind) -> bool {
    use ErrorKind::{Corruption, Io, Outdated, Unsupported};
    matches!(kind, Corruption | Io | Outdated | Unsupported)
}

/// The things that change with the database.
#[derive(PartialEq, Eq)]
struct Listing {
    current: Option<Vec<u8>>,
    /// The names of its files, with the sizes of those that grow or are cut.
    files: Vec<(String, Option<u64>)>,
}

fn listing(env: &dyn Env, directory: &Path) -> Listing {
    let mut files: Vec<_> = env.list(directory).unwrap_or_default();
    files.sort();
    let sized = files.into_iter().filter_map(|name| {
        use FileKind::{LegacyTable, Log, Manifest, Table};
        match file_name::parse(&name)? {
            Log(_) | Manifest(_) => {
                let size_bytes = env.file_size(&directory.join(&name)).ok();
                Some((name, size_bytes))
            }
            Table(_) | LegacyTable(_) => Some((name, None)),
            _ => None,
        }
    });
    Listing { current: read_current(env, directory).ok(), files: sized.collect() }
}

impl DbInner {
    /// See [`Db::refresh`](crate::Db::refresh).
    pub(crate) fn refresh(&self) -> Result<()> {
        self.health.check_open()?;
        if !self.options.read_only {
            return Ok(());
        }
        // Nothing writes, so the token only makes refreshes run one at a time, and makes a close wait for them.
        let _token = self.writer.queue.take_token();
        self.show_newest()
    }

    /// Replaces `outdated`, a state in force with a missing table, unless another reader has already replaced it.
    #[cold]
    pub(crate) fn move_on(&self, outdated: &Arc<SuperVersion>) -> Result<()> {
        let _token = self.writer.queue.take_token();
        if !Arc::ptr_eq(&self.published.super_version(), outdated) {
            return Ok(());
        }
        self.show_newest()
    }

    /// Shows readers the newest state. The caller holds the commit token.
    fn show_newest(&self) -> Result<()> {
        self.health.check_open()?;
        let options = Options { block_cache: self.block_cache.clone(), ..self.options.clone() };
        let hold = self.published.super_version().hold.clone();
        let (path, env) = (self.files.directory.clone(), Arc::clone(&self.files.env));
        let newest = open_at(&HeldDirectory { path, env, hold }, &options)?;
        self.files.tables.take_over(&newest.files.tables);
        self.files.versions.adopt(&newest.files.versions);
        let view = Arc::clone(&newest.published.super_version());
        self.published.replace(view, newest.published.visible_sequence());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use terrace_env::MemoryEnv;

    use super::*;

    fn corruption(message: &str) -> Error {
        Error::new(ErrorKind::Corruption, message)
    }

    #[test]
    fn a_failure_counts_once_it_came_twice_while_nothing_changed() {
        let env = MemoryEnv::new();
        let mut calls = 0;
        let result: Result<()> = beside_writer(&env, Path::new("/db"), || {
            calls += 1;
            Err(corruption("still there"))
        });
        assert_eq!((result.unwrap_err().kind(), calls), (ErrorKind::Corruption, 2));
    }

    #[test]
    fn a_refusal_that_no_change_explains_counts_at_once() {
        let mut calls = 0;
        let result: Result<()> = beside_writer(&MemoryEnv::new(), Path::new("/db"), || {
            calls += 1;
            Err(Error::new(ErrorKind::InvalidArgument, "another comparator"))
        });
        assert_eq!((result.unwrap_err().kind(), calls), (ErrorKind::InvalidArgument, 1));
    }

    #[test]
    fn failures_that_differ_are_a_writers_doing_and_their_number_is_bounded() {
        let mut calls = 0;
        let result: Result<()> = beside_writer(&MemoryEnv::new(), Path::new("/db"), || {
            calls += 1;
            Err(corruption(&format!("table {calls} is missing")))
        });
        let error = result.unwrap_err();
        assert_eq!((error.kind(), calls), (ErrorKind::Outdated, MOST_ATTEMPTS));
        assert!(error.to_string().contains("try again (table 64 is missing)"), "{error}");
    }

    #[test]
    fn a_damage_that_stays_is_told_though_the_writer_goes_on() {
        let env = MemoryEnv::new();
        env.create_directory_all(Path::new("/db")).unwrap();
        let mut calls = 0;
        let result: Result<()> = beside_writer(&env, Path::new("/db"), || {
            calls += 1;
            env.create(&Path::new("/db").join(file_name::table_name(calls))).unwrap();
            Err(corruption("still there"))
        });
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corruption);
        assert_eq!(calls, u64::from(MOST_ALIKE));
    }
}
