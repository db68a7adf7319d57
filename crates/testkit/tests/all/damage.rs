//! Damaged files of every kind: see [`terrace_testkit::damage`].
//!
//! `TERRACE_SEED` runs only the trial of that seed, which a failure names. `TERRACE_TRIALS` sets the number of
//! trials; each damages a dozen copies of a database.

use terrace_testkit::campaign::{Campaign, trials};
use terrace_testkit::damage;
use terrace_testkit::form::scaled;
use terrace_testkit::random::seed;

/// Default number of trials.
const TRIALS: u64 = 250;

#[test]
fn damaged_files_are_noticed_and_repaired() {
    let trials = trials(scaled(TRIALS));
    let tally = Campaign::assert("damage", seed(), trials, damage::run);
    if trials >= scaled(200) {
        // A trial that never gets there proves nothing. In the short form, each kind of damage occurs.
        let at_least = |name: &str, count: u64| {
            let count = if trials < 200 { 0 } else { count };
            assert!(tally.get(name) > count, "too few {name}: {tally}");
        };
        at_least("damaged files", 12 * trials);
        at_least("damaged tables", 5 * trials);
        at_least("damaged logs", 2 * trials);
        at_least("damaged MANIFESTs", trials);
        at_least("damaged CURRENTs", trials / 3);
        at_least("damaged files that do not count", trials / 2);
        for part in ["data blocks", "filters", "metaindexes", "indexes", "footers"] {
            at_least(part, trials / 8);
        }
        at_least("opens that failed", 3 * trials);
        at_least("reads that failed", 10 * trials);
        at_least("verifies", 2 * trials);
        at_least("verifies that failed", trials);
        at_least("repairs", 11 * trials);
        at_least("repairs interrupted", trials);
        at_least("values that a repair could not keep", trials);
    }
}
