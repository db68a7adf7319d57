//! Opening files so that others may read, write, rename and remove them meanwhile, as on Unix.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use std::time::Duration;

use windows_sys::Win32::Foundation::{ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION, GENERIC_WRITE, HANDLE};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_LIST_DIRECTORY, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE, GetFileInformationByHandle,
};

use crate::FileId;

/// What others may do with a file while it is open here: everything.
pub(super) const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// A scanner for viruses or a backup may have a file open for a moment, and keep others from it. After the last of these
/// waits, half a second in all, it is an error.
const WAITS_MS: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Opens a file for reading.
pub(super) fn to_read(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path)
}

/// Creates a file to write, or empties it.
pub(super) fn anew(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().write(true).create(true).truncate(true), path)
}

/// Opens a file as the options say.
pub(super) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.share_mode(SHARE_ALL);
    patiently(|| options.open(path)).map_err(|error| or_directory(error, path))
}

/// Windows denies access to a directory that is opened as a file.
pub(super) fn or_directory(error: io::Error, path: &Path) -> io::Error {
    let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
    if is_denied && path.is_dir() { io::ErrorKind::IsADirectory.into() } else { error }
}

/// The identity of a file or directory. It is opened without any right to its contents, which no sharing mode can
/// block.
pub(super) fn file_id(path: &Path) -> io::Result<FileId> {
    let file = OpenOptions::new()
        .access_mode(0)
        .share_mode(SHARE_ALL)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)?;
    file_id_of(&file)
}

/// Opens a directory to sync it.
pub(super) fn directory_to_sync(path: &Path) -> io::Result<File> {
    patiently(|| {
        OpenOptions::new()
            .access_mode(GENERIC_WRITE)
            .share_mode(SHARE_ALL)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .open(path)
    })
}

/// Opens a directory so that neither it nor one above it can be renamed or removed until the handle is closed.
pub(super) fn directory_to_hold(path: &Path) -> io::Result<File> {
    patiently(|| {
        OpenOptions::new()
            .access_mode(FILE_LIST_DIRECTORY)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .open(path)
    })
}

/// Runs `work` again, with waits, while another program is in its way.
pub(super) fn patiently<T>(work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    patiently_if(is_in_use, work)
}

/// Runs `work` again, with waits, after an error that may pass.
pub(super) fn patiently_if<T>(
    may_pass: impl Fn(&io::Error) -> bool,
    mut work: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    for wait_ms in WAITS_MS {
        match work() {
            Err(error) if may_pass(&error) => std::thread::sleep(Duration::from_millis(wait_ms)),
            result => return result,
        }
    }
    work()
}

/// Whether another handle keeps this one from happening.
pub(super) fn is_in_use(error: &io::Error) -> bool {
    is(error, &[ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION])
}

/// Whether the system gave one of these numbers for an error.
pub(super) fn is(error: &io::Error, codes: &[u32]) -> bool {
    error.raw_os_error().is_some_and(|code| codes.contains(&(code as u32)))
}

/// The identity of an open file.
pub(super) fn file_id_of(file: &File) -> io::Result<FileId> {
    let mut information = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open while `file` is borrowed, and the structure lives during the call.
    if unsafe { GetFileInformationByHandle(handle_of(file), &raw mut information) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let index = u64::from(information.nFileIndexHigh) << 32 | u64::from(information.nFileIndexLow);
    Ok(FileId { device: u64::from(information.dwVolumeSerialNumber), inode: index })
}

pub(super) fn handle_of(file: &File) -> HANDLE {
    file.as_raw_handle()
}
