//! The hash of user keys, with a secret seed for each memtable, so that an attacker who picks keys cannot know which
//! collide.
//!
//! The hash mixes 16 bytes at a time with the seed, multiplies them to 128 bits and folds the halves together. About one in
//! 2^32 pairs of different keys has the same hash.

use terrace_format::coding::{decode_fixed32, decode_fixed64};

/// A hash function drawn at random.
#[derive(Clone, Copy)]
pub(super) struct KeyHash {
    seed: [u64; 2],
}

impl KeyHash {
    /// A new function each time. Under a model checker it is always the same, so that runs can be repeated.
    pub(super) fn random() -> Self {
        #[cfg(all(test, loom))]
        return Self { seed: [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03] };
        #[cfg(not(all(test, loom)))]
        {
            use std::hash::{BuildHasher, RandomState};
            // The standard library seeds its hash with the system's randomness.
            let state = RandomState::new();
            Self { seed: [state.hash_one(0), state.hash_one(1)] }
        }
    }

    /// The hash of `key`. All 32 bits are equally good.
    #[inline]
    pub(super) fn of(&self, key: &[u8]) -> u32 {
        let mut state = self.seed[0] ^ key.len() as u64;
        let mut rest = key;
        while rest.len() > 16 {
            state = fold(word(&rest[..8]) ^ state, word(&rest[8..16]) ^ self.seed[1]);
            rest = &rest[16..];
        }
        let (low, high) = match rest.len() {
            // The halves overlap where fewer bytes are left.
            8.. => (word(&rest[..8]), word(&rest[rest.len() - 8..])),
            4.. => (half_word(&rest[..4]), half_word(&rest[rest.len() - 4..])),
            1.. => {
                let middle = rest[rest.len() / 2];
                (u64::from(rest[0]) << 8 | u64::from(rest[rest.len() - 1]), u64::from(middle))
            }
            0 => (0, 0),
        };
        let mixed = fold(low ^ state, high ^ self.seed[1]);
        (fold(mixed, self.seed[0] | 1) >> 32) as u32
    }
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    decode_fixed64(bytes)
}

#[inline]
fn half_word(bytes: &[u8]) -> u64 {
    u64::from(decode_fixed32(bytes))
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Keys of many lengths and habits, all different.
    fn keys() -> Vec<Vec<u8>> {
        const NUMBERS: u32 = if cfg!(miri) { 50 } else { 60_000 };
        const BYTES: u8 = if cfg!(miri) { 1 } else { 255 };
        let mut keys: Vec<Vec<u8>> =
            (0..NUMBERS).map(|number| format!("{number:016}").into_bytes()).collect();
        keys.extend((0..=BYTES).flat_map(|byte| (1..80).map(move |len| vec![byte; len])));
        keys.extend((0..NUMBERS).map(|number| number.to_be_bytes().to_vec()));
        keys.push(Vec::new());
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    #[test]
    fn keys_that_differ_rarely_share_a_hash() {
        let (hash, keys) = (KeyHash::random(), keys());
        let hashes: HashSet<u32> = keys.iter().map(|key| hash.of(key)).collect();
        // About two pairs of 140,000 keys are expected to collide.
        assert!(keys.len() - hashes.len() < 30, "{} of {}", keys.len() - hashes.len(), keys.len());
    }

    #[cfg(not(miri))]
    #[test]
    fn the_high_bits_which_choose_the_slot_spread_evenly() {
        let (hash, keys) = (KeyHash::random(), keys());
        let mut slots = [0usize; 256];
        keys.iter().for_each(|key| slots[(hash.of(key) >> 24) as usize] += 1);
        let mean = keys.len() / slots.len();
        assert!(slots.iter().all(|&count| count.abs_diff(mean) < mean / 3), "{slots:?}");
    }

    #[test]
    fn each_memtable_has_a_function_of_its_own() {
        let (one, other) = (KeyHash::random(), KeyHash::random());
        assert!((0..8u8).any(|byte| one.of(&[byte]) != other.of(&[byte])));
    }
}
