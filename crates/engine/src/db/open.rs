//! Opens a database. A writable open takes these steps:
//!
//! 1. Lock the directory.
//! 2. Look at what is in it. Create a database if there is none and the options allow that.
//! 3. Read the MANIFEST (`version/set`).
//! 4. Read the logs that the MANIFEST still needs into memtables (`recovery`). If they hold little, the memtable becomes
//!    the active one (`recovery/kept_logs`).
//! 5. Begin a new log.
//! 6. Write a new MANIFEST, unless the one that was read is known to be durable. If it is another engine's, the memtables of
//!    step 4 become tables first. Remove what an earlier crash left behind (`db/settle`).
//! 7. Start the background, which flushes the other memtables of step 4.
//!
//! A read-only open takes only steps 3 and 4, without the lock and without writing: see
//! [`read_only`](super::read_only).

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::time::Duration;

use terrace_env::locks::Mutex;
use terrace_env::{Env, FileLock, LockError};
use terrace_format::compression::CompressionIds;
use terrace_format::file_name::{self, FileKind};
use terrace_format::internal_key::InternalKeyComparator;

use crate::background::scheduler::{Background, BackgroundParts, Jobs};
use crate::background::state::BackgroundState;
use crate::cache::block_cache::BlockCache;
use crate::cache::table_cache::TableCache;
use crate::cache::working_set::WorkingSet;
use crate::compaction::job::Compactor;
use crate::compaction::picker::CompactPointers;
use crate::db::home::Home;
use crate::db::inner::DbInner;
use crate::db::settle::FoundLogs;
use crate::error::{Error, ErrorKind, Result};
use crate::files::Files;
use crate::foreign::refuse_foreign_layout;
use crate::health::Health;
use crate::info_log::InfoLog;
use crate::memtable::MemTable;
use crate::options::Options;
use crate::process_pool;
use crate::read::published::Published;
use crate::read::super_version::{SealedMemTable, SuperVersion};
use crate::recovery::kept_logs::{self, KeptLog};
use crate::recovery::left_out::LeftOutLog;
use crate::recovery::lost_edits::check_last_edits;
use crate::recovery::needed_logs::{RecoveredNumbers, is_log_needed, missing_log, open_logs};
use crate::recovery::replay::{RecoveredLogs, Replay};
use crate::recovery::synced_files::SyncedFiles;
use crate::table::{TableBuilderOptions, TableReadContext};
use crate::version::{ObsoleteFiles, VersionSet, VersionSetOptions};
use crate::wal::writer::WalWriter;
use crate::write::line::CommitLine;
use crate::write::submit::Submissions;
use crate::write::throttle::{Pressure, STOP_FILES, STOP_FILES_IN_STEPS, Throttle};
use crate::write::writer::{CommitState, Writer};

/// What a directory holds.
pub(super) enum Contents {
    Database,
    /// Files of a database, but no CURRENT that says which of them count.
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
    let home = Home::hold(directory, env)?;
    let env = &home.env;
    let lock = env.lock(&directory.join(file_name::LOCK)).map_err(|error| lock_error(directory, error))?;
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
        Contents::Database => recover(home, options, info_log, Some(lock), &names)?,
        _ => {
            if existed {
                sync_name(&*options.env, directory)?;
            }
            (create(home, options, info_log, lock)?, FoundLogs { are_foreign: true, stopped: Vec::new() })
        }
    };
    if found.are_foreign {
        // The file is about logs that are gone, whose numbers may be used again. It goes before a MANIFEST of ours gives
        // it a meaning.
        SyncedFiles::remove(&*inner.files.env, directory, &names)?;
    }
    inner.settle(&found, &names)?;
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
        "the file CURRENT is missing beside {fragment}: this was a database; repair it instead of creating a new one"
    );
    Error::at_path(ErrorKind::Corruption, &directory.join(file_name::CURRENT), message)
}

