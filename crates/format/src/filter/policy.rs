//! Filters that a program provides in place of the Bloom filter.
//!
//! [`FilterBlockBuilder`](super::FilterBlockBuilder) hands the keys of 2 KiB of file to the policy.
//! [`FilterBlockReader`](super::FilterBlockReader) queries the policy with the bytes of the resulting filter.

use std::fmt::Debug;
use std::sync::Arc;

/// A kind of filter.
///
/// # Rules
///
/// A filter admits every key that it was made of, for ever: lookups skip a key that it denies. Filters of another
/// kind need another name. No method panics, whatever the bytes. Several threads may call the methods at once.
pub trait FilterPolicy: Send + Sync + Debug {
    /// The name that the metaindex of a table has for the filters, after `filter.`; any bytes.
    fn name(&self) -> &[u8];

    /// Makes the filter of these user keys: at least one, in the order of the table, each once. If the result is
    /// `None` or empty, the table gets no filters at all.
    fn create_filter(&self, user_keys: &[&[u8]]) -> Option<Vec<u8>>;

    /// Whether `filter`, which is not empty, may have been made of keys that include `user_key`. "No" must be
    /// certain.
    fn may_contain(&self, user_key: &[u8], filter: &[u8]) -> bool;
}

/// The keys of the filter under construction.
#[derive(Clone, Debug)]
pub(super) struct PolicyKeys {
    policy: Arc<dyn FilterPolicy>,
    bytes: Vec<u8>,
    /// Where each key ends in `bytes`.
    ends: Vec<usize>,
}

impl PolicyKeys {
    pub(super) fn new(policy: Arc<dyn FilterPolicy>) -> Self {
        Self { policy, bytes: Vec::new(), ends: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn add(&mut self, user_key: &[u8]) {
        let last = self.ends.len().checked_sub(1).map(|last| self.key(last));
        // Versions of one key follow each other; one of them is enough.
        if last != Some(user_key) {
            self.bytes.extend_from_slice(user_key);
            self.ends.push(self.bytes.len());
        }
    }

    fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// Appends the filter of the keys, if there are any, and forgets the keys. `false` if the policy made none: the
    /// block must then have no filters, because an empty filter denies every key.
    pub(super) fn end_filter(&mut self, filters: &mut Vec<u8>) -> bool {
        if self.is_empty() {
            return true;
        }
        let keys: Vec<&[u8]> = (0..self.ends.len()).map(|index| self.key(index)).collect();
        let filter = self.policy.create_filter(&keys).unwrap_or_default();
        filters.extend_from_slice(&filter);
        self.bytes.clear();
        self.ends.clear();
        !filter.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::filter::{FilterBlockBuilder, FilterBlockReader};

    use super::*;

    /// Filters of the keys' first bytes; none if a key begins with the byte `minds`.
    #[derive(Debug, Default)]
    struct FirstBytes {
        minds: u8,
        made: AtomicUsize,
    }

    impl FilterPolicy for FirstBytes {
        fn name(&self) -> &[u8] {
            b"test.first-bytes"
        }

        fn create_filter(&self, user_keys: &[&[u8]]) -> Option<Vec<u8>> {
            self.made.fetch_add(1, Ordering::Relaxed);
            let bytes: Vec<u8> = user_keys.iter().map(|key| key.first().copied().unwrap_or(0)).collect();
            (!bytes.contains(&self.minds)).then_some(bytes)
        }

        fn may_contain(&self, user_key: &[u8], filter: &[u8]) -> bool {
            filter.contains(&user_key.first().copied().unwrap_or(0))
        }
    }

    fn contents(policy: &Arc<FirstBytes>) -> Vec<u8> {
        let mut builder = FilterBlockBuilder::with_policy(Arc::clone(policy) as _);
        for (offset, keys) in [(0, &[&b"foo"[..], b"foo", b"bar"][..]), (2000, &[b""]), (9000, &[b"hello"])] {
            builder.start_block(offset);
            for key in keys {
                builder.add_key(key);
            }
        }
        builder.finish()
    }

    #[test]
    fn each_two_kib_of_file_has_a_filter_of_the_policy() {
        let policy = Arc::new(FirstBytes { minds: b'x', ..FirstBytes::default() });
        let contents = contents(&policy);
        assert_eq!(policy.made.load(Ordering::Relaxed), 2);
        assert!(contents.starts_with(b"fb\0h"), "each key once: {contents:?}");
        let reader = FilterBlockReader::with_policy(contents, policy).unwrap();
        for (offset, inside, outside) in
            [(0, &[&b"foo"[..], b"bar", b""][..], &b"hello"[..]), (9000, &[b"hello"], b"foo")]
        {
            assert!(inside.iter().all(|key| reader.may_contain(offset, key)));
            assert!(!reader.may_contain(offset, outside));
        }
        assert!(!reader.may_contain(5000, b"foo"), "no key lies there");
        assert!(reader.may_contain(20_000, b"foo"), "nothing is known of what lies beyond");
    }

    #[test]
    fn one_filter_that_cannot_be_made_leaves_the_block_without_any() {
        for minds in [b'f', b'h'] {
            let policy = Arc::new(FirstBytes { minds, ..FirstBytes::default() });
            let contents = contents(&policy);
            assert_eq!(contents, [0, 0, 0, 0, 11]);
            let reader = FilterBlockReader::with_policy(contents, policy).unwrap();
            assert!([0, 5000, 9000].iter().all(|offset| reader.may_contain(*offset, b"anything")));
        }
    }
}
