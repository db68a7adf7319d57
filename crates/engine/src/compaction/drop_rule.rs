//! Decides which versions of a key no reader can see any more. Flushes and compactions use it.
//!
//! Sequences fall into *stripes*, bounded by the snapshots and the newest visible sequence at the start of the job.
//! Readers read at the upper ends of stripes, so in each stripe only the newest version of a key can be seen. A
//! tombstone that is the newest of its stripe may be dropped as well if its stripe is the oldest and no table below
//! holds the key.

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::{ParsedInternalKey, SequenceNumber, ValueKind};

/// What the rule says about an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    /// Whether it is the first entry of its user key, so that a table may end before it.
    pub(crate) is_new_key: bool,
    /// Whether it may be dropped.
    pub(crate) drop: bool,
}

/// Decides entry by entry, in the order of internal keys.
pub(crate) struct DropRule {
    comparator: UserComparator,
    /// The sequences at which readers read, ascending.
    stripes: Vec<SequenceNumber>,
    user_key: Vec<u8>,
    has_key: bool,
    /// The stripe of the last entry with the current user key.
    last_stripe: Option<usize>,
    newest_dropped_tombstone: SequenceNumber,
}

impl DropRule {
    /// `readers` are the sequences of all snapshots and the visible sequence, ascending.
    pub(crate) fn new(comparator: UserComparator, readers: Vec<SequenceNumber>) -> Self {
        debug_assert!(readers.is_sorted());
        Self {
            comparator,
            stripes: readers,
            user_key: Vec::new(),
            has_key: false,
            last_stripe: None,
            newest_dropped_tombstone: 0,
        }
    }

    /// Whether the next entry may be dropped. `is_base_level` returns whether no table below can hold the key; it is
    /// called only for tombstones.
    #[inline]
    pub(crate) fn may_drop(
        &mut self,
        entry: &ParsedInternalKey<'_>,
        is_base_level: impl FnOnce(&[u8]) -> bool,
    ) -> bool {
        self.judge(entry, is_base_level).drop
    }

    /// As [`may_drop`](Self::may_drop), but also returns whether the entry is the first of its user key.
    #[inline]
    pub(crate) fn judge(
        &mut self,
        entry: &ParsedInternalKey<'_>,
        is_base_level: impl FnOnce(&[u8]) -> bool,
    ) -> Verdict {
        // A comparator may call keys with different bytes equal. They then hide each other.
        let is_new_key = !self.has_key || self.comparator.compare(&self.user_key, entry.user_key).is_ne();
        if is_new_key {
            self.has_key = true;
            self.user_key.clear();
            self.user_key.extend_from_slice(entry.user_key);
            self.last_stripe = None;
        }
        let stripe = self.stripes.partition_point(|reader| *reader < entry.sequence);
        let hidden = self.last_stripe == Some(stripe);
        self.last_stripe = Some(stripe);
        let leaves_nothing =
            !hidden && entry.kind == ValueKind::Deletion && stripe == 0 && is_base_level(entry.user_key);
        if leaves_nothing {
            self.newest_dropped_tombstone = self.newest_dropped_tombstone.max(entry.sequence);
        }
        Verdict { is_new_key, drop: hidden || leaves_nothing }
    }

    /// The sequence number of the newest tombstone that may be dropped although nothing newer of its key stays; 0 if there was
    /// none. What is kept no longer shows that these keys have changed.
    pub(crate) fn newest_dropped_tombstone(&self) -> SequenceNumber {
        self.newest_dropped_tombstone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survivors(readers: &[u64], versions: &[(u64, ValueKind)], base: bool) -> Vec<u64> {
        let mut rule = DropRule::new(UserComparator::Bytewise, readers.to_vec());
        versions
            .iter()
            .filter(|(sequence, kind)| {
                let entry = ParsedInternalKey { user_key: b"k", sequence: *sequence, kind: *kind };
                !rule.may_drop(&entry, |_| base)
            })
            .map(|(sequence, _)| *sequence)
            .collect()
    }

    use ValueKind::{Deletion, Value};

    #[test]
    fn only_the_newest_version_of_each_stripe_stays() {
        let versions = [(9, Value), (8, Value), (5, Value), (4, Value), (2, Value), (1, Value)];
        assert_eq!(survivors(&[10], &versions, true), [9]);
        assert_eq!(survivors(&[5, 10], &versions, true), [9, 5]);
        assert_eq!(survivors(&[2, 4, 10], &versions, true), [9, 4, 2]);
    }

    #[test]
    fn versions_newer_than_every_reader_are_one_stripe() {
        assert_eq!(survivors(&[3], &[(9, Value), (8, Value), (2, Value)], true), [9, 2]);
    }

    #[test]
    fn a_tombstone_at_the_base_goes_with_what_it_hides() {
        let versions = [(9, Deletion), (3, Value)];
        assert_eq!(survivors(&[10], &versions, true), [] as [u64; 0]);
        assert_eq!(survivors(&[10], &versions, false), [9]);
        assert_eq!(survivors(&[5, 10], &versions, true), [9, 3]);
        assert_eq!(survivors(&[3, 5, 10], &[(4, Deletion), (3, Value)], true), [4, 3]);
    }

    #[test]
    fn a_tombstone_hides_an_equal_key_with_other_bytes() {
        let comparator = UserComparator::by_name("idb_cmp1").unwrap();
        // The numbers 0.0 and -0.0 in object store 1 of database 1.
        let prefix = [0x00, 0x01, 0x01, 0x01, 0x03];
        let keys = [0.0f64, -0.0].map(|number| [&prefix[..], &number.to_le_bytes()].concat());
        assert_eq!(comparator.compare(&keys[0], &keys[1]), std::cmp::Ordering::Equal);
        let mut rule = DropRule::new(comparator, vec![10]);
        let deletion = ParsedInternalKey { user_key: &keys[0], sequence: 9, kind: Deletion };
        let hidden = ParsedInternalKey { user_key: &keys[1], sequence: 3, kind: Value };
        assert!(rule.may_drop(&deletion, |_| true));
        assert!(rule.may_drop(&hidden, |_| true));
    }

    #[test]
    fn a_dropped_tombstone_still_hides_older_versions() {
        let versions = [(9, Value), (7, Deletion), (3, Value)];
        assert_eq!(survivors(&[10], &versions, true), [9]);
    }
}
