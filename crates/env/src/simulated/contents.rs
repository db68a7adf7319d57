//! The bytes of one simulated file: in the page cache, on the disk, and waiting between the two.
//!
//! ```text
//!   cached   what readers see            ┐ changes: writes and truncations since the last sync, in order
//!   durable  what a sync made safe       ┘
//! ```
//!
//! What a power cut leaves. The disk is written in aligned sectors of 512 or 4096 bytes; each cut draws one of the
//! two sizes. At any moment the system may have written a sector as the page cache held it then. Therefore:
//!
//! 1. A sector that no change touched holds its durable bytes.
//! 2. Any other holds its state after any of the changes that touched it, or its durable bytes. Sectors are
//!    independent of each other, so writes are lost, kept and torn, in any order.
//! 3. The size is the one after any change, or inside a write at a multiple of the page size, or the durable one; it
//!    is independent of the bytes. Bytes below it that were never written read as zeros.
//! 4. With [`Mode::Ext4Ordered`] data precedes the size that makes it visible: a sector after the durable end, or
//!    after a truncation that took effect, is at least as new as the size.
//! 5. If logs may be mapped, a log may stand for a file mapped into memory. Rule 4 then does not hold, and a sector
//!    is a page of 4096 bytes. A page may have been written while a record was stored into it, whose header comes
//!    last (but not while a call wrote it: the system holds the page during the call). And the file is longer by
//!    zeros up to a multiple of 32 KiB, unless its last write was cut off: those zeros come with the end of a write.
//!    A log is not mapped if it has a write that stopped where only an unmapped log's does (within a page, at a
//!    failure; within a block that was begun before, at the death of its process).
//!
//! What a failure to write pages leaves. Each page was written, or is dropped and waits no more; a later write to it makes
//! it wait again as a whole. But a page that the disk never held may be lost for good, as on ext4, which has taken its
//! extent for written although it still reads as zeros after a loss of power: later writes to that page, by whatever
//! handle, succeed, can be read and synced, and leave zeros. A truncation that takes the page away ends this.
//!
//! What the death of a process leaves in a log is everything written, followed by zeros up to the end of the block if
//! the log is mapped. Of a write in progress it leaves a prefix; or, of a record being stored into a mapped block,
//! any part without its header.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Mode;
use super::random::{Fate, Random};

/// Size of a page of memory, and of the larger kind of sector.
const PAGE_SIZE_BYTES: usize = 4096;

/// A mapped log ends at multiples of this many bytes.
const BLOCK_SIZE_BYTES: usize = crate::LOG_BLOCK_SIZE_BYTES as usize;

/// Stores of this size are not torn.
const STORE_SIZE_BYTES: usize = 8;

#[derive(Debug, Clone)]
enum Change {
    /// `header` is the offset in `bytes` of a header that a mapped log stores last.
    Write {
        offset: usize,
        bytes: Vec<u8>,
        header: Option<usize>,
    },
    /// Pages that a failure had dropped wait again, as they are in memory.
    Again {
        offset: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        size: usize,
    },
}

impl Change {
    fn apply(&self, image: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes, .. } | Self::Again { offset, bytes } => {
                let end = offset + bytes.len();
                if *offset == image.len() {
                    image.extend_from_slice(bytes);
                    return;
                }
                if image.len() < end {
                    image.resize(end, 0);
                }
                image[*offset..end].copy_from_slice(bytes);
            }
            Self::Truncate { size } => image.truncate(*size),
        }
    }
}

/// The conditions of a power cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub(super) mode: Mode,
    pub(super) sector_size_bytes: usize,
    /// Logs may be mapped into memory.
    pub(super) maps_logs: bool,
}

impl Cut {
    pub(super) fn draw(mode: Mode, maps_logs: bool, random: &mut Random) -> Self {
        let sector_size_bytes = if random.chance(1, 2) { 512 } else { PAGE_SIZE_BYTES };
        Self { mode, sector_size_bytes, maps_logs }
    }
}

