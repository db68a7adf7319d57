//! `terrace inspect`: explains a file of a database, or all of them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use terrace_engine::UserComparator;

use super::Failure;
use crate::failure::{Answer, Problem, give_directory, is_closed_pipe};
use crate::inspect::{self, Kind, Level, Report};
use crate::order;
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace inspect fruit                            each file of the directory in a few lines
  terrace inspect fruit/000003.log                 every record, with its offset
  terrace inspect fruit/000005.ldb --detail parts  footer, index, filter, blocks
  terrace inspect fruit/MANIFEST-000004
  terrace inspect saved.bin --as table             whatever its name

The exit code is 1 if damage was found. Nothing is changed."#;

/// How much to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Detail {
    /// What the file is, its damage, and a summary.
    Summary,
    /// Also its parts: blocks, records, edits.
    Parts,
    /// Also every entry and operation.
    All,
}

/// Explain a file of a database down to each record, damage included.
///
/// After damage, continue with what can still be read. Records of a log and blocks of a table are printed with their
/// offsets in the file, entries of a table with the offset of the value in the uncompressed block.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Inspect {
    /// A file: log, table, MANIFEST, CURRENT, LOCK or LOG; or the directory with all of them.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    path: PathBuf,
    /// How much to print [default: everything for a file, a summary for a directory].
    #[arg(long, value_enum, value_name = "HOW_MUCH")]
    detail: Option<Detail>,
    /// What the file is, if neither its name nor its content shows it.
    #[arg(long = "as", value_enum, value_name = "KIND")]
    kind: Option<Kind>,
    /// Order of a table's keys, if no MANIFEST next to it says so: leveldb.BytewiseComparator or idb_cmp1.
    #[arg(long, value_name = "NAME")]
    comparator: Option<String>,
    /// Cut longer keys and values after this many bytes; 0 means never.
    #[arg(long, value_name = "BYTES", default_value_t = 80)]
    cut: usize,
    /// Print one JSON object per line. Nothing is cut.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    formats: FormatArguments,
}

impl Inspect {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let path = &self.path;
        let metadata = fs::metadata(path).map_err(|error| {
            Problem::database(
                format!("{}: {error}", path.display()),
                "Give a file of a database, or its directory.",
            )
        })?;
        if !metadata.is_dir() {
            let level = self.level(Detail::All);
            return self.inspect(path, level, out);
        }
        let files = files_of(path)?;
        if files.is_empty() {
            let message = format!("{} contains no database files", path.display());
            return Err(Problem::database(message, give_directory(path)));
        }
        let level = self.level(Detail::Summary);
        let mut answer = Answer::Yes;
        let mut first_failure = None;
        for file in files {
            match self.inspect(&file, level, out) {
                Ok(one) => answer = answer.and(one),
                // A running owner may have removed it in the meantime.
                Err(_) if !file.exists() => {}
                Err(failure) if is_closed_pipe(&failure) => return Err(failure),
                // The next file may be readable.
                Err(failure) if first_failure.is_some() => {
                    writeln!(out, "{}: {failure}", file.file_name().unwrap_or_default().to_string_lossy())?;
                }
                Err(failure) => first_failure = Some(failure),
            }
        }
        first_failure.map_or(Ok(answer), Err)
    }

    fn level(&self, default: Detail) -> Level {
        match self.detail.unwrap_or(default) {
            Detail::Summary => Level::Summary,
            Detail::Parts => Level::Parts,
            Detail::All => Level::Everything,
        }
    }

    fn inspect(&self, path: &Path, level: Level, out: &mut dyn Write) -> Result<Answer, Failure> {
        let Some(kind) = self.kind.or_else(|| Kind::of_file(path)) else {
            let message = format!("{} is not a database file, by name or content", path.display());
            return Err(Problem::usage(format!("{message}; name its kind with --as")));
        };
        let comparator = match &self.comparator {
            Some(name) => Some(order::by_name(name)?),
            None => comparator_beside(path),
        };
        let mut report = Report::new(out, level, self.json, self.formats, self.cut);
        inspect::inspect(path, kind, comparator.as_ref(), &mut report)?;
        Ok(Answer::of(report.found().is_empty()))
    }
}

/// The order that the MANIFEST next to the file at `path` names, if this program knows it.
pub(super) fn comparator_beside(path: &Path) -> Option<UserComparator> {
    UserComparator::by_name(&order::name(path.parent()?)?)
}

/// A database's files in `directory`, in the best order to read them: CURRENT, MANIFESTs, logs, tables, the rest.
pub(super) fn files_of(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    use terrace_format::file_name::{self, FileKind};
    let rank = |kind: FileKind| match kind {
        FileKind::Current => 0,
        FileKind::Manifest(_) => 1,
        FileKind::Log(_) => 2,
        FileKind::Table(_) | FileKind::LegacyTable(_) => 3,
        _ => 4,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if let Some(kind) = name.to_str().and_then(file_name::parse)
            && !matches!(kind, FileKind::Temporary(_))
        {
            files.push((rank(kind), kind.number(), directory.join(name)));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, _, path)| path).collect())
}
