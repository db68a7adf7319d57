//! Reads the records of a log file. See the picture in [`super`].
//!
//! 1. The reader reads the file block by block. Fewer than seven bytes at the end of a block are padding.
//! 2. A header of zeros ends its block and is not reported: the space was preallocated, or a writer left it empty to
//!    keep the next record whole.
//! 3. A length beyond the end of the file is a torn tail if a writer may have stored such a header there. If the length
//!    leads beyond the end of the block, or cannot stand there with its type, it is damage that drops the rest of the
//!    block. A wrong checksum does the same, because the length beside it cannot be trusted.
//! 4. Fragments are gathered until the last one. Anything that interrupts them (another first fragment, zeros, damage)
//!    is damage to the record so far; the end of the file is a torn tail.

use std::convert::Infallible;
use std::ops::Range;

use super::fragment::{FragmentHeader, FragmentKind};
use super::torn::TornRecord;
use crate::limits::{LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};

/// The source of a [`LogReader`]'s bytes: a file that is read in sequence.
pub trait LogSource {
    /// Why reading failed.
    type Error;

    /// Reads some of the next bytes into `buffer` and returns how many; 0 only at the end of the file.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Self::Error>;

    /// Skips bytes that are known to be zeros, in whole blocks of 32 KiB, and returns how many. Called between blocks,
    /// after a block of zeros. Optional: returns 0 by default.
    fn skip_zeros(&mut self) -> Result<u64, Self::Error> {
        Ok(0)
    }
}

impl LogSource for &[u8] {
    type Error = Infallible;

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        let (bytes, rest) = self.split_at(buffer.len().min(self.len()));
        buffer[..bytes.len()].copy_from_slice(bytes);
        *self = rest;
        Ok(bytes.len())
    }
}

/// A function that continues reading is also a source: `|buffer: &mut [u8]| file.read(buffer)`.
impl<F, E> LogSource for F
where
    F: FnMut(&mut [u8]) -> Result<usize, E>,
{
    type Error = E;

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, E> {
        self(buffer)
    }
}

/// The next thing that a [`LogReader`] meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEvent<'a> {
    /// A whole record.
    Record {
        /// Its bytes.
        payload: &'a [u8],
        /// Where its first physical record begins in the file.
        offset: u64,
    },
    /// Stored bytes that are no longer what they were. Reading may continue: later records may be whole.
    Damage {
        /// Where the dropped bytes begin.
        offset: u64,
        /// The number of bytes of the file that are dropped, headers included.
        dropped_bytes: u64,
        /// What is wrong.
        reason: &'static str,
    },
    /// The file ends within a record, because its writer died before the record was stored. [`LogEvent::End`] follows.
    TornTail {
        /// Where the record begins.
        offset: u64,
        /// The number of bytes of it that are there.
        dropped_bytes: u64,
    },
    /// The end of the file.
    End,
}

/// The next thing within the current block.
enum Physical {
    /// A physical record with the right checksum. `header` and `fragment` are places in the block.
    Fragment { kind: Option<FragmentKind>, header: usize, fragment: Range<usize> },
    /// The rest of the block is zeros.
    Zeros,
    /// The rest of the block is dropped.
    Damage { header: usize, reason: &'static str },
    /// The file ends. If `torn` is given, it ends within the physical record that begins there.
    End { torn: Option<usize> },
}

/// Reads a log file's records in order.
///
/// ```
/// use terrace_format::log::{LogEncoder, LogEvent, LogReader};
///
/// let mut file = Vec::new();
/// LogEncoder::new().encode_into(b"hello", &mut file);
/// let mut reader = LogReader::new(&file[..]);
/// assert_eq!(reader.next().unwrap(), LogEvent::Record { payload: b"hello", offset: 0 });
/// assert_eq!(reader.next().unwrap(), LogEvent::End);
/// ```
#[derive(Debug)]
pub struct LogReader<S> {
    source: S,
    /// The current block: `filled` bytes of it have been read from the file, and `position` bytes have been consumed.
    block: Box<[u8; LOG_BLOCK_SIZE_BYTES]>,
    filled: usize,
    position: usize,
    /// The offset of the current block in the file.
    block_start: u64,
    /// Whether the file ends with the current block.
    at_end: bool,
    /// The fragments so far of the record that began at `record_start`, if one is open.
    record: Vec<u8>,
    record_start: Option<u64>,
    end_of_last_record: u64,
    torn_record: Option<TornRecord>,
    /// The offset in the file of the physical record that was examined last.
    header: u64,
    /// Whether the current block is zeros.
    in_zeros: bool,
}

impl<S: LogSource> LogReader<S> {
    /// Creates a reader at the start of the file.
    pub fn new(source: S) -> Self {
        Self {
            source,
            block: Box::new([0; LOG_BLOCK_SIZE_BYTES]),
            filled: 0,
            position: 0,
            block_start: 0,
            at_end: false,
            record: Vec::new(),
            record_start: None,
            end_of_last_record: 0,
            torn_record: None,
            header: 0,
            in_zeros: false,
        }
    }