/// What happened to the sectors of one file that were waiting for the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sectors {
    pub(super) waiting: usize,
    /// Their newest state reached the disk.
    pub(super) kept: usize,
    /// An older state reached it.
    pub(super) older: usize,
    /// No waiting state reached it.
    pub(super) lost: usize,
}

/// The bytes of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    cached: Arc<Vec<u8>>,
    durable: Arc<Vec<u8>>,
    changes: Vec<Change>,
    /// Whether a failed sync or write-back dropped pages: the disk then lags behind the cache although nothing waits.
    dropped_pages: bool,
    /// Pages, by number, of which no later write reaches the disk.
    lost_pages: BTreeSet<usize>,
    /// How often the system failed to write pages of the file.
    failures: u64,
    /// Whether the last failure was reported to a handle.
    is_reported: bool,
    /// Whether it is a log, which may be mapped.
    is_log: bool,
    /// Whether it is a log whose writer is open.
    is_open_log: bool,
    /// Whether the last block may have been made ready for further records. Truncating a log undoes that.
    has_space: bool,
    /// The write to the log that was in progress when the machine stopped.
    underway: Option<Change>,
    /// Whether a write that waits for the disk shows that the log is not mapped: see rule 5.
    is_unmapped: bool,
    /// Whether the last write to the log was cut off, so that no zeros follow it.
    is_cut_off: bool,
}

