//! Reading one table file outside of a database: exchange, inspection, tests.
//!
//! predecessor: the user's program · successor: [`reader`](super::reader)

use std::path::Path;
use std::sync::Arc;

use terrace_format::compression::Dialect;
use terrace_format::internal_key::{
    InternalKeyComparator, ParsedInternalKey, SequenceNumber, ValueKind, before_all_versions, user_key,
};
use terrace_format::table::TableCounts;

use super::block_fetch::{BlockReadOptions, TableReadContext};
use super::file_writer::TableFileOptions;
use super::iterator::TableIterator;
use super::reader::Table;
use crate::error::Result;
use crate::iterator::InternalIterator;

/// Reads one table file by user keys. Threads may share it.
///
/// Any table of a LevelDB database can be opened, closed or not in use. Such a table may hold several versions of a key
/// and deletions: [`get`](Self::get) answers with the newest version *in this file*, and [`iter`](Self::iter) shows all of
/// them. See [`TableFileWriter`](super::TableFileWriter) for an example.
#[derive(Debug)]
pub struct TableFileReader {
    table: Arc<Table>,
}

impl TableFileReader {
    /// Opens the file at `path`. Of `options`, reading uses the comparator, which must be that of the file's writer, and
    /// the environment.
    ///
    /// Errors: [`Corruption`](crate::error::ErrorKind::Corruption) if the file is not a table or is damaged;
    /// [`Unsupported`](crate::error::ErrorKind::Unsupported) for an unknown compression; errors of the file system.
    pub fn open(path: impl AsRef<Path>, options: TableFileOptions) -> Result<Self> {
        let path = path.as_ref();
        let file = options.env.open_mapped(path)?;
        let size_bytes = file.size_bytes()?;
        let context = TableReadContext {
            comparator: InternalKeyComparator::new(options.comparator),
            block_cache: None,
            dialect: Dialect::LevelDb,
            use_filters: true,
            filter_policy: None,
            map_files: true,
        };
        let table = Table::open(file, path.to_owned(), size_bytes, Arc::new(context))?;
        Ok(Self { table: Arc::new(table) })
    }

    /// The value of `key`; `None` if the file does not hold it or says that it was deleted.
    ///
    /// Errors: [`Corruption`](crate::error::ErrorKind::Corruption) if a block on the way is damaged; errors of the file
    /// system.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let entry = self.table.get(&before_all_versions(key), &BlockReadOptions::default())?;
        Ok(entry.filter(|entry| entry.kind == ValueKind::Value).map(|entry| entry.value.into_vec()))
    }

    /// A cursor over all entries, not yet on one of them.
    pub fn iter(&self) -> TableFileIterator {
        TableFileIterator { entries: self.table.iter(BlockReadOptions::default()), current: None }
    }

    /// Reads the whole file and checks every block, the order of keys and the filter.
    ///
    /// Errors: [`Corruption`](crate::error::ErrorKind::Corruption) with the offset of the first damage, and those of
    /// [`open`](Self::open).
    pub fn verify(&self) -> Result<()> {
        self.table.verify()
    }

    /// What the writer counted; `None` in files of other writers than Terrace.
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
/// It starts out not valid: position it with a seek. After an error it is not valid; a later seek may succeed. It keeps
/// the file open.
pub struct TableFileIterator {
    entries: TableIterator,
    /// Sequence and kind of the current entry; `None` if the cursor is not valid.
    current: Option<(SequenceNumber, ValueKind)>,
}

impl TableFileIterator {
    /// Whether the cursor stands on an entry.
    pub fn valid(&self) -> bool {
        self.current.is_some()
    }

    /// Moves to the first entry. Errors here and below: a damaged block, or the file system's.
    pub fn seek_to_first(&mut self) -> Result<()> {
        self.moving(TableIterator::seek_to_first)
    }

    /// Moves to the last entry.
    pub fn seek_to_last(&mut self) -> Result<()> {
        self.moving(TableIterator::seek_to_last)
    }

    /// Moves to the first entry whose key is at or after `key`.
    pub fn seek(&mut self, key: &[u8]) -> Result<()> {
        self.moving(|entries| entries.seek(&before_all_versions(key)))
    }

    /// Moves to the next entry; does nothing if the cursor is not valid.
    #[expect(clippy::should_implement_trait, reason = "a cursor in both directions is no Iterator")]
    pub fn next(&mut self) -> Result<()> {
        match self.current {
            Some(_) => self.moving(TableIterator::next),
            None => Ok(()),
        }
    }

    /// Moves to the entry before; does nothing if the cursor is not valid.
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

    /// When the current entry was written, as its database counts; 0 in files made by
    /// [`TableFileWriter`](super::TableFileWriter). Needs [`valid`](Self::valid).
    pub fn sequence(&self) -> SequenceNumber {
        self.expect_current().0
    }

    /// Whether the current entry writes its key or deletes it. Needs [`valid`](Self::valid).
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
