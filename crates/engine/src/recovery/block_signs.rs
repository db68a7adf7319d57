//! What one block of a log shows about a place where its checksum fails. Predecessor: `log_end`. Offsets count from the
//! beginning of the block.

use std::ops::Range;

use terrace_format::batch::{BatchBeginning, BatchRef};
use terrace_format::coding::decode_fixed64;
use terrace_format::crc;
use terrace_format::limits::{BATCH_HEADER_SIZE_BYTES, LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};
use terrace_format::log::{Fragment, FragmentHeader};

use crate::recovery::tail::record_at;

const SECTOR_SIZE_BYTES: usize = 512;
const PAGE_SIZE_BYTES: usize = 4096;
/// A page in an older state ends in at least this many zeros, because copies proceed in steps of eight bytes.
const OLD_PAGE_END_BYTES: usize = 8;

/// The sequences that a record may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequences {
    /// The sequence of the newest write before the record.
    pub(crate) last: u64,
    /// Whether each record begins with the sequence that follows the last one of the record before.
    pub(crate) are_contiguous: bool,
}

impl Sequences {
    /// Whether the record after the newest write may begin with `sequence`.
    pub(crate) fn may_go_on_with(self, sequence: u64) -> bool {
        if self.are_contiguous { sequence == self.last + 1 } else { sequence > self.last }
    }
}

/// A block of a log. The last block is shorter than the others if the log ends within it.
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sequences: Sequences,
}

impl Block {
    /// Whether the range, or the part of it that the block has, holds nothing but zeros.
    pub(crate) fn is_zeros(&self, start: usize, end: usize) -> bool {
        let end = end.min(self.bytes.len());
        self.bytes[start.min(end)..end].iter().all(|byte| *byte == 0)
    }

    /// The offset after the last byte that is not zero.
    pub(crate) fn content_end(&self) -> usize {
        self.bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
    }

    /// The header at `at` and all bytes after it.
    fn header(&self, at: usize) -> Option<(FragmentHeader, &[u8])> {
        FragmentHeader::split(self.bytes.get(at..)?)
    }

    /// Whether the checksum of a physical record of any kind matches at `at`.
    pub(crate) fn is_sound(&self, at: usize) -> bool {
        self.bytes.get(at..).and_then(Fragment::parse).is_some()
    }

    /// Whether the bytes at `at` are a whole record, or its first fragment, that directly follows the last one.
    pub(crate) fn is_next_record(&self, at: usize, must_be_whole: bool) -> bool {
        let found = self.bytes.get(at..).and_then(record_at);
        found.is_some_and(|found| {
            (found.kind.ends_record() || !must_be_whole)
                && found.payload.len() >= BATCH_HEADER_SIZE_BYTES
                && decode_fixed64(found.payload) == self.sequences.last + 1
        })
    }

    /// Whether one flipped bit, or a length other than the one in the header, explains why the checksum of the physical
    /// record at `at` fails. A lost sector makes either appear by chance once in 2^32 bits examined.
    pub(crate) fn is_explained_by_its_header_or_a_bit(&self, at: usize) -> bool {
        let Some((header, rest)) = self.header(at) else { return false };
        header.matching_lengths(rest).any(|length| length > 0)
            || rest.get(..header.length_bytes).is_some_and(|fragment| has_one_flipped_bit(header, fragment))
    }

    /// Whether a loss of power explains why the checksum of the physical record at `at` fails: one of its sectors reads
    /// as zeros, or a page after its first one dates from before the record was whole.
    pub(crate) fn is_lost_record(&self, at: usize) -> bool {
        let Some((header, _)) = self.header(at) else { return true };
        if self.is_zeros(at, at + LOG_HEADER_SIZE_BYTES) {
            return self.is_lost_header(at);
        }
        let end = at + LOG_HEADER_SIZE_BYTES + header.length_bytes;
        // A wrong header tells nothing, but a part of it may be in a lost sector.
        let end = if end <= LOG_BLOCK_SIZE_BYTES { end } else { at + LOG_HEADER_SIZE_BYTES };
        self.lost_sectors(at, end) || self.has_old_page(at, end)
    }

