//! A call of every kind fails, one after the other: see [`terrace_testkit::crash::sweep`].
//!
//! `TERRACE_SEED` sweeps only the script of that seed. `TERRACE_TRIALS` sets the number of scripts.

use terrace_engine::env::simulated::Mode;
use terrace_testkit::campaign::{Campaign, trials};
use terrace_testkit::crash;
use terrace_testkit::form::scaled;
use terrace_testkit::random::seed;

const SCRIPTS: u64 = 3;

#[test]
fn every_call_of_a_script_may_fail() {
    // A script of each mode at least.
    let scripts = trials(scaled(SCRIPTS).max(2));
    let sweep = |first, scripts| {
        Campaign::assert("failing calls", first, scripts, |seed| {
            let mode = if seed % 2 == 0 { Mode::StrictPosix } else { Mode::Ext4Ordered };
            crash::sweep(seed, mode)
        })
    };
    let first = seed();
    let mut tally = sweep(first, scripts);
    // Lives are of random length. If they happen to be short, some scripts more make up for it.
    for next in (first..).skip(scripts as usize).take(2 * scripts as usize) {
        if tally.get("faults") > 300 * scripts {
            break;
        }
        tally.merge(&sweep(next, 1));
    }
    assert!(tally.get("faults") > 300 * scripts, "{tally}");
    assert!(tally.get("poisoned by a fault") > 0, "{tally}");
}
