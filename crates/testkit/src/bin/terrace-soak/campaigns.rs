//! The campaigns, and their shares of the time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_engine::Compression;
use terrace_engine::env::simulated::Mode;
use terrace_engine::env::{Env, MemoryEnv};
use terrace_testkit::campaign::{Tally, TrialResult};
use terrace_testkit::crash;
use terrace_testkit::damage;
use terrace_testkit::keys::KeySpace;
use terrace_testkit::kills::{self, victim::beside_this_program};
use terrace_testkit::random::Random;
use terrace_testkit::stress;
use terrace_testkit::trial::{Settings, Trial};

use crate::node;

/// How many times a database's writer is killed before a new trial begins.
const KILLS_A_TRIAL: u64 = 10;
/// The same on a full disk.
const KILLS_ON_A_FULL_DISK: u64 = 4;
/// Operations of a trial against the model.
const OPERATIONS_A_TRIAL: usize = 20_000;

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
            name: "model",
            about: "operations of every kind, compared with a reference model",
            share: 1,
            trial: compare_with_model,
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
            trial: |seed| kills::run(seed, KILLS_A_TRIAL, &writer()),
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
            trial: |seed| kills::full_disk::run(seed, KILLS_ON_A_FULL_DISK, &writer()),
        },
        Kind {
            name: "logs-in-values",
            about: "writers killed amid values that look like logs",
            share: 1,
            trial: |seed| kills::logs_in_values::run(seed, &beside_this_program("terrace-interop")),
        },
        Kind {
            name: "leveldb-lives",
            about: "LevelDB 1.23 is killed and repairs; Terrace reads what it left",
            share: 1,
            trial: kills::leveldb_lives::run,
        },
    ]
}

fn writer() -> PathBuf {
    beside_this_program("terrace-writer")
}

fn compare_with_model(seed: u64) -> TrialResult {
    let mut random = Random::new(seed);
    let settings = Settings {
        env: Arc::new(if random.one_in(2) { MemoryEnv::new() } else { MemoryEnv::with_steps() }),
        directory: "/db".into(),
        keys: if random.one_in(2) { KeySpace::Bytes } else { KeySpace::IndexedDb },
        compression: match random.below(3) {
            0 => Compression::None,
            1 => Compression::Snappy,
            _ => Compression::Zstd { level: 1 },
        },
    };
    Trial::run(seed, OPERATIONS_A_TRIAL, settings)?;
    let mut tally = Tally::default();
    tally.add("operations", OPERATIONS_A_TRIAL as u64);
    Ok(tally)
}
