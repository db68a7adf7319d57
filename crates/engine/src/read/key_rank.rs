//! A number that stands for the beginning of a user key, so that most comparisons are of two numbers in registers.
//!
//! Predecessors: [`merging_iterator`](super::merging_iterator) and [`db_iterator`](super::db_iterator).
//!
//! In the bytewise order a key's rank is its first sixteen bytes, filled up with zeros, read as a number with the first
//! byte on top. Then
//! - keys of different ranks are in the order of their ranks;
//! - keys of the same rank and at most sixteen bytes are in the order of their lengths: `a` and `a\0` share a rank;
//! - of longer ones the rest decides.
//!
//! Of another comparator nothing is known, and all ranks are 0.

use std::cmp::Ordering;

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::user_key;

/// Bytes of a key that its rank holds.
const RANKED_BYTES: usize = size_of::<u128>();

/// The rank of the user key of `internal_key`, which is at least eight bytes long.
#[inline]
pub(super) fn rank(comparator: &UserComparator, internal_key: &[u8]) -> u128 {
    if !matches!(comparator, UserComparator::Bytewise) {
        return 0;
    }
    let length = user_key(internal_key).len();
    let Some(&bytes) = internal_key.first_chunk() else { return rank_of_short(user_key(internal_key)) };
    let rank = u128::from_be_bytes(bytes);
    if length >= RANKED_BYTES {
        return rank;
    }
    // What follows a short key is its tag.
    let foreign_bits = 8 * (RANKED_BYTES - length) as u32;
    rank >> foreign_bits << foreign_bits
}

fn rank_of_short(user_key: &[u8]) -> u128 {
    let mut bytes = [0; RANKED_BYTES];
    bytes[..user_key.len()].copy_from_slice(user_key);
    u128::from_be_bytes(bytes)
}

/// A user key that others are compared with.
#[derive(Debug, Default)]
pub(super) struct RankedKey {
    rank: u128,
    length: usize,
    /// The key, unless rank and length say it all.
    bytes: Vec<u8>,
}

impl RankedKey {
    /// Becomes the user key of the given rank and length, which is only asked for if they do not say it all.
    #[inline]
    pub(super) fn set<'k>(
        &mut self,
        comparator: &UserComparator,
        (rank, length): (u128, usize),
        user_key: impl FnOnce() -> &'k [u8],
    ) {
        (self.rank, self.length) = (rank, length);
        if !is_told_by_rank(comparator, length) {
            self.bytes.clear();
            self.bytes.extend_from_slice(user_key());
        }
    }

    /// How it is ordered against the user key of the given rank and length, which is only asked for if they do not say
    /// it all.
    #[inline]
    pub(super) fn compare<'k>(
        &self,
        comparator: &UserComparator,
        (rank, length): (u128, usize),
        user_key: impl FnOnce() -> &'k [u8],
    ) -> Ordering {
        if self.rank != rank {
            return self.rank.cmp(&rank);
        }
        if is_told_by_rank(comparator, self.length.max(length)) {
            return self.length.cmp(&length);
        }
        self.compare_bytes(comparator, user_key())
    }

    /// Whether it shows by the ranks alone that it comes before the keys of `rank`.
    #[inline]
    pub(super) fn is_before_rank(&self, rank: u128) -> bool {
        self.rank < rank
    }

    /// Appends the key to `out`.
    pub(super) fn append_to(&self, comparator: &UserComparator, out: &mut Vec<u8>) {
        if is_told_by_rank(comparator, self.length) {
            out.extend_from_slice(&self.rank.to_be_bytes()[..self.length]);
        } else {
            out.extend_from_slice(&self.bytes);
        }
    }

    fn compare_bytes(&self, comparator: &UserComparator, user_key: &[u8]) -> Ordering {
        if is_told_by_rank(comparator, self.length) {
            // It is a prefix of the other, which is longer.
            return Ordering::Less;
        }
        comparator.compare(&self.bytes, user_key)
    }
}

#[inline]
fn is_told_by_rank(comparator: &UserComparator, length: usize) -> bool {
    matches!(comparator, UserComparator::Bytewise) && length <= RANKED_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::merging_iterator::test_support::{Random, comparators, internal_key};
    use terrace_format::internal_key::ValueKind;

    /// Keys around the lengths at which a rank ends, many of them prefixes of others, some with zeros at their ends.
    fn key(random: &mut Random) -> Vec<u8> {
        let common = [b'p'; 20];
        let mut key = common[..random.below(21)].to_vec();
        key.extend((0..random.below(4)).map(|_| b"\0\x01p\xff"[random.below(4)]));
        key
    }

    #[test]
    fn ranked_keys_are_in_the_comparators_order() {
        let mut random = Random(7);
        let mut equal = 0;
        for comparator in comparators() {
            let user = comparator.user();
            let mut kept = RankedKey::default();
            for _ in 0..20_000 {
                let (a, b) = (key(&mut random), key(&mut random));
                let [rank_a, rank_b] =
                    [&a, &b].map(|key| rank(user, &internal_key(key, random.next() >> 8, ValueKind::Value)));
                let expected = user.compare(&a, &b);
                assert!(rank_a == rank_b || rank_a.cmp(&rank_b) == expected, "{a:?} {b:?}");
                kept.set(user, (rank_a, a.len()), || &a);
                assert_eq!(kept.compare(user, (rank_b, b.len()), || &b), expected, "{a:?} {b:?}");
                let mut copy = Vec::new();
                kept.append_to(user, &mut copy);
                assert_eq!(copy, a);
                equal += usize::from(expected.is_eq());
            }
        }
        assert!(equal > 100, "{equal} equal keys are too few for a test");
    }
}
