//! Directories: making them with their parents, and making names durable.

use std::io;
use std::path::Path;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_INVALID_FUNCTION, ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER,
    ERROR_NOT_SUPPORTED,
};

use super::open;
use crate::error::sync_failed;

/// Makes a directory and those of its parents that are missing.
pub(super) fn create_all(path: &Path) -> io::Result<()> {
    let mut missing = Vec::new();
    for directory in path.ancestors() {
        if directory.as_os_str().is_empty() {
            break;
        }
        match std::fs::metadata(directory) {
            Ok(metadata) if metadata.is_dir() => break,
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(directory),
            Err(error) => return Err(error),
        }
    }
    for directory in missing.iter().rev() {
        match std::fs::create_dir(directory) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => result?,
        }
        if let Some(parent) = directory.parent() {
            sync(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })?;
        }
    }
    Ok(())
}

/// Windows has several errors for a file that is used as a directory.
pub(super) fn or_file(error: io::Error, path: &Path) -> io::Error {
    if path.is_file() { io::ErrorKind::NotADirectory.into() } else { error }
}

/// Makes the names in a directory durable, as far as Windows can: NTFS writes its journal. Where a directory cannot be
/// flushed (other file systems, missing rights), its file system alone decides when names are durable.
pub(super) fn sync(path: &Path) -> io::Result<()> {
    const CANNOT_FLUSH: [u32; 5] = [
        ERROR_ACCESS_DENIED,
        ERROR_INVALID_FUNCTION,
        ERROR_INVALID_HANDLE,
        ERROR_INVALID_PARAMETER,
        ERROR_NOT_SUPPORTED,
    ];
    // It has to be there, in any case.
    let if_it_exists = || std::fs::metadata(path).map(drop);
    match open::directory_to_sync(path) {
        Err(error) if open::is(&error, &CANNOT_FLUSH) => if_it_exists(),
        Err(error) => Err(error),
        Ok(directory) => match directory.sync_all() {
            Err(error) if open::is(&error, &CANNOT_FLUSH) => if_it_exists(),
            result => result.map_err(sync_failed),
        },
    }
}
