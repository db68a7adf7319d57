//! Writers that are killed: see [`terrace_testkit::kills`].
//!
//! `TERRACE_SEED` runs only the trial of that seed, which a failure names, although no moment recurs exactly.
//! `TERRACE_TRIALS` sets the number of trials. If `TMPDIR` is in memory, syncs cost nothing, and more happens in a
//! life.

use std::path::Path;

use terrace_testkit::campaign::{Campaign, trials};
use terrace_testkit::form::scaled;
use terrace_testkit::kills::{self, leveldb, logs_in_values};
use terrace_testkit::random::seed;

/// Default number of trials.
const TRIALS: u64 = 21;
const KILLS_A_TRIAL: u64 = 10;

#[test]
fn every_acknowledged_write_survives_kills() {
    let trials = trials(scaled(TRIALS));
    let writer = Path::new(env!("CARGO_BIN_EXE_terrace-writer"));
    let tally = Campaign::assert("kills", seed(), trials, |seed| kills::run(seed, KILLS_A_TRIAL, writer));
    assert_eq!(tally.get("kills"), trials * KILLS_A_TRIAL);
    // A trial that never gets there proves nothing.
    let at_least = |name: &str, count: u64| assert!(tally.get(name) > count, "too few {name}: {tally}");
    if trials >= scaled(TRIALS) {
        at_least("acknowledged batches", 10 * trials);
    }
    if trials >= TRIALS {
        at_least("kills while opening", trials / 2);
        at_least("kills in a large batch", 0);
        at_least("checkpoints", trials / 2);
        if leveldb::is_there() {
            at_least("LevelDB checks", trials * KILLS_A_TRIAL / 2);
            at_least("databases taken over from LevelDB", trials / 2);
        }
    }
}

/// Trials of one kill each: three values of 24 MB, and a copy for each reader.
const TRIALS_OF_LARGE_VALUES: u64 = 8;

#[test]
fn a_writer_killed_amid_a_value_that_holds_a_log_leaves_what_opens_and_repair_creates_no_key() {
    let trials = trials(scaled(TRIALS_OF_LARGE_VALUES));
    let driver = Path::new(env!("CARGO_BIN_EXE_terrace-interop"));
    let tally = Campaign::assert("logs in values", seed(), trials, |seed| logs_in_values::run(seed, driver));
    assert_eq!(tally.get("kills"), trials);
    if trials >= TRIALS_OF_LARGE_VALUES {
        assert!(tally.get("cut logs") > 0 && tally.get("kills amid a large record") > 0, "{tally}");
    }
}
