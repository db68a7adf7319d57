//! The database of this instance, and what the host keeps of it.

use std::cell::RefCell;
use std::sync::Arc;

use terrace_engine::env::PooledEnv;
use terrace_engine::{
    Bounds, Db, Error, IterOptions, Options, ReadOptions, Snapshot, WriteBatch, WriteOptions,
};
use terrace_wasm_exchange::{Failure, Numbered, Outcome, RangeFlags, split_bounds};

use crate::host_files::HostFiles;
use crate::iterator::Iterator;

/// Its directory in the pool.
const DIRECTORY: &str = "/";

thread_local! {
    static DATABASE: RefCell<Option<Database>> = const { RefCell::new(None) };
}

pub(crate) struct Database {
    db: Db,
    /// The pool that its files are in; none if it is a directory of the host.
    pool: Option<PooledEnv>,
    snapshots: Numbered<Snapshot>,
    iterators: Numbered<Iterator>,
}

/// How to open the database.
pub(crate) struct Opening {
    pub(crate) create_if_missing: bool,
    pub(crate) error_if_exists: bool,
    pub(crate) write_buffer_size_bytes: usize,
    pub(crate) block_cache_size_bytes: usize,
}

pub(crate) fn open(opening: Opening) -> Outcome<()> {
    let env = PooledEnv::open(Arc::new(HostFiles)).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => Failure::new("Corruption", error.to_string()),
        _ => Failure::new("Io", error.to_string()),
    })?;
    let options = Options {
        create_if_missing: opening.create_if_missing,
        error_if_exists: opening.error_if_exists,
        write_buffer_size_bytes: opening.write_buffer_size_bytes,
        block_cache_size_bytes: opening.block_cache_size_bytes,
        // Only mapped tables use it.
        hash_index_percent: 0,
        env: Arc::new(env.clone()),
        ..Options::default()
    };
    let db = Db::open(DIRECTORY, options).map_err(failed)?;
    adopt(db, Some(env));
    Ok(())
}

/// Makes an open database that of this instance.
pub(crate) fn adopt(db: Db, pool: Option<PooledEnv>) {
    let (snapshots, iterators) = (Numbered::new(), Numbered::new());
    DATABASE.set(Some(Database { db, pool, snapshots, iterators }));
}

pub(crate) fn close() -> Outcome<()> {
    match DATABASE.take() {
        Some(database) => database.db.close().map_err(failed),
        None => Ok(()),
    }
}

/// What the host learns of an error of the engine.
pub(crate) fn failed(error: Error) -> Failure {
    Failure::new(format!("{:?}", error.kind()), error.to_string())
}

/// Runs a call on the open database.
pub(crate) fn with_database<T>(call: impl FnOnce(&mut Database) -> Outcome<T>) -> Outcome<T> {
    DATABASE.with_borrow_mut(|database| call(database.as_mut().ok_or_else(closed)?))
}

impl Database {
    pub(crate) fn get(&mut self, key: &[u8], snapshot: u32, value: &mut Vec<u8>) -> Outcome<bool> {
        let read = self.read_options(snapshot)?;
        let found = self.db.get_with(key, &read, |found| value.extend_from_slice(found));
        Ok(found.map_err(failed)?.is_some())
    }

    /// Writes a batch in LevelDB's form.
    pub(crate) fn write(&self, batch: Vec<u8>, sync: bool) -> Outcome<()> {
        let batch = WriteBatch::from_bytes(batch)
            .map_err(|error| Failure::new("InvalidArgument", error.to_string()))?;
        self.db.write(batch, &WriteOptions { sync }).map_err(failed)
    }

    pub(crate) fn step(&self) -> bool {
        self.db.step()
    }

    pub(crate) fn free_files(&self) -> usize {
        self.pool.as_ref().map_or(0, PooledEnv::free_slots)
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

    pub(crate) fn compact_range(&self, start: &[u8], end: &[u8]) -> Outcome<()> {
        self.db.compact_range(Some(start), Some(end)).map_err(failed)
    }

    fn read_options(&mut self, snapshot: u32) -> Outcome<ReadOptions> {
        let snapshot = match snapshot {
            0 => None,
            number => {
                Some(self.snapshots.get_mut(number).ok_or_else(|| Failure::unknown("snapshot"))?.clone())
            }
        };
        Ok(ReadOptions { snapshot, ..ReadOptions::default() })
    }
}

fn closed() -> Failure {
    Failure::new("Closed", "the database is not open")
}
