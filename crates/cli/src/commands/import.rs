//! `terrace import`: stores exported entries.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueHint};
use terrace_engine::Db;
use terrace_format::crc;

use super::Failure;
use crate::database::{CreateArguments, Directory};
use crate::failure::{Answer, Problem};
use crate::interchange::state::State;
use crate::interchange::{BatchWriter, EntryReader, Operation};
use crate::progress::{Progress, Unit};

/// How often the state file is updated.
const STATE_EVERY: Duration = Duration::from_secs(1);

/// The number of the input's first bytes whose checksum identifies it.
const BEGINNING_BYTES: u64 = 4096;

const EXAMPLES: &str = r#"Examples:
  terrace import fruit fruit.jsonl
  zcat fruit.jsonl.gz | terrace import fruit --create
  terrace import fruit big.jsonl --state big.state     if interrupted, the same command continues

A line of JSON is {"key":…,"value":…} or {"type":"del","key":…}; bytes that are not UTF-8 are {"hex":"00ff"}.
The binary form of `terrace export` is recognised."#;

/// Store exported entries.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Import {
    #[command(flatten)]
    directory: Directory,
    /// The exported file; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Record progress in this file, and continue from there if it exists. It is removed at the end.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    state: Option<PathBuf>,
    #[command(flatten)]
    create: CreateArguments,
}

impl Import {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let imported = if self.file == Path::new("-") {
            self.import(&mut io::stdin().lock(), out)?
        } else {
            let named = |error| Problem::usage(format!("{}: {error}", self.file.display()));
            let file = File::open(&self.file).map_err(named)?;
            self.import(&mut BufReader::with_capacity(256 << 10, file), out)?
        };
        writeln!(out, "{imported} entries imported")?;
        Ok(Answer::Yes)
    }

    fn import(&self, source: &mut dyn BufRead, out: &mut dyn Write) -> Result<u64, Failure> {
        let mut beginning = Vec::new();
        source.take(BEGINNING_BYTES).read_to_end(&mut beginning)?;
        let mut state = State {
            beginning: crc::crc32c(&beginning),
            beginning_bytes: beginning.len() as u64,
            ..State::default()
        };
        let earlier = self.state.as_deref().map(|path| earlier(path, &beginning)).transpose()?.flatten();
        let mut source = beginning.as_slice().chain(source);
        let mut reader = EntryReader::new(&mut source)?;
        let db = self.create.open(&self.directory.db)?;
        if let Some(earlier) = earlier {
            reader.skip_to(earlier.offset, earlier.lines, earlier.entries)?;
            writeln!(out, "continuing after {} entries", earlier.entries)?;
            state = earlier;
        }
        let imported = self.write(&db, &mut reader, &mut state)?;
        db.close()?;
        if let Some(path) = &self.state {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(imported)
    }

    fn write(&self, db: &Db, reader: &mut EntryReader<'_>, state: &mut State) -> Result<u64, Failure> {
        let progress = Progress::new("importing", Unit::Pieces, None);
        let mut writer = BatchWriter::new(db, &progress);
        let mut noted = Instant::now();
        let result = loop {
            match reader.next() {
                Ok(Some(Operation::Put { key, value })) => writer.put(&key, &value)?,
                Ok(Some(Operation::Delete { key })) => writer.delete(&key)?,
                Ok(None) => break Ok(()),
                Err(failure) => break Err(failure),
            }
            if let (Some(path), true) = (&self.state, noted.elapsed() >= STATE_EVERY)
                && let Some(place) = reader.place()
            {
                writer.write(true)?;
                (state.offset, state.lines, state.entries) = place;
                state.write(path)?;
                noted = Instant::now();
            }
        };
        // Correct entries are kept, even if a wrong one follows.
        let imported = writer.finish()?;
        result.map(|()| imported)
    }
}

/// Finds out how far an earlier run got with this input.
fn earlier(path: &Path, beginning: &[u8]) -> Result<Option<State>, Failure> {
    let Some(state) = State::read(path)? else { return Ok(None) };
    let known = beginning.get(..state.beginning_bytes as usize);
    if known.map(crc::crc32c) == Some(state.beginning) {
        return Ok(Some(state));
    }
    let message = format!("{} belongs to an import of another file; remove it to start over", path.display());
    Err(Problem::usage(message))
}
