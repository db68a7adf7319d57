//! Many threads on one database: see [`terrace_testkit::stress`].
//!
//! `TERRACE_SEED` sets the first seed, `TERRACE_TRIALS` the number of trials of each test.

use std::path::Path;
use std::sync::Arc;

use terrace_engine::env::{Env, MemoryEnv, default_env};
use terrace_testkit::campaign::{Campaign, trials};
use terrace_testkit::form::scaled;
use terrace_testkit::random::seed;
use terrace_testkit::stress;

const TRIALS_IN_MEMORY: u64 = 12;
const TRIALS_ON_DISK: u64 = 3;

#[test]
fn threads_in_memory() {
    let tally = Campaign::assert("stress in memory", seed(), trials(scaled(TRIALS_IN_MEMORY)), |seed| {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
        stress::run(seed, &env, Path::new("/db"))
    });
    assert!(tally.get("writes") > 0 && tally.get("scans") > 0, "{tally}");
}

#[test]
fn threads_on_a_disk() {
    Campaign::assert("stress on a disk", seed(), trials(scaled(TRIALS_ON_DISK)), |seed| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let env = default_env();
        stress::run(seed, &env, &directory.path().join("db"))
    });
}
