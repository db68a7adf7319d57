//! Judges what follows the last sound record of a log: a record that was never finished, what a loss of power left,
//! or damage. Predecessor: `replay`, which met something that is no record. Successor: `evidence`.
//!
//! A log may be mapped into memory while it is written (`env`'s log file): it ends where a block does, with zeros behind
//! its last record; a record's header is stored after its payload; and pages of 4 KiB reach the disk in any order, each as
//! it was at some moment. So besides a sector that reads as zeros, a loss of power may leave
//!
//! - a header of zeros before a payload, in a page from before the header was stored: zeros follow to the page's end,
//!   unless the payload itself goes on behind it;
//! - the beginning of a payload, in a page from before the rest was copied: zeros follow to the page's end.
//!
//! The death of a process leaves the first of these, and nothing but zeros behind.
//!
//! A value may hold sectors of zeros, and a log. So zeros alone say little where one flipped bit explains as much, and no
//! record is looked for within a batch whose own lengths tell where it ends. One block at most is looked at, or two.

use terrace_env::RandomAccessFile;
use terrace_format::batch::BatchBeginning;
use terrace_format::internal_key::MAX_SEQUENCE_NUMBER;
use terrace_format::limits::{BATCH_HEADER_SIZE_BYTES, LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};
use terrace_format::log::{TornRecord, next_header_offset};

use crate::error::Result;
use crate::recovery::evidence::{Block, Sequences};
use crate::recovery::source::first_content;
use crate::recovery::tail::is_next;

const BLOCK_SIZE_BYTES: u64 = LOG_BLOCK_SIZE_BYTES as u64;

/// What was met after the last sound record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A header of zeros, with other bytes behind; or with a later record behind.
    Zeros,
    /// A record that does not check.
    Damage {
        /// Where it begins.
        record: u64,
        /// Where its first physical record begins that is wrong.
        at: u64,
    },
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

/// What a record is that the end of the file cuts off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TornTail {
    /// It was being written, for all that its bytes show.
    Unfinished,
    /// The same, and writes are missing before it: the log begins with this sequence.
    AfterGap(u64),
    /// It was not: what shows it.
    Damaged(String),
}

/// A log after its last sound record.
pub(crate) struct LogRest<'a> {
    pub(crate) file: &'a dyn RandomAccessFile,
    /// Where the last sound record ends.
    pub(crate) sound_end: u64,
    pub(crate) sequences: Sequences,
}

