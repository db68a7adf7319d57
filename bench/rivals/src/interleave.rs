//! Runs the engines interleaved (A B C A B C …), so that what slows the machine for a while slows all of them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use indicatif::{ProgressBar, ProgressStyle};
use terrace_bench::{Report, Result, Settings};

use crate::engines::EngineName;
use crate::{Arguments, Configuration, directory};

/// Runs everything and returns all reports. Each one is written to the file as soon as it is available.
pub(crate) fn run(arguments: &Arguments) -> Result<Vec<Report>> {
    let engines = in_turn(arguments);
    if arguments.results.exists() {
        fs::remove_file(&arguments.results)?;
    }
    let steps: usize = arguments.configurations.iter().map(|&of| arguments.steps(of).len()).sum();
    let bar = ProgressBar::new((steps * arguments.rounds as usize * engines.len()) as u64);
    bar.set_style(ProgressStyle::with_template("{msg:50} {bar:30} {pos:>4} of {len} {elapsed:>6}")?);
    let mut reports = Vec::new();
    for &configuration in &arguments.configurations {
        let settings = configuration.settings(arguments.settings.clone());
        let steps = arguments.steps(configuration);
        for round in 0..arguments.rounds {
            for &engine in &engines {
                let directory = directory(arguments);
                let turn = Turn {
                    engine,
                    configuration,
                    round,
                    steps: &steps,
                    settings: &settings,
                    directory,
                    leveldb_head: arguments.leveldb_head.as_deref(),
                    group: None,
                    keeps: false,
                    bar: &bar,
                };
                turn.run(&mut |report| {
                    report.append_to(&arguments.results)?;
                    reports.push(report);
                    Ok(())
                })?;
            }
        }
    }
    bar.finish_and_clear();
    Ok(reports)
}

/// Terrace and its rivals, each once, the two builds of LevelDB one after the other.
pub(crate) fn in_turn(arguments: &Arguments) -> Vec<EngineName> {
    let mut engines = vec![EngineName::Terrace];
    for &rival in &arguments.engines {
        if !engines.contains(&rival) {
            engines.push(rival);
        }
        if rival == EngineName::LevelDb && arguments.leveldb_head.is_some() {
            engines.push(EngineName::LevelDbHead);
        }
    }
    engines
}

/// One engine's turn in one round.
pub(crate) struct Turn<'a> {
    pub(crate) engine: EngineName,
    pub(crate) configuration: Configuration,
    pub(crate) round: u32,
    pub(crate) steps: &'a [String],
    pub(crate) settings: &'a Settings,
    pub(crate) directory: PathBuf,
    /// The library of [`EngineName::LevelDbHead`], which stands in for the system's in its process.
    pub(crate) leveldb_head: Option<&'a Path>,
    /// The control group to run in.
    pub(crate) group: Option<&'a Path>,
    /// Whether the database stays.
    pub(crate) keeps: bool,
    /// Shows each step.
    pub(crate) bar: &'a ProgressBar,
}

impl Turn<'_> {
    /// Starts a process for the engine and passes its results to `take` as they come.
    pub(crate) fn run(&self, take: &mut dyn FnMut(Report) -> Result<()>) -> Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        if let (EngineName::LevelDbHead, Some(library)) = (self.engine, self.leveldb_head) {
            command.env("LD_PRELOAD", library.canonicalize()?);
        }
        if let Some(group) = self.group {
            command.arg("--group").arg(group);
        }
        if self.keeps {
            command.arg("--keep");
        }
        let mut child = command
            .args(["--alone", &self.engine.name()])
            .args(["--settings-json", &serde_json::to_string(self.settings)?])
            .args(["--benchmarks", &self.steps.join(",")])
            .arg("--db")
            .arg(&self.directory)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("the process has no output")?;
        self.announce(0);
        for line in BufReader::new(output).lines() {
            let report: Report = serde_json::from_str(&line?)?;
            let done = report.step + 1;
            let configuration = self.configuration.name().to_owned();
            take(Report { round: self.round, configuration, ..report })?;
            self.bar.inc(1);
            self.announce(done as usize);
        }
        let status = child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("{}: {status}", self.engine.name()).into()) }
    }

    fn announce(&self, done: usize) {
        if let Some(next) = self.steps.get(done) {
            let (engine, round) = (self.engine.name(), self.round + 1);
            self.bar.set_message(format!("{}, round {round}: {engine} {next}", self.configuration.name()));
        }
    }
}
