//! The course and the end of one life of a database.

use terrace_engine::env::simulated::{CallKind, Failure, FaultPlan};

use crate::random::Random;

/// Longest life, in operations.
const LONGEST_LIFE: usize = 120;
/// Longest brief life, in operations.
const BRIEF_LIFE: usize = 4;

/// How a life ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// The power is cut.
    PowerCut,
    /// The process dies.
    Death,
}

/// What is decided about a life before it begins.
#[derive(Clone, Debug)]
pub struct LifePlan {
    /// The machine stops after this many calls.
    pub halts_after: Option<u64>,
    /// The call that fails, and how.
    pub fault: Option<FaultPlan>,
    /// Whether the life continues after errors, or ends with the first.
    pub goes_on: bool,
    /// Whether the database is repaired before it is opened.
    pub repairs: bool,
    /// Whether the first operation is a synced write, before the background has done anything.
    pub syncs_first: bool,
    /// Largest number of operations.
    pub operations: usize,
    /// Whether it closes the database in the end, even after a failure.
    pub closes: bool,
    /// How it ends.
    pub end: End,
}

impl LifePlan {
    /// Draws a life with or without a fault that ends at any call. The last life of a trial runs to its end.
    pub fn draw(random: &mut Random, is_last: bool) -> Self {
        let halts_after = (!is_last).then(|| {
            let scale = random.choose(&[20, 200, 2000]);
            random.below(scale) as u64
        });
        let fault = (!is_last && random.one_in(3)).then(|| draw_fault(random));
        let goes_on = fault.is_some() && random.one_in(2);
        // A life that continues after errors also runs to its end.
        let halts_after = halts_after.filter(|_| !goes_on || random.one_in(3));
        let undisturbed = Self::undisturbed(random, LONGEST_LIFE);
        // The effect of a failure on the disk shows when the next process continues with what the system has in memory.
        let end = if fault.is_some() && random.one_in(2) { End::Death } else { undisturbed.end };
        Self { halts_after, fault, goes_on, end, ..undisturbed }
    }

    /// Draws a life in which nothing goes wrong until its end.
    pub fn undisturbed(random: &mut Random, operations: usize) -> Self {
        // Every third life ends before the background has done much.
        let operations = if random.one_in(3) { operations.min(BRIEF_LIFE) } else { operations };
        Self {
            halts_after: None,
            fault: None,
            goes_on: false,
            repairs: random.one_in(8),
            syncs_first: random.one_in(3),
            operations: random.below(operations),
            closes: random.one_in(3),
            end: if random.one_in(4) { End::Death } else { End::PowerCut },
        }
    }
}

fn draw_fault(random: &mut Random) -> FaultPlan {
    let scale = random.choose(&[10, 100, 1000]);
    let call = 1 + random.below(scale) as u64;
    let usual = [Failure::Io, Failure::NoSpace, Failure::WriteBack, Failure::NoDescriptor];
    let failure = if random.one_in(4) { random.choose(&Failure::OTHERS) } else { random.choose(&usual) };
    let mut plan = FaultPlan::new(call, failure);
    if random.one_in(2) {
        let fits = |kind: &CallKind| failure != Failure::NoDescriptor || kind.opens();
        let kinds: Vec<CallKind> = CallKind::ALL.into_iter().filter(fits).collect();
        plan = plan.of(random.choose(&kinds));
    } else if failure != Failure::NoDescriptor && random.one_in(4) {
        plan = FaultPlan::new(1 + random.below(3) as u64, failure).of(CallKind::SyncLog);
    }
    if random.one_in(2) {
        plan = plan.short();
    }
    if random.one_in(4) {
        plan = plan.lasting();
    }
    plan
}
