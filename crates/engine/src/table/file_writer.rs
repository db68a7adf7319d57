//! Writing a table file outside a database: for bulk loading, and for exchange between programs.
//!
//! predecessor: the user's program · successor: [`builder`](super::builder)

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{Env, default_env};
use terrace_format::comparator::UserComparator;
use terrace_format::compression::Compression;
use terrace_format::internal_key::{InternalKeyComparator, ValueKind, append_internal_key, user_key};

use super::builder::{TableBuilder, TableBuilderOptions};
use crate::error::{Error, ErrorKind, Result};

/// Settings for writing or reading a single table file.
#[derive(Clone, Debug)]
pub struct TableFileOptions {
    /// The order of keys. It must be that of the database that will take the file in; the file does not record it. Default
    /// bytewise.
    pub comparator: UserComparator,
    /// Compression of new blocks; reading needs no setting. LevelDB 1.23 and older cannot read `Zstd`. Default snappy.
    pub compression: Compression,
    /// Uncompressed size at which a data block is closed, in bytes. Default 4 KiB.
    pub block_size_bytes: usize,
    /// Number of entries from one restart point of a block to the next. Default 16.
    pub block_restart_interval: usize,
    /// Bits per key in the Bloom filter; 0 writes no filter. Default 10.
    pub filter_bits_per_key: usize,
    /// The largest size of the hash index, in percent of the size of the data; 0 writes no index. Default 12.
    pub hash_index_percent: usize,
    /// Where files come from. Default the operating system.
    pub env: Arc<dyn Env>,
}

impl Default for TableFileOptions {
    fn default() -> Self {
        Self {
            comparator: UserComparator::Bytewise,
            compression: Compression::Snappy,
            block_size_bytes: 4 << 10,
            block_restart_interval: 16,
            filter_bits_per_key: 10,
            hash_index_percent: 12,
            env: default_env(),
        }
    }
}

/// What [`TableFileWriter::finish`] wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFileSummary {
    /// Size of the file, in bytes.
    pub size_bytes: u64,
    /// Entries in the file, deletions included.
    pub entries: u64,
    /// Deletions in the file.
    pub deletions: u64,
    /// The first key; empty in a file without entries.
    pub smallest: Vec<u8>,
    /// The last key; empty in a file without entries.
    pub largest: Vec<u8>,
}

/// Writes one table file from keys in ascending order, each once.
///
/// The result is a table as LevelDB writes it, whose entries have sequence number 0. [`Db::ingest`](crate::Db::ingest) adds it
/// to a database; [`TableFileReader`](super::TableFileReader) reads it where it is.
///
/// # Durability
/// The file is complete and survives a loss of power once [`finish`](Self::finish) has returned. A writer that is dropped
/// before leaves an unfinished file, which no reader takes for a table.
///
/// ```
/// use terrace_engine::{TableFileOptions, TableFileReader, TableFileWriter};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("fruits.ldb");
///
/// let mut writer = TableFileWriter::create(&path, TableFileOptions::default())?;
/// writer.put(b"apple", b"green")?;
/// writer.put(b"cherry", b"red")?;
/// let summary = writer.finish()?;
/// assert_eq!(summary.entries, 2);
///
/// let reader = TableFileReader::open(&path, TableFileOptions::default())?;
/// assert_eq!(reader.get(b"cherry")?.as_deref(), Some(&b"red"[..]));
/// assert_eq!(reader.get(b"plum")?, None);
///
/// let mut entries = reader.iter();
/// entries.seek_to_first()?;
/// while entries.valid() {
///     println!("{:?} is {:?}", entries.key(), entries.value());
///     entries.next()?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct TableFileWriter {
    builder: TableBuilder,
    path: PathBuf,
    options: TableFileOptions,
    /// The last key, as an internal key; empty before the first entry.
    internal_key: Vec<u8>,
}

/// The sequence number of every entry: older than anything that a database has written.
const SEQUENCE: u64 = 0;

impl TableFileWriter {
    /// Creates the file at `path`. A file that exists there is emptied.
    ///
    /// # Errors
    /// `Unsupported` if this build lacks the compression; `ReadOnly`, `DiskFull`, `TooManyFiles` or `Io` from the
    /// operating system.
    pub fn create(path: impl AsRef<Path>, options: TableFileOptions) -> Result<Self> {
        let path = path.as_ref().to_owned();
        options.compression.check_supported().map_err(|error| Error::format(&path, 0, error))?;
        let file = options.env.create(&path)?;
        let builder_options = TableBuilderOptions {
            block_size_bytes: options.block_size_bytes,
            restart_interval: options.block_restart_interval,
            compression: options.compression,
            filter_bits_per_key: options.filter_bits_per_key,
            filter_policy: None,
            hash_index_percent: options.hash_index_percent,
        };
        let comparator = InternalKeyComparator::new(options.comparator.clone());
        let builder = TableBuilder::new(file, path.clone(), comparator, builder_options);
        Ok(Self { builder, path, options, internal_key: Vec::new() })
    }

    /// Adds a key with its value. A key may have up to 64 MiB and a value up to 1 GiB (see [`limits`](terrace_format::limits)).
    ///
    /// # Errors
    /// `InvalidArgument`, with nothing done, if `key` is not greater than the previous key in the comparator's order or if
    /// a limit is exceeded. `DiskFull` or `Io` from the operating system; every later call fails then.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.add(key, ValueKind::Value, value)
    }

    /// Adds a deletion of `key`: a database that ingests the file then no longer shows the value that it has for `key`.
    ///
    /// # Errors
    /// See [`put`](Self::put).
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.add(key, ValueKind::Deletion, b"")
    }

    fn add(&mut self, key: &[u8], kind: ValueKind, value: &[u8]) -> Result<()> {
        // The builder would accept a key again with a smaller tag, such as a put followed by a deletion.
        if self.builder.entries() > 0
            && self.options.comparator.compare(key, user_key(&self.internal_key)).is_le()
        {
            let problem = "keys must be added in ascending order, each once";
            return Err(Error::at_path(ErrorKind::InvalidArgument, &self.path, problem));
        }
        let mut internal_key = std::mem::take(&mut self.internal_key);
        internal_key.clear();
        append_internal_key(&mut internal_key, key, SEQUENCE, kind);
        let result = self.builder.add(&internal_key, value);
        self.internal_key = internal_key;
        result
    }

    /// Estimates the size of the file so far, without filter and indexes, in bytes.
    pub fn estimated_size_bytes(&self) -> u64 {
        self.builder.estimated_size_bytes()
    }

    /// Completes the file.
    ///
    /// # Durability
    /// On return the file and its name survive a loss of power.
    ///
    /// # Errors
    /// The failure of an earlier call; otherwise `DiskFull` or `Io` from the operating system. The file is useless then.
    pub fn finish(self) -> Result<TableFileSummary> {
        let finished = self.builder.finish()?;
        // A bare file name is in the current directory.
        let directory = self.path.parent().filter(|directory| !directory.as_os_str().is_empty());
        self.options.env.sync_directory(directory.unwrap_or(Path::new(".")))?;
        Ok(TableFileSummary {
            size_bytes: finished.size_bytes,
            entries: finished.counts.entries,
            deletions: finished.counts.deletions,
            smallest: user_key(&finished.smallest).to_vec(),
            largest: user_key(&finished.largest).to_vec(),
        })
    }
}
