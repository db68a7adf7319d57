//! One physical record: its header, its checksum, and where in a block it may stand. See the picture in [`super`].
//!
//! [`LogReader`](super::LogReader) assembles records from these. Code that must tell damage from an unfinished write,
//! or that searches a damaged log, examines them one by one.

use super::checksum;
use crate::coding::decode_fixed32;
use crate::crc;
use crate::limits::{LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};

/// Which part of a record a fragment holds. The numbers are those of the format.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentKind {
    /// The whole record.
    Full = 1,
    /// The first of several parts. It fills its block.
    First = 2,
    /// A part between the first and the last. It fills a block.
    Middle = 3,
    /// The last of several parts.
    Last = 4,
}

impl FragmentKind {
    /// Every kind, in the order of the numbers.
    pub const ALL: [Self; 4] = [Self::Full, Self::First, Self::Middle, Self::Last];

    /// The kind with this number.
    #[inline]
    pub fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Full),
            2 => Some(Self::First),
            3 => Some(Self::Middle),
            4 => Some(Self::Last),
            _ => None,
        }
    }

    /// Whether a fragment of this kind begins a record.
    #[inline]
    pub fn begins_record(self) -> bool {
        matches!(self, Self::Full | Self::First)
    }

    /// Whether a fragment of this kind ends a record.
    #[inline]
    pub fn ends_record(self) -> bool {
        matches!(self, Self::Full | Self::Last)
    }
}

/// A fragment's header as found. Any of its fields may be wrong.
///
/// ```
/// use terrace_format::log::{FragmentHeader, FragmentKind, LogEncoder};
///
/// let mut block = Vec::new();
/// LogEncoder::new().encode_into(b"hello", &mut block);
/// let (header, rest) = FragmentHeader::split(&block).unwrap();
/// assert_eq!((header.length_bytes, header.kind()), (5, Some(FragmentKind::Full)));
/// assert!(header.matches(rest));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentHeader {
    /// The stored checksum of the kind and the fragment, masked.
    pub masked_crc: u32,
    /// How many bytes the fragment has.
    pub length_bytes: usize,
    /// The number of its kind.
    pub kind: u8,
}

impl FragmentHeader {
    /// The header of `fragment`, which is shorter than a block.
    #[inline]
    pub fn new(kind: FragmentKind, fragment: &[u8]) -> Self {
        let kind = kind as u8;
        Self { masked_crc: checksum(kind, fragment), length_bytes: fragment.len(), kind }
    }

    /// Reads a header.
    #[inline]
    pub fn decode(bytes: &[u8; LOG_HEADER_SIZE_BYTES]) -> Self {
        let length_bytes = usize::from(u16::from_le_bytes([bytes[4], bytes[5]]));
        Self { masked_crc: decode_fixed32(bytes), length_bytes, kind: bytes[6] }
    }

    /// The header's bytes.
    #[inline]
    pub fn encode(&self) -> [u8; LOG_HEADER_SIZE_BYTES] {
        let [c0, c1, c2, c3] = self.masked_crc.to_le_bytes();
        let [l0, l1] = (self.length_bytes as u16).to_le_bytes();
        [c0, c1, c2, c3, l0, l1, self.kind]
    }

    /// The header at the beginning of `bytes`, and what follows it. `None` if `bytes` are shorter than a header.
    #[inline]
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (header, rest) = bytes.split_first_chunk()?;
        Some((Self::decode(header), rest))
    }

    /// The kind, if it is one of the four.
    #[inline]
    pub fn kind(&self) -> Option<FragmentKind> {
        FragmentKind::from_byte(self.kind)
    }

    /// Whether the header says that the rest of its block is empty, whatever its checksum.
    #[inline]
    pub fn is_empty_space(&self) -> bool {
        self.kind == 0 && self.length_bytes == 0
    }

    /// Whether the checksum is that of `fragment` and the kind.
    #[inline]
    pub fn matches(&self, fragment: &[u8]) -> bool {
        self.masked_crc == checksum(self.kind, fragment)
    }

    /// Whether a writer may have stored the header at `block_offset`: the fragment fits the block, a first or middle
    /// fragment fills it, and a middle or last one stands at its beginning.
    pub fn may_stand_at(&self, block_offset: usize) -> bool {
        let end = block_offset + LOG_HEADER_SIZE_BYTES + self.length_bytes;
        self.kind().is_some_and(|kind| {
            (kind.begins_record() || block_offset == 0)
                && if kind.ends_record() { end <= LOG_BLOCK_SIZE_BYTES } else { end == LOG_BLOCK_SIZE_BYTES }
        })
    }

    /// The lengths, shortest first, for which the checksum matches that many bytes of `rest` and the kind. Each length
    /// matches by chance in one of 2^32 cases.
    pub fn matching_lengths(self, rest: &[u8]) -> impl Iterator<Item = usize> {
        let wanted = crc::unmask(self.masked_crc);
        let mut sum = crc::crc32c(&[self.kind]);
        (0..=rest.len()).filter(move |length| {
            let is_match = sum == wanted;
            if let Some(byte) = rest.get(*length) {
                sum = crc::extend(sum, std::slice::from_ref(byte));
            }
            is_match
        })
    }
}

/// A whole fragment with the right checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// Which part of a record it is.
    pub kind: FragmentKind,
    /// Its bytes, without the header.
    pub payload: &'a [u8],
}

impl<'a> Fragment<'a> {
    /// The fragment at the beginning of `bytes`, which must lie within one block. `None` if there is none, or if its
    /// checksum is wrong.
    ///
    /// ```
    /// use terrace_format::log::{Fragment, LogEncoder};
    ///
    /// let mut block = Vec::new();
    /// LogEncoder::new().encode_into(b"hello", &mut block);
    /// assert_eq!(Fragment::parse(&block).unwrap().payload, b"hello");
    /// block[9] ^= 1;
    /// assert_eq!(Fragment::parse(&block), None);
    /// ```
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = FragmentHeader::split(bytes)?;
        // These two checks reject most places.
        let kind = header.kind()?;
        let payload = rest.get(..header.length_bytes)?;
        header.matches(payload).then_some(Self { kind, payload })
    }

    /// The size of the fragment, including its header.
    pub fn size_bytes(&self) -> usize {
        LOG_HEADER_SIZE_BYTES + self.payload.len()
    }
}
