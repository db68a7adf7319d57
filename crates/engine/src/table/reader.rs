//! An open table: point lookups, and what iterators and the verifier need of it.
//!
//! predecessor: table cache (opens), version (asks) · successor: [`block_fetch`](super::block_fetch)
//!
//! A lookup of user key *k* as of sequence *s*: if the table has a hash index and its file is mapped,
//! [`hash_lookup`](super::hash_lookup) answers nearly all lookups. Otherwise:
//! 1. The whole-file filter, if there is one, excludes almost all keys that the table does not hold.
//! 2. The index, verified when the table was opened, gives the one block whose separator is the first at or after
//!    *(k, s)*. The first entry at or after *(k, s)* is in this block, or is the first of the next one.
//! 3. Filters for single blocks, as LevelDB writes them, are asked now that the block is known.
//! 4. The block is fetched and searched. The entry found is the answer if its user key is *k*.
//!
//! If the block is cached, nothing is allocated, and no lock is taken except that of the block cache's shard.

use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use terrace_env::RandomAccessFile;
use terrace_format::block::{Block, BlockIter};
use terrace_format::internal_key::{self, InternalKeyComparator, SequenceNumber, ValueKind};
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::{BlockHandle, Footer, TableCounts};

use super::block_fetch::{BlockReadOptions, BlockSource, TableReadContext, would_block};
use super::block_map::{BlockMap, Found};
use super::filter_forecast::FilterForecast;
use super::hash_lookup::{HashAnswer, LookupKey};
use super::index::{IndexCursor, TableIndex, decode_handle};
use super::iterator::TableIterator;
use super::metaindex::{Metadata, TableFilter};
use super::pinned_value::{PinnedValue, TableValue};
use crate::error::{Error, Result};
use crate::iterator::InternalIterator;
use crate::read_tier::ReadTier;
use crate::thread_buffer::with_buffer;

/// An open table file. It is immutable; threads share it by `Arc`.
pub struct Table {
    pub(crate) source: BlockSource,
    pub(crate) index: TableIndex,
    pub(crate) footer: Footer,
    pub(crate) metadata: Metadata,
    filter_forecast: FilterForecast,
    /// Set at each use after the first; the table cache clears it when it looks for a table to close.
    recently_used: AtomicBool,
}

/// What a table says about a user key.
#[derive(Debug, Clone)]
pub struct TableEntry {
    /// Whether the key was written or deleted.
    pub kind: ValueKind,
    /// The value; empty for a deletion.
    pub value: PinnedValue,
}

