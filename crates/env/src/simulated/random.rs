//! The simulator's dice: the same numbers for the same seed, on every machine.

/// SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `end` - 1; 0 if `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    /// True `wanted` times in `of`, on average.
    pub(super) fn chance(&mut self, wanted: usize, of: usize) -> bool {
        self.below(of) < wanted
    }
}

/// The common fate of the things that a power cut decides on. Independent dice for each of them would almost never
/// produce the plain cases, which are the likely ones on a real disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// None of it reached the disk.
    None,
    /// All of it reached the disk.
    All,
    /// What came first reached the disk.
    Prefix,
    /// Each piece reached the disk independently, this many times in 4.
    Mixed(usize),
}

impl Fate {
    pub(super) fn draw(random: &mut Random) -> Self {
        match random.below(6) {
            0 => Self::None,
            1 => Self::All,
            2 => Self::Prefix,
            _ => Self::Mixed(1 + random.below(3)),
        }
    }
}
