//! Puts together the parts of a database that is being opened. Predecessor: `db/open`. Successors: [`DbInner`] and its parts.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::time::Duration;

use terrace_env::FileLock;
use terrace_env::locks::Mutex;
use terrace_format::compression::CompressionIds;
use terrace_format::internal_key::InternalKeyComparator;

use crate::background::scheduler::{Background, BackgroundParts, Jobs};
use crate::background::state::BackgroundState;
use crate::cache::block_cache::BlockCache;
use crate::cache::working_set::WorkingSet;
use crate::compaction::job::Compactor;
use crate::compaction::picker::CompactPointers;
use crate::db::first_memtables::FirstMemTables;
use crate::db::inner::DbInner;
use crate::directory::HeldDirectory;
use crate::error::Result;
use crate::files::Files;
use crate::health::Health;
use crate::info_log::InfoLog;
use crate::options::Options;
use crate::pool::BackgroundPool;
use crate::process_pool;
use crate::read::published::Published;
use crate::read::super_version::SuperVersion;
use crate::recovery::kept_logs::KeptLog;
use crate::recovery::left_out::LeftOutLog;
use crate::recovery::recovered_logs::RecoveredLogs;
use crate::recovery::synced_files::SyncedFiles;
use crate::table::TableReadContext;
use crate::version::table_cache::TableCache;
use crate::version::{ObsoleteFiles, VersionSet, VersionSetOptions};
use crate::write::commit_queue::CommitQueue;
use crate::write::submit::Submissions;
use crate::write::throttle::{Pressure, STOP_FILES, STOP_FILES_IN_STEPS, Throttle};
use crate::write::writer::{CommitState, Writer};

/// The parts that both ways of opening create first.
pub(super) struct Parts {
    pub(super) directory: HeldDirectory,
    pub(super) options: Options,
    pub(super) comparator: InternalKeyComparator,
    block_cache: Option<Arc<BlockCache>>,
    tables: Arc<TableCache>,
    pub(super) obsolete: Arc<ObsoleteFiles>,
    pub(super) info_log: Arc<InfoLog>,
    lock: Option<Box<dyn FileLock>>,
}

/// What the logs held, and which of them this session still needs. The default is that of a new database.
#[derive(Default)]
pub(super) struct RecoveredWrites {
    pub(super) logs: RecoveredLogs,
    /// A log that the MANIFEST names but that is gone.
    pub(super) missing_log: Option<LeftOutLog>,
    /// The numbers of the logs that stay.
    pub(super) log_numbers: Vec<u64>,
    pub(super) synced_files: SyncedFiles,
    /// Those of the logs whose records stay in the active memtable.
    pub(super) kept: Vec<KeptLog>,
}

