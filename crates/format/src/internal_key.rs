//! Internal keys: the sort keys of the memtable and the tables.
//!
//! ```text
//! +-------------------+----------------------------------+
//! | user key          | tag, fixed64                     |
//! | any bytes         | sequence << 8 | kind             |
//! +-------------------+----------------------------------+
//! ```
//!
//! Order: user keys ascending by the database's comparator; for one user key the larger tag first, so that the newest
//! version comes first. A search for a user key as of a sequence number looks for the first internal key not below
//! `(user key, sequence, SEEK_KIND)`.

use std::cmp::Ordering;

use crate::coding::{decode_fixed64, put_fixed64};
use crate::comparator::UserComparator;
use crate::error::{FormatError, Result};
use crate::limits::INTERNAL_KEY_TAG_SIZE_BYTES;

/// The number of a write in a database, from 1 on; at most [`MAX_SEQUENCE_NUMBER`].
pub type SequenceNumber = u64;

/// Largest sequence number: it shares a fixed64 with an eight-bit kind.
pub const MAX_SEQUENCE_NUMBER: SequenceNumber = (1 << 56) - 1;

/// What an internal key says about its user key. The numbers are the format's.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// The key was deleted: a tombstone, with an empty value.
    Deletion = 0,
    /// The key has the value stored with it.
    Value = 1,
}

/// The kind to search with: the largest one, because a larger tag comes first and the search must not skip a version.
pub const SEEK_KIND: ValueKind = ValueKind::Value;

const STRUCTURE: &str = "internal key";

/// Packs a sequence number, at most [`MAX_SEQUENCE_NUMBER`], and a kind into a tag.
#[inline]
pub fn pack_tag(sequence: SequenceNumber, kind: ValueKind) -> u64 {
    debug_assert!(sequence <= MAX_SEQUENCE_NUMBER);
    sequence << 8 | kind as u64
}

/// Splits a tag into sequence number and kind.
///
/// # Errors
///
/// `Corrupt` if the kind is neither 0 nor 1.
#[inline]
pub fn unpack_tag(tag: u64) -> Result<(SequenceNumber, ValueKind)> {
    let kind = match tag as u8 {
        0 => ValueKind::Deletion,
        1 => ValueKind::Value,
        other => return Err(FormatError::corrupt(STRUCTURE, format!("unknown kind {other}"), 0)),
    };
    Ok((tag >> 8, kind))
}

/// The parts of an internal key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedInternalKey<'a> {
    /// The key as the user gave it.
    pub user_key: &'a [u8],
    /// The sequence number of the write.
    pub sequence: SequenceNumber,
    /// Whether the write stored a value or deleted the key.
    pub kind: ValueKind,
}

/// Splits an internal key into its parts.
///
/// # Errors
///
/// `Corrupt` if it is shorter than a tag or of an unknown kind.
#[inline]
pub fn parse_internal_key(internal_key: &[u8]) -> Result<ParsedInternalKey<'_>> {
    let Some((user_key, tag)) = internal_key.split_last_chunk::<INTERNAL_KEY_TAG_SIZE_BYTES>() else {
        return Err(FormatError::corrupt(
            STRUCTURE,
            format!("{} bytes are too short", internal_key.len()),
            0,
        ));
    };
    let (sequence, kind) = unpack_tag(u64::from_le_bytes(*tag)).map_err(|mut error| {
        error.offset = user_key.len() as u64;
        error
    })?;
    Ok(ParsedInternalKey { user_key, sequence, kind })
}

/// The user key of an internal key. The caller has made sure that the internal key is at least eight bytes long; the
/// result for a shorter one is empty.
#[inline]
pub fn user_key(internal_key: &[u8]) -> &[u8] {
    &internal_key[..internal_key.len().saturating_sub(INTERNAL_KEY_TAG_SIZE_BYTES)]
}

/// The tag of an internal key. The caller has made sure that it is at least eight bytes long; the tag of a shorter
/// one is 0.
#[inline]
pub fn tag(internal_key: &[u8]) -> u64 {
    internal_key.last_chunk::<INTERNAL_KEY_TAG_SIZE_BYTES>().map_or(0, |bytes| decode_fixed64(bytes))
}