impl Contents {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.cached
    }

    pub(super) fn begin_log(&mut self) {
        self.is_log = true;
        self.is_open_log = true;
    }

    pub(super) fn close_log(&mut self) {
        self.is_open_log = false;
    }

    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.write_log(offset, bytes, None);
    }

    /// `header`, if given, is the offset in `bytes` of a header that a mapped log stores last.
    pub(super) fn write_log(&mut self, offset: usize, bytes: &[u8], header: Option<usize>) {
        if bytes.is_empty() {
            return;
        }
        self.has_space = self.is_log;
        self.is_cut_off = false;
        if self.dropped_pages {
            // The system writes whole pages, so dropped bytes of these get another chance.
            let start = offset / PAGE_SIZE_BYTES * PAGE_SIZE_BYTES;
            let end = (offset + bytes.len()).next_multiple_of(PAGE_SIZE_BYTES).min(self.cached.len());
            if start < end {
                self.changes.push(Change::Again { offset: start, bytes: self.cached[start..end].to_vec() });
            }
        }
        let change = Change::Write { offset, bytes: bytes.to_vec(), header };
        change.apply(Arc::make_mut(&mut self.cached));
        self.changes.push(change);
    }

    /// Records that a write into a log failed at `end`: the file ends there. If it was a write of a record, the page
    /// may.
    pub(super) fn note_cut_write(&mut self, end: usize, is_record: bool) {
        self.has_space = false;
        self.is_cut_off = true;
        self.is_unmapped |= is_record && !end.is_multiple_of(PAGE_SIZE_BYTES);
    }

    /// Truncates the file; never makes it grow.
    pub(super) fn truncate(&mut self, size: usize) {
        self.has_space = false;
        if size < self.cached.len() {
            let change = Change::Truncate { size };
            change.apply(Arc::make_mut(&mut self.cached));
            self.changes.push(change);
            self.lost_pages.split_off(&size.div_ceil(PAGE_SIZE_BYTES));
        }
    }

    pub(super) fn sync(&mut self) {
        if self.changes.is_empty() && self.durable.len() == self.cached.len() {
            return;
        }
        let durable = Arc::make_mut(&mut self.durable);
        for change in self.changes.drain(..) {
            change.apply(durable);
        }
        // The two differ only if pages were dropped.
        durable.resize(self.cached.len(), 0);
        clear_pages(durable, &self.lost_pages);
        self.is_unmapped = false;
    }

    /// The device fails while waiting pages are written: each is written or dropped, and none waits any more.
    pub(super) fn fail_write_back(&mut self, random: &mut Random) {
        if !self.changes.is_empty() {
            let cut = Cut { mode: Mode::StrictPosix, sector_size_bytes: PAGE_SIZE_BYTES, maps_logs: false };
            let first_new = self.durable.len().div_ceil(PAGE_SIZE_BYTES);
            self.durable = Arc::new(self.survivors(cut, random).0);
            if random.chance(1, 2) {
                let pages = self.cached.len().div_ceil(PAGE_SIZE_BYTES);
                let is_zeros = |image: &[u8], page: usize| {
                    let rest = &image[(page * PAGE_SIZE_BYTES).min(image.len())..];
                    rest[..rest.len().min(PAGE_SIZE_BYTES)].iter().all(|byte| *byte == 0)
                };
                let was_dropped =
                    |page: &usize| is_zeros(&self.durable, *page) && !is_zeros(&self.cached, *page);
                self.lost_pages.extend((first_new..pages).filter(was_dropped));
            }
            self.changes.clear();
            self.dropped_pages = true;
            self.failures += 1;
            self.is_reported = false;
        }
    }

    /// Records a write to the log during which the machine stopped.
    pub(super) fn note_underway(&mut self, offset: usize, bytes: &[u8], header: Option<usize>) {
        if self.is_open_log && offset == self.cached.len() {
            self.underway = Some(Change::Write { offset, bytes: bytes.to_vec(), header });
        }
    }

    /// The failures that a handle opened now is not told of.
    pub(super) fn failures_at_open(&self, random: &mut Random) -> u64 {
        let is_told = self.failures > 0 && !self.is_reported && random.chance(1, 2);
        self.failures - u64::from(is_told)
    }

    /// Tells a handle that knows of `known` failures whether there were more.
    pub(super) fn report_failure(&mut self, known: &mut u64) -> bool {
        let is_news = self.failures > *known;
        self.is_reported |= is_news;
        *known = self.failures;
        is_news
    }

    /// What the process leaves behind when it dies: everything it wrote. A mapped log keeps its length.
    pub(super) fn lose_process(&mut self, random: &mut Random) {
        let is_mapped = self.has_space && random.chance(1, 2);
        if let Some(change @ Change::Write { .. }) = self.underway.take() {
            self.leave_part(change, is_mapped, random);
        } else if self.is_open_log && is_mapped {
            self.fill_block();
        }
        self.is_open_log = false;
    }

    /// Writes what remains of a write that was in progress.
    fn leave_part(&mut self, change: Change, is_mapped: bool, random: &mut Random) {
        let Change::Write { offset, bytes, header } = &change else { return };
        let block_end = offset.next_multiple_of(BLOCK_SIZE_BYTES);
        if is_mapped && header.is_some() && offset + bytes.len() <= block_end {
            let stored = half_copied(vec![0; bytes.len()], &change, *offset, random);
            self.write(*offset, &stored);
            self.fill_block();
        } else if header.is_some() && is_mapped {
            // It begins a block, so it is written.
            self.fill_block();
            let start = self.cached.len();
            let written = start.saturating_sub(*offset).min(bytes.len());
            self.write(start, &bytes[written..written + random.below(bytes.len() - written + 1)]);
            self.is_cut_off = true;
        } else {
            self.write(*offset, &bytes[..random.below(bytes.len() + 1)]);
            self.is_cut_off = true;
            self.is_unmapped |= !offset.is_multiple_of(BLOCK_SIZE_BYTES);
        }
    }

    /// Adds the zeros that a mapped log has up to the end of its block.
    fn fill_block(&mut self) {
        let size = self.cached.len();
        self.write(size, &vec![0; size.next_multiple_of(BLOCK_SIZE_BYTES) - size]);
    }

    /// The file after a power cut. It is a new file; handles of the old one do not see it.
    pub(super) fn after_power_cut(&self, cut: Cut, random: &mut Random) -> (Self, Sectors) {
        let (durable, sectors) = if self.changes.is_empty() {
            (Arc::clone(&self.durable), Sectors::default())
        } else {
            let (survivors, sectors) = self.survivors(cut, random);
            (Arc::new(survivors), sectors)
        };
        let cached = Arc::clone(&durable);
        let contents = Self { cached, durable, is_log: self.is_log, ..Self::default() };
        (contents, sectors)
    }

    /// Bytes that the disk may hold now, by the rules of this module.
    fn survivors(&self, cut: Cut, random: &mut Random) -> (Vec<u8>, Sectors) {
        let is_mapped = cut.maps_logs && self.is_log && !self.is_unmapped && random.chance(1, 2);
        let unit = if is_mapped { PAGE_SIZE_BYTES } else { cut.sector_size_bytes };
        let fate = Fate::draw(random);
        let history = History::of(&self.changes, self.durable.len(), unit);
        let (size_step, mut size) = history.draw_size(fate, random);
        if is_mapped {
            size = self.with_ready_block(size, history.sizes[size_step], size_step, random);
        }

        // For each sector, the number of changes it has seen, and whether it saw part of the next.
        let mut sectors = Sectors { waiting: history.touches.len(), ..Sectors::default() };
        let mut picks: BTreeMap<usize, Vec<(usize, bool)>> = BTreeMap::new();
        for (sector, touches) in &history.touches {
            let mut seen = match fate {
                Fate::None => 0,
                Fate::All => touches.len(),
                Fate::Prefix => touches.partition_point(|step| *step <= size_step),
                Fate::Mixed(quarters) if random.chance(quarters, 4) => touches.len(),
                Fate::Mixed(_) => random.below(touches.len()),
            };
            if cut.mode == Mode::Ext4Ordered
                && !is_mapped
                && sector * unit + unit > history.safe_size(size_step)
            {
                seen = seen.max(touches.partition_point(|step| *step <= size_step));
            }
            match seen {
                0 => sectors.lost += 1,
                _ if seen == touches.len() => sectors.kept += 1,
                _ => sectors.older += 1,
            }
            let may_be_in_a_copy = is_mapped && fate != Fate::None && {
                let next = touches.get(seen).map(|step| &self.changes[step - 1]);
                matches!(next, Some(Change::Write { header: Some(_), .. }))
            };
            let in_a_copy = may_be_in_a_copy && random.chance(1, 4);
            if in_a_copy {
                picks.entry(touches[seen]).or_default().push((*sector, true));
            } else if seen > 0 {
                picks.entry(touches[seen - 1]).or_default().push((*sector, false));
            }
        }
        let mut image = self.durable.to_vec();
        let mut result = image.clone();
        for (change, step) in self.changes.iter().zip(1..) {
            let picked = picks.get(&step).map_or(&[][..], Vec::as_slice);
            for (sector, _) in picked.iter().filter(|(_, in_a_copy)| *in_a_copy) {
                let before = sector_of(&image, *sector, unit);
                put_sector(&mut result, *sector, &half_copied(before, change, sector * unit, random));
            }
            change.apply(&mut image);
            for (sector, _) in picked.iter().filter(|(_, in_a_copy)| !*in_a_copy) {
                put_sector(&mut result, *sector, &sector_of(&image, *sector, unit));
            }
        }
        result.resize(size, 0);
        clear_pages(&mut result, &self.lost_pages);
        (result, sectors)
    }

    /// The size of a mapped log whose `size` reached the disk after change `step`, or in the middle of it, when it
    /// was `size_after`. The write that begins a block makes it ready.
    fn with_ready_block(&self, size: usize, size_after: usize, step: usize, random: &mut Random) -> usize {
        let makes_ready = |step: usize| {
            let is_last = step == self.changes.len();
            matches!(self.changes.get(step.wrapping_sub(1)), Some(Change::Write { .. }))
                && !(is_last && self.is_cut_off)
        };
        if makes_ready(self.changes.len()) && random.chance(1, 2) {
            return size.max(self.cached.len()).next_multiple_of(BLOCK_SIZE_BYTES);
        }
        if size == size_after && makes_ready(step) { size.next_multiple_of(BLOCK_SIZE_BYTES) } else { size }
    }
}

