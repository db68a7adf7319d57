//! `terrace bench`: the workloads of the crate `terrace-bench` on Terrace itself.

use std::path::PathBuf;

use clap::Args;
use terrace_bench::{
    Bar, Engine, NothingEngine, Report, Settings, TerraceEngine, nothing, plot, table, workload,
};

use super::Failure;

/// The order of db_bench.
const DEFAULT: &str = "fillseq,fillsync,fillrandom,overwrite,readrandom,readrandom,readseq,readreverse,compact,\
    readrandom,readseq,readreverse,fill100K,crc32c,snappycomp,snappyuncomp";

const EXAMPLES: &str = "\
Examples:
  terrace bench                                       db_bench's workloads, a million entries
  terrace bench --num 100000 --benchmarks fillrandom,compact,readrandom --histogram
  terrace bench --benchmarks fillsync,fillsync:16     one writer, and sixteen that share their syncs
  terrace bench --benchmarks fillseq,ycsba,ycsbe
  terrace bench --nothing                             the cost of the benchmark itself
  terrace bench --leveldb                             with LevelDB's buffer, cache and no filter
  terrace bench --results results/mine.jsonl && terrace bench --plot results/mine.jsonl
  terrace bench --list";

/// Measure speed with the workloads of LevelDB's db_bench, and check each result.
///
/// Each workload prints a line in db_bench's form. Options have db_bench's names.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Bench {
    /// Workloads to run, in this order, separated by commas; `fillsync:16` runs one with 16 threads.
    #[arg(long, value_delimiter = ',')]
    benchmarks: Option<Vec<String>>,
    /// List the workloads.
    #[arg(long)]
    list: bool,
    /// Directory of the database [default: a temporary directory].
    #[arg(long)]
    db: Option<PathBuf>,
    /// Keep the database afterwards.
    #[arg(long)]
    keep: bool,
    /// Use LevelDB's settings instead of Terrace's: 4 MiB of buffer, 8 MiB of cache, no filter, tables of 2 MiB.
    #[arg(long)]
    leveldb: bool,
    /// Measure the cost of the benchmark itself, with a database that stores nothing.
    #[arg(long, conflicts_with = "leveldb")]
    nothing: bool,
    /// Append each result to this file as a line of JSON.
    #[arg(long)]
    results: Option<PathBuf>,
    /// Run nothing; draw the results in this file as .svg and .png files next to it.
    #[arg(long, value_name = "RESULTS")]
    plot: Option<PathBuf>,
    /// Run nothing; compare the costs in this file, which has the same workloads on few entries and on many.
    #[arg(long, value_name = "RESULTS")]
    scale: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl Bench {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.list {
            workload::WORKLOADS
                .iter()
                .for_each(|workload| println!("{:17} {}", workload.name, workload.about));
            return Ok(());
        }
        if let Some(results) = &self.plot {
            plot::draw(results)?.iter().for_each(|file| println!("{}", file.display()));
            return Ok(());
        }
        if let Some(results) = &self.scale {
            print!("{}", table::scale(&Report::read_all(results)?));
            return Ok(());
        }
        // Report a wrong name now, not after half an hour.
        let steps = self.steps();
        for step in &steps {
            workload::Step::parse(step)?;
        }
        self.measure(&steps)
    }

    fn steps(&self) -> Vec<String> {
        let default = if self.nothing { nothing::WORKLOADS } else { DEFAULT };
        self.benchmarks.clone().unwrap_or_else(|| default.split(',').map(str::to_owned).collect())
    }

    fn measure(self, steps: &[String]) -> Result<(), Failure> {
        let settings = if self.leveldb { self.settings.as_leveldb() } else { self.settings };
        let directory = self.db.unwrap_or_else(|| std::env::temp_dir().join("terrace-bench"));
        let engine: Box<dyn Engine> = if self.nothing {
            Box::new(NothingEngine::new(&settings))
        } else {
            Box::new(TerraceEngine::new(&settings))
        };
        let keep = self.keep || settings.use_existing_db;
        let configuration = if self.leveldb { "leveldb" } else { "defaults" };
        let progress = Bar::default();
        let mut bench = terrace_bench::Bench::new(engine, settings, &directory, &progress)?;
        println!("{}", bench.header());
        for name in steps {
            let Some(mut report) = bench.run(name)? else {
                println!("{name:<17}: left out: it needs a fresh database");
                continue;
            };
            configuration.clone_into(&mut report.configuration);
            println!("{}", report.line());
            if let Some(results) = &self.results {
                report.append_to(results)?;
            }
        }
        if keep { bench.close() } else { bench.destroy() }
    }
}
