//! `terrace compact`: gives space back.

use std::io::Write;
use std::ops::Bound;

use clap::Args;

use super::Failure;
use super::stats::table_bytes;
use crate::database::{Directory, WriteArguments};
use crate::failure::{Answer, Problem};
use crate::progress::{Progress, Unit};
use crate::range::RangeArguments;
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace compact fruit
  terrace compact fruit --gte a --lte b            one range
  terrace compact fruit --compression zstd         rewrites what it touches, smaller"#;

/// Drop deleted and overwritten entries, and give their space back.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Compact {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    range: RangeArguments,
    #[command(flatten)]
    formats: FormatArguments,
    #[command(flatten)]
    write: WriteArguments,
}

impl Compact {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let db = self.write.open(&self.directory.db)?;
        let selection = self.range.selection(self.formats, &db.options().comparator)?;
        if selection.prefix.is_some() {
            let message = "a prefix is not a range in this database's key order; use --gte and --lte";
            return Err(Problem::usage(message));
        }
        // A range that is slightly too wide does no harm.
        let end_of = |bound: &Bound<Vec<u8>>| match bound {
            Bound::Unbounded => None,
            Bound::Included(key) | Bound::Excluded(key) => Some(key.clone()),
        };
        let (begin, end) = (end_of(&selection.bounds.lower), end_of(&selection.bounds.upper));
        let before = table_bytes(&db)?;
        let progress = Progress::new("compacting", Unit::Time, None);
        db.flush()?;
        db.compact_range(begin.as_deref(), end.as_deref())?;
        drop(progress);
        let after = table_bytes(&db)?;
        db.close()?;
        writeln!(out, "the tables had {before} bytes and now have {after}")?;
        Ok(Answer::Yes)
    }
}
