//! Failures as the program sees them: LevelDB's five kinds, by the words that a message begins with.
//!
//! Predecessor: the engine's errors, and what is wrong with the arguments. Successor: the string in `*errptr`.
//!
//! Bindings tell kinds apart by these words, and some know a few messages by heart; those are kept to the letter.

use std::ffi::c_char;
use std::path::Path;

use terrace_engine::{Error, ErrorKind};

use crate::barrier::ErrorPlace;
use crate::memory::{copy_text, free};

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// What goes into `*errptr`.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    message: String,
}

impl Failure {
    /// The program called wrongly.
    pub(crate) fn argument(problem: impl std::fmt::Display) -> Self {
        Self { message: format!("Invalid argument: {problem}") }
    }

    /// The system, or the state that the database is in, refuses.
    pub(crate) fn io(problem: impl std::fmt::Display) -> Self {
        Self { message: format!("IO error: {problem}") }
    }

    /// What the engine said of the database at `path` when it should be opened, destroyed or repaired.
    pub(crate) fn of_directory(path: &Path, error: Error) -> Self {
        let path = path.display();
        match error.kind() {
            ErrorKind::NoDatabase => {
                Self::argument(format_args!("{path}: does not exist (create_if_missing is false)"))
            }
            ErrorKind::AlreadyExists => {
                Self::argument(format_args!("{path}: exists (error_if_exists is true)"))
            }
            ErrorKind::Locked => {
                Self::io(format_args!("lock {path}/LOCK: already held by process ({error})"))
            }
            _ => error.into(),
        }
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Corruption => "Corruption",
            ErrorKind::Unsupported => "Not implemented",
            ErrorKind::InvalidArgument | ErrorKind::NoDatabase | ErrorKind::AlreadyExists => {
                "Invalid argument"
            }
            // The kinds may become more; whatever stops an operation is of this one.
            _ => "IO error",
        };
        Self { message: format!("{kind}: {error}") }
    }
}

/// Puts the message into `place`, and frees the one that is there.
#[cold]
pub(crate) fn report(place: ErrorPlace<'_>, failure: &Failure) {
    if let Some(place) = place {
        let old: *mut c_char = std::mem::replace(place, copy_text(&failure.message));
        // SAFETY: by the header's rule, what is there is NULL or came from malloc.
        unsafe { free(old.cast()) };
    }
}

/// What an argument points to.
///
/// # Errors
/// `Invalid argument`, naming it, if it is NULL.
#[inline]
pub(crate) fn given<T>(name: &str, argument: Option<T>) -> Result<T> {
    argument.ok_or_else(|| is_null(name))
}

#[cold]
fn is_null(name: &str) -> Failure {
    Failure::argument(format_args!("{name} is NULL"))
}
