//! The database of this instance, and what the host keeps of it.

use std::cell::RefCell;
use std::io;
use std::ops::Bound;
use std::sync::Arc;

use terrace_engine::env::PooledEnv;
use terrace_engine::{
    Bounds, CompactRange, Db, Error, ErrorKind, IterOptions, Options, ReadOptions, Snapshot, WriteBatch,
};
use terrace_wasm_abi::{Failure, Numbered, Outcome, RangeFlags, split_bounds};

use crate::export::Export;
use crate::failures::failed;
use crate::host_files::{self, HostFiles};
use crate::iterator::Iterator;

/// Its directory in the pool.
pub(crate) const DIRECTORY: &str = "/";

/// Files that no write may take once the host can open no more: the next open needs some.
pub(crate) const RESERVED_FILES: usize = 8;

/// The part of them that a job in the background leaves alone. It gives more back than it takes.
const LEFT_FILES: usize = 2;

/// Small tables are merged when fewer files than this can be written.
const FEW_FILES: usize = 16;

/// A merge begins once so many more files are in use than the last one has left.
const FILES_TO_MERGE: usize = 32;

/// Compactions of larger tables would take long steps.
const MAX_TABLE_SIZE_BYTES: u64 = 64 << 20;

/// If fewer files are free, a clear lets the host open more. A flush takes a table, a log and its part of a MANIFEST.
const FEW_FILES_TO_CLEAR: usize = 8;

/// Entries that are deleted in one batch.
const CLEARED_TOGETHER: u32 = 1000;

/// How many free files an open wants.
const FILES_TO_OPEN: usize = 6;

thread_local! {
    /// The pool that is open already, for the call that needs it.
    static POOL: RefCell<Option<PooledEnv>> = const { RefCell::new(None) };
    static DATABASE: RefCell<Option<Database>> = const { RefCell::new(None) };
}

pub(crate) struct Database {
    pub(crate) db: Db,
    /// The pool that its files are in; none if it is a directory of the host.
    pub(crate) pool: Option<PooledEnv>,
    snapshots: Numbered<Snapshot>,
    iterators: Numbered<Iterator>,
    compactions: Numbered<CompactRange>,
    exports: Numbered<Export>,
    clearings: Numbered<Clearing>,
    merge: Merge,
}

/// What is still to be deleted of a range.
struct Clearing {
    bounds: Bounds,
    read: ReadOptions,
    flags: RangeFlags,
    left: u32,
}

/// The merge of small tables. Those that overlap no others, as of entries in order, are only moved from level to level, and each has a file.
#[derive(Default)]
struct Merge {
    running: Option<CompactRange>,
    /// The fewest files that were in use since the last one began.
    used: usize,
}

/// How to open the database.
pub(crate) struct Opening {
    pub(crate) create_if_missing: bool,
    pub(crate) error_if_exists: bool,
    pub(crate) write_buffer_size_bytes: usize,
    pub(crate) block_cache_size_bytes: usize,
}

/// The files that the host has opened, which the first call looks at.
pub(crate) fn pool() -> Outcome<PooledEnv> {
    POOL.with_borrow_mut(|pool| match pool {
        Some(pool) => Ok(pool.clone()),
        none => Ok(none.insert(open_pool()?).clone()),
    })
}

fn open_pool() -> Outcome<PooledEnv> {
    PooledEnv::open(Arc::new(HostFiles)).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Failure::new("Corruption", error.to_string()),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Failure::new("DiskFull", error.to_string())
        }
        _ => Failure::new("Io", error.to_string()),
    })
}

/// Whether more files should be open before [`open`].
pub(crate) fn wants_files() -> Outcome<bool> {
    Ok(pool()?.free_slots() < FILES_TO_OPEN)
}

/// The size of new tables, at which the free files but for `other_files` have room for all entries twice over.
pub(crate) fn table_size_bytes(pool: &PooledEnv, other_files: usize) -> u64 {
    let tables = pool.free_slots().saturating_sub(other_files).max(1) as u64;
    (2 * pool.total_bytes() / tables).max(Options::default().max_file_size_bytes)
}

