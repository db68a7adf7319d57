//! Finds a table's blocks without its index, by their checksums.
//!
//! ```text
//!   ┌─────────┬─┬─────────┬─┬────────┬─┬─ ─
//!   │ block   │t│ block   │t│ block  │t│      t = compression id, checksum
//!   └─────────┴─┴─────────┴─┴────────┴─┴─ ─
//!   └ start     └ start: where the last trailer ends
//! ```
//!
//! The start of a block is known, but not its length. The scan extends the checksum byte by byte until the trailer that
//! would follow matches. Blocks lie back to back, or with a few zeros before one that begins with a page, so an
//! undamaged file is walked in one pass. After damage the next start is unknown, too, and each place is tried, over a
//! window a few blocks long, until a trailer matches. Each place costs the length of the window, so the search is
//! bounded.
//!
//! Two decisions:
//!
//! * Every compression id that any table may have counts, including that of Basho's fork. A scan does not know whose
//!   table it reads. If it skipped a block only because the block cannot be decompressed, everything after it would
//!   look as if it came after damage. One more id makes a match by chance hardly likelier: five places in 2^40 instead
//!   of four.
//! * 512 MiB are summed in vain before a table is given up. At the smallest window, that gets past 32 KiB of contiguous
//!   damage and takes a few seconds. Reading the rest of a table justifies these seconds, and repair must not find less
//!   than `terrace inspect` shows.

use std::convert::Infallible;

use crate::coding::decode_fixed32;
use crate::compression::DEFLATE_ID;
use crate::crc;
use crate::limits::{
    BLOCK_TRAILER_SIZE_BYTES, MAX_BLOCK_PADDING_BYTES, MAX_DECOMPRESSED_BLOCK_SIZE_BYTES, PAGE_SIZE_BYTES,
};
use crate::table::BlockHandle;

/// The largest compression id that a table may have.
const MAX_COMPRESSION_ID: u8 = DEFLATE_ID;

/// Bytes that may be summed in vain for one table.
const WASTE_LIMIT_BYTES: u64 = 512 << 20;

/// The smallest window in which the scan looks for the end of a block after damage.
const MIN_WINDOW_BYTES: u64 = 16 << 10;

/// No block is larger, compressed or not.
const MAX_BLOCK_BYTES: u64 = MAX_DECOMPRESSED_BLOCK_SIZE_BYTES as u64;

/// The number of bytes read at once.
const CHUNK_SIZE_BYTES: usize = 256 << 10;

/// A block that a scan found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScannedBlock {
    /// Where its contents lie.
    pub handle: BlockHandle,
    /// Whether the block begins where the block before it ends, after padding if there is some, or at the beginning of
    /// the file. If not, the bytes between are no block, and what was found may be chance or part of a value.
    pub follows: bool,
}

/// Walks over the blocks of a table.
///
/// ```
/// use terrace_format::block_scan::scan_bytes;
/// use terrace_format::table::seal_block;
///
/// let contents = b"a block's contents";
/// let file = [&contents[..], &seal_block(contents, 0)].concat();
/// let mut scan = scan_bytes(&file);
/// let found = scan.next().unwrap().unwrap();
/// assert_eq!((found.handle.offset, found.handle.size, found.follows), (0, 18, true));
/// assert_eq!(scan.next(), Ok(None));
/// ```
#[derive(Debug)]
pub struct BlockScan<R> {
    window: Window<R>,
    wasted_bytes: u64,
    /// Where the scan looks for the next block.
    start: u64,
    /// Whether a block ends there, or the file begins.
    is_chained: bool,
    /// The size of the largest block so far.
    largest_bytes: u64,
    /// The state before the last block, in case it is rejected: where the block began, and the largest block before it.
    last: (u64, u64),
}

