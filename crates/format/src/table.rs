//! The parts that hold a table file together: block handles, block trailers, the footer, and the metaindex.
//!
//! The table builder seals each compressed block and ends with the footer. The table reader starts with the footer,
//! then reads the index, then the block that a lookup needs.
//!
//! ```text
//! table     data block · … · filter block · metaindex block · index block · footer
//! block     contents, compressed or not · compression id, 1 byte · masked crc32c of both, fixed32
//! handle    varint64 offset · varint64 size of the contents, without trailer
//! footer    metaindex handle · index handle · zeros up to 40 bytes · magic, fixed64            (48 bytes)
//!
//! index     key ≥ every key of the data block and < every key of the next one  →  handle [· more bytes]
//! metaindex name → handle of a block                "filter.leveldb.BuiltinBloomFilter2" → filter block
//!           private name → anything                 "terrace.counts" → TableCounts
//! ```
//!
//! Rules:
//!
//! * Only handles lead to blocks: there may be padding between blocks, and bytes after the handle in an index value.
//! * Handles lead to blocks before the footer, which is the last 48 bytes of the file.
//! * The metaindex is sorted bytewise, whatever the table's comparator. Readers skip names that they do not know, so
//!   a private name may mean anything; LevelDB ignores ours.
//!
//! The format is that of `table/format.cc` in LevelDB; `docs/format/table.md` describes it with examples.

use std::ops::Range;

use crate::coding::{Decoder, decode_fixed32, decode_fixed64, put_varint64};
use crate::crc;
use crate::error::{FormatError, Result};
use crate::internal_key::SequenceNumber;
use crate::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES, MAX_VARINT64_SIZE_BYTES};

/// The last eight bytes of every table, as a little-endian number.
pub const TABLE_MAGIC: u64 = 0xdb47_7524_8b80_fb57;

/// The magic numbers of tables in other formats, and whose they are.
const FOREIGN_MAGICS: [(u64, &str); 4] = [
    (0x88e2_41b7_85f4_cff7, "RocksDB or Pebble"),
    (0x8242_2296_63bf_9564, "RocksDB"),
    (0x4f34_18eb_7a8f_13b8, "RocksDB"),
    (0xf09f_aab3_f09f_aab3, "Pebble"),
];

/// Name of the metaindex entry that holds the table's [`TableCounts`]. Private to Terrace; LevelDB ignores it.
pub const COUNTS_METAINDEX_KEY: &[u8] = b"terrace.counts";

/// Name of the metaindex entry that leads to the filter block: `filter.` and [`crate::filter::FILTER_NAME`].
pub const fn filter_metaindex_key() -> &'static [u8] {
    b"filter.leveldb.BuiltinBloomFilter2"
}

/// Name of the metaindex entry of a table without a filter. Its value is a handle with offset and size 0. It sorts
/// before the other private entries because rusty-leveldb takes the first entry at or after its filter's name for
/// that filter, whatever the entry's name, unless the handle's size is 0.
pub const NO_FILTER_METAINDEX_KEY: &[u8] = b"filter.terrace.none";

/// Name of the metaindex entry that leads to the filter block of the policy with this name.
pub fn policy_metaindex_key(policy_name: &[u8]) -> Vec<u8> {
    [b"filter.", policy_name].concat()
}

/// Where a block lies in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockHandle {
    /// Offset of the first byte of the contents, from the start of the file.
    pub offset: u64,
    /// Size of the contents in bytes, as stored and without trailer.
    pub size: u64,
}

impl BlockHandle {
    /// Longest encoding of a handle, in bytes.
    pub const MAX_ENCODED_SIZE_BYTES: usize = 2 * MAX_VARINT64_SIZE_BYTES;

    /// Appends the handle's encoding.
    pub fn encode_to(&self, out: &mut Vec<u8>) {
        put_varint64(out, self.offset);
        put_varint64(out, self.size);
    }

    /// Reads a handle from the start of `bytes`; also returns the bytes after it.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the handle is cut off.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<(Self, &[u8])> {
        let mut decoder = Decoder::new("block handle", bytes);
        let offset = decoder.varint64("offset")?;
        let size = decoder.varint64("size")?;
        Ok((Self { offset, size }, decoder.remaining()))
    }

    /// The range of the contents and the trailer in the file. Check it before allocating memory for the block.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the range reaches beyond `limit`, the offset at which blocks end and the footer starts.
    #[inline]
    pub fn sealed_range(&self, limit: u64) -> Result<Range<u64>> {
        let end = self
            .offset
            .checked_add(self.size)
            .and_then(|end| end.checked_add(BLOCK_TRAILER_SIZE_BYTES as u64));
        match end {
            Some(end) if end <= limit => Ok(self.offset..end),
            _ => {
                let problem =
                    format!("{} bytes and a trailer would reach beyond the blocks, to {limit}", self.size);
                Err(FormatError::corrupt("block handle", problem, self.offset))
            }
        }
    }
}

/// The last 48 bytes of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footer {
    /// The metaindex block.
    pub metaindex: BlockHandle,
    /// The index block.
    pub index: BlockHandle,
}

impl Footer {
    /// The footer's bytes.
    pub fn encode(&self) -> [u8; FOOTER_SIZE_BYTES] {
        let mut handles = Vec::with_capacity(FOOTER_SIZE_BYTES);
        self.metaindex.encode_to(&mut handles);
        self.index.encode_to(&mut handles);
        let mut bytes = [0; FOOTER_SIZE_BYTES];
        bytes[..handles.len()].copy_from_slice(&handles);
        bytes[FOOTER_SIZE_BYTES - 8..].copy_from_slice(&TABLE_MAGIC.to_le_bytes());
        bytes
    }

