//! Runs Terrace's benchmark on several databases in turns, and prints how they compare.

mod c_library;
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
mod table;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use terrace_bench::{Bench, Report, Result, Settings, Silent, plot, workload};

use engines::EngineName;

/// Most of db_bench's workloads in its order, but fillsync first: what others leave to be written back would slow it.
const DEFAULT: &str = "fillsync,fillseq,fillrandom,overwrite,readrandom,readseq,readreverse,compact,\
    readrandom,readseq,readreverse,readmissing,readhot,seekrandom,seekordered,deleterandom,fill100K,recover";

const EXAMPLES: &str = "\
Examples:
  terrace-rivals                                      every engine, both configurations, 3 rounds
  terrace-rivals --engines leveldb --rounds 5         Terrace and LevelDB alone
  terrace-rivals --benchmarks fillbatch,ycsba,ycsbb,ycsbc,ycsbd,ycsbe,ycsbf,readwhilewriting
  terrace-rivals --configurations equal --num 200000 --benchmarks fillrandom,readrandom
  terrace-rivals --print results/rivals.jsonl         the tables of an earlier run";

/// Run LevelDB's benchmark on several databases in turns, and print medians and ratios.
///
/// Each engine runs each round in a process of its own. Writes are not synced, as in db_bench, but for fillsync.
#[derive(Parser)]
#[command(name = "terrace-rivals", version, after_help = EXAMPLES)]
struct Arguments {
    /// The engines beside Terrace.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = EngineName::rivals())]
    engines: Vec<EngineName>,
    /// Which sets of settings to run.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Configuration::Equal, Configuration::Defaults])]
    configurations: Vec<Configuration>,
    /// How often each engine runs each set.
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// The workloads, in this order, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = DEFAULT, hide_default_value = true)]
    benchmarks: Vec<String>,
    /// The folder of the databases [default: a folder for temporary files].
    #[arg(long)]
    db: Option<PathBuf>,
    /// Where the results go, as lines of JSON. What was there is replaced; .svg and .png are drawn beside it.
    #[arg(long, default_value = "results/rivals.jsonl")]
    results: PathBuf,
    /// Run nothing, but print the tables of the results in this file.
    #[arg(long, value_name = "RESULTS")]
    print: Option<PathBuf>,
    /// Run one engine in this process and print its results as lines of JSON.
    #[arg(long, hide = true)]
    alone: Option<EngineName>,
    /// The options of such a run, as JSON.
    #[arg(long, hide = true, requires = "alone")]
    settings_json: Option<String>,
    #[command(flatten)]
    settings: Settings,
}

/// A set of settings.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Configuration {
    /// LevelDB's defaults for all: 4 MiB of write buffer, 8 MiB of cache, snappy, no filter.
    Equal,
    /// Each engine as its own documents advise; Terrace and LevelDB by their defaults.
    Defaults,
}

impl Configuration {
    fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Defaults => "defaults",
        }
    }

    fn settings(self, settings: Settings) -> Settings {
        match self {
            Self::Equal => settings.as_leveldb(),
            Self::Defaults => settings,
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

fn run(arguments: Arguments) -> Result<()> {
    if let Some(results) = &arguments.print {
        table::print(&Report::read_all(results)?);
        return Ok(());
    }
    for name in &arguments.benchmarks {
        workload::Workload::named(name)?;
    }
    if let Some(engine) = arguments.alone {
        return run_alone(engine, &arguments);
    }
    let reports = interleave::run(&arguments)?;
    table::print(&reports);
    for file in plot::draw(&arguments.results)? {
        println!("{}", file.display());
    }
    Ok(())
}

fn folder(arguments: &Arguments) -> PathBuf {
    arguments.db.clone().unwrap_or_else(|| std::env::temp_dir().join("terrace-rivals"))
}

/// One engine's round, in the process that was started for it.
fn run_alone(name: EngineName, arguments: &Arguments) -> Result<()> {
    let settings: Settings = match &arguments.settings_json {
        Some(json) => serde_json::from_str(json)?,
        None => arguments.settings.clone(),
    };
    let engine = name.engine(&settings)?;
    let folder = folder(arguments).join(engine.name());
    let mut bench = Bench::new(engine, settings, &folder, &Silent)?;
    for name in &arguments.benchmarks {
        if let Some(report) = bench.run(name)? {
            println!("{}", serde_json::to_string(&report)?);
        }
    }
    bench.destroy()?;
    // Some engines remove the folder as well.
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
