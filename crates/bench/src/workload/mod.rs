//! The workloads by name, in one module per family.

use crate::Result;
use crate::lane::{Lane, Plan};
use crate::live_keys::LiveKeys;
use crate::settings::Settings;

mod codec;
mod maintenance;
mod mixed;
mod read;
mod seek;
mod write;
mod ycsb;
mod zipfian;

/// The work of threads, and the check that they did it correctly.
pub trait Work: Sync {
    /// One thread's part.
    fn run(&self, lane: &mut Lane<'_>) -> Result<()>;

    /// Compares the threads' reports with the expected results, updates `live`, and returns remarks.
    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String>;

    /// Number of threads in addition to the requested ones.
    fn extra_threads(&self) -> usize {
        0
    }

    /// Operations of one thread, if that is known.
    fn operations(&self, plan: &Plan) -> Option<u64>;
}

/// How a workload is run.
#[derive(Clone, Copy)]
pub enum Task {
    /// By threads on an open database.
    Threads(&'static dyn Work),
    /// By closing the database and opening it again.
    Open,
    /// By opening another database as the death of its process left it.
    Recover,
}

/// A workload: its name and how its plan differs from the settings.
#[derive(Clone, Copy)]
pub struct Workload {
    /// db_bench's name, or `ycsba` to `ycsbf`.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// How it is run.
    pub task: Task,
    /// Whether it begins with an empty database.
    pub is_fresh: bool,
    /// Whether it writes or rewrites, so that the contents are checked afterwards.
    pub changes: bool,
    /// Whether writes are synced.
    sync: bool,
    /// It does the operations of the settings divided by this.
    divisor: u64,
    value_size: Option<usize>,
    batch_size: Option<u64>,
}

const fn entry(name: &'static str, about: &'static str, task: Task) -> Workload {
    Workload {
        name,
        about,
        task,
        is_fresh: false,
        changes: false,
        sync: false,
        divisor: 1,
        value_size: None,
        batch_size: None,
    }
}

const fn work(name: &'static str, about: &'static str, work: &'static dyn Work) -> Workload {
    entry(name, about, Task::Threads(work))
}

const fn changing(name: &'static str, about: &'static str, work_: &'static dyn Work) -> Workload {
    Workload { changes: true, ..work(name, about, work_) }
}

const fn fresh(name: &'static str, about: &'static str, work: &'static dyn Work) -> Workload {
    Workload { is_fresh: true, ..changing(name, about, work) }
}

/// The size of fill100K's values.
const LARGE_VALUE_SIZE_BYTES: usize = 100_000;

/// Every workload.
pub const WORKLOADS: &[Workload] = &[
    fresh("fillseq", "write NUM values in key order", &write::Fill::IN_ORDER),
    Workload {
        batch_size: Some(1000),
        ..fresh("fillbatch", "the same in batches of 1,000", &write::Fill::IN_ORDER)
    },
    fresh("fillrandom", "write NUM values under random keys", &write::Fill::AT_RANDOM),
    Workload {
        sync: true,
        divisor: 1000,
        ..fresh("fillsync", "write NUM/1000 values under random keys, each synced", &write::Fill::AT_RANDOM)
    },
    Workload {
        divisor: 1000,
        value_size: Some(LARGE_VALUE_SIZE_BYTES),
        ..fresh("fill100K", "write NUM/1000 values of 100 kB under random keys", &write::Fill::AT_RANDOM)
    },
    fresh("fillonce", "write each of NUM values once, in no order", &write::Fill::ONCE),
    changing("overwrite", "write NUM values under random keys once more", &write::Fill::AT_RANDOM),
    work("readseq", "read all entries in order", &read::Scan::FORWARD),
    work("readreverse", "read all entries backwards", &read::Scan::BACKWARD),
    work("readrandom", "read NUM random keys", &read::Points::ALL),
    work("readmissing", "read NUM keys that are not there", &read::Points::MISSING),
    work("readhot", "read NUM random keys of the first 1 %", &read::Points::HOT),
    work("seekrandom", "NUM seeks to random keys, each by a new iterator", &seek::Random),
    work("rangerandom", "NUM ranges of 100 entries from random keys", &seek::Ranges),
    work("seekordered", "NUM seeks of one iterator, each a bit further", &seek::Ordered),
    changing("deleteseq", "delete NUM keys in order", &write::Delete::IN_ORDER),
    changing("deleterandom", "delete NUM random keys", &write::Delete::AT_RANDOM),
    changing("readwhilewriting", "readrandom while one more thread overwrites", &mixed::ReadWhileWriting),
    changing("compact", "compact the whole database", &maintenance::Compact),
    Workload {
        divisor: 10_000,
        changes: true,
        ..entry("open", "close and open NUM/10000 times", Task::Open)
    },
    entry("recover", "open after the death of the process, with 64 MiB in the log", Task::Recover),
    work("crc32c", "checksum 500 MiB, 4 KiB at a time", &codec::Crc32c),
    work("snappycomp", "compress 1 GiB, 4 KiB at a time", &codec::SnappyCompress),
    work("snappyuncomp", "the other way", &codec::SnappyUncompress),
    changing("ycsba", "YCSB A: half reads, half updates", &ycsb::A),
    changing("ycsbb", "YCSB B: 95 % reads, 5 % updates", &ycsb::B),
    work("ycsbc", "YCSB C: reads", &ycsb::C),
    changing("ycsbd", "YCSB D: 95 % reads of the newest, 5 % inserts", &ycsb::D),
    changing("ycsbe", "YCSB E: 95 % scans of up to 100, 5 % inserts", &ycsb::E),
    changing("ycsbf", "YCSB F: half reads, half read-modify-writes", &ycsb::F),
];

impl Workload {
    /// The workload of that name.
    pub fn named(name: &str) -> Result<Self> {
        let found = WORKLOADS.iter().find(|workload| workload.name == name);
        found.copied().ok_or_else(|| {
            let names: Vec<_> = WORKLOADS.iter().map(|workload| workload.name).collect();
            format!("no benchmark is named `{name}`; there are {}", names.join(", ")).into()
        })
    }

