//! `terrace checkpoint`: a copy by hard links.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use terrace_engine::ErrorKind;

use super::Failure;
use crate::database::{Directory, WriteArguments};
use crate::failure::{Answer, Problem};
use crate::progress::{Progress, Unit};

const EXAMPLES: &str = r#"Examples:
  terrace checkpoint fruit fruit-today

The database must not be in use. `terrace copy` works while the program that uses it is running."#;

/// Copy a database by hard links: fast, and without using space while neither copy changes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Checkpoint {
    #[command(flatten)]
    directory: Directory,
    /// Directory of the copy; it must be empty or not exist.
    #[arg(value_name = "TARGET", value_hint = ValueHint::DirPath)]
    target: PathBuf,
}

impl Checkpoint {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let db = WriteArguments::default().open(&self.directory.db)?;
        let progress = Progress::new("linking", Unit::Time, None);
        db.checkpoint(&self.target).map_err(|error| match error.kind() {
            ErrorKind::InvalidArgument => Problem::database(
                error.to_string(),
                "Choose a directory that is empty or does not exist yet.",
            ),
            _ => error.into(),
        })?;
        drop(progress);
        db.close()?;
        writeln!(out, "checkpoint in {}", self.target.display())?;
        Ok(Answer::Yes)
    }
}
