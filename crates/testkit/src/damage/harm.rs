//! Damages a copy of a database: one to three files, anywhere and in any way.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use terrace_format::batch::{BatchBeginning, BatchRef};
use terrace_format::file_name;
use terrace_format::limits::{BATCH_HEADER_SIZE_BYTES, LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};
use terrace_format::log::{LogEvent, LogReader};
use terrace_format::table::check_block;

use super::anatomy::Anatomy;
use super::database::{Database, Files};
use crate::campaign::Tally;
use crate::random::Random;

const SECTOR_SIZE_BYTES: usize = 512;
const PAGE_SIZE_BYTES: usize = 4096;
/// This many zeros at the end of a page make the page look as it was before a record in it was complete.
const OLD_PAGE_END_BYTES: usize = 8;
/// How often to draw again if a change would have no effect.
const ATTEMPTS: usize = 20;

/// A damaged copy.
pub struct Harmed {
    pub files: Files,
    /// Files that have changed.
    pub names: BTreeSet<String>,
    /// Files that were deleted.
    pub deleted: BTreeSet<String>,
    /// Files with a second copy of some of their bytes, perhaps of a whole block or record.
    with_copies: BTreeSet<String>,
    /// What was done, for the message of a failure.
    pub story: String,
    /// Kinds of damage, for the counts.
    kinds: Vec<&'static str>,
}

impl Harmed {
    pub fn draw(database: &Database, anatomy: &Anatomy, random: &mut Random) -> Self {
        let mut harmed = Self {
            files: database.files.clone(),
            names: BTreeSet::new(),
            deleted: BTreeSet::new(),
            with_copies: BTreeSet::new(),
            story: String::new(),
            kinds: Vec::new(),
        };
        for _ in 0..random.choose(&[1, 1, 1, 2, 3]) {
            harmed.harm_a_file(database, anatomy, random);
        }
        let Self { files, names, .. } = &mut harmed;
        names.retain(|name| files.get(name) != database.files.get(name));
        harmed
    }

    fn harm_a_file(&mut self, database: &Database, anatomy: &Anatomy, random: &mut Random) {
        for _ in 0..ATTEMPTS {
            let (kind, name) = draw_file(database, anatomy, random);
            let Some(before) = self.files.get(&name).cloned() else { continue };
            let is_last = self.files.keys().filter(|name| anatomy.is_live(name)).count() == 1;
            if random.one_in(12) && !is_last {
                self.files.remove(&name);
                let _ = writeln!(self.story, "{name}: deleted");
                self.deleted.insert(name.clone());
            } else {
                let part = draw_part(anatomy, &name, before.len(), random);
                let mut bytes = before.clone();
                let what = change(&mut bytes, part.1, name.ends_with(".ldb"), random);
                if bytes == before || exchanges_a_block(anatomy, &name, &before, &bytes) {
                    continue;
                }
                if what.contains("replaced by") {
                    self.with_copies.insert(name.clone());
                }
                let _ = writeln!(self.story, "{name}: {what} of {} bytes", before.len());
                self.files.insert(name.clone(), bytes);
                self.kinds.extend(part.0);
            }
            self.names.insert(name);
            self.kinds.push(kind);
            return;
        }
    }

    pub fn count(&self, tally: &mut Tally) {
        tally.add("damaged files", self.names.len() as u64);
        self.kinds.iter().for_each(|kind| tally.one(kind));
    }

    /// Whether a repair may keep more or less of the file than is intact: a block or a record may be there twice, and
    /// it is unknown which one is in its place.
    pub fn has_copies(&self, file: &str) -> bool {
        self.with_copies.contains(file)
    }

    /// Whether the bytes are unchanged and in place.
    pub fn is_intact(&self, database: &Database, file: &str, bytes: &Range<usize>) -> bool {
        self.files.get(file).is_some_and(|now| {
            now.get(bytes.clone()) == database.files[file].get(bytes.clone()) && now.len() >= bytes.end
        })
    }

    /// Whether a repair of `file` can tell that the intact block or record at `bytes` is one of the file's own, not
    /// part of a value. In a table: no damage precedes it, or the index lists it, or the footer names what the blocks
    /// after it lead to.
    pub fn is_told_from_a_value(
        &self,
        database: &Database,
        anatomy: &Anatomy,
        file: &str,
        bytes: &Range<usize>,
    ) -> bool {
        let Some(parts) = anatomy.tables.get(file) else {
            return anatomy
                .records
                .get(file)
                .is_none_or(|records| self.is_told(database, file, records, bytes));
        };
        let is_intact = |range: Range<usize>| self.is_intact(database, file, &range);
        let index = parts.iter().find(|part| part.name == "indexes").map_or(0..0, |part| part.bytes.clone());
        is_intact(0..bytes.start)
            || is_intact(index.clone())
            || (is_intact(bytes.start..index.start) && is_intact(index.end..database.files[file].len()))
    }

