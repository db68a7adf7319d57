//! Judges what follows the last sound record of a log: a record that was never finished, the result of a loss of power,
//! or damage. Predecessor: `log_replay`, which met something that is not a record. Successor: `block_signs`.
//!
//! A log may be mapped into memory while it is written (`env`'s log file). It then ends at the end of a block, with
//! zeros after its last record. A record's header is stored after its payload, and pages of 4 KiB reach the disk in any
//! order, each in the state that it had at some moment. Besides a sector that reads as zeros, a loss of power may
//! therefore leave
//!
//! - a header of zeros before a payload, in a page from before the header was stored: zeros follow to the end of the
//!   page, unless the payload itself continues after it;
//! - the beginning of a payload, in a page from before the rest was copied: zeros follow to the end of the page.
//!
//! The death of a process leaves the first of these, with nothing but zeros after it.
//!
//! A value may hold sectors of zeros, or a log. Zeros alone therefore prove little where one flipped bit explains as
//! much, and a batch is not searched for records if its own lengths tell where it ends. At most two blocks are
//! examined.

use terrace_env::RandomAccessFile;
use terrace_format::batch::BatchBeginning;
use terrace_format::internal_key::MAX_SEQUENCE_NUMBER;
use terrace_format::limits::{BATCH_HEADER_SIZE_BYTES, LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};
use terrace_format::log::{TornRecord, next_header_offset};

use crate::error::Result;
use crate::recovery::block_signs::{Block, Sequences};
use crate::recovery::source::first_content;
use crate::recovery::tail::is_next;

const BLOCK_SIZE_BYTES: u64 = LOG_BLOCK_SIZE_BYTES as u64;

/// What was met after the last sound record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A header of zeros with other bytes or a later record after it.
    Zeros,
    /// A record whose checksum fails.
    Damage {
        /// Where it begins.
        record: u64,
        /// Where its first wrong physical record begins.
        at: u64,
    },
}

/// What the trouble means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogEnd {
    /// A record that was never finished, with nothing after it. The log ends before it.
    Unfinished,
    /// The writer is alive and has continued since. For us, the log ends at this place.
    Growing,
    /// A loss of power took bytes that were not synced.
    PowerLoss,
    /// Something else happened to bytes that may have been synced.
    Damage,
}

/// What a record is that the end of the file cuts off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TornTail {
    /// It was being written, as far as its bytes show.
    Unfinished,
    /// It was being written, but writes are missing before it: the log begins with this sequence.
    AfterGap(u64),
    /// It was not being written. The text gives the evidence.
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
    /// Decides what `trouble` means.
    pub(crate) fn judge(&self, trouble: Trouble) -> Result<LogEnd> {
        let next = next_header_offset(self.sound_end);
        let must_be_whole = trouble != Trouble::Zeros;
        if self.block_of(next)?.is_next_record(in_block(next), must_be_whole) {
            return Ok(LogEnd::Growing);
        }
        match trouble {
            Trouble::Zeros => self.judge_zeros(next),
            Trouble::Damage { record, at } => {
                let block = self.block_of(at)?;
                // A record that is sound but out of place shows that something before it is missing.
                let is_lost = (!block.is_sound(in_block(at))
                    && !block.is_explained_by_its_header_or_a_bit(in_block(at))
                    && block.is_lost_record(in_block(at)))
                    || (record > self.sound_end && self.is_hole_before(record)?);
                Ok(if is_lost { LogEnd::PowerLoss } else { LogEnd::Damage })
            }
        }
    }

    /// Decides what the record at `offset` is. `torn` is the part of it that the log holds, or `None` if the fragments
    /// do not belong together.
    ///
    /// A writer that dies leaves the first bytes of a record, which was never acknowledged. Those bytes must belong to
    /// a batch that may come next, and the lengths in the batch must agree with those of its fragments. More cannot be
    /// checked: if a length in the batch and the length of its fragment are both damaged, so that both lead beyond the
    /// end of the file and agree, nothing distinguishes the two cases. (They agree to the byte if the operation is the
    /// last one in the batch.)
    pub(crate) fn judge_torn(&self, torn: Option<&TornRecord>, offset: u64) -> TornTail {
        // Zeros before it may have replaced any number of records.
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
        // The first record of a log may already be in tables, or may have lost the writes before it.
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

    /// Decides what the header of zeros at `next` means when something follows it.
    fn judge_zeros(&self, next: u64) -> Result<LogEnd> {
        let Some(content) = first_content(self.file, next, u64::MAX)? else { return Ok(LogEnd::Unfinished) };
        let content_block = content / BLOCK_SIZE_BYTES * BLOCK_SIZE_BYTES;
        // A writer may leave zeros at the end of a block, before a record that did not fit.
        let header = next.max(content_block);
        if content < header + LOG_HEADER_SIZE_BYTES as u64 {
            // The rest of the header may be in a lost sector.
            let is_hole = (header > next && self.is_hole_before(header)?)
                || self.block_of(header)?.is_lost_record(in_block(header));
            return Ok(if is_hole { LogEnd::PowerLoss } else { LogEnd::Damage });
        }
        let block = self.block_of(header)?;
        let at = in_block(header);
        if header <= end_of_block(next) && self.is_last_block_of_a_killed_writer(content_block)? {
            // Anything in it may have been stored before the header.
            if block.is_one_record_without_header(at) {
                return Ok(LogEnd::Unfinished);
            }
        }
        Ok(if block.is_lost_header(at) { LogEnd::PowerLoss } else { LogEnd::Damage })
    }

    /// Whether the log ends as a mapped log does when its writer dies, with the block at `start` as the last one that
    /// holds anything.
    fn is_last_block_of_a_killed_writer(&self, start: u64) -> Result<bool> {
        let size = self.file.size_bytes()?;
        Ok(size.is_multiple_of(BLOCK_SIZE_BYTES)
            && first_content(self.file, start + BLOCK_SIZE_BYTES, size)?.is_none())
    }

    /// Whether what lies before `header` is missing, as a whole physical record at `header` shows.
    fn is_hole_before(&self, header: u64) -> Result<bool> {
        let next = next_header_offset(self.sound_end);
        let block = self.block_of(next)?;
        let at = in_block(next);
        Ok(self.block_of(header)?.is_sound(in_block(header))
            && block.is_zeros(at, at + LOG_HEADER_SIZE_BYTES)
            && block.is_lost_header(at))
    }

    /// The block that contains `offset`.
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

/// Where the block that contains `offset` ends.
fn end_of_block(offset: u64) -> u64 {
    (offset / BLOCK_SIZE_BYTES + 1) * BLOCK_SIZE_BYTES
}

#[cfg(test)]
mod tests;
