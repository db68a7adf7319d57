//! Tables in Markdown, from the JSON lines that [`crate::report`] writes.

use std::fmt::Write as _;

use crate::medians::{Median, REFERENCE, medians};
use crate::report::{Report, configurations};
use crate::usage::DeviceReads;

/// Two tables for each configuration, with a line per workload and a column per engine: the median time of an operation,
/// and how many times as fast as LevelDB that is. The settings follow below.
pub fn rivals(reports: &[Report]) -> String {
    let tables = configurations(reports);
    tables.iter().map(|(name, reports)| table(name, reports)).collect::<Vec<_>>().join("\n")
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn table(configuration: &str, reports: &[Report]) -> String {
    let engines = distinct(reports.iter().map(|report| &*report.engine));
    let rounds = reports.iter().map(|report| report.round + 1).max().unwrap_or(0);
    let entries = reports.first().map_or(0, |report| report.settings.num);
    let mut text =
        format!("**{configuration}**: µs per operation, {entries} entries, medians of {rounds} rounds\n\n");
    let medians = medians(reports);
    text.push_str(&columns(&engines, &medians, |median| Some(micros(median.micros_per_op))));
    if medians.iter().any(|median| median.times_as_fast.is_some()) {
        let _ = writeln!(text, "\n**{configuration}**: times as fast as {REFERENCE}\n");
        let compared: Vec<_> = engines.iter().copied().filter(|&engine| engine != REFERENCE).collect();
        text.push_str(&columns(&compared, &medians, |median| {
            median.times_as_fast.map(|ratio| format!("{:.2}", ratio.median))
        }));
    }
    text.push('\n');
    text += &about(&engines, reports);
    text
}

/// The engines with their settings, and the machine.
fn about(engines: &[&str], reports: &[Report]) -> String {
    let mut text = String::new();
    for &engine in engines {
        if let Some(report) = reports.iter().find(|report| report.engine == engine) {
            let _ = writeln!(text, "- {engine} {}: {}", report.engine_version, report.engine_settings);
        }
    }
    if let Some(report) = reports.first() {
        let commit = report.commit.as_deref().unwrap_or("unknown");
        let _ = writeln!(text, "- measured on {}, commit {commit}", report.machine);
    }
    text
}

/// A line per workload and a column per engine.
fn columns(engines: &[&str], medians: &[Median], cell: impl Fn(&Median) -> Option<String>) -> String {
    let mut text =
        format!("| workload | {} |\n|---|{}\n", engines.join(" | "), "---:|".repeat(engines.len()));
    for step in 0..medians.iter().map(|median| median.step + 1).max().unwrap_or(0) {
        let Some(first) = medians.iter().find(|median| median.step == step) else { continue };
        let of = |engine: &str| medians.iter().find(|median| median.step == step && median.series == engine);
        let cells = engines.iter().map(|engine| of(engine).and_then(&cell).unwrap_or_else(|| "–".to_owned()));
        let _ = writeln!(text, "| {} | {} |", first.label, cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

fn micros(micros: f64) -> String {
    if micros < 100.0 { format!("{micros:.3}") } else { format!("{micros:.0}") }
}

/// Three tables for each configuration of databases that are larger than memory, with a line per workload and a column
/// per engine: the median time, the disk reads and the bytes read, each per operation.
pub fn cold(reports: &[Report]) -> String {
    let mut text = String::new();
    for (configuration, reports) in configurations(reports) {
        let engines = distinct(reports.iter().map(|report| &*report.engine));
        let medians = medians(&reports);
        let per_op = |median: &Median, of: fn(&DeviceReads) -> Option<u64>| {
            let of_median = |report: &&Report| report.engine == median.series && report.step == median.step;
            let reports = reports.iter().filter(of_median);
            let values =
                reports.filter_map(|report| Some(of(&report.device_reads)? as f64 / report.ops as f64));
            let values: Vec<f64> = values.collect();
            (!values.is_empty()).then(|| format!("{:.2}", crate::report::median(values)))
        };
        let _ = writeln!(text, "**{configuration}**: µs per operation\n");
        text += &columns(&engines, &medians, |median| Some(micros(median.micros_per_op)));
        let _ = writeln!(text, "\n**{configuration}**: reads of the device an operation\n");
        text += &columns(&engines, &medians, |median| per_op(median, |device| device.reads));
        let _ = writeln!(text, "\n**{configuration}**: KiB read per operation\n");
        text += &columns(&engines, &medians, |median| {
            per_op(median, |device| device.bytes.map(|bytes| bytes >> 10))
        });
        text.push('\n');
        text += &about(&engines, &reports);
    }
    text
}

/// The cost of the same workloads with few entries and with many, one line per workload. `reports` has runs of two
/// sizes.
pub fn scale(reports: &[Report]) -> String {
    let size = |report: &Report| report.settings.num;
    let few = reports.iter().map(size).min().unwrap_or(0);
    let many = reports.iter().map(size).max().unwrap_or(0);
    let of = |num: u64, step: u32| reports.iter().find(|report| size(report) == num && report.step == step);
    let mut text = format!(
        "| workload | µs per operation, {few} entries | {many} entries | times as much | bytes written per byte: {few} \
         | {many} | own memory at {many} | with mapped tables |\n|---|---|---|---|---|---|---|---|\n"
    );
    for step in 0..reports.iter().map(|report| report.step + 1).max().unwrap_or(0) {
        let (Some(small), Some(large)) = (of(few, step), of(many, step)) else { continue };
        let (before, after) = (per_entry(small), per_entry(large));
        let written = |report: &Report| or_dash(report.write_amplification, 1.0, "×");
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.2} | {} | {} | {} | {} |",
            large.label(),
            micros(before),
            micros(after),
            after / before,
            written(small),
            written(large),
            or_dash(large.peak_anonymous_bytes.map(|bytes| bytes as f64), MIB, " MiB"),
            or_dash(large.peak_memory_bytes.map(|bytes| bytes as f64), MIB, " MiB"),
        );
    }
    if let Some(budget) = reports.iter().find_map(|report| report.memory_budget_bytes) {
        let _ = writeln!(text, "\nThe settings allow {} MiB of memory.", budget >> 20);
    }
    text
}

const MIB: f64 = (1 << 20) as f64;

/// A compaction is one operation however much data there is, so its time is divided by the entries.
fn per_entry(report: &Report) -> f64 {
    let entries = if report.workload == "compact" { report.settings.num } else { 1 };
    report.wall_micros_per_op() / entries as f64
}

fn or_dash(number: Option<f64>, unit: f64, name: &str) -> String {
    number.map_or_else(|| "–".to_owned(), |number| format!("{:.1}{name}", number / unit))
}
