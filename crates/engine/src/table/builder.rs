//! Writing a table: entries in ascending order become data blocks, an index, a filter and a hash index.
//!
//! predecessor: flush, compaction job, [`file_writer`](super::file_writer) · successor: [`block_output`](super::block_output)
//!
//! The index entry of a block is held back until the first key of the next block is known, because the separator can then be
//! shorter than either neighbour. Blocks are written as they fill up; filter, hash index, metaindex, index and footer follow
//! at the end. The [module](super) has a drawing of the layout.

use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::Arc;

use terrace_env::WritableFile;
use terrace_format::block::BlockBuilder;
use terrace_format::comparator::UserComparator;
use terrace_format::compression::{Compression, NONE_ID};
use terrace_format::filter::{FilterBlockBuilder, FilterLayout, FilterPolicy};
use terrace_format::hash_index::{HASH_INDEX_METAINDEX_KEY, HashIndexBuilder};
use terrace_format::internal_key::{
    InternalKeyComparator, SequenceNumber, ValueKind, parse_internal_key, tag, user_key,
};
use terrace_format::limits::{
    BLOCK_TRAILER_SIZE_BYTES, MAX_BLOCK_PADDING_BYTES, MAX_DECOMPRESSED_BLOCK_SIZE_BYTES, MAX_KEY_SIZE_BYTES,
    MAX_STORED_VALUE_SIZE_BYTES, PAGE_SIZE_BYTES,
};
use terrace_format::table::{
    BlockHandle, COUNTS_METAINDEX_KEY, Footer, NO_FILTER_METAINDEX_KEY, TableCounts, filter_metaindex_key,
    policy_metaindex_key, seal_pieces,
};
use terrace_format::version_edit::FileEntry;

use super::block_output::BlockOutput;
use crate::error::{Error, ErrorKind, Result};
use crate::iterator::StoredBlock;

/// The restart interval of index and metaindex: each key is stored whole, so that a search decodes none in vain.
const INDEX_RESTART_INTERVAL: usize = 1;

/// The most that an entry adds to a block besides its key and its value: three lengths and a restart point.
const MAX_ENTRY_OVERHEAD_BYTES: usize = 3 * 5 + 4;

/// A value of this size or larger gets a data block to itself. The flush then writes it without copying it into a
/// block, and compactions pass it on unchanged once it is compressed.
pub(crate) const LARGE_VALUE_BYTES: usize = 32 << 10;

/// How a table is written.
#[derive(Clone, Debug)]
pub struct TableBuilderOptions {
    /// Uncompressed size at which a data block is closed, in bytes.
    pub block_size_bytes: usize,
    /// Number of entries from one restart point of a data block to the next.
    pub restart_interval: usize,
    /// Compression of data blocks. A block that does not shrink by an eighth is stored uncompressed.
    pub compression: Compression,
    /// Bits per key in the Bloom filter; 0 writes no filter.
    pub filter_bits_per_key: usize,
    /// The policy that makes filters instead of the Bloom filter.
    pub filter_policy: Option<Arc<dyn FilterPolicy>>,
    /// The largest size of the hash index, in percent of the size of the data blocks. A table that would exceed it gets no
    /// index; 0 writes none at all. Only tables in bytewise order have one, and only without a filter policy.
    pub hash_index_percent: usize,
}

/// Writes one table.
///
/// If it is dropped without [`finish`](Self::finish), it leaves an unfinished file, which no reader takes for a table.
pub struct TableBuilder {
    output: BlockOutput,
    comparator: InternalKeyComparator,
    options: TableBuilderOptions,
    data: BlockBuilder,
    index: BlockBuilder,
    /// A value of this size or larger gets a data block to itself.
    large_value_bytes: usize,
    /// Whether blocks that are stored uncompressed lie in as few pages as their size allows. The size of others is not known
    /// before they are compressed.
    fills_pages: bool,
    /// Whether the last data block was stored uncompressed, as the next one then is, most likely.
    stores_raw: bool,
    filter: Option<FilterBlockBuilder>,
    hash_index: Option<HashIndexBuilder>,
    /// The handle of the last data block while its index entry is held back.
    pending: Option<BlockHandle>,
    smallest: Vec<u8>,
    /// The last key of the last finished block. That of the open block is in `data`.
    last_key: Vec<u8>,
    counts: TableCounts,
    /// The first failure. The file has had a hole since then, so nothing may succeed any more.
    failure: Option<Error>,
}

