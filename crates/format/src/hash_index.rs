//! The hash index of a table leads from a user key's hash to the entries among which the key must be. It is Terrace's
//! own; LevelDB ignores it.
//!
//! The table builder adds each user key as it adds the entry. The table reader consults the index first. It then reads
//! one stretch of one block instead of searching the index block and the block, and reads none for a key that the table
//! does not hold.
//!
//! ```text
//! hash index   slot, fixed32 each · interval, 12 bytes each · tail, 32 bytes
//! slot         0: empty · else, from the upper bits: tag, interval + 1, end            tag = lower bits of the key's hash
//! interval     offset of the block in the file, fixed32 · size of the block as stored, plus 1 << 31 if it is compressed,
//!              fixed32 · offset of the restart point in the uncompressed block, fixed32
//! tail         offset of the hash index in the file, fixed64 · slots, fixed32 · intervals, fixed32 · probes, fixed32 ·
//!              bits of an interval, byte · bits of an end, byte · log2 of the unit of ends, byte · version 1, byte ·
//!              zero, fixed32 · magic, fixed32
//! ```
//!
//! Rules:
//!
//! * Every user key of the table is in exactly one slot, which leads to the restart point at or before its newest version.
//! * A key's first slot is the upper half of its hash, scaled to the number of slots. If that is taken, the key goes
//!   into the next free one; the first slot follows the last, and the key's slot is at most `probes` slots from its
//!   first one. A key is therefore not in the table if it is in none of the slots from its first one to an empty one,
//!   or within `probes`.
//! * The end bounds how much of the uncompressed block a reader has to decode to get the entry: a number of units,
//!   rounded up; the largest number means "all".
//! * Keys are distinguished by their bytes, so only tables in bytewise order have a hash index.
//! * The block's checksum covers the index. The blocks cannot confirm the answer "absent", so a reader must verify
//!   that checksum before it believes one. A reader that does not understand the index (another version, an
//!   impossible number) treats the table as one without a hash index.
//! * The magic ends the contents and is an impossible number of restarts, so a repair never takes them for a data
//!   block.

use crate::coding::{decode_fixed32, decode_fixed64, put_fixed32};
use crate::error::{FormatError, Result};
use crate::table::BlockHandle;

/// Name of the metaindex entry that holds the handle of the table's hash index. Private to Terrace; LevelDB ignores it.
pub const HASH_INDEX_METAINDEX_KEY: &[u8] = b"terrace.hash-index";

const MAGIC: u32 = 0xfe5a_71d5;
const VERSION: u8 = 1;
const SLOT_SIZE_BYTES: usize = 4;
const INTERVAL_SIZE_BYTES: usize = 12;
/// Set in the size of a block that is compressed.
const COMPRESSED: u32 = 1 << 31;
const TAIL_SIZE_BYTES: usize = 32;

/// Number of slots for every three keys.
const SLOTS_FOR_THREE_KEYS: usize = 4;
/// Least number of bits of a tag: with fewer, a lookup would read other keys' entries too often.
const MIN_TAG_BITS: u32 = 8;
/// Largest number of bits of an end.
const MAX_END_BITS: u32 = 7;
/// Most slots that a search looks at. A table whose keys collide more than this gets no hash index.
const MAX_PROBES: usize = 256;

/// The hash that stands for a user key in the index: folded multiplications of its words. A lookup computes it once
/// and uses it for every table.
#[inline]
pub fn key_hash(user_key: &[u8]) -> u64 {
    const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
    const FIRST: u64 = 0xa076_1d64_78bd_642f;
    const SECOND: u64 = 0xe703_7ed1_a0b4_28db;
    let mut hash = SEED ^ (user_key.len() as u64).wrapping_mul(FIRST);
    let (words, rest) = user_key.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), FIRST);
    }
    if !rest.is_empty() {
        let word = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        hash = fold(hash ^ word, FIRST);
    }
    fold(hash ^ SECOND, SEED)
}

/// XORs the two halves of the product.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The slot at which the search for a key begins.
#[inline]
fn first_slot(hash: u64, slot_count: usize) -> usize {
    (((hash >> 32) * slot_count as u64) >> 32) as usize
}

/// How the bits of a slot are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SlotLayout {
    interval_bits: u32,
    end_bits: u32,
    unit_lg: u32,
}

impl SlotLayout {
    /// The layout for this many intervals and blocks of about this size; `None` if there are too many intervals.
    fn new(interval_count: usize, block_size_bytes: usize) -> Option<Self> {
        let interval_bits = usize::BITS - interval_count.leading_zeros();
        let end_bits = 32u32.checked_sub(MIN_TAG_BITS + interval_bits)?.min(MAX_END_BITS);
        // An end reaches half a block beyond the usual size, so that few ends mean "all".
        let largest_end = block_size_bytes + block_size_bytes / 2;
        let unit_lg = (usize::BITS - (largest_end >> end_bits).leading_zeros()).clamp(4, 31);
        Some(Self { interval_bits, end_bits, unit_lg })
    }

