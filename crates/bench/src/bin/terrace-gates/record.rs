//! The committed numbers, and how a new measurement compares with them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};
use terrace_bench::Result;

/// How far a number may exceed the committed one, as a share of it.
const TOLERANCE: f64 = 0.05;
/// Another compiler makes different instructions from the same source.
const TOLERANCE_OF_OTHER_COMPILER: f64 = 0.2;
/// Counts below this are negligible: one more call in a thousand operations does not matter.
const NOTHING: f64 = 0.001;
/// Numbers whose names end like this depend on the compiler.
pub const INSTRUCTIONS: &str = "instructions";

/// Numbers by name, and the compiler to which they belong.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Record {
    /// The output of `rustc --version`.
    pub compiler: String,
    /// Each count, per entry or operation.
    pub counts: BTreeMap<String, f64>,
}

/// How a count compares with the committed one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Within what is allowed.
    Same,
    /// Less than the committed one by more than the tolerance.
    Better,
    /// More than is allowed.
    Worse,
    /// There is no committed count.
    New,
}

/// A count, the committed one, and the largest allowed.
#[derive(Debug)]
pub struct Comparison<'a> {
    /// The name of the count.
    pub name: &'a str,
    /// The committed count.
    pub was: Option<f64>,
    /// The new count.
    pub is: f64,
    /// The largest count that passes.
    pub allowed: f64,
    /// The result of the comparison.
    pub verdict: Verdict,
}

impl Record {
    /// Creates an empty record for the installed compiler.
    pub fn here() -> Self {
        let version = Command::new("rustc").arg("--version").output();
        let compiler = version.map_or_else(
            |_| String::new(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        );
        Self { compiler, counts: BTreeMap::new() }
    }

    /// The record in `file`.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Writes the record to `file`.
    pub fn write(&self, file: &Path) -> Result<()> {
        Ok(fs::write(file, serde_json::to_string_pretty(self)? + "\n")?)
    }

    /// Adds a count, rounded to the precision that is worth committing.
    pub fn add(&mut self, name: String, count: f64) {
        let digits = if count >= 10.0 { 10.0 } else { 1000.0 };
        self.counts.insert(name, (count * digits).round() / digits);
    }

    /// Compares every count of `self` with that of `committed`.
    pub fn compare<'a>(&'a self, committed: &Self) -> Vec<Comparison<'a>> {
        let same_compiler = self.compiler == committed.compiler;
        let compare = |(name, &is): (&'a String, &f64)| {
            let other_compiler = name.ends_with(INSTRUCTIONS) && !same_compiler;
            let tolerance = if other_compiler { TOLERANCE_OF_OTHER_COMPILER } else { TOLERANCE };
            let was = committed.counts.get(name).copied();
            let allowed = was.map_or(f64::INFINITY, |was| was * (1.0 + tolerance) + NOTHING);
            let verdict = match was {
                None => Verdict::New,
                Some(_) if is > allowed => Verdict::Worse,
                Some(was) if is < was * (1.0 - tolerance) - NOTHING => Verdict::Better,
                Some(_) => Verdict::Same,
            };
            Comparison { name, was, is, allowed, verdict }
        };
        self.counts.iter().map(compare).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(compiler: &str, counts: &[(&str, f64)]) -> Record {
        let counts = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Record { compiler: compiler.to_owned(), counts }
    }

    fn verdicts(is: &Record, committed: &Record) -> Vec<Verdict> {
        is.compare(committed).iter().map(|comparison| comparison.verdict).collect()
    }

    #[test]
    fn more_than_the_tolerance_is_worse_and_less_is_better() {
        let committed = record("a", &[("1", 100.0), ("2", 100.0), ("3", 100.0), ("4", 0.0), ("5", 0.0)]);
        let is =
            record("a", &[("1", 104.9), ("2", 105.1), ("3", 94.0), ("4", 0.0009), ("5", 0.01), ("6", 1.0)]);
        use Verdict::*;
        assert_eq!(verdicts(&is, &committed), [Same, Worse, Better, Same, Worse, New]);
    }

    #[test]
    fn another_compiler_may_need_more_instructions_but_no_more_calls() {
        let counts = |count| [("get.calls", count), ("get.instructions", count)];
        let (committed, is) = (record("a", &counts(100.0)), record("b", &counts(115.0)));
        assert_eq!(verdicts(&is, &committed), [Verdict::Worse, Verdict::Same]);
    }
}