/// How an entry comes into the table.
enum Form<'a> {
    /// As the last entry of the open data block.
    Shared,
    /// As the first entry of a data block, which it fills.
    First,
    /// As an uncompressed block with no other entry.
    Alone,
    /// As this stored block, which holds no other entry.
    Stored(StoredBlock<'a>),
}

/// What is known about an entry that may be added.
struct Checked {
    kind: ValueKind,
    sequence: SequenceNumber,
    /// Whether it is the first entry of its user key in this table.
    is_newest_version: bool,
}

/// What [`TableBuilder::finish`] wrote.
#[derive(Clone, Debug)]
pub struct FinishedTable {
    /// Size of the file, in bytes.
    pub size_bytes: u64,
    /// The first internal key; empty in a table without entries.
    pub smallest: Vec<u8>,
    /// The last internal key; empty in a table without entries.
    pub largest: Vec<u8>,
    /// What the table holds.
    pub counts: TableCounts,
}

impl FinishedTable {
    /// The table as a version edit lists it, with the file number `number`.
    pub(crate) fn into_entry(self, number: u64) -> FileEntry {
        let Self { size_bytes, smallest, largest, .. } = self;
        FileEntry { number, size_bytes, smallest, largest }
    }
}

impl TableBuilder {
    /// A builder that writes to `file`, which must be empty; `path` is for messages.
    pub fn new(
        file: Box<dyn WritableFile>,
        path: PathBuf,
        comparator: InternalKeyComparator,
        options: TableBuilderOptions,
    ) -> Self {
        let filter = match &options.filter_policy {
            Some(policy) => Some(FilterBlockBuilder::with_policy(Arc::clone(policy))),
            None if options.filter_bits_per_key == 0 => None,
            None => Some(FilterBlockBuilder::new(options.filter_bits_per_key, FilterLayout::WholeFile)),
        };
        let hash_index = (options.hash_index_percent > 0
            && options.filter_policy.is_none()
            && matches!(comparator.user(), UserComparator::Bytewise))
        .then(HashIndexBuilder::new);
        // A policy's filters go by the offsets of blocks, so no block may move after its keys are added.
        let fills_pages =
            options.filter_policy.is_none() && options.block_size_bytes.is_multiple_of(PAGE_SIZE_BYTES);
        Self {
            output: BlockOutput::new(file, path, fills_pages),
            comparator,
            data: BlockBuilder::new(options.restart_interval),
            index: BlockBuilder::new(INDEX_RESTART_INTERVAL),
            large_value_bytes: LARGE_VALUE_BYTES.max(options.block_size_bytes),
            fills_pages,
            stores_raw: options.compression == Compression::None,
            options,
            filter,
            hash_index,
            pending: None,
            smallest: Vec::new(),
            last_key: Vec::new(),
            counts: TableCounts { newest_sequence: Some(0), ..TableCounts::default() },
            failure: None,
        }
    }

    /// Adds an entry. `internal_key` must be greater than all keys added before.
    ///
    /// # Errors
    /// `InvalidArgument`, with nothing done, if the key is not in order or not an internal key, or if key, value or table
    /// exceed their limits. Errors of the file system, after which every call fails.
    pub fn add(&mut self, internal_key: &[u8], value: &[u8]) -> Result<()> {
        let form = if value.len() < self.large_value_bytes {
            Form::Shared
        } else if self.options.compression == Compression::None {
            Form::Alone
        } else {
            Form::First
        };
        self.add_as(internal_key, value, form)
    }

