//! Point lookups in an open table.
//!
//! predecessor: version (asks) · successor: [`hash_lookup`](super::hash_lookup), else filter, [`index`](super::index) and
//! [`block_fetch`](super::block_fetch)
//!
//! A lookup of user key *k* as of sequence *s*: if the table has a hash index and its file is mapped,
//! [`hash_lookup`](super::hash_lookup) answers nearly all lookups. Otherwise:
//! 1. The whole-file filter, if there is one, excludes almost all keys that the table does not hold.
//! 2. The index, verified when the table was opened, gives the one block whose separator is the first at or after
//!    *(k, s)*. The first entry at or after *(k, s)* is in this block, or is the first of the next one.
//! 3. Filters for single blocks, as LevelDB writes them, are consulted now that the block is known.
//! 4. The block is fetched and searched. The entry found is the answer if its user key is *k*.
//!
//! If the block is cached, nothing is allocated, and no lock is taken except that of the block cache's shard.

use std::cell::Cell;

use terrace_format::internal_key::{self, SequenceNumber, ValueKind};
use terrace_format::table::BlockHandle;

use super::block_fetch::BlockReadOptions;
use super::block_map::Found;
use super::entry::{FoundEntry, TableEntry};
use super::hash_lookup::{HashAnswer, LookupKey};
use super::index::decode_handle;
use super::iterator::TableIterator;
use super::metaindex::TableFilter;
use super::pinned_value::TableValue;
use super::reader::Table;
use crate::error::Result;
use crate::iterator::InternalIterator;
use crate::read_tier::ReadTier;
use crate::thread_buffer::with_buffer;

impl Table {
    /// The first entry at or after `internal_target`, if it has the same user key: the newest version of the key that a
    /// reader at the target's sequence number may see.
    ///
    /// # Errors
    /// `Corruption` if a block that the search needs is damaged; `WouldBlock` if `options` forbid waiting and the block
    /// is not in memory; errors of the file system.
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

    /// The filter, if there is one, if it is worth its reads, and if it can be consulted without waiting for the disk
    /// or `tier` allows waiting.
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

    /// Estimates how many bytes of the file lie before `internal_key`: the offset of its block, or of the end of the data.
    ///
    /// # Errors
    /// `Corruption` if the index is damaged.
    pub fn approximate_offset_of(&self, internal_key: &[u8]) -> Result<u64> {
        let handle = with_key_buffer(|key| self.find_block(internal_key, ReadTier::Disk, key))?;
        Ok(handle.map_or(self.footer.metaindex.offset, |handle| handle.offset))
    }
}

/// A key buffer larger than this is freed after use.
const KEPT_KEY_BUFFER_SIZE_BYTES: usize = 64 << 10;

/// Calls `work` with this thread's key buffer, so that a lookup allocates nothing. A nested call, such as a lookup that
/// a comparator makes, gets a separate buffer.
fn with_key_buffer<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    thread_local! {
        static KEY_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    with_buffer(&KEY_BUFFER, KEPT_KEY_BUFFER_SIZE_BYTES, work)
}
