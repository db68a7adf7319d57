//! `terrace scan`: prints entries in the order of their keys.

use std::io::{self, IsTerminal, Write};

use clap::Args;
use terrace_engine::Db;

use super::Failure;
use crate::database::{Directory, left_out_in_line};
use crate::failure::Answer;
use crate::progress::{Progress, Unit};
use crate::range::RangeArguments;
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace scan fruit                                   all entries: key, tab, value
  terrace scan fruit --prefix a --limit 10
  terrace scan fruit --gte a --lt b --keys             keys only
  terrace scan fruit --reverse --limit 1               the last entry
  terrace scan fruit --json | jq -r .value             one object per line
  terrace scan 'Local Storage/leveldb' --key-format localstorage --value-format localstorage
  terrace scan x.indexeddb.leveldb --key-format idb --value-format idb --cut 40"#;

/// Print entries in the order of their keys.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Scan {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    what: What,
}

/// The arguments of a scan.
#[derive(Args)]
pub(crate) struct What {
    #[command(flatten)]
    range: RangeArguments,
    /// Print at most this many entries.
    #[arg(long, short = 'n', value_name = "COUNT")]
    limit: Option<u64>,
    /// Print from the last key to the first.
    #[arg(long, short = 'r')]
    reverse: bool,
    /// Print keys only.
    #[arg(long, visible_alias = "keys-only")]
    keys: bool,
    /// Print values only.
    #[arg(long, visible_alias = "values-only", conflicts_with = "keys")]
    values: bool,
    /// Cut longer keys and values after this many bytes, and print their length.
    #[arg(long, value_name = "BYTES", conflicts_with = "json")]
    cut: Option<usize>,
    /// Print one JSON object per line: {"key":…,"value":…}.
    ///
    /// A decoded key comes with "escaped", the form that other commands accept as KEY.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    formats: FormatArguments,
}

impl Scan {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        self.what.run(&self.directory.read()?, out)
    }
}

impl What {
    /// Prints entries of `db`.
    pub(crate) fn run(&self, db: &Db, out: &mut dyn Write) -> Result<Answer, Failure> {
        const STRIDE: u64 = 1 << 12;
        let selection = self.range.selection(self.formats, &db.options().comparator)?;
        let mut walk = selection.walk(db, self.reverse)?;
        let left_out = left_out_in_line(db);
        let mut left = self.limit.unwrap_or(u64::MAX);
        // A user who sees the entries appear needs no progress bar.
        let progress = (!io::stdout().is_terminal()).then(|| Progress::new("scanning", Unit::Pieces, None));
        while left > 0
            && let Some((key, value)) = walk.next()?
        {
            left -= 1;
            if left.is_multiple_of(STRIDE)
                && let Some(progress) = &progress
            {
                progress.advance(STRIDE);
            }
            if self.json {
                self.print_json(out, key, value, &left_out)
            } else {
                self.print(out, key, value)
            }?;
        }
        Ok(Answer::Yes)
    }

    fn print(&self, out: &mut dyn Write, key: &[u8], value: &[u8]) -> std::io::Result<()> {
        if !self.values {
            match self.cut {
                None => self.formats.write_key(out, key)?,
                Some(most_bytes) => out.write_all(self.formats.key_text(key, most_bytes).as_bytes())?,
            }
        }
        if !self.keys && !self.values {
            out.write_all(b"\t")?;
        }
        if !self.keys {
            match self.cut {
                None => self.formats.write_value(out, key, value)?,
                Some(most_bytes) => {
                    out.write_all(self.formats.value_text(key, value, most_bytes).as_bytes())?
                }
            }
        }
        out.write_all(b"\n")
    }

    fn print_json(
        &self,
        out: &mut dyn Write,
        key: &[u8],
        value: &[u8],
        left_out: &str,
    ) -> std::io::Result<()> {
        out.write_all(b"{")?;
        if !self.values {
            self.formats.write_json_key(out, key)?;
        }
        if !self.keys && !self.values {
            out.write_all(b",")?;
        }
        if !self.keys {
            out.write_all(b"\"value\":")?;
            self.formats.write_json_value(out, key, value)?;
        }
        writeln!(out, "{left_out}}}")
    }
}