    /// Adds an entry that is alone in `block`. The block is copied as stored if it is compressed in the way of this
    /// table.
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub(crate) fn add_stored(
        &mut self,
        internal_key: &[u8],
        value: &[u8],
        block: StoredBlock<'_>,
    ) -> Result<()> {
        if value.len() >= self.large_value_bytes
            && self.options.compression.is_that_of(block.trailer[0], block.contents)
        {
            self.add_as(internal_key, value, Form::Stored(block))
        } else {
            self.add(internal_key, value)
        }
    }

    #[inline]
    fn add_as(&mut self, internal_key: &[u8], value: &[u8], form: Form<'_>) -> Result<()> {
        self.check_not_failed()?;
        let checked = self.check_entry(internal_key, value)?;
        let result = self.add_checked(internal_key, value, form, checked);
        self.remember_failure(result)
    }

    fn add_checked(
        &mut self,
        internal_key: &[u8],
        value: &[u8],
        form: Form<'_>,
        checked: Checked,
    ) -> Result<()> {
        if self.ends_block_before(internal_key, value, &form) {
            self.finish_data_block()?;
        }
        let user_key = user_key(internal_key);
        if let Some(handle) = self.pending.take() {
            // The last key is about to be replaced, so it becomes the separator in place.
            self.comparator.find_shortest_separator(&mut self.last_key, internal_key);
            add_to_index(&mut self.index, &self.last_key, handle);
        }
        if self.counts.entries == 0 {
            self.smallest.extend_from_slice(internal_key);
        }
        if let Some(filter) = &mut self.filter {
            filter.add_key(user_key);
        }
        match form {
            Form::Shared | Form::First => self.add_to_block(internal_key, value, checked.is_newest_version),
            Form::Alone | Form::Stored(_) => {
                self.add_alone(internal_key, value, form, checked.is_newest_version)?
            }
        }
        self.counts.entries += 1;
        self.counts.deletions += u64::from(checked.kind == ValueKind::Deletion);
        self.counts.raw_key_bytes += internal_key.len() as u64;
        self.counts.raw_value_bytes += value.len() as u64;
        self.counts.newest_sequence = self.counts.newest_sequence.max(Some(checked.sequence));
        if self.data.estimated_size_bytes() >= self.options.block_size_bytes {
            self.finish_data_block()?;
        }
        Ok(())
    }

    /// Whether the open data block, if there is one, ends before this entry.
    #[inline]
    fn ends_block_before(&self, internal_key: &[u8], value: &[u8], form: &Form<'_>) -> bool {
        let size_bytes = self.data.estimated_size_bytes();
        let entry_size_bytes = internal_key.len() + value.len() + MAX_ENTRY_OVERHEAD_BYTES;
        !matches!(form, Form::Shared)
            || size_bytes + entry_size_bytes > MAX_DECOMPRESSED_BLOCK_SIZE_BYTES
            || (self.fills_pages && self.stores_raw && self.ends_page_before(internal_key, value))
    }

    /// Whether the open block, if it is stored uncompressed, ends with a page but for what may remain unused, and this entry would
    /// take it into the next one.
    #[inline]
    fn ends_page_before(&self, internal_key: &[u8], value: &[u8]) -> bool {
        // The block will begin with a page, or little after the beginning.
        let within_page = (self.output.offset % PAGE_SIZE_BYTES as u64) as usize;
        let lost_bytes = if within_page <= MAX_BLOCK_PADDING_BYTES { within_page } else { 0 };
        let most_bytes = self.options.block_size_bytes - lost_bytes - BLOCK_TRAILER_SIZE_BYTES;
        self.data.estimated_size_bytes() + MAX_BLOCK_PADDING_BYTES >= most_bytes
            && self.data.size_with_bytes(internal_key, value) > most_bytes
    }

