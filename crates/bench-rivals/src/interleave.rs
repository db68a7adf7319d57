//! Runs the engines in turns (A B C A B C …), so that what slows the machine for a while slows all of them. Predecessor:
//! `main`. Successor: `table`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use indicatif::{ProgressBar, ProgressStyle};
use terrace_bench::{Report, Result, Settings};

use crate::engines::EngineName;
use crate::{Arguments, Configuration, folder};

/// Everything that was measured. Each result is in the file as soon as it is there.
pub(crate) fn run(arguments: &Arguments) -> Result<Vec<Report>> {
    let engines = in_turn(&arguments.engines);
    if arguments.results.exists() {
        fs::remove_file(&arguments.results)?;
    }
    let runs = arguments.configurations.len() * arguments.rounds as usize * engines.len();
    let bar = ProgressBar::new((runs * arguments.benchmarks.len()) as u64);
    bar.set_style(ProgressStyle::with_template("{msg:50} {bar:30} {pos:>4} of {len} {elapsed:>6}")?);
    let mut reports = Vec::new();
    for &configuration in &arguments.configurations {
        let settings = configuration.settings(arguments.settings.clone());
        for round in 0..arguments.rounds {
            for &engine in &engines {
                let turn = Turn { arguments, engine, configuration, round, settings: &settings, bar: &bar };
                reports.extend(turn.run()?);
            }
        }
    }
    bar.finish_and_clear();
    Ok(reports)
}

/// Terrace and its rivals, each once.
fn in_turn(rivals: &[EngineName]) -> Vec<EngineName> {
    let mut engines = vec![EngineName::Terrace];
    for &rival in rivals {
        if !engines.contains(&rival) {
            engines.push(rival);
        }
    }
    engines
}

/// One engine's turn in one round.
struct Turn<'a> {
    arguments: &'a Arguments,
    engine: EngineName,
    configuration: Configuration,
    round: u32,
    settings: &'a Settings,
    bar: &'a ProgressBar,
}

impl Turn<'_> {
    /// Starts a process for the engine and takes its results as they come.
    fn run(&self) -> Result<Vec<Report>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--alone", &self.engine.name()])
            .args(["--settings-json", &serde_json::to_string(self.settings)?])
            .args(["--benchmarks", &self.arguments.benchmarks.join(",")])
            .arg("--db")
            .arg(folder(self.arguments))
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("the process has no output")?;
        let mut reports = Vec::new();
        self.announce(0);
        for line in BufReader::new(output).lines() {
            let report: Report = serde_json::from_str(&line?)?;
            let report =
                Report { round: self.round, configuration: self.configuration.name().to_owned(), ..report };
            report.append_to(&self.arguments.results)?;
            reports.push(report);
            self.bar.inc(1);
            self.announce(reports.len());
        }
        let status = child.wait()?;
        if status.success() { Ok(reports) } else { Err(format!("{}: {status}", self.engine.name()).into()) }
    }

    fn announce(&self, done: usize) {
        if let Some(next) = self.arguments.benchmarks.get(done) {
            let (engine, round) = (self.engine.name(), self.round + 1);
            self.bar.set_message(format!("{}, round {round}: {engine} {next}", self.configuration.name()));
        }
    }
}
