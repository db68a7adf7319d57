//! A small run before the large one: every engine does every workload once. So what does not work shows at once, and
//! the large run's time can be told. Predecessor: `main`. Successor: `interleave`, whose turns it uses.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use terrace_bench::{Result, Settings};

use crate::interleave::{Turn, in_turn};
use crate::{Arguments, folder};

/// Share of the entries.
const SHARE: u64 = 50;
/// With fewer entries the time is that of starting processes.
const MIN_NUM: u64 = 2000;

/// Runs every engine once on few entries, and prints what to expect.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let num = (arguments.settings.num / SHARE).max(MIN_NUM).min(arguments.settings.num);
    let times = arguments.settings.num as f64 / num as f64 * f64::from(arguments.rounds);
    let mut seconds = 0.0;
    for &configuration in &arguments.configurations {
        let reads = arguments.settings.reads.map(|reads| reads.min(num));
        let settings = configuration.settings(Settings { num, reads, ..arguments.settings.clone() });
        let steps = arguments.steps(configuration);
        for engine in in_turn(&arguments.engines) {
            let began = Instant::now();
            let (bar, folder) = (ProgressBar::hidden(), folder(arguments));
            let turn = Turn {
                engine,
                configuration,
                round: 0,
                steps: &steps,
                settings: &settings,
                folder,
                bar: &bar,
            };
            turn.run(&mut |_| Ok(()))?;
            seconds += began.elapsed().as_secs_f64();
        }
    }
    let expected = Duration::from_secs((seconds * times) as u64);
    println!(
        "A trial with {num} entries took {seconds:.0} s; the run takes about {} minutes.",
        expected.as_secs().div_ceil(60)
    );
    Ok(())
}
