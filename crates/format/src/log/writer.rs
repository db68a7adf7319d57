//! Encodes records as physical records. See the picture in [`super`].

use super::{FragmentKind, checksum};
use crate::limits::{LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};

/// What to do with a record that does not fit the rest of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fragmentation {
    /// Split it, as LevelDB does: no space is wasted.
    #[default]
    Standard,
    /// If it fits a whole block, fill the rest of this one with zeros and begin the next; split only what is larger. A
    /// record is then one physical record wherever possible, so that a process that dies while it stores into a mapped
    /// log leaves no first fragment followed by zeros, which LevelDB takes for damage.
    KeepWhole,
}

/// What precedes the payload of a record that is one physical record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeRecord {
    /// Zeros, up to the next block.
    pub padding_bytes: usize,
    /// The physical record's header.
    pub header: [u8; LOG_HEADER_SIZE_BYTES],
}

/// Encodes one log file's records in turn. It remembers nothing but the place in the present block.
#[derive(Clone, Debug)]
pub struct LogEncoder {
    fragmentation: Fragmentation,
    block_offset: usize,
}

impl LogEncoder {
    /// An encoder at the start of a new file.
    pub fn new(fragmentation: Fragmentation) -> Self {
        Self::at_offset(fragmentation, 0)
    }

    /// An encoder that continues a file of `file_size_bytes` bytes, all of them whole records or zeros.
    pub fn at_offset(fragmentation: Fragmentation, file_size_bytes: u64) -> Self {
        let block_offset = (file_size_bytes % LOG_BLOCK_SIZE_BYTES as u64) as usize;
        Self { fragmentation, block_offset }
    }

    /// Appends to `out` what follows in the file for the record `payload`: zeros up to the next block where needed, and
    /// its physical records.
    pub fn encode_into(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        out.reserve(self.encoded_size_bytes(payload.len()));
        self.encode(payload, |bytes| out.extend_from_slice(bytes));
    }

    /// As [`LogEncoder::encode_into`], but hands the bytes to `emit` piece by piece: headers, zeros and parts of
    /// `payload`.
    pub fn encode(&mut self, payload: &[u8], mut emit: impl FnMut(&[u8])) {
        let mut rest = payload;
        let mut is_first = true;
        while is_first || !rest.is_empty() {
            let padding = self.padding(rest.len(), is_first);
            if padding > 0 {
                emit(&ZEROS[..padding]);
                self.block_offset = 0;
            }
            let room = LOG_BLOCK_SIZE_BYTES - self.block_offset - LOG_HEADER_SIZE_BYTES;
            let (fragment, after) = rest.split_at(room.min(rest.len()));
            let kind = match (is_first, after.is_empty()) {
                (true, true) => FragmentKind::Full,
                (true, false) => FragmentKind::First,
                (false, false) => FragmentKind::Middle,
                (false, true) => FragmentKind::Last,
            };
            emit(&header(kind, fragment));
            emit(fragment);
            self.block_offset =
                (self.block_offset + LOG_HEADER_SIZE_BYTES + fragment.len()) % LOG_BLOCK_SIZE_BYTES;
            rest = after;
            is_first = false;
        }
    }

    /// For a record that is one physical record: the zeros and the header to put before `payload`. The encoder goes on
    /// behind it. `None`, and nothing has changed, for a record that has to be split.
    #[inline]
    pub fn encode_whole(&mut self, payload: &[u8]) -> Option<WholeRecord> {
        let padding_bytes = self.padding(payload.len(), true);
        let start = if padding_bytes > 0 { 0 } else { self.block_offset };
        let end = start + LOG_HEADER_SIZE_BYTES + payload.len();
        if end > LOG_BLOCK_SIZE_BYTES {
            return None;
        }
        self.block_offset = end % LOG_BLOCK_SIZE_BYTES;
        Some(WholeRecord { padding_bytes, header: header(FragmentKind::Full, payload) })
    }

    /// How many bytes [`LogEncoder::encode_into`] would append for a record of `payload_size_bytes` bytes.
    pub fn encoded_size_bytes(&self, payload_size_bytes: usize) -> usize {
        let padding = self.padding(payload_size_bytes, true);
        let block_offset = if padding > 0 { 0 } else { self.block_offset };
        let room = LOG_BLOCK_SIZE_BYTES - block_offset - LOG_HEADER_SIZE_BYTES;
        let beyond = payload_size_bytes.saturating_sub(room);
        let further_fragments = beyond.div_ceil(LOG_BLOCK_SIZE_BYTES - LOG_HEADER_SIZE_BYTES);
        padding + (1 + further_fragments) * LOG_HEADER_SIZE_BYTES + payload_size_bytes
    }

    /// How many zeros to put before the next fragment: the rest of the block, or none.
    fn padding(&self, rest_size_bytes: usize, is_first: bool) -> usize {
        let left = LOG_BLOCK_SIZE_BYTES - self.block_offset;
        let needed = match self.fragmentation {
            Fragmentation::KeepWhole if is_first => {
                let whole = LOG_HEADER_SIZE_BYTES + rest_size_bytes;
                if whole <= LOG_BLOCK_SIZE_BYTES { whole } else { LOG_HEADER_SIZE_BYTES }
            }
            _ => LOG_HEADER_SIZE_BYTES,
        };
        if left < needed { left } else { 0 }
    }
}

static ZEROS: [u8; LOG_BLOCK_SIZE_BYTES] = [0; LOG_BLOCK_SIZE_BYTES];

fn header(kind: FragmentKind, fragment: &[u8]) -> [u8; LOG_HEADER_SIZE_BYTES] {
    let [c0, c1, c2, c3] = checksum(kind as u8, fragment).to_le_bytes();
    let [l0, l1] = (fragment.len() as u16).to_le_bytes();
    [c0, c1, c2, c3, l0, l1, kind as u8]
}
