//! Simulated power cuts, deaths and failing calls: see [`terrace_testkit::crash`].
//!
//! `TERRACE_SEED` runs only the trial of that seed, which a failure names. `TERRACE_TRIALS` sets the number of trials
//! in each mode.

use terrace_engine::env::simulated::Mode;
use terrace_testkit::campaign::{Campaign, trials};
use terrace_testkit::crash;
use terrace_testkit::form::scaled;
use terrace_testkit::random::seed;

/// Default number of trials in each mode.
const TRIALS: u64 = 1500;

fn run(mode: Mode) {
    let trials = trials(scaled(TRIALS));
    let tally = Campaign::assert(&format!("{mode:?}"), seed(), trials, |seed| crash::run(seed, mode));
    if trials >= scaled(1000) {
        // A trial that never gets there proves nothing.
        let at_least = |name: &str, count: u64| assert!(tally.get(name) > count, "too few {name}: {tally}");
        at_least("power cuts", trials);
        at_least("power cuts with loss", trials / 2);
        at_least("ends while opening", trials / 4);
        at_least("deaths", trials / 4);
        at_least("opens", trials);
        at_least("faults", trials / 10);
        at_least("checkpoints", 0);
        at_least("ingests", 0);
        at_least("repairs", trials / 10);
        at_least("went on after a fault", 0);
        // Too rare for the short form.
        if trials >= 1000 {
            at_least("went on after a fault", trials / 10);
            at_least("poisoned by a fault", trials / 100);
        }
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
