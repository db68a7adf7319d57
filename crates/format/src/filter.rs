//! The filter of a table: a small summary of its keys that lets a lookup skip the table's blocks.
//!
//! The table builder adds each user key as it adds the entry. The table reader checks the filter before it reads any
//! block: "no" is certain, "maybe" is not.
//!
//! ```text
//! filter block   filter 0 · filter 1 · … · offsets, fixed32 each · offset of the offsets, fixed32 · base_lg, one byte
//! filter         bits, at least 64, rounded up to bytes · number of probes k, one byte
//!
//! filter i covers the blocks that start at file offsets in [i << base_lg, (i + 1) << base_lg)
//! ```
//!
//! Rules:
//!
//! * Filters hold user keys, not internal keys: a lookup must find the key at any sequence number.
//! * A filter ends where the next one begins; the last one ends at the offset of the offsets, which is why that
//!   number comes right after them.
//! * An empty filter covers no key. A number of probes above 30 is reserved and matches every key.
//! * LevelDB writes `base_lg` 11, a filter for every 2 KiB of file, and reads any. Terrace writes 40 by default: one
//!   filter covers the whole file, and one probe of it answers for the table.
//! * A damaged filter answers "maybe": a filter may cost time, but must never hide a key.
//! * Another [policy](FilterPolicy) may fill the filters with different bytes, under its own name; the block stays the
//!   same.
//!
//! The hash and the probes are those of `util/hash.cc` and `util/bloom.cc` in LevelDB (double hashing after Kirsch and
//! Mitzenmacher, 2006); `docs/format/filter.md` describes them with examples. Basho's fork uses another hash under the
//! same [`FILTER_NAME`]: do not use the filters of its databases, which would deny keys that are there.

use std::sync::Arc;

use bytes::Bytes;

use crate::coding::{decode_fixed32, put_fixed32};
use crate::error::{FormatError, Result};

mod policy;

pub use policy::FilterPolicy;
use policy::PolicyKeys;

/// The name of the filter policy, part of the filter's key in the metaindex.
pub const FILTER_NAME: &str = "leveldb.BuiltinBloomFilter2";

/// Seed of [`bloom_hash`].
const BLOOM_HASH_SEED: u32 = 0xbc9f_1d34;

/// Least number of bits of a filter: very small ones would answer "maybe" too often.
const MIN_FILTER_BITS: u64 = 64;

/// Largest number of bits of a filter: a 32-bit hash reaches no more.
const MAX_FILTER_BITS: u64 = 1 << 32;

/// Most probes that a filter may state; larger numbers are reserved for other encodings.
const MAX_PROBES: u8 = 30;

/// `base_lg` and the offset of the offsets: the least that a filter block holds.
const FILTER_BLOCK_TAIL_SIZE_BYTES: usize = 5;

/// LevelDB's 32-bit hash, a relative of Murmur, over little-endian words.
fn hash(bytes: &[u8], seed: u32) -> u32 {
    const MULTIPLIER: u32 = 0xc6a4_a793;
    let mut hash = seed ^ (bytes.len() as u32).wrapping_mul(MULTIPLIER);
    let (words, rest) = bytes.as_chunks::<4>();
    for word in words {
        hash = hash.wrapping_add(u32::from_le_bytes(*word)).wrapping_mul(MULTIPLIER);
        hash ^= hash >> 16;
    }
    if !rest.is_empty() {
        let word = rest.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        hash = hash.wrapping_add(word).wrapping_mul(MULTIPLIER);
        hash ^= hash >> 24;
    }
    hash
}

/// The hash that stands for a user key in filters. A lookup computes it once and uses it for every table.
#[inline]
pub fn bloom_hash(user_key: &[u8]) -> u32 {
    hash(user_key, BLOOM_HASH_SEED)
}

/// The bit positions that a key sets or tests in a filter of `bits` bits.
#[inline]
fn probes(mut hash: u32, count: u8, bits: u64) -> impl Iterator<Item = usize> {
    let delta = hash.rotate_right(17);
    (0..count).map(move |_| {
        let position = u64::from(hash) % bits;
        hash = hash.wrapping_add(delta);
        position as usize
    })
}

/// Makes Bloom filters of a given density.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BloomFilter {
    bits_per_key: usize,
}

impl BloomFilter {
    /// Creates filters with `bits_per_key` bits for each key. 10 give about 1 % false answers of "maybe".
    pub fn new(bits_per_key: usize) -> Self {
        Self { bits_per_key }
    }

