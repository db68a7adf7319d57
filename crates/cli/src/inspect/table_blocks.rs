//! The data blocks of a table: their entries, and whether they are in order.

use std::cmp::Ordering;

use terrace_engine::UserComparator;
use terrace_format::block::{Block, BlockIter};
use terrace_format::filter::FilterBlockReader;
use terrace_format::internal_key::{InternalKeyComparator, ValueKind, parse_internal_key};
use terrace_format::limits::BLOCK_TRAILER_SIZE_BYTES;
use terrace_format::table::{BlockHandle, TableCounts};

use super::report::{Level, Report};
use super::table_file::{TableFile, compression_name, user_key_or_all};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::text::{Json, plural};

/// Walks over a table's data blocks.
pub(super) struct Blocks<'a> {
    table: &'a TableFile,
    comparator: Option<InternalKeyComparator>,
    progress: &'a Progress,
    blocks: u64,
    damaged_blocks: u64,
    counts: TableCounts,
    /// The counts that the table states.
    expected: Option<TableCounts>,
    filter: Option<FilterBlockReader>,
    last_key: Option<Vec<u8>>,
    first_key: Option<Vec<u8>>,
    sequences: Option<(u64, u64)>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        table: &'a TableFile,
        comparator: Option<&UserComparator>,
        progress: &'a Progress,
    ) -> Self {
        Self {
            table,
            comparator: comparator.cloned().map(InternalKeyComparator::new),
            progress,
            blocks: 0,
            damaged_blocks: 0,
            counts: TableCounts::default(),
            expected: None,
            filter: None,
            last_key: None,
            first_key: None,
            sequences: None,
        }
    }

    /// Sets the counts that the table states.
    pub(super) fn expect(&mut self, counts: TableCounts) {
        self.expected = Some(counts);
    }

    /// Sets a filter that must admit every key.
    pub(super) fn check_against(&mut self, filter: FilterBlockReader) {
        self.filter = Some(filter);
    }

    /// Reports the data block at `handle`, which the index ends with `separator`.
    pub(super) fn block(
        &mut self,
        handle: BlockHandle,
        separator: Option<&[u8]>,
        report: &mut Report<'_>,
    ) -> Result<(), Failure> {
        self.blocks += 1;
        self.progress.advance(handle.size + BLOCK_TRAILER_SIZE_BYTES as u64);
        let block = self.table.read(handle).and_then(|read| {
            let size = read.contents.len() as u64;
            let compression = compression_name(read.id, handle.size, size);
            Ok((Block::new(read.contents).map_err(|error| error.to_string())?, compression, size))
        });
        let (block, compression, size) = match block {
            Ok(block) => block,
            Err(problem) => return self.damaged(handle, &problem, separator, report),
        };
        let entries = count(&block);
        let text = format!("block {}: {}, {compression}", self.blocks, entries_in_words(entries));
        let members = vec![
            ("stored_bytes", handle.size.into()),
            ("size_bytes", size.into()),
            ("compression", compression.as_str().into()),
            ("entries", entries.into()),
        ];
        report.item(Level::Parts, Some(handle.offset), "block", text, members)?;
        let mut iterator = BlockIter::new(&block);
        let mut moved = iterator.seek_to_first();
        loop {
            if let Err(error) = &moved {
                self.damaged_blocks += 1;
                report.damage(handle.offset, format!("within the block: {error}"))?;
                return Ok(());
            }
            if !iterator.valid() {
                break;
            }
            let at = iterator.value_range();
            self.entry(handle, iterator.key(), iterator.value(), at.start, report)?;
            moved = iterator.next();
        }
        if let (Some(separator), Some(last), Some(comparator)) = (separator, &self.last_key, &self.comparator)
            && separator.len() >= 8
            && comparator.compare(last, separator) == Ordering::Greater
        {
            report.damage(handle.offset, "according to the index the block ends before its last key")?;
        }
        Ok(())
    }

    fn damaged(
        &mut self,
        handle: BlockHandle,
        problem: &str,
        separator: Option<&[u8]>,
        report: &mut Report<'_>,
    ) -> Result<(), Failure> {
        self.damaged_blocks += 1;
        let (formats, cut) = (report.formats, report.cut_bytes);
        let keys = |key: &[u8]| formats.key_text(user_key_or_all(key), cut);
        let lost = match (&self.last_key, separator) {
            (Some(last), Some(separator)) => {
                format!("; it has keys after {} up to {}", keys(last), keys(separator))
            }
            (None, Some(separator)) => format!("; it has keys up to {}", keys(separator)),
            _ => String::new(),
        };
        let size = handle.size;
        report.damage(handle.offset, format!("block {} of {size} bytes: {problem}{lost}", self.blocks))?;
        // The next block's keys are compared with the end of this one.
        if let Some(separator) = separator {
            self.last_key = Some(separator.to_vec());
        }
        Ok(())
    }

    fn entry(
        &mut self,
        handle: BlockHandle,
        key: &[u8],
        value: &[u8],
        value_at: usize,
        report: &mut Report<'_>,
    ) -> Result<(), Failure> {
        let parsed = match parse_internal_key(key) {
            Ok(parsed) => parsed,
            Err(error) => {
                report.damage(handle.offset, format!("an entry of the block: {error}"))?;
                return Ok(());
            }
        };
        if let (Some(comparator), Some(last)) = (&self.comparator, &self.last_key)
            && last.len() >= 8
            && comparator.compare(last, key) != Ordering::Less
        {
            let shown = report.formats.key_text(parsed.user_key, report.cut_bytes);
            report.damage(handle.offset, format!("the key {shown} does not come after the previous one"))?;
        }
        if let Some(filter) = &self.filter
            && !filter.may_contain(handle.offset, parsed.user_key)
        {
            let shown = report.formats.key_text(parsed.user_key, report.cut_bytes);
            report.damage(handle.offset, format!("the filter denies the key {shown}"))?;
        }
        self.counts.entries += 1;
        self.counts.deletions += u64::from(parsed.kind == ValueKind::Deletion);
        let (first, last) = self.sequences.unwrap_or((parsed.sequence, parsed.sequence));
        self.sequences = Some((first.min(parsed.sequence), last.max(parsed.sequence)));
        if self.first_key.is_none() {
            self.first_key = Some(parsed.user_key.to_vec());
        }
        match &mut self.last_key {
            Some(last) => {
                last.clear();
                last.extend_from_slice(key);
            }
            None => self.last_key = Some(key.to_vec()),
        }
        let kind = if parsed.kind == ValueKind::Deletion { "del" } else { "put" };
        report.detail(
            kind,
            |formats, cut| {
                let shown = formats.key_text(parsed.user_key, cut);
                match parsed.kind {
                    ValueKind::Deletion => format!("+{value_at:<6} del {shown} @{}", parsed.sequence),
                    ValueKind::Value => {
                        let value = formats.value_text(parsed.user_key, value, cut);
                        format!("+{value_at:<6} put {shown} @{} = {value}", parsed.sequence)
                    }
                }
            },
            || {
                let mut members = vec![
                    ("block", handle.offset.into()),
                    ("value_at", value_at.into()),
                    ("sequence", parsed.sequence.into()),
                    ("key", Json::bytes(parsed.user_key)),
                ];
                if parsed.kind == ValueKind::Value {
                    members.push(("value", Json::bytes(value)));
                }
                members
            },
        )?;
        Ok(())
    }

    /// Reports the totals of all blocks, and what does not agree with the table's own counts.
    pub(super) fn finish(self, report: &mut Report<'_>) -> Result<(), Failure> {
        if self.damaged_blocks == 0
            && let Some(expected) = self.expected
            && (expected.entries, expected.deletions) != (self.counts.entries, self.counts.deletions)
        {
            let problem = format!(
                "the table states {} entries, {} of them deletions, but has {} and {}",
                expected.entries, expected.deletions, self.counts.entries, self.counts.deletions
            );
            report.damage(0, problem)?;
        }
        let (formats, cut) = (report.formats, report.cut_bytes);
        let keys = match (&self.first_key, &self.last_key) {
            (Some(first), Some(last)) => format!(
                ", keys {} … {}",
                formats.key_text(first, cut),
                formats.key_text(user_key_or_all(last), cut)
            ),
            _ => String::new(),
        };
        let sequences = match self.sequences {
            Some((first, last)) => format!(", sequences {first} to {last}"),
            None => String::new(),
        };
        let damaged = match self.damaged_blocks {
            0 => String::new(),
            count => format!(", {count} of them damaged"),
        };
        let text = format!(
            "{}{damaged}: {}, {} of them deletions{sequences}{keys}",
            plural(self.blocks, "data block"),
            entries_in_words(self.counts.entries),
            self.counts.deletions
        );
        let members = vec![
            ("blocks", self.blocks.into()),
            ("damaged_blocks", self.damaged_blocks.into()),
            ("entries", self.counts.entries.into()),
            ("deletions", self.counts.deletions.into()),
            ("first_sequence", self.sequences.map(|(first, _)| first).into()),
            ("last_sequence", self.sequences.map(|(_, last)| last).into()),
            ("damaged_places", report.found().len().into()),
        ];
        Ok(report.item(Level::Summary, None, "summary", text, members)?)
    }
}

fn entries_in_words(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

/// Number of entries up to the first damaged one.
fn count(block: &Block) -> u64 {
    let mut entries = BlockIter::new(block);
    let mut moved = entries.seek_to_first();
    let mut count = 0;
    while moved.is_ok() && entries.valid() {
        count += 1;
        moved = entries.next();
    }
    count
}
