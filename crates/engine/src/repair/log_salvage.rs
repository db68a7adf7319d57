//! Reads everything that is intact from a damaged log or MANIFEST. Successors: [`replay`](super::replay),
//! [`manifest`](super::manifest).
//!
//! The reader of `terrace_format::log` drops the rest of a block after damage, because it cannot trust a length beside
//! a wrong checksum. A repair tries harder. If the checksum of a physical record fails, it takes these steps in order:
//!
//! 1. If the place that the record's length leads to is sound (a record whose checksum matches, zeros, the end), only
//!    this record is lost.
//! 2. If the stored checksum matches the bytes under another length or type, only that field of the header was damaged,
//!    and the record is intact.
//! 3. Otherwise it searches byte by byte for the next record whose checksum matches and which the caller finds
//!    plausible, starting where the damaged record ends by its own lengths. A value may hold an entire log file, so
//!    bytes that may continue an earlier record are not searched. The rest of the block is then lost with that record.
//!
//! A place is wrongly judged sound only if two checksums agree by chance: about once in 2^32 for each place examined.

use std::path::Path;

use terrace_env::{Env, RandomAccessFile};
use terrace_format::limits::{LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};
use terrace_format::log::{Fragment, FragmentHeader, FragmentKind, LogSource, TornRecord};

use crate::error::Result;
use crate::recovery::source::FileSource;

/// A piece of the file that [`read_log`] meets, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogPiece<'a> {
    /// A whole record whose checksum matches.
    Record { payload: &'a [u8], offset: u64 },
    /// Bytes that cannot be read. `lost_bytes` is 0 if only a field of a header was wrong and no record is lost.
    Damage { offset: u64, lost_bytes: u64, reason: &'static str },
    /// Zeros where a record could stand, before another record. Writers may leave them at the end of a block.
    Zeros { offset: u64, size_bytes: u64 },
    /// The file ends within a record.
    UnfinishedTail { offset: u64, lost_bytes: u64 },
}

/// Receives the pieces.
pub(super) trait LogVisitor {
    /// Takes the next piece.
    fn take(&mut self, piece: LogPiece<'_>) -> Result<()>;

    /// Whether `payload` may be the next record or, if not `is_whole`, its beginning. Asked where records before it
    /// were lost.
    fn is_plausible(&self, payload: &[u8], is_whole: bool) -> bool;

    /// How many of `bytes` belong to the record that begins with them, by the lengths in the record; all of them if the
    /// record continues after them. If `is_missing`, the first byte is missing, since it is stored with the header.
    /// `None` if the lengths do not tell.
    fn extent(&self, bytes: &[u8], is_missing: bool) -> Option<usize> {
        let _ = (bytes, is_missing);
        None
    }

    /// Whether the last record of `file`, which begins at `offset`, may never have been finished. If not, it is
    /// damaged.
    fn is_unfinished(&self, file: &dyn RandomAccessFile, offset: u64, tail: Tail<'_>) -> Result<bool> {
        let _ = (file, offset, tail);
        Ok(true)
    }
}

/// A last record that is not whole.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tail<'a> {
    /// The end of the file cuts it off. `None` if its fragments do not belong together.
    Torn(Option<&'a TornRecord>),
    /// Its header is zeros.
    WithoutHeader,
}

/// Reads the file at `path` from end to end.
///
/// # Errors
/// The errors of the visitor and of reading the file.
pub(super) fn read_log(env: &dyn Env, path: &Path, visitor: &mut dyn LogVisitor) -> Result<()> {
    let file = env.open_random(path)?;
    let mut source = FileSource::new(&*file);
    let mut reader = Reader {
        visitor,
        file: &*file,
        block_start: 0,
        open: None,
        record: Vec::new(),
        damage: None,
        zeros: None,
    };
    // Reading is one block ahead, to know which block is the last.
    let mut block = read_block(&mut source)?;
    while !block.is_empty() {
        let is_zeros = block.iter().all(|byte| *byte == 0);
        let skipped_bytes = if is_zeros { source.skip_zeros()? } else { 0 };
        let next = if block.len() < LOG_BLOCK_SIZE_BYTES { Vec::new() } else { read_block(&mut source)? };
        reader.block(&block, next.is_empty())?;
        reader.block_start += block.len() as u64 + skipped_bytes;
        block = next;
    }
    reader.end()
}

fn read_block(source: &mut FileSource<'_>) -> Result<Vec<u8>> {
    let mut block = vec![0; LOG_BLOCK_SIZE_BYTES];
    let count = source.read(&mut block)?;
    block.truncate(count);
    Ok(block)
}

/// A physical record: where it begins and ends in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Physical {
    kind: FragmentKind,
    start: usize,
    end: usize,
}

impl Physical {
    fn fragment<'a>(&self, block: &'a [u8]) -> &'a [u8] {
        &block[self.start + LOG_HEADER_SIZE_BYTES..self.end]
    }
}

