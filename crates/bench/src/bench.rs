//! Runs workloads on a database, times them and checks what is stored.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::Result;
use crate::entries::{KeyBuffer, Values, number_of};
use crate::lane::{Lanes, Plan, Shared, check_value};
use crate::live_keys::LiveKeys;
use crate::machine::{Machine, commit};
use crate::meter::{Meter, Total};
use crate::progress::Progress;
use crate::random::ParkMiller;
use crate::recovery;
use crate::report::{Report, WrittenBytes};
use crate::settings::Settings;
use crate::store::{Engine, Start, Store};
use crate::usage::{
    DeviceReads, MemoryWatch, Written, directory_bytes, free_bytes, peak_memory_bytes, reset_peak_memory,
};
use crate::workload::{Step, Task, Work, Workload};

/// Number of keys that are read after a workload that changes the database.
const SAMPLES: u64 = 1000;
/// Space that a database may take while it is rewritten, as a multiple of its entries' size.
const SPACE_FACTOR: u64 = 3;

/// One database, and a series of workloads on it.
pub struct Bench<'a> {
    engine: Box<dyn Engine>,
    settings: Settings,
    directory: PathBuf,
    progress: &'a dyn Progress,
    store: Option<Box<dyn Store>>,
    values: Values,
    contents: Contents,
    /// Number of threads started so far, over all workloads: each has its own seed.
    threads_started: u32,
    /// Number of workloads so far.
    steps: u32,
    machine: Machine,
    commit: Option<String>,
}

/// The contents of the database.
#[derive(Default)]
struct Contents {
    live: LiveKeys,
    value_size: usize,
    /// How often workloads have written values since it was empty.
    generations: u32,
    /// The database existed before the run, so its values are unknown.
    is_adopted: bool,
}

/// The work that a workload has done.
struct Done {
    total: Total,
    message: String,
    threads: usize,
    by_user_bytes: u64,
}

/// The most memory that a workload used.
struct Memory {
    all_bytes: Option<u64>,
    anonymous_bytes: Option<u64>,
}

impl<'a> Bench<'a> {
    /// Opens a database in `directory`. Removes what an earlier run left there, unless the settings keep it.
    ///
    /// # Errors
    ///
    /// If the settings are invalid, or the engine fails.
    pub fn new(
        engine: Box<dyn Engine>,
        settings: Settings,
        directory: &Path,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let values = Values::new(settings.compression_ratio);
        check_settings(&settings, &values)?;
        std::fs::create_dir_all(directory)?;
        check_space(&settings, directory)?;
        let mut bench = Self {
            machine: Machine::here(directory),
            commit: commit(),
            engine,
            settings,
            directory: directory.to_owned(),
            progress,
            store: None,
            values,
            contents: Contents::default(),
            threads_started: 0,
            steps: 0,
        };
        if bench.settings.use_existing_db {
            bench.open()?;
            bench.adopt()?;
        } else {
            bench.start_afresh()?;
        }
        Ok(bench)
    }

    /// Runs the workload of that name, `fillsync` or `fillsync:16`. `None` if it is left out: it needs a fresh
    /// database and the settings keep the existing one, or the engine cannot do it.
    ///
    /// # Errors
    ///
    /// If the name is unknown, the engine fails, or a result is wrong.
    pub fn run(&mut self, name: &str) -> Result<Option<Report>> {
        let step = Step::parse(name)?;
        let report = if self.leaves_out(&step.workload) {
            None
        } else {
            Some(self.measure(&step).map_err(|error| format!("{name}: {error}"))?)
        };
        self.steps += 1;
        Ok(report)
    }

    fn leaves_out(&self, workload: &Workload) -> bool {
        let would_lose_the_database = workload.is_fresh && self.settings.use_existing_db;
        would_lose_the_database || self.engine.left_out().contains(&workload.name)
    }

    /// Information for the reader of the lines: the machine, the engine and its settings, the entries.
    pub fn header(&self) -> String {
        let settings = &self.settings;
        format!(
            "{} {}: {}\n{}\n\
             {} entries, keys of {} bytes, values of {} ({:.0} after compression)\n{}",
            self.engine.name(),
            self.engine.version(),
            self.engine.settings(),
            self.machine,
            settings.num,
            settings.key_prefix + 16,
            settings.value_size,
            settings.value_size as f64 * settings.compression_ratio,
            "-".repeat(48),
        )
    }

    /// Closes the database.
    pub fn close(&mut self) -> Result<()> {
        self.store.take().map_or(Ok(()), Store::close)
    }

