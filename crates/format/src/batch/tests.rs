use proptest::prelude::*;

use super::*;
use crate::coding::put_varint32;
use crate::error::FormatErrorKind;

fn operations(batch: &WriteBatch) -> Vec<BatchOp<'_>> {
    batch.iter().map(|operation| operation.unwrap()).collect()
}

#[test]
fn the_bytes_are_the_formats() {
    let mut batch = WriteBatch::new();
    batch.set_sequence(0x0102);
    batch.put(b"key", b"v").unwrap();
    batch.delete(b"").unwrap();
    assert_eq!(batch.as_bytes(), b"\x02\x01\0\0\0\0\0\0\x02\0\0\0\x01\x03key\x01v\0\0");
    assert_eq!((batch.count(), batch.sequence(), batch.approximate_size_bytes()), (2, 0x0102, 21));
    assert_eq!(operations(&batch), [BatchOp::Put { key: b"key", value: b"v" }, BatchOp::Delete { key: b"" }]);
}

#[test]
fn appending_adds_the_operations_and_keeps_the_sequence() {
    let (mut first, mut second) = (WriteBatch::new(), WriteBatch::with_capacity(100));
    first.set_sequence(7);
    first.append(&second).unwrap();
    assert!(first.is_empty());
    second.set_sequence(300);
    second.put(b"b", b"2").unwrap();
    second.delete(b"c").unwrap();
    first.put(b"a", b"1").unwrap();
    first.append(&second).unwrap();
    assert_eq!((first.count(), first.sequence()), (3, 7));
    assert_eq!(operations(&first)[1..], operations(&second)[..]);
    first.clear();
    assert_eq!(first, WriteBatch::new());
}

#[test]
fn exceeding_a_limit_is_refused_and_changes_nothing() {
    let mut batch = WriteBatch::new();
    batch.put(b"a", b"1").unwrap();
    let before = batch.clone();
    // Zeroed memory that nothing touches costs only address space.
    let long = vec![0; MAX_VALUE_SIZE_BYTES + 1];
    let error = batch.put(&long[..MAX_KEY_SIZE_BYTES + 1], b"").unwrap_err();
    assert_eq!(error.to_string(), "write batch: a key of 67108865 bytes; the limit is 67108864 (at byte 0)");
    assert_eq!(error.kind, FormatErrorKind::Unsupported);
    assert!(batch.delete(&long[..MAX_KEY_SIZE_BYTES + 1]).is_err());
    assert!(batch.put(b"", &long).unwrap_err().problem.contains("a value of 1073741825 bytes"));
    assert!(batch.grow(MAX_BATCH_SIZE_BYTES - 16).is_err());
    assert!(batch.grow(usize::MAX).is_err());
    assert_eq!(batch, before);
    batch.delete(&long[..MAX_KEY_SIZE_BYTES]).unwrap();
}

#[test]
fn a_batch_that_was_encoded_elsewhere_is_held_to_the_limits() {
    let encoded = |key_bytes: usize, value_bytes: Option<usize>| {
        let mut bytes = vec![0; BATCH_HEADER_SIZE_BYTES];
        bytes[8] = 1;
        bytes.push(if value_bytes.is_some() { ValueKind::Value } else { ValueKind::Deletion } as u8);
        for length in [Some(key_bytes), value_bytes].into_iter().flatten() {
            put_varint32(&mut bytes, length as u32);
            bytes.resize(bytes.len() + length, b'x');
        }
        bytes
    };
    for (key_bytes, value_bytes, named) in [
        (MAX_KEY_SIZE_BYTES, Some(0), None),
        (MAX_KEY_SIZE_BYTES, None, None),
        (1, Some(MAX_VALUE_SIZE_BYTES), None),
        (MAX_KEY_SIZE_BYTES + 1, Some(0), Some("a key of 67108865 bytes")),
        (MAX_KEY_SIZE_BYTES + 1, None, Some("a key of 67108865 bytes")),
        (1, Some(MAX_VALUE_SIZE_BYTES + 1), Some("a value of 1073741825 bytes")),
    ] {
        let bytes = encoded(key_bytes, value_bytes);
        BatchRef::parse(&bytes).expect("what others have written is read");
        let taken = WriteBatch::from_bytes(bytes);
        match named {
            None => assert!(taken.is_ok(), "{key_bytes} {value_bytes:?}"),
            Some(named) => {
                let error = taken.unwrap_err();
                assert_eq!(error.kind, FormatErrorKind::Unsupported);
                assert!(error.problem.contains(named), "{error}");
            }
        }
    }
}

#[test]
fn damage_is_named_with_its_offset() {
    let refuse = |bytes: &[u8]| {
        let error = BatchRef::parse(bytes).unwrap_err();
        assert_eq!(WriteBatch::from_bytes(bytes.to_vec()).unwrap_err(), error);
        assert_eq!(error.kind, FormatErrorKind::Corrupt);
        (error.problem, error.offset)
    };
    let header = b"\x01\0\0\0\0\0\0\0\x01\0\0\0";
    let with = |operations: &[u8]| [header, operations].concat();
    assert_eq!(refuse(b"\x01\0\0"), ("sequence is cut off".into(), 0));
    assert_eq!(refuse(&header[..11]), ("count is cut off".into(), 8));
    assert_eq!(refuse(header), ("the count is 1, but there are 0 operations".into(), 8));
    assert_eq!(refuse(&with(b"\0\x01a\0\x01b")), ("the count is 1, but there are 2 operations".into(), 8));
    assert_eq!(refuse(&with(b"\x02\x01a")), ("unknown kind 2".into(), 12));
    assert_eq!(refuse(&with(b"\0\x01a\x07")), ("unknown kind 7".into(), 15));
    assert_eq!(refuse(&with(b"\x01\x01a")), ("value is cut off".into(), 15));
    assert_eq!(refuse(&with(b"\x01\x02a")), ("key is cut off".into(), 14));
    let large = b"\xff\xff\xff\xff\xff\xff\xff\0\x02\0\0\0\0\0\0\0";
    assert!(refuse(large).0.ends_with("is too large"));
    assert!(
        refuse(&[b"\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\0", &large[12..]].concat())
            .0
            .ends_with("is too large")
    );
    assert!(
        BatchRef::parse(b"\xff\xff\xff\xff\xff\xff\xff\0\x01\0\0\0\0\0").is_ok(),
        "the largest number itself"
    );
}

