//! Databases on a simulated machine that loses power, or whose process dies, at any call; in some lives a call fails.
//!
//! After each such end the database is opened again, or repaired and opened. After a power cut it must hold some prefix
//! of the batches, with at least all up to the last that was promised to be durable; after the death of the process
//! every batch that was acknowledged. Each batch is there whole or not at all. Finished checkpoints hold what they held.
//! A repair may keep more than a prefix, never less.
//!
//! A call that fails makes operations fail cleanly. The database then goes on, or is poisoned: it refuses every
//! further change, and can be read. After a power cut or death it holds what was promised all the same.

mod history;
mod operations;
mod plan;
mod sweep;
mod trial;

use terrace_engine::env::simulated::Mode;

use crate::campaign::TrialResult;
use plan::LifePlan;
use trial::Trial;

pub(crate) use history::{Batch, Model, compare};
pub use sweep::sweep;

/// Runs the trial that belongs to `seed`: two to seven lives, and what they lead to.
///
/// # Errors
/// The promise that was broken, what happened before, and the last calls.
pub fn run(seed: u64, mode: Mode) -> TrialResult {
    let mut trial = Trial::new(seed, mode);
    let lives = trial.random.between(2, 8);
    for life in 1..=lives {
        let plan = LifePlan::draw(&mut trial.random, life == lives);
        trial.live(plan)?;
    }
    trial.tally.add("calls", trial.env.counts().total());
    Ok(trial.tally)
}
