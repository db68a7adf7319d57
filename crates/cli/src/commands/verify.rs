//! `terrace verify`: checks that every byte of a database is as it was written. Several threads read the tables.

use std::fs;
use std::io::{self, Write, sink};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Args;
use terrace_engine::{Db, Error as EngineError, ErrorKind, LeftOutLog, TableInfo};
use terrace_format::file_name::{self, FileKind};

use super::Failure;
use super::inspect::{comparator_beside, files_of};
use crate::database::{Directory, check_is_directory, left_out_member, open_to_check};
use crate::failure::Answer;
use crate::inspect::{self, Kind, Level, MAX_SHOWN, Report};
use crate::progress::{Progress, Unit};
use crate::text::{FormatArguments, Json, plural, shell_word};

const EXAMPLES: &str = r#"Examples:
  terrace verify fruit && echo sound
  terrace verify fruit --json                      one object per piece of damage, and a summary

The exit code is 1 if damage was found. Nothing is changed, and the program that uses the database may be running."#;

/// Check every file of a database: checksums, order, filters, counts.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Verify {
    #[command(flatten)]
    directory: Directory,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// A piece of damage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: String,
    offset: Option<u64>,
    problem: String,
    /// The system refused to read the file, so nothing is known of its contents.
    is_unreadable: bool,
}

impl Finding {
    fn of_error(error: &EngineError) -> Self {
        let file = error.path().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        Self { file, offset: error.offset(), problem: error.to_string(), is_unreadable: may_not_read(error) }
    }

    fn of_left_out_log(left_out: &LeftOutLog) -> Self {
        Self {
            file: left_out.name.clone(),
            offset: left_out.reason.offset(),
            problem: left_out.to_string(),
            is_unreadable: false,
        }
    }

    /// The file at `path` could not be read.
    fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Self {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { file, offset: None, problem: format!("cannot be read: {error}"), is_unreadable: true }
    }
}

/// What was checked.
#[derive(Debug, Default)]
struct Checked {
    tables: usize,
    bytes: u64,
    findings: Vec<Finding>,
}

impl Verify {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let directory = &self.directory.db;
        check_is_directory(directory)?;
        let mut left_out = Json::Array(Vec::new());
        let checked = match open_to_check(directory) {
            Ok(db) => {
                let mut checked = check_tables(&db)?;
                checked.findings.extend(db.left_out_logs().iter().map(Finding::of_left_out_log));
                left_out = left_out_member(&db).1;
                checked
            }
            Err(failure) => match failure.downcast_ref::<EngineError>() {
                // A database that cannot be opened is checked file by file.
                Some(error) if error.kind() == ErrorKind::Corruption || may_not_read(error) => {
                    check_files(directory, error)?
                }
                _ => return Err(failure),
            },
        };
        self.print_all(&checked.findings, out)?;
        let unreadable = checked.findings.iter().filter(|finding| finding.is_unreadable).count();
        let damaged = checked.findings.len() - unreadable;
        let in_lost = names_in_lost(directory)?;
        if self.json {
            let summary = Json::Object(vec![
                ("tables", checked.tables.into()),
                ("table_bytes", checked.bytes.into()),
                ("damaged_places", damaged.into()),
                ("unreadable_files", unreadable.into()),
                ("left_out", left_out),
                ("in_lost", Json::Array(in_lost.iter().map(|name| name.as_str().into()).collect())),
            ]);
            writeln!(out, "{summary}")?;
        } else if damaged + unreadable == 0 {
            writeln!(
                out,
                "sound: {} of {} bytes, and the logs",
                plural(checked.tables as u64, "table"),
                checked.bytes
            )?;
        } else {
            let shown = shell_word(directory);
            if unreadable > 0 {
                writeln!(
                    out,
                    "{} could not be read, so nothing is known of what they hold. `ls -l {shown}` shows who may read them; if \
                     that is not the cause, the disk may be failing.",
                    plural(unreadable as u64, "file")
                )?;
            }
            if damaged > 0 {
                writeln!(
                    out,
                    "{}. `terrace inspect {}` shows more; `terrace repair {shown}` keeps what is intact (make a copy of the \
                     directory first).",
                    plural(damaged as u64, "damaged place"),
                    shell_word(&directory.join("FILE"))
                )?;
            }
        }
        if !self.json && !in_lost.is_empty() {
            let names = in_lost.join(", ");
            writeln!(out, "In the directory lost, where an earlier open or repair moved them: {names}")?;
        }
        Ok(Answer::of(damaged + unreadable == 0))
    }

    /// Prints the findings; of a file with many, only the first ones and how many more there are, except as JSON.
    fn print_all(&self, findings: &[Finding], out: &mut dyn Write) -> std::io::Result<()> {
        for of_file in findings.chunk_by(|a, b| a.file == b.file) {
            let shown = if self.json { of_file.len() } else { of_file.len().min(MAX_SHOWN) };
            of_file[..shown].iter().try_for_each(|finding| self.print(finding, out))?;
            if shown < of_file.len() {
                let left = plural((of_file.len() - shown) as u64, "damaged place");
                writeln!(out, "{}: and {left} more", of_file[0].file)?;
            }
        }
        Ok(())
    }

    fn print(&self, finding: &Finding, out: &mut dyn Write) -> std::io::Result<()> {
        if self.json {
            let json = Json::Object(vec![
                ("file", finding.file.as_str().into()),
                ("offset", finding.offset.into()),
                ("problem", finding.problem.as_str().into()),
            ]);
            return writeln!(out, "{json}");
        }
        match finding.offset {
            Some(offset) => writeln!(out, "{} at byte {offset}: {}", finding.file, finding.problem),
            None => writeln!(out, "{}: {}", finding.file, finding.problem),
        }
    }
}

