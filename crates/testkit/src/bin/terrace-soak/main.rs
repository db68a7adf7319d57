//! Runs every campaign of the testkit side by side for a given time, and prints what was done and what failed.

mod campaigns;
mod node;
mod progress;
mod soak;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use terrace_testkit::random::seed;

use campaigns::all;
use soak::Soak;

/// Try to break the database for a given time: power cuts, failing calls, kills, damage, races.
///
/// The exit code is 1 if a promise was broken; the output then names the command that repeats the trial.
#[derive(Parser)]
struct Arguments {
    /// How long to run, in seconds. Running trials are finished.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Run only campaigns whose name contains this text; can be given several times.
    #[arg(long)]
    only: Vec<String>,
    /// Run only one trial, of this seed, in each chosen campaign.
    #[arg(long)]
    replay: Option<u64>,
    /// Number of trials at the same time. Default: one per core.
    #[arg(long)]
    threads: Option<usize>,
    /// List the campaigns and exit.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let is_chosen =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|text| name.contains(text));
    let chosen: Vec<_> = all().into_iter().filter(|campaign| is_chosen(campaign.name)).collect();
    if arguments.list {
        chosen.iter().for_each(|campaign| println!("{:24} {}", campaign.name, campaign.about));
        return ExitCode::SUCCESS;
    }
    if chosen.is_empty() {
        eprintln!("no campaign has that name; --list names them");
        return ExitCode::FAILURE;
    }
    let threads = arguments
        .threads
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let soak = Soak::new(chosen);
    match arguments.replay {
        Some(seed) => soak.replay(seed),
        None => soak.run(seed(), Duration::from_secs(arguments.seconds), threads),
    }
    if soak.report() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
