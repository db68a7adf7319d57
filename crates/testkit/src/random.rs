//! Random numbers that are the same everywhere for the same seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// The environment variable that sets the seed of a run.
pub const SEED_VARIABLE: &str = "TERRACE_SEED";

/// The seed of this run: [`SEED_VARIABLE`] if it is set, otherwise the time, so that each run tries something new.
///
/// # Panics
///
/// If the variable is set to something that is not a number.
pub fn seed() -> u64 {
    match std::env::var(SEED_VARIABLE) {
        Ok(text) => text.parse().expect("TERRACE_SEED is a number"),
        Err(_) => {
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
            since_epoch.as_micros() as u64
        }
    }
}

/// A generator of random numbers: SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Creates the sequence of numbers of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end` - 1; `end` is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    /// A number from `start` to `end` - 1.
    pub fn between(&mut self, start: usize, end: usize) -> usize {
        start + self.below(end - start)
    }

    /// True once in `times` on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of `choices`.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// That many random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..count.div_ceil(8)).flat_map(|_| self.number().to_le_bytes()).collect();
        bytes.truncate(count);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..4).map(|_| random.number()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        // The first number of the published algorithm for the seed 0.
        assert_eq!(numbers(0)[0], 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn bytes_are_as_many_as_asked_for() {
        let mut random = Random::new(1);
        for count in [0, 1, 7, 8, 9, 100] {
            assert_eq!(random.bytes(count).len(), count);
        }
    }
}