    /// Number of probes that makes best use of the bits: ln 2 for each bit, from 1 to 30.
    fn probe_count(self) -> u8 {
        // 0.69 and the truncation are LevelDB's: fewer probes are cheaper.
        (self.bits_per_key as f64 * 0.69).clamp(1.0, f64::from(MAX_PROBES)) as u8
    }

    /// A filter of the keys with these [hashes](bloom_hash).
    pub fn create(self, hashes: &[u32]) -> Vec<u8> {
        let wanted_bits = (hashes.len() as u64).saturating_mul(self.bits_per_key as u64);
        let size_bytes = wanted_bits.clamp(MIN_FILTER_BITS, MAX_FILTER_BITS).div_ceil(8) as usize;
        let bits = 8 * size_bytes as u64;
        let probe_count = self.probe_count();
        let mut filter = vec![0; size_bytes + 1];
        for &hash in hashes {
            for bit in probes(hash, probe_count, bits) {
                filter[bit / 8] |= 1 << (bit % 8);
            }
        }
        filter[size_bytes] = probe_count;
        filter
    }
}

/// Whether `filter` may contain the key with this [hash](bloom_hash). "No" is certain.
///
/// An empty filter contains nothing. One that is too short to have bits is damaged and may contain everything.
#[inline]
pub fn bloom_may_contain(filter: &[u8], hash: u32) -> bool {
    let Some((&probe_count, array)) = filter.split_last() else {
        return false;
    };
    if array.is_empty() || probe_count > MAX_PROBES {
        return true;
    }
    let bits = 8 * array.len() as u64;
    probes(hash, probe_count, bits).all(|bit| array[bit / 8] & 1 << (bit % 8) != 0)
}

/// Which part of a table one filter covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterLayout {
    /// The blocks that start in the same 2 KiB of the file: what LevelDB writes.
    PerTwoKiB,
    /// The whole file, up to 1 TiB. LevelDB reads it as well.
    #[default]
    WholeFile,
}

impl FilterLayout {
    /// Binary logarithm of the length of file that one filter covers, in bytes.
    fn base_lg(self) -> u8 {
        match self {
            Self::PerTwoKiB => 11,
            Self::WholeFile => 40,
        }
    }
}

/// Builds a table's filter block.
///
/// Call [`start_block`](Self::start_block) before the keys of each data block, then [`add_key`](Self::add_key) for
/// each entry, and [`finish`](Self::finish) at the end. The builder holds four bytes of each key, or the whole key if
/// the program has its own policy.
#[derive(Clone, Debug)]
pub struct FilterBlockBuilder {
    /// The keys for the filter under construction, and what turns them into a filter.
    keys: Keys,
    layout: FilterLayout,
    filters: Vec<u8>,
    /// Where each finished filter starts.
    offsets: Vec<usize>,
    /// A filter could not be made, so the block will have none.
    gave_up: bool,
}

#[derive(Clone, Debug)]
enum Keys {
    Hashes(BloomFilter, Vec<u32>),
    Whole(PolicyKeys),
}

impl FilterBlockBuilder {
    /// Creates a builder of Bloom filters with `bits_per_key` bits for each key.
    pub fn new(bits_per_key: usize, layout: FilterLayout) -> Self {
        Self::of(Keys::Hashes(BloomFilter::new(bits_per_key), Vec::new()), layout)
    }

    /// Creates a builder of filters by `policy`. Each covers 2 KiB, so that a policy gets as many keys as with
    /// LevelDB.
    pub fn with_policy(policy: Arc<dyn FilterPolicy>) -> Self {
        Self::of(Keys::Whole(PolicyKeys::new(policy)), FilterLayout::PerTwoKiB)
    }

    fn of(keys: Keys, layout: FilterLayout) -> Self {
        Self { keys, layout, filters: Vec::new(), offsets: Vec::new(), gave_up: false }
    }

    /// Starts the data block at `offset` of the file; the keys to come are in it. Offsets must not descend.
    pub fn start_block(&mut self, offset: u64) {
        let index = offset >> self.layout.base_lg();
        while (self.offsets.len() as u64) < index {
            self.end_filter();
        }
    }

    /// Adds a user key.
    #[inline]
    pub fn add_key(&mut self, user_key: &[u8]) {
        match &mut self.keys {
            Keys::Hashes(_, hashes) => {
                let hash = bloom_hash(user_key);
                // Versions of one key follow each other; one of them is enough.
                if hashes.last() != Some(&hash) {
                    hashes.push(hash);
                }
            }
            Keys::Whole(keys) => keys.add(user_key),
        }
    }

