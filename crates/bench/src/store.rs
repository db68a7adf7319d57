//! The interface that a database must offer to take part. Each adapter is a thin layer over one database.

use std::path::Path;

use crate::Result;
use crate::settings::Settings;

/// A kind of database with its settings, which opens [`Store`]s, several times if necessary.
pub trait Engine: Send + Sync {
    /// Its name, for tables: `terrace`, `leveldb`.
    fn name(&self) -> &str;

    /// Its version.
    fn version(&self) -> String;

    /// The differences from its defaults, for the reader of the results.
    fn settings(&self) -> String;

    /// The memory that its settings allow, as far as they state it, in bytes.
    fn memory_budget_bytes(&self) -> Option<u64> {
        None
    }

    /// The same engine with the options of another run.
    fn with(&self, settings: &Settings) -> Box<dyn Engine>;

    /// Workloads that it cannot do: `compact` if it has no such call, `recover` if a write that was not synced is
    /// lost with the process.
    fn left_out(&self) -> &[&str] {
        &[]
    }

    /// Opens the database in `directory`, and creates it if there is none.
    fn open(&self, directory: &Path) -> Result<Box<dyn Store>>;

    /// Removes the database in `directory`, and nothing else there. A missing database is not an error.
    fn destroy(&self, directory: &Path) -> Result<()>;
}

/// Receives the operations of an atomic batch.
pub trait BatchSink {
    /// Stores `value` under `key`.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Removes `key`.
    fn delete(&mut self, key: &[u8]) -> Result<()>;
}

/// Where a scan begins, and its direction.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// From the smallest key upwards.
    First,
    /// From the largest key downwards.
    Last,
    /// From the first key that is not below this one upwards.
    At(&'a [u8]),
}

/// An open database. Several threads may call every method at once.
pub trait Store: Send + Sync {
    /// Stores `value` under `key`; with `sync`, returns when the write would survive a power cut.
    fn put(&self, key: &[u8], value: &[u8], sync: bool) -> Result<()>;

    /// Removes `key`, whether or not it is there.
    fn delete(&self, key: &[u8], sync: bool) -> Result<()>;

    /// Writes, all or nothing, what `fill` puts into the sink.
    fn write(&self, fill: &mut dyn FnMut(&mut dyn BatchSink) -> Result<()>, sync: bool) -> Result<()>;

    /// Copies the newest value of `key` into `value`, replacing its contents; returns whether there is one.
    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool>;

    /// Calls `visit` with one entry after the other until it returns `false` or there are no more.
    fn scan(&self, start: Start<'_>, visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()>;

    /// A thread's own means of reading. It may keep showing the state of the moment when it was created.
    fn reader(&self) -> Result<Box<dyn Reader + '_>>;

    /// Writes what is in memory to disk, if the database has such a call.
    fn flush(&self) -> Result<()>;

    /// Rewrites the whole database as compactly as it can, if the database has such a call.
    fn compact(&self) -> Result<()>;

    /// Bytes written to tables so far, if the database counts them.
    fn table_bytes_written(&self) -> Option<u64> {
        None
    }

    /// Closes the database and reports what went wrong.
    fn close(self: Box<Self>) -> Result<()>;
}

/// A thread's own means of reading a [`Store`], with everything that can be set up once for many reads.
pub trait Reader {
    /// Copies the value of `key` into `value`, replacing its contents; returns whether there is one.
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool>;

    /// Moves to the first entry whose key is not below `target`; returns whether its key is `target`.
    fn seek(&mut self, target: &[u8]) -> Result<bool>;
}