    /// Whether the lengths of each preceding damaged record of the block lead to its end: by its header and a sound
    /// record after it, or by the batch's own lengths if only the header is damaged.
    fn is_told(
        &self,
        database: &Database,
        file: &str,
        records: &[Range<usize>],
        bytes: &Range<usize>,
    ) -> bool {
        let block_start = bytes.start / LOG_BLOCK_SIZE_BYTES * LOG_BLOCK_SIZE_BYTES;
        let is_intact = |range: Range<usize>| self.is_intact(database, file, &range);
        let before = records.iter().enumerate();
        before.filter(|(_, record)| record.start < bytes.start && record.end > block_start).all(
            |(index, record)| {
                let length = record.start + 4..record.start + 6;
                let after = records.get(index + 1).cloned();
                let begins_here = record.start >= block_start;
                is_intact(record.clone())
                    || begins_here && is_intact(length) && after.is_none_or(is_intact)
                    || begins_here && is_intact(record.start + LOG_HEADER_SIZE_BYTES..record.end)
            },
        )
    }

    /// Whether a log may look as a crash leaves it: cut off, gone, with zeros for a sector, or with an unfinished last
    /// record. What came after is then unknowable. No power cut flips a single bit, and none takes anything from a
    /// closed database, which the record of synced files shows.
    pub fn may_be_a_torn_log(&self, database: &Database, anatomy: &Anatomy, name: &str) -> bool {
        let Some(now) = self.files.get(name) else { return true };
        let before = &database.files[name];
        if now == before {
            return false;
        }
        let flipped_bits: u32 = now.iter().zip(before).map(|(now, before)| (now ^ before).count_ones()).sum();
        if database.is_closed() && self.is_untouched(file_name::SYNCED)
            || now.len() == before.len() && flipped_bits == 1
        {
            return false;
        }
        let records = &anatomy.records[name];
        now.len() < before.len()
            || has_zeros(now, records)
            || self.unfinished_from(database, anatomy, name).is_some()
    }

    fn is_untouched(&self, name: &str) -> bool {
        !self.names.contains(name)
    }

    /// From which byte on the log `name` may end, to all appearance, in a record that was never finished: its fragment's length
    /// leads beyond the end, and the lengths in its batch agree with that. No check can tell more.
    pub fn unfinished_from(&self, database: &Database, anatomy: &Anatomy, name: &str) -> Option<usize> {
        let (now, before) = (self.files.get(name)?, &database.files[name]);
        let records = anatomy.records.get(name)?;
        let last_block = now.len().saturating_sub(1) / LOG_BLOCK_SIZE_BYTES * LOG_BLOCK_SIZE_BYTES;
        let is_damaged = |record: &&Range<usize>| now.get((*record).clone()) != before.get((*record).clone());
        let may_be_unfinished = |record: &&Range<usize>| {
            // Repair may get as far as that, though earlier records are damaged, too.
            let from = record.start.max(last_block);
            from < now.len().min(record.end)
                && ends_in_unfinished_record(&[&before[..from], &now[from..]].concat(), record.start)
        };
        records.iter().filter(is_damaged).find(may_be_unfinished).map(|record| record.start)
    }
}

/// Whether the log `bytes`, which is sound up to the record at `start`, ends in it, and nothing shows that it was ever whole.
fn ends_in_unfinished_record(bytes: &[u8], start: usize) -> bool {
    let mut reader = LogReader::new(bytes);
    let mut next = None;
    loop {
        match reader.next().expect("memory can be read") {
            LogEvent::Record { payload, .. } => {
                let batch = BatchRef::parse(payload).expect("a sound batch");
                next = Some(batch.sequence() + u64::from(batch.count()));
            }
            LogEvent::TornTail { offset, .. } if offset == start as u64 => break,
            _ => return false,
        }
    }
    let Some(torn) = reader.take_torn_record() else { return false };
    match BatchBeginning::read(&torn.payload) {
        None => *torn.size_bytes.end() >= BATCH_HEADER_SIZE_BYTES,
        // With which sequence a log begins is open.
        Some(batch) => {
            next.is_none_or(|next| batch.sequence == next)
                && batch.size_bytes.is_some_and(|sizes| {
                    sizes.start() <= torn.size_bytes.end() && torn.size_bytes.start() <= sizes.end()
                })
        }
    }
}

/// Whether zeros fill a sector, the last part of the file, a part from a record's start to a sector's end, the end of
/// a page, or the header of a record that reaches to the end of its page. The file's end counts as a page's.
fn has_zeros(bytes: &[u8], records: &[Range<usize>]) -> bool {
    let is_zeros = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let from_record = |record: &Range<usize>| {
        let sector_end = (record.start / SECTOR_SIZE_BYTES + 1) * SECTOR_SIZE_BYTES;
        bytes.get(record.start..sector_end.min(bytes.len())).is_some_and(is_zeros)
    };
    let is_old = |page: &[u8]| is_zeros(&page[page.len().saturating_sub(OLD_PAGE_END_BYTES)..]);
    let lacks_header = |record: &Range<usize>| {
        let page_end = ((record.start / PAGE_SIZE_BYTES + 1) * PAGE_SIZE_BYTES).min(bytes.len());
        let header = bytes.get(record.start..record.start + LOG_HEADER_SIZE_BYTES);
        header.is_some_and(is_zeros) && record.end + OLD_PAGE_END_BYTES > page_end
    };
    bytes.chunks(SECTOR_SIZE_BYTES).any(is_zeros)
        || bytes.chunks(PAGE_SIZE_BYTES).any(is_old)
        || records.iter().any(|record| from_record(record) || lacks_header(record))
}

