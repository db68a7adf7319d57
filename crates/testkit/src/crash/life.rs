//! One trial: lives of a database that end by a loss of power or the death of the process, at any call, also while
//! the database is being opened again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::history::{Batch, History, MARK, Model, compare};
use crate::campaign::{Tally, TrialResult};
use crate::random::Random;
use terrace_engine::env::Env;
use terrace_engine::env::simulated::{CallKind, Failure, FaultPlan, Mode, SimulatedEnv};
use terrace_engine::{
    Db, Error, IterOptions, Options, ReadOptions, Snapshot, TableFileOptions, TableFileWriter, WriteBatch,
    WriteOptions,
};

const FOLDER: &str = "/data/db";
const KEYS: usize = 40;
const LONGEST_LIFE: usize = 120;

/// Why a step of the trial did not go on.
enum Stop {
    /// The machine stopped, or a call failed as planned: the life ends.
    Halted,
    /// The database broke a promise.
    Broken(String),
}

type Step<T = ()> = Result<T, Stop>;

struct Trial {
    random: Random,
    env: SimulatedEnv,
    history: History,
    /// Finished checkpoints and what they hold.
    checkpoints: Vec<(PathBuf, Model)>,
    tally: Tally,
    /// What happened, for the message of a failure.
    events: String,
    files_made: usize,
    /// Whether a fault was planned for this life.
    has_fault: bool,
    write_buffer_size_bytes: usize,
    longest_value_bytes: usize,
}

/// Runs the trial that belongs to `seed`.
///
/// # Errors
/// The promise that was broken, what happened before, and the last calls.
pub fn run(seed: u64, mode: Mode) -> TrialResult {
    Trial::run(seed, mode)
}

impl Trial {
    fn run(seed: u64, mode: Mode) -> TrialResult {
        let mut trial = Self {
            random: Random::new(seed),
            env: SimulatedEnv::new(seed.rotate_left(32), mode),
            history: History::default(),
            checkpoints: Vec::new(),
            tally: Tally::default(),
            events: String::new(),
            files_made: 0,
            has_fault: false,
            write_buffer_size_bytes: 0,
            longest_value_bytes: 0,
        };
        // Logs of many blocks, or of one.
        trial.write_buffer_size_bytes = trial.random.choose(&[8 << 10, 8 << 10, 150 << 10]);
        trial.longest_value_bytes = trial.random.choose(&[100, 3000, 3000, 20_000]);
        let lives = trial.random.between(2, 8);
        for life in 0..lives {
            // The last one is to be lived to its end.
            if life + 1 < lives {
                let scale = trial.random.choose(&[20, 200, 2000]);
                let calls = trial.random.below(scale) as u64;
                trial.env.halt_after(calls);
                trial.event(format!("--- life {life}, which ends after {calls} calls"));
            } else {
                trial.event(format!("--- life {life}, the last"));
            }
            trial.has_fault = life + 1 < lives && trial.random.one_in(3);
            if trial.has_fault {
                trial.plan_fault();
            }
            if let Err(problem) = trial.live() {
                let Self { env, events, .. } = &trial;
                return Err(format!("{problem}\n\nevents:\n{events}\nlast calls:\n{}", env.trace()));
            }
        }
        trial.tally.add("calls", trial.env.counts().total());
        Ok(trial.tally)
    }

    fn plan_fault(&mut self) {
        let scale = self.random.choose(&[10, 100, 1000]);
        let call = 1 + self.random.below(scale) as u64;
        let failure = self.random.choose(&[Failure::Io, Failure::NoSpace]);
        let mut plan = FaultPlan::new(call, failure);
        if self.random.one_in(2) {
            plan = plan.of(self.random.choose(&CallKind::ALL));
        }
        if self.random.one_in(2) {
            plan = plan.short();
        }
        if self.random.one_in(4) {
            plan = plan.lasting();
        }
        self.event(format!("{plan:?}"));
        self.env.fail_at(plan);
    }

