//! A small run before the large one: every engine runs every workload once. This reveals failures at once, and predicts
//! the time of the large run.

use std::time::Instant;

use indicatif::ProgressBar;
use terrace_bench::{Result, Settings};

use crate::interleave::{Turn, in_turn};
use crate::{Arguments, directory};

/// Divisor of the number of entries.
const SHARE: u64 = 50;
/// With fewer entries, most of the time would go into starting processes.
const MIN_NUM: u64 = 2000;

/// Runs every engine once on few entries, and prints what to expect.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let num = (arguments.settings.num / SHARE).max(MIN_NUM).min(arguments.settings.num);
    let (mut work_seconds, began) = (0.0, Instant::now());
    for &configuration in &arguments.configurations {
        let reads = arguments.settings.reads.map(|reads| reads.min(num));
        let settings = configuration.settings(Settings { num, reads, ..arguments.settings.clone() });
        let steps = arguments.steps(configuration);
        for engine in in_turn(arguments) {
            let (bar, directory) = (ProgressBar::hidden(), directory(arguments));
            let turn = Turn {
                engine,
                configuration,
                round: 0,
                steps: &steps,
                settings: &settings,
                directory,
                leveldb_head: arguments.leveldb_head.as_deref(),
                group: None,
                keeps: false,
                bar: &bar,
            };
            turn.run(&mut |report| {
                work_seconds += report.seconds;
                Ok(())
            })?;
        }
    }
    // Work grows with the entries; starting, opening and removing do not.
    let seconds = began.elapsed().as_secs_f64();
    let round = work_seconds * arguments.settings.num as f64 / num as f64 + (seconds - work_seconds);
    let minutes = round * f64::from(arguments.rounds) / 60.0;
    println!(
        "A trial with {num} entries took {seconds:.0} s; the run takes about {:.0} minutes.",
        minutes.ceil()
    );
    Ok(())
}
