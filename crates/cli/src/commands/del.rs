//! `terrace del`: removes keys, or all keys of a range.

use std::io::Write;

use clap::Args;
use terrace_engine::{Db, WriteBatch, WriteOptions};

use super::Failure;
use crate::database::{Directory, WriteArguments};
use crate::failure::{Answer, Problem};
use crate::interchange::BatchWriter;
use crate::progress::{Progress, Unit};
use crate::range::RangeArguments;
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace del fruit apple
  terrace del fruit apple lemon plum               all of them or none
  terrace del fruit --prefix 'tmp/'                every key of a range; prints their number
  terrace del fruit --gte a --lt b"#;

/// Remove keys, or all keys of a range.
///
/// Missing keys are not an error. Given keys are removed together or not at all, a range in batches.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Del {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    write: WriteArguments,
}

/// The arguments of a removal.
#[derive(Args)]
pub(crate) struct What {
    /// The keys.
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    #[command(flatten)]
    range: RangeArguments,
    #[command(flatten)]
    formats: FormatArguments,
}

impl Del {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        self.what.check()?;
        let db = self.write.open(&self.directory.db)?;
        let answer = self.what.run(&db, out)?;
        db.close()?;
        Ok(answer)
    }
}

impl What {
    fn check(&self) -> Result<(), Failure> {
        match (self.keys.is_empty(), self.range.is_all()) {
            (true, true) => Err(Problem::usage(
                "give keys, or a range such as --prefix; `--prefix ''` removes everything",
            )),
            (false, false) => Err(Problem::usage("give keys or a range, not both")),
            _ => Ok(()),
        }
    }

    /// Removes the keys from `db`.
    pub(crate) fn run(&self, db: &Db, out: &mut dyn Write) -> Result<Answer, Failure> {
        self.check()?;
        if !self.keys.is_empty() {
            let mut batch = WriteBatch::new();
            for text in &self.keys {
                let key = self.formats.key_format.parse(text).map_err(Problem::usage)?;
                batch.delete(&key).map_err(|error| Problem::usage(error.to_string()))?;
            }
            db.write(batch, &WriteOptions { sync: true })?;
            return Ok(Answer::Yes);
        }
        let selection = self.range.selection(self.formats, &db.options().comparator)?;
        let mut walk = selection.walk(db, false)?;
        let progress = Progress::new("removing", Unit::Pieces, None);
        let mut writer = BatchWriter::new(db, &progress);
        while let Some((key, _)) = walk.next()? {
            writer.delete(key)?;
        }
        let removed = writer.finish()?;
        drop(progress);
        writeln!(out, "{removed} removed")?;
        Ok(Answer::Yes)
    }
}
