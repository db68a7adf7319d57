//! Databases on a simulated machine that loses power, or whose process dies, at any call; in some lives a call fails.
//!
//! After each end the database is opened again, or repaired and opened. After a power cut it must hold a prefix of the
//! batches that includes all up to the last one promised to be durable; after the death of the process, every
//! acknowledged batch. Each batch is present completely or not at all. Finished checkpoints keep their contents. A
//! repair may keep more than a prefix, never less.
//!
//! A failing call makes operations fail cleanly. The database then keeps working or is poisoned: it rejects every
//! further change, but can be read. After a power cut or a death it still holds what was promised.

mod history;
mod life;
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

/// Runs the trial of `seed`: two to seven lives, and their consequences.
///
/// # Errors
///
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
