//! The results of a command: an exit code, and for failures a message that explains what to do.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use terrace_engine::{Error as EngineError, ErrorKind};
use terrace_format::file_name::{self, FileKind};

use crate::owner;
use crate::text::shell_word;

/// Any failure of a command. [`explain`] finds out what it means to the caller.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How a command that did its work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is done, or the answer is yes.
    Yes,
    /// A key is missing, contents differ, or damage was found.
    No,
}

impl Answer {
    /// The answer to a question.
    pub(crate) fn of(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }

    /// `No` if either is.
    pub(crate) fn and(self, other: Self) -> Self {
        Self::of(self == Self::Yes && other == Self::Yes)
    }
}

/// Exit codes. The numbers are documented in [`EXIT_CODES`] and do not change.
pub(crate) mod code {
    pub(crate) const NO: u8 = 1;
    pub(crate) const USAGE: u8 = 2;
    pub(crate) const DATABASE: u8 = 3;
    pub(crate) const LOCKED: u8 = 4;
    pub(crate) const DAMAGED: u8 = 5;
}

/// The exit codes, for help and manual.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done, or the answer is yes
  1  no: a key is missing, contents differ, damage was found, something was lost
  2  the command line or the input is wrong
  3  there is no database here, or the database or the disk cannot be used
  4  the database is in use by another process
  5  the command encountered damage in the database";

/// Advice about files that are in another format.
const FOREIGN: &str = "Another program, or a newer version of terrace, may be able to read it.";

const GIVE_DIRECTORY: &str = "Give the directory that contains the file CURRENT.";

/// A failure that a command itself detected.
#[derive(Debug)]
pub(crate) struct Problem {
    code: u8,
    message: String,
    advice: Option<String>,
    is_missing: bool,
}

