//! Many trials of one kind, each with its own seed, and what they did in numbers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::random::SEED_VARIABLE;

/// Number of failures after which the remaining trials are skipped.
const ENOUGH_FAILURES: usize = 10;

/// Counts of what was done, by name: "power cuts", "kills", "damaged files".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Cow<'static, str>, u64>);

impl Tally {
    /// Adds `count` to the count of that name.
    pub fn add(&mut self, name: impl Into<Cow<'static, str>>, count: u64) {
        *self.0.entry(name.into()).or_default() += count;
    }

    /// Adds one to the count of that name.
    pub fn one(&mut self, name: &'static str) {
        self.add(name, 1);
    }

    /// The count of that name; 0 if it never occurred.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(name, count)| self.add(name.clone(), *count));
    }

    /// Each name with its count, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(name, count)| (&**name, *count))
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.iter().map(|(name, count)| format!("{count} {name}")).collect();
        f.write_str(&parts.join(", "))
    }
}

/// The outcome of a trial: what it did, or a description of the promise that was broken.
pub type TrialResult = Result<Tally, String>;

/// Trials of one kind: what they did, and which failed.
#[derive(Debug, Default)]
pub struct Campaign {
    /// The counts of all trials that did not fail.
    pub tally: Tally,
    /// Seeds of the trials that failed, each with its problem.
    pub failures: Vec<(u64, String)>,
}

impl Campaign {
    /// Runs the trial of `seed`, and counts a panic as a failure.
    pub fn run_one(&mut self, seed: u64, trial: impl FnOnce(u64) -> TrialResult) {
        let result = catch_unwind(AssertUnwindSafe(|| trial(seed)));
        self.tally.one("seeds");
        match result.unwrap_or_else(|_| Err("a panic, see above".to_owned())) {
            Ok(done) => self.tally.merge(&done),
            Err(problem) => self.failures.push((seed, problem)),
        }
    }

    /// Whether so many trials failed that more would show nothing new.
    pub fn is_hopeless(&self) -> bool {
        self.failures.len() >= ENOUGH_FAILURES
    }

    /// Runs `count` trials, of `first` and the following seeds; prints and returns their counts.
    ///
    /// # Panics
    ///
    /// If a trial failed: with its whole problem, after a line for each of the others.
    pub fn assert(name: &str, first: u64, count: u64, trial: impl Fn(u64) -> TrialResult) -> Tally {
        println!("{name}: {count} trials from {SEED_VARIABLE}={first}");
        let mut campaign = Self::default();
        for seed in (first..).take(count as usize) {
            campaign.run_one(seed, &trial);
            if campaign.is_hopeless() {
                break;
            }
        }
        println!("{name}: {}", campaign.tally);
        for (seed, problem) in &campaign.failures {
            println!("{SEED_VARIABLE}={seed} {name}: {}", problem.lines().next().unwrap_or_default());
        }
        if let Some((seed, problem)) = campaign.failures.first() {
            let count = campaign.failures.len();
            panic!("{count} trials failed; the first, {SEED_VARIABLE}={seed} {name}: {problem}");
        }
        campaign.tally
    }
}

/// Number of trials that a test runs: one if the seed is given, `TERRACE_TRIALS` if that is given, otherwise `usual`.
///
/// # Panics
///
/// If `TERRACE_TRIALS` is not a number.
pub fn trials(usual: u64) -> u64 {
    match (std::env::var(SEED_VARIABLE), std::env::var("TERRACE_TRIALS")) {
        (Ok(_), Err(_)) => 1,
        (_, Ok(trials)) => trials.parse().expect("TERRACE_TRIALS is a number"),
        (Err(_), Err(_)) => usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_or_panicking_trial_is_counted_and_named() {
        let mut campaign = Campaign::default();
        for seed in 0..4 {
            campaign.run_one(seed, |seed| match seed {
                1 => Err("broken".to_owned()),
                2 => panic!("a trial that panics, on purpose"),
                _ => {
                    let mut tally = Tally::default();
                    tally.add("cuts", seed + 1);
                    Ok(tally)
                }
            });
        }
        assert_eq!(campaign.tally.get("seeds"), 4);
        assert_eq!(campaign.tally.get("cuts"), 5);
        let failed: Vec<_> = campaign.failures.iter().map(|(seed, _)| *seed).collect();
        assert_eq!(failed, [1, 2]);
    }
}
