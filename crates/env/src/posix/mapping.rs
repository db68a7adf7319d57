//! A whole file in the process's memory, read-only.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

use crate::host_files::paging::Advice;
#[cfg(target_os = "linux")]
use crate::host_files::paging::PAGES_AT_ONCE;

/// A mapping of a file's first bytes. Unmapped on drop; removing the file does not affect it.
///
/// If the device fails, or another program truncates the file, an access ends the process (SIGBUS).
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<libc::c_void>,
    size_bytes: usize,
}

// SAFETY: the mapping is read only and belongs to no thread; unmapping takes `&mut`.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared references only read.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `size_bytes` of `file`, which must not be 0.
    pub(crate) fn new(file: &File, size_bytes: usize) -> io::Result<Self> {
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
    pub(crate) fn advise(&self, offset: usize, size_bytes: usize, advice: Advice) {
        debug_assert!(offset <= self.size_bytes && size_bytes <= self.size_bytes - offset);
        let advice = match advice {
            Advice::Usual => libc::MADV_NORMAL,
            Advice::Random => libc::MADV_RANDOM,
            Advice::Soon => libc::MADV_WILLNEED,
            // Linux frees memory of these pages that no other process maps, without a change to the mapping.
            #[cfg(target_os = "linux")]
            Advice::NotSoon => libc::MADV_PAGEOUT,
            #[cfg(not(target_os = "linux"))]
            Advice::NotSoon => return,
        };
        let start = offset - offset % page_size_bytes();
        // SAFETY: the range lies within the mapping, except for the rest of its last page, which belongs to it. None of
        // these advices changes what the bytes of a file's mapping are.
        unsafe { libc::madvise(self.start.as_ptr().byte_add(start), offset + size_bytes - start, advice) };
    }

    /// Which of the `count` (at most 64) pages from `first` on are in memory now, as bits from the lowest on. Pages after the mapping's
    /// end are not, and none is if the system does not tell.
    #[cfg(target_os = "linux")]
    pub(crate) fn pages_in_memory(&self, first: usize, count: usize) -> u64 {
        let page_size_bytes = page_size_bytes();
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
        // SAFETY: the bytes stay mapped and readable as long as `self`. They do not change: only complete files are
        // mapped (tables), which no program of the database ever changes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.size_bytes) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: address and size are those of the mapping, and no reference into it outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr(), self.size_bytes) };
    }
}

pub(crate) fn page_size_bytes() -> usize {
    rustix::param::page_size()
}

/// A time that is never 0 and some milliseconds late, for a fifth of the cost of the exact one.
#[cfg(target_os = "linux")]
pub(crate) fn coarse_clock_ms() -> u64 {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::MonotonicCoarse);
    1 + time.tv_sec as u64 * 1_000 + time.tv_nsec as u64 / 1_000_000
}