/// Scans a table in memory.
pub fn scan_bytes(bytes: &[u8]) -> BlockScan<impl FnMut(u64, &mut [u8]) -> Result<usize, Infallible>> {
    let read = |offset: u64, buffer: &mut [u8]| {
        let rest = &bytes[offset as usize..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    };
    BlockScan::new(read, bytes.len() as u64)
}

impl<R, E> BlockScan<R>
where
    R: FnMut(u64, &mut [u8]) -> Result<usize, E>,
{
    /// Scans the first `end` bytes of a file. `read` fills a buffer with what the file has from an offset on, and
    /// returns how many bytes these are.
    pub fn new(read: R, end: u64) -> Self {
        Self {
            window: Window { read, end, start: 0, bytes: Vec::new() },
            wasted_bytes: 0,
            start: 0,
            is_chained: true,
            largest_bytes: 0,
            last: (0, 0),
        }
    }

    /// Returns the next block; `None` at the end, or when the table is given up.
    ///
    /// # Errors
    ///
    /// The errors of reading.
    #[allow(clippy::should_implement_trait, reason = "an error of reading comes before the option")]
    pub fn next(&mut self) -> Result<Option<ScannedBlock>, E> {
        while self.start < self.window.end && self.wasted_bytes < WASTE_LIMIT_BYTES {
            if let Some(start) = self.end_of_padding()?
                && let Some(size) = self.size_of_block(start, MAX_BLOCK_BYTES)?
            {
                return Ok(Some(self.found(start, size)));
            }
            let limit =
                if self.is_chained { MAX_BLOCK_BYTES } else { MIN_WINDOW_BYTES.max(4 * self.largest_bytes) };
            let Some(size) = self.size_of_block(self.start, limit)? else {
                self.is_chained = false;
                self.start += 1;
                continue;
            };
            return Ok(Some(self.found(self.start, size)));
        }
        Ok(None)
    }

    /// Continues after a block of `size` at `start`.
    fn found(&mut self, start: u64, size: u64) -> ScannedBlock {
        let found = ScannedBlock { handle: BlockHandle { offset: start, size }, follows: self.is_chained };
        self.last = (start, self.largest_bytes);
        self.is_chained = true;
        self.largest_bytes = self.largest_bytes.max(size);
        self.start = start + size + BLOCK_TRAILER_SIZE_BYTES as u64;
        found
    }

    /// The page with which the next block begins, if a block has just ended and what lies between may be padding. It may
    /// also be the beginning of a block, if that is a filter.
    fn end_of_padding(&mut self) -> Result<Option<u64>, E> {
        let end = self.start.next_multiple_of(PAGE_SIZE_BYTES as u64);
        let size = end - self.start;
        if !self.is_chained || size == 0 || size > MAX_BLOCK_PADDING_BYTES as u64 || end >= self.window.end {
            return Ok(None);
        }
        let bytes = self.window.at(self.start, size as usize)?;
        let is_padding = bytes.len() as u64 >= size && bytes[..size as usize].iter().all(|&byte| byte == 0);
        Ok(is_padding.then_some(end))
    }

    /// Treats the last block as a match by chance: the scan continues one byte after its beginning.
    pub fn reject(&mut self) {
        (self.start, self.largest_bytes) = (self.last.0 + 1, self.last.1);
        self.is_chained = false;
    }

    /// The size of the contents of a block that begins at `start`, if one ends within `limit` bytes.
    fn size_of_block(&mut self, start: u64, limit: u64) -> Result<Option<u64>, E> {
        let trailer = BLOCK_TRAILER_SIZE_BYTES as u64;
        let last_end = self.window.end.saturating_sub(trailer).min(start.saturating_add(limit));
        let longest = self.window.end.min(MAX_BLOCK_BYTES);
        let budget = WASTE_LIMIT_BYTES.max(longest).saturating_sub(self.wasted_bytes);
        let mut sum = crc::crc32c(&[]);
        let mut at = start;
        while at <= last_end && at - start <= budget {
            // The bytes from here on that are in memory, read now if necessary: at least a trailer.
            let chunk = self.window.at(at, BLOCK_TRAILER_SIZE_BYTES)?;
            if (chunk.len() as u64) < trailer {
                break;
            }
            let here = (chunk.len() as u64 - trailer + 1).min(last_end + 1 - at) as usize;
            for (index, place) in chunk.windows(BLOCK_TRAILER_SIZE_BYTES).take(here).enumerate() {
                let next = crc::extend(sum, &place[..1]);
                let end = at + index as u64;
                if place[0] <= MAX_COMPRESSION_ID
                    && end > start
                    && next == crc::unmask(decode_fixed32(&place[1..]))
                {
                    return Ok(Some(end - start));
                }
                sum = next;
            }
            at += here as u64;
        }
        self.wasted_bytes += at - start;
        Ok(None)
    }
}

/// The part of the file that is in memory. More is read as needed.
#[derive(Debug)]
struct Window<R> {
    read: R,
    /// Where the table's blocks end.
    end: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl<R, E> Window<R>
where
    R: FnMut(u64, &mut [u8]) -> Result<usize, E>,
{
    /// The bytes from `offset` on: at least `least`, if the file is long enough.
    fn at(&mut self, offset: u64, least: usize) -> Result<&[u8], E> {
        if offset < self.start || offset + least as u64 > self.start + self.bytes.len() as u64 {
            let wanted = self.end.saturating_sub(offset).min(CHUNK_SIZE_BYTES as u64) as usize;
            self.bytes.resize(wanted, 0);
            let mut filled = 0;
            while filled < wanted {
                match (self.read)(offset + filled as u64, &mut self.bytes[filled..])? {
                    0 => break,
                    count => filled += count,
                }
            }
            self.bytes.truncate(filled);
            self.start = offset;
        }
        Ok(&self.bytes[(offset - self.start) as usize..])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::seal_block;

    /// A table's blocks of these sizes, without a footer.
    fn blocks(sizes: &[usize]) -> (Vec<u8>, Vec<BlockHandle>) {
        let (mut bytes, mut handles) = (Vec::new(), Vec::new());
        for (index, size) in sizes.iter().enumerate() {
            let contents: Vec<u8> = (0..*size).map(|at| (at * 7 + index) as u8).collect();
            handles.push(BlockHandle { offset: bytes.len() as u64, size: *size as u64 });
            bytes.extend_from_slice(&contents);
            bytes.extend_from_slice(&seal_block(&contents, index as u8 % (MAX_COMPRESSION_ID + 1)));
        }
        (bytes, handles)
    }

    fn scan(bytes: &[u8]) -> Vec<ScannedBlock> {
        let mut scan = scan_bytes(bytes);
        std::iter::from_fn(|| scan.next().unwrap()).collect()
    }

    fn chain(handles: &[BlockHandle]) -> Vec<ScannedBlock> {
        handles.iter().map(|handle| ScannedBlock { handle: *handle, follows: true }).collect()
    }

    #[test]
    fn blocks_are_found_before_and_after_damage() {
        let (mut bytes, handles) = blocks(&[100, 130, 160, 1, 220, 250]);
        assert_eq!(scan(&bytes), chain(&handles));
        bytes[handles[2].offset as usize + 5] ^= 1;
        let mut expected = chain(&handles);
        expected.remove(2);
        expected[2].follows = false;
        assert_eq!(scan(&bytes), expected);
        assert_eq!(scan(&[7; 50]), []);
        assert_eq!(scan(&[]), []);
    }

    #[test]
    fn a_block_that_is_rejected_is_passed_over_and_what_follows_comes_after_damage() {
        let (bytes, handles) = blocks(&[100, 200, 300]);
        let mut scan = scan_bytes(&bytes);
        assert_eq!(scan.next().unwrap().unwrap().handle, handles[0]);
        scan.reject();
        let next = scan.next().unwrap().unwrap();
        assert_eq!((next.handle, next.follows), (handles[1], false));
        assert!(scan.next().unwrap().unwrap().follows);
    }

    /// Blocks of these sizes, each of which begins with a page if few bytes are left of the one before.
    fn padded_blocks(sizes: &[usize]) -> (Vec<u8>, Vec<BlockHandle>) {
        let (mut bytes, mut handles) = (Vec::new(), Vec::new());
        for size in sizes {
            let padding = bytes.len().next_multiple_of(PAGE_SIZE_BYTES) - bytes.len();
            if padding <= MAX_BLOCK_PADDING_BYTES {
                bytes.resize(bytes.len() + padding, 0);
            }
            let (block, _) = blocks(&[*size]);
            handles.push(BlockHandle { offset: bytes.len() as u64, size: *size as u64 });
            bytes.extend_from_slice(&block);
        }
        (bytes, handles)
    }

    #[test]
    fn blocks_follow_each_other_over_padding() {
        let sizes = [4091, 4000, 3835, 3834, 200, 9000];
        let (mut bytes, handles) = padded_blocks(&sizes);
        assert!(handles[1..4].iter().all(|handle| handle.offset % PAGE_SIZE_BYTES as u64 == 0));
        assert!(handles[4].offset % PAGE_SIZE_BYTES as u64 != 0, "257 bytes are too many to lose");
        assert_eq!(scan(&bytes), chain(&handles));
        // Anything but zeros is damage.
        bytes[handles[2].offset as usize - 1] = 1;
        let mut expected = chain(&handles);
        expected[2].follows = false;
        assert_eq!(scan(&bytes), expected);
    }

    #[test]
    fn a_block_that_begins_with_zeros_at_the_end_of_a_page_is_not_taken_for_padding() {
        let contents = [vec![0; 300], vec![5; 20]].concat();
        let (mut bytes, mut handles) = blocks(&[4080 - 5, 3]);
        let third = BlockHandle { offset: bytes.len() as u64, size: contents.len() as u64 };
        assert_eq!(third.offset, 4088);
        handles.push(third);
        bytes.extend_from_slice(&contents);
        bytes.extend_from_slice(&seal_block(&contents, 0));
        assert_eq!(scan(&bytes), chain(&handles));
    }

    #[test]
    fn a_block_across_chunks_is_found_and_a_failed_read_is_reported() {
        let (bytes, handles) = blocks(&[CHUNK_SIZE_BYTES - 3, CHUNK_SIZE_BYTES, 3 * CHUNK_SIZE_BYTES, 9]);
        assert_eq!(scan(&bytes), chain(&handles));
        let mut scan = BlockScan::new(|_, _: &mut [u8]| Err::<usize, _>("no disk"), 100);
        assert_eq!(scan.next(), Err("no disk"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_scanned_to_the_end(bytes in any::<Vec<u8>>()) {
            let mut end = 0;
            for found in scan(&bytes) {
                prop_assert!(found.handle.offset >= end);
                end = found.handle.offset + found.handle.size + BLOCK_TRAILER_SIZE_BYTES as u64;
                prop_assert!(end <= bytes.len() as u64);
            }
        }

        #[test]
        fn all_blocks_but_the_damaged_are_found(
            sizes in proptest::collection::vec(1..600usize, 1..8), place in any::<proptest::sample::Index>(),
        ) {
            let (mut bytes, handles) = blocks(&sizes);
            let at = place.index(bytes.len());
            bytes[at] ^= 0x20;
            let is_hit = |handle: &BlockHandle| handle.sealed_range(u64::MAX).unwrap().contains(&(at as u64));
            let expected: Vec<_> = handles.into_iter().filter(|handle| !is_hit(handle)).collect();
            let found: Vec<_> = scan(&bytes).iter().map(|found| found.handle).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
