//! The lock on a database's LOCK file, which LevelDB and Terrace both respect.
//!
//! LevelDB takes a classic record lock (`fcntl`, `F_SETLK`) on the whole file. Such a lock belongs to the process: a
//! second one by the same process is granted, and closing *any* descriptor of the file drops it. Terrace takes an
//! open file description lock (`F_OFD_SETLK`) instead, which belongs to the open file and conflicts with classic
//! locks in both directions. (`flock`, and therefore `File::lock`, is a different kind that LevelDB does not see.)
//! macOS has such locks as well: since 10.11, by the names of Linux and other numbers. Where the system has none, a
//! classic lock together with the table below does the same, except against another library in our own process.
//!
//! Rules:
//!
//! 1. A table of the process, keyed by device and inode, contains every lock that it holds: the same file by another
//!    path is the same lock. The table is consulted *before* the file is opened, because closing a second descriptor
//!    would drop a classic lock.
//! 2. If the holder turns out to be another library in this process (LevelDB), our descriptor of its file stays open,
//!    for the same reason, and serves the next attempt.
//! 3. After locking, the path must still name the locked file; otherwise the file was removed in the meantime, and we
//!    try again with the new one.
//! 4. The file holds the holder's process number as text, for the error message of a rejected opener. It is emptied on
//!    release and never removed. LevelDB ignores the contents.
//!
//! A forked child shares the open file, at least until it calls `exec`. The release therefore unlocks and does not
//! rely on closing the last descriptor: a child being started on another thread would keep the lock for a moment
//! longer, and a database closed and opened again would find itself locked. Only the process that took the lock
//! unlocks it; the child's copy only closes its descriptor. If the process dies without releasing the lock, the lock
//! lasts as long as a child that never called `exec`.
//!
//! One gap cannot be closed: if another library in this process takes a classic lock between our unlock and our
//! close, on another thread, the close drops it. A program that closes one engine before it opens the other is safe.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use rustix::fs::OFlags;

use super::path_at::{PathAt, file_id_of};
use crate::locks::Mutex;
use crate::process_local::ProcessLocal;
use crate::{EnvError, FileId, FileLock, LockError, LockHolder, ProcessMark};

/// How many times to try again if a LOCK file is removed between open and lock.
const ATTEMPTS: usize = 16;

/// `fcntl` commands of one kind of lock.
struct Commands {
    /// Locks or unlocks; never waits.
    set: libc::c_int,
    /// Asks which lock is in the way.
    get: libc::c_int,
}

/// The kinds of lock, best first. Some kernels, emulations and file systems know only the last.
const COMMANDS: &[Commands] = &[
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    Commands { set: libc::F_OFD_SETLK, get: libc::F_OFD_GETLK },
    Commands { set: libc::F_SETLK, get: libc::F_GETLK },
];

/// What this process knows about a LOCK file.
#[derive(Debug)]
enum Known {
    /// This process holds it through a [`PosixLock`].
    Held,
    /// Another library in this process held it at the last attempt. See rule 2.
    Foreign { file: File },
}

/// A forked child holds none of its parent's locks, and has its own table.
static TABLE: ProcessLocal<Mutex<BTreeMap<FileId, Known>>> = ProcessLocal::new();

/// The lock, held until it is dropped.
#[derive(Debug)]
pub(super) struct PosixLock {
    /// `None` only inside `drop`.
    file: Option<File>,
    id: FileId,
    process: ProcessMark,
}

impl FileLock for PosixLock {}

impl PosixLock {
    /// Takes the lock, or says who holds it. Never waits for it.
    pub(super) fn acquire(path_at: &PathAt<'_>) -> Result<Self, LockError> {
        let failed = |source| LockError::Env(EnvError::new("lock", path_at.full_path(), source));
        let open = || path_at.open(OFlags::RDWR | OFlags::CREATE);
        let process = std::process::id();
        let mut table = TABLE.get().lock();
        for _ in 0..ATTEMPTS {
            let file = match path_at.file_id().map_err(failed)? {
                None => open().map_err(failed)?,
                Some(id) => match file_of(&mut table, id, open).map_err(failed)? {
                    Some(file) => file,
                    None => return Err(LockError::Held { holder: Some(process), this_process: true }),
                },
            };
            let id = file_id_of(&rustix::fs::fstat(&file).map_err(|error| failed(error.into()))?);
            if !set_lock(&file).map_err(failed)? {
                let holder = holder_in_the_way(&mut table, id, file, process);
                return Err(LockError::Held { holder, this_process: holder == Some(process) });
            }
            if path_at.file_id().map_err(failed)? == Some(id) {
                write_process(&file, process);
                table.insert(id, Known::Held);
                return Ok(Self { file: Some(file), id, process: ProcessMark::here() });
            }
        }
        // Another program keeps removing the file as fast as it is created.
        Err(LockError::Held { holder: None, this_process: false })
    }
}

impl Drop for PosixLock {
    fn drop(&mut self) {
        if !self.process.is_here() {
            return;
        }
        let mut table = TABLE.get().lock();
        table.remove(&self.id);
        if let Some(file) = self.file.take() {
            // A failure here loses only a message.
            let _ = file.set_len(0);
            // If this fails, the close that follows releases the lock.
            let _ = command(&file, libc::F_UNLCK, |commands| commands.set);
            // Closed before the table is unlocked, so that the close does not drop a classic lock that another thread
            // has just taken through the table.
            drop(file);
        }
    }
}

