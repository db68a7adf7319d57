//! Finds blocks of a table whose index cannot be read, by their checksums: blocks lie back to back, so where one ends the
//! next begins; how long it is shows where the checksum fits. After damage each place is tried, within bounds.

use terrace_format::coding::decode_fixed32;
use terrace_format::crc;
use terrace_format::limits::BLOCK_TRAILER_SIZE_BYTES;
use terrace_format::table::BlockHandle;

/// Compression ids that a table may have.
const IDS: [u8; 5] = [0, 1, 2, 3, 4];

/// After damage, blocks are looked for that are not longer than this, or than four times the longest so far.
const LEAST_WINDOW_BYTES: usize = 16 << 10;

/// Bytes that may be summed in vain.
const WASTE_BYTES: usize = 512 << 20;

/// What a walk over the bytes meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Block(BlockHandle),
    /// From here, so many bytes are no block.
    Lost {
        offset: u64,
        bytes: u64,
    },
}

/// Blocks in `bytes`, which is a table up to its footer, and what lies between.
pub(super) fn scan(bytes: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    let (mut start, mut wasted, mut longest) = (0, 0, 0);
    let mut lost_from = None;
    while start < bytes.len() && wasted < WASTE_BYTES {
        let limit = if lost_from.is_none() { bytes.len() } else { LEAST_WINDOW_BYTES.max(4 * longest) };
        let window = &bytes[start..bytes.len().min(start + limit + BLOCK_TRAILER_SIZE_BYTES)];
        let Some(size) = block_size(window) else {
            wasted += window.len();
            lost_from.get_or_insert(start);
            start += 1;
            continue;
        };
        if let Some(from) = lost_from.take() {
            found.push(Found::Lost { offset: from as u64, bytes: (start - from) as u64 });
        }
        found.push(Found::Block(BlockHandle { offset: start as u64, size: size as u64 }));
        longest = longest.max(size);
        start += size + BLOCK_TRAILER_SIZE_BYTES;
    }
    if let Some(from) = lost_from {
        found.push(Found::Lost { offset: from as u64, bytes: (bytes.len() - from) as u64 });
    }
    found
}

/// The size of the block that `bytes` begin with, without its trailer: where the checksum that follows fits.
fn block_size(bytes: &[u8]) -> Option<usize> {
    /// A block has a restart point and their number at least.
    const LEAST_BYTES: usize = 8;
    let mut sum = crc::crc32c(bytes.get(..LEAST_BYTES)?);
    for size in LEAST_BYTES..bytes.len().saturating_sub(BLOCK_TRAILER_SIZE_BYTES - 1) {
        let id = bytes[size];
        if IDS.contains(&id) {
            let stored = crc::unmask(decode_fixed32(&bytes[size + 1..]));
            if crc::extend(sum, &[id]) == stored {
                return Some(size);
            }
        }
        sum = crc::extend(sum, &bytes[size..=size]);
    }
    None
}

#[cfg(test)]
mod tests {
    use terrace_format::table::seal_block;

    use super::*;

    #[test]
    fn blocks_are_found_before_and_behind_damage() {
        let mut bytes = Vec::new();
        let mut handles = Vec::new();
        for index in 0..6u8 {
            let contents = vec![index; 100 + 30 * usize::from(index)];
            handles.push(BlockHandle { offset: bytes.len() as u64, size: contents.len() as u64 });
            bytes.extend_from_slice(&contents);
            bytes.extend_from_slice(&seal_block(&contents, index % 2));
        }
        let all: Vec<_> = handles.iter().copied().map(Found::Block).collect();
        assert_eq!(scan(&bytes), all);

        bytes[handles[2].offset as usize + 5] ^= 1;
        let mut expected = all;
        let bytes_lost = handles[2].size + BLOCK_TRAILER_SIZE_BYTES as u64;
        expected[2] = Found::Lost { offset: handles[2].offset, bytes: bytes_lost };
        assert_eq!(scan(&bytes), expected);
        assert_eq!(scan(&[7; 50]), [Found::Lost { offset: 0, bytes: 50 }]);
        assert_eq!(scan(&[]), []);
    }
}
