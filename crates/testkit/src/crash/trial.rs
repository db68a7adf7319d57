//! One trial: lives of a database that end with a power cut or the death of the process at any call, even while the
//! database is being opened or repaired. The next life examines what is left.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use terrace_engine::env::Env;
use terrace_engine::env::simulated::{Mode, SimulatedEnv};
use terrace_engine::{Db, Error, ErrorKind, Options, WriteOptions};

use super::history::{History, Model};
use super::plan::{End, LifePlan};
use crate::campaign::Tally;
use crate::random::Random;

pub(super) const DIRECTORY: &str = "/data/db";

/// Why a life ended.
pub(super) enum Stop {
    /// The machine stopped, or a call failed as planned.
    Ended,
    /// The database broke a promise.
    Broken(String),
}

pub(super) type Step<T = ()> = Result<T, Stop>;

pub(super) struct Trial {
    pub(super) random: Random,
    pub(super) env: SimulatedEnv,
    pub(super) history: History,
    /// Finished checkpoints and their contents.
    pub(super) checkpoints: Vec<(PathBuf, Model)>,
    pub(super) tally: Tally,
    /// What happened, for the message of a failure.
    events: String,
    pub(super) files_made: usize,
    /// The current life.
    pub(super) plan: LifePlan,
    /// Whether the database has refused writes since an error.
    pub(super) poisoned: bool,
    write_buffer_size_bytes: usize,
    pub(super) longest_value_bytes: usize,
}

impl Trial {
    pub(super) fn new(seed: u64, mode: Mode) -> Self {
        let mut random = Random::new(seed);
        let env = SimulatedEnv::new(seed.rotate_left(32), mode);
        env.set_maps_logs(random.one_in(2));
        Self {
            env,
            history: History::default(),
            checkpoints: Vec::new(),
            tally: Tally::default(),
            events: String::new(),
            files_made: 0,
            poisoned: false,
            plan: LifePlan::undisturbed(&mut random, 1),
            // Logs of many blocks, or of one.
            write_buffer_size_bytes: random.choose(&[8 << 10, 8 << 10, 150 << 10]),
            longest_value_bytes: random.choose(&[100, 3000, 3000, 20_000]),
            random,
        }
    }

    /// Lives one life as planned.
    ///
    /// # Errors
    ///
    /// The promise that was broken, what happened before, and the last calls.
    pub(super) fn live(&mut self, plan: LifePlan) -> Result<(), String> {
        self.event(format!("--- {plan:?}"));
        self.plan = plan;
        self.poisoned = false;
        if let Some(calls) = self.plan.halts_after {
            self.env.halt_after(calls);
        }
        if let Some(fault) = &self.plan.fault {
            self.env.fail_at(fault.clone());
        }
        let db = self.open_and_use().map_err(|problem| {
            let Self { env, events, .. } = self;
            format!("{problem}\n\nevents:\n{events}\nlast calls:\n{}", env.trace())
        })?;
        self.tally.add("faults", u64::from(self.fault_came()));
        self.end();
        if let Some(db) = db {
            // The dead process may do anything.
            let _ = db.put(b"after", b"death", &WriteOptions { sync: true });
            let _ = db.close();
        }
        Ok(())
    }

    pub(super) fn event(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.events, "{}", text.as_ref());
    }

    pub(super) fn options(&self) -> Options {
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

    pub(super) fn fault_came(&self) -> bool {
        self.plan.fault.is_some() && self.env.has_failed()
    }

    /// The meaning of an error: the end of this life if there was a reason for the error, otherwise a broken promise.
    pub(super) fn stop(&self, what: &str, error: &Error) -> Stop {
        if self.env.is_halted() {
            return Stop::Ended;
        }
        use ErrorKind::{DiskFull, Io, Poisoned, ReadOnly, TooManyFiles};
        let clean = matches!(error.kind(), Io | DiskFull | TooManyFiles | ReadOnly | Poisoned);
        if self.fault_came() && clean { Stop::Ended } else { Stop::Broken(format!("{what}: {error}")) }
    }

    fn open_and_use(&mut self) -> Result<Option<Db>, String> {
        let db = match self.open() {
            Ok(db) => db,
            Err(Stop::Ended) => {
                self.tally.one("ends while opening");
                self.event("stopped while opening");
                return Ok(None);
            }
            Err(Stop::Broken(problem)) => return Err(problem),
        };
        let lived = match self.use_database(&db) {
            Ok(()) | Err(Stop::Ended) if self.plan.closes => self.close(&db),
            lived => lived,
        };
        match lived {
            Ok(()) | Err(Stop::Ended) => Ok(Some(db)),
            Err(Stop::Broken(problem)) => Err(problem),
        }
    }

    /// Repairs if that is planned, opens, and examines the contents.
    fn open(&mut self) -> Step<Db> {
        if self.plan.repairs {
            self.repair()?;
        }
        let db = match Db::open(DIRECTORY, self.options()) {
            Err(error) if self.plan.goes_on => {
                self.recover_from("open", &error)?;
                Db::open(DIRECTORY, self.options())
            }
            result => result,
        };
        let db = db.map_err(|error| self.stop("open", &error))?;
        self.tally.one("opens");
        let found = match self.contents(&db, None) {
            Err(Stop::Ended) if self.plan.goes_on => {
                self.env.heal();
                self.contents(&db, None)?
            }
            result => result?,
        };
        let before = self.history.len();
        let seen = self.history.opened(&found);
        self.event(format!("opened, with {} of {before} batches", self.history.len()));
        seen.map_err(Stop::Broken)?;
        Ok(db)
    }

    fn repair(&mut self) -> Step {
        self.event("repair");
        self.history.repair();
        let report = match Db::repair(DIRECTORY, &self.options()) {
            Err(error) if self.plan.goes_on && error.kind() != ErrorKind::NoDatabase => {
                self.recover_from("repair", &error)?;
                Db::repair(DIRECTORY, &self.options())
            }
            result => result,
        };
        match report {
            Ok(report) => {
                self.event(report.to_string());
                self.tally.one("repairs");
                Ok(())
            }
            // None of it may have reached the disk.
            Err(error) if error.kind() == ErrorKind::NoDatabase => Ok(()),
            Err(error) => Err(self.stop("repair", &error)),
        }
    }

    /// Removes the cause of an error, if there was one.
    pub(super) fn recover_from(&mut self, what: &str, error: &Error) -> Step {
        match self.stop(what, error) {
            Stop::Ended if !self.env.is_halted() => {
                self.event(format!("{what} failed: {error}"));
                self.env.heal();
                Ok(())
            }
            stop => Err(stop),
        }
    }

    fn close(&mut self, db: &Db) -> Step {
        self.event("close");
        match db.close() {
            Ok(()) if self.poisoned => Err(Stop::Broken("close reports success".to_owned())),
            Ok(()) => {
                self.history.all_durable();
                Ok(())
            }
            Err(error) => Err(self.stop("close", &error)),
        }
    }

    fn end(&mut self) {
        match self.plan.end {
            End::Death => {
                self.env.kill_process();
                self.tally.one("deaths");
                self.event("killed");
            }
            End::PowerCut => {
                let summary = self.env.cut_power();
                self.history.power_cut();
                self.tally.one("power cuts");
                self.tally.add("power cuts with loss", u64::from(summary.lost_something()));
                self.event(summary.to_string());
            }
        }
    }
}