/// The error for a directory whose lock could not be acquired.
pub(crate) fn lock_error(directory: &Path, error: LockError) -> Error {
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

/// The parts that both ways of opening create first.
struct Parts {
    home: Home,
    options: Options,
    comparator: InternalKeyComparator,
    block_cache: Option<Arc<BlockCache>>,
    tables: Arc<TableCache>,
    obsolete: Arc<ObsoleteFiles>,
    info_log: Arc<InfoLog>,
    lock: Option<Box<dyn FileLock>>,
}

impl Parts {
    fn new(home: Home, options: Options, info_log: InfoLog, lock: Option<Box<dyn FileLock>>) -> Self {
        let comparator = InternalKeyComparator::new(options.comparator.clone());
        let block_cache = match &options.block_cache {
            Some(shared) => Some(Arc::clone(shared)),
            None if options.block_cache_size_bytes == 0 => None,
            None => Some(Arc::new(BlockCache::new(options.block_cache_size_bytes))),
        };
        let context = Arc::new(TableReadContext {
            comparator: comparator.clone(),
            block_cache: block_cache.clone(),
            compression_ids: CompressionIds::LevelDb,
            use_filters: true,
            filter_policy: options.filter_policy.clone(),
            map_files: options.map_tables,
            fit: WorkingSet::new(Arc::clone(&home.env)),
        });
        let env = Arc::clone(&home.env);
        let tables = TableCache::new(env, home.directory.clone(), options.max_open_files, context);
        let tables = Arc::new(if options.read_only { tables.beside_writer() } else { tables });
        let obsolete = Arc::new(ObsoleteFiles::new());
        let info_log = Arc::new(info_log);
        Self { home, options, comparator, block_cache, tables, obsolete, info_log, lock }
    }

    fn version_set_options(&self) -> VersionSetOptions {
        VersionSetOptions {
            env: Arc::clone(&self.home.env),
            directory: self.home.directory.clone(),
            comparator: self.comparator.clone(),
            manifest_size_limit_bytes: self.options.manifest_size_limit_bytes,
            read_only: self.options.read_only,
        }
    }

    fn finish(
        self,
        versions: VersionSet,
        recovered: RecoveredLogs,
        missing_log: Option<LeftOutLog>,
        logs: Vec<u64>,
        synced_files: SyncedFiles,
        kept: Vec<KeptLog>,
    ) -> Result<Arc<DbInner>> {
        let Self { home, options, comparator, block_cache, tables, obsolete, info_log, lock } = self;
        let Home { directory, env, hold } = home;
        let hole = recovered.hole.map(LeftOutLog::from);
        let left_out = missing_log.into_iter().chain(recovered.missing_ends).chain(hole).collect();
        let mut logs = logs;
        let mut wal = None;
        let mut recovered_memtables = recovered.memtables;
        let active = match recovered_memtables.pop_if(|_| !kept.is_empty()) {
            Some(kept) => kept.table,
            None => Arc::new(MemTable::new(comparator.clone())),
        };
        let mut sealed = Vec::new();
        if options.read_only {
            // Nothing is flushed: the memtables are used as they are.
            for memtable in recovered_memtables {
                let last_sequence = memtable.last_sequence;
                let table = memtable.table;
                sealed.insert(0, SealedMemTable { table, file_number: 0, next_log_number: 0, last_sequence });
            }
        } else {
            let filled = recovered_memtables.into_iter().filter(|memtable| !memtable.table.is_empty());
            let filled: Vec<_> = filled.map(|memtable| (versions.new_flush_number(), memtable)).collect();
            let number = versions.new_file_number();
            let path = directory.join(file_name::log_name(number));
            wal = Some(WalWriter::create(&*env, path, number, options.map_log)?);
            logs.push(number);
            for (file_number, memtable) in filled {
                sealed.insert(
                    0,
                    SealedMemTable {
                        table: memtable.table,
                        file_number,
                        next_log_number: memtable.next_log_number.unwrap_or(number),
                        last_sequence: memtable.last_sequence,
                    },
                );
            }
        }
        let pool = match &options.background_pool {
            _ if options.read_only => None,
            Some(shared) => Some(Arc::clone(shared)),
            None => Some(process_pool::of_process(&options.env, options.compaction_threads)),
        };
        let view = SuperVersion {
            active: Arc::clone(&active),
            sealed: sealed.into_iter().map(Arc::new).collect(),
            version: versions.current(),
            hold,
        };
        // Before anything is read: a table is opened in the way in which it will be read.
        tables.fit().look(|| view.version.size_bytes());
        let mut throttle = Throttle::new();
        throttle.set_pressure(Pressure { level0_files: view.version.levels[0].len(), room_bytes: None });
        let commit = CommitState {
            wal,
            outgoing: Vec::new(),
            kept,
            recovered: view.sealed.first().filter(|_| !options.read_only).map(|newest| newest.file_number),
            memtable: active,
            last_sequence: recovered.last_sequence,
            throttle,
            buffer: Default::default(),
        };
        let state = BackgroundState {
            logs,
            pointers: CompactPointers::from_stored(versions.compact_pointers()),
            ..BackgroundState::default()
        };
        let published = Arc::new(Published::new(view, recovered.last_sequence));
        let health = Arc::new(Health::new(directory.clone(), options.read_only, Arc::clone(&info_log)));
        let table_options = TableBuilderOptions::of(&options);
        let files = Arc::new(Files {
            directory,
            env,
            comparator,
            table_options,
            dialect: options.dialect.decided(),
            tables,
            versions,
            obsolete,
            synced: Mutex::new(synced_files),
            info_log,
        });
        let compactor = Arc::new(Compactor {
            files: Arc::clone(&files),
            published: Arc::clone(&published),
            pool: pool.clone(),
            max_file_size_bytes: options.max_file_size_bytes,
            gives_up: AtomicBool::new(false),
        });
        let in_steps = pool.as_ref().is_some_and(|pool| pool.needs_steps());
        let stop_files = if in_steps { STOP_FILES_IN_STEPS } else { STOP_FILES };
        // The background runs the jobs of the database that owns it.
        Ok(Arc::new_cyclic(|inner: &Weak<DbInner>| {
            let jobs: Weak<dyn Jobs> = inner.clone();
            let parts = BackgroundParts {
                pool: pool.clone(),
                jobs,
                health: Arc::clone(&health),
                published: Arc::clone(&published),
                info_log: Arc::clone(&files.info_log),
                env: Arc::clone(&files.env),
                compaction_threads: options.compaction_threads.max(1),
                idle_after: Duration::from_millis(options.idle_after_ms.max(1)),
            };
            let background = Background::new(state, parts);
            let writer = Arc::new(Writer {
                line: CommitLine::new(commit),
                files: Arc::clone(&files),
                health: Arc::clone(&health),
                published: Arc::clone(&published),
                backlog: Arc::clone(&background),
                write_buffer_size_bytes: options.write_buffer_size_bytes,
                max_sealed_memtables: options.max_sealed_memtables.max(1),
                stop_files,
                map_log: options.map_log,
            });
            DbInner {
                health,
                files,
                block_cache,
                published,
                seek_forecast: Arc::default(),
                submissions: Submissions::new(Arc::clone(&writer), pool),
                writer,
                background,
                compactor,
                left_out,
                file_lock: Mutex::new(lock),
                options,
            }
        }))
    }
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

/// Creates the log before the MANIFEST that names it and before CURRENT. [`settle`](DbInner::settle) writes both of
/// those.
fn create(home: Home, options: Options, info_log: InfoLog, lock: Box<dyn FileLock>) -> Result<Arc<DbInner>> {
    let parts = Parts::new(home, options, info_log, Some(lock));
    let versions = VersionSet::create_new(parts.version_set_options(), Arc::clone(&parts.obsolete))?;
    parts.info_log.line(format_args!("created a new database"));
    parts.finish(versions, RecoveredLogs::default(), None, Vec::new(), SyncedFiles::default(), Vec::new())
}

/// Reads the MANIFEST and the logs among `names`, which were listed before. Also returns what [`settle`](DbInner::settle)
/// must know of the logs.
pub(super) fn recover(
    home: Home,
    options: Options,
    info_log: InfoLog,
    lock: Option<Box<dyn FileLock>>,
    names: &[String],
) -> Result<(Arc<DbInner>, FoundLogs)> {
    let parts = Parts::new(home, options, info_log, lock);
    let Home { directory, env, .. } = &parts.home;
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
    let replay = Replay {
        contiguous_sequences: is_ours,
        comparator: &parts.comparator,
        info_log: &parts.info_log,
        paranoid_checks: parts.options.paranoid_checks,
        writer_may_live: parts.options.read_only,
        write_buffer_size_bytes: parts.options.write_buffer_size_bytes,
        synced_files: &synced_files,
    };
    let may_keep = is_ours && !parts.options.read_only && kept_logs::hold_if_small(&mut logs)?;
    let recovered = replay.run(&logs, last_sequence)?;
    let kept = if may_keep { kept_logs::to_keep(&logs, &recovered, &synced_files) } else { Vec::new() };
    if is_ours && !parts.options.read_only {
        let needless = kept_logs::needless(&logs, &recovered, &kept, &synced_files);
        log_numbers.retain(|number| !needless.contains(number));
    }
    let stop = recovered.hole.as_ref().map(|hole| hole.number);
    let stopped =
        log_numbers.iter().copied().filter(|number| stop.is_some_and(|stop| *number >= stop)).collect();
    let found = FoundLogs { stopped, are_foreign: !is_ours };
    Ok((parts.finish(versions, recovered, missing_log, log_numbers, synced_files, kept)?, found))
}
