//! System calls on an open file, under the names that `windows` has for its own.

use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::FileExt;

use crate::error::sync_failed;

/// Reads until `buffer` is full or the file ends. Returns the number of bytes.
pub(crate) fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read_bytes = 0;
    while read_bytes < buffer.len() {
        match file.read_at(&mut buffer[read_bytes..], offset + read_bytes as u64) {
            Ok(0) => break,
            Ok(count) => read_bytes += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read_bytes)
}

/// Writes all of these bytes at `offset`.
#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Makes bytes and size durable. The first sync covers everything about the file, which may be new. Later ones cover
/// only what is needed to read the bytes again (`fdatasync`), which spares the disk a write of the times.
///
/// On macOS both are `F_FULLFSYNC`, because `fsync` there leaves the bytes in the disk's own cache.
pub(crate) fn sync_file(file: &File, synced_before: bool) -> io::Result<()> {
    try_sync(file, synced_before).map_err(sync_failed)
}

/// Makes the names in a directory durable.
pub(super) fn sync_directory(directory: &File) -> io::Result<()> {
    match try_sync(directory, false) {
        // The file system has no such operation: there is nothing more to do.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP)) => Ok(()),
        result => result.map_err(sync_failed),
    }
}

fn try_sync(file: &File, synced_before: bool) -> io::Result<()> {
    let synced = if synced_before { file.sync_data() } else { file.sync_all() };
    #[cfg(target_vendor = "apple")]
    if synced.as_ref().is_err_and(lacks_full_sync) {
        return Ok(rustix::fs::fsync(file)?);
    }
    synced
}

/// Whether the file system, such as that of a network drive, has no `F_FULLFSYNC`. It has done nothing then, and `fsync` is all that
/// there is. After any other failure, `fsync` could succeed although bytes were lost.
#[cfg(target_vendor = "apple")]
fn lacks_full_sync(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOTSUP | libc::ENOTTY | libc::EINVAL))
}

/// Closes the file and reports errors that dropping a `File` would swallow: network file systems report failed writes
/// there.
pub(crate) fn close_file(file: File) -> io::Result<()> {
    let descriptor = file.into_raw_fd();
    // SAFETY: `into_raw_fd` made this function the only owner of the descriptor, and it is not used again.
    if unsafe { libc::close(descriptor) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        // The descriptor is gone all the same.
        error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        error => Err(error),
    }
}

/// Asks the system to begin writing these bytes to the disk. They are durable only after a sync of the file, which
/// also reports what goes wrong here.
#[cfg(target_os = "linux")]
pub(crate) fn begin_writeback(file: &File, from: u64, to: u64) {
    use std::os::fd::AsRawFd;

    let (Ok(offset), Ok(length)) = (i64::try_from(from), i64::try_from(to - from)) else { return };
    // SAFETY: the descriptor is open while `file` is borrowed, and the call touches no memory of this process.
    unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, libc::SYNC_FILE_RANGE_WRITE) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn begin_writeback(_file: &File, _from: u64, _to: u64) {}
