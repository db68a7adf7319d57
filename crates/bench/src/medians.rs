//! The median of several rounds, for each engine and each step of a run. The rounds are the JSON lines that
//! [`crate::report`] writes.

use crate::report::{Report, median};

/// The engine with which others are compared.
pub const REFERENCE: &str = "leveldb";

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
    /// How many times as fast as [`REFERENCE`] it is. `None` for the reference itself and where it did not run.
    pub times_as_fast: Option<Ratio>,
}

/// What the ratios of several rounds are. Each is taken within a round, since a slow minute is slow for both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The smallest of them.
    pub least: f64,
    /// Their median, which is not the ratio of the medians.
    pub median: f64,
    /// The largest of them.
    pub most: f64,
}

impl Ratio {
    /// `None` if there are none.
    fn of(ratios: Vec<f64>) -> Option<Self> {
        let least = ratios.iter().copied().reduce(f64::min)?;
        let most = ratios.iter().copied().reduce(f64::max)?;
        Some(Self { least, median: median(ratios), most })
    }
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
        let times = rounds(reports, engine, step);
        Median {
            series: engine.to_owned(),
            step,
            label: label(reports, step),
            micros_per_op: median(times.iter().map(|(_, time)| *time).collect()),
            times_as_fast: times_as_fast(reports, engine, step),
        }
    };
    keys.into_iter().map(median_of).collect()
}

/// Each round's time per operation.
fn rounds(reports: &[Report], engine: &str, step: u32) -> Vec<(u32, f64)> {
    let of = reports.iter().filter(|report| report.engine == engine && report.step == step);
    of.map(|report| (report.round, report.wall_micros_per_op())).collect()
}

fn times_as_fast(reports: &[Report], engine: &str, step: u32) -> Option<Ratio> {
    if engine == REFERENCE {
        return None;
    }
    let times = rounds(reports, engine, step);
    let ratio = |(round, reference): (u32, f64)| {
        let (_, time) = times.iter().find(|(of, _)| *of == round)?;
        Some(reference / time)
    };
    Ratio::of(rounds(reports, REFERENCE, step).into_iter().filter_map(ratio).collect())
}

/// The workload at `step`, numbered if it occurred before.
fn label(reports: &[Report], step: u32) -> String {
    let label_at =
        |step| reports.iter().find(|report| report.step == step).map_or_else(String::new, Report::label);
    let label = label_at(step);
    let times = (0..=step).filter(|&earlier| label_at(earlier) == label).count();
    if times > 1 { format!("{label} {times}") } else { label }
}
