//! A fixed script in which one call after the other fails: every call of every kind, once with each error that a
//! caller distinguishes (input/output, no room, read-only, not permitted and others; no descriptor, if it opens a file). In one more
//! run the call proceeds after the system failed to write back pending pages.

use terrace_engine::env::simulated::{CallCounts, CallKind, Failure, FaultPlan, Mode};

use super::plan::LifePlan;
use super::trial::Trial;
use crate::campaign::{Tally, TrialResult};

/// Lives of a script in which a call may fail. Another one examines what they left.
const LIVES: usize = 2;
/// Longest life of a script, in operations.
const LONGEST_LIFE: usize = 40;

/// Runs the script of `seed` twice for each of its calls, which fails.
///
/// # Errors
///
/// Those of [`run`](super::run), with the call that failed.
pub fn sweep(seed: u64, mode: Mode) -> TrialResult {
    let mut tally = Tally::default();
    let counts = Script::new(seed, mode).run(None)?.1;
    for (life, counts) in counts.iter().enumerate() {
        for kind in CallKind::ALL {
            for call in 1..=counts.of(kind) {
                for failure in failures_of(kind) {
                    let plan = FaultPlan::new(call, failure).of(kind);
                    // Every second time, failing writes first do a part.
                    let plan = if call % 2 == 0 { plan.short() } else { plan };
                    let ran = Script::new(seed, mode).run(Some((life, plan.clone())));
                    let (done, _) = ran.map_err(|problem| format!("life {life}, {plan:?}: {problem}"))?;
                    tally.merge(&done);
                }
            }
        }
    }
    Ok(tally)
}

fn failures_of(kind: CallKind) -> impl Iterator<Item = Failure> {
    [Failure::Io, Failure::NoSpace, Failure::WriteBack]
        .into_iter()
        .chain(Failure::OTHERS)
        .chain(kind.opens().then_some(Failure::NoDescriptor))
}

/// Lives that are the same in every run, except for the consequences of the failed call.
struct Script {
    trial: Trial,
    plans: Vec<LifePlan>,
}

impl Script {
    fn new(seed: u64, mode: Mode) -> Self {
        let mut trial = Trial::new(seed, mode);
        let plans = (0..=LIVES)
            .map(|_| LifePlan { goes_on: true, ..LifePlan::undisturbed(&mut trial.random, LONGEST_LIFE) })
            .collect();
        Self { trial, plans }
    }

    /// Runs the lives, with a failing call in one of them. Also returns the calls made in each life.
    fn run(mut self, fault: Option<(usize, FaultPlan)>) -> Result<(Tally, Vec<CallCounts>), String> {
        let mut counts = Vec::new();
        for (life, plan) in self.plans.into_iter().enumerate() {
            let fault = fault.as_ref().filter(|(faulty, _)| *faulty == life).map(|(_, fault)| fault.clone());
            let before = self.trial.env.counts();
            self.trial.live(LifePlan { fault, ..plan })?;
            counts.push(self.trial.env.counts().since(&before));
        }
        counts.truncate(LIVES);
        Ok((self.trial.tally, counts))
    }
}
