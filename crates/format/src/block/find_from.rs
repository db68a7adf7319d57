//! Finding one key from a restart point on, in a block of which perhaps only the beginning is available.
//!
//! [`crate::hash_index`] leads a lookup here, with a block's bytes in the file or the part of them that
//! [`crate::compression::PartialSnappy`] has decoded.
//!
//! No key is assembled. The search only remembers how many bytes the previous key has in common with the wanted one,
//! which is enough: an entry that shares more bytes than that is on the same side of the wanted key, and one that
//! shares fewer is compared from there.
//!
//! ```text
//! wanted   terrain
//! entry    terminal      in common: 3, then less ("m" < "r")
//! entry    (5) us        shares 5 > 3: less as well, without comparing
//! entry    (3) race      shares 3: compare "race" with "rain": 5 in common, then less
//! entry    (5) in        the key
//! ```

use std::cmp::Ordering;
use std::ops::Range;

use crate::coding::{decode_fixed64, read_varint32};
use crate::limits::INTERNAL_KEY_TAG_SIZE_BYTES;

/// What [`find_from`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundFrom {
    /// The first entry of the user key.
    Entry {
        /// The tag of its internal key: sequence number and kind.
        tag: u64,
        /// The range of its value in the bytes.
        value: Range<usize>,
    },
    /// The key is not in the block: the search reached a greater key or the end of the entries.
    Absent,
    /// The bytes end before the search can decide.
    Incomplete,
    /// The search cannot decide without assembling keys, or the entries are damaged: look for the key in another way.
    Unclear,
}

/// Looks for the first entry of `user_key` from the restart point at `offset` on. `bytes` starts where a data block
/// in bytewise order of user keys starts, and may end anywhere, even after the entries.
#[inline]
pub fn find_from(bytes: &[u8], mut offset: usize, user_key: &[u8]) -> FoundFrom {
    // Number of bytes that the previous user key has in common with the wanted one. It is less than the wanted one,
    // or ends there.
    let mut common = 0;
    // Whether the byte after them makes it less. If not, the search cannot judge keys that share more.
    let mut is_less_by_a_byte = false;
    let mut is_first = true;
    loop {
        let Some(header) = header_at(bytes, offset) else {
            return FoundFrom::Incomplete;
        };
        let Header { shared, non_shared, value_length, key_start } = header;
        let key_length = shared as u64 + non_shared as u64;
        let Some(user_key_length) = key_length.checked_sub(INTERNAL_KEY_TAG_SIZE_BYTES as u64) else {
            // After the entries comes the first restart offset, which is 0 and reads as an entry without a key.
            return if key_length == 0 && !is_first { FoundFrom::Absent } else { FoundFrom::Unclear };
        };
        if is_first && shared > 0 {
            return FoundFrom::Unclear;
        }
        is_first = false;
        let key_end = key_start as u64 + non_shared as u64;
        let value_end = key_end + u64::from(value_length);
        if shared as usize > common {
            if !is_less_by_a_byte {
                return FoundFrom::Unclear;
            }
        } else {
            let shared = shared as usize;
            if user_key_length < shared as u64 {
                return FoundFrom::Unclear;
            }
            let suffix_end = key_end - INTERNAL_KEY_TAG_SIZE_BYTES as u64;
            let Some(suffix) = slice(bytes, key_start as u64, suffix_end) else {
                return FoundFrom::Incomplete;
            };
            let wanted = &user_key[shared..];
            let equal = common_prefix_length(suffix, wanted);
            match (equal == suffix.len(), equal == wanted.len()) {
                (true, true) => {
                    let Some(value) = slice_range(bytes, key_end, value_end) else {
                        return FoundFrom::Incomplete;
                    };
                    let tag = decode_fixed64(&bytes[value.start - INTERNAL_KEY_TAG_SIZE_BYTES..]);
                    return FoundFrom::Entry { tag, value };
                }
                (false, true) => return FoundFrom::Absent,
                (true, false) => is_less_by_a_byte = false,
                (false, false) => match suffix[equal].cmp(&wanted[equal]) {
                    Ordering::Greater => return FoundFrom::Absent,
                    _ => is_less_by_a_byte = true,
                },
            }
            common = shared + equal;
        }
        let Ok(next) = usize::try_from(value_end) else {
            return FoundFrom::Incomplete;
        };
        offset = next;
    }
}

/// The beginning of an entry.
pub(super) struct Header {
    pub(super) shared: u32,
    pub(super) non_shared: u32,
    pub(super) value_length: u32,
    pub(super) key_start: usize,
}

/// The header of the entry at `offset`; `None` if the bytes end before or within it, or if a length is invalid.
#[inline(always)]
pub(super) fn header_at(bytes: &[u8], offset: usize) -> Option<Header> {
    let rest = bytes.get(offset..)?;
    if let [shared, non_shared, value_length, ..] = *rest
        && shared | non_shared | value_length < 0x80
    {
        return Some(Header {
            shared: shared.into(),
            non_shared: non_shared.into(),
            value_length: value_length.into(),
            key_start: offset + 3,
        });
    }
    let (shared, first) = read_varint32(rest)?;
    let (non_shared, second) = read_varint32(&rest[first..])?;
    let (value_length, third) = read_varint32(&rest[first + second..])?;
    Some(Header { shared, non_shared, value_length, key_start: offset + first + second + third })
}