    /// Number of opens of the workload `open`.
    pub fn opens(&self, settings: &Settings) -> u64 {
        (settings.num / self.divisor).max(1)
    }

    /// Size of the values that it writes, in bytes.
    pub fn value_size(&self, settings: &Settings) -> usize {
        self.value_size.unwrap_or(settings.value_size)
    }

    /// Its task according to `settings`, on a database with `live` entries.
    pub fn plan(&self, settings: &Settings, live: u64) -> Plan {
        let extra_threads = match self.task {
            Task::Threads(work) => work.extra_threads(),
            Task::Open | Task::Recover => 0,
        };
        Plan {
            num: settings.num,
            writes: (settings.num / self.divisor).max(1),
            reads: settings.reads(),
            live,
            key_prefix: settings.key_prefix,
            value_size: self.value_size(settings),
            batch_size: self.batch_size.unwrap_or(settings.batch_size),
            sync: self.sync,
            generation: 0,
            values_are_known: true,
            threads: settings.threads + extra_threads,
        }
    }
}

/// A requested workload: `readrandom`, `fillsync:16` for that many threads, or `readrandom@1000` for that many operations of
/// each thread, or both.
#[derive(Clone, Copy)]
pub struct Step {
    /// What to run.
    pub workload: Workload,
    /// The number of threads, if it differs from the settings'.
    pub threads: Option<usize>,
    /// The number of operations, if it differs from the settings'.
    pub operations: Option<u64>,
}

impl Step {
    /// Parses the step in `text`.
    ///
    /// # Errors
    ///
    /// If the workload is unknown, or a number is invalid.
    pub fn parse(text: &str) -> Result<Self> {
        let (rest, operations) =
            text.split_once('@').map_or((text, None), |(rest, operations)| (rest, Some(operations)));
        let (name, threads) =
            rest.split_once(':').map_or((rest, None), |(name, threads)| (name, Some(threads)));
        let positive = |number: Option<&str>, sign: &str, what: &str| match number.map(str::parse::<u32>) {
            None => Ok(None),
            Some(Ok(number)) if number > 0 => Ok(Some(number)),
            Some(_) => Err(format!("`{text}`: the {sign} must be followed by a number of {what}")),
        };
        Ok(Self {
            threads: positive(threads, "colon", "threads")?.map(|threads| threads as usize),
            operations: positive(operations, "@", "operations")?.map(u64::from),
            workload: Workload::named(name)?,
        })
    }
}

/// Fails with both numbers unless they are equal.
fn expect_count(what: &str, found: u64, expected: u64) -> Result<()> {
    if found == expected { Ok(()) } else { Err(format!("{found} {what} instead of {expected}").into()) }
}