fn draw_file(database: &Database, anatomy: &Anatomy, random: &mut Random) -> (&'static str, String) {
    let one_of = |names: Vec<&String>, random: &mut Random| {
        (!names.is_empty()).then(|| names[random.below(names.len())].clone())
    };
    let drawn = match random.below(20) {
        0..10 => one_of(anatomy.tables.keys().collect(), random).map(|name| ("damaged tables", name)),
        10..14 => one_of(anatomy.logs.iter().collect(), random).map(|name| ("damaged logs", name)),
        14..17 => Some(("damaged MANIFESTs", anatomy.manifest.clone())),
        17 => Some(("damaged CURRENTs", "CURRENT".to_owned())),
        _ => {
            let others = database.files.keys().filter(|name| !anatomy.is_live(name)).collect();
            one_of(others, random).map(|name| ("damaged files that do not count", name))
        }
    };
    drawn.unwrap_or_else(|| ("damaged MANIFESTs", anatomy.manifest.clone()))
}

/// Draws a part of the file to damage; returns it with its name for the counts.
fn draw_part(
    anatomy: &Anatomy,
    name: &str,
    size: usize,
    random: &mut Random,
) -> (Option<&'static str>, Range<usize>) {
    match anatomy.tables.get(name) {
        Some(parts) if random.one_in(2) => {
            // The first blocks are not data; without this they would hardly be hit.
            let index =
                if random.one_in(2) { random.below(parts.len().min(4)) } else { random.below(parts.len()) };
            let part = &parts[index];
            let is_there = part.bytes.end <= size;
            (is_there.then_some(part.name), if is_there { part.bytes.clone() } else { 0..size })
        }
        _ => (None, 0..size),
    }
}

/// Whether a block of a table has become another intact one, for example a copy of a block of the same size. Checksums
/// do not depend on a block's place: `verify` notices the exchange by the order of the keys, a read cannot.
fn exchanges_a_block(anatomy: &Anatomy, name: &str, before: &[u8], after: &[u8]) -> bool {
    let parts = anatomy.tables.get(name).into_iter().flatten().filter(|part| part.name != "footers");
    parts.into_iter().any(|part| {
        let now = after.get(part.bytes.clone());
        now != before.get(part.bytes.clone()) && now.is_some_and(|sealed| check_block(sealed).is_ok())
    })
}

/// Changes bytes that begin in `part`, and describes the change. May remove bytes if `may_shrink`.
fn change(bytes: &mut Vec<u8>, part: Range<usize>, may_shrink: bool, random: &mut Random) -> String {
    if part.is_empty() {
        return "nothing".to_owned();
    }
    let start = random.between(part.start, part.end);
    let length =
        |longest: usize, random: &mut Random| random.between(1, longest + 1).min(bytes.len() - start);
    match random.below(14) {
        0..4 => {
            let bit = random.below(8);
            bytes[start] ^= 1 << bit;
            format!("bit {bit} of byte {start} flipped")
        }
        4 | 5 => {
            let count = random.between(2, 9);
            for _ in 0..count {
                let at = start + random.below(64.min(bytes.len() - start));
                bytes[at] ^= 1 << random.below(8);
            }
            format!("{count} bits from byte {start} on flipped")
        }
        6 | 7 => {
            let longest = random.choose(&[8, 200, 2000]);
            let length = length(longest, random);
            bytes[start..start + length].fill(0);
            format!("{length} bytes from byte {start} on zeroed")
        }
        8 => {
            // Too short for a record or a block.
            let length = length(16, random);
            let from = random.below(bytes.len() - length + 1);
            bytes.copy_within(from..from + length, start);
            format!("{length} bytes from byte {start} on taken from byte {from} on")
        }
        10 => {
            let length = length(200, random);
            bytes[start..start + length].copy_from_slice(&random.bytes(length));
            format!("{length} bytes from byte {start} on overwritten")
        }
        12 if may_shrink => {
            let longest = random.choose(&[1, 300, 3000]);
            let length = length(longest, random);
            bytes.drain(start..start + length);
            format!("{length} bytes from byte {start} on missing")
        }
        9 => {
            let length = length(300, random);
            let from = random.below(bytes.len() - length + 1);
            bytes.copy_within(from..from + length, start);
            format!("{length} bytes from byte {start} on replaced by those from {from} on")
        }
        _ => {
            bytes.truncate(start);
            format!("cut off at byte {start}")
        }
    }
}
