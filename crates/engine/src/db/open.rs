//! Opening. Steps of a writable open:
//!
//! 1. Lock the folder. 2. Look what is in it; create a database if there is none and that is wanted. 3. Read the
//!    MANIFEST (`version/set`). 4. Read the logs it still needs into memtables (`recovery`). 5. Begin a new log.
//! 6. Remove what an earlier crash left behind. 7. Start the background, which flushes what step 4 read.
//!
//! A read-only open does 3 and 4 only, without the lock and without writing. A running writer may replace files
//! meanwhile; then the open begins again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::{Condvar, Mutex};
use terrace_env::{FileLock, LockError, ProcessMark};
use terrace_format::compression::Dialect;
use terrace_format::file_name::{self, FileKind};
use terrace_format::internal_key::InternalKeyComparator;
use terrace_format::version_edit::VersionEdit;

use crate::cache::block_cache::BlockCache;
use crate::cache::table_cache::TableCache;
use crate::compaction::picker::CompactPointers;
use crate::compaction::pool::BackgroundPool;
use crate::compaction::scheduler::BackgroundState;
use crate::compaction::throttle::{Pressure, Throttle};
use crate::db::inner::DbInner;
use crate::error::{Error, ErrorKind, Result};
use crate::info_log::InfoLog;
use crate::memtable::MemTable;
use crate::options::Options;
use crate::read::snapshot::SnapshotList;
use crate::read::super_version::{Published, SealedMemTable, SuperVersion};
use crate::recovery::{RecoveredLogs, Replay, check_first_log, is_log_needed, open_logs};
use crate::repair::{LOST_FOLDER, link_to_folder};
use crate::table::TableReadContext;
use crate::version::recover::fingerprint;
use crate::version::{ObsoleteFiles, RecoveredNumbers, VersionSet, VersionSetOptions};
use crate::wal::writer::{OutgoingLog, WalWriter};
use crate::write::commit::CommitState;
use crate::write::line::CommitLine;
use crate::write::submit_queue::SubmitQueue;

/// How often a read-only open begins again when a running writer replaces files under it.
const READ_ONLY_ATTEMPTS: usize = 20;

/// What a folder holds.
enum Contents {
    Database,
    /// Files of a database, but no CURRENT that says which of them count.
    Fragments(String),
    Nothing,
}

/// Opens the database in `folder`.
pub(crate) fn open(folder: &Path, options: Options) -> Result<Arc<DbInner>> {
    if !options.read_only {
        return open_writable(folder, options);
    }
    let mut attempt = 1;
    loop {
        let before = fingerprint(&*options.env, folder);
        match open_read_only(folder, options.clone()) {
            // A running writer may have replaced or removed what was just named.
            Err(_) if attempt < READ_ONLY_ATTEMPTS && fingerprint(&*options.env, folder) != before => {
                attempt += 1;
            }
            result => return result,
        }
    }
}

fn open_writable(folder: &Path, options: Options) -> Result<Arc<DbInner>> {
    let env = Arc::clone(&options.env);
    let no_database = || {
        let message = "there is no database here, and create_if_missing is off";
        Error::at_path(ErrorKind::NoDatabase, folder, message)
    };
    if options.create_if_missing {
        env.create_folder_all(folder)?;
    } else if !env.exists(folder)? {
        return Err(no_database());
    }
    // Looked at before the lock as well: a folder that is no database is left without a LOCK file in it.
    if !options.create_if_missing && matches!(look_into(&env.list(folder)?), Contents::Nothing) {
        return Err(no_database());
    }
    let lock = env.lock(&folder.join(file_name::LOCK)).map_err(|error| lock_error(folder, error))?;
    // Once for all that need it: with ten thousand tables a list takes longer than the rest.
    let names = env.list(folder)?;
    let contents = look_into(&names);
    refuse_foreign_layout(&names, folder)?;
    if let Contents::Fragments(name) = &contents {
        return Err(missing_current(folder, name));
    }
    if options.error_if_exists && matches!(contents, Contents::Database) {
        let message = "there is a database here already, and error_if_exists is on";
        return Err(Error::at_path(ErrorKind::AlreadyExists, folder, message));
    }
    let info_log = InfoLog::open(Arc::clone(&env), folder);
    info_log.line(format_args!("Terrace {} opens {}", env!("CARGO_PKG_VERSION"), folder.display()));
    let (inner, stopped) = match contents {
        Contents::Database => recover(folder, options, info_log, Some(lock), &names)?,
        _ => (create(folder, options, info_log, lock)?, Vec::new()),
    };
    settle_recovery(&inner, &stopped)?;
    remove_orphans(&inner, &names)?;
    let mut background = inner.background.lock();
    inner.schedule(&mut background);
    drop(background);
    inner.watch_for_idleness();
    Ok(inner)
}