pub(crate) fn open(opening: Opening) -> Outcome<()> {
    let env = pool()?;
    let options = Options {
        create_if_missing: opening.create_if_missing,
        error_if_exists: opening.error_if_exists,
        write_buffer_size_bytes: opening.write_buffer_size_bytes,
        block_cache_size_bytes: opening.block_cache_size_bytes,
        // As the files become few, compactions make fewer and larger ones.
        max_file_size_bytes: table_size_bytes(&env, RESERVED_FILES).min(MAX_TABLE_SIZE_BYTES),
        // Only mapped tables use it.
        hash_index_percent: 0,
        env: Arc::new(env.clone()),
        ..Options::default()
    };
    let db = Db::open(DIRECTORY, options).map_err(advised)?;
    adopt(db, Some(env));
    with_database(|database| {
        // The last sessions may have ended without a close.
        database.merge_if_files_are_few();
        Ok(())
    })
}

/// Makes an open database that of this instance.
pub(crate) fn adopt(db: Db, pool: Option<PooledEnv>) {
    DATABASE.set(Some(Database {
        db,
        pool,
        snapshots: Numbered::new(),
        iterators: Numbered::new(),
        compactions: Numbered::new(),
        exports: Numbered::new(),
        clearings: Numbered::new(),
        merge: Merge::default(),
    }));
}

pub(crate) fn close() -> Outcome<()> {
    match DATABASE.take() {
        Some(database) => {
            database.merge_if_files_are_few();
            // What the open has read from logs may have to become a table.
            reserving(LEFT_FILES, database.pool.as_ref(), || database.db.close()).map_err(failed)
        }
        None => Ok(()),
    }
}

/// Runs a call on the open database.
pub(crate) fn with_database<T>(call: impl FnOnce(&mut Database) -> Outcome<T>) -> Outcome<T> {
    DATABASE.with_borrow_mut(|database| call(database.as_mut().ok_or_else(closed)?))
}

impl Database {
    /// Appends the value of a key. Returns whether there is one.
    pub(crate) fn get(&mut self, key: &[u8], snapshot: u32, value: &mut Vec<u8>) -> Outcome<bool> {
        let read = self.read_options(snapshot)?;
        found(self.db.get_with(key, &read, |bytes| append(value, bytes)))
    }

    /// Appends the version of an entry (8 bytes), then its value. Returns whether there is one.
    pub(crate) fn get_entry(&mut self, key: &[u8], snapshot: u32, entry: &mut Vec<u8>) -> Outcome<bool> {
        let read = self.read_options(snapshot)?;
        found(self.db.get_entry_with(key, &read, |bytes, version| {
            entry.extend_from_slice(&version.to_le_bytes());
            append(entry, bytes)
        }))
    }

    /// Begins to delete up to `limit` entries of a range, from the end at which an iterator begins. Returns 0 when they are deleted,
    /// or the number of the rest, for [`clear_rest`](Self::clear_rest), once the host has opened more files.
    pub(crate) fn clear(
        &mut self,
        input: &[u8],
        snapshot: u32,
        flags: RangeFlags,
        lengths: [u32; 2],
        limit: u32,
    ) -> Outcome<i32> {
        let (lower, upper) = split_bounds(input, lengths[0], lengths[1]);
        let (lower, upper) = flags.bounds(lower, upper);
        let read = self.read_options(snapshot)?;
        self.delete(Clearing { bounds: Bounds { lower, upper }, read, flags, left: limit }, false)
    }

    /// Deletes what [`clear`](Self::clear) has left.
    pub(crate) fn clear_rest(&mut self, number: u32, must_end: bool) -> Outcome<i32> {
        let clearing = self.clearings.remove(number).ok_or_else(|| Failure::unknown("rest of a clear"))?;
        self.delete(clearing, must_end)
    }

