//! What one block of a log shows about the place where it does not check. Predecessor: `verdict`. Offsets are counted
//! from the block's beginning.

use std::ops::Range;

use terrace_format::batch::{BatchBeginning, BatchRef};
use terrace_format::coding::decode_fixed64;
use terrace_format::crc;
use terrace_format::limits::{BATCH_HEADER_SIZE_BYTES, LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};
use terrace_format::log::{Fragment, FragmentHeader};

use crate::recovery::tail::record_at;

const SECTOR_SIZE_BYTES: usize = 512;
const PAGE_SIZE_BYTES: usize = 4096;
/// A page of an older state shows it by at least so many zeros at its end: copies go by eight bytes.
const OLD_PAGE_END_BYTES: usize = 8;

/// The sequences that a record may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequences {
    /// Of the newest write before.
    pub(crate) last: u64,
    /// Each record begins with the sequence after the last one's.
    pub(crate) are_contiguous: bool,
}

impl Sequences {
    /// Whether the record after the newest write may begin with `sequence`.
    pub(crate) fn may_go_on_with(self, sequence: u64) -> bool {
        if self.are_contiguous { sequence == self.last + 1 } else { sequence > self.last }
    }
}

/// A block of a log, shorter than others if the log ends in it.
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sequences: Sequences,
}

impl Block {
    /// Whether nothing but zeros is in the range, or in what the block has of it.
    pub(crate) fn is_zeros(&self, start: usize, end: usize) -> bool {
        let end = end.min(self.bytes.len());
        self.bytes[start.min(end)..end].iter().all(|byte| *byte == 0)
    }

    /// After the last byte that is not zero.
    pub(crate) fn content_end(&self) -> usize {
        self.bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
    }

    /// The header at `at` and all bytes after it.
    fn header(&self, at: usize) -> Option<(FragmentHeader, &[u8])> {
        FragmentHeader::split(self.bytes.get(at..)?)
    }

    /// Whether a physical record of any kind checks at `at`.
    pub(crate) fn is_sound(&self, at: usize) -> bool {
        self.bytes.get(at..).and_then(Fragment::parse).is_some()
    }

    /// Whether the bytes at `at` are a record whole, or its first fragment, that comes straight after the last one.
    pub(crate) fn is_next_record(&self, at: usize, must_be_whole: bool) -> bool {
        let found = self.bytes.get(at..).and_then(record_at);
        found.is_some_and(|found| {
            (found.kind.ends_record() || !must_be_whole)
                && found.payload.len() >= BATCH_HEADER_SIZE_BYTES
                && decode_fixed64(found.payload) == self.sequences.last + 1
        })
    }

    /// Whether one flipped bit explains that the physical record at `at` does not check, or a length that is another
    /// than its header says. A lost sector makes either appear by chance once in 2^32 bits looked at.
    pub(crate) fn is_explained_by_its_header_or_a_bit(&self, at: usize) -> bool {
        let Some((header, rest)) = self.header(at) else { return false };
        header.matching_lengths(rest).any(|length| length > 0)
            || rest.get(..header.length_bytes).is_some_and(|fragment| has_one_flipped_bit(header, fragment))
    }

    /// Whether a loss of power explains that the physical record at `at` does not check: a sector of it reads as zeros, or
    /// a page after its first one is from before it was whole.
    pub(crate) fn is_lost_record(&self, at: usize) -> bool {
        let Some((header, _)) = self.header(at) else { return true };
        if self.is_zeros(at, at + LOG_HEADER_SIZE_BYTES) {
            return self.is_lost_header(at);
        }
        let end = at + LOG_HEADER_SIZE_BYTES + header.length_bytes;
        // A header that is wrong tells nothing; a part of it may be in a lost sector.
        let end = if end <= LOG_BLOCK_SIZE_BYTES { end } else { at + LOG_HEADER_SIZE_BYTES };
        self.lost_sectors(at, end) || self.has_old_page(at, end)
    }

    /// Whether a loss of power explains that the header at `at` reads as zeros, though something follows in the block.
    pub(crate) fn is_lost_header(&self, at: usize) -> bool {
        self.lost_sectors(at, at + LOG_HEADER_SIZE_BYTES) || self.is_header_not_stored(at)
    }

    /// Whether what follows the zeros at `at` may all belong to one record whose header was never stored.
    pub(crate) fn is_one_record_without_header(&self, at: usize) -> bool {
        self.is_zeros(at, at + LOG_HEADER_SIZE_BYTES) && {
            let end = self.end_of_batch_without_header(at).unwrap_or(at + 1);
            !self.has_records(end..LOG_BLOCK_SIZE_BYTES)
        }
    }

    /// Whether a sector that overlaps the range reads as zeros, from the range's start or its own on.
    fn lost_sectors(&self, start: usize, end: usize) -> bool {
        let end = end.min(self.bytes.len());
        (start / SECTOR_SIZE_BYTES..end.div_ceil(SECTOR_SIZE_BYTES)).any(|sector| {
            let from = (sector * SECTOR_SIZE_BYTES).max(start);
            from < end && self.is_zeros(from, (sector + 1) * SECTOR_SIZE_BYTES)
        })
    }

    /// Whether the page holds a state from before the header at `at` was stored, but from after its payload, or a part of
    /// that.
    fn is_header_not_stored(&self, at: usize) -> bool {
        // The file may end earlier: its size reaches the disk on its own.
        let end_of_page = end_of(at, PAGE_SIZE_BYTES).min(self.bytes.len());
        if !self.is_zeros(at, at + LOG_HEADER_SIZE_BYTES) {
            return false;
        }
        let batch_end = self.end_of_batch_without_header(at);
        if batch_end.is_some_and(|end| end + OLD_PAGE_END_BYTES > end_of_page) {
            return true;
        }
        self.is_zeros(end_of_page.saturating_sub(OLD_PAGE_END_BYTES), end_of_page)
            && !self.has_records(batch_end.unwrap_or(at + 1)..end_of_page)
    }