fn open_read_only(folder: &Path, options: Options) -> Result<Arc<DbInner>> {
    let env = Arc::clone(&options.env);
    let names = if env.exists(folder)? { env.list(folder)? } else { Vec::new() };
    match look_into(&names) {
        Contents::Database => {}
        Contents::Fragments(name) => return Err(missing_current(folder, &name)),
        Contents::Nothing => {
            let message = "there is no database here, and a read-only open creates none";
            return Err(Error::at_path(ErrorKind::NoDatabase, folder, message));
        }
    }
    refuse_foreign_layout(&names, folder)?;
    let (inner, _) = recover(folder, options, InfoLog::none(env), None, &names)?;
    // An open file stays readable when a running writer removes it.
    let files: Vec<_> = inner.versions.current().levels.iter().flatten().cloned().collect();
    for file in files.iter().take(inner.options.max_open_files) {
        inner.tables.table(file)?;
    }
    Ok(inner)
}

/// What a folder of these names is.
fn look_into(names: &[String]) -> Contents {
    if names.iter().any(|name| name == file_name::CURRENT) {
        return Contents::Database;
    }
    let fragment = names.iter().find(|name| {
        // A MANIFEST alone is what a crash during the creation of a database leaves.
        use FileKind::{LegacyTable, Log, Table};
        matches!(file_name::parse(name), Some(Log(_) | Table(_) | LegacyTable(_)))
    });
    fragment.cloned().map_or(Contents::Nothing, Contents::Fragments)
}

fn missing_current(folder: &Path, fragment: &str) -> Error {
    let message = format!(
        "the file CURRENT is missing beside {fragment}: this was a database; repair it instead of creating a new one"
    );
    Error::at_path(ErrorKind::Corruption, &folder.join(file_name::CURRENT), message)
}

/// Basho's fork keeps its levels in folders `sst_0` to `sst_6`, and its filters and compression ids mean other
/// things under the same names.
pub(crate) fn refuse_foreign_layout(names: &[String], folder: &Path) -> Result<()> {
    if names.iter().any(|name| name == "sst_0") {
        let message = "this database was written by Basho's fork of LevelDB (it has folders sst_0, …), which is \
                       not readable here";
        return Err(Error::at_path(ErrorKind::Unsupported, folder, message));
    }
    Ok(())
}

/// The error for a folder whose lock could not be had.
pub(crate) fn lock_error(folder: &Path, error: LockError) -> Error {
    match error {
        LockError::Held { this_process: true, .. } => {
            Error::at_path(ErrorKind::Locked, folder, "the database is open already in this process")
        }
        LockError::Held { holder: Some(pid), .. } => {
            Error::at_path(ErrorKind::Locked, folder, format!("the database is in use by process {pid}"))
        }
        LockError::Held { .. } => {
            Error::at_path(ErrorKind::Locked, folder, "the database is in use by another process")
        }
        LockError::Env(error) => error.into(),
    }
}

/// The parts that both ways of opening make first.
struct Parts {
    folder: PathBuf,
    options: Options,
    comparator: InternalKeyComparator,
    block_cache: Option<Arc<BlockCache>>,
    tables: Arc<TableCache>,
    obsolete: Arc<ObsoleteFiles>,
    info_log: InfoLog,
    lock: Option<Box<dyn FileLock>>,
}

impl Parts {
    fn new(folder: &Path, options: Options, info_log: InfoLog, lock: Option<Box<dyn FileLock>>) -> Self {
        let comparator = InternalKeyComparator::new(options.comparator.clone());
        let block_cache = match &options.block_cache {
            Some(shared) => Some(Arc::clone(shared)),
            None if options.block_cache_size_bytes == 0 => None,
            None => Some(Arc::new(BlockCache::new(options.block_cache_size_bytes))),
        };
        let context = Arc::new(TableReadContext {
            comparator: comparator.clone(),
            block_cache: block_cache.clone(),
            dialect: Dialect::LevelDb,
            use_filters: true,
            filter_policy: options.filter_policy.clone(),
            map_files: options.map_tables,
        });
        let env = Arc::clone(&options.env);
        let tables = Arc::new(TableCache::new(env, folder.to_owned(), options.max_open_files, context));
        let obsolete = Arc::new(ObsoleteFiles::new());
        Self { folder: folder.to_owned(), options, comparator, block_cache, tables, obsolete, info_log, lock }
    }

