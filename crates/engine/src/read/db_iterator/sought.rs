//! Whether the way past the versions of keys still leads on. Predecessor: [`DbIterator`](super::DbIterator)'s movements.
//!
//! Where keys are out of order, in a damaged table or by an order that is none, a seek may lead back, and so for ever. In
//! sound data one movement passes no key by a seek twice. Only one key is kept to tell that: the one whose number was the last power
//! of two. A circle of any length comes by it again (R. P. Brent, "An improved Monte Carlo factorization algorithm").

use super::out_of_order;
use crate::error::Result;

/// The keys that one movement passed by seeks.
#[derive(Default)]
pub(super) struct SoughtKeys {
    count: u32,
    kept: Vec<u8>,
}

impl SoughtKeys {
    /// Another key is about to be passed.
    ///
    /// # Errors
    /// `Corruption` if that is known to lead in a circle.
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
    fn keys_that_go_on_are_none() {
        let mut sought = SoughtKeys::default();
        assert!((0..100_000u32).all(|key| sought.note(&key.to_le_bytes()).is_ok()));
    }
}
