//! Finding the first internal key at or after a target from a restart point on, in a block of which perhaps only the
//! beginning is available.
//!
//! As in [`find_from`](super::find_from()), no key is assembled: the search only remembers how many bytes the previous
//! user key has in common with the wanted one. The entry that it finds shares no more bytes than those, so its key is
//! the beginning of the target followed by its own bytes.

use std::cmp::Ordering;
use std::ops::Range;

use super::builder::shared_prefix_length;
use super::find_from::{Header, header_at};
use crate::coding::decode_fixed64;
use crate::internal_key;
use crate::limits::INTERNAL_KEY_TAG_SIZE_BYTES;

/// What [`first_at_or_after`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstAtOrAfter {
    /// The entry. Its key is the first `shared` bytes of the target, then the bytes at `suffix`.
    Entry {
        /// Where it starts in the bytes.
        offset: usize,
        /// Number of bytes of its key that it shares with the previous key and with the target.
        shared: usize,
        /// The range of the rest of its key.
        suffix: Range<usize>,
        /// The range of its value.
        value: Range<usize>,
    },
    /// All keys are before the target, and only the restart points can follow.
    End,
    /// All entries before `offset` are before the target, and the bytes end before or within the entry at `offset`.
    Incomplete {
        /// Where that entry starts. It may lie beyond the bytes.
        offset: usize,
    },
    /// The search cannot decide without assembling keys, or the entries are damaged: look for the key in another way.
    Unclear,
}

/// Looks for the first entry at or after `internal_target` from the restart point at `offset` on. `bytes` starts
/// where a data block in bytewise order of user keys starts, and may end anywhere, even after the entries.
#[inline]
pub fn first_at_or_after(bytes: &[u8], mut offset: usize, internal_target: &[u8]) -> FirstAtOrAfter {
    if internal_target.len() < INTERNAL_KEY_TAG_SIZE_BYTES {
        return FirstAtOrAfter::Unclear;
    }
    let wanted = internal_key::user_key(internal_target);
    let mut before = Before { key_length: 0, common: 0, is_less_by_a_byte: false };
    let mut is_first = true;
    loop {
        let Some(header) = header_at(bytes, offset) else {
            return FirstAtOrAfter::Incomplete { offset };
        };
        let Header { shared, non_shared, value_length, key_start } = header;
        let key_length = u64::from(shared) + u64::from(non_shared);
        let Some(user_key_length) = key_length.checked_sub(INTERNAL_KEY_TAG_SIZE_BYTES as u64) else {
            // After the entries comes the first restart offset, which is 0 and reads as an entry without a key.
            return if key_length == 0 && !is_first { FirstAtOrAfter::End } else { FirstAtOrAfter::Unclear };
        };
        if u64::from(shared) > before.key_length {
            return FirstAtOrAfter::Unclear;
        }
        is_first = false;
        let shared = shared as usize;
        let suffix_end = key_start as u64 + u64::from(non_shared);
        let value_end = suffix_end + u64::from(value_length);
        if shared > before.common {
            // It is less, like the previous key, if it has the byte that makes that one less.
            if !before.is_less_by_a_byte || user_key_length <= before.common as u64 {
                return FirstAtOrAfter::Unclear;
            }
            before.key_length = key_length;
        } else {
            if user_key_length < shared as u64 {
                return FirstAtOrAfter::Unclear;
            }
            if suffix_end > bytes.len() as u64 {
                return FirstAtOrAfter::Incomplete { offset };
            }
            let suffix = key_start..suffix_end as usize;
            let user_suffix = &bytes[key_start..suffix.end - INTERNAL_KEY_TAG_SIZE_BYTES];
            let rest = &wanted[shared..];
            let equal = shared_prefix_length(user_suffix, rest);
            let order = match (user_suffix.get(equal), rest.get(equal)) {
                // The larger tag comes first.
                (None, None) => {
                    let tag = decode_fixed64(&bytes[suffix.end - INTERNAL_KEY_TAG_SIZE_BYTES..]);
                    internal_key::tag(internal_target).cmp(&tag)
                }
                (own, wanted) => own.cmp(&wanted),
            };
            if order.is_ge() {
                return match usize::try_from(value_end) {
                    Ok(end) if end <= bytes.len() => {
                        FirstAtOrAfter::Entry { offset, shared, value: suffix.end..end, suffix }
                    }
                    _ => FirstAtOrAfter::Incomplete { offset },
                };
            }
            debug_assert_eq!(order, Ordering::Less);
            let is_less_by_a_byte = equal < user_suffix.len();
            before = Before { key_length, common: shared + equal, is_less_by_a_byte };
        }
        let Ok(next) = usize::try_from(value_end) else {
            return FirstAtOrAfter::Incomplete { offset };
        };
        offset = next;
    }
}