impl LogRest<'_> {
    /// What `trouble` means.
    pub(crate) fn judge(&self, trouble: Trouble) -> Result<Verdict> {
        let next = next_header_offset(self.sound_end);
        let must_be_whole = trouble != Trouble::Zeros;
        if self.block_of(next)?.is_next_record(in_block(next), must_be_whole) {
            return Ok(Verdict::Growing);
        }
        match trouble {
            Trouble::Zeros => self.judge_zeros(next),
            Trouble::Damage { record, at } => {
                let block = self.block_of(at)?;
                // One that is sound and out of place shows that something before it is missing.
                let is_lost = (!block.is_sound(in_block(at))
                    && !block.is_explained_by_its_header_or_a_bit(in_block(at))
                    && block.is_lost_record(in_block(at)))
                    || (record > self.sound_end && self.is_hole_before(record)?);
                Ok(if is_lost { Verdict::PowerLoss } else { Verdict::Damage })
            }
        }
    }

    /// What the record at `offset` is, of which `torn` is there; without it, fragments that do not belong together.
    ///
    /// A writer that dies leaves the first bytes of a record, and nobody was told that it is stored. So they are those of a
    /// batch that comes next, and the lengths in it agree with those of its fragments. More cannot be asked: where a length
    /// in the batch is damaged, and the fragment's too, so that both lead beyond the end of the file and agree, nothing tells
    /// the two cases apart. (They agree to the byte if the operation is the batch's last one.)
    pub(crate) fn judge_torn(&self, torn: Option<&TornRecord>, offset: u64) -> TornTail {
        // Zeros before it may have taken the place of any records.
        let follows = is_next(self.sound_end, offset);
        let Some(TornRecord { payload, size_bytes }) = torn else {
            let problem = || TornTail::Damaged("a fragment without its first one".to_owned());
            return if follows { problem() } else { TornTail::Unfinished };
        };
        let Some(batch) = BatchBeginning::read(payload) else {
            let is_too_short = *size_bytes.end() < BATCH_HEADER_SIZE_BYTES;
            let problem = || TornTail::Damaged("a length too short for a batch".to_owned());
            return if is_too_short { problem() } else { TornTail::Unfinished };
        };
        let Sequences { last, are_contiguous } = self.sequences;
        // What is first in a log may be in tables already, or have lost the writes before it.
        let is_first = self.sound_end == 0;
        let may_come_next = batch.sequence <= MAX_SEQUENCE_NUMBER
            && (is_first || !follows || self.sequences.may_go_on_with(batch.sequence));
        let Some(batch_size_bytes) = batch.size_bytes.filter(|_| may_come_next) else {
            return TornTail::Damaged("a bad batch".to_owned());
        };
        if batch_size_bytes.start() > size_bytes.end() || size_bytes.start() > batch_size_bytes.end() {
            let at_least = batch_size_bytes.start();
            return TornTail::Damaged(format!(
                "a bad length, as its batch of {at_least} bytes or more shows"
            ));
        }
        if is_first && are_contiguous && batch.sequence > last + 1 {
            return TornTail::AfterGap(batch.sequence);
        }
        TornTail::Unfinished
    }

    /// What the header of zeros at `next` means, after which something follows.
    fn judge_zeros(&self, next: u64) -> Result<Verdict> {
        let Some(content) = first_content(self.file, next, u64::MAX)? else { return Ok(Verdict::Unfinished) };
        let content_block = content / BLOCK_SIZE_BYTES * BLOCK_SIZE_BYTES;
        // A writer may leave zeros at the end of a block, before a record that did not fit.
        let header = next.max(content_block);
        if content < header + LOG_HEADER_SIZE_BYTES as u64 {
            // The rest of the header may be in a lost sector.
            let is_hole = (header > next && self.is_hole_before(header)?)
                || self.block_of(header)?.is_lost_record(in_block(header));
            return Ok(if is_hole { Verdict::PowerLoss } else { Verdict::Damage });
        }
        let block = self.block_of(header)?;
        let at = in_block(header);
        if header <= end_of_block(next) && self.is_last_block_of_a_killed_writer(content_block)? {
            // Whatever is in it may have been stored before the header.
            if block.is_one_record_without_header(at) {
                return Ok(Verdict::Unfinished);
            }
        }
        Ok(if block.is_lost_header(at) { Verdict::PowerLoss } else { Verdict::Damage })
    }

    /// Whether the log ends as a mapped one does whose writer died, with the block at `start` as the last that holds
    /// anything.
    fn is_last_block_of_a_killed_writer(&self, start: u64) -> Result<bool> {
        let size = self.file.size_bytes()?;
        Ok(size.is_multiple_of(BLOCK_SIZE_BYTES)
            && first_content(self.file, start + BLOCK_SIZE_BYTES, size)?.is_none())
    }

    /// Whether what lies before `header` is missing, since a physical record is whole there.
    fn is_hole_before(&self, header: u64) -> Result<bool> {
        let next = next_header_offset(self.sound_end);
        let block = self.block_of(next)?;
        let at = in_block(next);
        Ok(self.block_of(header)?.is_sound(in_block(header))
            && block.is_zeros(at, at + LOG_HEADER_SIZE_BYTES)
            && block.is_lost_header(at))
    }

    /// The block in which `offset` lies.
    fn block_of(&self, offset: u64) -> Result<Block> {
        let mut bytes = vec![0; LOG_BLOCK_SIZE_BYTES];
        let count = self.file.read_at(offset / BLOCK_SIZE_BYTES * BLOCK_SIZE_BYTES, &mut bytes)?;
        bytes.truncate(count);
        Ok(Block { bytes, sequences: self.sequences })
    }
}

fn in_block(offset: u64) -> usize {
    (offset % BLOCK_SIZE_BYTES) as usize
}

/// Where the block ends in which `offset` lies.
fn end_of_block(offset: u64) -> u64 {
    (offset / BLOCK_SIZE_BYTES + 1) * BLOCK_SIZE_BYTES
}

#[cfg(test)]
mod tests;
