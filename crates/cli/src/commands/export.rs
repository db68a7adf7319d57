//! `terrace export`: the entries of a database as lines of JSON or in a binary form.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use terrace_engine::Db;

use super::Failure;
use crate::database::Directory;
use crate::failure::{Answer, Problem};
use crate::interchange::binary::{self, BinaryWriter, Frame, MAGIC};
use crate::interchange::json_lines::{JsonLinesWriter, parse_line};
use crate::interchange::{EntryWriter, Form, Operation};
use crate::progress::{Progress, Unit};
use crate::range::RangeArguments;
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace export fruit > fruit.jsonl
  terrace export fruit --output fruit.jsonl            then, if it was interrupted:
  terrace export fruit --output fruit.jsonl --resume
  terrace export fruit --form binary --output fruit.bin
  terrace export fruit --prefix a | gzip > a.jsonl.gz
  terrace export fruit | terrace import copy --create"#;

/// Write entries as lines of JSON, or in a binary form with checksums.
///
/// All entries are as of one moment, even while the owner writes. `terrace import` reads both forms.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    #[command(flatten)]
    directory: Directory,
    /// Form of the output.
    #[arg(long, value_enum, default_value_t)]
    form: Form,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Continue after the last complete entry of the file. Changes made since then to keys up to that entry are
    /// not exported.
    #[arg(long, requires = "output")]
    resume: bool,
    /// Replace the file if it exists.
    #[arg(long, requires = "output", conflicts_with = "resume")]
    force: bool,
    #[command(flatten)]
    range: RangeArguments,
    #[command(flatten)]
    formats: FormatArguments,
}

/// Where an interrupted export resumes.
#[derive(Debug, Default)]
struct Done {
    /// The offset after the last complete entry or frame of entries.
    end: u64,
    /// The last key; `None` if there is none.
    last_key: Option<Vec<u8>>,
    entries: u64,
}

impl Export {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let db = self.directory.read()?;
        let Some(path) = &self.output else {
            self.export(&db, out, self.form.writer(true), None)?;
            return Ok(Answer::Yes);
        };
        let named = |error| Problem::usage(format!("{}: {error}", path.display()));
        let is_there = path.exists();
        if is_there && !self.resume && !self.force {
            let message = format!("{} already exists", path.display());
            return Err(Problem::usage(format!("{message}; --resume continues it, --force replaces it")));
        }
        let done = if self.resume && is_there { self.look_at(path)? } else { Done::default() };
        let mut file =
            OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(named)?;
        file.set_len(done.end)?;
        file.seek(SeekFrom::Start(done.end))?;
        let mut file = BufWriter::with_capacity(256 << 10, file);
        let writer: Box<dyn EntryWriter> = match self.form {
            Form::Jsonl => Box::new(JsonLinesWriter),
            Form::Binary => {
                let mut writer = BinaryWriter::new(done.end == 0);
                writer.go_on_after(done.entries);
                Box::new(writer)
            }
        };
        let exported = self.export(&db, &mut file, writer, done.last_key)?;
        file.into_inner().map_err(|error| error.into_error())?.sync_all()?;
        writeln!(out, "{exported} entries exported to {}", path.display())?;
        Ok(Answer::Yes)
    }

    /// Writes the entries after `last_key`; returns their number.
    fn export(
        &self,
        db: &Db,
        out: &mut dyn Write,
        mut writer: Box<dyn EntryWriter>,
        last_key: Option<Vec<u8>>,
    ) -> Result<u64, Failure> {
        const STRIDE: u64 = 1 << 12;
        let mut selection = self.range.selection(self.formats, &db.options().comparator)?;
        if let Some(key) = last_key {
            selection.bounds.lower = Bound::Excluded(key);
        }
        let progress = Progress::new("exporting", Unit::Pieces, None);
        let mut walk = selection.walk(db, false)?;
        let mut exported = 0;
        while let Some((key, value)) = walk.next()? {
            writer.write(out, key, value)?;
            exported += 1;
            if exported % STRIDE == 0 {
                progress.advance(STRIDE);
            }
        }
        writer.finish(out)?;
        out.flush()?;
        Ok(exported)
    }

    /// Finds out how far an earlier run got with the file at `path`.
    fn look_at(&self, path: &Path) -> Result<Done, Failure> {
        let wrong = |problem: &str| Problem::usage(format!("{}: {problem}", path.display()));
        let file = File::open(path).map_err(|error| wrong(&error.to_string()))?;
        let mut file = BufReader::with_capacity(256 << 10, file);
        let progress =
            Progress::new("reading the existing file", Unit::Bytes, Some(file.get_ref().metadata()?.len()));
        match self.form {
            Form::Jsonl => done_lines(&mut file, &progress).map_err(|problem| wrong(&problem)),
            Form::Binary => done_frames(&mut file, &progress).map_err(|problem| wrong(&problem)),
        }
    }
}

fn done_lines(file: &mut dyn BufRead, progress: &Progress) -> Result<Done, String> {
    let mut done = Done::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let taken = file.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if taken == 0 || !line.ends_with(b"\n") {
            return Ok(done);
        }
        match parse_line(&line) {
            Ok(Operation::Put { key, .. }) => done.last_key = Some(key),
            _ => return Err("it is not the output of an export in this form".to_owned()),
        }
        done.end += taken as u64;
        done.entries += 1;
        progress.advance(taken as u64);
    }
}

fn done_frames(mut file: &mut dyn BufRead, progress: &Progress) -> Result<Done, String> {
    let mut magic = Vec::new();
    (&mut file).take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(|error| error.to_string())?;
    if magic.len() < MAGIC.len() && MAGIC.starts_with(&magic) {
        return Ok(Done::default());
    }
    if magic != MAGIC {
        return Err("it is not the output of an export in this form".to_owned());
    }
    let mut done = Done { end: MAGIC.len() as u64, ..Done::default() };
    loop {
        match binary::read_frame(&mut file).map_err(|error| error.to_string())? {
            Frame::Payload(payload) => {
                done.entries += binary::entries::<String>(&payload, |key, _| {
                    done.last_key = Some(key.to_vec());
                    Ok(())
                })?;
                let taken = (binary::FRAME_HEADER_BYTES + payload.len()) as u64;
                done.end += taken;
                progress.advance(taken);
            }
            Frame::End(_) | Frame::Torn => return Ok(done),
        }
    }
}
