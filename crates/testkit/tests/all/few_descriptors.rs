//! Many threads on databases in a process that may open few files: see [`terrace_testkit::stress`].
//!
//! The process is this test program again, started by a shell that sets the limit, running only [`helper_process`].
//! `TERRACE_SEED` sets the first seed, `TERRACE_TRIALS` the number of trials at each limit.
#![cfg(unix)]

use std::process::Command;
use std::sync::Arc;

use crate::support::only;
use terrace_engine::env::{Env, PosixEnv};
use terrace_testkit::campaign::{Campaign, trials};
use terrace_testkit::form::scaled;
use terrace_testkit::random::seed;
use terrace_testkit::stress;

const ROLE: &str = "TERRACE_FEW_DESCRIPTORS_ROLE";
const TRIALS: u64 = 2;
/// Enough for the test runner, a trial's threads and the files that each of them writes.
const LIMITS: [usize; 3] = [48, 64, 128];

/// The other process. Does nothing in an ordinary run of the tests.
#[test]
fn helper_process() {
    if std::env::var(ROLE).is_err() {
        return;
    }
    let tally = Campaign::assert("stress with few descriptors", seed(), trials(scaled(TRIALS)), |seed| {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let env: Arc<dyn Env> = Arc::new(PosixEnv::new());
        stress::run(seed, &env, &directory.path().join("db"))
    });
    println!("\ndone as told: {tally}");
}

#[test]
fn histories_at_low_limits() {
    for limit in LIMITS {
        let output = Command::new("sh")
            .args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")])
            .arg(std::env::current_exe().unwrap())
            .args(only(concat!(module_path!(), "::helper_process")))
            .env(ROLE, "trials")
            .output()
            .unwrap();
        let printed =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && printed.contains("done as told"),
            "with {limit} descriptors: {printed}"
        );
    }
}
