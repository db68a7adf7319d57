//! Judges what lies behind the last sound record of a log: a record that was never finished, what a loss of power left,
//! or damage. Predecessor: `recovery`, which met something that is no record.
//!
//! A log may be mapped into memory while it is written (`env`'s log file): it is longer than what it holds, with zeros
//! behind; a record's header is stored after its payload; and pages of 4 KiB reach the disk in any order, each as it was
//! at some moment. So besides a sector that reads as zeros, a loss of power may leave
//!
//! - a header of zeros before a payload, in a page from before the header was stored: zeros follow to the page's end,
//!   unless the payload itself goes on behind it;
//! - the beginning of a payload, in a page from before the rest was copied: zeros follow to the page's end.
//!
//! The death of a process leaves the first of these, and nothing but zeros behind.

use std::path::Path;

use terrace_env::Env;
use terrace_format::batch::BatchRef;
use terrace_format::coding::{Decoder, decode_fixed64};
use terrace_format::crc;
use terrace_format::limits::{BATCH_HEADER_SIZE_BYTES, LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};

use crate::error::Result;
use crate::log_tail::{FIRST, FULL, Found, checks, length, record_at};

const MIDDLE: u8 = 3;

const SECTOR_SIZE_BYTES: usize = 512;
const PAGE_SIZE_BYTES: usize = 4096;
/// A page of an older state shows it by at least so many zeros at its end: copies go by eight bytes.
const OLD_PAGE_END_BYTES: usize = 8;
/// Behind the last record of a mapped log there are at least so many zeros.
const SPARE_BYTES: usize = 4096;

/// What was met behind the last sound record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A header of zeros, with other bytes behind; or with a later record behind.
    Zeros,
    /// From this offset on, a record that does not check.
    Damage(u64),
}

/// What it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A record that was never finished, and nothing behind it: the log ends before it.
    Unfinished,
    /// Its writer lives, and has written on since: the log ends, for us, where we read on too late.
    Growing,
    /// A loss of power took bytes that were not synced.
    PowerLoss,
    /// Something else happened to bytes that may have been synced.
    Damage,
}

/// The log from its last sound record on.
pub(crate) struct LogRest {
    /// Where in the log `bytes` begin: at the start of a block.
    start: u64,
    bytes: Vec<u8>,
    /// The end of the last sound record, in `bytes`.
    sound_end: usize,
    /// Behind the last byte that is not zero.
    content_end: usize,
    last_sequence: u64,
    contiguous_sequences: bool,
}

impl LogRest {
    /// Reads the rest of the log at `path`, whose last sound record ends at `sound_end`.
    pub(crate) fn read(
        env: &dyn Env,
        path: &Path,
        sound_end: u64,
        last_sequence: u64,
        contiguous_sequences: bool,
    ) -> Result<Self> {
        let file = env.open_random(path)?;
        let block = LOG_BLOCK_SIZE_BYTES as u64;
        let start = sound_end / block * block;
        let size = file.size_bytes()?.saturating_sub(start);
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
        let read_bytes = file.read_at(start, &mut bytes)?;
        bytes.truncate(read_bytes);
        let content_end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let sound_end = (sound_end - start) as usize;
        Ok(Self { start, bytes, sound_end, content_end, last_sequence, contiguous_sequences })
    }

    /// What `trouble` means.
    pub(crate) fn judge(&self, trouble: Trouble) -> Verdict {
        if self.has_next_record(trouble) {
            return Verdict::Growing;
        }
        let is_power_loss = match trouble {
            Trouble::Zeros => {
                let header = self.header_behind_zeros();
                if self.is_unfinished(header) {
                    return Verdict::Unfinished;
                }
                self.is_lost_header(header)
            }
            Trouble::Damage(offset) => {
                let header = offset.saturating_sub(self.start) as usize;
                self.is_lost_record(header) || (header > self.sound_end && self.is_hole_before(header))
            }
        };
        if is_power_loss { Verdict::PowerLoss } else { Verdict::Damage }
    }

    fn slice(&self, start: usize, end: usize) -> &[u8] {
        let end = end.min(self.bytes.len());
        &self.bytes[start.min(end)..end]
    }

    fn is_zeros(&self, start: usize, end: usize) -> bool {
        self.slice(start, end).iter().all(|byte| *byte == 0)
    }

    /// Where the record behind the last sound one should begin.
    fn next_header(&self) -> usize {
        let end_of_block = end_of(self.sound_end, LOG_BLOCK_SIZE_BYTES);
        if end_of_block - self.sound_end < LOG_HEADER_SIZE_BYTES { end_of_block } else { self.sound_end }
    }

