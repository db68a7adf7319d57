//! Compares counts with committed ones: instructions, system calls, allocations and written bytes of fixed work. They
//! do not depend on the speed of the machine or on its other work. `make test-gates` runs it in the root directory.

mod allocations;
mod amplification;
mod cases;
mod one_thread;
mod record;
mod valgrind;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Parser;
use terrace_bench::Result;

use cases::{CASES, ENTRIES};
use record::{Comparison, INSTRUCTIONS, Record, Verdict};
use valgrind::Counts;

/// Compare counts of fixed work with the committed ones, and fail if one has grown.
#[derive(Parser)]
#[command(name = "terrace-gates", version)]
struct Arguments {
    /// File with the committed counts.
    #[arg(long, default_value = "crates/bench/gates.json")]
    record: PathBuf,
    /// Write the measured counts to that file instead.
    #[arg(long)]
    update: bool,
    /// Run one case in this process.
    #[arg(long, hide = true, requires = "directory")]
    case: Option<String>,
    /// Directory of the case's database.
    #[arg(long, hide = true)]
    directory: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("terrace-gates: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let (Some(case), Some(directory)) = (&arguments.case, &arguments.directory) {
        return cases::run(case, directory).map(|()| ExitCode::SUCCESS);
    }
    let mut measured = Record::here();
    measured.add("write_amplification.in_order".to_owned(), amplification::in_order()?);
    measured.add("write_amplification.at_random".to_owned(), amplification::at_random()?);
    match valgrind::problem() {
        None => add_cases(&mut measured)?,
        Some(problem) if arguments.update => return Err(problem.into()),
        Some(problem) => println!(
            "left out: instructions, system calls and allocations, because {problem} \
             (apt-get install valgrind)\n"
        ),
    }
    if arguments.update {
        measured.write(&arguments.record)?;
        println!("wrote {} counts to {}", measured.counts.len(), arguments.record.display());
        return Ok(ExitCode::SUCCESS);
    }
    let committed = Record::read(&arguments.record)?;
    if measured.compiler != committed.compiler {
        println!(
            "The committed counts belong to {}, this is {}: instructions may differ more.\n",
            committed.compiler, measured.compiler
        );
    }
    Ok(report(&measured.compare(&committed)))
}

/// Runs every case, as many at once as there are cores.
fn add_cases(record: &mut Record) -> Result<()> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(&str, Result<Counts>)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some(case) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
            let counts = valgrind::count(case.name);
            results.lock().expect("nothing panics that holds it").push((case.name, counts));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    for (name, counts) in results.into_inner()? {
        let Counts { instructions, calls, allocations } = counts?;
        let each = |count: u64| count as f64 / ENTRIES as f64;
        record.add(format!("{name}.{INSTRUCTIONS}"), each(instructions));
        record.add(format!("{name}.system_calls"), each(calls));
        record.add(format!("{name}.allocations"), each(allocations));
    }
    Ok(())
}

/// Prints every count; fails if one is worse.
fn report(comparisons: &[Comparison<'_>]) -> ExitCode {
    println!("{:48} {:>10} {:>10} {:>10}", "count per entry or operation", "was", "is", "allowed");
    for Comparison { name, was, is, allowed, verdict } in comparisons {
        let note = match verdict {
            Verdict::Same => "",
            Verdict::Better => "  better",
            Verdict::Worse => "  WORSE",
            Verdict::New => "  new",
        };
        let was = was.map_or_else(|| "–".to_owned(), |was| format!("{was:.3}"));
        println!("{name:48} {was:>10} {is:>10.3} {allowed:>10.3}{note}");
    }
    let count = |wanted| comparisons.iter().filter(|comparison| comparison.verdict == wanted).count();
    let (worse, better, new) = (count(Verdict::Worse), count(Verdict::Better), count(Verdict::New));
    println!("\ntests {} passed, {worse} failed, 0 skipped\n", comparisons.len() - worse);
    if worse > 0 {
        println!(
            "{worse} counts are worse than committed. If that is the price of an improvement, say so in"
        );
        println!("the commit and renew them with `make gates-update`.");
        return ExitCode::FAILURE;
    }
    println!("No count is worse than committed; {better} are better, {new} new.");
    if better + new > 0 {
        println!("`make gates-update` accepts them.");
    }
    ExitCode::SUCCESS
}