/// What the waiting changes did to each sector and to the size.
struct History {
    /// For each touched sector, the changes that touched it, counted from 1.
    touches: BTreeMap<usize, Vec<usize>>,
    /// The size after each change; the first one is the durable size.
    sizes: Vec<usize>,
    /// Size of a sector.
    unit: usize,
}

impl History {
    fn of(changes: &[Change], durable_size: usize, unit: usize) -> Self {
        let mut touches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut sizes = vec![durable_size];
        let mut size = durable_size;
        for (change, step) in changes.iter().zip(1..) {
            let (start, end) = match change {
                Change::Write { offset, bytes, .. } | Change::Again { offset, bytes } => {
                    (*offset, offset + bytes.len())
                }
                Change::Truncate { size: shorter } => (*shorter, size),
            };
            for sector in start / unit..end.div_ceil(unit) {
                touches.entry(sector).or_default().push(step);
            }
            size = match change {
                Change::Write { .. } | Change::Again { .. } => size.max(end),
                Change::Truncate { size } => *size,
            };
            sizes.push(size);
        }
        Self { touches, sizes, unit }
    }

    /// The size that reached the disk, and the number of changes it has seen.
    fn draw_size(&self, fate: Fate, random: &mut Random) -> (usize, usize) {
        let last = self.sizes.len() - 1;
        let step = match fate {
            Fate::None => 0,
            Fate::All => last,
            Fate::Prefix | Fate::Mixed(_) => random.below(last + 1),
        };
        let mut size = self.sizes[step];
        if step > 0 && self.sizes[step - 1] < size && fate != Fate::All && random.chance(1, 3) {
            // Within the write: the system enlarges the file page by page.
            let first_page = self.sizes[step - 1] / PAGE_SIZE_BYTES + 1;
            let pages = (size / PAGE_SIZE_BYTES + 1).saturating_sub(first_page);
            if pages > 0 {
                size = (first_page + random.below(pages)) * PAGE_SIZE_BYTES;
            }
        }
        (step, size)
    }

