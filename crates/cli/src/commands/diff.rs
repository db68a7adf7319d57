//! `terrace diff`: the differences between two databases.

use std::cmp::Ordering;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Failure;
use crate::database::{Directory, left_out_in_line, open_to_read};
use crate::failure::{Answer, Problem};
use crate::progress::{Progress, Unit};
use crate::range::{Entry, RangeArguments};
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace diff fruit fruit-yesterday               - only in the first, + only in the second, ~ another value
  terrace diff fruit backup --keys --limit 20
  terrace diff a b --quiet && echo the same        exit code 1 if they differ"#;

/// Print the differences between two databases.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Diff {
    #[command(flatten)]
    directory: Directory,
    /// Directory of the other database.
    #[arg(value_name = "OTHER", value_hint = ValueHint::DirPath)]
    other: PathBuf,
    /// Print at most this many differences.
    #[arg(long, short = 'n', value_name = "COUNT")]
    limit: Option<u64>,
    /// Print keys only.
    #[arg(long, visible_alias = "keys-only")]
    keys: bool,
    /// Print nothing; only set the exit code.
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object per line: {"difference":"first"|"second"|"value","key":…,"first":…,"second":…}.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    range: RangeArguments,
    #[command(flatten)]
    formats: FormatArguments,
}

impl Diff {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let (first, second) = (self.directory.read()?, open_to_read(&self.other)?);
        let left_out = [&first, &second]
            .map(left_out_in_line)
            .into_iter()
            .find(|lines| !lines.is_empty())
            .unwrap_or_default();
        let comparator = first.options().comparator.clone();
        let other = &second.options().comparator;
        if comparator.name() != other.name() {
            let message = format!(
                "the databases have different key orders: {} and {}",
                comparator.name_text(),
                other.name_text()
            );
            let advice = "Export both, sort the lines, and compare them.";
            return Err(Problem::database(message, advice));
        }
        const STRIDE: u64 = 1 << 12;
        let selection = self.range.selection(self.formats, &comparator)?;
        let progress = Progress::new("comparing", Unit::Pieces, None);
        let (mut walk_first, mut walk_second) =
            (selection.walk(&first, false)?, selection.walk(&second, false)?);
        let (mut a, mut b) = (walk_first.next()?, walk_second.next()?);
        let mut differences = 0;
        let mut compared = 0u64;
        loop {
            let order = match (&a, &b) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((key, _)), Some((other, _))) => comparator.compare(key, other),
            };
            let is_difference = order.is_ne() || a.map(|entry| entry.1) != b.map(|entry| entry.1);
            if is_difference {
                differences += 1;
                if self.quiet || self.limit.is_some_and(|limit| differences > limit) {
                    break;
                }
                let first = a.filter(|_| order.is_le());
                let second = b.filter(|_| order.is_ge());
                if self.json {
                    self.print_json(out, first, second, &left_out)
                } else {
                    self.print(out, first, second)
                }?;
            }
            compared += 1;
            if compared.is_multiple_of(STRIDE) {
                progress.advance(STRIDE);
            }
            if order.is_le() {
                a = walk_first.next()?;
            }
            if order.is_ge() {
                b = walk_second.next()?;
            }
        }
        Ok(Answer::of(differences == 0))
    }

    fn print(
        &self,
        out: &mut dyn Write,
        first: Option<Entry<'_>>,
        second: Option<Entry<'_>>,
    ) -> std::io::Result<()> {
        let mark = match (first, second) {
            (Some(_), Some(_)) => "~",
            (Some(_), None) => "-",
            _ => "+",
        };
        let Some((key, _)) = first.or(second) else { return Ok(()) };
        write!(out, "{mark} ")?;
        self.formats.write_key(out, key)?;
        if !self.keys {
            for (key, value) in [first, second].into_iter().flatten() {
                out.write_all(b"\t")?;
                self.formats.write_value(out, key, value)?;
            }
        }
        out.write_all(b"\n")
    }

    fn print_json(
        &self,
        out: &mut dyn Write,
        first: Option<Entry<'_>>,
        second: Option<Entry<'_>>,
        left_out: &str,
    ) -> std::io::Result<()> {
        let difference = match (first, second) {
            (Some(_), Some(_)) => "value",
            (Some(_), None) => "first",
            _ => "second",
        };
        let Some((key, _)) = first.or(second) else { return Ok(()) };
        write!(out, "{{\"difference\":\"{difference}\",")?;
        self.formats.write_json_key(out, key)?;
        if !self.keys {
            for (name, entry) in [("first", first), ("second", second)] {
                if let Some((key, value)) = entry {
                    write!(out, ",\"{name}\":")?;
                    self.formats.write_json_value(out, key, value)?;
                }
            }
        }
        writeln!(out, "{left_out}}}")
    }
}
