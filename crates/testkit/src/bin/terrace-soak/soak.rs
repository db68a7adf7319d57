//! Runs trials of several kinds on several threads, and keeps to their shares of the time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use terrace_engine::env::conformance::HANGS_AFTER;
use terrace_testkit::campaign::Campaign;

use crate::campaigns::Kind;
use crate::progress::Progress;

/// One kind of trial, and what it has done.
struct Line {
    kind: Kind,
    campaign: Campaign,
    spent: Duration,
    next_seed: u64,
}

/// A running trial.
struct Running {
    name: &'static str,
    seed: u64,
    since: Instant,
}

struct State {
    lines: Vec<Line>,
    running: Vec<Running>,
}

/// See the [module](self).
pub struct Soak {
    state: Mutex<State>,
}

impl Soak {
    /// Creates a soak of trials of these kinds.
    pub fn new(kinds: Vec<Kind>) -> Self {
        let lines = kinds
            .into_iter()
            .map(|kind| Line { kind, campaign: Campaign::default(), spent: Duration::ZERO, next_seed: 0 })
            .collect();
        Self { state: Mutex::new(State { lines, running: Vec::new() }) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no trial panics while it holds the state")
    }

    /// Runs the trial of `seed` of each kind.
    pub fn replay(&self, seed: u64) {
        let kinds = self.state().lines.len();
        (0..kinds).for_each(|index| self.run_one(index, seed));
    }

    /// Runs trials until the time is over: of `first_seed` and the following seeds in each kind.
    pub fn run(&self, first_seed: u64, time: Duration, threads: usize) {
        self.state().lines.iter_mut().for_each(|line| line.next_seed = first_seed);
        let start = Instant::now();
        println!("seeds from {first_seed}, {} s, {threads} threads", time.as_secs());
        let progress = Progress::new(time);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while start.elapsed() < time
                        && let Some((index, seed)) = self.next()
                    {
                        self.run_one(index, seed);
                    }
                });
            }
            while start.elapsed() < time {
                std::thread::sleep(Duration::from_millis(200).min(time.saturating_sub(start.elapsed())));
                progress.show(start.elapsed(), &self.summary());
                self.end_if_hanging();
            }
        });
        progress.end();
    }

    /// The kind that had the smallest part of its share, and its next seed. `None` once every kind has failed too
    /// often.
    fn next(&self) -> Option<(usize, u64)> {
        let mut state = self.state();
        let lines = state.lines.iter_mut().enumerate().filter(|(_, line)| !line.campaign.is_hopeless());
        let (index, line) = lines.min_by_key(|(_, line)| line.spent / line.kind.share)?;
        line.next_seed += 1;
        // A placeholder until its time is known, so that the other threads begin with other kinds.
        line.spent += Duration::from_millis(1);
        Some((index, line.next_seed - 1))
    }

    fn run_one(&self, index: usize, seed: u64) {
        let mut state = self.state();
        let (name, trial) = (state.lines[index].kind.name, state.lines[index].kind.trial);
        let since = Instant::now();
        state.running.push(Running { name, seed, since });
        drop(state);
        let mut one = Campaign::default();
        one.run_one(seed, trial);
        let mut state = self.state();
        state.running.retain(|running| (running.name, running.seed) != (name, seed));
        let line = &mut state.lines[index];
        line.spent += since.elapsed();
        line.campaign.tally.merge(&one.tally);
        line.campaign.failures.extend(one.failures);
    }

    fn end_if_hanging(&self) {
        let state = self.state();
        let Some(stuck) = state.running.iter().find(|running| running.since.elapsed() > HANGS_AFTER) else {
            return;
        };
        eprintln!("\nhangs for {} s: {}", HANGS_AFTER.as_secs(), replay_command(stuck.name, stuck.seed));
        std::process::exit(1);
    }

    fn summary(&self) -> String {
        let state = self.state();
        let sum = |name| state.lines.iter().map(|line| line.campaign.tally.get(name)).sum::<u64>();
        let failed: usize = state.lines.iter().map(|line| line.campaign.failures.len()).sum();
        format!(
            "{} power cuts, {} faults, {} kills, {} damaged files, {failed} failed",
            sum("power cuts"),
            sum("faults"),
            sum("kills"),
            sum("damaged files")
        )
    }

    /// Prints what was done. Returns whether every promise was kept.
    pub fn report(&self) -> bool {
        let summary = self.summary();
        let state = self.state();
        for Line { kind, campaign, spent, .. } in &state.lines {
            println!("\n{} ({}), {} s", kind.name, kind.about, spent.as_secs());
            campaign.tally.iter().for_each(|(name, count)| println!("  {count:>12} {name}"));
        }
        for Line { kind, campaign, .. } in &state.lines {
            for (seed, problem) in &campaign.failures {
                println!("\nFAILED: {}\n{problem}", replay_command(kind.name, *seed));
            }
        }
        println!("\nin all: {summary}");
        state.lines.iter().all(|line| line.campaign.failures.is_empty())
    }
}

fn replay_command(name: &str, seed: u64) -> String {
    format!("terrace-soak --only {name} --replay {seed}")
}