    #[inline]
    fn add_to_block(&mut self, internal_key: &[u8], value: &[u8], is_newest_version: bool) {
        self.data.add(internal_key, value);
        if let Some(hash_index) = &mut self.hash_index
            && is_newest_version
        {
            let user_key = user_key(internal_key);
            hash_index.add_key(user_key, self.data.last_restart_offset(), self.data.entries_size_bytes());
        }
    }

    /// Writes an entry as a separate block. No data block is open.
    fn add_alone(
        &mut self,
        internal_key: &[u8],
        value: &[u8],
        form: Form<'_>,
        is_newest_version: bool,
    ) -> Result<()> {
        let (before, after) = BlockBuilder::around_value(internal_key, value.len());
        if let Some(hash_index) = &mut self.hash_index
            && is_newest_version
        {
            hash_index.add_key(user_key(internal_key), 0, before.len() + value.len());
        }
        let (handle, id) = match form {
            Form::Stored(StoredBlock { contents, trailer }) => {
                (self.output.write_sealed(&[contents], *trailer)?, trailer[0])
            }
            _ => {
                let pieces = [&before[..], value, &after];
                (self.output.write_sealed(&pieces, seal_pieces(&pieces, NONE_ID))?, NONE_ID)
            }
        };
        self.last_key.clear();
        self.last_key.extend_from_slice(internal_key);
        self.note_written_block(handle, id);
        Ok(())
    }

    /// The internal key added last; empty if there is none.
    fn previous_key(&self) -> &[u8] {
        if self.data.is_empty() { &self.last_key } else { self.data.last_key() }
    }

    /// Checks that an entry may be added.
    fn check_entry(&self, internal_key: &[u8], value: &[u8]) -> Result<Checked> {
        let refuse =
            |problem: String| Err(Error::at_path(ErrorKind::InvalidArgument, &self.output.path, problem));
        let parsed = match parse_internal_key(internal_key) {
            Ok(parsed) => parsed,
            Err(error) => return refuse(error.to_string()),
        };
        if parsed.user_key.len() > MAX_KEY_SIZE_BYTES {
            return refuse(format!("a key of {} bytes exceeds {MAX_KEY_SIZE_BYTES}", parsed.user_key.len()));
        }
        if value.len() > MAX_STORED_VALUE_SIZE_BYTES {
            return refuse(format!("a value of {} bytes exceeds {MAX_STORED_VALUE_SIZE_BYTES}", value.len()));
        }
        // Two index entries are still to come: those of the previous block and of this one.
        let last_key = self.previous_key();
        let index_growth = last_key.len() + internal_key.len() + 2 * (MAX_ENTRY_OVERHEAD_BYTES + 20);
        if self.index.estimated_size_bytes() + index_growth > MAX_DECOMPRESSED_BLOCK_SIZE_BYTES {
            return refuse("the table's index is full; begin another table".to_owned());
        }
        let is_newest_version = self.counts.entries == 0
            || match self.comparator.user().compare(parsed.user_key, user_key(last_key)) {
                Ordering::Greater => true,
                Ordering::Equal if tag(internal_key) < tag(last_key) => false,
                _ => return refuse("keys must be added in ascending order, each once".to_owned()),
            };
        Ok(Checked { kind: parsed.kind, sequence: parsed.sequence, is_newest_version })
    }

    /// Estimates the size of the file if it were finished now, without filter and indexes, in bytes.
    pub fn estimated_size_bytes(&self) -> u64 {
        let open_block = if self.data.is_empty() { 0 } else { self.data.estimated_size_bytes() };
        self.output.offset + open_block as u64
    }

    /// Number of entries added so far.
    pub fn entries(&self) -> u64 {
        self.counts.entries
    }

