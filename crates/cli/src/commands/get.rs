//! `terrace get`: the values of keys.

use std::io::Write;

use clap::Args;
use terrace_engine::{Db, ReadOptions};

use super::Failure;
use crate::database::{Directory, left_out_in_line};
use crate::failure::{Answer, Problem};
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace get fruit apple                          the value, as escaped text
  terrace get fruit apple lemon                    several: key, tab, value
  terrace get fruit apple --raw > apple.bin        the unmodified bytes
  terrace get fruit '\x00\x01' || echo not there   exit code 1 if a key is missing
  terrace get fruit 0001 --key-format hex --json"#;

/// Print the values of keys.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Get {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    what: What,
}

/// The arguments of a lookup.
#[derive(Args)]
pub(crate) struct What {
    /// The keys.
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,
    /// Print the bytes of the value unchanged, without a line end.
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    /// Print one JSON object per line: {"key":…,"value":…}.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    formats: FormatArguments,
}

impl Get {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        self.what.run(&self.directory.read()?, out)
    }
}

impl What {
    /// Answers from `db`; `No` if a key is missing.
    pub(crate) fn run(&self, db: &Db, out: &mut dyn Write) -> Result<Answer, Failure> {
        let formats = self.formats;
        let mut answer = Answer::Yes;
        let left_out = left_out_in_line(db);
        for text in &self.keys {
            let key = formats.key_format.parse(text).map_err(Problem::usage)?;
            let written = db.get_with(&key, &ReadOptions::default(), |value| {
                if self.raw {
                    return out.write_all(value);
                }
                if self.json {
                    out.write_all(b"{")?;
                    formats.write_json_key(out, &key)?;
                    out.write_all(b",\"value\":")?;
                    formats.write_json_value(out, &key, value)?;
                    return writeln!(out, "{left_out}}}");
                }
                if self.keys.len() > 1 {
                    formats.write_key(out, &key)?;
                    out.write_all(b"\t")?;
                }
                formats.write_value(out, &key, value)?;
                out.write_all(b"\n")
            })?;
            match written {
                Some(written) => written?,
                None => answer = Answer::No,
            }
        }
        Ok(answer)
    }
}
