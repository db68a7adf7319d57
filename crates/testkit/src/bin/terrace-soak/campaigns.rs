//! The campaigns, and how much of the time each gets.

use terrace_engine::env::simulated::Mode;
use terrace_testkit::campaign::TrialResult;
use terrace_testkit::crash;

/// One kind of trial.
pub struct Kind {
    /// As `--only` takes it.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Its share of the time, in relation to the others'.
    pub share: u32,
    /// Runs the trial of a seed.
    pub trial: fn(u64) -> TrialResult,
}

/// Every kind of trial there is.
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
    ]
}
