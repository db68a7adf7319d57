//! A whole file in the process's memory, read-only.
//!
//! While a file is mapped, it can be renamed, but neither truncated nor removed (see `names`).

use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_REMOTE_PROTOCOL_INFO, FileRemoteProtocolInfo, GetFileInformationByHandleEx,
};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile, PAGE_READONLY,
    PrefetchVirtualMemory, UnmapViewOfFile, WIN32_MEMORY_RANGE_ENTRY,
};
use windows_sys::Win32::System::ProcessStatus::{K32QueryWorkingSetEx, PSAPI_WORKING_SET_EX_INFORMATION};
use windows_sys::Win32::System::SystemInformation::{GetSystemInfo, GetTickCount64, SYSTEM_INFO};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use super::names;
use super::open::handle_of;
use crate::host_files::paging::{Advice, PAGES_AT_ONCE};

/// A mapping of a file's first bytes. Unmapped on drop; no handle of the file is held.
///
/// If the device fails, an access ends the process (`EXCEPTION_IN_PAGE_ERROR`).
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    size_bytes: usize,
}

// SAFETY: the mapping is read only and belongs to no thread; unmapping takes `&mut`.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared references only read.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `size_bytes` of `file`, which must not be 0. It is an error if the file is on a network share,
    /// whose failures would end the process.
    pub(crate) fn new(file: &File, size_bytes: usize) -> io::Result<Self> {
        if size_bytes == 0 || is_remote(file) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // SAFETY: the handle is open while `file` is borrowed. Without attributes and a name, no memory is read.
        let section = unsafe {
            let (no_attributes, no_name) = (std::ptr::null(), std::ptr::null());
            CreateFileMappingW(handle_of(file), no_attributes, PAGE_READONLY, 0, 0, no_name)
        };
        if section.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the section was just made; the system chooses an unused range of memory.
        let view = unsafe { MapViewOfFile(section, FILE_MAP_READ, 0, 0, size_bytes) };
        let start = NonNull::new(view.Value.cast()).ok_or_else(io::Error::last_os_error);
        // SAFETY: this function is the only owner of the handle, and a view keeps its section.
        unsafe { CloseHandle(section) };
        Ok(Self { start: start?, size_bytes })
    }

    /// Advises the system about these bytes, which must lie within the mapping. What becomes of the advice changes no
    /// byte, so its failure is ignored. Windows has a use for one kind alone.
    pub(crate) fn advise(&self, offset: usize, size_bytes: usize, advice: Advice) {
        debug_assert!(offset <= self.size_bytes && size_bytes <= self.size_bytes - offset);
        if !matches!(advice, Advice::Soon) {
            return;
        }
        let range = WIN32_MEMORY_RANGE_ENTRY {
            // SAFETY: the range lies within the mapping.
            VirtualAddress: unsafe { self.start.as_ptr().add(offset) }.cast(),
            NumberOfBytes: size_bytes,
        };
        // SAFETY: one range is given, and lives during the call.
        unsafe { PrefetchVirtualMemory(GetCurrentProcess(), 1, &raw const range, 0) };
    }

    /// Which of the `count` (at most 64) pages from `first` on this process can read now without waiting, as bits from the
    /// lowest on. Pages after the mapping's end are not, and none is if the system does not tell.
    pub(crate) fn pages_in_memory(&self, first: usize, count: usize) -> u64 {
        let page_size_bytes = page_size_bytes();
        let pages = self.size_bytes.div_ceil(page_size_bytes);
        let count = count.min(PAGES_AT_ONCE).min(pages.saturating_sub(first));
        let mut asked = [PSAPI_WORKING_SET_EX_INFORMATION::default(); PAGES_AT_ONCE];
        for (index, page) in asked[..count].iter_mut().enumerate() {
            // SAFETY: these pages lie within the mapping.
            page.VirtualAddress =
                unsafe { self.start.as_ptr().add((first + index) * page_size_bytes) }.cast();
        }
        let asked_bytes = size_of_val(&asked[..count]) as u32;
        // SAFETY: so many bytes of the array are read and written during the call.
        if unsafe { K32QueryWorkingSetEx(GetCurrentProcess(), asked.as_mut_ptr().cast(), asked_bytes) } == 0 {
            return 0;
        }
        asked[..count].iter().rev().fold(0, |bits, page| {
            // SAFETY: all of the union is flags, of which the lowest says that the page is valid.
            bits << 1 | (unsafe { page.VirtualAttributes.Flags } & 1) as u64
        })
    }
}

impl AsRef<[u8]> for Mapping {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the bytes stay mapped and readable as long as `self`. They do not change: only complete files are
        // mapped (tables), which no program of the database ever changes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size_bytes) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let view = MEMORY_MAPPED_VIEW_ADDRESS { Value: self.start.as_ptr().cast() };
        // SAFETY: the address is that of the view, and no reference into it outlives `self`.
        unsafe { UnmapViewOfFile(view) };
        // Perhaps the file was waiting for that.
        names::remove_put_off();
    }
}

/// Whether a file is on a network share: Windows names a remote protocol only for such files.
fn is_remote(file: &File) -> bool {
    let mut information = FILE_REMOTE_PROTOCOL_INFO::default();
    let size_bytes = size_of_val(&information) as u32;
    // SAFETY: the handle is open while `file` is borrowed; the structure, of this size, lives during the call.
    unsafe {
        let information = (&raw mut information).cast();
        GetFileInformationByHandleEx(handle_of(file), FileRemoteProtocolInfo, information, size_bytes) != 0
    }
}

pub(crate) fn page_size_bytes() -> usize {
    static SIZE_BYTES: OnceLock<usize> = OnceLock::new();
    *SIZE_BYTES.get_or_init(|| {
        let mut information = SYSTEM_INFO::default();
        // SAFETY: the structure lives during the call.
        unsafe { GetSystemInfo(&raw mut information) };
        information.dwPageSize as usize
    })
}

/// A time that is never 0 and some milliseconds late.
pub(crate) fn coarse_clock_ms() -> u64 {
    // SAFETY: touches no memory.
    1 + unsafe { GetTickCount64() }
}
