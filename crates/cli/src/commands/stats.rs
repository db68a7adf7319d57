//! `terrace stats`: the size of a database, and what it consists of.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::Args;
use terrace_engine::{Db, Stats as DbStats, TableInfo, limits::LEVEL_COUNT};
use terrace_format::file_name::{self, FileKind};

use super::Failure;
use crate::database::{Directory, left_out_member};
use crate::failure::Answer;
use crate::owner::{self, Holder};
use crate::text::{FormatArguments, Json, plural};

const EXAMPLES: &str = r#"Examples:
  terrace stats fruit
  terrace stats fruit --tables                     every table with its first and last key
  terrace stats fruit --json | jq .levels"#;

/// Print the size of a database, and what it consists of.
///
/// Numbers of entries and deletions are known only for tables that Terrace wrote; `terrace count` counts entries.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stats {
    #[command(flatten)]
    directory: Directory,
    #[command(flatten)]
    what: What,
}

/// The arguments of the statistics.
#[derive(Args)]
pub(crate) struct What {
    /// List every table.
    #[arg(long)]
    tables: bool,
    /// Print a JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    formats: FormatArguments,
}

/// Sizes of the files of a directory, by kind.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    tables: (u64, u64),
    logs: (u64, u64),
    other: (u64, u64),
}

impl Sizes {
    fn of_directory(directory: &Path) -> std::io::Result<Self> {
        let mut sizes = Self::default();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            // A running owner may have removed it in the meantime.
            let Ok(metadata) = entry.metadata() else { continue };
            let name = entry.file_name();
            let sum = match name.to_str().and_then(file_name::parse) {
                Some(FileKind::Table(_) | FileKind::LegacyTable(_)) => &mut sizes.tables,
                Some(FileKind::Log(_)) => &mut sizes.logs,
                Some(_) => &mut sizes.other,
                None if name == file_name::FORMER_SYNCED => &mut sizes.other,
                None => continue,
            };
            sum.0 += 1;
            sum.1 += metadata.len();
        }
        Ok(sizes)
    }

    fn total_bytes(&self) -> u64 {
        self.tables.1 + self.logs.1 + self.other.1
    }
}

/// The tables of one level together.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    tables: u64,
    size_bytes: u64,
    entries: u64,
    deletions: u64,
    /// Number of tables whose writer did not count.
    uncounted: u64,
}

impl Stats {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        self.what.run(&self.directory.read()?, out)
    }
}

/// Size of all tables of `db`, in bytes.
pub(super) fn table_bytes(db: &Db) -> Result<u64, Failure> {
    Ok(db.tables()?.iter().map(|table| table.size_bytes).sum())
}

impl What {
    /// Prints the statistics of `db`.
    pub(crate) fn run(&self, db: &Db, out: &mut dyn Write) -> Result<Answer, Failure> {
        let report = Report::of(db)?;
        if self.json {
            writeln!(out, "{}", report.json(self.tables))?;
            return Ok(Answer::Yes);
        }
        report.print_summary(out)?;
        report.print_levels(out)?;
        if self.tables {
            writeln!(out)?;
            report.tables.iter().try_for_each(|table| self.print_table(out, table))?;
        }
        Ok(Answer::Yes)
    }

    fn print_table(&self, out: &mut dyn Write, table: &TableInfo) -> std::io::Result<()> {
        const KEY_BYTES: usize = 60;
        writeln!(
            out,
            "{} level {} {:>12}  {} … {}",
            file_name::table_name(table.number),
            table.level,
            shown_bytes(table.size_bytes),
            self.formats.key_text(&table.smallest, KEY_BYTES),
            self.formats.key_text(&table.largest, KEY_BYTES)
        )
    }
}

/// What there is to say of a database.
struct Report<'a> {
    db: &'a Db,
    tables: Vec<TableInfo>,
    levels: [Level; LEVEL_COUNT],
    sizes: Sizes,
    owner: Holder,
    stats: DbStats,
}

impl<'a> Report<'a> {
    fn of(db: &'a Db) -> Result<Self, Failure> {
        let tables = db.tables()?;
        Ok(Self {
            db,
            levels: levels_of(&tables),
            tables,
            sizes: Sizes::of_directory(db.path())?,
            owner: owner::of_directory(db.path()),
            stats: db.stats(),
        })
    }