    fn event(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.events, "{}", text.as_ref());
    }

    fn options(&self) -> Options {
        let env: Arc<dyn Env> = Arc::new(self.env.clone());
        Options {
            write_buffer_size_bytes: self.write_buffer_size_bytes,
            block_size_bytes: 256,
            max_file_size_bytes: 4 << 10,
            block_cache_size_bytes: 64 << 10,
            manifest_size_limit_bytes: 4 << 10,
            max_open_files: 16,
            idle_after_ms: 50,
            env,
            ..Options::default()
        }
    }

    /// The meaning of an error: the end of this life if there was reason for one, else a broken promise.
    fn stop(&self, what: &str, error: &Error) -> Stop {
        if self.env.is_halted() || self.fault_came() {
            Stop::Halted
        } else {
            Stop::Broken(format!("{what}: {error}"))
        }
    }

    fn fault_came(&self) -> bool {
        self.has_fault && self.env.has_failed()
    }

    fn live(&mut self) -> Result<(), String> {
        let opened = Db::open(FOLDER, self.options()).map_err(|error| self.stop("open", &error));
        let ended = match &opened {
            Ok(db) => self.use_database(db),
            Err(Stop::Halted) => {
                self.tally.one("ends while opening");
                self.event("stopped while opening");
                Err(Stop::Halted)
            }
            Err(Stop::Broken(problem)) => return Err(problem.clone()),
        };
        match ended {
            Ok(()) if self.random.one_in(3) => {
                if let Ok(db) = &opened
                    && let Err(Stop::Broken(problem)) = self.close(db)
                {
                    return Err(problem);
                }
            }
            Ok(()) | Err(Stop::Halted) => {}
            Err(Stop::Broken(problem)) => return Err(problem),
        }
        self.tally.add("faults", u64::from(self.fault_came()));
        if self.random.one_in(4) {
            self.env.kill_process();
            self.tally.one("deaths");
            self.event("killed");
        } else {
            let summary = self.env.cut_power();
            self.history.power_cut();
            self.tally.one("power cuts");
            self.tally.add("power cuts with loss", u64::from(summary.lost_something()));
            self.event(summary.to_string());
        }
        if let Ok(db) = opened {
            // The dead process can do what it wants.
            let _ = db.put(b"after", b"death", &WriteOptions { sync: true });
            let _ = db.close();
        }
        Ok(())
    }

    fn close(&mut self, db: &Db) -> Step {
        self.event("close");
        db.close().map_err(|error| self.stop("close", &error))?;
        self.history.all_durable();
        Ok(())
    }

    fn use_database(&mut self, db: &Db) -> Step {
        self.tally.one("opens");
        let found = self.contents(db, None)?;
        let before = self.history.len();
        self.history.opened(&found).map_err(Stop::Broken)?;
        self.event(format!("opened, with {} of {before} batches", self.history.len()));
        self.check_checkpoints()?;
        let mut snapshots: Vec<(Snapshot, Model)> = Vec::new();
        for _ in 0..self.random.below(LONGEST_LIFE) {
            match self.random.below(100) {
                0..66 => self.write(db)?,
                66..82 => {
                    self.event("step");
                    db.step();
                }
                82..85 => {
                    self.event("flush");
                    db.flush().map_err(|error| self.stop("flush", &error))?;
                    self.history.all_durable();
                }
                85..87 => {
                    self.event("compact");
                    db.compact_range(None, None).map_err(|error| self.stop("compact", &error))?;
                }
                87..89 => self.checkpoint(db)?,
                89..91 => self.ingest(db)?,
                91..94 => snapshots.push((db.snapshot(), self.history.model())),
                94..96 => {
                    self.event("all steps");
                    while db.step() {}
                }
                96..98 => drop(snapshots.pop()),
                _ => self.check(db, &snapshots)?,
            }
            if self.env.is_halted() {
                return Err(Stop::Halted);
            }
        }
        self.check(db, &snapshots)
    }

    fn check(&self, db: &Db, snapshots: &[(Snapshot, Model)]) -> Step {
        let broken = |what: &str, problem: String| Stop::Broken(format!("{what}: {problem}"));
        compare(&self.contents(db, None)?, &self.history.model())
            .map_err(|problem| broken("the open database", problem))?;
        for (snapshot, model) in snapshots {
            compare(&self.contents(db, Some(snapshot))?, model)
                .map_err(|problem| broken("a snapshot", problem))?;
        }
        Ok(())
    }

    /// All entries, read both ways.
    fn contents(&self, db: &Db, snapshot: Option<&Snapshot>) -> Step<Model> {
        let read = ReadOptions { snapshot: snapshot.cloned(), ..ReadOptions::default() };
        let entries = || -> Result<(Model, Model), Error> {
            let mut iterator = db.iter(IterOptions { read: read.clone(), ..IterOptions::default() })?;
            let (mut forwards, mut backwards) = (Model::new(), Model::new());
            iterator.seek_to_first()?;
            while iterator.valid() {
                forwards.insert(iterator.key().to_vec(), iterator.value().to_vec());
                iterator.next()?;
            }
            iterator.seek_to_last()?;
            while iterator.valid() {
                backwards.insert(iterator.key().to_vec(), iterator.value().to_vec());
                iterator.prev()?;
            }
            Ok((forwards, backwards))
        };
        let (forwards, backwards) = entries().map_err(|error| self.stop("reading all", &error))?;
        compare(&backwards, &forwards).map_err(|problem| Stop::Broken(format!("backwards: {problem}")))?;
        for (key, value) in &forwards {
            let got = db.get(key, &read).map_err(|error| self.stop("get", &error))?;
            if got.as_ref() != Some(value) {
                return Err(Stop::Broken(format!("get of {key:?} differs from the iterator's value")));
            }
        }
        Ok(forwards)
    }

    fn draw_batch(&mut self) -> Batch {
        let number = self.history.next_number();
        let mut batch = Batch::new();
        let operations = self.random.choose(&[0, 1, 1, 1, 2, 3, 10]);
        for _ in 0..operations {
            let key = format!("key {:02}", self.random.below(KEYS)).into_bytes();
            let value = if self.random.one_in(4) {
                None
            } else {
                let length = self.random.choose(&[0, 10, 100, 100, 600, 600, self.longest_value_bytes]);
                Some(self.random.bytes(length))
            };
            batch.push((key, value));
        }
        batch.push((MARK.to_vec(), Some(number.to_le_bytes().to_vec())));
        batch
    }

    fn write(&mut self, db: &Db) -> Step {
        let batch = self.draw_batch();
        let sync = self.random.one_in(6);
        let mut written = WriteBatch::new();
        for (key, value) in &batch {
            match value {
                Some(value) => written.put(key, value),
                None => written.delete(key),
            }
            .expect("the batch is small");
        }
        self.event(format!("batch {}{}", self.history.next_number(), if sync { ", sync" } else { "" }));
        self.history.begin(batch);
        db.write(written, &WriteOptions { sync }).map_err(|error| self.stop("write", &error))?;
        self.history.acknowledge(sync);
        self.tally.one("batches");
        self.tally.add("synced batches", u64::from(sync));
        Ok(())
    }

    fn new_path(&mut self, what: &str) -> PathBuf {
        self.files_made += 1;
        Path::new("/data").join(format!("{what} {}", self.files_made))
    }

    fn ingest(&mut self, db: &Db) -> Step {
        let path = self.new_path("table");
        let batch = self.draw_batch();
        let sorted: std::collections::BTreeMap<_, _> = batch.into_iter().collect();
        let options = TableFileOptions { env: Arc::new(self.env.clone()), ..TableFileOptions::default() };
        let table = (|| {
            let mut writer = TableFileWriter::create(&path, options)?;
            for (key, value) in &sorted {
                match value {
                    Some(value) => writer.put(key, value)?,
                    None => writer.delete(key)?,
                }
            }
            writer.finish()
        })();
        table.map_err(|error| self.stop("making a table", &error))?;
        self.event(format!("batch {}, ingested", self.history.next_number()));
        self.history.begin(sorted.into_iter().collect());
        db.ingest(&[path]).map_err(|error| self.stop("ingest", &error))?;
        self.history.acknowledge(true);
        self.tally.one("ingests");
        Ok(())
    }

    fn checkpoint(&mut self, db: &Db) -> Step {
        let path = self.new_path("checkpoint");
        self.event(format!("checkpoint to {}", path.display()));
        db.checkpoint(&path).map_err(|error| self.stop("checkpoint", &error))?;
        self.history.all_durable();
        self.checkpoints.push((path, self.history.model()));
        self.tally.one("checkpoints");
        Ok(())
    }

    /// Each checkpoint that was finished holds what it held then, whatever happened since.
    fn check_checkpoints(&self) -> Step {
        for (path, model) in &self.checkpoints {
            let options = Options { read_only: true, ..self.options() };
            let db = Db::open(path, options).map_err(|error| self.stop("opening a checkpoint", &error))?;
            let found = self.contents(&db, None)?;
            compare(&found, model)
                .map_err(|problem| Stop::Broken(format!("checkpoint {}: {problem}", path.display())))?;
        }
        Ok(())
    }
}
