//! When to kill.

use std::thread::sleep;
use std::time::Duration;

use super::transcript::Line;
use super::victim::Victim;
use crate::random::Random;

const LONGEST_DELAY_US: usize = 30_000;
/// A few of these cover the write of a large batch.
const LARGE_DELAY_US: usize = 3_000;

/// A moment in the life of a writer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moment {
    /// That many microseconds after it started: while it opens the database, or soon after.
    Start(usize),
    /// That many microseconds after that many acknowledgements.
    Acknowledged(u64, usize),
    /// That many microseconds after it began to write a large batch.
    Large(usize),
    /// That many microseconds after a flush, a compaction or a checkpoint began.
    Chore(usize),
}

impl Moment {
    /// Draws a moment; opening takes about `opening_us`.
    pub(super) fn draw(random: &mut Random, opening_us: usize) -> Self {
        let delay_us = random.below(LONGEST_DELAY_US);
        match random.below(10) {
            0..3 => Self::Start(random.below(opening_us + opening_us / 4 + 1)),
            3..7 => Self::Acknowledged(random.choose(&[1, 10, 100, 300]), delay_us),
            7 => Self::Large(random.below(LARGE_DELAY_US)),
            _ => Self::Chore(delay_us),
        }
    }

    /// Waits for the moment.
    pub(super) fn wait(self, victim: &mut Victim) -> Result<(), String> {
        let delay_us = match self {
            Self::Start(delay_us) => delay_us,
            Self::Acknowledged(count, delay_us) => {
                victim.wait_for(|_, transcript| transcript.acknowledgements >= count)?;
                delay_us
            }
            Self::Large(delay_us) => {
                victim.wait_for(|line, _| matches!(line, Line::Large(_)))?;
                delay_us
            }
            Self::Chore(delay_us) => {
                victim.wait_for(|line, _| matches!(line, Line::Chore | Line::CheckpointBegins(_)))?;
                delay_us
            }
        };
        sleep(Duration::from_micros(delay_us as u64));
        Ok(())
    }
}
