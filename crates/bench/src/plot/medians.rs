//! The middle of several rounds, for each engine and each step of a run.

use crate::report::{Report, median};

/// The rounds of one engine at one step, put together.
#[derive(Clone, Debug, PartialEq)]
pub struct Median {
    /// The engine and, if there are several, its configuration.
    pub series: String,
    /// Which workload of the run it is, from 0.
    pub step: u32,
    /// The workload, with a number behind it from its second time on: `readrandom 2`.
    pub label: String,
    /// The median of its times an operation.
    pub micros_per_op: f64,
}

/// The medians of `reports`, in the order in which their steps and series first come.
pub fn medians(reports: &[Report]) -> Vec<Median> {
    let several = reports.iter().any(|report| report.configuration != reports[0].configuration);
    let series_of = |report: &Report| {
        if several { format!("{}, {}", report.engine, report.configuration) } else { report.engine.clone() }
    };
    let mut keys: Vec<(u32, String)> = Vec::new();
    for report in reports {
        let key = (report.step, series_of(report));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.sort_by_key(|(step, _)| *step);
    let same = |report: &&Report, key: &(u32, String)| report.step == key.0 && series_of(report) == key.1;
    keys.into_iter()
        .map(|key| {
            let times = reports.iter().filter(|report| same(report, &key)).map(|report| report.micros_per_op);
            Median {
                label: label(reports, key.0),
                micros_per_op: median(times.collect()),
                step: key.0,
                series: key.1,
            }
        })
        .collect()
}

/// The workload at `step`, numbered if it came before.
fn label(reports: &[Report], step: u32) -> String {
    let workload_at =
        |step| reports.iter().find(|report| report.step == step).map(|report| &*report.workload);
    let workload = workload_at(step).unwrap_or_default();
    let times = (0..=step).filter(|&earlier| workload_at(earlier) == Some(workload)).count();
    if times > 1 { format!("{workload} {times}") } else { workload.to_owned() }
}