    /// The contents of the filter block.
    pub fn finish(mut self) -> Vec<u8> {
        if self.has_keys() {
            self.end_filter();
        }
        let mut contents = self.filters;
        match u32::try_from(contents.len()) {
            Ok(array_offset) if !self.gave_up => {
                for offset in self.offsets {
                    put_fixed32(&mut contents, offset as u32);
                }
                put_fixed32(&mut contents, array_offset);
            }
            // The offsets may not fit either. A block without filters answers "maybe" for every key.
            _ => contents = vec![0; 4],
        }
        contents.push(self.layout.base_lg());
        contents
    }

    fn end_filter(&mut self) {
        self.offsets.push(self.filters.len());
        match &mut self.keys {
            Keys::Hashes(_, hashes) if hashes.is_empty() => {}
            Keys::Hashes(bloom, hashes) => {
                self.filters.extend(bloom.create(hashes));
                hashes.clear();
            }
            Keys::Whole(keys) => self.gave_up |= !keys.end_filter(&mut self.filters),
        }
    }

    fn has_keys(&self) -> bool {
        match &self.keys {
            Keys::Hashes(_, hashes) => !hashes.is_empty(),
            Keys::Whole(keys) => !keys.is_empty(),
        }
    }
}

/// Reads a filter block with any `base_lg`.
#[derive(Clone, Debug)]
pub struct FilterBlockReader {
    /// Who interprets the filters; `None` for Bloom filters.
    policy: Option<Arc<dyn FilterPolicy>>,
    contents: Bytes,
    /// Where the filters end and their offsets start.
    array_offset: usize,
    filter_count: usize,
    base_lg: u8,
}

impl FilterBlockReader {
    /// Takes the contents of a block of Bloom filters.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the offsets do not fit the block; a reader then continues without the filter.
    pub fn new(contents: impl Into<Bytes>) -> Result<Self> {
        Self::of(contents.into(), None)
    }

    /// Takes the contents of a block of filters by `policy`.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn with_policy(contents: impl Into<Bytes>, policy: Arc<dyn FilterPolicy>) -> Result<Self> {
        Self::of(contents.into(), Some(policy))
    }

    fn of(contents: Bytes, policy: Option<Arc<dyn FilterPolicy>>) -> Result<Self> {
        let corrupt =
            |problem: &str, offset: usize| Err(FormatError::corrupt("filter block", problem, offset as u64));
        let Some(tail) = contents.len().checked_sub(FILTER_BLOCK_TAIL_SIZE_BYTES) else {
            return corrupt("shorter than five bytes", 0);
        };
        let array_offset = decode_fixed32(&contents[tail..]) as usize;
        if array_offset > tail || !(tail - array_offset).is_multiple_of(4) {
            return corrupt("the offset of the filter offsets is wrong", tail);
        }
        let base_lg = contents[tail + 4];
        if u32::from(base_lg) >= u64::BITS {
            return corrupt("the length of file for each filter is not below 2^64", tail + 4);
        }
        Ok(Self { policy, array_offset, filter_count: (tail - array_offset) / 4, base_lg, contents })
    }

    /// Whether the data block at `block_offset` of the file may hold `user_key`. "No" is certain.
    pub fn may_contain(&self, block_offset: u64, user_key: &[u8]) -> bool {
        match (&self.policy, self.filter(block_offset)) {
            (_, None) => true,
            (None, Some(filter)) => bloom_may_contain(filter, bloom_hash(user_key)),
            (Some(_), Some([])) => false,
            (Some(policy), Some(filter)) => policy.may_contain(user_key, filter),
        }
    }

    /// The filter for the data block at `block_offset` of the file, if there is one and its offsets are valid.
    fn filter(&self, block_offset: u64) -> Option<&[u8]> {
        let index = block_offset >> self.base_lg;
        if index >= self.filter_count as u64 {
            return None;
        }
        let position = self.array_offset + 4 * index as usize;
        let start = decode_fixed32(&self.contents[position..]) as usize;
        let end = decode_fixed32(&self.contents[position + 4..]) as usize;
        self.contents[..self.array_offset].get(start..end)
    }

    /// Whether one filter covers the whole of a file of `file_size_bytes`, so that a single question answers for all
    /// its blocks.
    pub fn covers_whole_file(&self, file_size_bytes: u64) -> bool {
        file_size_bytes.saturating_sub(1) >> self.base_lg == 0
    }

    /// Size of the block, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.contents.len()
    }
}

#[cfg(test)]
mod tests;
