//! Runs Terrace's benchmark on several databases interleaved, and prints how they compare.

mod c_library;
mod cold;
mod device;
mod engines;
#[cfg(feature = "fjall")]
mod fjall;
mod interleave;
mod leveldb;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(feature = "redb")]
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod trial;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use terrace_bench::{Bench, Report, Result, Settings, Silent, plot, table, workload};

use cold::ColdOptions;
use engines::EngineName;

/// Most of db_bench's workloads in its order, but fillsync first: what others leave to be written back would slow it
/// down. From `compact` on, reads see a compacted database. Without readwhilewriting, which takes some engines longer
/// than everything else.
const DEFAULT: &str = "fillsync,fillsync:16,fillseq,fillrandom,overwrite,readrandom,readseq,readreverse,seekrandom,\
    compact,readrandom,readseq,readreverse,readmissing,readhot,seekrandom,seekordered,deleterandom,deleteseq,fill100K,\
    recover";
/// The workloads for which compression makes a difference. A lead that remains without it comes from the engines'
/// structure.
const RAW: &str = "fillrandom,readrandom,readreverse,seekrandom,compact,readrandom,readseq,readreverse,seekrandom,\
    seekordered";

const EXAMPLES: &str = "\
Examples:
  terrace-rivals                                      every engine and configuration, 3 rounds
  terrace-rivals --num 100000 --rounds 3              the short form
  terrace-rivals --engines leveldb --rounds 5         Terrace and LevelDB alone
  terrace-rivals --benchmarks fillbatch,ycsba,ycsbb,ycsbc,ycsbd,ycsbe,ycsbf,readwhilewriting
  terrace-rivals --configurations equal --num 200000 --benchmarks fillrandom,readrandom
  terrace-rivals --configurations equal,defaults --benchmarks fillrandom --num 10000000 --rounds 1 --histogram
                                                      latencies over time, and a plot of them
  terrace-rivals --print bench/results/rivals.jsonl         the tables of an earlier run";

/// Run LevelDB's benchmark on several databases interleaved, and print medians and ratios.
///
/// Each engine runs each round in a process of its own. Writes are not synced, as in db_bench, except for fillsync. A
/// trial with a fiftieth of the entries runs first, and tells how long the run will take.
#[derive(Parser)]
#[command(name = "terrace-rivals", version, after_help = EXAMPLES)]
struct Arguments {
    /// Engines to compare with Terrace.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = EngineName::rivals())]
    engines: Vec<EngineName>,
    /// A shared library of another LevelDB, which runs as `leveldb-head` beside the system's.
    #[arg(long, value_name = "LIBRARY")]
    leveldb_head: Option<PathBuf>,
    /// Sets of settings to run.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Configuration::Equal, Configuration::Defaults, Configuration::Raw])]
    configurations: Vec<Configuration>,
    /// How often each engine runs each set.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Workloads to run, in this order, separated by commas; `fillsync:16` runs one with 16 threads.
    #[arg(long, value_delimiter = ',')]
    benchmarks: Option<Vec<String>>,
    /// Start without a trial.
    #[arg(long)]
    no_trial: bool,
    /// Directory of the databases [default: a temporary directory].
    #[arg(long)]
    db: Option<PathBuf>,
    /// File for the results, as lines of JSON. Existing results are replaced; tables (.md) and plots (.svg, .png) are
    /// written next to it.
    #[arg(long, default_value = "bench/results/rivals.jsonl")]
    results: PathBuf,
    /// Run nothing; print the tables of the results in this file.
    #[arg(long, value_name = "RESULTS")]
    print: Option<PathBuf>,
    /// Run one engine in this process and print its results as lines of JSON.
    #[arg(long, hide = true)]
    alone: Option<EngineName>,
    /// The options of such a run, as JSON.
    #[arg(long, hide = true, requires = "alone")]
    settings_json: Option<String>,
    /// The control group that such a run joins.
    #[arg(long, hide = true, requires = "alone")]
    group: Option<PathBuf>,
    /// Leave the databases where they are.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    cold: ColdOptions,
    #[command(flatten)]
    settings: Settings,
}

/// A set of settings.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Configuration {
    /// LevelDB's defaults for all: 4 MiB of write buffer, 8 MiB of cache, snappy, no filter.
    Equal,
    /// Each engine as its own documentation recommends; Terrace and LevelDB with their defaults.
    Defaults,
    /// Like `equal`, but nothing is compressed; a few workloads only.
    Raw,
}

impl Configuration {
    fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Defaults => "defaults",
            Self::Raw => "raw",
        }
    }

    /// The workloads to run if none are requested.
    fn default_steps(self) -> &'static str {
        if self == Self::Raw { RAW } else { DEFAULT }
    }

    fn settings(self, settings: Settings) -> Settings {
        match self {
            Self::Equal => settings.as_leveldb(),
            Self::Defaults => settings,
            Self::Raw => Settings { compression: false, ..settings.as_leveldb() },
        }
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("terrace-rivals: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Arguments {
    /// The workloads of a configuration.
    fn steps(&self, configuration: Configuration) -> Vec<String> {
        let default = || configuration.default_steps().split(',').map(str::to_owned).collect();
        self.benchmarks.clone().unwrap_or_else(default)
    }
}

fn run(arguments: Arguments) -> Result<()> {
    if let Some(results) = &arguments.print {
        let reports = Report::read_all(results)?;
        println!("{}", cold::tables(&reports).unwrap_or_else(|| table::rivals(&reports)));
        return Ok(());
    }
    for step in arguments.benchmarks.iter().flatten() {
        workload::Step::parse(step)?;
    }
    if let Some(engine) = arguments.alone {
        return run_alone(engine, &arguments);
    }
    if let Some(memory_bytes) = arguments.cold.memory_bytes() {
        return cold::run(&arguments, memory_bytes);
    }
    if !arguments.no_trial {
        trial::run(&arguments)?;
    }
    let reports = interleave::run(&arguments)?;
    let tables = table::rivals(&reports);
    println!("{tables}");
    let file = arguments.results.with_extension("md");
    std::fs::write(&file, tables)?;
    for file in [file].into_iter().chain(plot::draw(&arguments.results)?) {
        println!("{}", file.display());
    }
    Ok(())
}

fn directory(arguments: &Arguments) -> PathBuf {
    arguments.db.clone().unwrap_or_else(|| std::env::temp_dir().join("terrace-rivals"))
}

/// Runs one engine's round, in the process that was started for it.
fn run_alone(name: EngineName, arguments: &Arguments) -> Result<()> {
    let settings: Settings = match &arguments.settings_json {
        Some(json) => serde_json::from_str(json)?,
        None => arguments.settings.clone(),
    };
    if let Some(group) = &arguments.group {
        cold::join_group(group)?;
    }
    let engine = name.engine(&settings)?;
    let directory = directory(arguments).join(engine.name());
    let mut bench = Bench::new(engine, settings, &directory, &Silent)?;
    for name in arguments.benchmarks.iter().flatten() {
        if let Some(report) = bench.run(name)? {
            println!("{}", serde_json::to_string(&report)?);
        }
    }
    if arguments.keep {
        return bench.close();
    }
    bench.destroy()?;
    // Some engines also remove the directory.
    match std::fs::remove_dir_all(&directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
