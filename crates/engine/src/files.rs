//! The files of an open database: where they are, which tables are open, which versions list them, and how tables come
//! and go. Flushes, compactions and ingestion share this. Successors: `table/builder`, the version set, the table
//! cache.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use terrace_env::Env;
use terrace_env::locks::Mutex;
use terrace_format::file_name;
use terrace_format::internal_key::{
    InternalKeyComparator, MAX_SEQUENCE_NUMBER, SEEK_KIND, ValueKind, append_internal_key,
};
use terrace_format::table::TableCounts;
use terrace_format::version_edit::FileEntry;

use crate::dialect::{self, Dialect, is_entry_of_bedrock};
use crate::error::Result;
use crate::info_log::InfoLog;
use crate::iterator::StoredBlock;
use crate::memtable::{MemEntry, MemTable};
use crate::recovery::synced_files::SyncedFiles;
use crate::table::{BlockReadOptions, TableBuilder, TableBuilderOptions};
use crate::version::table_cache::TableCache;
use crate::version::version::Version;
use crate::version::{ObsoleteFiles, VersionSet};

/// The files of a database. All of them are in [`directory`](Self::directory) and are reached through
/// [`env`](Self::env).
pub(crate) struct Files {
    pub(crate) directory: PathBuf,
    pub(crate) env: Arc<dyn Env>,
    pub(crate) comparator: InternalKeyComparator,
    /// How tables are written, apart from the dialect.
    pub(crate) table_options: TableBuilderOptions,
    /// The dialect of the options, or the one that the first table was written in.
    pub(crate) dialect: OnceLock<Dialect>,
    /// The open tables.
    pub(crate) tables: Arc<TableCache>,
    /// The tables that the database consists of. The numbers of all files come from here.
    pub(crate) versions: VersionSet,
    /// Tables that no version lists and no reader pins any more.
    pub(crate) obsolete: Arc<ObsoleteFiles>,
    /// Which files that take no more records are durable, and up to where.
    pub(crate) synced: Mutex<SyncedFiles>,
    pub(crate) info_log: Arc<InfoLog>,
}

impl Files {
    /// The path of the table `number`, under the name that new tables get.
    pub(crate) fn table_path(&self, number: u64) -> PathBuf {
        self.directory.join(file_name::table_name(number))
    }

    /// Begins the table `number`.
    pub(crate) fn create_table(&self, number: u64) -> Result<NewTable<'_>> {
        self.decide_dialect(&[]);
        self.create_table_with(number, self.table_options.clone())
    }

    /// Decides the dialect, if that has not happened yet. `memtables`, newest first, hold what the tables do not.
    pub(crate) fn decide_dialect(&self, memtables: &[&MemTable]) -> Dialect {
        *self.dialect.get_or_init(|| {
            let version = self.versions.current();
            let mut numbers: Vec<_> = version.files().map(|file| file.number).collect();
            numbers.sort_unstable();
            let tables = numbers.into_iter().map(|number| {
                let path = self.table_path(number);
                let is_new_name = self.env.exists(&path).unwrap_or(true);
                if is_new_name { path } else { self.directory.join(file_name::legacy_table_name(number)) }
            });
            dialect::decide(&*self.env, &self.directory, tables, || {
                dialect::KEYS.iter().any(|key| self.is_key_of_bedrock(key, memtables, &version))
            })
        })
    }

    fn is_key_of_bedrock(&self, key: &[u8], memtables: &[&MemTable], version: &Version) -> bool {
        match memtables.iter().find_map(|memtable| memtable.get(key, MAX_SEQUENCE_NUMBER)) {
            Some(MemEntry::Value(value)) => return is_entry_of_bedrock(key, value),
            Some(MemEntry::Deletion) => return false,
            None => {}
        }
        let mut target = Vec::new();
        append_internal_key(&mut target, key, MAX_SEQUENCE_NUMBER, SEEK_KIND);
        let mut is_bedrocks = false;
        let read = version.get_with(&target, &self.tables, &BlockReadOptions::default(), &mut |entry| {
            is_bedrocks = entry.kind == ValueKind::Value && is_entry_of_bedrock(key, entry.value.bytes());
        });
        read.is_ok() && is_bedrocks
    }

    /// Like [`create_table`](Self::create_table), but with options other than the usual ones of the database.
    pub(crate) fn create_table_with(
        &self,
        number: u64,
        mut options: TableBuilderOptions,
    ) -> Result<NewTable<'_>> {
        let dialect = self.dialect.get().copied().unwrap_or_default();
        options.compression = dialect.compression(options.compression);
        let path = self.table_path(number);
        let file = self.env.create(&path)?;
        let builder = TableBuilder::new(file, path, self.comparator.clone(), options);
        Ok(NewTable { builder, unfinished: Unfinished { files: self, number, removes: true } })
    }

    /// Records that the log `number`, which takes no more records, is durable up to `size_bytes`. The next open then
    /// does not take damage in that part for a loss of power.
    pub(crate) fn note_synced_log(&self, number: u64, size_bytes: u64) {
        let oldest = self.versions.log_number();
        self.note_synced(|synced| synced.note_log(number, size_bytes, oldest));
    }

    /// Adds to what is known to have been synced, and writes it down if it is new.
    pub(crate) fn note_synced(&self, note: impl FnOnce(&mut SyncedFiles)) {
        let mut synced = self.synced.lock();
        let before = synced.clone();
        note(&mut synced);
        if *synced != before {
            synced.write(&*self.env, &self.directory);
        }
    }

    /// Removes the tables that no version lists and no reader pins any more.
    pub(crate) fn remove_obsolete_tables(&self) {
        self.versions.remove_tables(self.obsolete.take());
    }
}

/// A table that is being written. It is removed unless [`finish`](Self::finish) succeeds.
pub(crate) struct NewTable<'a> {
    /// Dropped first, so that the file is closed before it is removed.
    builder: TableBuilder,
    unfinished: Unfinished<'a>,
}

/// Removes the table when dropped.
struct Unfinished<'a> {
    files: &'a Files,
    number: u64,
    /// True until the table is finished.
    removes: bool,
}

/// A finished table that no version lists yet.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) entry: FileEntry,
    pub(crate) counts: TableCounts,
}

impl Output {
    /// The number of the table and the counts that [`VersionSet::apply`] needs.
    pub(crate) fn counted(&self) -> (u64, TableCounts) {
        (self.entry.number, self.counts)
    }
}

impl NewTable<'_> {
    /// Adds an entry. Keys must come in ascending order.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.builder.add(key, value)
    }

    /// Adds an entry whose block already exists. Keys must come in ascending order.
    pub(crate) fn add_stored(&mut self, key: &[u8], value: &[u8], block: StoredBlock<'_>) -> Result<()> {
        self.builder.add_stored(key, value, block)
    }

    /// The approximate size of the file if it were finished now, in bytes.
    pub(crate) fn estimated_size_bytes(&self) -> u64 {
        self.builder.estimated_size_bytes()
    }

    /// Completes the table and syncs it.
    pub(crate) fn finish(self) -> Result<Output> {
        let Self { builder, mut unfinished } = self;
        let finished = builder.finish()?;
        unfinished.removes = false;
        let counts = finished.counts;
        Ok(Output { entry: finished.into_entry(unfinished.number), counts })
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if self.removes {
            self.files.versions.remove_tables([self.number]);
        }
    }
}
