//! Databases that LevelDB wrote, during which it was killed, and that it repaired: see
//! [`terrace_testkit::kills::leveldb_lives`].
//!
//! `TERRACE_SEED` runs only the trial of that seed, which a failure names, although no moment recurs exactly.
//! `TERRACE_TRIALS` sets the number of trials.

use terrace_testkit::campaign::{Campaign, trials};
use terrace_testkit::form::scaled;
use terrace_testkit::kills::{leveldb, leveldb_lives};
use terrace_testkit::random::seed;

/// Default number of trials, of three lives each.
const TRIALS: u64 = 7;

#[test]
fn every_get_says_what_the_scan_says_after_leveldb_was_killed_and_repaired() {
    let trials = trials(scaled(TRIALS));
    let tally = Campaign::assert("leveldb-lives", seed(), trials, leveldb_lives::run);
    if leveldb::is_there() && trials >= TRIALS {
        assert!(tally.get("LevelDB repairs") >= trials, "too few repairs: {tally}");
        assert!(tally.get("databases given back to LevelDB") > 0, "{tally}");
    }
}
