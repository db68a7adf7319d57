//! A point lookup by the table's hash index: from the key's hash to the one place in one block where the key must be.
//!
//! predecessor: [`lookup`](super::lookup), for every get · successor: [`hash_index`](super::hash_index) and
//! [`block_fetch`](super::block_fetch)
//!
//! An uncompressed block is read where it lies in the mapped file: nothing is copied, and no lock is taken. A compressed
//! block that is not cached is decompressed only as far as the entry, into a buffer of the thread. Only a block that was
//! also needed a short time ago is decompressed whole and cached.
//!
//! The index is used only after its checksum was verified, at its first use. Whatever it says, the key that is found is
//! compared with the wanted one. The table is searched in the usual way if
//! * the file is not mapped, or the table has no hash index, or one that we cannot read,
//! * the database has outgrown memory,
//! * the newest version of the key is newer than the read's sequence,
//! * a block is not as the index says.

use std::cell::Cell;

use terrace_format::block::{FoundFrom, find_from};
use terrace_format::compression::{PartialSnappy, SNAPPY_ID};
use terrace_format::hash_index::{Candidate, key_hash};
use terrace_format::internal_key::{self, unpack_tag};
use terrace_format::prefetch::prefetch;

use super::block_fetch::BlockReadOptions;
use super::entry::FoundEntry;
use super::pinned_value::TableValue;
use super::reader::Table;
use crate::error::Result;
use crate::thread_buffer::with_buffer;

/// A buffer larger than this is given back to the allocator after use.
const KEPT_BUFFER_SIZE_BYTES: usize = 256 << 10;

/// The most bytes of a block to prefetch into the processor's cache: a block of usual size.
const MAX_PREFETCHED_BYTES: usize = 4 << 10;

/// The key of one get, which is the same for all tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookupKey<'a> {
    /// The user key, and the sequence as of which to read.
    pub(crate) internal_key: &'a [u8],
    hash: u64,
}

impl<'a> LookupKey<'a> {
    pub(crate) fn new(internal_key: &'a [u8]) -> Self {
        Self { internal_key, hash: key_hash(internal_key::user_key(internal_key)) }
    }

    #[inline]
    pub(crate) fn user_key(&self) -> &'a [u8] {
        internal_key::user_key(self.internal_key)
    }
}

/// What the hash index says about a key.
pub(crate) enum HashAnswer {
    /// The key was found, and its entry handed over.
    Found,
    /// The table does not hold the key.
    Absent,
    /// The index cannot tell: search the table.
    Unclear,
}

impl Table {
    /// Prefetches the slot at which a lookup of `key` begins into the processor's cache.
    #[inline]
    pub(crate) fn prefetch_lookup(&self, key: &LookupKey<'_>) {
        if let Some(index) = &self.metadata.hash_index
            && let Some(Some(reader)) = index.reader.get()
            && let Some(stored) = self.source.mapped_stored(index.handle)
        {
            let offset = reader.first_offset(key.hash);
            prefetch(stored.get(offset..offset.saturating_add(1)).unwrap_or_default());
        }
    }

