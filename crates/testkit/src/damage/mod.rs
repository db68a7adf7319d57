//! Damaged databases: bytes of any file are flipped, zeroed, overwritten or cut off, and files are deleted.
//!
//! A trial creates one [`database`] with its whole [`history`], finds out where its entries lie ([`anatomy`]), and
//! damages copies of it ([`harm`]). It checks for each copy:
//!
//! * [`reading`]: the open and each read return what was written, or fail with a corruption error that names the
//!   place;
//! * [`reading`]: `verify` fails if a table's bytes have changed, and read-only opening changes no byte;
//! * [`repairing`]: a repair keeps every entry whose bytes are intact, names the keys that may show an older value,
//!   keeps the damaged files in `lost`, and can be interrupted and run again.

mod anatomy;
mod database;
mod harm;
mod history;
mod reading;
mod repairing;

use anatomy::Anatomy;
use database::Database;
use harm::Harmed;

use crate::campaign::{Tally, TrialResult};
use crate::random::Random;

/// Damaged copies of one database.
const COPIES: usize = 12;

/// Runs the trial of `seed`.
///
/// # Errors
///
/// The promise that was broken, and what was damaged.
pub fn run(seed: u64) -> TrialResult {
    let mut random = Random::new(seed);
    let database = Database::generate(&mut random);
    let anatomy = Anatomy::of(&database.files);
    let mut tally = Tally::default();
    for copy in 0..COPIES {
        let harmed = Harmed::draw(&database, &anatomy, &mut random);
        harmed.count(&mut tally);
        let trial = Trial { database: &database, anatomy: &anatomy, harmed: &harmed };
        reading::check(&trial, &mut random, &mut tally)
            .and_then(|()| repairing::check(&trial, &mut random, &mut tally))
            .map_err(|problem| format!("copy {copy}: {problem}\n{}\n{}", harmed.story, database.story()))?;
    }
    Ok(tally)
}

/// One damaged copy, and everything known about it.
struct Trial<'a> {
    database: &'a Database,
    anatomy: &'a Anatomy,
    harmed: &'a Harmed,
}
