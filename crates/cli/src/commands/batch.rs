//! `terrace batch`: many operations, all or none.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use terrace_engine::{WriteBatch, WriteOptions};

use super::Failure;
use crate::database::{CreateArguments, Directory};
use crate::failure::{Answer, Problem};
use crate::interchange::Operation;
use crate::interchange::json_lines::parse_line;
use crate::text::{FormatArguments, plural};

const EXAMPLES: &str = r#"Examples:
  printf 'put\tapple\tred\ndel\tlemon\n' | terrace batch fruit
  terrace batch fruit changes.txt
  echo '{"type":"put","key":"plum","value":"blue"}' | terrace batch fruit

Each line is `put`, a key and a value, or `del` and a key, separated by tabs; or it is a JSON object."#;

/// Write many operations as one: all of them or none.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Batch {
    #[command(flatten)]
    directory: Directory,
    /// File with the operations; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    create: CreateArguments,
    #[command(flatten)]
    formats: FormatArguments,
}

impl Batch {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        // Everything is read before the database is opened, so a wrong line changes nothing.
        let batch = if self.file == Path::new("-") {
            self.read(&mut io::stdin().lock())?
        } else {
            let named = |error| Problem::usage(format!("{}: {error}", self.file.display()));
            self.read(&mut BufReader::new(File::open(&self.file).map_err(named)?))?
        };
        let operations = batch.count();
        let db = self.create.open(&self.directory.db)?;
        db.write(batch, &WriteOptions { sync: true })?;
        db.close()?;
        writeln!(out, "{} written", plural(operations.into(), "operation"))?;
        Ok(Answer::Yes)
    }

    fn read(&self, source: &mut dyn BufRead) -> Result<WriteBatch, Failure> {
        let mut batch = WriteBatch::new();
        let mut line = Vec::new();
        let mut number = 0;
        loop {
            line.clear();
            if source.read_until(b'\n', &mut line)? == 0 {
                return Ok(batch);
            }
            number += 1;
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            if text.trim_ascii().is_empty() {
                continue;
            }
            self.add(&mut batch, text)
                .map_err(|problem| Problem::usage(format!("line {number}: {problem}")))?;
        }
    }

    fn add(&self, batch: &mut WriteBatch, line: &[u8]) -> Result<(), String> {
        let operation = if line.starts_with(b"{") { parse_line(line)? } else { self.parse(line)? };
        match operation {
            Operation::Put { key, value } => batch.put(&key, &value),
            Operation::Delete { key } => batch.delete(&key),
        }
        .map_err(|error| error.to_string())
    }

    fn parse(&self, line: &[u8]) -> Result<Operation, String> {
        let text = std::str::from_utf8(line)
            .map_err(|_| "it is not UTF-8; escape such bytes as \\xNN".to_owned())?;
        let key = |text: &str| self.formats.key_format.parse(text);
        match text.split('\t').collect::<Vec<_>>()[..] {
            ["put", k, value] => {
                Ok(Operation::Put { key: key(k)?, value: self.formats.value_format.parse(value)? })
            }
            ["del", k] => Ok(Operation::Delete { key: key(k)? }),
            _ => Err("expected `put`, a key and a value, or `del` and a key, separated by tabs".to_owned()),
        }
    }
}
