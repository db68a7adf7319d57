//! Files of an operating system, whichever it is: what `posix` and `windows` have in common.

mod log;
#[cfg(target_pointer_width = "64")]
mod mapped_file;
#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(crate) mod no_log_space;
#[cfg(target_pointer_width = "64")]
pub(crate) mod paging;
#[cfg(all(any(target_os = "linux", windows), target_pointer_width = "64"))]
mod residency;
mod sequential;
mod writable;

pub(crate) use log::HostLogFile;
#[cfg(target_pointer_width = "64")]
pub(crate) use mapped_file::HostMappedFile;
pub(crate) use sequential::HostSequentialFile;
pub(crate) use writable::HostWritableFile;

/// Whether these bytes lie where no file can reach: the system rejects such offsets; we treat them as after the end.
pub(crate) fn beyond_any_file(offset: u64, buffer: &[u8]) -> bool {
    i64::try_from(offset.saturating_add(buffer.len() as u64)).is_err()
}
