//! Random numbers: db_bench's generator, so that both draw the same, and a wider one for YCSB.

/// The "minimal standard" generator of Park and Miller (1988), from which db_bench draws its keys.
#[derive(Clone, Debug)]
pub struct ParkMiller {
    state: u32,
}

/// The modulus, a prime: 2^31 - 1.
const MODULUS: u64 = (1 << 31) - 1;
const MULTIPLIER: u64 = 16_807;

impl ParkMiller {
    /// Creates the sequence of `seed`. As in LevelDB, the two seeds that the generator cannot leave become 1.
    pub fn new(seed: u32) -> Self {
        let seed = seed & MODULUS as u32;
        let stuck = seed == 0 || u64::from(seed) == MODULUS;
        Self { state: if stuck { 1 } else { seed } }
    }

    /// The next number, from 1 to 2^31 - 2.
    #[inline]
    pub fn number(&mut self) -> u32 {
        let product = u64::from(self.state) * MULTIPLIER;
        // 2^31 is 1 modulo 2^31 - 1, so the high bits may be added to the low ones.
        let folded = (product >> 31) + (product & MODULUS);
        self.state = if folded > MODULUS { folded - MODULUS } else { folded } as u32;
        self.state
    }

    /// A number below `end`.
    #[inline]
    pub fn below(&mut self, end: u64) -> u64 {
        u64::from(self.number()) % end
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014): scatters numbers one-to-one.
#[inline]
pub fn scatter(number: u64) -> u64 {
    let mut mixed = number;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// SplitMix64, with 64 bits per number.
#[derive(Clone, Debug)]
pub struct SplitMix {
    state: u64,
}

impl SplitMix {
    /// Creates the sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number.
    #[inline]
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scatter(self.state)
    }

    /// A number from 0 to below 1.
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        // A double holds 53 bits.
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below `end`.
    #[inline]
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Park and Miller give the number after 10,000 steps from seed 1, to check implementations.
    #[test]
    fn park_and_millers_own_check_holds() {
        let mut random = ParkMiller::new(1);
        let last = (0..10_000).map(|_| random.number()).last();
        assert_eq!(last, Some(1_043_618_065));
    }

    #[test]
    fn seeds_that_would_never_change_are_replaced() {
        for seed in [0, MODULUS as u32, 1 << 31] {
            assert_eq!(ParkMiller::new(seed).number(), MULTIPLIER as u32);
        }
    }

    #[test]
    fn fractions_fill_their_range() {
        let mut random = SplitMix::new(7);
        let mean =
            (0..10_000).map(|_| random.fraction()).inspect(|f| assert!((0.0..1.0).contains(f))).sum::<f64>()
                / 10_000.0;
        assert!((0.49..0.51).contains(&mean), "{mean}");
    }
}