    /// Where the batch ends whose header at `at` was not stored; the block's end if it goes on after that. `None` if
    /// there is none that could come next.
    fn end_of_batch_without_header(&self, at: usize) -> Option<usize> {
        let start = at + LOG_HEADER_SIZE_BYTES;
        let expected = self.sequences.last + 1;
        let mut batch = self.bytes.get(start..)?.to_vec();
        // The first byte is stored together with the header.
        *batch.first_mut()? = expected.to_le_bytes()[0];
        let next = next_batch(&batch, Sequences { are_contiguous: true, ..self.sequences })?;
        next.size_bytes.as_ref()?;
        Some(next.end_within(batch.len()).map_or(LOG_BLOCK_SIZE_BYTES, |size| start + size))
    }

    /// Whether records begin in the range: two, one after the other, or one after which the block holds nothing else. A
    /// value may hold what looks like one; at least one write is missing before those that are meant.
    fn has_records(&self, range: Range<usize>) -> bool {
        let content_end = self.content_end();
        (range.start..range.end.min(content_end)).any(|at| {
            let Some((next, sequence)) = self.record_after_a_gap(at) else { return false };
            next >= content_end
                || self.is_zeros(next, LOG_BLOCK_SIZE_BYTES)
                || self.record(next).is_some_and(|(_, first, _)| first == sequence)
        })
    }

    /// The record at `at`, if its sequence leaves out one at least: where it ends, and the next sequence.
    fn record_after_a_gap(&self, at: usize) -> Option<(usize, u64)> {
        let (end, first, next) = self.record(at)?;
        let Sequences { last, are_contiguous } = self.sequences;
        let is_near = !are_contiguous || first <= last.saturating_add(at as u64);
        (first > last.saturating_add(u64::from(are_contiguous)) && is_near).then_some((end, next))
    }

    /// The record or first fragment that checks at `at`: where it ends, its sequence, and that of the record after it.
    fn record(&self, at: usize) -> Option<(usize, u64, u64)> {
        let found = record_at(&self.bytes[at..])?;
        let end = at + found.size_bytes();
        if !found.kind.ends_record() {
            let fills_block = end == LOG_BLOCK_SIZE_BYTES && found.payload.len() >= BATCH_HEADER_SIZE_BYTES;
            return fills_block.then(|| (end, decode_fixed64(found.payload), 0));
        }
        let batch = BatchRef::parse(found.payload).ok()?;
        Some((end, batch.sequence(), batch.sequence().saturating_add(u64::from(batch.count()))))
    }

    /// Whether a page after the first one of a record from `start` to `end` ends in zeros, the record's last byte
    /// included.
    fn has_old_page(&self, start: usize, end: usize) -> bool {
        let first_page_end = end_of(start, PAGE_SIZE_BYTES);
        (first_page_end..=end_of(end.saturating_sub(1), PAGE_SIZE_BYTES)).step_by(PAGE_SIZE_BYTES).any(
            |end_of_page| {
                let last = end_of_page.min(end);
                first_page_end < end
                    && end_of_page <= self.bytes.len()
                    && self.is_zeros(last - 1, end_of_page)
                    && self.is_zeros(end_of_page - OLD_PAGE_END_BYTES, end_of_page)
            },
        )
    }
}

/// Where the unit of `size` bytes that holds `at` ends.
fn end_of(at: usize, size: usize) -> usize {
    (at / size + 1) * size
}

/// Whether the checksum would fit if one bit were another, of the checksum, the type or the fragment.
///
/// A checksum changes by a flipped bit in a way that depends on the bit's distance from the end alone: each step away
/// from the end divides by x once more, modulo the polynomial.
fn has_one_flipped_bit(header: FragmentHeader, fragment: &[u8]) -> bool {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let sum = crc::extend(crc::crc32c(&[header.kind]), fragment);
    let stored = header.masked_crc;
    if (0..u32::BITS).any(|bit| crc::unmask(stored ^ (1 << bit)) == sum) {
        return true;
    }
    let wanted = crc::unmask(stored) ^ sum;
    let mut change = 1u32;
    (0..8 * (1 + fragment.len())).any(|_| {
        change = (change >> 1) ^ if change & 1 == 1 { POLYNOMIAL } else { 0 };
        change == wanted
    })
}

/// The batch that `bytes` begin with, if it is one that may come next.
pub(crate) fn next_batch(bytes: &[u8], sequences: Sequences) -> Option<BatchBeginning> {
    BatchBeginning::read(bytes).filter(|batch| batch.count > 0 && sequences.may_go_on_with(batch.sequence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_told_and_two_are_not() {
        let payload: Vec<u8> = (0..300).map(|index| (index * 7) as u8).collect();
        let sound = {
            let mut bytes = Vec::new();
            terrace_format::log::LogEncoder::new().encode_into(&payload, &mut bytes);
            bytes
        };
        let is_told = |bytes: &[u8]| {
            let (header, fragment) = FragmentHeader::split(bytes).unwrap();
            has_one_flipped_bit(header, fragment)
        };
        // A length is told by the checksum at another one.
        for bit in (0..8 * sound.len()).filter(|bit| !(32..48).contains(bit)) {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(is_told(&bytes), "bit {bit}");
            bytes[(bit / 8 + 100) % 250 + 20] ^= 0x81;
            assert!(!is_told(&bytes), "bit {bit} and two others");
        }
    }
}
