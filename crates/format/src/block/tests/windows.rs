//! What decoding ahead must not change and must not cost.

use super::super::BlockIterMemory;
use super::*;

#[test]
fn damage_before_the_nearest_restart_does_not_stop_the_way_back_to_it() {
    // The second entry shares more bytes than there are; the third is a restart.
    let block = crafted(b"\x00\x01\x00a\x05\x01\x00b\x00\x01\x00c\x01\x01\x00d", &[0, 8]);
    let mut iter = BlockIter::new(&block);
    iter.seek_to_last().unwrap();
    assert_eq!(iter.key(), b"cd");
    iter.prev().unwrap();
    assert_eq!(iter.key(), b"c");
    assert_eq!((iter.prev().unwrap_err().offset, iter.valid()), (4, false));
}

#[test]
fn damage_ahead_is_an_error_only_where_it_is_reached() {
    let block = crafted(b"\x00\x01\x00a\x01\x01\x00b\x05\x01\x00c", &[0]);
    let mut iter = BlockIter::new(&block);
    iter.seek_to_first().unwrap();
    iter.next().unwrap();
    assert_eq!(iter.key(), b"ab");
    assert_eq!((iter.next().unwrap_err().offset, iter.valid()), (8, false));
}

#[test]
fn long_keys_do_not_make_the_window_large() {
    let prefix = vec![b'p'; 5_000];
    let keys: Vec<Vec<u8>> = (0..600u32).map(|n| [&prefix[..], &n.to_be_bytes()].concat()).collect();
    for interval in [1, 16, 1_000] {
        let block = Block::new(build(interval, keys.iter().map(|key| (&key[..], &b""[..])))).unwrap();
        let mut iter = BlockIter::new(&block);
        iter.seek_to_first().unwrap();
        for key in &keys {
            assert_eq!(iter.key(), key);
            iter.next().unwrap();
        }
        iter.seek_to_last().unwrap();
        for key in keys.iter().rev() {
            assert_eq!(iter.key(), key);
            iter.prev().unwrap();
        }
        assert!(!iter.valid());
        assert!(iter.into_parts().1.size_bytes() <= 64 << 10);
    }
}

#[test]
fn the_key_before_is_that_of_the_entry_before_or_not_told() {
    let model = numbered(100);
    let block = block_of(16, &model);
    let mut iter = BlockIter::new(&block);
    assert_eq!(iter.key_before(), None);
    iter.seek_to_last().unwrap();
    let mut told = 0;
    for (index, key) in model.keys().enumerate().rev() {
        assert_eq!(iter.key(), key);
        if let Some(before) = iter.key_before() {
            assert_eq!(Some(before), model.keys().nth(index - 1).map(Vec::as_slice));
            told += 1;
        }
        iter.prev().unwrap();
    }
    assert!(told > 80, "told {told} times");
}

#[test]
fn a_key_too_short_for_an_internal_key_is_an_error_where_it_is_reached() {
    let keys: [&[u8]; 3] = [b"12345678", b"2", b"3_345678"];
    let block = Block::new(build(16, keys.map(|key| (key, &b"v"[..])))).unwrap();
    let mut iter = BlockIter::over_internal_keys(&block, BlockIterMemory::default());
    iter.seek_to_first().unwrap();
    assert_eq!(iter.key(), keys[0]);
    let error = iter.next().unwrap_err();
    assert_eq!((error.offset, error.problem.as_str()), (12, "a key is too short for an internal key"));
    assert!(iter.seek_to_last().is_err() && !iter.valid());
    iter.seek(&BYTEWISE, b"1").unwrap();
    assert_eq!(iter.key(), keys[0]);
}

#[test]
fn a_seek_near_by_agrees_with_one_from_afar() {
    let model = numbered(300);
    for interval in [1, 7, 16, 100] {
        let block = block_of(interval, &model);
        let mut near = BlockIter::new(&block);
        for number in (0..620).chain((0..620).rev()).chain((0..620).map(|n| n * 211 % 620)) {
            let target = format!("key{number:05}").into_bytes();
            let mut far = BlockIter::new(&block);
            far.seek(&BYTEWISE, &target).unwrap();
            near.seek(&BYTEWISE, &target).unwrap();
            assert_eq!(entry(&near), owned(model.range(target.clone()..).next()));
            assert_eq!(entry(&near), entry(&far));
            if number % 3 == 0 {
                near.next().unwrap();
                far.next().unwrap();
                assert_eq!(entry(&near), entry(&far));
            }
        }
    }
}
