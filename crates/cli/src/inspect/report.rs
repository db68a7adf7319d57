//! The output of an inspection: items with their offsets, and damage, as text or as lines of JSON.

use std::fmt::Display;
use std::io::{self, Write};

use crate::text::{FormatArguments, Json, plural};

/// Pieces of damage of a file that a summary shows one by one.
pub(crate) const MAX_SHOWN: usize = 10;

/// How much to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Only damage.
    Damage,
    /// What a file is, and a summary.
    Summary,
    /// Also its parts: blocks, edits.
    Parts,
    /// Also every record and entry.
    Everything,
}

/// A piece of damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Offset in the file, in bytes.
    pub(crate) offset: u64,
    pub(crate) problem: String,
}

/// Receives what an inspection finds.
pub(crate) struct Report<'a> {
    out: &'a mut dyn Write,
    level: Level,
    json: bool,
    pub(crate) formats: FormatArguments,
    /// Longer keys and values are cut after this many bytes; 0 means never.
    pub(crate) cut_bytes: usize,
    damage: Vec<Damage>,
}

/// The members of an item in JSON.
pub(crate) type Members = Vec<(&'static str, Json)>;

impl<'a> Report<'a> {
    pub(crate) fn new(
        out: &'a mut dyn Write,
        level: Level,
        json: bool,
        formats: FormatArguments,
        cut_bytes: usize,
    ) -> Self {
        Self { out, level, json, formats, cut_bytes, damage: Vec::new() }
    }

    /// Whether the report includes this level.
    pub(crate) fn says(&self, level: Level) -> bool {
        self.level >= level
    }

    /// Reports an item at `offset`: as JSON with `members`, otherwise as `text`.
    pub(crate) fn item(
        &mut self,
        level: Level,
        offset: Option<u64>,
        kind: &'static str,
        text: impl Display,
        members: Members,
    ) -> io::Result<()> {
        if !self.says(level) {
            return Ok(());
        }
        if self.json {
            let mut all = vec![("kind", Json::from(kind))];
            if let Some(offset) = offset {
                all.push(("offset", offset.into()));
            }
            all.extend(members);
            return writeln!(self.out, "{}", Json::Object(all));
        }
        match offset {
            Some(offset) => writeln!(self.out, "{offset:>10}  {text}"),
            None => writeln!(self.out, "{text}"),
        }
    }

    /// Reports something that belongs to the previous item: an entry of a block, an operation of a record.
    pub(crate) fn detail(
        &mut self,
        kind: &'static str,
        text: impl FnOnce(&FormatArguments, usize) -> String,
        members: impl FnOnce() -> Members,
    ) -> io::Result<()> {
        if !self.says(Level::Everything) {
            return Ok(());
        }
        if self.json {
            let mut all = vec![("kind", Json::from(kind))];
            all.extend(members());
            return writeln!(self.out, "{}", Json::Object(all));
        }
        let text = text(&self.formats, self.cut_bytes);
        writeln!(self.out, "{:>12}{text}", "")
    }

    /// Reports damage at `offset`.
    pub(crate) fn damage(&mut self, offset: u64, problem: impl Into<String>) -> io::Result<()> {
        let problem = problem.into();
        if self.json || self.says(Level::Parts) || self.damage.len() < MAX_SHOWN {
            let members = vec![("problem", problem.as_str().into())];
            self.item(Level::Summary, Some(offset), "damage", format_args!("DAMAGE: {problem}"), members)?;
        }
        self.damage.push(Damage { offset, problem });
        Ok(())
    }

    /// Reports how much damage was not shown.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let left = self.damage.len().saturating_sub(MAX_SHOWN);
        if left == 0 || self.json || self.says(Level::Parts) {
            return Ok(());
        }
        let text = format!("and {} more; --detail parts shows all", plural(left as u64, "damaged place"));
        self.item(Level::Summary, None, "more", text, Vec::new())
    }

    /// The damage found so far.
    pub(crate) fn found(&self) -> &[Damage] {
        &self.damage
    }
}