    /// Whether a loss of power explains why the header at `at` reads as zeros although something follows in the block.
    pub(crate) fn is_lost_header(&self, at: usize) -> bool {
        self.lost_sectors(at, at + LOG_HEADER_SIZE_BYTES) || self.is_header_not_stored(at)
    }

    /// Whether everything that follows the zeros at `at` may belong to one record whose header was never stored.
    pub(crate) fn is_one_record_without_header(&self, at: usize) -> bool {
        self.is_zeros(at, at + LOG_HEADER_SIZE_BYTES) && {
            let end = self.end_of_batch_without_header(at).unwrap_or(at + 1);
            !self.has_records(end..LOG_BLOCK_SIZE_BYTES)
        }
    }

    /// Whether a sector that overlaps the range reads as zeros, from its own start or from the range's start if that is
    /// later.
    fn lost_sectors(&self, start: usize, end: usize) -> bool {
        let end = end.min(self.bytes.len());
        (start / SECTOR_SIZE_BYTES..end.div_ceil(SECTOR_SIZE_BYTES)).any(|sector| {
            let from = (sector * SECTOR_SIZE_BYTES).max(start);
            from < end && self.is_zeros(from, (sector + 1) * SECTOR_SIZE_BYTES)
        })
    }

    /// Whether the page holds a state from before the header at `at` was stored, but from after its payload, or part of
    /// it, was stored.
    fn is_header_not_stored(&self, at: usize) -> bool {
        // The file may end earlier: its size reaches the disk independently.
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

    /// Where the batch ends whose header at `at` was not stored, or the end of the block if the batch continues after
    /// it. `None` if there is no batch that could come next.
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

    /// Whether records begin in the range: two in succession, or one after which the block holds nothing else. A value
    /// may hold bytes that look like a record. At least one write is missing before the records that count here.
    fn has_records(&self, range: Range<usize>) -> bool {
        let content_end = self.content_end();
        (range.start..range.end.min(content_end)).any(|at| {
            let Some((next, sequence)) = self.record_after_a_gap(at) else { return false };
            next >= content_end
                || self.is_zeros(next, LOG_BLOCK_SIZE_BYTES)
                || self.record(next).is_some_and(|(_, first, _)| first == sequence)
        })
    }

    /// The record at `at`, if its sequence skips at least one: where the record ends, and the next sequence.
    fn record_after_a_gap(&self, at: usize) -> Option<(usize, u64)> {
        let (end, first, next) = self.record(at)?;
        let Sequences { last, are_contiguous } = self.sequences;
        let is_near = !are_contiguous || first <= last.saturating_add(at as u64);
        (first > last.saturating_add(u64::from(are_contiguous)) && is_near).then_some((end, next))
    }

    /// The record or first fragment whose checksum matches at `at`: where it ends, its sequence, and the sequence of
    /// the record after it.
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

    /// Whether a page after the first one of a record from `start` to `end` ends in zeros, up to and including the
    /// record's last byte in it.
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

/// Whether the checksum would match if one bit of the checksum, the type or the fragment were different.
///
/// How a flipped bit changes a checksum depends only on the bit's distance from the end: each step away from the end
/// divides the change by x once more, modulo the polynomial.
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

/// The batch at the beginning of `bytes`, if it may come next.
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
        // A damaged length is detected in another way: the checksum matches at another length.
        for bit in (0..8 * sound.len()).filter(|bit| !(32..48).contains(bit)) {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(is_told(&bytes), "bit {bit}");
            bytes[(bit / 8 + 100) % 250 + 20] ^= 0x81;
            assert!(!is_told(&bytes), "bit {bit} and two others");
        }
    }
}