    /// Bytes before this offset were already on the disk, and no truncation up to `step` has freed them.
    fn safe_size(&self, step: usize) -> usize {
        let smallest = self.sizes[..=step].iter().min().copied().unwrap_or_default();
        // A sector that lies across the end counts as after it.
        smallest / self.unit * self.unit
    }
}

/// The bytes of a sector, with zeros after the file's end.
fn sector_of(image: &[u8], sector: usize, unit: usize) -> Vec<u8> {
    let start = (sector * unit).min(image.len());
    let mut bytes = image[start..(start + unit).min(image.len())].to_vec();
    bytes.resize(unit, 0);
    bytes
}

fn put_sector(image: &mut Vec<u8>, sector: usize, bytes: &[u8]) {
    let start = sector * bytes.len();
    if image.len() < start + bytes.len() {
        image.resize(start + bytes.len(), 0);
    }
    image[start..start + bytes.len()].copy_from_slice(bytes);
}

/// A page, which begins at `page_start` in the file, after part of `change` was copied into it. A header that is
/// stored last is not there yet, and neither is the byte after it.
fn half_copied(mut page: Vec<u8>, change: &Change, page_start: usize, random: &mut Random) -> Vec<u8> {
    if let Change::Write { offset, bytes, header } = change {
        let start = (*offset).max(page_start);
        let end = (offset + bytes.len()).min(page_start + page.len());
        let stores = (end - start).div_ceil(STORE_SIZE_BYTES);
        // Often everything but the header is copied.
        let copied = if random.chance(1, 4) { stores } else { random.below(stores + 1) };
        let stop = (start / STORE_SIZE_BYTES + copied) * STORE_SIZE_BYTES;
        let stop = if copied == stores { end } else { stop.clamp(start, end) };
        let last_store = header.map_or(0..0, |at| offset + at..offset + at + STORE_SIZE_BYTES);
        for at in (start..stop).filter(|at| !last_store.contains(at)) {
            page[at - page_start] = bytes[at - offset];
        }
    }
    page
}

/// Fills these pages of `image` with zeros.
fn clear_pages(image: &mut [u8], pages: &BTreeSet<usize>) {
    for page in pages {
        let start = (page * PAGE_SIZE_BYTES).min(image.len());
        let end = (start + PAGE_SIZE_BYTES).min(image.len());
        image[start..end].fill(0);
    }
}

#[cfg(test)]
mod tests;
