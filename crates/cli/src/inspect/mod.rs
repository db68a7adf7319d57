//! Explains a single file of a database down to each record, with offsets: one module per kind of file. Damage is
//! reported with its place and cause, and reading resumes after it.

mod log;
mod manifest;
mod report;
mod small;
mod table;
mod table_blocks;
mod table_file;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use clap::ValueEnum;
use terrace_engine::UserComparator;
use terrace_engine::env::default_env;
use terrace_format::file_name::{self, FileKind};
use terrace_format::table::TABLE_MAGIC;
use terrace_format::version_edit::VersionEdit;

pub(crate) use report::{Damage, Level, MAX_SHOWN, Report};

use crate::failure::Failure;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Log,
    Table,
    Manifest,
    Current,
    Lock,
    /// The info log, LOG: text.
    Text,
}

impl Kind {
    /// The kind of the file at `path`, by its name, or else by its first and last bytes.
    pub(crate) fn of_file(path: &Path) -> Option<Self> {
        let by_name = path.file_name().and_then(|name| file_name::parse(name.to_str()?));
        Some(match by_name {
            Some(FileKind::Log(_)) => Self::Log,
            Some(FileKind::Table(_) | FileKind::LegacyTable(_)) => Self::Table,
            Some(FileKind::Manifest(_)) => Self::Manifest,
            Some(FileKind::Current) => Self::Current,
            Some(FileKind::Lock) => Self::Lock,
            Some(FileKind::InfoLog | FileKind::OldInfoLog) => Self::Text,
            Some(FileKind::Temporary(_)) | None => return by_content(path),
        })
    }
}

fn by_content(path: &Path) -> Option<Kind> {
    use terrace_format::log::{LogEvent, LogReader};
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(1 << 20).read_to_end(&mut bytes).ok()?;
    if terrace_format::current::decode(&bytes).is_ok() {
        return Some(Kind::Current);
    }
    if has_table_footer(path).unwrap_or(false) {
        return Some(Kind::Table);
    }
    let mut reader = LogReader::new(&bytes[..]);
    let Ok(event) = reader.next();
    match event {
        LogEvent::Record { payload, .. } => Some(match VersionEdit::decode(payload) {
            Ok(edit) if edit.comparator.is_some() => Kind::Manifest,
            _ => Kind::Log,
        }),
        _ => None,
    }
}

fn has_table_footer(path: &Path) -> std::io::Result<bool> {
    let file = default_env().open_random(path).map_err(|error| error.source)?;
    let mut magic = [0; 8];
    let Some(at) = file.size_bytes().map_err(|error| error.source)?.checked_sub(8) else { return Ok(false) };
    file.read_exact_at(at, &mut magic).map_err(|error| error.source)?;
    Ok(u64::from_le_bytes(magic) == TABLE_MAGIC)
}

/// Reports the file at `path`, which is of this kind. `comparator` is the expected order of its keys, if it is known.
pub(crate) fn inspect(
    path: &Path,
    kind: Kind,
    comparator: Option<&UserComparator>,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    match kind {
        Kind::Log => log::inspect(path, report),
        Kind::Table => table::inspect(path, comparator, report),
        Kind::Manifest => manifest::inspect(path, report),
        Kind::Current => small::inspect_current(path, report),
        Kind::Lock => small::inspect_lock(path, report),
        Kind::Text => small::inspect_text(path, report),
    }?;
    Ok(report.finish()?)
}
