//! Who holds a database's lock, with the name of its program.

use std::fmt;
use std::fs;
use std::path::Path;

use terrace_engine::env::{LockHolder, default_env};
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

/// What is known of the holder of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The lock is free.
    Nobody,
    /// This process does.
    Process(Owner),
    /// The system does not tell. The last process that said so in the file, if any is alive.
    Unknown(Option<u32>),
}

impl Holder {
    /// The process, if there is one that holds the lock or may do so.
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
            Self::Nobody => f.write_str("no process"),
            Self::Process(owner) => owner.fmt(f),
            Self::Unknown(Some(process)) => write!(f, "process {process}, unless it has crashed"),
            Self::Unknown(None) => f.write_str("unknown: this system does not report it"),
        }
    }
}

/// Who holds the lock of the database in `directory`.
pub(crate) fn of_directory(directory: &Path) -> Holder {
    of_lock_file(&directory.join(file_name::LOCK))
}

/// Who holds a lock on this LOCK file.
pub(crate) fn of_lock_file(lock: &Path) -> Holder {
    match default_env().lock_holder(lock).unwrap_or(LockHolder::Unknown(None)) {
        LockHolder::Nobody => Holder::Nobody,
        LockHolder::Process(process) => {
            Holder::Process(Owner { process, program: process.and_then(program_of) })
        }
        LockHolder::Unknown(process) => Holder::Unknown(process),
    }
}

fn program_of(process: u32) -> Option<String> {
    // The path may exist elsewhere, and be something else.
    if !cfg!(target_os = "linux") {
        return None;
    }
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}
