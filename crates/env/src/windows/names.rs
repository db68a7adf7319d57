//! The names of files: renames, replacements, removals, links.
//!
//! A file that is open cannot simply be removed on Windows: its name stays until it is closed. Windows 10 and later can
//! take the name away at once, as Unix does, on NTFS. Everywhere else the file first gets a name that no database uses
//! for anything but leftovers (`NUMBER.dbtmp`), which LevelDB and Terrace remove when they open a database. It is tried
//! again whenever something else is removed or a mapping ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_CALL_NOT_IMPLEMENTED, ERROR_INVALID_FUNCTION, ERROR_INVALID_PARAMETER,
    ERROR_NOT_SAME_DEVICE, ERROR_NOT_SUPPORTED, ERROR_TOO_MANY_LINKS, ERROR_USER_MAPPED_FILE,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_DISPOSITION_FLAG_DELETE, FILE_DISPOSITION_FLAG_POSIX_SEMANTICS, FILE_DISPOSITION_INFO_EX,
    FILE_FLAG_OPEN_REPARSE_POINT, FileDispositionInfoEx, MOVE_FILE_FLAGS, MOVEFILE_REPLACE_EXISTING,
    MOVEFILE_WRITE_THROUGH, MoveFileExW, SetFileInformationByHandle,
};

use super::open::{self, handle_of, is, patiently, patiently_if};
use super::path::wide;
use super::raw_file::sync_file;
use crate::error::sync_failed;
use crate::locks::Mutex;

/// Files that were removed under their former names, and whose last ones could not be removed yet.
static PUT_OFF: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Renames a file to a name that is free.
pub(super) fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    // Windows would rename a file to itself.
    if to.try_exists()? {
        return Err(
            if from.try_exists()? { io::ErrorKind::AlreadyExists } else { io::ErrorKind::NotFound }.into()
        );
    }
    patiently(|| move_file(from, to, MOVEFILE_WRITE_THROUGH))
}

/// Replaces the file. Its new name is durable on return.
pub(super) fn replace(path: &Path, contents: &[u8], temporary: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let replace = || {
        let mut file = open::anew(temporary)?;
        file.write_all(contents)?;
        // Before the rename: otherwise the name could be durable before the bytes.
        sync_file(&file, false)?;
        drop(file);
        rename_over(temporary, path)
    };
    let replaced = replace();
    if replaced.is_err() {
        // The failure above is the one to report.
        let _ = remove(temporary);
    }
    replaced
}

fn rename_over(from: &Path, to: &Path) -> io::Result<()> {
    // For a file that is open elsewhere, Windows reports only that access is denied.
    let may_pass = |error: &io::Error| open::is_in_use(error) || is(error, &[ERROR_ACCESS_DENIED]);
    let is_durable = patiently_if(may_pass, || {
        match move_file(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) {
            // The old file is open elsewhere. The library's way replaces it all the same where Windows can.
            Err(error) if is(&error, &[ERROR_ACCESS_DENIED]) => std::fs::rename(from, to).map(|()| false),
            moved => moved.map(|()| true),
        }
    })?;
    if is_durable {
        return Ok(());
    }
    // Apart from the rename, which cannot be done twice.
    patiently_if(may_pass, || OpenOptions::new().write(true).share_mode(open::SHARE_ALL).open(to)?.sync_all())
        .map_err(sync_failed)
}

fn move_file(from: &Path, to: &Path, flags: MOVE_FILE_FLAGS) -> io::Result<()> {
    let (from, to) = (wide(from)?, wide(to)?);
    // SAFETY: both are texts that end with a zero and live during the call.
    if unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), flags) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Removes a file's name. Its open handles keep working.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    remove_put_off();
    // A directory cannot be opened in this way.
    let file = patiently(|| {
        OpenOptions::new()
            .access_mode(DELETE)
            .share_mode(open::SHARE_ALL)
            .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
            .open(path)
    })?;
    match remove_at_once(&file) {
        Err(error) if is(&error, &CANNOT_AT_ONCE) => {}
        result => return result,
    }
    drop(file);
    let aside = aside_of(path);
    patiently(|| move_file(path, &aside, 0))?;
    if !remove_wholly(&aside) {
        PUT_OFF.lock().push(aside);
    }
    Ok(())
}

/// The system or the file system has no such removal, or the file is mapped.
const CANNOT_AT_ONCE: [u32; 6] = [
    ERROR_INVALID_PARAMETER,
    ERROR_INVALID_FUNCTION,
    ERROR_NOT_SUPPORTED,
    ERROR_CALL_NOT_IMPLEMENTED,
    ERROR_ACCESS_DENIED,
    ERROR_USER_MAPPED_FILE,
];

/// Takes the name away although the file may be open.
fn remove_at_once(file: &File) -> io::Result<()> {
    let flags = FILE_DISPOSITION_FLAG_DELETE | FILE_DISPOSITION_FLAG_POSIX_SEMANTICS;
    let information = FILE_DISPOSITION_INFO_EX { Flags: flags };
    let size_bytes = size_of_val(&information) as u32;
    // SAFETY: the handle is open while `file` is borrowed; the structure, of this size, lives during the call.
    let done = unsafe {
        let information = (&raw const information).cast();
        SetFileInformationByHandle(handle_of(file), FileDispositionInfoEx, information, size_bytes)
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Removes a file, and returns whether it is gone: if it is open, that takes until it is closed.
fn remove_wholly(path: &Path) -> bool {
    let _ = std::fs::remove_file(path);
    matches!(std::fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

/// Removes what could not be removed before.
pub(super) fn remove_put_off() {
    PUT_OFF.lock().retain(|path| !remove_wholly(path));
}

/// Whether a name in this directory is one of a removed file.
pub(super) fn is_put_off(directory: &Path, name: &str) -> bool {
    PUT_OFF
        .lock()
        .iter()
        .any(|path| path.file_name().is_some_and(|last| last == name) && path.parent() == Some(directory))
}

/// An unused name in the same directory.
fn aside_of(path: &Path) -> PathBuf {
    use std::hash::{BuildHasher, RandomState};

    // File numbers begin at 1 and do not get this high. LevelDB's repair continues after the largest that it finds, so
    // there must be room after it.
    let number = 1 << 40 | RandomState::new().hash_one(path) >> 24;
    path.with_file_name(format!("{number}.dbtmp"))
}

pub(super) fn is_link(path: &Path) -> io::Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) => Ok(metadata.is_symlink()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives `to` the bytes of `from`.
pub(super) fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    // A second name of a symbolic link would lead elsewhere from another directory.
    let target = if is_link(from)? { Some(std::fs::canonicalize(from)?) } else { None };
    match std::fs::hard_link(target.as_deref().unwrap_or(from), to) {
        Err(error) if is(&error, &CANNOT_LINK) => copy_to_new(from, to),
        result => result,
    }
}

/// A copy may succeed where a link failed for one of these.
const CANNOT_LINK: [u32; 5] = [
    ERROR_NOT_SAME_DEVICE,
    ERROR_INVALID_FUNCTION,
    ERROR_NOT_SUPPORTED,
    ERROR_CALL_NOT_IMPLEMENTED,
    ERROR_TOO_MANY_LINKS,
];

fn copy_to_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = open::to_read(from)?;
    let mut target = open::open(OpenOptions::new().write(true).create_new(true), to)?;
    let copied = io::copy(&mut source, &mut target).and_then(|_| sync_file(&target, false));
    if copied.is_err() {
        // Half a copy is useless. The failure above is the one to report.
        drop(target);
        let _ = remove(to);
    }
    copied
}
