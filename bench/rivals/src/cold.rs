//! Databases larger than memory: each engine builds one, and then reads it in a process whose control group has a
//! fraction of the memory, with nothing in the page cache at first.
//!
//! ```text
//!   build without a limit ──▶ for each round: drop the page cache ──▶ a process in the group: warm-up, workloads
//! ```
//!
//! What the device itself does is measured beside it (`device`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use indicatif::ProgressBar;
use terrace_bench::{Report, Result, Settings, table};

use crate::engines::EngineName;
use crate::interleave::{Turn, in_turn};
use crate::{Arguments, Configuration, device, directory};

/// What to run on a database larger than memory, after a warm-up that is not counted. `{reads}` is the number of reads of one
/// thread.
const STEPS: &str = "readrandom@{warm},readrandom,readrandom:32@{shared},readmissing@{warm},readmissing,seekrandom,seekrandom:32@{shared},\
    rangerandom@{tenth},readseq@{scan},ycsba,ycsbb,ycsbc,ycsbd,ycsbe@{tenth},ycsbf,\
    overwrite@{written},readrandom,readwhilewriting";

/// Options of the run with little memory.
#[derive(Args)]
#[command(next_help_heading = "A database larger than memory (needs root and control groups)")]
pub(crate) struct ColdOptions {
    /// Give the reading processes this much memory, in MiB, and measure how databases that are larger are read.
    #[arg(long, value_name = "MIB")]
    cold: Option<u64>,
    /// The databases' sizes in entries, for --cold.
    #[arg(long, value_delimiter = ',', default_value = "20000000")]
    cold_nums: Vec<u64>,
}

impl ColdOptions {
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        self.cold.map(|mib| mib << 20)
    }
}

/// Builds the databases, reads them, and prints tables.
pub(crate) fn run(arguments: &Arguments, memory_bytes: u64) -> Result<()> {
    if arguments.results.exists() {
        fs::remove_file(&arguments.results)?;
    }
    let group = Group::new(memory_bytes)?;
    let (mut reports, mut devices) = (Vec::new(), String::new());
    let mut take = |report: Report| {
        report.append_to(&arguments.results)?;
        eprintln!("{} {}: {}", report.configuration, report.engine, report.line());
        reports.push(report);
        Ok(())
    };
    for &num in &arguments.cold.cold_nums {
        let settings = Settings {
            num,
            exceeds_memory: true,
            bloom_bits: arguments.settings.bloom_bits.or(Some(10)),
            ..arguments.settings.clone()
        };
        let directory = directory(arguments).join(num.to_string());
        let configuration = format!("{num} entries, {} MiB of memory", memory_bytes >> 20);
        let turns = in_turn(arguments).into_iter().map(|engine| ColdTurn {
            arguments,
            engine,
            settings: &settings,
            directory: &directory,
            configuration: &configuration,
        });
        let turns: Vec<_> = turns.collect();
        if !arguments.settings.use_existing_db {
            turns.iter().try_for_each(|turn| turn.build(&mut take))?;
        }
        for round in 0..arguments.rounds {
            for turn in &turns {
                // The kernel ends a process that asks for more memory than the group has. What it has measured stays.
                if let Err(error) = turn.read(round, &group, &mut take) {
                    eprintln!("{configuration}, round {}: the rest is left out: {error}", round + 1);
                }
            }
            let line = format!("- {configuration}, round {}: {}", round + 1, device::describe(&directory)?);
            eprintln!("{line}");
            devices += &(line + "\n");
        }
        if !arguments.keep {
            fs::remove_dir_all(&directory)?;
        }
    }
    let tables = format!("{}{devices}", table::cold(&reports));
    println!("{tables}");
    fs::write(arguments.results.with_extension("md"), tables)?;
    Ok(())
}

struct ColdTurn<'a> {
    arguments: &'a Arguments,
    engine: EngineName,
    settings: &'a Settings,
    directory: &'a Path,
    configuration: &'a str,
}

