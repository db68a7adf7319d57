//! Failures as the program sees them: LevelDB's five kinds, told apart by the words with which a message begins.
//!
//! Bindings tell kinds apart by these words, and some know a few messages by heart; those are kept to the letter.

use std::path::Path;

use terrace_engine::{Error, ErrorKind};

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// The message for `*errptr`.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    message: String,
}

impl Failure {
    /// The program made a wrong call.
    pub(crate) fn argument(problem: impl std::fmt::Display) -> Self {
        Self { message: format!("Invalid argument: {problem}") }
    }

    /// The system, or the state of the database, refuses.
    pub(crate) fn io(problem: impl std::fmt::Display) -> Self {
        Self { message: format!("IO error: {problem}") }
    }

    /// The engine's error when the database at `path` was to be opened, destroyed or repaired.
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

    pub(crate) fn message(&self) -> &str {
        &self.message
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
            // Kinds may be added; any other failure of an operation is of this one.
            _ => "IO error",
        };
        Self { message: format!("{kind}: {error}") }
    }
}

/// The object that an argument points to.
///
/// # Errors
///
/// `Invalid argument`, naming the argument, if it is NULL.
#[inline]
pub(crate) fn given<T>(name: &str, argument: Option<T>) -> Result<T> {
    argument.ok_or_else(|| is_null(name))
}

#[cold]
fn is_null(name: &str) -> Failure {
    Failure::argument(format_args!("{name} is NULL"))
}
