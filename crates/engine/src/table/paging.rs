//! How the pages of a mapped table come into memory once the database has [outgrown](crate::cache::working_set) it.
//!
//! predecessors: [`block_fetch`](super::block_fetch), [`read_ahead`](super::read_ahead) · successor: `RandomAccessFile`
//!
//! Touching a page that is not in memory costs a disk read. By default, the system reads what is around the page as
//! well: up to megabytes, which push out what others need. Terrace therefore advises it that reads are in no order, and
//! the system then reads one page at a time. So that a block of several pages still costs one read, it is requested
//! before it is touched.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use terrace_env::{RandomAccessFile, ReadPattern};
use terrace_format::limits::BLOCK_TRAILER_SIZE_BYTES;
use terrace_format::table::BlockHandle;

use crate::cache::working_set::WorkingSet;

/// The pages of one table. Threads share it.
#[derive(Debug)]
pub(super) struct Paging {
    file: Arc<dyn RandomAccessFile>,
    size_bytes: u64,
    fit: Arc<WorkingSet>,
    is_mapped: bool,
    /// The advice last given to the system.
    expects_random_reads: AtomicBool,
}

impl Paging {
    /// The pages of a table of `size_bytes` in `file`, none of which was touched yet.
    pub(super) fn new(
        file: Arc<dyn RandomAccessFile>,
        size_bytes: u64,
        fit: Arc<WorkingSet>,
        is_mapped: bool,
    ) -> Self {
        let paging = Self { file, size_bytes, fit, is_mapped, expects_random_reads: AtomicBool::new(false) };
        if paging.fit.is_outgrown() {
            paging.expect_reads(true);
        }
        paging
    }

    /// Whether pages are requested before they are touched: the file is mapped, and the database has outgrown memory.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        let is_outgrown = self.fit.is_outgrown();
        if is_outgrown != self.expects_random_reads.load(Ordering::Relaxed) {
            self.expect_reads(is_outgrown);
        }
        is_outgrown && self.is_mapped
    }

    #[cold]
    fn expect_reads(&self, are_random: bool) {
        self.expects_random_reads.store(are_random, Ordering::Relaxed);
        if self.is_mapped {
            self.file.expect_reads(if are_random { ReadPattern::Random } else { ReadPattern::Usual });
        }
    }

    /// Begins to read the block that `handle` points to, if pages are requested. The handle need not be sound.
    #[inline]
    pub(super) fn start_reading(&self, handle: BlockHandle) {
        if self.is_active() {
            self.ask(&self.range_of(handle));
        }
    }

    /// Where the block and its trailer are, as far as the file has them. The handle need not be sound.
    pub(super) fn range_of(&self, handle: BlockHandle) -> Range<u64> {
        let end = handle.offset.saturating_add(handle.size).saturating_add(BLOCK_TRAILER_SIZE_BYTES as u64);
        handle.offset.min(self.size_bytes)..end.min(self.size_bytes)
    }

    /// The table's size, in bytes.
    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Begins to read these bytes, which lie in the file.
    pub(super) fn ask(&self, range: &Range<u64>) {
        if !range.is_empty() {
            self.file.start_reading(range.start, size_of(range));
        }
    }

    /// Gives up the memory of these bytes, which lie in the file.
    pub(super) fn give_up(&self, range: &Range<u64>) {
        if !range.is_empty() {
            self.file.stop_reading(range.start, size_of(range));
        }
    }

    /// Whether these bytes, which lie in the file, are in memory.
    pub(super) fn is_in_memory(&self, range: &Range<u64>) -> bool {
        self.file.mapped_is_in_memory(range.start, size_of(range))
    }
}

fn size_of(range: &Range<u64>) -> usize {
    usize::try_from(range.end - range.start).unwrap_or(usize::MAX)
}