    /// Returns the next record, or the event that takes its place. After [`LogEvent::End`], returns `End` again.
    ///
    /// # Errors
    ///
    /// The errors of the source. They lose nothing: the next call tries to continue from the same place.
    #[allow(
        clippy::should_implement_trait,
        reason = "the event borrows from the reader, which Iterator cannot say"
    )]
    pub fn next(&mut self) -> Result<LogEvent<'_>, S::Error> {
        loop {
            match self.next_physical()? {
                Physical::Fragment { kind, header, fragment } => {
                    let offset = self.block_start + header as u64;
                    use FragmentKind::{First, Full, Last, Middle};
                    match (kind, self.record_start) {
                        (Some(Full | First), Some(start)) => {
                            // The fragment is read again after this. An open record without a byte is how old writers
                            // ended a block, not damage.
                            self.position = header;
                            self.record_start = None;
                            if !self.record.is_empty() {
                                return Ok(damage(start, offset, "a fragmented record has no end"));
                            }
                        }
                        (Some(Full), None) => {
                            self.end_of_last_record = self.block_start + fragment.end as u64;
                            return Ok(LogEvent::Record { payload: &self.block[fragment], offset });
                        }
                        (Some(First), None) => {
                            self.record.clear();
                            self.record.extend_from_slice(&self.block[fragment]);
                            self.record_start = Some(offset);
                        }
                        (Some(Middle), Some(_)) => self.record.extend_from_slice(&self.block[fragment]),
                        (Some(Last), Some(start)) => {
                            self.end_of_last_record = self.block_start + fragment.end as u64;
                            self.record.extend_from_slice(&self.block[fragment]);
                            self.record_start = None;
                            return Ok(LogEvent::Record { payload: &self.record, offset: start });
                        }
                        (Some(Middle | Last), None) => {
                            let end = self.block_start + fragment.end as u64;
                            return Ok(damage(offset, end, "a fragment without its first one"));
                        }
                        (None, _) => {
                            let start = self.record_start.take().unwrap_or(offset);
                            let end = self.block_start + fragment.end as u64;
                            return Ok(damage(start, end, "an unknown record type"));
                        }
                    }
                }
                Physical::Zeros => {
                    if let Some(start) = self.record_start.take() {
                        return Ok(damage(start, self.end_of_block(), "zeros within a fragmented record"));
                    }
                }
                Physical::Damage { header, reason } => {
                    let start = self.record_start.take().unwrap_or(self.block_start + header as u64);
                    return Ok(damage(start, self.end_of_block(), reason));
                }
                Physical::End { torn } => {
                    let rest = torn.map_or(&[][..], |header| &self.block[header..self.filled]);
                    let torn = torn.map(|header| self.block_start + header as u64);
                    let end = self.end_of_block();
                    self.header = torn.unwrap_or(end);
                    let start = self.record_start.take();
                    let gathered = start.map(|_| std::mem::take(&mut self.record));
                    return Ok(match start.or(torn) {
                        Some(offset) => {
                            self.torn_record = TornRecord::new(gathered, rest);
                            LogEvent::TornTail { offset, dropped_bytes: end - offset }
                        }
                        None => LogEvent::End,
                    });
                }
            }
        }
    }

    /// Where the last record that was read ends in the file; 0 before the first. To continue a log, cut it there.
    pub fn end_of_last_record(&self) -> u64 {
        self.end_of_last_record
    }

    /// After [`LogEvent::Damage`] or [`LogEvent::TornTail`]: where the wrong physical record begins. It is after the
    /// event's offset if other fragments of the record are whole.
    pub fn damaged_at(&self) -> u64 {
        self.header
    }

    /// After [`LogEvent::TornTail`]: the part of the record that the file holds. `None` if its fragments do not belong
    /// together, if the first one is missing, or if the record was taken before.
    pub fn take_torn_record(&mut self) -> Option<TornRecord> {
        self.torn_record.take()
    }

    /// Where the examined bytes end. After [`LogEvent::End`], this is the end of the file as it was then.
    pub fn end_of_bytes(&self) -> u64 {
        self.end_of_block()
    }

    /// Where the bytes read so far end in the file.
    fn end_of_block(&self) -> u64 {
        self.block_start + self.filled as u64
    }

    fn next_physical(&mut self) -> Result<Physical, S::Error> {
        loop {
            self.fill_block()?;
            if self.filled - self.position >= LOG_HEADER_SIZE_BYTES {
                return Ok(self.parse_physical());
            }
            let header = self.position;
            self.position = self.filled;
            if self.at_end {
                let is_torn = self.block[header..self.filled].iter().any(|&byte| byte != 0);
                return Ok(Physical::End { torn: is_torn.then_some(header) });
            }
            let skipped_bytes = if self.in_zeros { self.source.skip_zeros()? } else { 0 };
            self.in_zeros = false;
            self.block_start += LOG_BLOCK_SIZE_BYTES as u64 + skipped_bytes;
            self.filled = 0;
            self.position = 0;
        }
    }

    /// Continues to read until the block is whole or the file ends. If the source fails, the block keeps what was read.
    fn fill_block(&mut self) -> Result<(), S::Error> {
        while self.filled < LOG_BLOCK_SIZE_BYTES && !self.at_end {
            match self.source.read(&mut self.block[self.filled..])? {
                0 => self.at_end = true,
                count => self.filled += count,
            }
        }
        Ok(())
    }

    /// Parses the physical record at `position`, where there is at least a header.
    fn parse_physical(&mut self) -> Physical {
        let start = self.position;
        let bytes = &self.block[start..self.filled];
        let (header, rest) = FragmentHeader::split(bytes).expect("the caller checked for a header");
        self.position = self.filled;
        self.header = self.block_start + start as u64;
        if header.is_empty_space() {
            self.in_zeros = bytes.len() == LOG_BLOCK_SIZE_BYTES && bytes.iter().all(|&byte| byte == 0);
            return Physical::Zeros;
        }
        let Some(fragment) = rest.get(..header.length_bytes) else {
            // No writer ever stores such a length in a whole block. In the last block of the file, the writer may have
            // stopped there.
            return if self.at_end && header.may_stand_at(start) {
                Physical::End { torn: Some(start) }
            } else {
                Physical::Damage { header: start, reason: "a length beyond the end of the block" }
            };
        };
        if !header.matches(fragment) {
            return Physical::Damage { header: start, reason: "a checksum that does not match" };
        }
        let fragment_start = start + LOG_HEADER_SIZE_BYTES;
        self.position = fragment_start + header.length_bytes;
        Physical::Fragment { kind: header.kind(), header: start, fragment: fragment_start..self.position }
    }
}

fn damage(start: u64, end: u64, reason: &'static str) -> LogEvent<'static> {
    LogEvent::Damage { offset: start, dropped_bytes: end - start, reason }
}
