//! Notices when seeks past the versions of keys go in a circle. Predecessor: [`DbIterator`](super::DbIterator)'s movements.
//!
//! If keys are out of order, in a damaged table or under an inconsistent comparator, a seek may lead back, and so for ever. In
//! sound data one movement never seeks past the same key twice. It is enough to remember one key: the one whose count was
//! the last power of two. A circle of any length meets it again (R. P. Brent, "An improved Monte Carlo factorization
//! algorithm").

use super::out_of_order;
use crate::error::Result;

/// The keys that one movement has sought past.
#[derive(Default)]
pub(super) struct SoughtKeys {
    count: u32,
    kept: Vec<u8>,
}

impl SoughtKeys {
    /// Notes a key that the movement is about to seek past.
    ///
    /// # Errors
    /// `Corruption` if this key shows that the movement goes in a circle.
    pub(super) fn note(&mut self, user_key: &[u8]) -> Result<()> {
        if self.count > 0 && self.kept == user_key {
            return Err(out_of_order());
        }
        self.count = self.count.wrapping_add(1);
        if self.count.is_power_of_two() {
            super::replace(&mut self.kept, user_key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_noticed_whatever_its_length_and_what_came_before_it() {
        for before in [0u32, 1, 5, 100] {
            for length in [1u32, 2, 3, 64, 1000] {
                let mut sought = SoughtKeys::default();
                let keys = (0..)
                    .map(|number| if number < before { number } else { before + (number - before) % length });
                let noted = keys.take_while(|key| sought.note(&key.to_le_bytes()).is_ok()).count();
                assert!(noted <= 4 * (before + length) as usize, "{noted} keys for {before} and {length}");
            }
        }
    }

    #[test]
    fn keys_that_advance_are_no_circle() {
        let mut sought = SoughtKeys::default();
        assert!((0..100_000u32).all(|key| sought.note(&key.to_le_bytes()).is_ok()));
    }
}
