//! What one thread of the writer writes: batches that follow from the seed, so that the checker knows them too.

use crate::crash::Batch;
use crate::random::Random;

/// Keys of a lane. There are few, so that they are overwritten and deleted many times.
const KEYS: usize = 40;

/// A thread's batches, numbered from 1, to keys that no other thread uses.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    seed: u64,
    number: usize,
}

/// One batch of a lane.
pub struct LaneBatch {
    /// Keys with their value, or `None` if deleted.
    pub operations: Batch,
    /// Whether to write it with `sync`.
    pub sync: bool,
    /// Whether writing it takes long enough for a kill to hit it.
    pub is_large: bool,
}

impl Lane {
    /// Creates the lane of that number, from 0.
    pub fn new(seed: u64, number: usize) -> Self {
        Self { seed, number }
    }

    /// The number of the lane to which the key belongs.
    pub fn number_of(key: &[u8]) -> Option<usize> {
        let digit = char::from(*key.first()?).to_digit(10)?;
        Some(digit as usize)
    }

    /// Every batch sets this key to the batch's number.
    pub fn mark(self) -> Vec<u8> {
        format!("{} newest batch", self.number).into_bytes()
    }

    /// The number in a mark's value.
    pub fn marked(value: &[u8]) -> Option<u64> {
        value.try_into().ok().map(u64::from_le_bytes)
    }

    /// The batch of that number, from 1.
    pub fn batch(self, number: u64) -> LaneBatch {
        let mixed = Random::new(self.seed ^ ((self.number as u64) << 56) ^ number).number();
        let mut random = Random::new(mixed);
        let is_large = random.one_in(200);
        let (operations, longest_value_bytes) = if is_large {
            // 1 MB in total, or much less.
            (random.between(5, 20), random.choose(&[10_000, 30_000, 200_000]))
        } else {
            (random.choose(&[1, 1, 1, 2, 5, 20]), random.choose(&[10, 100, 100, 3000]))
        };
        let mut batch = vec![(self.mark(), Some(number.to_le_bytes().to_vec()))];
        for _ in 0..operations {
            let key = format!("{}/{:02}", self.number, random.below(KEYS)).into_bytes();
            batch.push((key, draw_value(&mut random, longest_value_bytes)));
        }
        LaneBatch { operations: batch, sync: random.one_in(20), is_large }
    }
}

fn draw_value(random: &mut Random, longest_bytes: usize) -> Option<Vec<u8>> {
    let size = random.below(longest_bytes + 1);
    match random.below(4) {
        0 => None,
        1 => Some(b"compresses well ".repeat(size / 16)),
        _ => Some(random.bytes(size)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_always_gives_the_same_batch_and_each_lane_its_own() {
        let batch = |lane, number| Lane::new(7, lane).batch(number).operations;
        assert_eq!(batch(1, 5), batch(1, 5));
        assert_ne!(batch(1, 5)[1..], batch(1, 6)[1..]);
        for lane in 0..4 {
            let keys = (1..100).flat_map(|number| batch(lane, number)).map(|(key, _)| key);
            assert!(keys.into_iter().all(|key| Lane::number_of(&key) == Some(lane)));
        }
    }

    #[test]
    fn large_batches_reach_a_megabyte() {
        let sizes = (1..10_000).map(|number| {
            let values = Lane::new(7, 0).batch(number).operations.into_iter().filter_map(|(_, value)| value);
            values.map(|value| value.len()).sum::<usize>()
        });
        assert!(sizes.max() > Some(1_000_000));
    }
}
