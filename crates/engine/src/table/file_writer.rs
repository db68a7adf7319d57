//! Making a table file outside of a database: for bulk loading, and for exchange between programs.
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

/// Settings of a table file that is written or read by itself.
#[derive(Clone, Debug)]
pub struct TableFileOptions {
    /// The order of keys. It must be that of the database the file is meant for; the file does not record it. Default
    /// bytewise.
    pub comparator: UserComparator,
    /// Compression of blocks; reading needs no setting. `Zstd` is refused by LevelDB 1.23 and older. Default snappy.
    pub compression: Compression,
    /// Uncompressed size at which a data block is closed, in bytes. Default 4 KiB.
    pub block_size_bytes: usize,
    /// Entries between two restart points of a block. Default 16.
    pub block_restart_interval: usize,
    /// Bits of Bloom filter a key; 0 writes none. Default 10.
    pub filter_bits_per_key: usize,
    /// Percentage of the data's size that a hash index may have at most; 0 writes none. Default 12.
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
    /// Entries in the file, deletions among them.
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
/// The result is a table as LevelDB writes it, whose entries have sequence number 0. A database takes it in by `ingest`;
/// [`TableFileReader`](super::TableFileReader) reads it where it is.
///
/// The file is complete, and durable with its name, when [`finish`](Self::finish) has returned. Dropped before, the writer
/// leaves an unfinished file behind, which no reader takes for a table.
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

/// Every entry's sequence number: older than all that a database has written.
const SEQUENCE: u64 = 0;

impl TableFileWriter {
    /// Creates the file at `path`; one that exists is emptied.
    ///
    /// Errors: [`Unsupported`](ErrorKind::Unsupported) if this build cannot compress as asked; errors of the file system.
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

    /// Adds a key with its value. For limits see [`terrace_format::limits`].
    ///
    /// Errors: [`InvalidArgument`](ErrorKind::InvalidArgument), with nothing done, if `key` is not greater than the one
    /// before in the comparator's order, or a limit is exceeded; errors of the file system, after which every call fails.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.add(key, ValueKind::Value, value)
    }

    /// Adds a deletion: a database that takes the file in then hides what it held under `key`.
    ///
    /// Errors: as [`put`](Self::put).
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.add(key, ValueKind::Deletion, b"")
    }

    fn add(&mut self, key: &[u8], kind: ValueKind, value: &[u8]) -> Result<()> {
        // The builder lets a key come again with a lesser tag, as a put followed by a deletion would have.
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

    /// About the size of the file so far, in bytes.
    pub fn estimated_size_bytes(&self) -> u64 {
        self.builder.estimated_size_bytes()
    }

    /// Completes the file. On return it survives a loss of power, its name included.
    ///
    /// Errors: that of an earlier call, or of the file system. The file is then of no use.
    pub fn finish(self) -> Result<TableFileSummary> {
        let finished = self.builder.finish()?;
        // A bare file name lies in the current directory.
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
