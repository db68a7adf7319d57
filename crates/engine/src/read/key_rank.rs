//! A number that stands for the beginning of a user key, so that most comparisons are of two numbers in registers.
//!
//! Predecessors: [`merging_iterator`](super::merging_iterator) and [`db_iterator`](super::db_iterator).
//!
//! In the bytewise order, a key's rank is its first sixteen bytes, padded with zeros and read as a number whose most
//! significant byte comes first. Then
//! - keys with different ranks are in the order of their ranks;
//! - keys with the same rank and at most sixteen bytes are in the order of their lengths: `a` and `a\0` share a rank;
//! - for longer keys with the same rank, the rest decides.
//!
//! Nothing is known about other comparators, so all ranks are 0.

use std::cmp::Ordering;

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::user_key;

/// The number of a key's bytes that its rank holds.
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
    // After a short key comes its tag.
    let foreign_bits = 8 * (RANKED_BYTES - length) as u32;
    rank >> foreign_bits << foreign_bits
}

fn rank_of_short(user_key: &[u8]) -> u128 {
    let mut bytes = [0; RANKED_BYTES];
    bytes[..user_key.len()].copy_from_slice(user_key);
    u128::from_be_bytes(bytes)
}

/// A user key to compare others with.
#[derive(Debug, Default)]
pub(super) struct RankedKey {
    rank: u128,
    length: usize,
    /// The key, unless its rank and length say everything about it.
    bytes: Vec<u8>,
}

impl RankedKey {
    /// Becomes the user key of the given rank and length. Asks for the key only if these do not say everything about it.
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

    /// Compares this key with the user key of the given rank and length. Asks for that key only if these do not decide.
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

    /// Whether the ranks alone show that this key comes before the keys of `rank`.
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
            // This key is a prefix of the other, which is longer.
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

    /// A key whose length is near that of a rank. Many such keys are prefixes of others, and some end in zeros.
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