    /// Whether the record that was missing is there by now.
    fn has_next_record(&self, trouble: Trouble) -> bool {
        let Some(rest) = self.bytes.get(self.next_header()..) else { return false };
        record_at(rest, 0).is_some_and(|found| {
            // The first fragment of a record was there before, if another was damaged.
            (found.is_whole || trouble == Trouble::Zeros)
                && found.payload.len() >= BATCH_HEADER_SIZE_BYTES
                && decode_fixed64(found.payload) == self.last_sequence + 1
        })
    }

    /// The first header of zeros that is not the beginning of a block's end of zeros: a writer leaves such an end before
    /// a record that did not fit.
    fn header_behind_zeros(&self) -> usize {
        let mut header = self.next_header();
        loop {
            let end_of_block = end_of(header, LOG_BLOCK_SIZE_BYTES);
            let is_padding = end_of_block <= self.bytes.len() && self.is_zeros(header, end_of_block);
            if !is_padding || !self.is_zeros(end_of_block, end_of_block + LOG_HEADER_SIZE_BYTES) {
                return header;
            }
            header = end_of_block;
        }
    }

    /// Whether the process may have died while it stored the record at `header`.
    fn is_unfinished(&self, header: usize) -> bool {
        self.is_zeros(header, header + LOG_HEADER_SIZE_BYTES)
            && self.content_end <= end_of(header, LOG_BLOCK_SIZE_BYTES)
            && self.content_end + SPARE_BYTES <= self.bytes.len()
            && self.record_behind(header).is_none()
    }

    /// The first record behind `header`.
    fn record_behind(&self, header: usize) -> Option<usize> {
        (header + 1..self.content_end).find(|&at| {
            // Nothing that begins with zeros is one; this spares most of the work.
            self.bytes.get(at + 6).is_some_and(|kind| matches!(*kind, FULL | FIRST))
                && record_at(&self.bytes[at..], (at - header) as u64)
                    .is_some_and(|found| is_plausible(&found, self.last_sequence, self.contiguous_sequences))
        })
    }

    /// Whether a loss of power explains that the header at `header` reads as zeros, though something follows.
    fn is_lost_header(&self, header: usize) -> bool {
        let end_of_block = end_of(header, LOG_BLOCK_SIZE_BYTES);
        if self.is_zeros(header, end_of_block) {
            // Only what is whole behind shows that it is not the end that a writer left.
            return self.is_hole_before(end_of_block);
        }
        self.lost_sectors(header, header + LOG_HEADER_SIZE_BYTES) || self.is_header_not_stored(header)
    }

    /// Whether what lies before `header` is missing, since a physical record is whole at `header`.
    fn is_hole_before(&self, header: usize) -> bool {
        let is_whole =
            self.bytes.get(header..).and_then(<[u8]>::split_first_chunk).is_some_and(|(fields, rest)| {
                rest.get(..length(fields)).is_some_and(|payload| checks(fields, payload))
            });
        let before = self.next_header();
        is_whole
            && self.is_zeros(before, before + LOG_HEADER_SIZE_BYTES)
            && (self.lost_sectors(before, before + LOG_HEADER_SIZE_BYTES)
                || self.is_header_not_stored(before))
    }

    /// Whether a sector that overlaps the range from `start` to `end` reads as zeros, from `start` or its start on.
    fn lost_sectors(&self, start: usize, end: usize) -> bool {
        let end = end.min(self.bytes.len());
        (start / SECTOR_SIZE_BYTES..end.div_ceil(SECTOR_SIZE_BYTES)).any(|sector| {
            let from = (sector * SECTOR_SIZE_BYTES).max(start);
            from < end && self.is_zeros(from, (sector + 1) * SECTOR_SIZE_BYTES)
        })
    }

    /// Whether the page holds a state from before the header at `header` was stored, but from after its payload, or a
    /// part of that.
    fn is_header_not_stored(&self, header: usize) -> bool {
        let end_of_page = end_of(header, PAGE_SIZE_BYTES);
        self.is_zeros(header, header + LOG_HEADER_SIZE_BYTES)
            && end_of_page <= self.bytes.len()
            && self.record_behind(header).is_none_or(|next| next >= end_of_page)
            && (self.is_zeros(end_of_page - OLD_PAGE_END_BYTES, end_of_page)
                || self.goes_on_behind(header, end_of_page))
    }

    /// Whether the batch whose header was not stored reaches to `end`, or almost.
    fn goes_on_behind(&self, header: usize, end: usize) -> bool {
        let payload = header + LOG_HEADER_SIZE_BYTES;
        let sequence = (self.last_sequence + 1).to_le_bytes();
        let mut batch = self.slice(payload, payload + LOG_BLOCK_SIZE_BYTES).to_vec();
        // The first byte is stored together with the header.
        let Some(first) = batch.first_mut() else { return false };
        *first = sequence[0];
        batch.starts_with(&sequence)
            && batch_size_bytes(&batch).is_none_or(|size| payload + size + OLD_PAGE_END_BYTES > end)
    }

