//! The campaigns, and their shares of the time.

use std::path::Path;
use std::sync::Arc;

use terrace_engine::env::simulated::Mode;
use terrace_engine::env::{Env, MemoryEnv};
use terrace_testkit::campaign::TrialResult;
use terrace_testkit::crash;
use terrace_testkit::damage;
use terrace_testkit::kills::{self, victim::writer_beside_this_program};
use terrace_testkit::stress;

use crate::node;

/// How many times a database's writer is killed before a new trial begins.
const KILLS_A_TRIAL: u64 = 10;
/// The same on a full disk.
const KILLS_ON_A_FULL_DISK: u64 = 4;

/// One kind of trial.
pub struct Kind {
    /// The name for `--only`.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// Its share of the time, in relation to the others.
    pub share: u32,
    /// Runs the trial of a seed.
    pub trial: fn(u64) -> TrialResult,
}

/// Every kind of trial.
pub fn all() -> Vec<Kind> {
    vec![
        Kind {
            name: "power-cuts-strict",
            about: "simulated power cuts, deaths and faults; strict POSIX",
            share: 2,
            trial: |seed| crash::run(seed, Mode::StrictPosix),
        },
        Kind {
            name: "power-cuts-ext4",
            about: "the same; ext4 with ordered data",
            share: 2,
            trial: |seed| crash::run(seed, Mode::Ext4Ordered),
        },
        Kind {
            name: "failing-calls",
            about: "a script in which each call fails, one after the other",
            share: 2,
            trial: |seed| {
                let mode = if seed.is_multiple_of(2) { Mode::StrictPosix } else { Mode::Ext4Ordered };
                crash::sweep(seed, mode)
            },
        },
        Kind {
            name: "damage",
            about: "damaged files of every kind: reads, verify and repair",
            share: 3,
            trial: damage::run,
        },
        Kind {
            name: "stress",
            about: "many threads on one database",
            share: 1,
            trial: |seed| {
                let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
                stress::run(seed, &env, Path::new("/db"))
            },
        },
        Kind {
            name: "kills",
            about: "writers that are killed; Terrace and LevelDB 1.23 read what they left",
            share: 2,
            trial: |seed| kills::run(seed, KILLS_A_TRIAL, &writer_beside_this_program()),
        },
        Kind {
            name: "node-kills",
            about: "the same with processes of Node",
            share: 2,
            trial: |seed| node::kills(seed, KILLS_A_TRIAL),
        },
        Kind {
            name: "full-disk-kills",
            about: "the same on a small disk that is full",
            share: 1,
            trial: |seed| kills::full_disk::run(seed, KILLS_ON_A_FULL_DISK, &writer_beside_this_program()),
        },
    ]
}
