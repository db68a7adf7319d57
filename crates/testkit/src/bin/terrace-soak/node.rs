//! Trials written in JavaScript.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use terrace_testkit::campaign::{Tally, TrialResult};

const KILL_TRIALS: &str = "../../packages/terrace/test/support/kill-trials.js";

/// Kills processes of Node that write with `Level`.
pub fn kills(seed: u64, kills: u64) -> TrialResult {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(KILL_TRIALS);
    let output = Command::new("node")
        .arg(script)
        .args(["--seed", &seed.to_string(), "--kills", &kills.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("node cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let counts: BTreeMap<String, u64> =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("its counts: {error}"))?;
    let mut tally = Tally::default();
    let done = counts.into_iter().filter(|(name, _)| name != "seeds");
    done.for_each(|(name, count)| tally.add(name, count));
    Ok(tally)
}
