//! `terrace destroy`: removes a database from disk.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use clap::Args;
use terrace_engine::{Db, Options};

use super::Failure;
use super::inspect::files_of;
use crate::database::{Directory, check_is_directory};
use crate::failure::{Answer, Problem};

const EXAMPLES: &str = r#"Examples:
  terrace destroy fruit                            asks first
  terrace destroy fruit --yes"#;

/// Remove a database from disk; other files in its directory stay.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Destroy {
    #[command(flatten)]
    directory: Directory,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
}

impl Destroy {
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        let directory = &self.directory.db;
        check_is_directory(directory)?;
        if files_of(directory)?.is_empty() {
            return Err(no_database(directory));
        }
        if !self.yes && !is_confirmed(&format!("Remove the database in {}?", directory.display()))? {
            return Ok(Answer::No);
        }
        if Db::destroy(directory, &Options::default())? {
            Ok(Answer::Yes)
        } else {
            Err(no_database(directory))
        }
    }
}

fn no_database(directory: &Path) -> Failure {
    let message = format!("there is no database in {}", directory.display());
    Problem::database(message, "Give the directory that contains the file CURRENT.")
}

/// Asks a question; only the answer `yes` confirms it.
fn is_confirmed(question: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Problem::usage(
            "cannot ask for confirmation, because standard input is not a terminal; use --yes",
        ));
    }
    let mut err = io::stderr();
    write!(err, "{question} Type yes: ")?;
    err.flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line.trim() == "yes")
}
