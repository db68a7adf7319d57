//! Keys to try, for each tested order of keys.

use crate::random::Random;

/// A set of keys from which a trial draws, small enough that keys are overwritten and deleted many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySpace {
    /// Any bytes: short and long keys, long common prefixes, and the edges of the order.
    Bytes,
    /// Well-formed keys, as in Chromium's IndexedDB, for the comparator `idb_cmp1`.
    IndexedDb,
}

impl KeySpace {
    /// The key with this number. A number always gives the same key.
    pub fn key(self, number: usize) -> Vec<u8> {
        let mut random = Random::new(number as u64);
        match self {
            Self::Bytes => bytes_key(number, &mut random),
            Self::IndexedDb => indexed_db_key(number, &mut random),
        }
    }
}

fn bytes_key(number: usize, random: &mut Random) -> Vec<u8> {
    match number % 8 {
        0..4 => format!("key {number:06}").into_bytes(),
        4 => {
            // Neighbours of separators and successors: runs of the highest and the lowest byte.
            let mut key = vec![0xff; random.below(5)];
            key.extend(vec![0; random.below(5)]);
            key.extend(random.bytes(2));
            key
        }
        5 => {
            let mut key = b"a prefix that many keys have in common/".repeat(3);
            key.extend((number as u32).to_be_bytes());
            key
        }
        6 => {
            let size = random.below(40);
            random.bytes(size)
        }
        // Longer than a block of any tested size.
        _ => [random.bytes(1), vec![b'x'; random.below(2000)], number.to_be_bytes().to_vec()].concat(),
    }
}

/// A record or an index entry; `docs/format/` describes the layout.
fn indexed_db_key(number: usize, random: &mut Random) -> Vec<u8> {
    let database = 1 + (number % 3) as u8;
    let store = 1 + random.below(4) as u16;
    let index = if random.one_in(4) { 30 } else { 1 };
    // Two-byte store ids, so that the widths in the first byte differ.
    let mut key = if random.one_in(3) {
        let [low, high] = (store + 0x100).to_le_bytes();
        vec![1 << 2, database, low, high, index]
    } else {
        vec![0, database, store as u8, index]
    };
    append_indexed_db_value(&mut key, number, random, 0);
    if index == 30 {
        key.push(0);
        append_indexed_db_value(&mut key, number, random, 0);
    }
    key
}

/// An encoded key path value: number, date, string, binary or array.
fn append_indexed_db_value(key: &mut Vec<u8>, number: usize, random: &mut Random, depth: usize) {
    match random.below(if depth < 2 { 6 } else { 5 }) {
        kind @ (0 | 1) => {
            key.push(if kind == 0 { 3 } else { 2 });
            // Never -0, which equals 0 in this order.
            let value = 0.5 + number as f64 - 1000.0 * random.below(3) as f64;
            key.extend(value.to_le_bytes());
        }
        2 | 3 => {
            let text: Vec<u16> = format!("schlüssel {number}").encode_utf16().collect();
            key.push(1);
            key.push(text.len() as u8);
            key.extend(text.iter().flat_map(|unit| unit.to_be_bytes()));
        }
        4 => {
            let size = random.below(20);
            key.push(6);
            key.push(size as u8);
            key.extend(random.bytes(size));
        }
        _ => {
            let elements = random.below(4);
            key.push(4);
            key.push(elements as u8);
            for _ in 0..elements {
                append_indexed_db_value(key, number, random, depth + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use terrace_engine::UserComparator;

    use super::*;

    #[test]
    fn different_keys_never_compare_as_equal() {
        for (space, name) in
            [(KeySpace::Bytes, "leveldb.BytewiseComparator"), (KeySpace::IndexedDb, "idb_cmp1")]
        {
            let comparator = UserComparator::by_name(name).expect("a built-in comparator");
            let mut keys: Vec<_> = (0..4000).map(|number| space.key(number)).collect();
            keys.sort_by(|a, b| comparator.compare(a, b));
            for pair in keys.windows(2) {
                let equal = comparator.compare(&pair[0], &pair[1]) == Ordering::Equal;
                assert_eq!(equal, pair[0] == pair[1], "{pair:x?}");
            }
        }
    }

    #[test]
    fn both_spaces_hold_many_keys() {
        for space in [KeySpace::Bytes, KeySpace::IndexedDb] {
            let keys: std::collections::HashSet<_> = (0..2000).map(|number| space.key(number)).collect();
            assert!(keys.len() > 1500, "{}", keys.len());
        }
    }
}
