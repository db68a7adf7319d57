//! Reading one table file outside a database: for exchange, inspection and tests.
//!
//! predecessor: the user's program · successor: [`reader`](super::reader)

use std::path::Path;
use std::sync::Arc;

use terrace_format::compression::CompressionIds;
use terrace_format::internal_key::{
    InternalKeyComparator, ParsedInternalKey, SequenceNumber, ValueKind, before_all_versions, user_key,
};
use terrace_format::table::TableCounts;

use super::block_fetch::{BlockReadOptions, TableReadContext};
use super::file_writer::TableFileOptions;
use super::iterator::TableIterator;
use super::reader::Table;
use crate::cache::working_set::WorkingSet;
use crate::error::Result;
use crate::iterator::InternalIterator;

/// Reads one table file by user keys. Threads may share it.
///
/// It opens the output of a [`TableFileWriter`](super::TableFileWriter), which has an example, and any table of a LevelDB
/// database. Such a table may hold several versions of a key, and deletions: [`get`](Self::get) returns the newest version
/// *in this file*, and [`iter`](Self::iter) shows all of them.
#[derive(Debug)]
pub struct TableFileReader {
    table: Arc<Table>,
}

impl TableFileReader {
    /// Opens the file at `path`. Reading uses two of the `options`: the comparator, which must be that of the file's writer, and
    /// the environment.
    ///
    /// # Errors
    /// `Corruption` if the file is damaged or is not a table; `Unsupported` if this build does not know how a block is
    /// compressed; `TooManyFiles`, `ReadOnly` (no permission) or `Io` from the operating system.
    pub fn open(path: impl AsRef<Path>, options: TableFileOptions) -> Result<Self> {
        let path = path.as_ref();
        let file = options.env.open_mapped(path)?;
        let size_bytes = file.size_bytes()?;
        let context = TableReadContext {
            comparator: InternalKeyComparator::new(options.comparator),
            block_cache: None,
            compression_ids: CompressionIds::LevelDb,
            use_filters: true,
            filter_policy: None,
            map_files: true,
            fit: WorkingSet::always(),
        };
        let table = Table::open(file, path.to_owned(), size_bytes, Arc::new(context))?;
        Ok(Self { table: Arc::new(table) })
    }

    /// Returns the value of `key`; `None` if the file does not hold the key or holds its deletion.
    ///
    /// # Errors
    /// Those of [`open`](Self::open): `Corruption` if a block that the lookup reads is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let entry = self.table.get(&before_all_versions(key), &BlockReadOptions::default())?;
        Ok(entry.filter(|entry| entry.kind == ValueKind::Value).map(|entry| entry.value.into_vec()))
    }

    /// Makes a cursor over all entries. It is not on an entry yet.
    pub fn iter(&self) -> TableFileIterator {
        TableFileIterator { entries: self.table.iter(BlockReadOptions::default()), current: None }
    }

    /// Reads the whole file and checks every block, the order of keys, the filter and the hash index.
    ///
    /// # Errors
    /// Those of [`open`](Self::open). `Corruption` names the offset of the first damage.
    pub fn verify(&self) -> Result<()> {
        self.table.verify()
    }

    /// What the writer counted; `None` if Terrace did not write the file.
    pub fn counts(&self) -> Option<TableCounts> {
        self.table.counts()
    }

    /// Size of the file, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.table.size_bytes()
    }
}

/// A cursor over the entries of a table file: keys in the comparator's order, and versions of one key from new to old.
///
/// A new cursor is not valid: position it with a seek. After an error it is not valid; a later seek may succeed. It keeps
/// the file open.
///
/// # Errors
/// Every movement fails with `Corruption` if a block is damaged, with `Unsupported` if this build does not know how a
/// block is compressed, and with `Io` from the operating system.
pub struct TableFileIterator {
    entries: TableIterator,
    /// Sequence and kind of the current entry; `None` if the cursor is not valid.
    current: Option<(SequenceNumber, ValueKind)>,
}

impl TableFileIterator {
    /// Whether the cursor is on an entry.
    pub fn valid(&self) -> bool {
        self.current.is_some()
    }

    /// Moves to the first entry.
    ///
    /// # Errors
    /// See [`TableFileIterator`](Self#errors).
    pub fn seek_to_first(&mut self) -> Result<()> {
        self.moving(TableIterator::seek_to_first)
    }

    /// Moves to the last entry.
    ///
    /// # Errors
    /// See [`TableFileIterator`](Self#errors).
    pub fn seek_to_last(&mut self) -> Result<()> {
        self.moving(TableIterator::seek_to_last)
    }

    /// Moves to the first entry whose key is at or after `key`.
    ///
    /// # Errors
    /// See [`TableFileIterator`](Self#errors).
    pub fn seek(&mut self, key: &[u8]) -> Result<()> {
        self.moving(|entries| entries.seek(&before_all_versions(key)))
    }

    /// Moves to the next entry. Does nothing if the cursor is not [`valid`](Self::valid).
    ///
    /// # Errors
    /// See [`TableFileIterator`](Self#errors).
    #[expect(clippy::should_implement_trait, reason = "a cursor in both directions is no Iterator")]
    pub fn next(&mut self) -> Result<()> {
        match self.current {
            Some(_) => self.moving(TableIterator::next),
            None => Ok(()),
        }
    }

    /// Moves to the previous entry. Does nothing if the cursor is not [`valid`](Self::valid).
    ///
    /// # Errors
    /// See [`TableFileIterator`](Self#errors).
    pub fn prev(&mut self) -> Result<()> {
        match self.current {
            Some(_) => self.moving(TableIterator::prev),
            None => Ok(()),
        }
    }

    /// The key of the current entry. Needs [`valid`](Self::valid).
    pub fn key(&self) -> &[u8] {
        user_key(self.entries.key())
    }

    /// The value of the current entry; empty for a deletion. Needs [`valid`](Self::valid).
    pub fn value(&self) -> &[u8] {
        self.entries.value()
    }

    /// The sequence number of the current entry; 0 in files made by [`TableFileWriter`](super::TableFileWriter).
    ///
    /// # Panics
    /// If the cursor is not [`valid`](Self::valid).
    pub fn sequence(&self) -> SequenceNumber {
        self.expect_current().0
    }

    /// Whether the current entry is a value or a deletion.
    ///
    /// # Panics
    /// If the cursor is not [`valid`](Self::valid).
    pub fn kind(&self) -> ValueKind {
        self.expect_current().1
    }

    fn expect_current(&self) -> (SequenceNumber, ValueKind) {
        self.current.expect("the cursor stands on an entry")
    }

    fn moving(&mut self, movement: impl FnOnce(&mut TableIterator) -> Result<()>) -> Result<()> {
        self.current = None;
        movement(&mut self.entries)?;
        if self.entries.valid() {
            let ParsedInternalKey { sequence, kind, .. } = self.entries.parsed_key()?;
            self.current = Some((sequence, kind));
        }
        Ok(())
    }
}
