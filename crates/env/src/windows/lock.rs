//! The lock on a database's LOCK file, which LevelDB and Terrace both respect: whoever has the file open for writing
//! shares it with readers at most (`CreateFile`), so nobody else can open it for writing.
//!
//! LevelDB opens the file for reading and writing, shared with readers, and locks its bytes (`LockFile`) besides; the
//! LevelDB in classic-level shares it with nobody. Both exclude this lock, and it excludes them.
//!
//! The file holds the holder's process number as text, for the error message of those who are refused. It is emptied on
//! release and never removed. LevelDB ignores the contents.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::FILE_SHARE_READ;

use super::{open, raw_file};
use crate::locks::Mutex;
use crate::{EnvError, FileId, FileLock, LockError};

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
    let id = open::to_look_at(path).and_then(|file| open::file_id_of(&file));
    if id.is_ok_and(|id| held.contains(&id)) {
        return LockError::Held { holder: Some(std::process::id()), this_process: true };
    }
    LockError::Held { holder: holder_of(path), this_process: false }
}

/// The process that the file names.
fn holder_of(path: &Path) -> Option<u32> {
    let file = OpenOptions::new().read(true).share_mode(open::SHARE_ALL).open(path).ok()?;
    let mut text = [0; 16];
    let read_bytes = raw_file::read_at(&file, 0, &mut text).ok()?;
    std::str::from_utf8(&text[..read_bytes]).ok()?.strip_suffix('\n')?.parse().ok()
}