    /// Closes the database and removes it.
    pub fn destroy(&mut self) -> Result<()> {
        self.close()?;
        self.engine.destroy(&self.directory)
    }

    /// Opens the database again after [`close`](Self::close).
    pub fn reopen(&mut self) -> Result<()> {
        self.open()
    }

    fn open(&mut self) -> Result<()> {
        self.store = Some(self.engine.open(&self.directory)?);
        Ok(())
    }

    fn start_afresh(&mut self) -> Result<()> {
        self.destroy()?;
        self.contents = Contents { value_size: self.settings.value_size, ..Contents::default() };
        self.open()
    }

    fn store(&self) -> Result<&dyn Store> {
        self.store.as_deref().ok_or_else(|| "the database is closed".into())
    }

    /// Finds out what an existing database holds.
    fn adopt(&mut self) -> Result<()> {
        let mut contents =
            Contents { is_adopted: true, value_size: self.settings.value_size, ..Contents::default() };
        if self.settings.existing_is_full {
            (0..self.settings.num).for_each(|number| contents.live.insert(number));
            self.contents = contents;
            return Ok(());
        }
        let mut strange = 0u64;
        self.store()?.scan(Start::First, &mut |key, _| {
            match number_of(key) {
                Some(number) if number <= u64::from(u32::MAX) => contents.live.insert(number),
                _ => strange += 1,
            }
            true
        })?;
        self.contents = contents;
        if strange > 0 { Err(format!("{strange} keys there are not db_bench's").into()) } else { Ok(()) }
    }

    fn measure(&mut self, step: &Step) -> Result<Report> {
        let workload = &step.workload;
        if workload.is_fresh {
            self.start_afresh()?;
        }
        let threads = step.threads.unwrap_or(self.settings.threads);
        let settings = Settings { threads, ..self.settings.clone() };
        let value_size = workload.value_size(&settings);
        if workload.changes {
            self.contents.value_size = value_size;
        }
        let usual = workload.plan(&settings, self.contents.live.count());
        let plan = Plan {
            generation: self.contents.generations,
            values_are_known: !self.contents.is_adopted,
            value_size: self.contents.value_size,
            reads: step.operations.unwrap_or(usual.reads),
            writes: step.operations.unwrap_or(usual.writes),
            ..usual
        };
        reset_peak_memory();
        let watch = MemoryWatch::start();
        let (written_before, tables_before) = (Written::now(), self.store()?.table_bytes_written());
        let read_before = DeviceReads::now(&self.directory);
        let done = match workload.task {
            Task::Threads(work) => self.run_threads(workload.name, work, &plan),
            Task::Open => self.run_opens(workload.name, workload.opens(&self.settings)),
            Task::Recover => self.run_recovery(workload.name),
        };
        self.progress.end();
        let done = done?;
        let written = written_before.and_then(|before| Some(Written::now()?.since(before)));
        let read = DeviceReads::now(&self.directory).since(read_before);
        let tables_after = self.store()?.table_bytes_written();
        let bytes = WrittenBytes {
            by_user: done.by_user_bytes,
            // Opening restarts the count.
            to_tables: tables_after.zip(tables_before).and_then(|(after, before)| after.checked_sub(before)),
            by_calls: written.map(|written| written.by_calls_bytes),
            to_disk: written.map(|written| written.to_disk_bytes),
        };
        let memory = Memory { all_bytes: peak_memory_bytes(), anonymous_bytes: watch.stop() };
        if workload.changes {
            self.check_samples(&plan)?;
            self.contents.generations += 1;
        }
        let space_bytes = directory_bytes(&self.directory)?;
        Ok(Report { device_reads: read, ..self.report(workload, done, bytes, &memory, space_bytes) })
    }

    fn run_threads(&mut self, name: &str, work: &dyn Work, plan: &Plan) -> Result<Done> {
        let first_seed = self.settings.seed + self.threads_started + 1;
        self.threads_started += plan.threads as u32;
        let readers_and_writers = (plan.threads - work.extra_threads()) as u64;
        self.progress.begin(name, work.operations(plan).map(|operations| operations * readers_and_writers));
        let shared = Shared::new(plan);
        let lanes = Lanes {
            plan,
            store: self.store.as_deref().ok_or("the database is closed")?,
            values: &self.values,
            first_seed,
            histogram: self.settings.histogram,
            progress: self.progress,
        };
        let lanes = lanes.run(&shared, &|lane| work.run(lane))?;
        let message = work.check(&lanes, &mut self.contents.live)?;
        let by_user_bytes = lanes.iter().map(|lane| lane.written_bytes).sum();
        let threads = lanes.len() - work.extra_threads();
        let meters = lanes.into_iter().skip(work.extra_threads()).map(|lane| lane.meter).collect();
        Ok(Done { total: Total::of(meters)?, message, threads, by_user_bytes })
    }