    fn version_set_options(&self) -> VersionSetOptions {
        VersionSetOptions {
            env: Arc::clone(&self.options.env),
            folder: self.folder.clone(),
            comparator: self.comparator.clone(),
            manifest_size_limit_bytes: self.options.manifest_size_limit_bytes,
            read_only: self.options.read_only,
        }
    }

    fn finish(self, versions: VersionSet, recovered: RecoveredLogs, logs: Vec<u64>) -> Result<Arc<DbInner>> {
        let Self { folder, options, comparator, block_cache, tables, obsolete, info_log, lock } = self;
        let env = Arc::clone(&options.env);
        let mut logs = logs;
        let found = |number| OutgoingLog::Found { number, path: folder.join(file_name::log_name(number)) };
        let outgoing = logs.iter().copied().map(found).collect();
        let mut wal = None;
        let active = Arc::new(MemTable::new(comparator.clone()));
        let mut sealed = Vec::new();
        if options.read_only {
            // Nothing is flushed: the memtables serve as they are.
            for memtable in recovered.memtables {
                let last_sequence = memtable.last_sequence;
                let table = memtable.table;
                sealed.insert(0, SealedMemTable { table, file_number: 0, next_log_number: 0, last_sequence });
            }
        } else {
            let filled = recovered.memtables.into_iter().filter(|memtable| !memtable.table.is_empty());
            let filled: Vec<_> = filled.map(|memtable| (versions.new_file_number(), memtable)).collect();
            let number = versions.new_file_number();
            let path = folder.join(file_name::log_name(number));
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
            None => Some(Arc::new(BackgroundPool::new(Arc::clone(&env), options.compaction_threads))),
        };
        let view = SuperVersion {
            active: Arc::clone(&active),
            sealed: sealed.into_iter().map(Arc::new).collect(),
            version: versions.current(),
        };
        let mut throttle = Throttle::new();
        throttle.set_pressure(Pressure { level0_files: view.version.levels[0].len(), room_bytes: None });
        let commit = CommitState {
            wal,
            outgoing,
            memtable: active,
            last_sequence: recovered.last_sequence,
            throttle,
            buffer: Default::default(),
        };
        let background = BackgroundState {
            logs,
            pointers: CompactPointers::from_stored(versions.compact_pointers()),
            ..BackgroundState::default()
        };
        Ok(Arc::new(DbInner {
            folder,
            process: ProcessMark::here(),
            env,
            comparator,
            block_cache,
            tables,
            versions,
            obsolete,
            snapshots: SnapshotList::new(),
            seek_forecast: Arc::default(),
            published: Published::new(view, recovered.last_sequence),
            line: CommitLine::new(commit),
            submissions: SubmitQueue::new(),
            background: Mutex::new(background),
            progress: Condvar::new(),
            pool,
            info_log,
            file_lock: Mutex::new(lock),
            close_begun: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            background_ends: AtomicBool::new(false),
            poisoned: AtomicBool::new(false),
            failure: Mutex::new(None),
            idle_check_armed: AtomicBool::new(false),
            options,
        }))
    }
}

fn create(
    folder: &Path,
    options: Options,
    info_log: InfoLog,
    lock: Box<dyn FileLock>,
) -> Result<Arc<DbInner>> {
    let parts = Parts::new(folder, options, info_log, Some(lock));
    // The folders may be there and yet not durable: made by a process that died before it synced them.
    for above in folder.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
        parts.options.env.sync_folder(above)?;
    }
    let versions = VersionSet::create_new(parts.version_set_options(), Arc::clone(&parts.obsolete))?;
    parts.info_log.line(format_args!("created a new database"));
    parts.finish(
        versions,
        RecoveredLogs { memtables: Vec::new(), last_sequence: 0, stopped_in_log: None },
        Vec::new(),
    )
}

