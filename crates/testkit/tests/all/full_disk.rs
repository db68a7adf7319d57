//! Writers on a disk that fills up: see [`terrace_testkit::kills::full_disk`]. Mounting the disk needs root.
#![cfg(target_os = "linux")]

use std::path::Path;

use terrace_testkit::campaign::{Campaign, trials};
use terrace_testkit::form::scaled;
use terrace_testkit::kills::full_disk;
use terrace_testkit::random::seed;

const TRIALS: u64 = 3;
const KILLS_A_TRIAL: u64 = 4;

#[test]
fn writers_go_on_when_a_full_disk_has_room_again_and_every_acknowledged_write_survives() {
    let writer = Path::new(env!("CARGO_BIN_EXE_terrace-writer"));
    let tally = Campaign::assert("full disks", seed(), trials(scaled(TRIALS)), |seed| {
        full_disk::run(seed, KILLS_A_TRIAL, writer)
    });
    assert!(tally.get("refused batches") >= tally.get("full disks"), "{tally}");
}