/// Appends the internal key of `user_key` to `out`.
#[inline]
pub fn append_internal_key(out: &mut Vec<u8>, user_key: &[u8], sequence: SequenceNumber, kind: ValueKind) {
    out.reserve(user_key.len() + INTERNAL_KEY_TAG_SIZE_BYTES);
    out.extend_from_slice(user_key);
    put_fixed64(out, pack_tag(sequence, kind));
}

/// The internal key that sorts before every version of `user_key`.
pub fn before_all_versions(user_key: &[u8]) -> Vec<u8> {
    let mut internal_key = Vec::with_capacity(user_key.len() + INTERNAL_KEY_TAG_SIZE_BYTES);
    append_internal_key(&mut internal_key, user_key, MAX_SEQUENCE_NUMBER, SEEK_KIND);
    internal_key
}

/// Compares keys of one kind. Block and merging iterators are generic over it, so that the comparison is inlined.
pub trait KeyCompare {
    /// Compares `a` with `b`.
    fn compare_keys(&self, a: &[u8], b: &[u8]) -> Ordering;

    /// Whether these are internal keys whose user keys are in bytewise order.
    fn is_bytewise_by_user_key(&self) -> bool {
        false
    }
}

impl KeyCompare for InternalKeyComparator {
    #[inline]
    fn compare_keys(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare(a, b)
    }

    #[inline]
    fn is_bytewise_by_user_key(&self) -> bool {
        matches!(self.user, UserComparator::Bytewise)
    }
}

impl KeyCompare for UserComparator {
    #[inline]
    fn compare_keys(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.compare(a, b)
    }
}

/// The order of internal keys: by user key ascending, then by tag descending.
#[derive(Clone, Debug)]
pub struct InternalKeyComparator {
    user: UserComparator,
}

impl InternalKeyComparator {
    /// Creates the order of internal keys over the order `user` of user keys.
    pub fn new(user: UserComparator) -> Self {
        Self { user }
    }

    /// The order of user keys.
    #[inline]
    pub fn user(&self) -> &UserComparator {
        &self.user
    }

