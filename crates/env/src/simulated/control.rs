//! How a test controls the simulated machine.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use super::Mode;
use super::call::{CallCounts, FaultPlan};
use super::contents::Cut;
use super::machine::{Machine, State};
use super::process::Process;
use super::summary::{CutSummary, FileLoss};
use crate::DirectoryHold;

/// A process on a simulated machine. Clones are the same process. See the [module](super).
#[derive(Clone)]
pub struct SimulatedEnv {
    pub(super) process: Process,
    /// The directory for which [`hold_directory`](crate::Env::hold_directory) returned this, and the hold.
    /// Directories never move here.
    pub(super) held: Option<(PathBuf, Weak<SimulatedHold>)>,
}

/// The hold on a directory.
#[derive(Debug)]
pub(super) struct SimulatedHold;

impl DirectoryHold for SimulatedHold {}

impl fmt::Debug for SimulatedEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let life = self.process.life;
        f.debug_struct("SimulatedEnv").field("life", &life).finish_non_exhaustive()
    }
}

impl SimulatedEnv {
    /// Creates a machine with an empty disk. Everything random in it follows from `seed`.
    pub fn new(seed: u64, mode: Mode) -> Self {
        let machine = Machine::new(seed, mode);
        Self { process: Process { machine: Arc::new(machine), life: 0 }, held: None }
    }

    /// Cuts the power. Durable state stays, and a subset of the rest that the mode allows, chosen by the seed. The
    /// machine then runs again, with this value as its only process. Fault plans are dropped; the capacity stays.
    pub fn cut_power(&mut self) -> CutSummary {
        let mode = self.process.machine.mode;
        let mut state = self.process.machine.state.lock();
        let State { random, names, maps_logs, .. } = &mut *state;
        let cut = Cut::draw(mode, *maps_logs, random);
        let mut files = Vec::new();
        let fates = names.cut_power(mode, random, |path, file, random| {
            let before = file.lock();
            let (after, sectors) = before.after_power_cut(cut, random);
            if sectors.waiting > 0 || before.bytes().len() != after.bytes().len() {
                files.push(FileLoss {
                    path: path.to_owned(),
                    size_before_bytes: before.bytes().len() as u64,
                    size_after_bytes: after.bytes().len() as u64,
                    waiting_sectors: sectors.waiting,
                    kept_sectors: sectors.kept,
                    older_sectors: sectors.older,
                    lost_sectors: sectors.lost,
                });
            }
            Arc::new(Mutex::new(after))
        });
        self.process.life = state.begin_life("--- the power was cut");
        CutSummary {
            sector_size_bytes: cut.sector_size_bytes,
            kept_names: fates.kept,
            lost_names: fates.lost,
            files,
        }
    }

    /// Sets whether a log may stand for a file mapped into memory, whose pages the system may write in the middle of
    /// a record's copy, as the posix environment maps logs if it can. Off at first.
    pub fn set_maps_logs(&self, maps_logs: bool) {
        self.process.machine.state.lock().maps_logs = maps_logs;
    }

    /// Kills the process. What it had handed to the system stays in memory as before; its own buffers and its locks are
    /// lost. This value lives on as the next process. Fault plans are dropped.
    pub fn kill_process(&mut self) {
        let mut state = self.process.machine.state.lock();
        for (_, file) in state.names.files() {
            file.lock().lose_process(&mut state.random);
        }
        self.process.life = state.begin_life("--- the process was killed");
    }

    /// Stops the machine after this many further calls: all calls then fail and change nothing, until
    /// [`cut_power`](Self::cut_power) or [`kill_process`](Self::kill_process).
    pub fn halt_after(&self, calls: u64) {
        self.process.machine.state.lock().calls.halt_after(calls);
    }

    /// Whether the machine has stopped.
    pub fn is_halted(&self) -> bool {
        self.process.machine.state.lock().calls.is_halted()
    }

    /// Adds a plan that makes calls fail; several may be active.
    pub fn fail_at(&self, plan: FaultPlan) {
        self.process.machine.state.lock().calls.add_plan(plan);
    }

    /// Drops all fault plans.
    pub fn heal(&self) {
        self.process.machine.state.lock().calls.clear_plans();
    }

    /// Whether any call of the current process has failed by plan.
    pub fn has_failed(&self) -> bool {
        self.process.machine.state.lock().calls.has_failed()
    }

    /// Sets how many bytes all named files together may hold; a write beyond that does what fits and fails with
    /// `ENOSPC`. `None`, as at first, means no limit.
    pub fn set_capacity(&self, capacity_bytes: Option<u64>) {
        self.process.machine.state.lock().capacity_bytes = capacity_bytes;
    }

    /// Number of bytes that all named files hold together.
    pub fn used_bytes(&self) -> u64 {
        self.process.machine.state.lock().used_bytes()
    }

    /// Number of calls since the machine was created.
    pub fn counts(&self) -> CallCounts {
        self.process.machine.state.lock().calls.counts()
    }

    /// The last calls, a line for each, oldest first.
    pub fn trace(&self) -> String {
        self.process.machine.state.lock().calls.trace()
    }

    /// Advances the clocks.
    pub fn advance(&self, duration: Duration) {
        let mut clock = self.process.machine.clock.lock();
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        clock.monotonic_micros = clock.monotonic_micros.saturating_add(micros);
        clock.unix_micros = clock.unix_micros.saturating_add(micros);
    }

    /// Sets the machine's date, forwards or backwards. The monotonic clock is not affected.
    pub fn set_unix_micros(&self, micros: u64) {
        self.process.machine.clock.lock().unix_micros = micros;
    }

    /// Reading a clock takes a microsecond, so that a loop waiting for a time ends.
    pub(super) fn read_clocks(&self) -> (u64, u64) {
        self.advance(Duration::from_micros(1));
        let clock = self.process.machine.clock.lock();
        (clock.monotonic_micros, clock.unix_micros)
    }
}