    /// Reads a footer from the last 48 bytes of a table.
    ///
    /// # Errors
    ///
    /// `Corrupt` if there are not exactly 48 bytes, if they do not end with the magic number, or if a handle is cut
    /// off. `Unsupported` if they end with the magic number of another engine.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let corrupt = |problem: String, offset: usize| FormatError::corrupt("footer", problem, offset as u64);
        if bytes.len() != FOOTER_SIZE_BYTES {
            return Err(corrupt(format!("{} bytes where {FOOTER_SIZE_BYTES} are needed", bytes.len()), 0));
        }
        let (handles, magic) = bytes.split_at(FOOTER_SIZE_BYTES - 8);
        let number = decode_fixed64(magic);
        if let Some((_, writer)) = FOREIGN_MAGICS.iter().find(|(foreign, _)| *foreign == number) {
            let problem = format!("a table of {writer}");
            return Err(FormatError::unsupported("footer", problem, handles.len() as u64));
        }
        if number != TABLE_MAGIC {
            return Err(corrupt("the magic number is wrong: not a table".into(), handles.len()));
        }
        let named = |name: &str, error: FormatError, start: usize| {
            corrupt(format!("{name}: {}", error.problem), start + error.offset as usize)
        };
        let (metaindex, rest) = BlockHandle::decode(handles).map_err(|error| named("metaindex", error, 0))?;
        let start = handles.len() - rest.len();
        let (index, _) = BlockHandle::decode(rest).map_err(|error| named("index", error, start))?;
        Ok(Self { metaindex, index })
    }
}

/// The trailer of a block whose stored contents are `contents`: the compression id and the masked checksum of both.
#[inline]
pub fn seal_block(contents: &[u8], compression_id: u8) -> [u8; BLOCK_TRAILER_SIZE_BYTES] {
    seal_pieces(&[contents], compression_id)
}

/// The trailer of a block whose stored contents are these pieces, one after another.
#[inline]
pub fn seal_pieces(pieces: &[&[u8]], compression_id: u8) -> [u8; BLOCK_TRAILER_SIZE_BYTES] {
    let contents = pieces.iter().fold(0, |sum, piece| crc::extend(sum, piece));
    let [a, b, c, d] = crc::mask(crc::extend(contents, &[compression_id])).to_le_bytes();
    [compression_id, a, b, c, d]
}

/// Splits a block as stored in the file into compression id and stored contents, without checking the checksum.
///
/// # Errors
///
/// `Corrupt` if it is too short for a trailer.
#[inline]
pub fn split_block(contents_and_trailer: &[u8]) -> Result<(u8, &[u8])> {
    match contents_and_trailer.split_last_chunk::<BLOCK_TRAILER_SIZE_BYTES>() {
        Some((contents, trailer)) => Ok((trailer[0], contents)),
        None => Err(FormatError::corrupt("block trailer", "the trailer is cut off", 0)),
    }
}

/// Splits a block as stored in the file into compression id and stored contents.
///
/// # Errors
///
/// `Corrupt` if it is too short for a trailer, or if the checksum does not match.
#[inline]
pub fn check_block(contents_and_trailer: &[u8]) -> Result<(u8, &[u8])> {
    let (id, contents) = split_block(contents_and_trailer)?;
    let checked = &contents_and_trailer[..=contents.len()];
    let stored = crc::unmask(decode_fixed32(&contents_and_trailer[checked.len()..]));
    let actual = crc::crc32c(checked);
    if stored != actual {
        let problem = format!("the checksum is {actual:08x}, but {stored:08x} is stored");
        return Err(FormatError::corrupt("block trailer", problem, checked.len() as u64));
    }
    Ok((id, contents))
}

/// Numbers about a table that would otherwise require counting its entries: the value of [`COUNTS_METAINDEX_KEY`].
///
/// The first four guide compaction and statistics; no answer depends on them. The last one tells a lookup which
/// tables it may skip. They are encoded as varint64 in the order of the fields; further bytes are for later versions
/// and are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// Number of entries, including deletions.
    pub entries: u64,
    /// Number of entries that are deletions.
    pub deletions: u64,
    /// Sum of the sizes of the internal keys in bytes, before prefix compression.
    pub raw_key_bytes: u64,
    /// Sum of the sizes of the values in bytes, before compression.
    pub raw_value_bytes: u64,
    /// The largest sequence number of an entry; 0 without entries. `None` in tables of earlier versions, which did
    /// not store it.
    pub newest_sequence: Option<SequenceNumber>,
}

impl TableCounts {
    /// Size of all entries in bytes, before compression.
    pub fn raw_bytes(&self) -> u64 {
        self.raw_key_bytes.saturating_add(self.raw_value_bytes)
    }

    /// The encoding.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(5 * MAX_VARINT64_SIZE_BYTES);
        let always = [self.entries, self.deletions, self.raw_key_bytes, self.raw_value_bytes];
        for number in always.into_iter().chain(self.newest_sequence) {
            put_varint64(&mut out, number);
        }
        out
    }

    /// Decodes the counts.
    ///
    /// # Errors
    ///
    /// `Corrupt` if a number is cut off, or if there are more deletions than entries.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut decoder = Decoder::new("table counts", bytes);
        let counts = Self {
            entries: decoder.varint64("entries")?,
            deletions: decoder.varint64("deletions")?,
            raw_key_bytes: decoder.varint64("raw key bytes")?,
            raw_value_bytes: decoder.varint64("raw value bytes")?,
            newest_sequence: match decoder.is_empty() {
                true => None,
                false => Some(decoder.varint64("newest sequence")?),
            },
        };
        if counts.deletions > counts.entries {
            return Err(FormatError::corrupt("table counts", "more deletions than entries", 0));
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests;