    fn delete(&mut self, mut clearing: Clearing, must_end: bool) -> Outcome<i32> {
        while clearing.left > 0 {
            if !must_end && host_files::may_grow() && self.free_files() < FEW_FILES_TO_CLEAR {
                return Ok(self.clearings.add(clearing));
            }
            let Clearing { bounds, read, flags, left } = &mut clearing;
            let mut batch = WriteBatch::new();
            // An iterator holds on to files that compactions would free, so each has one batch.
            let options = IterOptions { read: read.clone(), bounds: bounds.clone() };
            let entries = self.db.iter(options).map_err(failed)?;
            let mut iterator = Iterator::new(entries, bounds.clone(), *flags);
            let last = iterator.delete_into((*left).min(CLEARED_TOGETHER), &mut batch).map_err(failed)?;
            drop(iterator);
            *left -= batch.count();
            let end = if flags.is_reverse() { &mut bounds.upper } else { &mut bounds.lower };
            let has_ended = last.is_none();
            if let Some(last) = last {
                *end = Bound::Excluded(last);
            }
            if batch.count() > 0 {
                self.write(batch.as_bytes(), false)?;
            }
            if has_ended {
                break;
            }
        }
        Ok(0)
    }

    /// Runs one job in the background, if one waits and finds room. Returns whether it did.
    pub(crate) fn step(&mut self) -> bool {
        reserving(LEFT_FILES, self.pool.as_ref(), || self.db.step()) || self.merge_step()
    }

    /// Merges some small tables, if files are few and many tables small. Returns whether it did.
    fn merge_step(&mut self) -> bool {
        let Some(pool) = self.pool.clone() else { return false };
        if self.merge.running.is_none() && self.wants_merge(&pool) {
            let Ok(compaction) = self.begin_compaction(None, None) else { return false };
            self.merge = Merge { running: Some(compaction), used: pool.used_slots() };
        }
        let Some(compaction) = &mut self.merge.running else { return false };
        let goes_on = reserving(LEFT_FILES, Some(&pool), || compaction.step());
        self.merge.used = self.merge.used.min(pool.used_slots());
        if !matches!(goes_on, Ok(true)) {
            self.merge.running = None;
        }
        goes_on.is_ok()
    }

    /// Merges some small neighbours, in one step of at most a table's size. A short session takes one file, so it is enough that a step at
    /// its close saves one; sessions that write more have their turns at [`step`](Self::step).
    fn merge_if_files_are_few(&self) {
        if self.pool.is_some() && self.has_few_files() {
            // If it fails, the database rejects writes with the reason.
            let _ = reserving(LEFT_FILES, self.pool.as_ref(), || self.db.merge_neighbours(1));
        }
    }

    fn has_few_files(&self) -> bool {
        !host_files::may_grow() && self.free_files() < FEW_FILES
    }

    fn wants_merge(&self, pool: &PooledEnv) -> bool {
        let used = pool.used_slots();
        let is_due = self.has_few_files() && used >= self.merge.used + FILES_TO_MERGE;
        is_due && pool.total_bytes() < used as u64 * self.small_table_bytes()
    }

    pub(crate) fn free_files(&self) -> usize {
        self.pool.as_ref().map_or(0, |pool| reserving(RESERVED_FILES, Some(pool), || pool.free_slots()))
    }

    pub(crate) fn snapshot(&mut self) -> i32 {
        self.snapshots.add(self.db.snapshot())
    }

    pub(crate) fn release_snapshot(&mut self, number: u32) {
        self.snapshots.remove(number);
    }

    pub(crate) fn iterator(
        &mut self,
        input: &[u8],
        snapshot: u32,
        flags: u32,
        lower_length: u32,
        upper_length: u32,
    ) -> Outcome<i32> {
        let (lower, upper) = split_bounds(input, lower_length, upper_length);
        let flags = RangeFlags(flags);
        let (lower, upper) = flags.bounds(lower, upper);
        let bounds = Bounds { lower, upper };
        let read = self.read_options(snapshot)?;
        let entries = self.db.iter(IterOptions { read, bounds: bounds.clone() }).map_err(failed)?;
        Ok(self.iterators.add(Iterator::new(entries, bounds, flags)))
    }

    pub(crate) fn iterator_at(&mut self, number: u32) -> Outcome<&mut Iterator> {
        self.iterators.get_mut(number).ok_or_else(|| Failure::unknown("iterator"))
    }

    pub(crate) fn release_iterator(&mut self, number: u32) {
        self.iterators.remove(number);
    }

