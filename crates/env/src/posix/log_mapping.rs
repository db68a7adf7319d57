//! A part of a log mapped into memory, and the way records are stored there.
//!
//! # A page that is not there
//!
//! A store for which the file has no page raises `SIGBUS`. Zeros are written before the stores, so a full disk cannot
//! cause it on the file systems on which `log_space` maps. These can: another program that truncates the log of an
//! open database, and a disk or file system that fails when a page is first touched, or touched again after it was
//! written to the disk. The store is guarded (`guarded_store`, `fault_handler`): it ends with an error, and nothing
//! is acknowledged.

use std::fs::File;
use std::io;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use super::guarded_store;
use crate::LOG_RECORD_HEADER_SIZE_BYTES;

/// Mappings begin and end at multiples of this. All page sizes in use divide it, and blocks of logs, to which
/// mappings extend, are multiples of all page sizes in use.
pub(super) const MAPPING_STEP_BYTES: u64 = 64 << 10;

/// A range of a file that can be stored into.
pub(super) struct LogMapping {
    memory: NonNull<u8>,
    /// Where the range begins and ends in the file. It may reach beyond the end of the file.
    start: u64,
    end: u64,
    /// The file reaches at least to here, and so may stores.
    ready_end: u64,
}

// SAFETY: the memory belongs to the mapping alone, and no thread owns it.
unsafe impl Send for LogMapping {}

impl LogMapping {
    /// Maps the bytes from `start` to `end` of `file`, which may be shorter. Both are multiples of
    /// [`MAPPING_STEP_BYTES`]. None of the range is ready yet.
    pub(super) fn new(file: &File, start: u64, end: u64) -> io::Result<Self> {
        let size = usize::try_from(end - start).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the system's choice touches no memory in use.
        let memory = unsafe { mmap(std::ptr::null_mut(), size, protection, MapFlags::SHARED, file, start) }?;
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { memory, start, end, ready_end: start })
    }

    /// Whether the range contains the bytes up to `end`.
    pub(super) fn covers(&self, end: u64) -> bool {
        end <= self.end
    }

    /// Notes that the file now reaches to `end`, within the range.
    pub(super) fn set_ready(&mut self, end: u64) {
        self.ready_end = end.min(self.end);
    }

    /// Keeps the system from reading ahead into large pages: a sync of a small record would write a whole one.
    pub(super) fn keep_pages_small(&self) {
        self.advise(self.start, self.end, Advice::Random);
    }

    /// Loads the pages from `from` to `to` into memory, to spare the stores a fault for each. If the system cannot do
    /// that, the faults occur.
    pub(super) fn populate(&self, from: u64, to: u64) {
        self.advise(from, to, Advice::LinuxPopulateWrite);
    }

    fn advise(&self, from: u64, to: u64, advice: Advice) {
        // Not `rustix::param::page_size`, which asks the program's headers: valgrind, which counts for `make test-gates`, hides them.
        // SAFETY: the call touches no memory of this process.
        let page_size_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as u64;
        let from = from.max(self.start) / page_size_bytes * page_size_bytes;
        let to = to.min(self.end);
        if from < to {
            // SAFETY: the range is within the mapping, and none of the advices used changes its contents.
            let _ = unsafe {
                let memory = self.memory.as_ptr().add((from - self.start) as usize);
                madvise(memory.cast(), (to - from) as usize, advice)
            };
        }
    }

    /// Stores a record at `offset` in the file, where there are zeros: first the payload, then the header in one
    /// store. A process that dies in between leaves a header of zeros, and so does a store for which the file has no
    /// page.
    ///
    /// # Errors
    ///
    /// An input/output error if the file has no page for the record.
    ///
    /// # Panics
    ///
    /// If the record is not within the ready part.
    #[inline]
    pub(super) fn store(
        &mut self,
        offset: u64,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        payload: &[u8],
    ) -> Result<(), Errno> {
        let size = LOG_RECORD_HEADER_SIZE_BYTES + payload.len();
        assert!(offset >= self.start && offset + size as u64 <= self.ready_end);
        let [h0, h1, h2, h3, h4, h5, h6] = *header;
        let Some((first, body)) = payload.split_first() else { return Err(Errno::INVAL) };
        let head = u64::from_le_bytes([h0, h1, h2, h3, h4, h5, h6, *first]);
        // SAFETY: by the assertion all bytes of the record lie within the mapping, which this value owns and which is
        // writable. `payload` is not part of the mapping, to which there is no other pointer.
        let stored = unsafe {
            let target = self.memory.as_ptr().add((offset - self.start) as usize);
            guarded_store::store(target, head, body)
        };
        if stored { Ok(()) } else { Err(Errno::IO) }
    }
}

impl Drop for LogMapping {
    fn drop(&mut self) {
        // SAFETY: exactly this range was mapped by `new`, and nothing points into it any more.
        let unmapped = unsafe { munmap(self.memory.as_ptr().cast(), (self.end - self.start) as usize) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}