/// The bytes of a range; `None` if they are not all there.
#[inline]
fn slice(bytes: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    bytes.get(slice_range(bytes, start, end)?)
}

#[inline]
fn slice_range(bytes: &[u8], start: u64, end: u64) -> Option<Range<usize>> {
    (start <= end && end <= bytes.len() as u64).then_some(start as usize..end as usize)
}

/// Number of bytes at the start of `a` and `b` that are equal.
#[inline]
fn common_prefix_length(a: &[u8], b: &[u8]) -> usize {
    super::builder::shared_prefix_length(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockBuilder;
    use crate::internal_key::{ValueKind, append_internal_key, pack_tag};
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    type Versions = Vec<(u64, Vec<u8>)>;

    /// A block of these keys, and for each key the restart point before its newest version.
    fn block(keys: &[(Vec<u8>, Versions)], restart_interval: usize) -> (Vec<u8>, Vec<usize>, usize) {
        let mut builder = BlockBuilder::new(restart_interval);
        let mut restarts = Vec::new();
        for (user_key, versions) in keys {
            for (number, (sequence, value)) in versions.iter().enumerate() {
                let mut key = Vec::new();
                append_internal_key(&mut key, user_key, *sequence, ValueKind::Value);
                builder.add(&key, value);
                if number == 0 {
                    restarts.push(builder.last_restart_offset());
                }
            }
        }
        let entries_end = builder.entries_size_bytes();
        (builder.finish().to_vec(), restarts, entries_end)
    }

    fn keys() -> impl Strategy<Value = Vec<(Vec<u8>, Versions)>> {
        // Few letters, so that keys are prefixes of each other, and bytes that look like tags.
        let letter = prop_oneof![Just(b'a'), Just(b'b'), Just(0u8), Just(1u8), Just(255u8)];
        let versions = vec((0u64..300, vec(any::<u8>(), 0..200)), 1..3).prop_map(|mut versions| {
            versions.sort_by_key(|version| std::cmp::Reverse(version.0));
            versions.dedup_by_key(|version| version.0);
            versions
        });
        btree_map(vec(letter, 0..6), versions, 1..40).prop_map(|map| map.into_iter().collect())
    }

    #[test]
    fn numbered_keys_are_found_without_another_way() {
        let keys: Vec<_> =
            (0..40).map(|n| (format!("{:016}", n * 7).into_bytes(), vec![(n, vec![7; 100])])).collect();
        let (bytes, restarts, entries_end) = block(&keys, 16);
        for ((key, versions), restart) in keys.iter().zip(&restarts) {
            let FoundFrom::Entry { tag, value } = find_from(&bytes, *restart, key) else {
                panic!("{key:?} is not found");
            };
            assert_eq!(tag, pack_tag(versions[0].0, ValueKind::Value));
            assert_eq!(bytes[value.clone()], versions[0].1);
            assert_eq!(find_from(&bytes[..value.end - 1], *restart, key), FoundFrom::Incomplete);
            assert!(matches!(find_from(&bytes[..value.end], *restart, key), FoundFrom::Entry { .. }));
        }
        for absent in ["0000000000000001", "0000000000000099", "00000", "9", ""] {
            assert_eq!(find_from(&bytes, 0, absent.as_bytes()), FoundFrom::Absent, "{absent}");
        }
        assert_eq!(find_from(&bytes[..entries_end], 0, b"9"), FoundFrom::Incomplete);
        assert_eq!(find_from(&bytes, bytes.len() + 5, b"9"), FoundFrom::Incomplete);
    }

    proptest! {
        #[test]
        fn what_is_found_is_the_newest_version_and_absence_is_true(
            keys in keys(),
            restart_interval in 1usize..20,
            other in vec(prop_oneof![Just(b'a'), Just(b'b'), Just(0u8), Just(1u8)], 0..7),
            cut in any::<prop::sample::Index>(),
        ) {
            let (bytes, restarts, _) = block(&keys, restart_interval);
            for ((key, versions), restart) in keys.iter().zip(&restarts) {
                let expected = (pack_tag(versions[0].0, ValueKind::Value), &versions[0].1[..]);
                for end in [bytes.len(), cut.index(bytes.len())] {
                    match find_from(&bytes[..end], *restart, key) {
                        FoundFrom::Entry { tag, value } => prop_assert_eq!((tag, &bytes[value]), expected),
                        FoundFrom::Absent => prop_assert!(false, "{:?} is there", key),
                        FoundFrom::Incomplete => prop_assert!(end < bytes.len()),
                        FoundFrom::Unclear => {}
                    }
                }
                let is_absent = keys.iter().all(|(key, _)| *key != other);
                if is_absent {
                    let found = find_from(&bytes, *restart, &other);
                    prop_assert!(matches!(found, FoundFrom::Absent | FoundFrom::Unclear), "{:?}", found);
                }
            }
        }

        #[test]
        fn any_bytes_are_searched(
            bytes in vec(prop_oneof![0u8..20, any::<u8>()], 0..200),
            offset in 0usize..220,
            user_key in vec(any::<u8>(), 0..10),
        ) {
            if let FoundFrom::Entry { value, .. } = find_from(&bytes, offset, &user_key) {
                prop_assert!(value.end <= bytes.len());
            }
        }
    }
}