    /// Whether a loss of power explains that the record at `header` does not check, or has no end.
    fn is_lost_record(&self, mut header: usize) -> bool {
        while let Some(end) = self.end_of_sound_fragment(header) {
            let end_of_block = end_of(end - 1, LOG_BLOCK_SIZE_BYTES);
            header = if end_of_block - end < LOG_HEADER_SIZE_BYTES { end_of_block } else { end };
        }
        let Some((fields, rest)) =
            self.bytes.get(header..).and_then(<[u8]>::split_first_chunk::<LOG_HEADER_SIZE_BYTES>)
        else {
            return true;
        };
        let own_end =
            (header + LOG_HEADER_SIZE_BYTES + length(fields)).min(end_of(header, LOG_BLOCK_SIZE_BYTES));
        let end = match self.record_behind(header) {
            Some(next) if next < own_end => next,
            Some(next) if self.is_zeros(own_end, next) => own_end,
            Some(next) => next,
            None if is_whole_with_another_length(fields, rest) => return false,
            None => own_end.max(self.content_end),
        };
        self.lost_sectors(header, end) || self.has_old_page(header, end)
    }

    /// Where the fragment at `header` ends, if it is sound and others of its record have to follow.
    fn end_of_sound_fragment(&self, header: usize) -> Option<usize> {
        let (fields, rest) = self.bytes.get(header..)?.split_first_chunk()?;
        let payload = rest.get(..length(fields))?;
        let goes_on = matches!(fields[6], FIRST | MIDDLE) && checks(fields, payload);
        goes_on.then_some(header + LOG_HEADER_SIZE_BYTES + payload.len())
    }

    /// Whether a page behind the first one of a record from `start` to `end` ends in zeros, the record's last byte
    /// included.
    fn has_old_page(&self, start: usize, end: usize) -> bool {
        let mut end_of_page = end_of(start, PAGE_SIZE_BYTES);
        if start / PAGE_SIZE_BYTES == end.saturating_sub(1) / PAGE_SIZE_BYTES {
            return false;
        }
        loop {
            let last = end_of_page.min(end);
            if end_of_page <= self.bytes.len()
                && self.is_zeros(last - 1, end_of_page)
                && self.is_zeros(end_of_page - OLD_PAGE_END_BYTES, end_of_page)
            {
                return true;
            }
            if end_of_page >= end {
                return false;
            }
            end_of_page += PAGE_SIZE_BYTES;
        }
    }
}

/// Where the unit of `size` bytes that holds `at` ends.
fn end_of(at: usize, size: usize) -> usize {
    (at / size + 1) * size
}

/// Whether a record that was found may come after one that seems unfinished. A value may hold a log file of its own:
/// its sequences are others.
pub(crate) fn is_plausible(found: &Found<'_>, last_sequence: u64, contiguous_sequences: bool) -> bool {
    if found.payload.len() < BATCH_HEADER_SIZE_BYTES {
        return false;
    }
    let sequence = decode_fixed64(found.payload);
    let is_near = !contiguous_sequences || sequence <= last_sequence.saturating_add(found.distance);
    sequence > last_sequence && is_near && (!found.is_whole || BatchRef::parse(found.payload).is_ok())
}

/// Whether the checksum fits the bytes under another length than the header says.
fn is_whole_with_another_length(header: &[u8; LOG_HEADER_SIZE_BYTES], rest: &[u8]) -> bool {
    let wanted = crc::unmask(u32::from_le_bytes([header[0], header[1], header[2], header[3]]));
    let mut sum = crc::crc32c(&header[6..]);
    let longest = rest.len().min(LOG_BLOCK_SIZE_BYTES - LOG_HEADER_SIZE_BYTES);
    rest[..longest].iter().any(|byte| {
        sum = crc::extend(sum, std::slice::from_ref(byte));
        sum == wanted
    })
}

/// The size of the batch at the start of `bytes`; `None` if it does not end within them.
fn batch_size_bytes(bytes: &[u8]) -> Option<usize> {
    let mut decoder = Decoder::new("write batch", bytes);
    decoder.fixed64("sequence").ok()?;
    for _ in 0..decoder.fixed32("count").ok()? {
        let is_put = decoder.bytes(1, "kind").ok()?[0] == 1;
        decoder.length_prefixed("key").ok()?;
        if is_put {
            decoder.length_prefixed("value").ok()?;
        }
    }
    Some(bytes.len() - decoder.remaining().len())
}

#[cfg(test)]
mod tests;