    fn run_opens(&mut self, name: &str, opens: u64) -> Result<Done> {
        self.progress.begin(name, Some(opens));
        let mut meter = Meter::new(self.settings.histogram, self.progress)?;
        meter.start();
        for _ in 0..opens {
            self.close()?;
            self.open()?;
            meter.done(0);
        }
        meter.stop();
        Ok(Done { total: Total::of(vec![meter])?, message: String::new(), threads: 1, by_user_bytes: 0 })
    }

    fn run_recovery(&mut self, name: &str) -> Result<Done> {
        self.progress.begin(name, None);
        let seed = self.settings.seed;
        let elapsed = recovery::measure(&*self.engine, &self.settings, &self.values, &self.directory, seed)?;
        let total =
            Total { ops: 1, bytes: 0, thread_time: elapsed, elapsed, latency: None, timeline: Vec::new() };
        Ok(Done { total, message: String::new(), threads: 1, by_user_bytes: 0 })
    }

    /// Looks up random keys: live keys must be there with their values, and others must not.
    fn check_samples(&self, plan: &Plan) -> Result<()> {
        let store = self.store()?;
        let (mut key, mut value) = (KeyBuffer::new(plan.key_prefix), Vec::new());
        let mut random = ParkMiller::new(self.settings.seed);
        for _ in 0..SAMPLES.min(plan.num) {
            let number = random.below(plan.num);
            let found = store.get(key.set(number), &mut value)?;
            if found != self.contents.live.contains(number) {
                let what = if found { "there, though it was deleted or never written" } else { "missing" };
                return Err(format!("key {number} is {what}").into());
            }
            if found {
                check_value(plan, &self.values, number, &value)?;
            }
        }
        Ok(())
    }

    fn report(
        &self,
        workload: &Workload,
        done: Done,
        written_bytes: WrittenBytes,
        memory: &Memory,
        space_bytes: u64,
    ) -> Report {
        let total = done.total;
        let seconds = total.elapsed.as_secs_f64();
        Report {
            engine: self.engine.name().to_owned(),
            engine_version: self.engine.version(),
            engine_settings: self.engine.settings(),
            configuration: String::new(),
            round: 0,
            step: self.steps,
            workload: workload.name.to_owned(),
            settings: self.settings.clone(),
            threads: done.threads,
            ops: total.ops,
            seconds,
            micros_per_op: total.thread_time.as_secs_f64() * 1e6 / total.ops as f64,
            ops_per_second: total.ops as f64 / seconds,
            bytes: total.bytes,
            latency_micros: total.latency,
            timeline: total.timeline,
            written_bytes,
            device_reads: DeviceReads::default(),
            write_amplification: written_bytes.amplification(),
            space_bytes,
            peak_memory_bytes: memory.all_bytes,
            peak_anonymous_bytes: memory
                .anonymous_bytes
                .map(|bytes| bytes.saturating_sub(self.contents.live.memory_bytes())),
            memory_budget_bytes: self.engine.memory_budget_bytes(),
            message: done.message,
            machine: self.machine.clone(),
            commit: self.commit.clone(),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        }
    }
}

/// Better known now than after an hour.
fn check_space(settings: &Settings, directory: &Path) -> Result<()> {
    let entry_size_bytes = (settings.key_prefix + 16 + settings.value_size) as u64;
    let needed_bytes = SPACE_FACTOR * settings.num * entry_size_bytes;
    match free_bytes(directory) {
        Some(free) if free < needed_bytes && !settings.use_existing_db => Err(format!(
            "{} entries may take {} MB for a while, but {} has {} MB left: choose a smaller --num or another --db",
            settings.num,
            needed_bytes >> 20,
            directory.display(),
            free >> 20,
        )
        .into()),
        _ => Ok(()),
    }
}

fn check_settings(settings: &Settings, values: &Values) -> Result<()> {
    // Park and Miller's generator draws no more different numbers.
    if settings.num == 0 || settings.num > i32::MAX as u64 {
        return Err("--num must be from 1 to 2147483647".into());
    }
    if settings.threads == 0 || settings.batch_size == 0 {
        return Err("--threads and --batch_size must be at least 1".into());
    }
    if settings.value_size > values.max_size_bytes() {
        return Err(format!("--value_size must be at most {}", values.max_size_bytes()).into());
    }
    Ok(())
}