#[test]
fn the_iterator_ends_after_an_error() {
    let batch = BatchRef { bytes: b"\0\0\0\0\0\0\0\0\0\0\0\0\x09\x09\x09" };
    let mut iter = batch.iter();
    assert!(iter.next().unwrap().is_err());
    assert!(iter.next().is_none());
}

#[test]
fn a_beginning_tells_bad_operations() {
    let read = |operations: &[u8], count: u8| {
        let bytes = [&[9, 0, 0, 0, 0, 0, 0, 0, count, 0, 0, 0][..], operations].concat();
        let beginning = BatchBeginning::read(&bytes).unwrap();
        assert_eq!((beginning.sequence, beginning.count), (9, u32::from(count)));
        beginning.size_bytes
    };
    assert_eq!(read(b"", 0), Some(12..=12));
    assert_eq!(read(b"more", 0), Some(12..=12));
    assert_eq!(read(b"", 3), Some(18..=usize::MAX));
    assert_eq!(read(b"\0", 3), Some(18..=usize::MAX));
    assert_eq!(read(b"\x02", 1), None, "an unknown kind");
    assert_eq!(read(b"\0\xff\xff\xff\xff\xff", 1), None, "an endless length");
    assert_eq!(read(b"\0\xff\xff", 1), Some(16..=usize::MAX));
    assert_eq!(read(b"\x01\x05key", 1), Some(20..=usize::MAX), "a key, and a value of its own length");
    assert_eq!(read(b"\0\x05key", 1), Some(19..=19));
    assert_eq!(read(b"\0\x05key", 2), Some(21..=usize::MAX));
    assert_eq!(BatchBeginning::read(&[0; 11]), None);
}

proptest! {
    #[test]
    fn what_is_put_is_read_back(
        sequence in 0..MAX_SEQUENCE_NUMBER - 100,
        entries in proptest::collection::vec((any::<Vec<u8>>(), proptest::option::of(any::<Vec<u8>>())), 0..20),
    ) {
        let mut batch = WriteBatch::new();
        batch.set_sequence(sequence);
        for (key, value) in &entries {
            match value {
                Some(value) => batch.put(key, value).unwrap(),
                None => batch.delete(key).unwrap(),
            }
        }
        let decoded = WriteBatch::from_bytes(batch.as_bytes().to_vec()).unwrap();
        prop_assert_eq!(&decoded, &batch);
        prop_assert_eq!((decoded.sequence(), decoded.count() as usize), (sequence, entries.len()));
        let expected: Vec<BatchOp<'_>> = entries
            .iter()
            .map(|(key, value)| match value {
                Some(value) => BatchOp::Put { key, value },
                None => BatchOp::Delete { key },
            })
            .collect();
        prop_assert_eq!(operations(&decoded), expected);
        for cut in 0..batch.as_bytes().len() {
            prop_assert!(BatchRef::parse(&batch.as_bytes()[..cut]).is_err(), "cut to {}", cut);
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in any::<Vec<u8>>(), operations in proptest::collection::vec(0u8..4, 0..40)) {
        for bytes in [bytes, [&[0; 8][..], &[operations.len() as u8 / 3, 0, 0, 0], &operations].concat()] {
            if let Ok(batch) = BatchRef::parse(&bytes) {
                prop_assert_eq!(batch.iter().filter(|operation| operation.is_ok()).count(), batch.count() as usize);
            }
        }
    }

    #[test]
    fn any_beginning_of_a_batch_bounds_its_size(
        operations in proptest::collection::vec((any::<bool>(), 0..200usize, 0..20_000usize), 0..5),
        cut in any::<proptest::sample::Index>(),
        after in any::<Vec<u8>>(),
    ) {
        let mut batch = WriteBatch::new();
        for (is_put, key, value) in operations {
            let key = vec![b'k'; key];
            if is_put { batch.put(&key, &vec![b'v'; value]) } else { batch.delete(&key) }.unwrap();
        }
        let bytes = batch.as_bytes();
        let end = 12 + cut.index(bytes.len() - 11);
        let sizes = BatchBeginning::read(&bytes[..end]).unwrap().size_bytes.unwrap();
        prop_assert!(sizes.contains(&bytes.len()), "{} bytes at {end}: {sizes:?}", bytes.len());
        let beginning = BatchBeginning::read(&[bytes, &after].concat()).unwrap();
        prop_assert_eq!(beginning.end_within(bytes.len()), Some(bytes.len()));
    }

    #[test]
    fn the_beginning_of_any_bytes_is_read(bytes in any::<Vec<u8>>()) {
        if let Some(beginning) = BatchBeginning::read(&bytes) {
            let is_batch = BatchRef::parse(&bytes).is_ok();
            prop_assert!(!is_batch || beginning.end_within(bytes.len()) == Some(bytes.len()));
        }
    }
}
