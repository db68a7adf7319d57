//! Keys and values as db_bench makes them: zero-padded decimals, and text of a chosen compressibility. A value
//! follows from its key, so that it can be checked without being remembered.

use crate::random::ParkMiller;

const DIGITS: usize = 16;
/// Larger than snappy's window, so that a run's data does not compress better than requested.
const POOL_SIZE_BYTES: usize = 1 << 20;
/// Small values come only from the first bytes of the pool. They are needed in any order, and reading the pool must
/// not be part of the measurement: this much stays in a processor's own cache, where db_bench finds its values
/// because it takes them in order.
const NEAR_SIZE_BYTES: usize = 256 << 10;
/// A value that is not small compared with that comes from the whole pool.
const NEAR_VALUES: usize = 128;
const PIECE_SIZE_BYTES: usize = 100;
/// db_bench's own seed of the pool.
const POOL_SEED: u32 = 301;
/// Distance between the first and the second version of a value, in values. Prime, so that versions differ.
const GENERATION_STRIDE: u64 = 1009;

/// A key that is overwritten again and again: `a…a` and 16 digits.
#[derive(Clone, Debug)]
pub struct KeyBuffer {
    bytes: Vec<u8>,
}

impl KeyBuffer {
    /// The key of number 0 after a prefix of `prefix_size_bytes`.
    pub fn new(prefix_size_bytes: usize) -> Self {
        let mut bytes = vec![b'a'; prefix_size_bytes];
        bytes.resize(prefix_size_bytes + DIGITS, b'0');
        Self { bytes }
    }

    /// Changes the key to that of `number`.
    #[inline]
    pub fn set(&mut self, number: u64) -> &[u8] {
        let digits = self.bytes.len() - DIGITS;
        let (high, low) = self.bytes[digits..].split_at_mut(DIGITS / 2);
        high.copy_from_slice(&eight_digits(number / EIGHT_DIGITS_END % EIGHT_DIGITS_END));
        low.copy_from_slice(&eight_digits(number % EIGHT_DIGITS_END));
        &self.bytes
    }
}

const EIGHT_DIGITS_END: u64 = 100_000_000;

/// The decimal digits of a number below 10^8, all at once: the benchmark's own work counts as the engine's time.
#[inline]
fn eight_digits(number: u64) -> [u8; 8] {
    // Two lanes of four digits, the leading ones in the low lane, which comes first in memory.
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    // x * 10486 >> 20 is x / 100 for x below 10,000; x * 103 >> 10 is x / 10 for x below 100.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - tens * 10) << 8);
    (ones | 0x3030_3030_3030_3030).to_le_bytes()
}

/// The number to which the key belongs.
pub fn number_of(key: &[u8]) -> Option<u64> {
    let digits = key.get(key.len().checked_sub(DIGITS)?..)?;
    digits.iter().try_fold(0u64, |number, digit| {
        digit.is_ascii_digit().then(|| number.wrapping_mul(10) + u64::from(digit - b'0'))
    })
}

/// The source of values: a megabyte of text.
pub struct Values {
    pool: Vec<u8>,
}

impl Values {
    /// Text that compression shrinks to about `compression_ratio` of its size.
    pub fn new(compression_ratio: f64) -> Self {
        let mut random = ParkMiller::new(POOL_SEED);
        let raw_size_bytes =
            ((PIECE_SIZE_BYTES as f64 * compression_ratio) as usize).clamp(1, PIECE_SIZE_BYTES);
        let mut pool = Vec::with_capacity(POOL_SIZE_BYTES + PIECE_SIZE_BYTES);
        while pool.len() < POOL_SIZE_BYTES {
            let raw: Vec<u8> = (0..raw_size_bytes).map(|_| b' ' + random.below(95) as u8).collect();
            pool.extend(raw.iter().cycle().take(PIECE_SIZE_BYTES));
        }
        Self { pool }
    }

    /// The value that the key of `number` gets the `generation`-th time.
    ///
    /// # Panics
    ///
    /// If `size_bytes` is larger than the pool, which [`crate::Bench::new`] rules out.
    #[inline]
    pub fn of(&self, number: u64, generation: u32, size_bytes: usize) -> &[u8] {
        // As in db_bench, consecutive numbers have consecutive pieces of the pool.
        let is_small = size_bytes <= NEAR_SIZE_BYTES / NEAR_VALUES;
        let source_size_bytes = if is_small { NEAR_SIZE_BYTES } else { self.pool.len() };
        let slots = (source_size_bytes / size_bytes.max(1)) as u64;
        let slot = (number + u64::from(generation) * GENERATION_STRIDE) % slots;
        let from = slot as usize * size_bytes;
        &self.pool[from..from + size_bytes]
    }

    /// Size of the largest possible value, in bytes.
    pub fn max_size_bytes(&self) -> usize {
        self.pool.len()
    }

    /// Whether `value` is one that the key of `number` got in its first `generations` times.
    pub fn is_one_of(&self, value: &[u8], number: u64, generations: u32) -> bool {
        (0..generations).rev().any(|generation| self.of(number, generation, value.len()) == value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_padded_decimals_and_read_back() {
        let mut key = KeyBuffer::new(2);
        assert_eq!(key.set(1_234_567_890_123), b"aa0001234567890123");
        assert_eq!(number_of(key.set(42)), Some(42));
        for number in
            (0..10_000).chain((0..EIGHT_DIGITS_END).step_by(9973)).chain([EIGHT_DIGITS_END - 1, 1 << 40])
        {
            assert_eq!(key.set(number), format!("aa{number:016}").as_bytes());
        }
        assert_eq!(number_of(b"short"), None);
        assert_eq!(number_of(b"000000000000000x"), None);
    }

    #[test]
    fn values_follow_from_key_generation_and_size() {
        let values = Values::new(0.5);
        let value = values.of(7, 2, 100);
        assert_eq!(value.len(), 100);
        assert_eq!(value[..50], value[50..]);
        assert!(values.is_one_of(value, 7, 3));
        assert!(!values.is_one_of(value, 7, 2));
        assert!(!values.is_one_of(value, 8, 3));
        assert_eq!(values.of(1, 0, 0), b"");
    }

    #[test]
    fn consecutive_values_are_consecutive_in_the_pool() {
        let values = Values::new(0.5);
        assert_eq!([values.of(0, 0, 100), values.of(1, 0, 100)].concat(), values.of(0, 0, 200));
    }
}
