//! What an inspection says: items with their offsets, and damage, as text or as lines of JSON.

use std::fmt::Display;
use std::io::{self, Write};

use crate::text::{FormatArguments, Json};

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Damage alone.
    Damage,
    /// What a file is, and a summary.
    Summary,
    /// Its parts: blocks, edits.
    Parts,
    /// Every record and entry.
    Everything,
}

/// A piece of damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Where in the file, in bytes.
    pub(crate) offset: u64,
    pub(crate) problem: String,
}

/// Where an inspection says what it finds.
pub(crate) struct Report<'a> {
    out: &'a mut dyn Write,
    level: Level,
    json: bool,
    pub(crate) formats: FormatArguments,
    /// Longer keys and values are cut after so many bytes; 0: none is.
    pub(crate) cut_bytes: usize,
    damage: Vec<Damage>,
}

/// What is said about one item.
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

    /// Whether anything is said at this level.
    pub(crate) fn says(&self, level: Level) -> bool {
        self.level >= level
    }

    /// Says what is at `offset`: `members` as JSON, else `text`.
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

    /// Says something that belongs to the item before: an entry of a block, an operation of a record.
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

    /// Says what is wrong at `offset`.
    pub(crate) fn damage(&mut self, offset: u64, problem: impl Into<String>) -> io::Result<()> {
        let problem = problem.into();
        let members = vec![("problem", problem.as_str().into())];
        self.item(Level::Summary, Some(offset), "damage", format_args!("DAMAGE: {problem}"), members)?;
        self.damage.push(Damage { offset, problem });
        Ok(())
    }

    /// The damage so far.
    pub(crate) fn found(&self) -> &[Damage] {
        &self.damage
    }
}
