//! The record of a run: one line for the reader, one JSON object for the files in `bench/results/`.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::machine::Machine;
use crate::meter::{Interval, Latency};
use crate::settings::Settings;
use crate::usage::DeviceReads;

/// Bytes that a workload wrote, counted in several ways.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct WrittenBytes {
    /// Keys and values of the workload's own writes.
    pub by_user: u64,
    /// Written to tables in flushes and compactions, as the engine counts; `null` if it does not.
    pub to_tables: Option<u64>,
    /// Written by calls of `write` and its kin, by the whole process.
    pub by_calls: Option<u64>,
    /// Written to the disk or, for now, to the page cache, by the whole process.
    pub to_disk: Option<u64>,
}

impl WrittenBytes {
    /// How often each byte of the user's was written to the disk, logs included.
    pub fn amplification(&self) -> Option<f64> {
        let to_disk = self.to_disk? as f64;
        (self.by_user > 0).then(|| to_disk / self.by_user as f64)
    }
}

/// One run of one workload.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Report {
    /// The engine's name.
    pub engine: String,
    /// Its version.
    pub engine_version: String,
    /// Its settings, as text.
    pub engine_settings: String,
    /// The set of settings, if several are compared.
    pub configuration: String,
    /// Number of the repetition, from 0.
    pub round: u32,
    /// Number of earlier workloads on the database, to tell those of one name apart.
    pub step: u32,
    /// The workload's name.
    pub workload: String,
    /// The options of the run.
    pub settings: Settings,
    /// Number of threads that did the work.
    pub threads: usize,
    /// Number of operations of all threads.
    pub ops: u64,
    /// From the first thread's start to the last one's end.
    pub seconds: f64,
    /// Mean time of an operation as a thread sees it, like db_bench's.
    pub micros_per_op: f64,
    /// Operations of all threads per second.
    pub ops_per_second: f64,
    /// Bytes of keys and values that were moved.
    pub bytes: u64,
    /// Latencies in microseconds; `null` if not requested.
    pub latency_micros: Option<Latency>,
    /// Latencies over time, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Interval>,
    /// Bytes written during the run.
    pub written_bytes: WrittenBytes,
    /// What was read from the device during the run.
    #[serde(default)]
    pub device_reads: DeviceReads,
    /// Bytes written to the disk per byte of the user's.
    pub write_amplification: Option<f64>,
    /// Space that the database's directory occupied afterwards, in bytes.
    pub space_bytes: u64,
    /// The most memory that the process had during the run, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// The most of it that was not backed by a file, in bytes: without mapped tables, and without the memory in which
    /// the benchmark itself keeps the keys.
    #[serde(default)]
    pub peak_anonymous_bytes: Option<u64>,
    /// The memory that the engine's settings allow, in bytes.
    #[serde(default)]
    pub memory_budget_bytes: Option<u64>,
    /// Remarks of the workload, for example how much was found.
    pub message: String,
    /// The machine of the run.
    pub machine: Machine,
    /// The commit of the working directory.
    pub commit: Option<String>,
    /// When it ended, in UTC.
    pub date: String,
}

impl Report {
    /// Wall time divided by the operations of all threads; for one thread, the time of an operation.
    pub fn wall_micros_per_op(&self) -> f64 {
        1e6 / self.ops_per_second
    }

    /// The workload and, if they differ from the run's, its threads: `fillsync, 16 threads`.
    pub fn label(&self) -> String {
        if self.threads == self.settings.threads {
            self.workload.clone()
        } else {
            format!("{}, {} threads", self.workload, self.threads)
        }
    }

    /// The line for the reader, in db_bench's form.
    pub fn line(&self) -> String {
        let mut line = format!("{:<17}: {:>11.3} micros/op;", self.workload, self.micros_per_op);
        if self.bytes > 0 {
            let _ = write!(line, " {:8.1} MB/s", self.bytes as f64 / f64::from(1 << 20) / self.seconds);
        }
        if self.threads > 1 {
            let _ = write!(line, " {:.0} ops/s by {} threads", self.ops_per_second, self.threads);
        }
        if let Some(Latency { p50, p99, p999, max }) = self.latency_micros {
            let _ = write!(line, " p50 {p50:.2} p99 {p99:.2} p99.9 {p999:.2} max {max:.0} µs");
        }
        if let Some(amplification) = self.write_amplification {
            let _ = write!(line, " {amplification:.1}× written");
        }
        if !self.message.is_empty() {
            let _ = write!(line, " {}", self.message);
        }
        line
    }

    /// Appends the report as one line to `file`, which is created if necessary.
    pub fn append_to(&self, file: &Path) -> Result<()> {
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())?;
        Ok(())
    }

    /// Reads the reports in `file`, one per line.
    pub fn read_all(file: &Path) -> Result<Vec<Self>> {
        let parse = |(index, line): (usize, &str)| {
            serde_json::from_str(line)
                .map_err(|error| format!("{}:{}: {error}", file.display(), index + 1).into())
        };
        fs::read_to_string(file)?.lines().enumerate().map(parse).collect()
    }
}

/// The reports of each configuration, in the order in which the configurations first occur.
pub fn configurations(reports: &[Report]) -> Vec<(String, Vec<Report>)> {
    let mut configurations: Vec<(String, Vec<Report>)> = Vec::new();
    for report in reports {
        match configurations.iter_mut().find(|(name, _)| *name == report.configuration) {
            Some((_, reports)) => reports.push(report.clone()),
            None => configurations.push((report.configuration.clone(), vec![report.clone()])),
        }
    }
    configurations
}

/// The middle one of `numbers`, or the mean of the middle two; 0 if there are none.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => numbers[middle],
        _ => f64::midpoint(numbers[middle - 1], numbers[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(vec![]), 0.0);
    }

    #[test]
    fn amplification_needs_something_written() {
        let mut written = WrittenBytes { by_user: 100, to_disk: Some(250), ..WrittenBytes::default() };
        assert_eq!(written.amplification(), Some(2.5));
        written.by_user = 0;
        assert_eq!(written.amplification(), None);
    }
}
