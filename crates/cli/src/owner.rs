//! Finds out who holds a database's lock without touching the file: from the system's table of locks, and from the
//! process number that Terrace writes into LOCK. If the system has no such table (only Linux has it), nobody is
//! found.

use std::fmt;
use std::fs;
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

/// Who holds the lock of the database in `directory`; `None` if nobody does, or if it is unknown.
pub(crate) fn of_directory(directory: &Path) -> Option<Owner> {
    of_lock_file(&directory.join(file_name::LOCK))
}

/// Who holds a lock on this LOCK file.
pub(crate) fn of_lock_file(lock: &Path) -> Option<Owner> {
    let FileId { device, inode } = default_env().file_id(lock).ok()??;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let listed = locks.lines().find_map(|line| holder(line, device, inode))?;
    // The table has no process for a lock of an open file; Terrace, which takes such locks, writes its number.
    let written = || fs::read_to_string(lock).ok()?.trim().parse().ok();
    let process = listed.or_else(written);
    let program = process
        .and_then(|process| fs::read_to_string(format!("/proc/{process}/comm")).ok())
        .map(|name| name.trim_end().to_owned());
    Some(Owner { process, program })
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