/// What is known of the previous key, which is before the target.
struct Before {
    key_length: u64,
    /// Number of bytes that its user key has in common with the wanted one.
    common: usize,
    /// Whether the byte after them makes it less. If not, it ends there, and the search cannot judge keys that share
    /// more.
    is_less_by_a_byte: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Block, BlockBuilder, BlockIter, BlockIterMemory};
    use crate::comparator::UserComparator;
    use crate::internal_key::{InternalKeyComparator, ValueKind, append_internal_key};
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    type Entries = Vec<(Vec<u8>, Vec<u8>)>;

    fn letters() -> impl Strategy<Value = Vec<u8>> {
        // Few letters, so that keys are prefixes of each other, and bytes that look like tags.
        vec(prop_oneof![Just(b'a'), Just(b'b'), Just(0u8), Just(1u8), Just(255u8)], 0..6)
    }

    fn entries() -> impl Strategy<Value = Entries> {
        let versions = btree_map(0u64..300, vec(any::<u8>(), 0..200), 1..4);
        btree_map(letters(), versions, 1..40).prop_map(|keys| {
            let versions = |(key, versions): (Vec<u8>, std::collections::BTreeMap<u64, Vec<u8>>)| {
                versions.into_iter().rev().map(move |(sequence, value)| (internal(&key, sequence), value))
            };
            keys.into_iter().flat_map(versions).collect()
        })
    }

    fn internal(user_key: &[u8], sequence: u64) -> Vec<u8> {
        let mut key = Vec::new();
        append_internal_key(&mut key, user_key, sequence, ValueKind::Value);
        key
    }

    fn block(entries: &Entries, restart_interval: usize) -> Vec<u8> {
        let mut builder = BlockBuilder::new(restart_interval);
        entries.iter().for_each(|(key, value)| builder.add(key, value));
        builder.finish().to_vec()
    }

    proptest! {
        #[test]
        fn what_is_found_is_the_first_at_or_after_the_target(
            entries in entries(),
            restart_interval in 1usize..20,
            other in letters(),
            sequence in 0u64..300,
            cut in any::<prop::sample::Index>(),
        ) {
            let comparator = InternalKeyComparator::new(UserComparator::Bytewise);
            let bytes = block(&entries, restart_interval);
            let targets = entries.iter().map(|(key, _)| internal(internal_key::user_key(key), sequence));
            for target in targets.chain([internal(&other, sequence)]) {
                let expected = entries.iter().find(|(key, _)| comparator.compare(key, &target).is_ge());
                for end in [bytes.len(), cut.index(bytes.len())] {
                    match first_at_or_after(&bytes[..end], 0, &target) {
                        FirstAtOrAfter::Entry { shared, suffix, value, .. } => {
                            let key = [&target[..shared], &bytes[suffix]].concat();
                            let found = (key, bytes[value].to_vec());
                            prop_assert_eq!(Some(&found), expected);
                        }
                        FirstAtOrAfter::End => prop_assert_eq!(None, expected),
                        FirstAtOrAfter::Incomplete { .. } => prop_assert!(end < bytes.len()),
                        FirstAtOrAfter::Unclear => {}
                    }
                }
                let block = Block::new(bytes.clone()).unwrap();
                let mut iter = BlockIter::over_internal_keys(&block, BlockIterMemory::default());
                iter.seek(&comparator, &target).unwrap();
                let mut index = entries.iter().position(|entry| Some(entry) == expected).unwrap_or(entries.len());
                prop_assert_eq!(iter.valid(), expected.is_some());
                while iter.valid() && index + 1 < entries.len() {
                    prop_assert_eq!((iter.key(), iter.value()), (&entries[index].0[..], &entries[index].1[..]));
                    iter.next().unwrap();
                    index += 1;
                }
                while iter.valid() {
                    prop_assert_eq!((iter.key(), iter.value()), (&entries[index].0[..], &entries[index].1[..]));
                    iter.prev().unwrap();
                    index = index.wrapping_sub(1);
                }
            }
        }

        #[test]
        fn any_bytes_are_searched(
            bytes in vec(prop_oneof![0u8..20, any::<u8>()], 0..200),
            offset in 0usize..220,
            target in vec(any::<u8>(), 0..20),
        ) {
            if let FirstAtOrAfter::Entry { value, shared, .. } = first_at_or_after(&bytes, offset, &target) {
                prop_assert!(value.end <= bytes.len());
                prop_assert!(shared <= target.len());
            }
        }
    }

    #[test]
    fn numbered_keys_are_found_without_another_way() {
        let entries: Entries =
            (0..40).map(|n| (internal(format!("{:016}", n * 7).as_bytes(), n), vec![7; 100])).collect();
        let bytes = block(&entries, 16);
        for (n, (key, _)) in entries.iter().enumerate() {
            let before = internal(format!("{:016}", (n * 7).saturating_sub(1)).as_bytes(), 0);
            for target in [key, &before] {
                let FirstAtOrAfter::Entry { shared, suffix, .. } = first_at_or_after(&bytes, 0, target)
                else {
                    panic!("{target:?} leads to no entry");
                };
                assert_eq!([&target[..shared], &bytes[suffix]].concat(), *key);
            }
        }
        assert_eq!(first_at_or_after(&bytes, 0, &internal(b"9", 0)), FirstAtOrAfter::End);
    }
}
