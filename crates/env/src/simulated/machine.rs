//! The simulated machine: its names and files, its clock, and what the system counts of its calls. Calls of a
//! [`process`](super::process) change it, and tests [control](super::control) it.

use parking_lot::Mutex;

use super::Mode;
use super::call::Calls;
use super::names::{File, Names};
use super::random::Random;

/// The date of a new machine: 2020-01-01.
const FIRST_UNIX_MICROS: u64 = 1_577_836_800_000_000;

pub(super) struct Machine {
    pub(super) mode: Mode,
    pub(super) state: Mutex<State>,
    pub(super) clock: Mutex<Clock>,
}

/// All of the machine except its clock.
pub(super) struct State {
    /// Grows with each death of a process.
    pub(super) life: u64,
    pub(super) random: Random,
    pub(super) calls: Calls,
    pub(super) names: Names,
    pub(super) locked: Vec<File>,
    pub(super) capacity_bytes: Option<u64>,
    pub(super) maps_logs: bool,
}

pub(super) struct Clock {
    pub(super) monotonic_micros: u64,
    pub(super) unix_micros: u64,
}

impl Machine {
    /// A machine with an empty disk. Everything random in it follows from `seed`.
    pub(super) fn new(seed: u64, mode: Mode) -> Self {
        let state = State {
            life: 0,
            random: Random::new(seed),
            calls: Calls::default(),
            names: Names::new(),
            locked: Vec::new(),
            capacity_bytes: None,
            maps_logs: false,
        };
        let clock = Clock { monotonic_micros: 0, unix_micros: FIRST_UNIX_MICROS };
        Self { mode, state: Mutex::new(state), clock: Mutex::new(clock) }
    }
}

impl State {
    pub(super) fn begin_life(&mut self, remark: &'static str) -> u64 {
        self.calls.clear_plans();
        self.calls.restart(remark);
        self.locked.clear();
        self.life += 1;
        self.life
    }

    /// The system writes what waits, and the device fails for most files.
    pub(super) fn fail_write_back(&mut self) {
        for (_, file) in self.names.files() {
            if self.random.chance(3, 4) {
                file.lock().fail_write_back(&mut self.random);
            }
        }
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.names.files().iter().map(|(_, file)| file.lock().bytes().len() as u64).sum()
    }

    /// How many of the `wanted` bytes there is room for.
    pub(super) fn room_bytes(&self, wanted: usize) -> usize {
        match self.capacity_bytes {
            Some(capacity_bytes) if wanted > 0 => {
                let room = capacity_bytes.saturating_sub(self.used_bytes());
                usize::try_from(room).unwrap_or(usize::MAX).min(wanted)
            }
            _ => wanted,
        }
    }
}
