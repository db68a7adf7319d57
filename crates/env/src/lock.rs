//! The lock that decides who may write to a database's directory: one lock on its LOCK file.

use std::fmt;

use crate::EnvError;

/// A lock that is held. It is released when this value is dropped or the process dies; the file remains.
pub trait FileLock: Send + Sync + fmt::Debug {}

/// What an environment knows of who holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockHolder {
    /// The lock is free.
    Nobody,
    /// A process does; its number, if that is known.
    Process(Option<u32>),
    /// The system does not tell. The process that said last in the file that it holds the lock, if that is alive.
    Unknown(Option<u32>),
}

/// Why a lock was not granted.
#[derive(Debug)]
pub enum LockError {
    /// The lock is held, by this process or another one.
    Held {
        /// The process that holds it, if the environment knows.
        holder: Option<u32>,
        /// Whether the holder is this process itself.
        this_process: bool,
    },
    /// The file could not be opened or locked for another reason.
    Env(EnvError),
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { this_process: true, .. } => f.write_str("this process already holds the lock"),
            Self::Held { holder: Some(process), .. } => write!(f, "process {process} holds the lock"),
            Self::Held { holder: None, .. } => f.write_str("another process holds the lock"),
            Self::Env(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LockError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Held { .. } => None,
            Self::Env(error) => Some(&error.source),
        }
    }
}

impl From<EnvError> for LockError {
    fn from(error: EnvError) -> Self {
        Self::Env(error)
    }
}
