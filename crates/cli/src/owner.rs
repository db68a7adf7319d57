//! Finds out who holds a database's lock without touching the file: from the system's table of locks, and from the
//! process number that Terrace writes into LOCK. Only Linux has such a table. On Windows there is the number alone, which a
//! process that crashed has left there. On other systems the file is not even read: closing it would release the lock, if this
//! process holds it.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use terrace_engine::env::{FileId, default_env};
use terrace_format::file_name;

/// A process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Its number, if it is known.
    pub(crate) process: Option<u32>,
    /// The name of its program, if it is known.
    pub(crate) program: Option<String>,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.process, &self.program) {
            (Some(process), Some(program)) => write!(f, "process {process}, {program}"),
            (Some(process), None) => write!(f, "process {process}"),
            (None, _) => f.write_str("a process with unknown number"),
        }
    }
}

/// What is known of who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// Nobody does.
    Nobody,
    /// This process does.
    Process(Owner),
    /// The system does not tell. The last process that said so in the file, if any, has it or has crashed.
    Unknown(Option<u32>),
}

impl Holder {
    /// The process, where it is certain that one holds the lock.
    pub(crate) fn process_of_held(self) -> Option<Owner> {
        match self {
            Self::Nobody => None,
            Self::Process(owner) => Some(owner),
            Self::Unknown(process) => process.map(|_| Owner { process, program: None }),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("nobody"),
            Self::Process(owner) => owner.fmt(f),
            Self::Unknown(Some(process)) => write!(f, "process {process}, unless it has crashed"),
            Self::Unknown(None) => f.write_str("nobody known; this system does not tell"),
        }
    }
}

/// Who holds the lock of the database in `directory`.
pub(crate) fn of_directory(directory: &Path) -> Holder {
    of_lock_file(&directory.join(file_name::LOCK))
}

/// Who holds a lock on this LOCK file.
pub(crate) fn of_lock_file(lock: &Path) -> Holder {
    let Some(locks) = table_of_locks() else {
        return if cfg!(windows) { noted_in(lock) } else { Holder::Unknown(None) };
    };
    let Ok(Some(FileId { device, inode })) = default_env().file_id(lock) else {
        return Holder::Nobody;
    };
    let Some(listed) = locks.lines().find_map(|line| holder(line, device, inode)) else {
        return Holder::Nobody;
    };
    // The table has no process for a lock of an open file; Terrace, which takes such locks, writes its number.
    let process = listed.or_else(|| number_in(&fs::read_to_string(lock).ok()?));
    let program = process
        .and_then(|process| fs::read_to_string(format!("/proc/{process}/comm")).ok())
        .map(|name| name.trim_end().to_owned());
    Holder::Process(Owner { process, program })
}

fn table_of_locks() -> Option<String> {
    // A path of Linux may exist elsewhere, and be something else.
    if cfg!(target_os = "linux") { fs::read_to_string("/proc/locks").ok() } else { None }
}

/// What the file itself says, where reading it does no harm to its lock.
fn noted_in(lock: &Path) -> Holder {
    match fs::read_to_string(lock) {
        Ok(contents) => Holder::Unknown(number_in(&contents)),
        Err(error) if is_kept_from_readers(&error) => Holder::Process(Owner { process: None, program: None }),
        Err(_) => Holder::Unknown(None),
    }
}

/// The process number that Terrace has written into LOCK.
fn number_in(contents: &str) -> Option<u32> {
    contents.trim().parse().ok()
}

/// Whether reading the file failed because of its lock: on Windows, LevelDB shares LOCK or its bytes with nobody.
fn is_kept_from_readers(error: &io::Error) -> bool {
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    matches!(error.raw_os_error(), Some(SHARING_VIOLATION | LOCK_VIOLATION))
}

/// The process of a lock in the table, if it has one; `None` if `line` is not a lock of this file.
fn holder(line: &str, device: u64, inode: u64) -> Option<Option<u32>> {
    // 1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 0 EOF
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, kind, _, _, process, file, ..] = words[..] else { return None };
    let mut numbers = file.split(':');
    let major = u64::from_str_radix(numbers.next()?, 16).ok()?;
    let minor = u64::from_str_radix(numbers.next()?, 16).ok()?;
    let is_same = numbers.next()?.parse() == Ok(inode) && (major, minor) == parts(device);
    // Locks by `flock` are not database locks.
    (is_same && matches!(kind, "POSIX" | "OFDLCK")).then(|| process.parse().ok())
}

/// Major and minor number of a device, as Linux packs them.
fn parts(device: u64) -> (u64, u64) {
    (device >> 8 & 0xfff | device >> 32 & !0xfff, device & 0xff | device >> 12 & 0xffff_ff00)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_table() {
        let device = 0xfe << 8 | 1;
        let of = |line| holder(line, device, 5678);
        assert_eq!(of("1: POSIX  ADVISORY  WRITE 1234 fe:01:5678 0 EOF"), Some(Some(1234)));
        assert_eq!(of("2: OFDLCK ADVISORY  WRITE -1 fe:01:5678 0 EOF"), Some(None));
        assert_eq!(of("3: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF"), None);
        assert_eq!(of("3: POSIX  ADVISORY  WRITE 1234 fe:01:5679 0 EOF"), None);
        assert_eq!(of("3: POSIX  ADVISORY  WRITE 1234 fe:02:5678 0 EOF"), None);
        assert_eq!(of("3: -> POSIX ADVISORY WRITE 1234 fe:01:5678 0 EOF"), None);
        assert_eq!(of("nonsense"), None);
    }
}