    pub(crate) fn approximate_size(&self, start: &[u8], end: &[u8]) -> Outcome<u64> {
        self.db.approximate_size(start, end).map_err(failed)
    }

    /// Begins a compaction.
    pub(crate) fn compact_range(&mut self, start: &[u8], end: &[u8]) -> Outcome<i32> {
        let compaction = self.begin_compaction(Some(start), Some(end)).map_err(failed)?;
        Ok(self.compactions.add(compaction))
    }

    /// Neighbouring tables that are smaller are merged, each of which has a file. Those of a write buffer's size count as small.
    fn small_table_bytes(&self) -> u64 {
        self.db.options().max_file_size_bytes / 4 * 3
    }

    fn begin_compaction(&self, start: Option<&[u8]>, end: Option<&[u8]>) -> Result<CompactRange, Error> {
        let begin = || self.db.begin_compact_range(start, end);
        let compaction = reserving(LEFT_FILES, self.pool.as_ref(), begin)?;
        Ok(compaction.merging_below(self.small_table_bytes()))
    }

    /// Runs a step of a compaction. Returns whether there may be another one; otherwise it has ended.
    pub(crate) fn compact_step(&mut self, number: u32) -> Outcome<bool> {
        let compaction = self.compactions.get_mut(number).ok_or_else(|| Failure::unknown("compaction"))?;
        let goes_on = reserving(LEFT_FILES, self.pool.as_ref(), || compaction.step());
        if !matches!(goes_on, Ok(true)) {
            self.compactions.remove(number);
        }
        goes_on.map_err(failed)
    }

    /// Makes a copy, and lists its files.
    pub(crate) fn export(&mut self, output: &mut Vec<u8>) -> Outcome<i32> {
        let pool = self.pool.as_ref().ok_or_else(|| Failure::unknown("pool of files"))?;
        let export = Export::new(&self.db, pool)?;
        export.list(output)?;
        Ok(self.exports.add(export))
    }

    pub(crate) fn export_at(&mut self, number: u32) -> Outcome<&mut Export> {
        self.exports.get_mut(number).ok_or_else(|| Failure::unknown("export"))
    }

    pub(crate) fn release_export(&mut self, number: u32) {
        self.exports.remove(number);
    }

    fn read_options(&mut self, snapshot: u32) -> Outcome<ReadOptions> {
        let snapshot = if snapshot == 0 { None } else { Some(self.snapshot_at(snapshot)?) };
        Ok(ReadOptions { snapshot, ..ReadOptions::default() })
    }

    pub(crate) fn snapshot_at(&mut self, number: u32) -> Outcome<Snapshot> {
        Ok(self.snapshots.get_mut(number).ok_or_else(|| Failure::unknown("snapshot"))?.clone())
    }
}

/// Appends a value, or fails with its length if there is no memory for it.
fn append(output: &mut Vec<u8>, value: &[u8]) -> Result<(), usize> {
    output.try_reserve_exact(value.len()).map_err(|_| value.len())?;
    output.extend_from_slice(value);
    Ok(())
}

/// Whether a read has found an entry.
fn found(read: Result<Option<Result<(), usize>>, Error>) -> Outcome<bool> {
    match read.map_err(failed)? {
        Some(Err(size_bytes)) => {
            Err(Failure::new("TooLarge", format!("there is no memory for a value of {size_bytes} bytes")))
        }
        found => Ok(found.is_some()),
    }
}

/// Does work that leaves `count` files free, if the host can open no more.
pub(crate) fn reserving<T>(count: usize, pool: Option<&PooledEnv>, work: impl FnOnce() -> T) -> T {
    if let Some(pool) = pool {
        pool.reserve_slots(if host_files::may_grow() { 0 } else { count });
    }
    work()
}

/// The failure of an open: where files are damaged, with what can be done about it.
fn advised(error: Error) -> Failure {
    let is_damage = error.kind() == ErrorKind::Corruption;
    let mut failure = failed(error);
    if is_damage {
        failure.message.push_str(". Level.repair() restores what can be read");
    }
    failure
}

fn closed() -> Failure {
    Failure::new("Closed", "the database is not open")
}
