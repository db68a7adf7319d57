//! `terrace inspect`: explains a file of a database, or all of them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use terrace_engine::UserComparator;

use super::Failure;
use crate::failure::{Answer, Problem};
use crate::inspect::{self, Kind, Level, Report};
use crate::order;
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace inspect fruit                            each file of the directory in a few lines
  terrace inspect fruit/000003.log                 every record, with its offset
  terrace inspect fruit/000005.ldb --detail parts  footer, index, filter, blocks
  terrace inspect fruit/MANIFEST-000004
  terrace inspect saved.bin --as table             whatever its name is

Exit code 1 if damage was found. Nothing is changed."#;

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Detail {
    /// What the file is, damage, and a summary.
    Summary,
    /// Its parts as well: blocks, records, edits.
    Parts,
    /// Every entry and operation as well.
    All,
}

/// Explain a file of a database down to each record, damage included.
///
/// After damage it goes on with what can still be read. A log's records and a table's blocks are printed with their
/// offsets in the file, a table's entries with that of the value in the uncompressed block.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Inspect {
    /// A file: log, table, MANIFEST, CURRENT, LOCK or LOG; or the directory with all of them.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    path: PathBuf,
    /// How much is printed [default: all of a file, a summary of a directory].
    #[arg(long, value_enum, value_name = "HOW_MUCH")]
    detail: Option<Detail>,
    /// What the file is, where neither its name nor its content says it.
    #[arg(long = "as", value_enum, value_name = "KIND")]
    kind: Option<Kind>,
    /// The order of a table's keys, where no MANIFEST beside it says it: leveldb.BytewiseComparator or idb_cmp1.
    #[arg(long, value_name = "NAME")]
    comparator: Option<String>,
    /// Cut longer keys and values after so many bytes; 0 cuts none.
    #[arg(long, value_name = "BYTES", default_value_t = 80)]
    cut: usize,
    /// Print an object a line. Nothing is cut.
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
            let message = format!("{} has no files of a database", path.display());
            return Err(Problem::database(message, "Give the directory that holds the file CURRENT."));
        }
        let level = self.level(Detail::Summary);
        let mut answer = Answer::Yes;
        for file in files {
            match self.inspect(&file, level, out) {
                // A running owner may have removed it since.
                Err(_) if !file.exists() => {}
                result => answer = answer.and(result?),
            }
        }
        Ok(answer)
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
            let message = format!("{} is no file of a database, by name or content", path.display());
            return Err(Problem::usage(format!("{message}; --as says what it is")));
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

/// The order that the MANIFEST beside the file at `path` names, if it is known here.
pub(super) fn comparator_beside(path: &Path) -> Option<UserComparator> {
    UserComparator::by_name(&order::name(path.parent()?)?)
}

/// A database's files in `directory`, in the order in which they are read best: CURRENT, MANIFESTs, logs, tables, the rest.
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