    fn tag_shift(self) -> u32 {
        self.interval_bits + self.end_bits
    }

    /// The largest end, which means "all".
    fn all(self) -> u32 {
        (1 << self.end_bits) - 1
    }

    fn slot(self, hash: u64, interval: u32, end: u32) -> u32 {
        let units = u64::from(end).div_ceil(1 << self.unit_lg).min(u64::from(self.all())) as u32;
        let tag = (hash as u32).checked_shl(self.tag_shift()).unwrap_or(0);
        tag | (interval + 1) << self.end_bits | units
    }
}

/// A key that is to go into the index.
#[derive(Clone, Copy, Debug)]
struct Key {
    hash: u64,
    interval: u32,
    /// Where its entry ends in the uncompressed block.
    end: u32,
}

/// Builds a table's hash index. It holds sixteen bytes for each key.
#[derive(Clone, Debug, Default)]
pub struct HashIndexBuilder {
    keys: Vec<Key>,
    /// The intervals of finished blocks.
    intervals: Vec<u8>,
    interval_count: u32,
    /// Offsets of the restart points of the block under construction.
    restarts: Vec<u32>,
    /// Something does not fit the format, so there will be no index.
    has_given_up: bool,
}

impl HashIndexBuilder {
    /// An index without keys.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a user key. Call this once for each key, when its newest version has been added to the block under
    /// construction: the last restart point is at `restart_offset`, and the entry ends at `end_offset`.
    #[inline]
    pub fn add_key(&mut self, user_key: &[u8], restart_offset: usize, end_offset: usize) {
        let (Ok(restart), Ok(end)) = (u32::try_from(restart_offset), u32::try_from(end_offset)) else {
            self.has_given_up = true;
            return;
        };
        if self.restarts.last() != Some(&restart) {
            self.restarts.push(restart);
        }
        let interval = self.interval_count + self.restarts.len() as u32 - 1;
        self.keys.push(Key { hash: key_hash(user_key), interval, end });
    }

    /// Finishes the block under construction: records where it was written and whether it was compressed.
    pub fn finish_block(&mut self, handle: BlockHandle, is_compressed: bool) {
        let (Ok(offset), Ok(size)) = (u32::try_from(handle.offset), u32::try_from(handle.size)) else {
            self.has_given_up = true;
            return;
        };
        if size >= COMPRESSED {
            self.has_given_up = true;
            return;
        }
        let compressed = if is_compressed { COMPRESSED } else { 0 };
        for &restart in &self.restarts {
            for number in [offset, size | compressed, restart] {
                put_fixed32(&mut self.intervals, number);
            }
        }
        self.interval_count += self.restarts.len() as u32;
        self.restarts.clear();
    }

    /// The contents of the index's block, which will be at `offset` of the file; blocks have about
    /// `block_size_bytes`. `None` if the table can have no index, or if the index would be larger than `limit_bytes`.
    pub fn finish(self, offset: u64, block_size_bytes: usize, limit_bytes: u64) -> Option<Vec<u8>> {
        let slot_count = (self.keys.len() * SLOTS_FOR_THREE_KEYS).div_ceil(3) + 1;
        let size_bytes = slot_count * SLOT_SIZE_BYTES + self.intervals.len() + TAIL_SIZE_BYTES;
        if self.has_given_up || size_bytes as u64 > limit_bytes || u32::try_from(slot_count).is_err() {
            return None;
        }
        let layout = SlotLayout::new(self.interval_count as usize, block_size_bytes)?;
        let mut slots = vec![0u32; slot_count];
        let mut probes = 0;
        for key in &self.keys {
            let slot = layout.slot(key.hash, key.interval, key.end);
            probes = probes.max(take_free_slot(&mut slots, key.hash, slot)?);
        }
        let mut contents = Vec::with_capacity(size_bytes);
        contents.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
        contents.extend_from_slice(&self.intervals);
        contents.extend_from_slice(&offset.to_le_bytes());
        for number in [slot_count as u32, self.interval_count, probes as u32] {
            put_fixed32(&mut contents, number);
        }
        contents.extend([layout.interval_bits as u8, layout.end_bits as u8, layout.unit_lg as u8, VERSION]);
        put_fixed32(&mut contents, 0);
        put_fixed32(&mut contents, MAGIC);
        debug_assert_eq!(contents.len(), size_bytes);
        Some(contents)
    }
}

/// Puts `slot` in the first free slot at or after the hash's first one. Returns the number of slots it looked at.
fn take_free_slot(slots: &mut [u32], hash: u64, slot: u32) -> Option<usize> {
    let mut index = first_slot(hash, slots.len());
    for probes in 1..=MAX_PROBES {
        if slots[index] == 0 {
            slots[index] = slot;
            return Some(probes);
        }
        index = if index + 1 == slots.len() { 0 } else { index + 1 };
    }
    None
}

