//! A whole file in the process's memory, read-only.
//!
//! Predecessor: `file`, for tables that are read at random. Successor: the kernel's page cache.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// How many pages the system is asked about at once: the bits of a word.
#[cfg(target_os = "linux")]
pub(super) const PAGES_AT_ONCE: usize = u64::BITS as usize;

/// A mapping of a file's first bytes. Unmapped on drop; removing the file does not affect it.
///
/// If the device fails, or somebody truncates the file, an access ends the process (SIGBUS).
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<libc::c_void>,
    size_bytes: usize,
}

// SAFETY: the mapping is read only and belongs to no thread; unmapping takes `&mut`.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared references only read.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `size_bytes` of `file`, which must not be 0.
    pub(super) fn new(file: &File, size_bytes: usize) -> io::Result<Self> {
        // SAFETY: the system chooses an unused range of memory, so nothing that exists is touched.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_bytes,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, size_bytes })
    }

    /// Advises the system about these bytes, which must lie within the mapping, rounded to whole pages. What becomes of
    /// the advice changes no byte, so its failure is ignored.
    pub(super) fn advise(&self, offset: usize, size_bytes: usize, advice: libc::c_int) {
        debug_assert!(offset <= self.size_bytes && size_bytes <= self.size_bytes - offset);
        let start = offset - offset % rustix::param::page_size();
        // SAFETY: the range lies within the mapping, except for the rest of its last page, which belongs to it. The
        // advices that are given (see `mapped_file`) never change what the bytes of a file's mapping are.
        unsafe { libc::madvise(self.start.as_ptr().byte_add(start), offset + size_bytes - start, advice) };
    }

    /// Which of the `count` (at most 64) pages from `first` on are in memory now, as bits from the lowest on. Pages after the mapping's
    /// end are not, and none is if the system does not tell.
    #[cfg(target_os = "linux")]
    pub(super) fn pages_in_memory(&self, first: usize, count: usize) -> u64 {
        let page_size_bytes = rustix::param::page_size();
        let start = first * page_size_bytes;
        let mut pages = [0u8; PAGES_AT_ONCE];
        let length = self.size_bytes.saturating_sub(start).min(count.min(PAGES_AT_ONCE) * page_size_bytes);
        if length == 0 {
            return 0;
        }
        // SAFETY: the bytes from `start` on lie within the mapping, and one byte is written for each of at most
        // PAGES_AT_ONCE pages.
        let result =
            unsafe { libc::mincore(self.start.as_ptr().byte_add(start), length, pages.as_mut_ptr()) };
        if result != 0 {
            return 0;
        }
        pages.iter().rev().fold(0, |bits, page| bits << 1 | u64::from(page & 1))
    }
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the bytes stay mapped and readable as long as `self`. Nobody writes to them: only complete files
        // are mapped (tables), which no program of the database ever changes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.size_bytes) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: address and size are those of the mapping, and no reference into it outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr(), self.size_bytes) };
    }
}
