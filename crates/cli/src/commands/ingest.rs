//! `terrace ingest`: adds finished tables.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Failure;
use crate::database::{CreateArguments, Directory};
use crate::failure::Answer;
use crate::progress::{Progress, Unit};
use crate::text::plural;

const EXAMPLES: &str = r#"Examples:
  terrace ingest fruit a.ldb b.ldb                 tables as Terrace's table writer makes them
  terrace ingest fruit lost/000005.ldb --create"#;

/// Add finished tables as one change; their entries are newer than everything in the database.
///
/// The tables' keys must not overlap. The files are copied and stay as they are.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Ingest {
    #[command(flatten)]
    directory: Directory,
    /// The tables.
    #[arg(value_name = "TABLE", required = true, value_hint = ValueHint::FilePath)]
    tables: Vec<PathBuf>,
    #[command(flatten)]
    create: CreateArguments,
}

impl Ingest {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let db = self.create.open(&self.directory.db)?;
        let progress = Progress::new("ingesting", Unit::Time, None);
        db.ingest(&self.tables)?;
        drop(progress);
        db.close()?;
        writeln!(out, "{} ingested", plural(self.tables.len() as u64, "table"))?;
        Ok(Answer::Yes)
    }
}