struct Reader<'a> {
    visitor: &'a mut dyn LogVisitor,
    file: &'a dyn RandomAccessFile,
    block_start: u64,
    /// Where the record begins whose fragments `record` is gathering.
    open: Option<u64>,
    record: Vec<u8>,
    /// The range and reason of damage that was not handed over yet. Adjoining damage is joined to it.
    damage: Option<(u64, u64, &'static str)>,
    /// The range of zeros that was not handed over yet. Zeros matter only if another record follows.
    zeros: Option<(u64, u64)>,
}

impl Reader<'_> {
    fn block(&mut self, block: &[u8], is_last: bool) -> Result<()> {
        let mut at = 0;
        while block.len() - at >= LOG_HEADER_SIZE_BYTES {
            if block[at..].iter().all(|byte| *byte == 0) {
                self.drop_open(at, "zeros within a fragmented record");
                let end = self.block_start + block.len() as u64;
                self.zeros = Some((self.zeros.map_or(self.block_start + at as u64, |(start, _)| start), end));
                return Ok(());
            }
            let physical = match check(block, at) {
                Some(physical) => physical,
                None => match self.recover(block, at, is_last)? {
                    Some(physical) => physical,
                    None => return Ok(()),
                },
            };
            self.physical(block, physical)?;
            at = physical.end;
        }
        if is_last && block[at..].iter().any(|byte| *byte != 0) {
            self.torn_tail(block, at)?;
        }
        Ok(())
    }

    /// The next physical record after damage at `at`; `None` if the rest of the block is lost.
    fn recover(&mut self, block: &[u8], at: usize, is_last: bool) -> Result<Option<Physical>> {
        let (header, payload) = FragmentHeader::split(&block[at..]).expect("the caller checked for a header");
        let is_zero = header.is_empty_space();
        let end = at + LOG_HEADER_SIZE_BYTES + header.length_bytes;
        if !is_zero && let Some(physical) = with_other_header(block, at) {
            self.note_damaged_header(at)?;
            return Ok(Some(physical));
        }
        if !is_zero && end <= block.len() && is_sound(block, end) {
            self.add_damage(at, end, "a record's checksum does not match");
            return Ok(check(block, end));
        }
        // The rest of a record that began earlier may be anything.
        let search_from = if self.open.is_some() {
            block.len()
        } else {
            self.visitor.extent(payload, is_zero).map_or(at + 1, |size| at + LOG_HEADER_SIZE_BYTES + size)
        };
        for start in search_from..block.len().saturating_sub(LOG_HEADER_SIZE_BYTES) {
            let Some(physical) = check(block, start) else { continue };
            let is_whole = physical.kind == FragmentKind::Full;
            // A first fragment always fills its block.
            if (is_whole || (physical.kind == FragmentKind::First && physical.end == block.len()))
                && self.visitor.is_plausible(physical.fragment(block), is_whole)
            {
                self.add_damage(at, start, "damaged records");
                return Ok(Some(physical));
            }
        }
        let offset = self.block_start + at as u64;
        if is_last && end > block.len() && header.may_stand_at(at) {
            self.torn_tail(block, at)?;
        } else if is_zero
            && self.open.is_none()
            && self.visitor.is_unfinished(self.file, offset, Tail::WithoutHeader)?
        {
            self.unfinished_tail(offset, self.block_start + block.len() as u64)?;
        } else {
            self.add_damage(at, block.len(), "damaged records");
        }
        Ok(None)
    }

    fn physical(&mut self, block: &[u8], physical: Physical) -> Result<()> {
        let fragment = physical.fragment(block);
        let offset = self.block_start + physical.start as u64;
        match physical.kind {
            FragmentKind::Full => {
                self.drop_open(physical.start, "a fragmented record has no end");
                self.hand_over_what_was_before()?;
                self.visitor.take(LogPiece::Record { payload: fragment, offset })
            }
            FragmentKind::First => {
                self.drop_open(physical.start, "a fragmented record has no end");
                self.record.clear();
                self.record.extend_from_slice(fragment);
                self.open = Some(offset);
                Ok(())
            }
            FragmentKind::Middle | FragmentKind::Last => {
                let Some(start) = self.open else {
                    self.add_damage(physical.start, physical.end, "a fragment without its first one");
                    return Ok(());
                };
                self.record.extend_from_slice(fragment);
                if physical.kind == FragmentKind::Last {
                    self.open = None;
                    self.hand_over_what_was_before()?;
                    self.visitor.take(LogPiece::Record { payload: &self.record, offset: start })?;
                }
                Ok(())
            }
        }
    }

    fn note_damaged_header(&mut self, at: usize) -> Result<()> {
        self.hand_over_damage()?;
        let offset = self.block_start + at as u64;
        let reason = "a record's header is damaged; its checksum shows what it was";
        self.visitor.take(LogPiece::Damage { offset, lost_bytes: 0, reason })
    }

    /// Gives up the record whose fragments are being gathered, because what follows at `at` is not the rest of it.
    fn drop_open(&mut self, at: usize, reason: &'static str) {
        if let Some(start) = self.open.take()
            && !self.record.is_empty()
        {
            self.join_damage(start, self.block_start + at as u64, reason);
        }
    }

    fn add_damage(&mut self, start: usize, end: usize, reason: &'static str) {
        let dropped = self.open.take();
        let start = dropped.unwrap_or(self.block_start + start as u64);
        self.join_damage(start, self.block_start + end as u64, reason);
    }

    fn join_damage(&mut self, start: u64, end: u64, reason: &'static str) {
        match &mut self.damage {
            Some((_, damage_end, _)) => *damage_end = end,
            none => *none = Some((start, end, reason)),
        }
    }

    fn hand_over_damage(&mut self) -> Result<()> {
        match self.damage.take() {
            Some((start, end, reason)) => {
                self.visitor.take(LogPiece::Damage { offset: start, lost_bytes: end - start, reason })
            }
            None => Ok(()),
        }
    }

    /// Hands over what lies between the last record and the next one, before the visitor gets the next one.
    fn hand_over_what_was_before(&mut self) -> Result<()> {
        if let Some((start, end)) = self.zeros.take() {
            self.visitor.take(LogPiece::Zeros { offset: start, size_bytes: end - start })?;
        }
        self.hand_over_damage()
    }

    /// Deals with a file that ends with `block`, in a record that continues or begins at `at`.
    fn torn_tail(&mut self, block: &[u8], at: usize) -> Result<()> {
        let offset = self.open.unwrap_or(self.block_start + at as u64);
        let gathered = self.open.map(|_| std::mem::take(&mut self.record));
        let torn = TornRecord::new(gathered, &block[at..]);
        if self.visitor.is_unfinished(self.file, offset, Tail::Torn(torn.as_ref()))? {
            self.unfinished_tail(offset, self.block_start + block.len() as u64)
        } else {
            self.add_damage(at, block.len(), "a damaged record whose length leads beyond the end of the log");
            Ok(())
        }
    }

    fn unfinished_tail(&mut self, offset: u64, end: u64) -> Result<()> {
        self.hand_over_damage()?;
        self.open = None;
        self.visitor.take(LogPiece::UnfinishedTail { offset, lost_bytes: end - offset })
    }

    fn end(&mut self) -> Result<()> {
        if self.open.is_some() && !self.record.is_empty() {
            self.torn_tail(&[], 0)?;
        }
        self.hand_over_damage()
    }
}

