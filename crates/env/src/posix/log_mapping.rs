//! A part of a log mapped into memory, and how a record is stored there. Predecessor: `log_space`. Successor: the
//! operating system's page cache.
//!
//! # A file that shrinks under its mapping
//!
//! A store behind the end of the file raises `SIGBUS` and ends the process. Zeros are written before they are stored into,
//! so a full disk cannot do that on the file systems that `log_space` maps on. What can: another program that truncates
//! the log of an open database, and a disk that fails while the file system looks up where a page belongs. Either would
//! have lost records, and the process that ends has acknowledged nothing that is not in the page cache.

use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{Ordering, fence};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use crate::LOG_RECORD_HEADER_SIZE_BYTES;

/// The least that a mapping begins and ends at multiples of. Larger pages are multiples of it, and blocks of logs, to
/// which mappings extend, are multiples of all that are in use.
pub(super) const MAPPING_STEP_BYTES: u64 = 64 << 10;

/// A range of a file that can be stored into.
pub(super) struct LogMapping {
    memory: NonNull<u8>,
    /// Where the range begins and ends in the file. It may reach beyond the end of the file.
    start: u64,
    end: u64,
    /// The file reaches to here at least, and so may stores.
    ready_end: u64,
}

// SAFETY: the memory belongs to the mapping alone, and no thread owns it.
unsafe impl Send for LogMapping {}

impl LogMapping {
    /// Maps the bytes from `start` to `end` of `file`, which may be shorter. Both are multiples of
    /// [`MAPPING_STEP_BYTES`]. None of it is ready.
    pub(super) fn new(file: &File, start: u64, end: u64) -> io::Result<Self> {
        let size = usize::try_from(end - start).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the system's choice touches no memory in use.
        let memory = unsafe { mmap(std::ptr::null_mut(), size, protection, MapFlags::SHARED, file, start) }?;
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { memory, start, end, ready_end: start })
    }

    /// Whether the range holds the bytes up to `end`.
    pub(super) fn covers(&self, end: u64) -> bool {
        end <= self.end
    }

    /// The file reaches to `end` now, within the range.
    pub(super) fn set_ready(&mut self, end: u64) {
        self.ready_end = end.min(self.end);
    }

    /// Keeps the system from reading ahead into large pages, of which a sync writes a whole one for a small record.
    pub(super) fn keep_pages_small(&self) {
        self.advise(self.start, self.end, Advice::Random);
    }

    /// Brings the pages from `from` to `to` into memory, to spare the stores a fault for each. Where the system cannot,
    /// the faults come.
    pub(super) fn populate(&self, from: u64, to: u64) {
        self.advise(from, to, Advice::LinuxPopulateWrite);
    }

    fn advise(&self, from: u64, to: u64, advice: Advice) {
        let from = from.max(self.start) / MAPPING_STEP_BYTES * MAPPING_STEP_BYTES;
        let to = to.min(self.end);
        if from < to {
            // SAFETY: the range is within the mapping, and none of the advices in use changes its content.
            let _ = unsafe {
                let memory = self.memory.as_ptr().add((from - self.start) as usize);
                madvise(memory.cast(), (to - from) as usize, advice)
            };
        }
    }

    /// Stores a record at `offset` in the file, where zeros are: first the payload, then the header at once. A process
    /// that dies in between leaves a header of zeros.
    ///
    /// # Panics
    /// If the record is not within what is ready, or begins at the start of the range.
    #[inline]
    pub(super) fn store(&mut self, offset: u64, header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES], payload: &[u8]) {
        let size = LOG_RECORD_HEADER_SIZE_BYTES + payload.len();
        assert!(offset > self.start && offset + size as u64 <= self.ready_end);
        let [h0, h1, h2, h3, h4, h5, h6] = *header;
        // SAFETY: by the assertion all bytes of the record, and the one before it, lie within the mapping, which this value
        // owns and which is writable, and within the file (see the top of this file). `payload` is no part of the mapping,
        // to which nobody else has a pointer. The store of the header takes eight bytes: with the payload's first, or,
        // before an empty payload, with the byte before the record, which is read first and so keeps its value.
        unsafe {
            let target = self.memory.as_ptr().add((offset - self.start) as usize);
            let (place, head) = match payload.split_first() {
                Some((first, others)) => {
                    let body = target.add(LOG_RECORD_HEADER_SIZE_BYTES + 1);
                    std::ptr::copy_nonoverlapping(others.as_ptr(), body, others.len());
                    (target, [h0, h1, h2, h3, h4, h5, h6, *first])
                }
                None => (target.sub(1), [target.sub(1).read(), h0, h1, h2, h3, h4, h5, h6]),
            };
            let head = u64::from_le_bytes(head);
            // Neither the compiler nor the processor may move the header before the payload.
            fence(Ordering::Release);
            place.cast::<[u8; 8]>().write_unaligned(head.to_le_bytes());
            // The next record's payload may not come before this header either.
            fence(Ordering::Release);
        }
    }
}

impl Drop for LogMapping {
    fn drop(&mut self) {
        // SAFETY: exactly this range was mapped by `new`, and nothing points into it any more.
        let unmapped = unsafe { munmap(self.memory.as_ptr().cast(), (self.end - self.start) as usize) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}