/// Who holds the lock, without taking it.
pub(super) fn holder(path_at: &PathAt<'_>) -> io::Result<LockHolder> {
    let process = std::process::id();
    let mut table = TABLE.get().lock();
    let Some(id) = path_at.file_id()? else { return Ok(LockHolder::Nobody) };
    // For writing if possible: it may become the file of rule 2, which serves the next attempt.
    let open = || path_at.open(OFlags::RDWR).or_else(|_| path_at.open(OFlags::RDONLY));
    let Some(file) = file_of(&mut table, id, open)? else {
        return Ok(LockHolder::Process(Some(process)));
    };
    let found = command(&file, libc::F_WRLCK, |commands| commands.get)?;
    if found.l_type == libc::F_UNLCK as libc::c_short {
        return Ok(LockHolder::Nobody);
    }
    Ok(LockHolder::Process(holder_in_the_way(&mut table, id, file, process)))
}

/// The LOCK file of this identity to try or ask about: the one of rule 2, or what `open` opens. `None` if this process holds
/// the lock; then nothing is opened (rule 1).
fn file_of(
    table: &mut BTreeMap<FileId, Known>,
    id: FileId,
    open: impl FnOnce() -> io::Result<File>,
) -> io::Result<Option<File>> {
    match table.remove(&id) {
        Some(Known::Held) => {
            table.insert(id, Known::Held);
            Ok(None)
        }
        Some(Known::Foreign { file }) => Ok(Some(file)),
        None => open().map(Some),
    }
}

/// The process whose lock is in the way of `file`, as far as it can be known. If that is this one, the file stays open (rule
/// 2). `process` is our own.
fn holder_in_the_way(
    table: &mut BTreeMap<FileId, Known>,
    id: FileId,
    file: File,
    process: u32,
) -> Option<u32> {
    let holder = holder_of(&file, process);
    if holder == Some(process) {
        table.insert(id, Known::Foreign { file });
    }
    holder
}

/// Tries to lock the whole file; `false` if it is locked already.
fn set_lock(file: &File) -> io::Result<bool> {
    match command(file, libc::F_WRLCK, |commands| commands.set) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The process that holds the lock that was refused, as far as it can be known. `process` is our own.
fn holder_of(file: &File, process: u32) -> Option<u32> {
    let found = command(file, libc::F_WRLCK, |commands| commands.get).ok()?;
    match u32::try_from(found.l_pid) {
        Ok(holder) if holder > 0 => Some(holder),
        // The kernel knows no process for the lock of an open file (-1), nor one of another container (0). The text
        // then names it, unless it is left from a process that died. If it has our own number, that means another
        // process, too: the table contains what this process holds.
        _ => read_process(file).filter(|&holder| holder != process && is_alive(holder)),
    }
}

/// The type of a lock, as libc declares the constants for it (which differs between systems).
#[cfg(any(target_os = "linux", target_os = "android"))]
type LockType = libc::c_int;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
type LockType = libc::c_short;

/// Runs the first `fcntl` command that the system knows, for a lock of `lock_type` on the whole of `file`, and
/// returns the lock as the system left it.
fn command(
    file: &File,
    lock_type: LockType,
    choose: impl Fn(&Commands) -> libc::c_int,
) -> io::Result<libc::flock> {
    let mut result = Err(io::ErrorKind::Unsupported.into());
    for commands in COMMANDS {
        result = fcntl(file, lock_type, choose(commands));
        let is_unknown =
            |error: &io::Error| matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP));
        if !result.as_ref().is_err_and(is_unknown) {
            break;
        }
    }
    result
}

fn fcntl(file: &File, lock_type: LockType, command: libc::c_int) -> io::Result<libc::flock> {
    loop {
        // SAFETY: `flock` is a C structure of integers, for which zero is a value. Start and length 0 mean the whole
        // file; the commands for open files require process 0.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = lock_type as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        // SAFETY: the descriptor is open, since `file` is borrowed; `command` is one that reads and writes a
        // `flock`, and the pointer is to one that lives during the call.
        if unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) } != -1 {
            return Ok(lock);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Writes our process number into the file. It serves only a message, so a full disk is no reason to refuse the lock.
fn write_process(file: &File, process: u32) {
    if file.set_len(0).is_ok() {
        let _ = file.write_all_at(format!("{process}\n").as_bytes(), 0);
    }
}

fn read_process(file: &File) -> Option<u32> {
    let mut text = [0; 16];
    let read_bytes = file.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..read_bytes]).ok()?.strip_suffix('\n')?.parse().ok()
}

fn is_alive(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};

    let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return false };
    !matches!(test_kill_process(process), Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &[u8]) -> Option<u32> {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(text, 0).unwrap();
        read_process(&file)
    }

    #[test]
    fn reads_only_a_whole_process_number() {
        assert_eq!(written(b"123\n"), Some(123));
        for other in [
            &b""[..],
            b"\n",
            b"123",
            b"12x\n",
            b"-5\n",
            b"99999999999\n",
            b"1234567890123456789\n",
            b"\xff\n",
        ] {
            assert_eq!(written(other), None, "{other:?}");
        }
    }

    #[test]
    fn knows_who_is_alive() {
        assert!(is_alive(std::process::id()));
        assert!(is_alive(1), "a process of another user is alive");
        assert!(!is_alive(0), "no process");
        assert!(!is_alive(u32::MAX), "no process");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(child.id()));
    }
}