/// Where the entries of a key may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The block.
    pub block: BlockHandle,
    /// Whether it is stored compressed.
    pub is_compressed: bool,
    /// Where to begin in it: the offset of a restart point.
    pub restart_offset: usize,
    /// The most that is needed of the uncompressed block, in bytes.
    pub needed_bytes: usize,
}

/// Reads a hash index. It gets the index's bytes with each question, so that they stay in the table.
#[derive(Clone, Copy, Debug)]
pub struct HashIndexReader {
    slot_count: usize,
    interval_count: usize,
    probes: usize,
    layout: SlotLayout,
}

impl HashIndexReader {
    /// Creates a reader of `contents`, which are at `offset` of the file and whose checksum was verified.
    ///
    /// # Errors
    ///
    /// `Corrupt` if they are not a hash index, or one written for another offset; `Unsupported` if its version is
    /// unknown. The table is then read without it.
    pub fn new(contents: &[u8], offset: u64) -> Result<Self> {
        let corrupt = |problem: &str| FormatError::corrupt("hash index", problem, 0);
        let Some((rest, tail)) = contents.split_last_chunk::<TAIL_SIZE_BYTES>() else {
            return Err(corrupt("shorter than its tail"));
        };
        let [interval_bits, end_bits, unit_lg, version] = [tail[20], tail[21], tail[22], tail[23]];
        if decode_fixed32(&tail[28..]) != MAGIC {
            return Err(corrupt("the magic number is wrong"));
        }
        if version != VERSION {
            return Err(FormatError::unsupported("hash index", format!("version {version}"), 0));
        }
        if decode_fixed64(tail) != offset {
            return Err(corrupt("it was written for another offset"));
        }
        let slot_count = decode_fixed32(&tail[8..]) as usize;
        let interval_count = decode_fixed32(&tail[12..]) as usize;
        let probes = decode_fixed32(&tail[16..]) as usize;
        let size_bytes =
            slot_count as u64 * SLOT_SIZE_BYTES as u64 + interval_count as u64 * INTERVAL_SIZE_BYTES as u64;
        if size_bytes != rest.len() as u64 || probes > slot_count || slot_count == 0 {
            return Err(corrupt("its numbers do not fit its size"));
        }
        let layout = SlotLayout {
            interval_bits: interval_bits.into(),
            end_bits: end_bits.into(),
            unit_lg: unit_lg.into(),
        };
        if layout.tag_shift() >= u32::BITS || layout.interval_bits == 0 || layout.unit_lg >= u32::BITS {
            return Err(corrupt("its division of slots is impossible"));
        }
        Ok(Self { slot_count, interval_count, probes, layout })
    }

    /// The candidates for the key with this [hash](key_hash), in any order. A key that is in the table is in one of
    /// them. `None` in place of a candidate means that the slot leads nowhere, and that nothing can be said of the
    /// key.
    ///
    /// `contents` must be those that the reader was created for.
    #[inline]
    pub fn candidates<'a>(
        &self,
        contents: &'a [u8],
        hash: u64,
    ) -> impl Iterator<Item = Option<Candidate>> + use<'a> {
        let Self { slot_count, interval_count, probes, layout } = *self;
        let (slots, rest) = contents.split_at(slot_count * SLOT_SIZE_BYTES);
        let tag = (hash as u32) << layout.tag_shift();
        let mut index = first_slot(hash, slot_count);
        let mut left = probes;
        std::iter::from_fn(move || {
            while left > 0 {
                left -= 1;
                let slot = decode_fixed32(&slots[index * SLOT_SIZE_BYTES..]);
                index = if index + 1 == slot_count { 0 } else { index + 1 };
                if slot == 0 {
                    left = 0;
                } else if (slot ^ tag) >> layout.tag_shift() == 0 {
                    return Some(layout.candidate(slot, &rest[..interval_count * INTERVAL_SIZE_BYTES]));
                }
            }
            None
        })
    }

    /// Offset in the contents at which the search for this hash begins, for a reader that wants to load it in
    /// advance.
    #[inline]
    pub fn first_offset(&self, hash: u64) -> usize {
        first_slot(hash, self.slot_count) * SLOT_SIZE_BYTES
    }
}

impl SlotLayout {
    /// The candidate that an occupied slot leads to.
    #[inline]
    fn candidate(self, slot: u32, intervals: &[u8]) -> Option<Candidate> {
        let interval = (slot >> self.end_bits) & ((1 << self.interval_bits) - 1);
        let start = (interval as usize).checked_sub(1)? * INTERVAL_SIZE_BYTES;
        let interval = intervals.get(start..start + INTERVAL_SIZE_BYTES)?;
        let size = decode_fixed32(&interval[4..]);
        let units = slot & self.all();
        Some(Candidate {
            block: BlockHandle { offset: decode_fixed32(interval).into(), size: (size & !COMPRESSED).into() },
            is_compressed: size & COMPRESSED != 0,
            restart_offset: decode_fixed32(&interval[8..]) as usize,
            needed_bytes: if units == self.all() { usize::MAX } else { (units as usize) << self.unit_lg },
        })
    }
}

#[cfg(test)]
mod tests;
