//! `terrace ingest`: adds finished tables.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use terrace_engine::{ErrorKind, TableFileOptions, TableFileReader, UserComparator};
use terrace_format::comparator::name_text;

use super::Failure;
use crate::database::{CreateArguments, Directory};
use crate::failure::{Answer, Problem};
use crate::order;
use crate::progress::{Progress, Unit};
use crate::text::plural;

const EXAMPLES: &str = r#"Examples:
  terrace ingest fruit a.ldb b.ldb                 tables as Terrace's table writer makes them
  terrace ingest fruit lost/000005.ldb --create"#;

/// Add finished tables as one change; their entries are newer than everything in the database.
///
/// The tables' keys must not overlap. The files are copied, and the originals stay unmodified.
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
        let comparator = self.create.order(&self.directory.db)?;
        for table in &self.tables {
            // Before a database is created in the wrong order.
            let beside = order::name(table.parent().unwrap_or(Path::new("")));
            if let Some(name) = beside.filter(|name| name != comparator.name()) {
                return Err(self.other_order(table, &name_text(&name), &comparator));
            }
        }
        let db = self.create.open(&self.directory.db)?;
        let progress = Progress::new("ingesting", Unit::Time, None);
        db.ingest(&self.tables).map_err(|error| match error.path().and_then(sound_in) {
            Some(other) if error.kind() == ErrorKind::Corruption => {
                self.other_order(error.path().unwrap_or(&self.directory.db), &other.name_text(), &comparator)
            }
            _ => error.into(),
        })?;
        drop(progress);
        db.close()?;
        writeln!(out, "{} ingested", plural(self.tables.len() as u64, "table"))?;
        Ok(Answer::Yes)
    }

    fn other_order(&self, table: &Path, order: &str, ours: &UserComparator) -> Failure {
        let (table, db) = (table.display(), self.directory.db.display());
        let message = format!(
            "the keys of {table} are in the order {order}, and those of {db} in {}",
            ours.name_text()
        );
        let advice = format!(
            "Ingest it into a database in its order, or create one with --create --comparator {order}."
        );
        Problem::database(message, advice)
    }
}

/// A known order in which the table at `path` is sound.
fn sound_in(path: &Path) -> Option<UserComparator> {
    order::KNOWN.into_iter().filter_map(UserComparator::by_name).find(|comparator| {
        let options = TableFileOptions { comparator: comparator.clone(), ..TableFileOptions::default() };
        TableFileReader::open(path, options).is_ok_and(|table| table.verify().is_ok())
    })
}
