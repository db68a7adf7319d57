//! The check of a whole table: each block, each key, the filter, the hash index and the counts.
//!
//! predecessor: `Db::verify`, repair, ingest · successor: [`block_fetch`](super::block_fetch)

use terrace_format::block::{Block, BlockIter, FoundFrom, find_from};
use terrace_format::hash_index::{Candidate, HashIndexReader, key_hash};
use terrace_format::internal_key::{self, ValueKind, parse_internal_key};
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES, INTERNAL_KEY_TAG_SIZE_BYTES};
use terrace_format::table::{BlockHandle, TableCounts};

use super::block_fetch::BlockReadOptions;
use super::index::decode_handle;
use super::metaindex::Metadata;
use super::read_ahead::ReadAhead;
use super::reader::Table;
use crate::error::{Error, Result};

/// What a walk over a table has seen so far.
struct Walk<'a> {
    table: &'a Table,
    /// The filter and the counts, read again and without tolerance for damage.
    metadata: Metadata,
    /// The hash index, if there is one that we understand, and its bytes.
    hash_index: Option<(HashIndexReader, Vec<u8>)>,
    /// The last separator or key; the next key must be greater.
    bound: Vec<u8>,
    /// Whether the walk is past the first key, so that `bound` holds.
    bounded: bool,
    /// Where the last data block ended.
    data_end: u64,
    counts: TableCounts,
    read_ahead: ReadAhead,
}

impl Table {
    /// Reads the whole table from the file, past the block cache, and checks that
    /// * every block's checksum is right and every entry can be decoded,
    /// * every byte of the footer is as it should be,
    /// * data blocks follow each other, and no block overlaps another,
    /// * keys are internal keys in ascending order, and each separator lies between its neighbours,
    /// * the filter admits every key, the hash index leads to its newest version, and the counts are right, where the
    ///   table has them.
    ///
    /// # Errors
    /// `Corruption` with the offset of the first damage; `Unsupported` for an unknown compression; errors of the file system.
    pub fn verify(&self) -> Result<()> {
        let source = &self.source;
        // The footer and the index in use were verified at the open, but the file may have decayed since.
        if source.footer_bytes()? != self.footer.encode() {
            let offset = source.size_bytes - FOOTER_SIZE_BYTES as u64;
            let problem = "the footer differs from what a writer writes";
            return Err(Error::corruption(self.path(), offset, problem));
        }
        let index = source.read_block(self.footer.index, &BlockReadOptions::default())?;
        index.verify().map_err(|error| self.index_error(error))?;
        let metaindex = source.read_block(self.footer.metaindex, &BlockReadOptions::default())?;
        metaindex.verify().map_err(|error| source.block_error(self.footer.metaindex, error))?;
        let metadata = Metadata::read(source, self.footer.metaindex)?;
        self.check_side_blocks(&metadata)?;
        // A table written by an earlier version does not record it.
        let says_newest = metadata.counts.is_some_and(|counts| counts.newest_sequence.is_some());
        let counts = TableCounts { newest_sequence: says_newest.then_some(0), ..TableCounts::default() };
        if let Some(filter) = &metadata.filter {
            // Reads it again: the filter in use may come from the mapping, whose checksum was verified before.
            source.read_contents(filter.handle, &BlockReadOptions::default())?;
        }
        let hash_index = match &metadata.hash_index {
            Some(index) => index.read_to_verify(source)?,
            None => None,
        };
        let bound = Vec::new();
        let read_ahead = ReadAhead::default();
        let mut walk = Walk {
            table: self,
            metadata,
            hash_index,
            bound,
            bounded: false,
            data_end: 0,
            counts,
            read_ahead,
        };

        let mut entries = BlockIter::new(&index);
        entries.seek_to_first().map_err(|error| self.index_error(error))?;
        while entries.valid() {
            let handle = decode_handle(entries.value()).map_err(|error| self.index_error(error))?;
            walk.data_block(handle)?;
            walk.separator(entries.key())?;
            entries.next().map_err(|error| self.index_error(error))?;
        }
        walk.read_ahead.leave(&source.paging);
        walk.end()
    }

    /// The blocks that hold no entries.
    fn side_blocks<'a>(&'a self, metadata: &'a Metadata) -> impl Iterator<Item = BlockHandle> + 'a {
        let filter = metadata.filter.as_ref().map(|filter| filter.handle);
        let hash_index = metadata.hash_index.as_ref().map(|index| index.handle());
        [Some(self.footer.index), Some(self.footer.metaindex), filter, hash_index].into_iter().flatten()
    }

    /// Checks that the blocks that hold no entries lie apart.
    ///
    /// The footer has no checksum. A bit flipped in a handle can lead to another block of the same size, which is
    /// itself intact; only its place shows the damage.
    fn check_side_blocks(&self, metadata: &Metadata) -> Result<()> {
        let mut blocks: Vec<_> = self.side_blocks(metadata).collect();
        blocks.sort_unstable_by_key(|handle| handle.offset);
        match blocks.windows(2).find(|pair| overlap(pair[0], pair[1])) {
            Some(pair) => {
                Err(Error::corruption(self.path(), pair[1].offset, "a block overlaps the one before it"))
            }
            None => Ok(()),
        }
    }
}

