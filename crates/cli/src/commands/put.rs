//! `terrace put`: stores a value under a key.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use terrace_engine::{Db, WriteOptions};

use super::Failure;
use crate::database::{CreateArguments, Directory};
use crate::failure::{Answer, Problem};
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace put fruit apple red
  terrace put fruit apple red --create              create the database if there is none
  terrace put fruit '\x00id' 'two\nlines'           escaped text stands for any bytes
  terrace put fruit photo --file photo.jpg          a file's bytes
  date | terrace put fruit now --file -             the bytes of standard input
  terrace put fruit 00ff 0102 --key-format hex --value-format hex"#;

/// Store a value under a key.
///
/// The value survives a power cut once the command has returned.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Put {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    create: CreateArguments,
}

/// The arguments of a put.
#[derive(Args)]
pub(crate) struct What {
    /// The key.
    #[arg(value_name = "KEY", allow_hyphen_values = true)]
    key: String,
    /// The value.
    #[arg(
        value_name = "VALUE",
        required_unless_present = "file",
        conflicts_with = "file",
        allow_hyphen_values = true
    )]
    value: Option<String>,
    /// Read the value from this file, unchanged; `-` is standard input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,
    #[command(flatten)]
    formats: FormatArguments,
}

impl Put {
    pub(crate) fn run(self) -> Result<Answer, Failure> {
        // Bad input is reported before a database is created.
        let (key, value) = self.what.entry()?;
        let db = self.create.open(&self.directory.db)?;
        store(&db, &key, &value)?;
        db.close()?;
        Ok(Answer::Yes)
    }
}

impl What {
    /// Stores the value in `db`.
    pub(crate) fn run(&self, db: &Db) -> Result<Answer, Failure> {
        let (key, value) = self.entry()?;
        store(db, &key, &value)?;
        Ok(Answer::Yes)
    }

    fn entry(&self) -> Result<(Vec<u8>, Vec<u8>), Failure> {
        let key = self.formats.key_format.parse(&self.key).map_err(Problem::usage)?;
        let value = match (&self.value, &self.file) {
            (Some(text), _) => self.formats.value_format.parse(text).map_err(Problem::usage)?,
            (None, Some(file)) => read(file)?,
            (None, None) => Vec::new(),
        };
        Ok((key, value))
    }
}

fn store(db: &Db, key: &[u8], value: &[u8]) -> Result<(), Failure> {
    Ok(db.put(key, value, &WriteOptions { sync: true })?)
}

/// Reads a file or standard input.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    if file != Path::new("-") {
        return fs::read(file).map_err(|error| Problem::usage(format!("{}: {error}", file.display())));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}