    /// Looks up `key` by the hash index, and hands the entry to `found` if there is one.
    ///
    /// # Errors
    /// Those of [`Table::get`].
    #[inline]
    pub(crate) fn find_by_hash(
        &self,
        key: &LookupKey<'_>,
        options: &BlockReadOptions,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<HashAnswer> {
        let Some(index) = &self.metadata.hash_index else {
            return Ok(HashAnswer::Unclear);
        };
        // It has many pages, each used for few keys, so in a database larger than memory they would cost additional
        // reads.
        if self.source.paging.is_active() {
            return Ok(HashAnswer::Unclear);
        }
        let Some((reader, contents)) = index.ready(&self.source, options.tier) else {
            return Ok(HashAnswer::Unclear);
        };
        for candidate in reader.candidates(contents, key.hash) {
            let Some(candidate) = candidate else {
                return Ok(HashAnswer::Unclear);
            };
            let answer = if candidate.is_compressed {
                self.find_in_compressed(&candidate, key, options, found)?
            } else {
                self.find_in_place(&candidate, key, options, found)?
            };
            // It was another key with the same tag.
            if !matches!(answer, HashAnswer::Absent) {
                return Ok(answer);
            }
        }
        Ok(HashAnswer::Absent)
    }

    /// Looks for the key in an uncompressed block, where it lies in the file.
    #[inline]
    fn find_in_place(
        &self,
        candidate: &Candidate,
        key: &LookupKey<'_>,
        options: &BlockReadOptions,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<HashAnswer> {
        match self.source.mapped_contents(candidate.block, options)? {
            Some(stored) => {
                let contents = stored.contents();
                prefetch_interval(contents, candidate);
                let value = |range| TableValue::InFile { file: stored.file, value: &contents[range] };
                Ok(find_in(contents, candidate, key, value, found).unwrap_or(HashAnswer::Unclear))
            }
            None => Ok(HashAnswer::Unclear),
        }
    }

    /// Looks for the key in a compressed block. The block comes from the cache, is cached if that is worth it, or is
    /// decompressed as far as needed.
    fn find_in_compressed(
        &self,
        candidate: &Candidate,
        key: &LookupKey<'_>,
        options: &BlockReadOptions,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<HashAnswer> {
        self.source.prefetch_stored(candidate.block);
        if let Some(block) = self.source.block_if_cached_or_wanted(candidate.block, options)? {
            let value = |range| TableValue::InBlock { block: &block, range };
            prefetch_interval(block.contents(), candidate);
            return Ok(find_in(block.contents(), candidate, key, value, found).unwrap_or(HashAnswer::Unclear));
        }
        match self.source.mapped_contents(candidate.block, options)? {
            Some(stored) if stored.id() == SNAPPY_ID => with_decoding_buffer(|buffer| {
                find_in_snappy(stored.contents(), candidate, key, buffer, found)
                    .map_err(|error| self.source.block_error(candidate.block, error))
            }),
            _ => Ok(HashAnswer::Unclear),
        }
    }
}

/// Prefetches the bytes to search for the key into the processor's cache. The search itself learns the place of an entry
/// only when it has read the previous one.
#[inline]
fn prefetch_interval(contents: &[u8], candidate: &Candidate) {
    let end = candidate.needed_bytes.min(candidate.restart_offset.saturating_add(MAX_PREFETCHED_BYTES));
    prefetch(contents.get(candidate.restart_offset..end.min(contents.len())).unwrap_or_default());
}

/// Decompresses the beginning of a block, or all of it if necessary, and looks for the key there.
fn find_in_snappy(
    stored: &[u8],
    candidate: &Candidate,
    key: &LookupKey<'_>,
    buffer: &mut Vec<u8>,
    found: &mut impl FnMut(FoundEntry<'_>),
) -> terrace_format::Result<HashAnswer> {
    // It is not known how many stored bytes decompress to this many, but it is not more than that.
    let end = candidate.needed_bytes.min(MAX_PREFETCHED_BYTES).min(stored.len());
    prefetch(&stored[..end]);
    let mut decoder = PartialSnappy::new(stored, buffer)?;
    for needed_bytes in [candidate.needed_bytes, usize::MAX] {
        decoder.decode_to(needed_bytes)?;
        let decoded = decoder.decoded();
        let value = |range| TableValue::Copied(&decoded[range]);
        if let Some(answer) = find_in(decoded, candidate, key, value, found) {
            return Ok(answer);
        }
    }
    Ok(HashAnswer::Unclear)
}

/// Looks for the key in the beginning of a block, and hands over what it finds. `None` if more of the block is needed.
#[inline]
fn find_in<'a>(
    bytes: &[u8],
    candidate: &Candidate,
    key: &LookupKey<'_>,
    value: impl FnOnce(std::ops::Range<usize>) -> TableValue<'a>,
    found: &mut impl FnMut(FoundEntry<'_>),
) -> Option<HashAnswer> {
    let (tag, range) = match find_from(bytes, candidate.restart_offset, key.user_key()) {
        FoundFrom::Entry { tag, value } => (tag, value),
        FoundFrom::Absent => return Some(HashAnswer::Absent),
        FoundFrom::Incomplete => return None,
        FoundFrom::Unclear => return Some(HashAnswer::Unclear),
    };
    match unpack_tag(tag) {
        // Tags are in the order of their sequences; the wanted tag is the greatest of its sequence.
        Ok((sequence, kind)) if tag <= internal_key::tag(key.internal_key) => {
            found(FoundEntry { sequence, kind, value: value(range) });
            Some(HashAnswer::Found)
        }
        _ => Some(HashAnswer::Unclear),
    }
}

/// Calls `work` with this thread's buffer for decompressed bytes. A nested call, such as that of a receiver of a value that
/// reads another one, gets its own buffer.
fn with_decoding_buffer<R>(work: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    thread_local! {
        static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    }
    with_buffer(&BUFFER, KEPT_BUFFER_SIZE_BYTES, work)
}