impl Parts {
    pub(super) fn new(
        directory: HeldDirectory,
        options: Options,
        info_log: InfoLog,
        lock: Option<Box<dyn FileLock>>,
    ) -> Self {
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
            fit: WorkingSet::new(Arc::clone(&directory.env)),
        });
        let env = Arc::clone(&directory.env);
        let tables = TableCache::new(env, directory.path.clone(), options.max_open_files, context);
        let tables = Arc::new(if options.read_only { tables.beside_writer() } else { tables });
        let obsolete = Arc::new(ObsoleteFiles::new());
        let info_log = Arc::new(info_log);
        Self { directory, options, comparator, block_cache, tables, obsolete, info_log, lock }
    }

    pub(super) fn version_set_options(&self) -> VersionSetOptions {
        VersionSetOptions {
            env: Arc::clone(&self.directory.env),
            directory: self.directory.path.clone(),
            comparator: self.comparator.clone(),
            manifest_size_limit_bytes: self.options.manifest_size_limit_bytes,
            read_only: self.options.read_only,
        }
    }

    /// The database of `versions` and of what the logs held. A session that writes begins its log here.
    pub(super) fn assemble(self, versions: VersionSet, writes: RecoveredWrites) -> Result<Arc<DbInner>> {
        let RecoveredWrites { logs: recovered, missing_log, mut log_numbers, synced_files, kept } = writes;
        let hole = recovered.hole.map(LeftOutLog::from);
        let left_out = missing_log.into_iter().chain(recovered.missing_ends).chain(hole).collect();
        let Self { directory, options, comparator, block_cache, tables, obsolete, info_log, lock } = self;

        let FirstMemTables { active, sealed, wal } = if options.read_only {
            FirstMemTables::to_read(recovered.memtables, &comparator)
        } else {
            let (memtables, keeps_last, maps_log) = (recovered.memtables, !kept.is_empty(), options.map_log);
            FirstMemTables::to_write(memtables, keeps_last, &directory, &comparator, &versions, maps_log)?
        };
        log_numbers.extend(wal.as_ref().map(|wal| wal.number()));
        let HeldDirectory { path: directory, env, hold } = directory;
        let view = SuperVersion { active: Arc::clone(&active), sealed, version: versions.current(), hold };
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
            logs: log_numbers,
            pointers: CompactPointers::from_stored(versions.compact_pointers()),
            ..BackgroundState::default()
        };
        let common = Common {
            pool: pool_for(&options),
            published: Arc::new(Published::new(view, recovered.last_sequence)),
            health: Arc::new(Health::new(directory.clone(), options.read_only, Arc::clone(&info_log))),
            files: Arc::new(Files {
                directory,
                env,
                comparator,
                table_options: options.table_builder(),
                dialect: options.dialect.decided(),
                tables,
                versions,
                obsolete,
                synced: Mutex::new(synced_files),
                info_log,
            }),
        };
        let compactor = common.compactor(&options);
        // The background runs the jobs of the database that owns it.
        Ok(Arc::new_cyclic(|inner: &Weak<DbInner>| {
            let background = common.background(&options, inner.clone(), state);
            let writer = common.writer(&options, Arc::clone(&background), commit);
            let Common { files, health, published, pool } = common;
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

/// The threads for the background; `None` for a database that is only read.
fn pool_for(options: &Options) -> Option<Arc<BackgroundPool>> {
    match &options.background_pool {
        _ if options.read_only => None,
        Some(shared) => Some(Arc::clone(shared)),
        None => Some(process_pool::of_process(&options.env, options.compaction_threads)),
    }
}

/// What the writer, the background and the compactor work with.
struct Common {
    files: Arc<Files>,
    health: Arc<Health>,
    published: Arc<Published>,
    pool: Option<Arc<BackgroundPool>>,
}

impl Common {
    fn compactor(&self, options: &Options) -> Arc<Compactor> {
        Arc::new(Compactor {
            files: Arc::clone(&self.files),
            published: Arc::clone(&self.published),
            pool: self.pool.clone(),
            max_file_size_bytes: options.max_file_size_bytes,
            gives_up: AtomicBool::new(false),
        })
    }

    fn background(&self, options: &Options, jobs: Weak<dyn Jobs>, state: BackgroundState) -> Arc<Background> {
        let parts = BackgroundParts {
            pool: self.pool.clone(),
            jobs,
            health: Arc::clone(&self.health),
            published: Arc::clone(&self.published),
            info_log: Arc::clone(&self.files.info_log),
            env: Arc::clone(&self.files.env),
            compaction_threads: options.compaction_threads.max(1),
            idle_after: Duration::from_millis(options.idle_after_ms.max(1)),
        };
        Background::new(state, parts)
    }

    fn writer(
        &self,
        options: &Options,
        background: Arc<Background>,
        commit: CommitState,
    ) -> Arc<Writer<Arc<Background>>> {
        let in_steps = self.pool.as_ref().is_some_and(|pool| pool.needs_steps());
        Arc::new(Writer {
            queue: CommitQueue::new(commit),
            files: Arc::clone(&self.files),
            health: Arc::clone(&self.health),
            published: Arc::clone(&self.published),
            backlog: background,
            write_buffer_size_bytes: options.write_buffer_size_bytes,
            max_sealed_memtables: options.max_sealed_memtables.max(1),
            stop_files: if in_steps { STOP_FILES_IN_STEPS } else { STOP_FILES },
            map_log: options.map_log,
        })
    }
}
