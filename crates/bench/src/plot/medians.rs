//! The median of several rounds, for each engine and each step of a run.

use crate::report::{Report, median};

/// The rounds of one engine at one step, combined.
#[derive(Clone, Debug, PartialEq)]
pub struct Median {
    /// The engine.
    pub series: String,
    /// Position of the workload in the run, from 0.
    pub step: u32,
    /// The workload, followed by a number from its second time on: `readrandom 2`.
    pub label: String,
    /// The median of its times per operation.
    pub micros_per_op: f64,
}

/// The medians of `reports`, all of one configuration, in the order in which their steps and engines first occur.
pub fn medians(reports: &[Report]) -> Vec<Median> {
    let mut keys: Vec<(u32, &str)> = Vec::new();
    for report in reports {
        let key = (report.step, &*report.engine);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by_key(|(step, _)| *step);
    let median_of = |(step, engine): (u32, &str)| {
        let rounds = reports.iter().filter(|report| report.step == step && report.engine == engine);
        Median {
            series: engine.to_owned(),
            step,
            label: label(reports, step),
            micros_per_op: median(rounds.map(Report::wall_micros_per_op).collect()),
        }
    };
    keys.into_iter().map(median_of).collect()
}

/// The workload at `step`, numbered if it occurred before.
fn label(reports: &[Report], step: u32) -> String {
    let label_at =
        |step| reports.iter().find(|report| report.step == step).map_or_else(String::new, Report::label);
    let label = label_at(step);
    let times = (0..=step).filter(|&earlier| label_at(earlier) == label).count();
    if times > 1 { format!("{label} {times}") } else { label }
}