/// Whether the system, not the contents, made a read fail.
fn may_not_read(error: &EngineError) -> bool {
    matches!(error.kind(), ErrorKind::Io | ErrorKind::ReadOnly)
}

/// Files that earlier opens and repairs have set aside.
fn names_in_lost(directory: &Path) -> std::io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory.join("lost")) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let name = |entry: std::io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names = entries.map(name).collect::<std::io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// Checks the tables of a database whose MANIFEST and logs are readable.
fn check_tables(db: &Db) -> Result<Checked, Failure> {
    let tables = db.tables()?;
    let bytes = tables.iter().map(|table| table.size_bytes).sum();
    let progress = Progress::new("verifying", Unit::Bytes, Some(bytes));
    let findings = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), Failure> {
        while let Some(table) = tables.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = check_table(db, table)?;
            findings.lock().expect("no thread panics with the lock").extend(found);
            progress.advance(table.size_bytes);
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, Into::into).min(tables.len());
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("checking does not panic"))
    })?;
    let mut findings = findings.into_inner().expect("no thread panicked with the lock");
    findings.sort();
    Ok(Checked { tables: tables.len(), bytes, findings })
}

fn check_table(db: &Db, table: &TableInfo) -> Result<Vec<Finding>, Failure> {
    let Err(error) = db.verify_table(table.number) else { return Ok(Vec::new()) };
    let path = db.path().join(file_name::table_name(table.number));
    let path = if path.exists() { path } else { db.path().join(file_name::legacy_table_name(table.number)) };
    if may_not_read(&error) {
        return Ok(vec![Finding::unreadable(&path, &error)]);
    }
    if error.kind() != ErrorKind::Corruption {
        return Err(error.into());
    }
    // The engine stops at the first piece of damage; this finds all of it.
    let found = inspect_file(&path, Kind::Table).unwrap_or_default();
    Ok(if found.is_empty() { vec![Finding::of_error(&error)] } else { found })
}

/// Checks each file of a database that cannot be opened because of `error`.
fn check_files(directory: &Path, error: &EngineError) -> Result<Checked, Failure> {
    let mut checked = Checked::default();
    let files: Vec<PathBuf> = files_of(directory)?;
    let progress = Progress::new("verifying", Unit::Pieces, Some(files.len() as u64));
    for path in files {
        let kind = path.file_name().and_then(|name| file_name::parse(name.to_str()?));
        let kind = match kind {
            Some(FileKind::Table(_) | FileKind::LegacyTable(_)) => {
                checked.tables += 1;
                checked.bytes += fs::metadata(&path).map_or(0, |metadata| metadata.len());
                Kind::Table
            }
            Some(FileKind::Log(_)) => Kind::Log,
            Some(FileKind::Manifest(_)) => Kind::Manifest,
            Some(FileKind::Current) => Kind::Current,
            _ => continue,
        };
        match inspect_file(&path, kind) {
            // A running owner may have removed it in the meantime.
            Err(_) if !path.exists() => {}
            Err(failure) if failure.downcast_ref::<io::Error>().is_some() => {
                checked.findings.push(Finding::unreadable(&path, &failure));
            }
            found => checked.findings.extend(found?),
        }
        progress.advance(1);
    }
    // The damage may lie between the files: one may be missing.
    let reason = Finding::of_error(error);
    let is_known =
        |finding: &Finding| finding.file == reason.file && (reason.offset.is_some() || finding.is_unreadable);
    if !checked.findings.iter().any(is_known) {
        checked.findings.insert(0, reason);
    }
    Ok(checked)
}

/// Finds all damage in a file.
fn inspect_file(path: &Path, kind: Kind) -> Result<Vec<Finding>, Failure> {
    const KEY_BYTES: usize = 60;
    let mut nowhere = sink();
    let mut report = Report::new(&mut nowhere, Level::Damage, false, FormatArguments::default(), KEY_BYTES);
    inspect::inspect(path, kind, comparator_beside(path).as_ref(), &mut report)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let finding = |damage: &inspect::Damage| Finding {
        file: file.clone(),
        offset: Some(damage.offset),
        problem: damage.problem.clone(),
        is_unreadable: false,
    };
    Ok(report.found().iter().map(finding).collect())
}
