//! An open table: its parts, as they were read and verified when it was opened.
//!
//! predecessor: table cache (opens), [`lookup`](super::lookup), [`iterator`](super::iterator), [`verify`](super::verify) ·
//! successor: [`block_fetch`](super::block_fetch), [`metaindex`](super::metaindex), [`index`](super::index)

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use terrace_env::RandomAccessFile;
use terrace_format::block::{Block, BlockIter};
use terrace_format::internal_key::InternalKeyComparator;
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::{Footer, TableCounts};

use super::block_fetch::{BlockSource, TableReadContext, would_block};
use super::block_map::BlockMap;
use super::filter_forecast::FilterForecast;
use super::index::{IndexCursor, TableIndex};
use super::metaindex::Metadata;
use crate::error::{Error, Result};
use crate::read_tier::ReadTier;

/// An open table file. It is immutable; threads share it by `Arc`.
pub struct Table {
    pub(crate) source: BlockSource,
    pub(crate) index: TableIndex,
    pub(crate) footer: Footer,
    pub(crate) metadata: Metadata,
    pub(super) filter_forecast: FilterForecast,
    /// Set at each use after the first; the table cache clears it when it looks for a table to close.
    recently_used: AtomicBool,
}

impl Table {
    /// Opens the table of `size_bytes` in `file`; `path` is for messages.
    ///
    /// Footer, index, metaindex and filter are read now and verified. A table with a damaged metaindex or filter is opened
    /// without them; [`verify`](Self::verify) reports the damage.
    ///
    /// # Errors
    /// `Corruption` if the file is not a table, is shorter than `size_bytes`, or has a damaged footer or index;
    /// `Unsupported` if the index has an unknown compression; errors of the file system.
    pub fn open(
        file: Arc<dyn RandomAccessFile>,
        path: PathBuf,
        size_bytes: u64,
        context: Arc<TableReadContext>,
    ) -> Result<Table> {
        // Nothing is allocated from a size before it has passed this check.
        check_size(&*file, &path, size_bytes)?;
        let source = BlockSource::new(Arc::clone(&file), path, size_bytes, context);
        let footer = read_footer(&*file, &source.path, size_bytes)?;
        let (index, place) = source.kept_contents(footer.index)?;
        let index = Block::new(index).map_err(|error| source.block_error(footer.index, error))?;
        let index = TableIndex::new(index, place);
        let metadata = Metadata::read_or_ignore_damage(&source, footer.metaindex)?;
        let (filter_forecast, recently_used) = (FilterForecast::default(), AtomicBool::new(false));
        let table = Self { source, index, footer, metadata, filter_forecast, recently_used };
        if table.source.paging.is_active() {
            // The index was just read.
            table.index.keep_map(table.comparator());
        }
        Ok(table)
    }

    /// The index in separate memory, if the database has outgrown memory, and if it can be made without waiting or
    /// `tier` allows waiting.
    #[inline]
    pub(super) fn block_map(&self, tier: ReadTier) -> Option<&BlockMap> {
        if !self.source.paging.is_active() {
            return None;
        }
        if let Some(map) = self.index.map() {
            return Some(map);
        }
        self.index_is_at_hand(tier).then(|| self.make_block_map())?
    }

    #[cold]
    fn make_block_map(&self) -> Option<&BlockMap> {
        if self.index.lacks_map() {
            return None;
        }
        self.source.paging.start_reading(self.footer.index);
        self.index.keep_map(self.comparator())
    }

    /// Whether the index can be searched without waiting for the disk, or `tier` allows waiting.
    pub(crate) fn index_is_at_hand(&self, tier: ReadTier) -> bool {
        self.source.is_at_hand(self.footer.index, self.index.place, tier)
    }

    /// Fails with [`WouldBlock`](crate::error::ErrorKind::WouldBlock) if `tier` forbids waiting for the index.
    pub(crate) fn check_index_tier(&self, tier: ReadTier) -> Result<()> {
        if self.index_is_at_hand(tier) { Ok(()) } else { Err(would_block(&self.source.path)) }
    }

    /// A cursor over the index. It is not on an entry yet.
    pub(crate) fn index_cursor(&self, tier: ReadTier) -> IndexCursor {
        // Making ranks reads the whole index. A walking cursor reads nothing before it moves.
        let is_at_hand = self.index_is_at_hand(tier);
        self.block_map(tier);
        if is_at_hand { self.index.cursor(self.comparator()) } else { self.index.walking_cursor() }
    }

    /// What the table's writer counted; `None` if Terrace did not write the table.
    pub fn counts(&self) -> Option<TableCounts> {
        self.metadata.counts
    }

    /// The path of the table's file.
    pub fn path(&self) -> &Path {
        &self.source.path
    }

    /// The size of the file, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.source.size_bytes
    }

    pub(crate) fn comparator(&self) -> &InternalKeyComparator {
        &self.source.context.comparator
    }

    /// Fails if the index ends before `largest`, the largest key that the table has.
    ///
    /// The footer has no checksum. One that leads to a data block in place of the index would hide the entries of other blocks.
    ///
    /// # Errors
    /// `Corruption`.
    pub(crate) fn check_reaches(&self, largest: &[u8]) -> Result<()> {
        let mut separators = BlockIter::new(self.index.block());
        // Reads that use a malformed index report that.
        if separators.seek_to_last().is_err() {
            return Ok(());
        }
        if separators.valid() && self.comparator().compare(separators.key(), largest).is_ge() {
            return Ok(());
        }
        Err(Error::corruption(
            self.path(),
            self.footer.index.offset,
            "the index ends before the table's largest key",
        ))
    }

    pub(crate) fn index_error(&self, error: terrace_format::FormatError) -> Error {
        self.source.block_error(self.footer.index, error)
    }

    /// Notes a use for [`take_recently_used`](Self::take_recently_used). Reads the flag first, so that readers of a table in
    /// constant use do not contend for a cache line.
    pub(crate) fn note_use(&self) {
        if !self.recently_used.load(Ordering::Relaxed) {
            self.recently_used.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the table was used since the last call.
    pub(crate) fn take_recently_used(&self) -> bool {
        self.recently_used.swap(false, Ordering::Relaxed)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("path", &self.source.path)
            .field("size_bytes", &self.source.size_bytes)
            .field("counts", &self.metadata.counts)
            .finish_non_exhaustive()
    }
}

/// Fails if the file is shorter than `size_bytes`. Reads none of it.
fn check_size(file: &dyn RandomAccessFile, path: &Path, size_bytes: u64) -> Result<()> {
    let actual_size_bytes = file.size_bytes()?;
    if actual_size_bytes < size_bytes {
        let problem = format!("the table is truncated: {actual_size_bytes} bytes of {size_bytes} are left");
        return Err(Error::corruption(path, actual_size_bytes, problem));
    }
    Ok(())
}

/// Reads the footer of a table of `size_bytes`, if the file can be a table.
fn read_footer(file: &dyn RandomAccessFile, path: &Path, size_bytes: u64) -> Result<Footer> {
    let Some(footer_offset) = size_bytes.checked_sub(FOOTER_SIZE_BYTES as u64) else {
        let problem = format!(
            "{size_bytes} bytes are too short for a table, whose footer alone has {FOOTER_SIZE_BYTES}"
        );
        return Err(Error::corruption(path, 0, problem));
    };
    let mut footer = [0; FOOTER_SIZE_BYTES];
    file.read_exact_at(footer_offset, &mut footer)?;
    Footer::decode(&footer).map_err(|error| Error::format(path, footer_offset, error))
}
