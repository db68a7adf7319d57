//! Terrace's engine: an embedded, ordered key/value database in LevelDB's file format.
//!
//! ```
//! use terrace_engine::{Db, IterOptions, Options, WriteBatch, WriteOptions};
//!
//! let directory = tempfile::tempdir()?;
//! let db = Db::open(directory.path(), Options::default())?;
//!
//! let mut batch = WriteBatch::new();
//! batch.put(b"apple", b"red")?;
//! batch.put(b"plum", b"blue")?;
//! db.write(batch, &WriteOptions { sync: true })?;
//!
//! let mut entries = db.iter(IterOptions::default())?;
//! entries.seek_to_first()?;
//! while entries.valid() {
//!     println!("{:?} = {:?}", entries.key(), entries.value());
//!     entries.next()?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Start at [`Db`]. Errors are described at [`ErrorKind`], settings at [`Options`]. ARCHITECTURE.md draws the path of a write and
//! of a read through the modules.

#![warn(clippy::missing_errors_doc)]

mod background;
mod cache;
mod checkpoint;
mod compaction;
mod db;
mod destroy;
mod dialect;
mod directory;
mod error;
mod files;
mod flush;
mod foreign;
mod health;
mod info_log;
mod ingest;
mod iterator;
mod key_prefix;
mod memtable;
#[cfg(all(test, loom))]
mod models;
mod options;
mod pool;
mod process_pool;
mod read;
mod read_tier;
mod recovery;
mod repair;
mod sync;
mod table;
#[cfg(test)]
mod testing;
mod thread_buffer;
mod version;
mod wal;
mod write;

pub use cache::block_cache::BlockCache;
pub use db::Db;
pub use db::compact_range::CompactRange;
pub use db::properties::{LevelInfo, Stats, TableInfo};
pub use dialect::Dialect;
pub use error::{Error, ErrorKind, Result};
pub use options::{Options, WriteOptions};
pub use pool::BackgroundPool;
pub use read::db_iterator::DbIterator;
pub use read::get::Pinned;
pub use read::options::{Bounds, IterOptions, ReadOptions};
pub use read::snapshot::Snapshot;
pub use read_tier::ReadTier;
pub use recovery::left_out::{LeftOutKind, LeftOutLog};
pub use recovery::source::FileSource;
pub use repair::replay::intact_records;
pub use repair::report::{
    Damage, KeyRange, LevelSource, RepairReport, ReplayedLog, SalvagedTable, SetAsideFile, Uncertainty,
};
pub use table::{TableFileIterator, TableFileOptions, TableFileReader, TableFileSummary, TableFileWriter};
pub use terrace_env as env;
pub use terrace_format::batch::{BatchOp, WriteBatch};
pub use terrace_format::comparator::{Comparator, UserComparator};
pub use terrace_format::compression::Compression;
pub use terrace_format::filter::FilterPolicy;
pub use terrace_format::internal_key::ValueKind;
pub use terrace_format::limits;
pub use terrace_format::table::TableCounts;
pub use write::conditions::Condition;
pub use write::submit::WriteDone;