/// Where the block and its trailer end.
fn end_of(handle: BlockHandle) -> u64 {
    handle.offset + handle.size + BLOCK_TRAILER_SIZE_BYTES as u64
}

/// Whether two blocks, which lie in the file, share bytes.
fn overlap(one: BlockHandle, other: BlockHandle) -> bool {
    one.offset < end_of(other) && other.offset < end_of(one)
}

impl Walk<'_> {
    fn data_block(&mut self, handle: BlockHandle) -> Result<()> {
        let source = &self.table.source;
        if handle.offset < self.data_end {
            return Err(self.damage(handle.offset, "a data block overlaps the one before it"));
        }
        if source.paging.is_active() {
            self.read_ahead.pass(&source.paging, handle);
        }
        let block = source.read_block(handle, &BlockReadOptions::default())?;
        block.verify().map_err(|error| source.block_error(handle, error))?;
        if self.table.side_blocks(&self.metadata).any(|side_block| overlap(handle, side_block)) {
            return Err(self.damage(handle.offset, "a data block overlaps a block without entries"));
        }
        self.data_end = end_of(handle);

        let mut entries = BlockIter::new(&block);
        entries.seek_to_first().map_err(|error| source.block_error(handle, error))?;
        while entries.valid() {
            self.hash_place(handle, &block, entries.key())?;
            self.entry(handle, entries.key(), entries.value())?;
            entries.next().map_err(|error| source.block_error(handle, error))?;
        }
        Ok(())
    }

    /// Checks that the hash index leads to `key`, which is in `block`, if it is the newest version of its user key.
    fn hash_place(&self, handle: BlockHandle, block: &Block, key: &[u8]) -> Result<()> {
        let (Some((reader, contents)), Some(user_key)) =
            (&self.hash_index, key.len().checked_sub(INTERNAL_KEY_TAG_SIZE_BYTES).map(|end| &key[..end]))
        else {
            return Ok(());
        };
        // The bound is the previous key, or a separator, which never has the same user key as what follows it.
        let is_newest = !self.bounded || internal_key::user_key(&self.bound) != user_key;
        let leads_here = |candidate: Candidate| {
            candidate.block == handle
                && match find_from(block.contents(), candidate.restart_offset, user_key) {
                    FoundFrom::Entry { tag, value } => {
                        tag == internal_key::tag(key) && value.end <= candidate.needed_bytes
                    }
                    FoundFrom::Unclear => true,
                    FoundFrom::Absent | FoundFrom::Incomplete => false,
                }
        };
        if is_newest && !reader.candidates(contents, key_hash(user_key)).flatten().any(leads_here) {
            return Err(self.damage(handle.offset, "the hash index does not lead to a key of the block"));
        }
        Ok(())
    }

    fn entry(&mut self, handle: BlockHandle, key: &[u8], value: &[u8]) -> Result<()> {
        let parsed = parse_internal_key(key).map_err(|error| self.table.source.block_error(handle, error))?;
        if self.bounded && self.table.comparator().compare(key, &self.bound).is_le() {
            return Err(self.damage(
                handle.offset,
                "the block's keys do not ascend, or begin before the previous block ends",
            ));
        }
        if let Some(filter) = &self.metadata.filter
            && !filter.may_contain(handle.offset, parsed.user_key)
        {
            return Err(self.damage(handle.offset, "the filter denies a key of the block"));
        }
        self.counts.entries += 1;
        self.counts.deletions += u64::from(parsed.kind == ValueKind::Deletion);
        self.counts.raw_key_bytes += key.len() as u64;
        self.counts.raw_value_bytes += value.len() as u64;
        self.counts.newest_sequence = self.counts.newest_sequence.map(|newest| newest.max(parsed.sequence));
        self.set_bound(key);
        Ok(())
    }

    /// Checks the separator after a block against the block's last key and makes it the bound for the next block.
    fn separator(&mut self, separator: &[u8]) -> Result<()> {
        let index_offset = self.table.footer.index.offset;
        if separator.len() < INTERNAL_KEY_TAG_SIZE_BYTES {
            return Err(
                self.damage(index_offset, "a separator in the index is too short for an internal key")
            );
        }
        if self.bounded && self.table.comparator().compare(separator, &self.bound).is_lt() {
            return Err(self.damage(index_offset, "a separator in the index is less than a key before it"));
        }
        self.set_bound(separator);
        Ok(())
    }

    fn set_bound(&mut self, key: &[u8]) {
        self.bound.clear();
        self.bound.extend_from_slice(key);
        self.bounded = true;
    }

    fn end(self) -> Result<()> {
        match self.metadata.counts {
            Some(counts) if counts != self.counts => {
                let problem = format!("the table records {counts:?}, but contains {:?}", self.counts);
                Err(self.damage(self.table.footer.metaindex.offset, problem))
            }
            _ => Ok(()),
        }
    }

    fn damage(&self, offset: u64, problem: impl Into<String>) -> Error {
        Error::corruption(self.table.path(), offset, problem)
    }
}
