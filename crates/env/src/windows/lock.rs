//! The lock on a database's LOCK file, which LevelDB and Terrace both respect. The process that has the file open for
//! writing shares it with readers at most (`CreateFile`), so no other can open it for writing.
//!
//! LevelDB opens the file for reading and writing, shared with readers, and locks its bytes (`LockFile`) as well. The
//! LevelDB in classic-level does not share the file at all. Both exclude this lock, and it excludes them.
//!
//! The file holds the holder's process number as text, for the error message of a rejected opener. It is emptied on
//! release and never removed. LevelDB ignores the contents.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use windows_sys::Win32::Foundation::{CloseHandle, ERROR_INVALID_PARAMETER, STILL_ACTIVE};
use windows_sys::Win32::Storage::FileSystem::FILE_SHARE_READ;
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
};

use super::{open, raw_file};
use crate::locks::Mutex;
use crate::{EnvError, FileId, FileLock, LockError, LockHolder};

/// The files that this process has locked.
static HELD: Mutex<BTreeSet<FileId>> = Mutex::new(BTreeSet::new());

/// The lock, held until it is dropped.
#[derive(Debug)]
pub(super) struct WindowsLock {
    /// `None` only inside `drop`.
    file: Option<File>,
    id: FileId,
}

impl FileLock for WindowsLock {}

impl WindowsLock {
    /// Takes the lock of the file at `path`, or says who holds it. Never waits for it. Errors name `given`.
    pub(super) fn acquire(path: &Path, given: &Path) -> Result<Self, LockError> {
        let failed = |source| LockError::Env(EnvError::new("lock", given, source));
        let mut held = HELD.lock();
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .share_mode(FILE_SHARE_READ)
            .open(path);
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if open::is_in_use(&error) => return Err(held_by(path, &held)),
            Err(error) => return Err(failed(open::or_directory(error, path))),
        };
        let id = open::file_id_of(&file).map_err(failed)?;
        // It serves only a message, so a full disk is no reason to refuse the lock.
        if file.set_len(0).is_ok() {
            let _ = writeln!(file, "{}", std::process::id());
        }
        held.insert(id);
        Ok(Self { file: Some(file), id })
    }
}

impl Drop for WindowsLock {
    fn drop(&mut self) {
        let mut held = HELD.lock();
        if let Some(file) = self.file.take() {
            // A failure here loses only a message.
            let _ = file.set_len(0);
        }
        held.remove(&self.id);
    }
}

/// Says who holds the lock, as far as it can be known.
fn held_by(path: &Path, held: &BTreeSet<FileId>) -> LockError {
    if open::file_id(path).is_ok_and(|id| held.contains(&id)) {
        return LockError::Held { holder: Some(std::process::id()), this_process: true };
    }
    LockError::Held { holder: named_in(path).ok().flatten(), this_process: false }
}

/// Who holds the lock, as far as the file tells: whether it is open for writing can only be found out by opening it so,
/// which would keep others out.
pub(super) fn holder(path: &Path) -> io::Result<LockHolder> {
    match (open::file_id(path), named_in(path)) {
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Ok(LockHolder::Nobody),
        (Ok(id), _) if HELD.lock().contains(&id) => Ok(LockHolder::Process(Some(std::process::id()))),
        (_, Ok(named)) => Ok(LockHolder::Unknown(named)),
        // The LevelDB in classic-level does not share the file, and LevelDB locks its bytes.
        (_, Err(error)) if open::is_in_use(&error) => Ok(LockHolder::Process(None)),
        (_, Err(error)) => Err(error),
    }
}

/// The process that the file names, if that is alive.
fn named_in(path: &Path) -> io::Result<Option<u32>> {
    let file = OpenOptions::new().read(true).share_mode(open::SHARE_ALL).open(path)?;
    let mut text = [0; 16];
    let read_bytes = raw_file::read_at(&file, 0, &mut text)?;
    let text = std::str::from_utf8(&text[..read_bytes]).ok();
    let process = text.and_then(|text| text.strip_suffix('\n')?.parse().ok());
    Ok(process.filter(|&process| is_alive(process)))
}

fn is_alive(process: u32) -> bool {
    // SAFETY: the call takes numbers alone.
    let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, process) };
    if handle.is_null() {
        // That of another user may be refused.
        return !open::is(&io::Error::last_os_error(), &[ERROR_INVALID_PARAMETER]);
    }
    let mut exit_code = 0;
    // SAFETY: the handle was opened above, is closed nowhere else, and is not used afterwards; the number lives during the call.
    let known = unsafe {
        let known = GetExitCodeProcess(handle, &raw mut exit_code);
        CloseHandle(handle);
        known
    };
    known == 0 || exit_code == STILL_ACTIVE as u32
}