    /// Writes what is held back and syncs the file. The file's *name* becomes durable when its directory is synced.
    ///
    /// # Errors
    /// The failure of an earlier [`add`](Self::add); otherwise errors of the file system. The file is useless then.
    pub fn finish(mut self) -> Result<FinishedTable> {
        self.check_not_failed()?;
        self.finish_data_block()?;
        let largest = self.last_key.clone();
        if let Some(handle) = self.pending.take() {
            self.comparator.find_short_successor(&mut self.last_key);
            add_to_index(&mut self.index, &self.last_key, handle);
        }
        let metaindex = self.write_metadata()?;
        // Stored uncompressed, so that readers can use it in the mapped file.
        let (index, _) = self.output.write_block(self.index.finish(), &Compression::None)?;
        self.output.append(&Footer { metaindex, index }.encode())?;
        let size_bytes = self.output.finish()?;
        Ok(FinishedTable { size_bytes, smallest: self.smallest, largest, counts: self.counts })
    }

    /// Writes filter, hash index and metaindex; returns the metaindex's handle.
    fn write_metadata(&mut self) -> Result<BlockHandle> {
        let data_size_bytes = self.output.offset;
        // The hash index has to know its place before it is written.
        self.output.fills_pages = false;
        // The entries are added in the bytewise order of their names, whatever the order of the table.
        let mut metaindex = BlockBuilder::new(INDEX_RESTART_INTERVAL);
        if let Some(filter) = self.filter.take() {
            // A filter's bits do not compress.
            let (handle, _) = self.output.write_block(&filter.finish(), &Compression::None)?;
            match &self.options.filter_policy {
                Some(policy) => add_to_index(&mut metaindex, &policy_metaindex_key(policy.name()), handle),
                None => add_to_index(&mut metaindex, filter_metaindex_key(), handle),
            }
        } else {
            add_to_index(&mut metaindex, NO_FILTER_METAINDEX_KEY, BlockHandle { offset: 0, size: 0 });
        }
        metaindex.add(COUNTS_METAINDEX_KEY, &self.counts.encode());
        if let Some(handle) = self.write_hash_index(data_size_bytes)? {
            add_to_index(&mut metaindex, HASH_INDEX_METAINDEX_KEY, handle);
        }
        Ok(self.output.write_block(metaindex.finish(), &Compression::None)?.0)
    }

    /// Writes the hash index, if the table gets one.
    fn write_hash_index(&mut self, data_size_bytes: u64) -> Result<Option<BlockHandle>> {
        let limit_bytes = data_size_bytes.saturating_mul(self.options.hash_index_percent as u64) / 100;
        let offset = self.output.offset;
        let contents = self
            .hash_index
            .take()
            .and_then(|index| index.finish(offset, self.options.block_size_bytes, limit_bytes));
        match contents {
            Some(contents) => Ok(Some(self.output.write_block(&contents, &Compression::None)?.0)),
            None => Ok(None),
        }
    }

    /// Writes the open data block, if it has entries, and holds back its index entry.
    fn finish_data_block(&mut self) -> Result<()> {
        if self.data.is_empty() {
            return Ok(());
        }
        let (handle, id) = self.output.write_block(self.data.finish(), &self.options.compression)?;
        self.last_key.clear();
        self.last_key.extend_from_slice(self.data.last_key());
        self.data.reset();
        self.note_written_block(handle, id);
        Ok(())
    }

    /// Notes that a data block was written. Its last key is in `last_key`.
    fn note_written_block(&mut self, handle: BlockHandle, compression_id: u8) {
        if let Some(hash_index) = &mut self.hash_index {
            hash_index.finish_block(handle, compression_id != NONE_ID);
        }
        self.pending = Some(handle);
        self.stores_raw = compression_id == NONE_ID;
        if let Some(filter) = &mut self.filter {
            filter.start_block(self.output.offset);
        }
    }

    fn check_not_failed(&self) -> Result<()> {
        match &self.failure {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    fn remember_failure(&mut self, result: Result<()>) -> Result<()> {
        if let Err(error) = &result {
            self.failure = Some(error.clone());
        }
        result
    }
}

fn add_to_index(index: &mut BlockBuilder, separator: &[u8], handle: BlockHandle) {
    let mut value = Vec::new();
    handle.encode_to(&mut value);
    index.add(separator, &value);
}
