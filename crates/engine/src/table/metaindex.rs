//! What a table says about itself: the filter, the counts and the hash index, found through the metaindex block.
//!
//! predecessor: [`reader`](super::reader) at open, [`verify`](super::verify) · successor:
//! [`block_fetch`](super::block_fetch)
//!
//! Metaindex keys are plain names in bytewise order, whatever the order of the table's keys. Unknown names are ignored.

use std::sync::Arc;

use terrace_format::block::{Block, BlockIter};
use terrace_format::comparator::UserComparator;
use terrace_format::filter::{FilterBlockReader, FilterPolicy};
use terrace_format::hash_index::HASH_INDEX_METAINDEX_KEY;
use terrace_format::table::{
    BlockHandle, COUNTS_METAINDEX_KEY, TableCounts, filter_metaindex_key, policy_metaindex_key,
};

use super::block_fetch::{BlockReadOptions, BlockSource, Residency};
use super::hash_index::HashIndex;
use crate::error::{ErrorKind, Result};

/// The filter, the counts and the hash index of a table.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    /// The filter, if the table has one of a known kind and filters are used.
    pub(crate) filter: Option<TableFilter>,
    /// The counts, if this engine wrote the table.
    pub(crate) counts: Option<TableCounts>,
    /// The hash index, not yet read, if the table has one that may be used.
    pub(crate) hash_index: Option<HashIndex>,
}

/// The filter of an open table.
#[derive(Debug)]
pub(crate) struct TableFilter {
    reader: FilterBlockReader,
    pub(crate) handle: BlockHandle,
    pub(crate) place: Residency,
    /// Whether one filter covers all blocks, so that it can be consulted before the block is known.
    pub(crate) covers_whole_file: bool,
}

impl TableFilter {
    /// Whether the block at `block_offset` may contain `user_key`. `false` is certain.
    pub(crate) fn may_contain(&self, block_offset: u64, user_key: &[u8]) -> bool {
        self.reader.may_contain(block_offset, user_key)
    }

    /// Whether the table may contain `user_key`, as far as that is known without the key's block.
    pub(crate) fn file_may_contain(&self, user_key: &[u8]) -> bool {
        !self.covers_whole_file || self.reader.may_contain(0, user_key)
    }
}

impl Metadata {
    /// Reads the metadata that the metaindex at `handle` lists. Any damage is an error.
    pub(crate) fn read(source: &BlockSource, handle: BlockHandle) -> Result<Self> {
        let metaindex = source.read_block(handle, &BlockReadOptions::default())?;
        let in_metaindex = |error| source.block_error(handle, error);
        let filter_handle = match find_filter(source, &metaindex).map_err(in_metaindex)? {
            Some(found) if source.context.use_filters => {
                let (handle, _) = BlockHandle::decode(&found.handle).map_err(in_metaindex)?;
                Some((handle, found.policy))
            }
            _ => None,
        };
        let counts = match find(&metaindex, COUNTS_METAINDEX_KEY).map_err(in_metaindex)? {
            Some(value) => Some(TableCounts::decode(&value).map_err(in_metaindex)?),
            None => None,
        };
        let filter = match filter_handle {
            Some((handle, policy)) => Some(read_filter(source, handle, policy)?),
            None => None,
        };
        // A program that supplies its own filters expects them to be used.
        let may_hash = matches!(source.context.comparator.user(), UserComparator::Bytewise)
            && source.context.filter_policy.is_none();
        let hash_index = match find(&metaindex, HASH_INDEX_METAINDEX_KEY).map_err(in_metaindex)? {
            Some(value) if may_hash => {
                let (handle, _) = BlockHandle::decode(&value).map_err(in_metaindex)?;
                Some(HashIndex::new(handle))
            }
            _ => None,
        };
        Ok(Self { filter, counts, hash_index })
    }

    /// As [`read`](Self::read), for readers to which the metadata are optional: damage counts as absence. A failure to
    /// read the file is still an error, because the next attempt may succeed.
    pub(crate) fn read_or_ignore_damage(source: &BlockSource, handle: BlockHandle) -> Result<Self> {
        match Self::read(source, handle) {
            Err(error) if matches!(error.kind(), ErrorKind::Corruption | ErrorKind::Unsupported) => {
                Ok(Self::default())
            }
            result => result,
        }
    }
}

/// The value of the metaindex entry with exactly this name.
fn find(metaindex: &Block, name: &[u8]) -> terrace_format::Result<Option<Vec<u8>>> {
    let mut entries = BlockIter::new(metaindex);
    entries.seek(&UserComparator::Bytewise, name)?;
    Ok((entries.valid() && entries.key() == name).then(|| entries.value().to_vec()))
}

/// Where a filter is, and whose it is.
struct FoundFilter {
    /// The handle of its block, in its stored form.
    handle: Vec<u8>,
    /// The policy that made it; `None` for a Bloom filter.
    policy: Option<Arc<dyn FilterPolicy>>,
}

/// The filter of a known kind: that of the database's policy, or else the Bloom filter.
fn find_filter(source: &BlockSource, metaindex: &Block) -> terrace_format::Result<Option<FoundFilter>> {
    if let Some(policy) = &source.context.filter_policy
        && let Some(handle) = find(metaindex, &policy_metaindex_key(policy.name()))?
    {
        return Ok(Some(FoundFilter { handle, policy: Some(Arc::clone(policy)) }));
    }
    Ok(find(metaindex, filter_metaindex_key())?.map(|handle| FoundFilter { handle, policy: None }))
}

fn read_filter(
    source: &BlockSource,
    handle: BlockHandle,
    policy: Option<Arc<dyn FilterPolicy>>,
) -> Result<TableFilter> {
    let (contents, place) = source.kept_contents(handle)?;
    let reader = match policy {
        Some(policy) => FilterBlockReader::with_policy(contents, policy),
        None => FilterBlockReader::new(contents),
    };
    let reader = reader.map_err(|error| source.block_error(handle, error))?;
    let covers_whole_file = reader.covers_whole_file(source.size_bytes);
    Ok(TableFilter { reader, handle, place, covers_whole_file })
}