/// An entry in the place where it was found, for the duration of a call.
#[derive(Debug)]
pub(crate) struct FoundEntry<'a> {
    pub(crate) sequence: SequenceNumber,
    pub(crate) kind: ValueKind,
    pub(crate) value: TableValue<'a>,
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

    /// The first entry at or after `internal_target`, if it has the same user key: the newest version of the key that a
    /// reader at the target's sequence number may see.
    ///
    /// # Errors
    /// `Corruption` if a block on the way is damaged; `WouldBlock` if `options` forbid waiting and the block is not in
    /// memory; errors of the file system.
    pub fn get(&self, internal_target: &[u8], options: &BlockReadOptions) -> Result<Option<TableEntry>> {
        let mut entry = None;
        self.get_with(&LookupKey::new(internal_target), options, &mut |found| {
            entry = Some(TableEntry { kind: found.kind, value: found.value.pin() });
        })?;
        Ok(entry)
    }

    /// As [`get`](Self::get), but hands the entry to `found` without a copy. Returns whether there is one.
    pub(crate) fn get_with(
        &self,
        key: &LookupKey<'_>,
        options: &BlockReadOptions,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<bool> {
        match self.find_by_hash(key, options, found)? {
            HashAnswer::Found => Ok(true),
            HashAnswer::Absent => Ok(false),
            HashAnswer::Unclear => self.search(key, options, found),
        }
    }

    /// Looks up a key by filter and index.
    fn search(
        &self,
        key: &LookupKey<'_>,
        options: &BlockReadOptions,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<bool> {
        let filter = self.filter_to_ask(options.tier);
        let is_excluded = filter.is_some_and(|filter| !filter.file_may_contain(key.user_key()));
        let is_found = !is_excluded
            && with_key_buffer(|buffer| self.search_with_buffer(key, filter, options, buffer, found))?;
        if self.source.paging.is_active() {
            self.filter_forecast.note(is_found);
        }
        Ok(is_found)
    }

    fn search_with_buffer(
        &self,
        target: &LookupKey<'_>,
        filter: Option<&TableFilter>,
        options: &BlockReadOptions,
        key: &mut Vec<u8>,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<bool> {
        let by_map =
            self.block_map(options.tier).map(|map| (map, map.find(self.comparator(), target.internal_key)));
        let handle = match by_map {
            Some((map, Found::Block(number))) => map.handle(number),
            Some((map, Found::Perhaps(number))) if filter.is_none_or(|filter| filter.covers_whole_file) => {
                if let Some(handle) = map.handle(number)
                    && let Some(is_found) = self.search_block(handle, target, options, key, found)?
                {
                    return Ok(is_found);
                }
                self.find_block(target.internal_key, options.tier, key)?
            }
            _ => self.find_block(target.internal_key, options.tier, key)?,
        };
        let Some(handle) = handle else {
            return Ok(false);
        };
        if let Some(filter) = filter
            && !filter.covers_whole_file
            && !filter.may_contain(handle.offset, target.user_key())
        {
            return Ok(false);
        }
        match self.search_block(handle, target, options, key, found)? {
            Some(is_found) => Ok(is_found),
            None => self.search_after_block(target, options, key, found),
        }
    }

    /// Looks for the key in one block. `None` if the block ends before it.
    fn search_block(
        &self,
        handle: BlockHandle,
        target: &LookupKey<'_>,
        options: &BlockReadOptions,
        key: &mut Vec<u8>,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<Option<bool>> {
        let block = self.source.data_block(handle, options)?;
        let position = block.find(self.comparator(), target.internal_key, key);
        let Some(range) = position.map_err(|error| self.source.block_error(handle, error))? else {
            return Ok(None);
        };
        let is_found =
            self.comparator().user().compare(internal_key::user_key(key), target.user_key()).is_eq();
        if is_found {
            let (sequence, kind) = self.tag_of(handle, key)?;
            found(FoundEntry { sequence, kind, value: TableValue::InBlock { block: &block, range } });
        }
        Ok(Some(is_found))
    }

    /// The rest of a lookup whose block ends before the wanted key. A version of the user key may be the first entry of the
    /// next block, but only if the separator between the blocks has that user key too. LevelDB never writes such a separator.
    #[cold]
    fn search_after_block(
        &self,
        target: &LookupKey<'_>,
        options: &BlockReadOptions,
        key: &mut Vec<u8>,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<bool> {
        let user_comparator = self.comparator().user();
        let target_user_key = target.user_key();
        self.find_block(target.internal_key, options.tier, key)?;
        if user_comparator.compare(internal_key::user_key(key), target_user_key).is_gt() {
            return Ok(false);
        }
        let mut entries = TableIterator::new(self, *options);
        entries.seek(target.internal_key)?;
        if !entries.valid()
            || user_comparator.compare(internal_key::user_key(entries.key()), target_user_key).is_ne()
        {
            return Ok(false);
        }
        let (sequence, kind) = self.tag_of(entries.block_handle(), entries.key())?;
        found(FoundEntry { sequence, kind, value: TableValue::Copied(entries.value()) });
        Ok(true)
    }

    /// Sequence and kind of the entry with this key, found in the block at `handle`.
    fn tag_of(&self, handle: BlockHandle, key: &[u8]) -> Result<(SequenceNumber, ValueKind)> {
        let parsed = internal_key::parse_internal_key(key);
        let parsed = parsed.map_err(|error| self.source.block_error(handle, error))?;
        Ok((parsed.sequence, parsed.kind))
    }

    /// The handle of the first block whose separator is at or after `internal_target`. Leaves the separator in `key`.
    fn find_block(
        &self,
        internal_target: &[u8],
        tier: ReadTier,
        key: &mut Vec<u8>,
    ) -> Result<Option<BlockHandle>> {
        self.check_index_tier(tier)?;
        let found = self.index.block().find(self.comparator(), internal_target, key);
        let found = found.map_err(|error| self.index_error(error))?;
        let handle = found.map(|range| decode_handle(&self.index.block().contents()[range]));
        handle.transpose().map_err(|error| self.index_error(error))
    }

    /// The index in memory of its own, if the database has outgrown memory, and if making it need not wait or may.
    #[inline]
    fn block_map(&self, tier: ReadTier) -> Option<&BlockMap> {
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

    /// The filter, if there is one, if it is worth its reads, and if it can be asked without waiting for the disk or `tier` allows
    /// waiting.
    fn filter_to_ask(&self, tier: ReadTier) -> Option<&TableFilter> {
        let filter = self.metadata.filter.as_ref()?;
        if self.source.paging.is_active() {
            if !self.filter_forecast.advises_filter() {
                return None;
            }
            if tier == ReadTier::Disk {
                // A question touches several of its pages. This costs little if they are in memory, less than to find that out.
                self.source.paging.start_reading(filter.handle);
            }
        }
        self.source.is_at_hand(filter.handle, filter.place, tier).then_some(filter)
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

    /// A cursor over the table's entries.
    pub fn iter(self: &Arc<Self>, options: BlockReadOptions) -> TableIterator<Arc<Table>> {
        TableIterator::new(self.clone(), options)
    }

    /// Estimates how many bytes of the file lie before `internal_key`: the offset of its block, or of the end of the data.
    ///
    /// # Errors
    /// `Corruption` if the index is damaged.
    pub fn approximate_offset_of(&self, internal_key: &[u8]) -> Result<u64> {
        let handle = with_key_buffer(|key| self.find_block(internal_key, ReadTier::Disk, key))?;
        Ok(handle.map_or(self.footer.metaindex.offset, |handle| handle.offset))
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
        // Whoever reads by a malformed index reports that.
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

/// A key buffer larger than this is freed after use.
const KEPT_KEY_BUFFER_SIZE_BYTES: usize = 64 << 10;

/// Calls `work` with this thread's key buffer, so that a lookup allocates nothing. A nested call, such as that of a
/// comparator that reads a table, gets its own buffer.
fn with_key_buffer<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    thread_local! {
        static KEY_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    with_buffer(&KEY_BUFFER, KEPT_KEY_BUFFER_SIZE_BYTES, work)
}