/// Reads the MANIFEST and the logs among `names`, which were listed before. Returns also the logs that do not count, or not whole, because of a hole.
fn recover(
    folder: &Path,
    options: Options,
    info_log: InfoLog,
    lock: Option<Box<dyn FileLock>>,
    names: &[String],
) -> Result<(Arc<DbInner>, Vec<u64>)> {
    let parts = Parts::new(folder, options, info_log, lock);
    let mut logs = open_logs(&*parts.options.env, folder, names)?;
    let (versions, numbers) = VersionSet::recover(parts.version_set_options(), Arc::clone(&parts.obsolete))?;
    check_first_log(folder, &numbers, &logs)?;
    let RecoveredNumbers { log_number, previous_log_number, last_sequence, is_ours, .. } = numbers;
    logs.retain(|log| is_log_needed(log.number, log_number, previous_log_number));
    let log_numbers: Vec<u64> = logs.iter().map(|log| log.number).collect();
    for number in &log_numbers {
        versions.mark_file_number_used(*number);
    }
    let replay = Replay {
        env: &*parts.options.env,
        contiguous_sequences: is_ours,
        comparator: &parts.comparator,
        info_log: &parts.info_log,
        paranoid_checks: parts.options.paranoid_checks,
        writer_may_live: parts.options.read_only,
        write_buffer_size_bytes: parts.options.write_buffer_size_bytes,
    };
    let recovered = replay.run(logs, last_sequence)?;
    let stop = recovered.stopped_in_log;
    let stopped =
        log_numbers.iter().copied().filter(|number| stop.is_some_and(|stop| *number >= stop)).collect();
    Ok((parts.finish(versions, recovered, log_numbers)?, stopped))
}

/// Makes what was recovered durable, before anything that the disk might still need is removed. If recovery stopped at
/// a hole, the logs from there on (`stopped`) are set aside, and must never count again: new writes take the sequences
/// of those behind the hole.
fn settle_recovery(inner: &Arc<DbInner>, stopped: &[u64]) -> Result<()> {
    if stopped.is_empty() {
        // The logs below the oldest that is there are gone, and the MANIFEST should need none of them.
        let oldest = inner.background.lock().logs.iter().copied().min();
        return inner.versions.renew(oldest);
    }
    let lost = inner.folder.join(LOST_FOLDER);
    inner.env.create_folder_all(&lost)?;
    for number in stopped {
        let name = file_name::log_name(*number);
        link_to_folder(&*inner.env, &inner.folder.join(&name), &lost, &name)?;
    }
    inner.env.sync_folder(&lost)?;
    while let Some(oldest) = inner.published.super_version().sealed.last().cloned() {
        inner.flush_sealed(&oldest)?;
    }
    let newest = inner.background.lock().logs.iter().copied().max();
    let edit = VersionEdit { log_number: newest, ..VersionEdit::default() };
    inner.record(edit, &[])?;
    inner.background.lock().logs.retain(|number| Some(*number) == newest);
    Ok(())
}

/// Removes those of `names`, the files of before the open, that are a database's and that nothing refers to: what a crash
/// left behind.
fn remove_orphans(inner: &DbInner, names: &[String]) -> Result<()> {
    let version = inner.versions.current();
    let live: std::collections::HashSet<u64> =
        version.levels.iter().flatten().map(|file| file.number).collect();
    let logs = inner.background.lock().logs.clone();
    let mut removed_data = false;
    for name in names {
        let Some(kind) = file_name::parse(name) else { continue };
        let is_orphan = match kind {
            FileKind::Table(number) | FileKind::LegacyTable(number) => !live.contains(&number),
            FileKind::Log(number) => !logs.contains(&number),
            FileKind::Manifest(number) => number != inner.versions.manifest_number(),
            FileKind::Temporary(_) => true,
            FileKind::Current | FileKind::Lock | FileKind::InfoLog | FileKind::OldInfoLog => false,
        };
        if is_orphan {
            inner.info_log.line(format_args!("removes {name}, which nothing refers to"));
            // An orphan that cannot be removed takes up space and does no harm.
            let _ = inner.env.remove_file(&inner.folder.join(name));
            removed_data |= !matches!(kind, FileKind::Manifest(_) | FileKind::Temporary(_));
        }
    }
    if removed_data {
        // Its sequences go to the next writes: after a loss of power a repair must not find it again.
        inner.env.sync_folder(&inner.folder)?;
    }
    Ok(())
}
