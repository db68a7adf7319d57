//! The state of one trial, and what errors mean in it. Its [lives](super::life) end with a power cut or the death of
//! the process at any call, even while the database is being opened or repaired. The next life examines what remains.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use terrace_engine::env::Env;
use terrace_engine::env::simulated::{Mode, SimulatedEnv};
use terrace_engine::{Error, ErrorKind, Options};

use super::history::{History, Model};
use super::plan::LifePlan;
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
    pub(super) events: String,
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
}
