//! `terrace repair`: makes a damaged database openable again.

use std::io::Write;

use clap::Args;
use terrace_engine::{Damage, Db, LevelSource, Options, RepairReport};

use super::Failure;
use crate::database::{DialectArgument, Directory, check_is_directory};
use crate::failure::Answer;
use crate::order;
use crate::progress::{Progress, Unit};
use crate::text::Json;

const EXAMPLES: &str = r#"Examples:
  cp -a fruit fruit-damaged && terrace repair fruit
  terrace repair fruit --json

The exit code is 1 if something was lost."#;

/// Make a damaged database openable again, with everything that is intact.
///
/// Damaged and unused files are moved to the directory `lost` in the database's directory, never deleted. If an older
/// value may appear because a newer one is lost, the report says so. An undamaged database keeps every entry.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Repair {
    #[command(flatten)]
    directory: Directory,
    /// Order of the keys, if no MANIFEST says so: leveldb.BytewiseComparator or idb_cmp1.
    #[arg(long, value_name = "NAME")]
    comparator: Option<String>,
    /// The program that must be able to read what is written.
    #[arg(long, value_enum, default_value_t, value_name = "WHOSE")]
    dialect: DialectArgument,
    /// Print the report as a JSON object.
    #[arg(long)]
    json: bool,
}

impl Repair {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let directory = &self.directory.db;
        check_is_directory(directory)?;
        let comparator = match &self.comparator {
            Some(name) => order::by_name(name)?,
            None => order::of_directory(directory)?,
        };
        let progress = Progress::new("repairing", Unit::Time, None);
        let report = Db::repair(
            directory,
            &Options { comparator, dialect: self.dialect.into(), ..Options::default() },
        )?;
        drop(progress);
        if self.json {
            writeln!(out, "{}", json(&report))?;
        } else {
            write!(out, "{report}")?;
        }
        Ok(Answer::of(report.nothing_lost()))
    }
}

fn json(report: &RepairReport) -> Json {
    let strings = |texts: &[String]| Json::Array(texts.iter().map(|text| text.as_str().into()).collect());
    let tables = report.tables_salvaged.iter().map(|table| {
        Json::Object(vec![
            ("name", table.name.as_str().into()),
            ("entries_kept", table.entries_kept.into()),
            ("damage", damage(&table.damage)),
        ])
    });
    let logs = report.logs.iter().map(|log| {
        Json::Object(vec![
            ("name", log.name.as_str().into()),
            ("records_kept", log.records_kept.into()),
            ("writes_kept", log.writes_kept.into()),
            ("unfinished_tail_bytes", log.unfinished_tail_bytes.into()),
            ("damage", damage(&log.damage)),
        ])
    });
    let set_aside = report.set_aside.iter().map(|file| {
        Json::Object(vec![
            ("name", file.name.as_str().into()),
            ("moved_to", file.moved_to.as_str().into()),
            ("reason", file.reason.as_str().into()),
        ])
    });
    let key = |key: &Option<Vec<u8>>| key.as_ref().map(|key| Json::bytes(key));
    let uncertain = report.uncertain.iter().map(|uncertainty| {
        Json::Object(vec![
            ("first", key(&uncertainty.keys.first).into()),
            ("last", key(&uncertainty.keys.last).into()),
            ("reason", uncertainty.reason.as_str().into()),
        ])
    });
    let levels_from = match report.levels_from {
        LevelSource::Manifest => "manifest",
        _ => "merge",
    };
    Json::Object(vec![
        ("nothing_lost", report.nothing_lost().into()),
        ("lost_bytes", report.lost_bytes().into()),
        ("entries_kept", report.entries_kept.into()),
        ("levels_from", levels_from.into()),
        ("manifest_damage", strings(&report.manifest_damage)),
        ("tables_kept", report.tables_kept.into()),
        ("tables_salvaged", Json::Array(tables.collect())),
        ("tables_missing", strings(&report.tables_missing)),
        ("logs_missing", strings(&report.logs_missing)),
        ("logs", Json::Array(logs.collect())),
        ("set_aside", Json::Array(set_aside.collect())),
        ("in_lost_before", strings(&report.in_lost_before)),
        ("uncertain", Json::Array(uncertain.collect())),
    ])
}

fn damage(pieces: &[Damage]) -> Json {
    let pieces = pieces.iter().map(|piece| {
        Json::Object(vec![
            ("offset", piece.offset.into()),
            ("lost_bytes", piece.lost_bytes.into()),
            ("reason", piece.reason.as_str().into()),
        ])
    });
    Json::Array(pieces.collect())
}