impl Problem {
    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Box::new(Self { code: code::USAGE, message: message.into(), advice: None, is_missing: false })
    }

    /// The database, or a file, is not as it should be.
    pub(crate) fn database(message: impl Into<String>, advice: impl Into<String>) -> Failure {
        Box::new(Self {
            code: code::DATABASE,
            message: message.into(),
            advice: Some(advice.into()),
            is_missing: false,
        })
    }

    /// The file at `path` is in another engine's format: sound, as far as can be known.
    pub(crate) fn foreign(path: &Path, what: impl fmt::Display) -> Failure {
        Self::database(format!("{}: {what}", path.display()), FOREIGN)
    }

    /// The directory does not exist.
    pub(crate) fn missing(message: impl Into<String>, advice: impl Into<String>) -> Failure {
        let (message, advice) = (message.into(), Some(advice.into()));
        Box::new(Self { code: code::DATABASE, message, advice, is_missing: true })
    }

    /// Whether the failure is a missing directory.
    pub(crate) fn is_missing(&self) -> bool {
        self.is_missing
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Whether the reader of the output has closed it, which does not count as a failure.
pub(crate) fn is_closed_pipe(failure: &Failure) -> bool {
    failure.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The exit code of a failure, and the message to print.
pub(crate) fn explain(failure: &Failure) -> (u8, String) {
    let with_advice = |message: &dyn fmt::Display, advice: Option<String>| match advice {
        Some(advice) => format!("{message}\n{advice}"),
        None => message.to_string(),
    };
    if let Some(problem) = failure.downcast_ref::<Problem>() {
        (problem.code, with_advice(problem, problem.advice.clone()))
    } else if let Some(error) = failure.downcast_ref::<EngineError>() {
        let (code, advice) = advise(error);
        (code, with_advice(error, advice))
    } else {
        (code::DATABASE, failure.to_string())
    }
}

/// The exit code of an engine error, and advice for the user.
fn advise(error: &EngineError) -> (u8, Option<String>) {
    let path = error.path();
    let shown = path.map_or_else(|| "DB".into(), shell_word);
    let directory = path.map_or_else(|| "DB".into(), |path| shell_word(directory_of(path)));
    match error.kind() {
        ErrorKind::InvalidArgument => (code::USAGE, None),
        ErrorKind::NoDatabase => {
            (code::DATABASE, Some(path.map_or_else(|| GIVE_DIRECTORY.to_owned(), give_directory)))
        }
        ErrorKind::AlreadyExists => {
            (code::DATABASE, Some("Choose a directory that does not exist yet.".to_owned()))
        }
        ErrorKind::Locked => {
            let owner = path.and_then(|path| owner::of_directory(path).process_of_held());
            let program = owner.map_or(String::new(), |owner| format!(" ({owner})"));
            let advice = format!(
                "Close the program that uses it{program} to change the database. Commands that only read (get, scan, \
                 count, stats, verify, inspect, export, diff, copy) work while it runs."
            );
            (code::LOCKED, Some(advice))
        }
        ErrorKind::Corruption => {
            let look = match path.filter(|path| path.is_file()) {
                Some(_) => format!("`terrace inspect {shown}` shows what is damaged. "),
                None => String::new(),
            };
            let advice = if path.is_some_and(is_alone) {
                format!("{look}It is not a database file, or it is not in the database's directory.")
            } else {
                format!(
                    "{look}`terrace verify {directory}` checks all files; `terrace repair {directory}` keeps what is intact \
                     and sets the rest aside (make a copy of the directory first)."
                )
            };
            (code::DAMAGED, Some(advice))
        }
        ErrorKind::Unsupported => (code::DATABASE, Some(FOREIGN.to_owned())),
        ErrorKind::DiskFull => {
            let advice = "Nothing that was written is lost. Make room on the disk and run the command again.";
            (code::DATABASE, Some(advice.to_owned()))
        }
        ErrorKind::TooManyFiles => {
            let advice =
                "Nothing that was written is lost. Raise the limit (`ulimit -n`) and run the command again.";
            (code::DATABASE, Some(advice.to_owned()))
        }
        ErrorKind::ReadOnly => {
            let advice = match path.filter(|path| is_unreadable(path)) {
                Some(path) => format!(
                    "Run the command as a user who may read it: `ls -l {}` shows who may.",
                    shell_word(directory_of(path))
                ),
                None => "Copy the directory to a place where it can be changed.".to_owned(),
            };
            (code::DATABASE, Some(advice))
        }
        _ => (code::DATABASE, None),
    }
}

/// Whether this process may not read the file or directory.
fn is_unreadable(path: &Path) -> bool {
    let is_denied = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    if path.is_dir() {
        fs::read_dir(path).is_err_and(is_denied)
    } else {
        File::open(path).is_err_and(is_denied)
    }
}

/// What to give instead of `directory`, which holds no database. Names the databases within it.
pub(crate) fn give_directory(directory: &Path) -> String {
    const MAX_NAMED: usize = 3;
    const MAX_EXAMINED: usize = 1000;
    let Ok(entries) = fs::read_dir(directory) else { return GIVE_DIRECTORY.to_owned() };
    let within = entries.take(MAX_EXAMINED).flatten().map(|entry| entry.path());
    let mut found: Vec<_> = within.filter(|path| path.join(file_name::CURRENT).is_file()).collect();
    if found.is_empty() {
        return GIVE_DIRECTORY.to_owned();
    }
    found.sort();
    let others = found.len().saturating_sub(MAX_NAMED);
    let named: Vec<_> = found.iter().take(MAX_NAMED).map(|path| shell_word(path)).collect();
    let others = if others == 0 { String::new() } else { format!(" and {others} others") };
    format!("Give the directory that contains the file CURRENT: {}{others}.", named.join(", "))
}

/// Whether a repair of the file's directory would ignore the file: `/etc/passwd`, or a table in `lost`.
fn is_alone(path: &Path) -> bool {
    let kind = path.file_name().and_then(|name| file_name::parse(name.to_str()?));
    let is_of_database = match kind {
        Some(FileKind::Current) => true,
        Some(_) => directory_of(path).join(file_name::CURRENT).exists(),
        None => false,
    };
    path.is_file() && !is_of_database
}

/// The database's directory for an error's path, which may be that of a file in it.
fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !path.is_dir() && !parent.as_os_str().is_empty() => parent,
        Some(_) if !path.is_dir() => Path::new("."),
        _ => path,
    }
}