/// The physical record at `at`, if its checksum matches.
fn check(block: &[u8], at: usize) -> Option<Physical> {
    let fragment = Fragment::parse(block.get(at..)?)?;
    Some(Physical { kind: fragment.kind, start: at, end: at + fragment.size_bytes() })
}

/// Whether a record may end at `at`: there follows another whose checksum matches, or nothing but zeros, or the end of
/// the block or file.
fn is_sound(block: &[u8], at: usize) -> bool {
    block[at..].iter().all(|byte| *byte == 0) || check(block, at).is_some()
}

/// The physical record at `at`, if the stored checksum matches it under a length or type other than the header's.
fn with_other_header(block: &[u8], at: usize) -> Option<Physical> {
    let (header, rest) = FragmentHeader::split(block.get(at..)?)?;
    let start = at + LOG_HEADER_SIZE_BYTES;
    let of = |kind, length| Physical { kind, start: at, end: start + length };
    let has_kind = |kind: &FragmentKind| {
        let fragment = rest.get(..header.length_bytes);
        fragment.is_some_and(|fragment| FragmentHeader { kind: *kind as u8, ..header }.matches(fragment))
    };
    if let Some(kind) = FragmentKind::ALL.into_iter().find(has_kind) {
        return Some(of(kind, header.length_bytes));
    }
    let kind = header.kind()?;
    let length = header.matching_lengths(rest).find(|length| is_sound(block, start + length))?;
    Some(of(kind, length))
}

#[cfg(test)]
mod tests;