    fn json(&self, with_tables: bool) -> Json {
        let Self { db, sizes, stats, .. } = self;
        let mut members = vec![
            ("directory", Json::from(db.path().to_string_lossy().into_owned())),
            ("comparator", db.options().comparator.name_text().into_owned().into()),
            ("owner", (self.owner != Holder::Nobody).then(|| self.owner.to_string()).into()),
            ("size_bytes", sizes.total_bytes().into()),
            ("table_bytes", sizes.tables.1.into()),
            ("log_bytes", sizes.logs.1.into()),
            ("memtable_bytes", stats.memtable_bytes.into()),
            ("last_sequence", stats.last_sequence.into()),
            ("levels", Json::Array(self.levels.iter().map(level_json).collect())),
            left_out_member(db),
        ];
        if with_tables {
            members.push(("tables", Json::Array(self.tables.iter().map(table_json).collect())));
        }
        Json::Object(members)
    }

    fn print_summary(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Self { db, sizes, stats, .. } = self;
        writeln!(out, "order of keys    {}", db.options().comparator.name_text())?;
        writeln!(out, "in use by        {}", self.owner)?;
        writeln!(out, "last write       sequence {}", stats.last_sequence)?;
        writeln!(out, "size on disk     {}", shown_bytes(sizes.total_bytes()))?;
        for (name, (count, bytes)) in
            [("tables", sizes.tables), ("logs", sizes.logs), ("other files", sizes.other)]
        {
            writeln!(out, "  {name:14} {} in {count}", shown_bytes(bytes))?;
        }
        let live = (self.tables.len() as u64, self.tables.iter().map(|table| table.size_bytes).sum());
        let unused = (sizes.tables.0.saturating_sub(live.0), sizes.tables.1.saturating_sub(live.1));
        if unused.0 > 0 {
            writeln!(
                out,
                "  not in use     {} in {}: removed by the next open for writing",
                shown_bytes(unused.1),
                plural(unused.0, "table")
            )?;
        }
        writeln!(out, "logs in memory   {}", shown_bytes(stats.memtable_bytes as u64))
    }

    fn print_levels(&self, out: &mut dyn Write) -> std::io::Result<()> {
        if !self.tables.is_empty() {
            writeln!(
                out,
                "\n{:>5} {:>7} {:>12} {:>12} {:>12}",
                "level", "tables", "size", "entries", "deletions"
            )?;
        }
        for (number, level) in self.levels.iter().enumerate().filter(|(_, level)| level.tables > 0) {
            let known = |count: u64| match level.uncounted {
                0 => count.to_string(),
                _ => "not counted".to_owned(),
            };
            writeln!(
                out,
                "{number:>5} {:>7} {:>12} {:>12} {:>12}",
                level.tables,
                shown_bytes(level.size_bytes),
                known(level.entries),
                known(level.deletions)
            )?;
        }
        Ok(())
    }
}

fn levels_of(tables: &[TableInfo]) -> [Level; LEVEL_COUNT] {
    let mut levels = [Level::default(); LEVEL_COUNT];
    for table in tables {
        let level = &mut levels[table.level];
        level.tables += 1;
        level.size_bytes += table.size_bytes;
        match table.counts {
            Some(counts) => {
                level.entries += counts.entries;
                level.deletions += counts.deletions;
            }
            None => level.uncounted += 1,
        }
    }
    levels
}

fn level_json(level: &Level) -> Json {
    Json::Object(vec![
        ("tables", level.tables.into()),
        ("size_bytes", level.size_bytes.into()),
        ("entries", (level.uncounted == 0).then_some(level.entries).into()),
        ("deletions", (level.uncounted == 0).then_some(level.deletions).into()),
    ])
}

fn table_json(table: &TableInfo) -> Json {
    Json::Object(vec![
        ("number", table.number.into()),
        ("level", table.level.into()),
        ("size_bytes", table.size_bytes.into()),
        ("smallest", Json::bytes(&table.smallest)),
        ("largest", Json::bytes(&table.largest)),
        ("entries", table.counts.map(|counts| counts.entries).into()),
        ("deletions", table.counts.map(|counts| counts.deletions).into()),
    ])
}

/// A size for people to read.
pub(super) fn shown_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut value, mut unit) = (bytes as f64, None);
    for name in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = Some(name);
    }
    match unit {
        None => format!("{bytes} B"),
        Some(unit) => format!("{value:.1} {unit}"),
    }
}