impl ColdTurn<'_> {
    fn turn(
        &self,
        settings: &Settings,
        steps: &[String],
        group: Option<&Group>,
        round: u32,
        take: &mut dyn FnMut(Report) -> Result<()>,
    ) -> Result<()> {
        let turn = Turn {
            engine: self.engine,
            configuration: Configuration::Defaults,
            round,
            steps,
            settings,
            directory: self.directory.to_owned(),
            leveldb_head: self.arguments.leveldb_head.as_deref(),
            group: group.map(|group| &*group.directory),
            keeps: true,
            bar: &ProgressBar::hidden(),
        };
        turn.run(&mut |report| take(Report { configuration: self.configuration.to_owned(), ..report }))
    }

    /// Fills the database in no order and compacts it, as one that has been in use for long would be.
    fn build(&self, take: &mut dyn FnMut(Report) -> Result<()>) -> Result<()> {
        let settings = Settings { batch_size: 100, ..self.settings.clone() };
        let steps = ["fillonce".to_owned(), "compact".to_owned()];
        self.turn(&settings, &steps, None, 0, &mut |report| {
            let configuration = format!("{}, built without a limit", report.configuration);
            take(Report { configuration, ..report })
        })
    }

    fn read(&self, round: u32, group: &Group, take: &mut dyn FnMut(Report) -> Result<()>) -> Result<()> {
        let reads = self.settings.reads.unwrap_or(10_000);
        let steps: Vec<String> = STEPS
            .replace("{warm}", &(4 * reads).to_string())
            .replace("{shared}", &(reads / 8).max(1).to_string())
            .replace("{tenth}", &(reads / 10).max(1).to_string())
            .replace("{scan}", &(self.settings.num / 4).to_string())
            .replace("{written}", &(100 * reads).to_string())
            .split(',')
            .map(|step| step.trim().to_owned())
            .collect();
        let steps = self.arguments.benchmarks.as_ref().unwrap_or(&steps);
        let settings = Settings {
            reads: Some(reads),
            use_existing_db: true,
            existing_is_full: true,
            ..self.settings.clone()
        };
        drop_page_cache()?;
        self.turn(&settings, steps, Some(group), round, take)?;
        if self.arguments.benchmarks.is_none() {
            // It fills a memtable of 64 MiB first, for which the memory of the group is too little for some engines.
            let steps = ["recover".to_owned()];
            let recovery = self.turn(&settings, &steps, Some(group), round, &mut |report| {
                let configuration = format!("{}, recovery", report.configuration);
                take(Report { configuration, ..report })
            });
            if let Err(error) = recovery {
                eprintln!("recover is left out: {error}");
            }
        }
        Ok(())
    }
}

/// The tables of the results of an earlier run, if that was one with little memory.
pub(crate) fn tables(reports: &[Report]) -> Option<String> {
    reports.iter().all(|report| report.settings.exceeds_memory).then(|| table::cold(reports))
}

/// A control group with a limit on memory.
struct Group {
    directory: PathBuf,
}

impl Group {
    fn new(memory_bytes: u64) -> Result<Self> {
        let name = format!("terrace-cold-{}", std::process::id());
        let (root, limit) = if Path::new("/sys/fs/cgroup/memory").is_dir() {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        } else {
            ("/sys/fs/cgroup", "memory.max")
        };
        let directory = Path::new(root).join(name);
        fs::create_dir(&directory)
            .and_then(|()| fs::write(directory.join(limit), memory_bytes.to_string()))
            .map_err(|error| {
                format!("{}: {error}; --cold needs root and control groups", directory.display())
            })?;
        Ok(Self { directory })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The system keeps a group that still has processes in it.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Moves this process into the group in `directory`.
pub(crate) fn join_group(directory: &Path) -> Result<()> {
    Ok(fs::write(directory.join("cgroup.procs"), std::process::id().to_string())?)
}

fn drop_page_cache() -> Result<()> {
    Command::new("sync").status()?;
    Ok(fs::write("/proc/sys/vm/drop_caches", "3")?)
}
