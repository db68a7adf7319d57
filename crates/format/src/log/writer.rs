//! Encodes records as physical records. See the picture in [`super`].

use super::fragment::{FragmentHeader, FragmentKind};
use crate::limits::{LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};

/// The first physical record of a record, and what precedes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstFragment<'a> {
    /// Zeros up to the next block, where no header fits any more: at most six.
    pub padding_bytes: usize,
    /// The physical record's header.
    pub header: [u8; LOG_HEADER_SIZE_BYTES],
    /// Its bytes: the record, or the part of it that fits the block.
    pub fragment: &'a [u8],
}

/// Encodes the records of one log file in turn, byte for byte as LevelDB does. It remembers only the position in the
/// current block.
#[derive(Clone, Debug, Default)]
pub struct LogEncoder {
    block_offset: usize,
}

impl LogEncoder {
    /// An encoder at the start of a new file.
    pub fn new() -> Self {
        Self::at_offset(0)
    }

    /// An encoder that continues a file of `file_size_bytes` bytes, all of them whole records or zeros.
    pub fn at_offset(file_size_bytes: u64) -> Self {
        Self { block_offset: (file_size_bytes % LOG_BLOCK_SIZE_BYTES as u64) as usize }
    }

    /// Appends to `out` the bytes that the record `payload` adds to the file: zeros up to the next block if no header
    /// fits, and the physical records.
    pub fn encode_into(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        out.reserve(self.encoded_size_bytes(payload.len()));
        self.encode(payload, |bytes| out.extend_from_slice(bytes));
    }

    /// Like [`LogEncoder::encode_into`], but hands the bytes to `emit` piece by piece: headers, zeros and parts of
    /// `payload`.
    pub fn encode(&mut self, payload: &[u8], mut emit: impl FnMut(&[u8])) {
        let FirstFragment { padding_bytes, header, fragment } = self.encode_first(payload);
        emit(&[0; LOG_HEADER_SIZE_BYTES][..padding_bytes]);
        emit(&header);
        emit(fragment);
        for (header, fragment) in self.encode_rest(&payload[fragment.len()..]) {
            emit(&header);
            emit(fragment);
        }
    }

    /// The beginning of the record `payload`, up to the end of its block. If its fragment is shorter than the record,
    /// call [`LogEncoder::encode_rest`] next.
    #[inline]
    pub fn encode_first<'a>(&mut self, payload: &'a [u8]) -> FirstFragment<'a> {
        let left = LOG_BLOCK_SIZE_BYTES - self.block_offset;
        let padding_bytes = if left < LOG_HEADER_SIZE_BYTES { left } else { 0 };
        let (fragment, rest) = self.next_fragment(payload);
        let kind = if rest.is_empty() { FragmentKind::Full } else { FragmentKind::First };
        FirstFragment { padding_bytes, header: FragmentHeader::new(kind, fragment).encode(), fragment }
    }

    /// The remaining physical records of a split record: their headers and bytes. `rest` are the bytes after its first
    /// fragment. None for a record that is not split. Take all of them before encoding the next record.
    pub fn encode_rest<'a>(
        &mut self,
        mut rest: &'a [u8],
    ) -> impl Iterator<Item = ([u8; LOG_HEADER_SIZE_BYTES], &'a [u8])> {
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (fragment, after) = self.next_fragment(rest);
            let kind = if after.is_empty() { FragmentKind::Last } else { FragmentKind::Middle };
            rest = after;
            Some((FragmentHeader::new(kind, fragment).encode(), fragment))
        })
    }

    /// How many bytes [`LogEncoder::encode_into`] would append for a record of `payload_size_bytes` bytes.
    pub fn encoded_size_bytes(&self, payload_size_bytes: usize) -> usize {
        let left = LOG_BLOCK_SIZE_BYTES - self.block_offset;
        let (padding, left) =
            if left < LOG_HEADER_SIZE_BYTES { (left, LOG_BLOCK_SIZE_BYTES) } else { (0, left) };
        let beyond = payload_size_bytes.saturating_sub(left - LOG_HEADER_SIZE_BYTES);
        let further_fragments = beyond.div_ceil(LOG_BLOCK_SIZE_BYTES - LOG_HEADER_SIZE_BYTES);
        padding + (1 + further_fragments) * LOG_HEADER_SIZE_BYTES + payload_size_bytes
    }

    /// Splits off what the next physical record holds, and advances past it.
    #[inline]
    fn next_fragment<'a>(&mut self, rest: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        if LOG_BLOCK_SIZE_BYTES - self.block_offset < LOG_HEADER_SIZE_BYTES {
            self.block_offset = 0;
        }
        let room = LOG_BLOCK_SIZE_BYTES - self.block_offset - LOG_HEADER_SIZE_BYTES;
        let (fragment, after) = rest.split_at(room.min(rest.len()));
        self.block_offset =
            (self.block_offset + LOG_HEADER_SIZE_BYTES + fragment.len()) % LOG_BLOCK_SIZE_BYTES;
        (fragment, after)
    }
}
