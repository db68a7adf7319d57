use std::collections::BTreeMap;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::*;

const OFFSET: u64 = 77;

/// An index of these keys, five to a restart point and two restart points to a block, and where each key is.
fn build(keys: &[Vec<u8>], block_size_bytes: usize) -> (Vec<u8>, BTreeMap<Vec<u8>, Candidate>) {
    let mut builder = HashIndexBuilder::new();
    let mut places = BTreeMap::new();
    for (number, block) in keys.chunks(10).enumerate() {
        let handle = BlockHandle { offset: 1000 * number as u64, size: 900 + number as u64 };
        for (index, key) in block.iter().enumerate() {
            let (restart_offset, end) = (index / 5 * 70, index * 14 + 14);
            builder.add_key(key, restart_offset, end);
            let candidate = Candidate {
                block: handle,
                is_compressed: number % 2 == 1,
                restart_offset,
                needed_bytes: end,
            };
            places.insert(key.clone(), candidate);
        }
        builder.finish_block(handle, number % 2 == 1);
    }
    (builder.finish(OFFSET, block_size_bytes, u64::MAX).unwrap(), places)
}

fn candidates(contents: &[u8], key: &[u8]) -> Vec<Option<Candidate>> {
    HashIndexReader::new(contents, OFFSET).unwrap().candidates(contents, key_hash(key)).collect()
}

fn numbered(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|number| format!("{number:016}").into_bytes()).collect()
}

#[test]
fn the_hash_is_the_formats() {
    for (key, hash) in [
        (&b""[..], 0x8b85_9aef_fa59_a4fc),
        (b"a", 0x6d3e_3e3c_8552_26ec),
        (b"12345678", 0x183b_94c1_8bf9_92fe),
        (b"0000000000000042", 0x7b7c_507c_b99b_41b8),
        (b"a key of 23 bytes long.", 0x2768_78dd_f27f_1d0b),
    ] {
        assert_eq!(key_hash(key), hash, "{:#018x} of {key:?}", key_hash(key));
    }
}

#[test]
fn few_absent_keys_have_candidates_and_few_present_ones_more_than_one() {
    let keys = numbered(60_000);
    let (contents, _) = build(&keys, 4096);
    assert!(contents.len() < keys.len() * 8);
    let several = keys.iter().filter(|key| candidates(&contents, key).len() > 1).count();
    assert!(several < keys.len() / 30, "{several} keys have more than one candidate");
    let absent = (100_000..160_000).map(|number| format!("{number:016}").into_bytes());
    let some = absent.filter(|key| !candidates(&contents, key).is_empty()).count();
    assert!(some < keys.len() / 10, "{some} absent keys have candidates");
}

#[test]
fn an_end_that_cannot_be_told_means_all() {
    let mut builder = HashIndexBuilder::new();
    builder.add_key(b"near", 0, 100);
    builder.add_key(b"far", 0, 1 << 20);
    builder.finish_block(BlockHandle { offset: 0, size: 5 }, false);
    let contents = builder.finish(OFFSET, 4096, u64::MAX).unwrap();
    let near = candidates(&contents, b"near")[0].unwrap().needed_bytes;
    assert!((100..200).contains(&near), "{near}");
    assert_eq!(candidates(&contents, b"far")[0].unwrap().needed_bytes, usize::MAX);
}

#[test]
fn what_does_not_fit_has_no_index() {
    let with = |offset, size, end| {
        let mut builder = HashIndexBuilder::new();
        builder.add_key(b"key", 0, end);
        builder.finish_block(BlockHandle { offset, size }, true);
        builder
    };
    assert!(with(0, 10, 10).finish(0, 4096, 1000).is_some());
    assert!(with(1 << 32, 10, 10).finish(0, 4096, 1000).is_none());
    assert!(with(0, 1 << 31, 10).finish(0, 4096, 1000).is_none());
    assert!(with(0, 10, 1 << 32).finish(0, 4096, 1000).is_none());
    assert!(with(0, 10, 10).finish(0, 4096, 20).is_none());
    // All keys collide: a search would take for ever.
    let mut colliding = HashIndexBuilder::new();
    for _ in 0..1000 {
        colliding.add_key(b"key", 0, 10);
    }
    colliding.finish_block(BlockHandle::default(), false);
    assert!(colliding.finish(0, 4096, u64::MAX).is_none());
}

#[test]
fn what_is_not_understood_is_refused() {
    let (contents, _) = build(&numbered(100), 4096);
    assert!(HashIndexReader::new(&contents, OFFSET).is_ok());
    assert!(HashIndexReader::new(&contents, OFFSET + 1).is_err());
    assert!(HashIndexReader::new(&contents[1..], OFFSET).is_err());
    assert!(HashIndexReader::new(&contents[..contents.len() - 1], OFFSET).is_err());
    let tail = contents.len() - TAIL_SIZE_BYTES;
    for position in (tail..tail + 16).chain([tail + 23]).chain(tail + 28..contents.len()) {
        let mut other = contents.clone();
        other[position] ^= 2;
        assert!(HashIndexReader::new(&other, OFFSET).is_err(), "byte {} of the tail", position - tail);
    }
}

#[test]
fn its_contents_are_no_data_block() {
    for count in [0, 1, 100] {
        assert!(crate::block::Block::new(build(&numbered(count), 4096).0).is_err());
    }
}

proptest! {
    #[test]
    fn every_key_has_its_place_among_its_candidates(
        keys in btree_set(vec(any::<u8>(), 0..20), 0..300),
        block_size_bytes in prop_oneof![Just(64usize), Just(4096), Just(1 << 20)],
    ) {
        let keys: Vec<Vec<u8>> = keys.into_iter().collect();
        let (contents, places) = build(&keys, block_size_bytes);
        for (key, expected) in places {
            let found = candidates(&contents, &key).into_iter().flatten().any(|candidate| {
                let needed_bytes = candidate.needed_bytes;
                Candidate { needed_bytes: expected.needed_bytes, ..candidate } == expected
                    && needed_bytes >= expected.needed_bytes
            });
            prop_assert!(found, "{key:?} at {expected:?}");
        }
    }

    #[test]
    fn any_bytes_are_answered_or_refused(
        (mut contents, key) in (vec(any::<u8>(), 32..300), vec(any::<u8>(), 0..20)),
        numbers in (0u32..30, 0u32..20, 0u32..40, 0u8..40, 0u8..40, 0u8..40),
    ) {
        let tail = contents.len() - TAIL_SIZE_BYTES;
        let (slots, intervals, probes, interval_bits, end_bits, unit_lg) = numbers;
        contents.truncate(tail.min(slots as usize * SLOT_SIZE_BYTES + intervals as usize * INTERVAL_SIZE_BYTES));
        contents.extend(OFFSET.to_le_bytes());
        for number in [slots, intervals, probes] {
            put_fixed32(&mut contents, number);
        }
        contents.extend([interval_bits, end_bits, unit_lg, VERSION]);
        put_fixed32(&mut contents, 0);
        put_fixed32(&mut contents, MAGIC);
        if let Ok(reader) = HashIndexReader::new(&contents, OFFSET) {
            prop_assert!(reader.candidates(&contents, key_hash(&key)).count() <= probes as usize);
        }
    }
}
