//! Tables in Markdown: for each configuration, a line a workload, and for each engine the median time of an operation
//! and how many times as fast as LevelDB it is.

use terrace_bench::Report;
use terrace_bench::plot::medians;
use terrace_bench::report::median;

const REFERENCE: &str = "leveldb";

/// Prints a table for each configuration in `reports`, the settings below it.
pub(crate) fn print(reports: &[Report]) {
    for configuration in distinct(reports.iter().map(|report| &*report.configuration)) {
        let of_it: Vec<Report> =
            reports.iter().filter(|report| report.configuration == configuration).cloned().collect();
        println!("{}", table(configuration, &of_it));
    }
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
    let mut lines = vec![
        format!(
            "{configuration}: µs an operation, medians of {rounds} rounds (times as fast as {REFERENCE})\n"
        ),
        format!("| workload | {} |", engines.join(" | ")),
        format!("|---|{}", "---|".repeat(engines.len())),
    ];
    let medians = medians(reports);
    for step in 0..reports.iter().map(|report| report.step + 1).max().unwrap_or(0) {
        let Some(first) = medians.iter().find(|median| median.step == step) else { continue };
        let cells = engines.iter().map(|engine| cell(reports, engine, step));
        lines.push(format!("| {} | {} |", first.label, cells.collect::<Vec<_>>().join(" | ")));
    }
    lines.push(String::new());
    for engine in engines {
        if let Some(report) = reports.iter().find(|report| report.engine == engine) {
            lines.push(format!("- {engine} {}: {}", report.engine_version, report.engine_settings));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn cell(reports: &[Report], engine: &str, step: u32) -> String {
    let times = rounds(reports, engine, step);
    if times.is_empty() {
        return "–".to_owned();
    }
    let ratios: Vec<f64> = rounds(reports, REFERENCE, step)
        .iter()
        .filter_map(|(round, reference)| {
            let (_, time) = times.iter().find(|(of, _)| of == round)?;
            Some(reference / time)
        })
        .collect();
    let micros = median(times.iter().map(|(_, time)| *time).collect());
    let micros = if micros < 100.0 { format!("{micros:.3}") } else { format!("{micros:.0}") };
    // The median of the ratios within each round, not the ratio of the medians: a slow minute is slow for both.
    let ratio = (!ratios.is_empty() && engine != REFERENCE).then(|| format!(" ({:.2}×)", median(ratios)));
    micros + &ratio.unwrap_or_default()
}

/// Each round's time an operation.
fn rounds(reports: &[Report], engine: &str, step: u32) -> Vec<(u32, f64)> {
    let of = reports.iter().filter(|report| report.engine == engine && report.step == step);
    of.map(|report| (report.round, report.micros_per_op)).collect()
}