    /// Compares the internal keys `a` and `b`. Keys shorter than eight bytes have some consistent order.
    #[inline]
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.user.compare(user_key(a), user_key(b)).then_with(|| tag(b).cmp(&tag(a)))
    }

    /// Shortens `start`, an internal key, to an internal key that is not below it and is below `limit`, if the user
    /// comparator knows a shorter one. Index blocks hold such separators.
    pub fn find_shortest_separator(&self, start: &mut Vec<u8>, limit: &[u8]) {
        let mut shorter = user_key(start).to_vec();
        self.user.find_shortest_separator(&mut shorter, user_key(limit));
        self.replace_if_shorter(start, shorter);
    }

    /// Shortens `key`, an internal key, to an internal key that is not below it, if the user comparator knows a
    /// shorter one.
    pub fn find_short_successor(&self, key: &mut Vec<u8>) {
        let mut shorter = user_key(key).to_vec();
        self.user.find_short_successor(&mut shorter);
        self.replace_if_shorter(key, shorter);
    }

    fn replace_if_shorter(&self, key: &mut Vec<u8>, shorter: Vec<u8>) {
        let present = user_key(key);
        if shorter.len() < present.len() && self.user.compare(present, &shorter) == Ordering::Less {
            // The user key grew, so with the largest tag this is the first internal key of its user key: no stored
            // key can lie between.
            *key = shorter;
            put_fixed64(key, pack_tag(MAX_SEQUENCE_NUMBER, SEEK_KIND));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn internal(user_key: &[u8], sequence: u64, kind: ValueKind) -> Vec<u8> {
        let mut key = Vec::new();
        append_internal_key(&mut key, user_key, sequence, kind);
        key
    }

    #[test]
    fn the_bytes_are_the_formats() {
        assert_eq!(internal(b"k", 0x0102, ValueKind::Value), [b'k', 1, 2, 1, 0, 0, 0, 0, 0]);
        assert_eq!(
            internal(b"", MAX_SEQUENCE_NUMBER, ValueKind::Deletion),
            [0, 255, 255, 255, 255, 255, 255, 255]
        );
    }

    #[test]
    fn short_keys_and_unknown_kinds_are_refused() {
        assert!(parse_internal_key(b"1234567").is_err());
        assert_eq!(parse_internal_key(b"12345678").unwrap_err().problem, "unknown kind 49");
        assert_eq!(parse_internal_key(b"ab\x02\0\0\0\0\0\0\0").unwrap_err().offset, 2);
        assert_eq!((user_key(b"123"), tag(b"123")), (&b""[..], 0));
    }

    #[test]
    fn the_newest_version_comes_first() {
        let order = InternalKeyComparator::new(UserComparator::Bytewise);
        let ascending = [
            internal(b"a", 9, ValueKind::Value),
            internal(b"a", 9, ValueKind::Deletion),
            internal(b"a", 3, ValueKind::Value),
            internal(b"aa", 1, ValueKind::Value),
            internal(b"b", 100, ValueKind::Value),
        ];
        for pair in ascending.windows(2) {
            assert_eq!(order.compare(&pair[0], &pair[1]), Ordering::Less);
            assert_eq!(order.compare(&pair[1], &pair[0]), Ordering::Greater);
        }
    }

    #[test]
    fn separators_are_shortened_only_between_different_user_keys() {
        let order = InternalKeyComparator::new(UserComparator::Bytewise);
        let separator = |start: &[u8], limit: &[u8]| {
            let mut key = internal(start, 100, ValueKind::Value);
            order.find_shortest_separator(&mut key, &internal(limit, 200, ValueKind::Value));
            key
        };
        let unchanged = |key: &[u8]| internal(key, 100, ValueKind::Value);
        let shortest = |key: &[u8]| internal(key, MAX_SEQUENCE_NUMBER, SEEK_KIND);
        assert_eq!(separator(b"foo", b"foo"), unchanged(b"foo"));
        assert_eq!(separator(b"foo", b"bar"), unchanged(b"foo"), "out of order: left alone");
        assert_eq!(separator(b"foo", b"hello"), shortest(b"g"));
        assert_eq!(separator(b"foo", b"foobar"), unchanged(b"foo"), "a prefix cannot be shortened");
        assert_eq!(separator(b"foobar", b"foo"), unchanged(b"foobar"));
        assert_eq!(separator(b"abc1xyz", b"abc3"), shortest(b"abc2"));

        let mut key = unchanged(b"foo");
        order.find_short_successor(&mut key);
        assert_eq!(key, shortest(b"g"));
        let mut key = unchanged(b"\xff\xff");
        order.find_short_successor(&mut key);
        assert_eq!(key, unchanged(b"\xff\xff"));
    }

    proptest! {
        #[test]
        fn parsing_gives_back_what_was_appended(
            key in any::<Vec<u8>>(), sequence in 0..=MAX_SEQUENCE_NUMBER, deletion in any::<bool>(),
        ) {
            let kind = if deletion { ValueKind::Deletion } else { ValueKind::Value };
            let bytes = internal(&key, sequence, kind);
            prop_assert_eq!(parse_internal_key(&bytes), Ok(ParsedInternalKey { user_key: &key, sequence, kind }));
            prop_assert_eq!(user_key(&bytes), &key[..]);
            prop_assert_eq!(tag(&bytes), pack_tag(sequence, kind));
            prop_assert_eq!(unpack_tag(tag(&bytes)), Ok((sequence, kind)));
        }

        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in any::<Vec<u8>>()) {
            if let Ok(parsed) = parse_internal_key(&bytes) {
                prop_assert_eq!(internal(parsed.user_key, parsed.sequence, parsed.kind), bytes);
            }
        }

        #[test]
        fn a_separator_lies_between(
            a in proptest::collection::vec(0u8..4, 0..6), b in proptest::collection::vec(0u8..4, 0..6),
            high in any::<bool>(),
        ) {
            let raise = |key: &[u8]| key.iter().map(|byte| if high { 255 - byte } else { *byte }).collect::<Vec<u8>>();
            let order = InternalKeyComparator::new(UserComparator::Bytewise);
            let (mut low, mut limit) = (internal(&raise(&a), 5, SEEK_KIND), internal(&raise(&b), 7, SEEK_KIND));
            if order.compare(&low, &limit) == Ordering::Greater {
                std::mem::swap(&mut low, &mut limit);
            }
            let mut separator = low.clone();
            order.find_shortest_separator(&mut separator, &limit);
            prop_assert!(order.compare(&low, &separator) != Ordering::Greater);
            prop_assert!(low == limit || order.compare(&separator, &limit) == Ordering::Less);
            prop_assert!(separator.len() <= low.len());
            let mut successor = low.clone();
            order.find_short_successor(&mut successor);
            prop_assert!(order.compare(&low, &successor) != Ordering::Greater && successor.len() <= low.len());
        }
    }
}
