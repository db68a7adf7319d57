//! Databases on a simulated machine that loses power, or whose process dies, at any call. In some lives a call fails
//! before that: then any operation may return an error, which ends the life.
//!
//! After each such end the database is opened again. After a power cut it must hold some prefix of the batches, with at
//! least all up to the last that was promised to be durable; after the death of the process every batch that was
//! acknowledged. Each batch is there whole or not at all. Finished checkpoints hold what they held.
//!
//! `TERRACE_SEED` runs the one trial of that seed, as a failure names it. `TERRACE_TRIALS` sets the number of trials
//! in each mode.

use std::panic::{AssertUnwindSafe, catch_unwind};

use terrace_engine::env::simulated::Mode;
use terrace_testkit::random::{SEED_VARIABLE, seed};

#[path = "power_cut/history.rs"]
mod history;
#[path = "power_cut/trial.rs"]
mod trial;

use trial::{Counts, Trial};

/// Trials in each mode, unless told otherwise.
const TRIALS: u64 = 1500;

/// Failures after which the rest is not tried.
const ENOUGH_FAILURES: usize = 10;

fn run(mode: Mode) {
    let first = seed();
    let trials = match (std::env::var(SEED_VARIABLE), std::env::var("TERRACE_TRIALS")) {
        (Ok(_), Err(_)) => 1,
        (_, Ok(trials)) => trials.parse().expect("TERRACE_TRIALS is a number"),
        (Err(_), Err(_)) => TRIALS,
    };
    let mut counts = Counts::default();
    let mut failures: Vec<(u64, String)> = Vec::new();
    for seed in (first..).take(trials as usize) {
        let result = catch_unwind(AssertUnwindSafe(|| Trial::run(seed, mode)));
        match result.unwrap_or_else(|_| Err("a panic, see above".to_owned())) {
            Ok(done) => counts.add(&done),
            Err(problem) => failures.push((seed, problem)),
        }
        if failures.len() >= ENOUGH_FAILURES {
            break;
        }
    }
    println!("{mode:?}, {trials} trials from {SEED_VARIABLE}={first}: {counts:?}");
    for (seed, problem) in &failures {
        println!("{SEED_VARIABLE}={seed} {mode:?}: {}", problem.lines().next().unwrap_or_default());
    }
    if let Some((seed, problem)) = failures.first() {
        panic!("{} trials failed; the first, {SEED_VARIABLE}={seed} {mode:?}: {problem}", failures.len());
    }
    if trials >= 1000 {
        // A trial that never gets there proves nothing.
        let Counts {
            cuts,
            cuts_with_loss,
            cuts_while_opening,
            kills,
            opens,
            checkpoints,
            ingests,
            faults,
            ..
        } = counts;
        assert!(cuts > trials && kills > trials / 4 && opens > trials, "{counts:?}");
        assert!(cuts_with_loss > trials / 2 && cuts_while_opening > trials / 4, "{counts:?}");
        assert!(checkpoints > 0 && ingests > 0 && faults > trials / 10, "{counts:?}");
    }
}

#[test]
fn a_database_survives_power_cuts_under_strict_posix() {
    run(Mode::StrictPosix);
}

#[test]
fn a_database_survives_power_cuts_on_ordered_ext4() {
    run(Mode::Ext4Ordered);
}
