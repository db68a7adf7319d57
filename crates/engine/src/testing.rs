//! The parts of a database that the tests of others need.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use terrace_env::Env;
use terrace_env::locks::Mutex;
use terrace_format::compression::CompressionIds;

use crate::cache::working_set::WorkingSet;
use crate::dialect::Dialect;
use crate::files::Files;
use crate::health::Health;
use crate::info_log::InfoLog;
use crate::memtable::MemTable;
use crate::options::Options;
use crate::read::published::Published;
use crate::read::super_version::{SealedMemTable, SuperVersion};
use crate::table::TableReadContext;
use crate::version::table_cache::TableCache;
use crate::version::testing::comparator;
use crate::version::{VersionSet, VersionSetOptions};

/// What the parts of a database share, without the database.
pub(crate) struct Shared {
    pub(crate) files: Arc<Files>,
    pub(crate) published: Arc<Published>,
    pub(crate) health: Arc<Health>,
}

impl Shared {
    /// That of a new database in the directory `/db` of `env`.
    pub(crate) fn new(env: &Arc<dyn Env>) -> Self {
        let directory = PathBuf::from("/db");
        env.create_directory_all(&directory).unwrap();
        let context = Arc::new(TableReadContext {
            comparator: comparator(),
            block_cache: None,
            compression_ids: CompressionIds::LevelDb,
            use_filters: true,
            filter_policy: None,
            map_files: false,
            fit: WorkingSet::always(),
        });
        let options = VersionSetOptions {
            env: Arc::clone(env),
            directory: directory.clone(),
            comparator: comparator(),
            manifest_size_limit_bytes: 1 << 20,
            read_only: false,
        };
        let obsolete = Arc::default();
        let versions = VersionSet::create_new(options, Arc::clone(&obsolete)).unwrap();
        versions.renew(None).unwrap();
        let view = SuperVersion {
            active: Arc::new(MemTable::new(comparator())),
            sealed: Vec::new(),
            version: versions.current(),
            hold: None,
        };
        let info_log = Arc::new(InfoLog::none(Arc::clone(env)));
        let files = Arc::new(Files {
            env: Arc::clone(env),
            comparator: comparator(),
            table_options: Options::default().table_builder(),
            dialect: OnceLock::from(Dialect::LevelDb),
            tables: Arc::new(TableCache::new(Arc::clone(env), directory.clone(), 100, context)),
            versions,
            obsolete,
            synced: Mutex::default(),
            info_log: Arc::clone(&info_log),
            directory: directory.clone(),
        });
        let published = Arc::new(Published::new(view, 0));
        Self { files, published, health: Arc::new(Health::new(directory, false, info_log)) }
    }

    /// Seals a memtable that holds `fill`, as the table `file_number`.
    pub(crate) fn seal(&self, file_number: u64, fill: impl FnOnce(&MemTable)) -> Arc<SealedMemTable> {
        let table = Arc::new(MemTable::new(comparator()));
        fill(&table);
        let last_sequence = self.published.visible_sequence();
        let sealed = Arc::new(SealedMemTable { table, file_number, next_log_number: 0, last_sequence });
        let active = Arc::clone(&self.published.super_version().active);
        self.published.change(|view| view.seal(active, Arc::clone(&sealed)));
        sealed
    }

    /// The names of the tables that are there.
    pub(crate) fn tables(&self) -> Vec<String> {
        let mut names = self.files.env.list(Path::new("/db")).unwrap();
        names.retain(|name| name.ends_with(".ldb"));
        names.sort();
        names
    }
}
