use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Block, BlockBuilder, BlockIter};
use crate::comparator::UserComparator;
use crate::error::FormatErrorKind;

mod windows;

const BYTEWISE: UserComparator = UserComparator::Bytewise;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn build<'a>(interval: usize, entries: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let mut builder = BlockBuilder::new(interval);
    for (key, value) in entries {
        builder.add(key, value);
    }
    let expected_size = builder.estimated_size_bytes();
    let contents = builder.finish().to_vec();
    assert_eq!(contents.len(), expected_size);
    contents
}

fn block_of(interval: usize, model: &Model) -> Block {
    let contents = build(interval, model.iter().map(|(key, value)| (&key[..], &value[..])));
    let block = Block::new(contents).unwrap();
    block.verify().unwrap();
    block
}

/// `count` keys of the form `key00000`, with prefixes to share and values of several lengths.
fn numbered(count: usize) -> Model {
    (0..count).map(|n| (format!("key{:05}", n * 2).into_bytes(), vec![b'v'; n % 200])).collect()
}

fn entry<D: std::ops::Deref<Target = Block>>(iter: &BlockIter<D>) -> Option<(Vec<u8>, Vec<u8>)> {
    iter.valid().then(|| (iter.key().to_vec(), iter.value().to_vec()))
}

fn owned(entry: Option<(&Vec<u8>, &Vec<u8>)>) -> Option<(Vec<u8>, Vec<u8>)> {
    entry.map(|(key, value)| (key.clone(), value.clone()))
}

#[test]
fn a_block_without_entries_is_one_restart() {
    let contents = BlockBuilder::new(16).finish().to_vec();
    assert_eq!(contents, [0, 0, 0, 0, 1, 0, 0, 0]);
}

#[test]
fn both_sorts_of_empty_block_read_as_empty() {
    for contents in [vec![0, 0, 0, 0, 1, 0, 0, 0], vec![0, 0, 0, 0]] {
        let block = Block::new(contents).unwrap();
        block.verify().unwrap();
        let mut iter = BlockIter::new(&block);
        iter.seek_to_first().unwrap();
        assert!(!iter.valid());
        iter.seek_to_last().unwrap();
        assert!(!iter.valid());
        iter.seek(&BYTEWISE, b"").unwrap();
        assert!(!iter.valid());
        iter.next().unwrap();
        iter.prev().unwrap();
        assert_eq!((iter.valid(), iter.key(), iter.value()), (false, &b""[..], &b""[..]));
        assert_eq!(block.find(&BYTEWISE, b"", &mut Vec::new()).unwrap(), None);
    }
}

#[test]
fn a_single_entry_with_empty_key_and_value_is_an_entry() {
    let block = Block::new(build(16, [(&b""[..], &b""[..])])).unwrap();
    let mut iter = BlockIter::new(&block);
    iter.seek_to_last().unwrap();
    assert!(iter.valid());
    iter.prev().unwrap();
    assert!(!iter.valid());
    assert_eq!(block.find(&BYTEWISE, b"", &mut Vec::new()).unwrap(), Some(3..3));
    assert_eq!(block.find(&BYTEWISE, b"a", &mut Vec::new()).unwrap(), None);
}

#[test]
fn restarts_store_the_key_whole() {
    let contents = build(2, [(&b"aa"[..], &b""[..]), (b"ab", b""), (b"ac", b""), (b"ad", b"")]);
    let (entries, restarts) = contents.split_at(contents.len() - 12);
    assert_eq!(entries, b"\x00\x02\x00aa\x01\x01\x00b\x00\x02\x00ac\x01\x01\x00d");
    assert_eq!(restarts, [0, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn the_builder_starts_afresh_after_reset() {
    let mut builder = BlockBuilder::new(16);
    builder.add(b"abc", b"1");
    builder.finish();
    builder.reset();
    assert!(builder.is_empty());
    assert_eq!(builder.last_key(), b"");
    builder.add(b"abd", b"2");
    assert!(!builder.is_empty());
    assert_eq!(builder.last_key(), b"abd");
    assert_eq!(builder.finish(), build(16, [(&b"abd"[..], &b"2"[..])]));
}

#[test]
fn lengths_of_more_than_a_byte_are_read_back() {
    let long_key = vec![b'k'; 300];
    let longer_key = [&long_key[..], b"x"].concat();
    let long_value = vec![7; 70_000];
    let model: Model = [(long_key, long_value), (longer_key, vec![1])].into();
    let block = block_of(16, &model);
    let mut iter = BlockIter::new(&block);
    iter.seek_to_first().unwrap();
    for (key, value) in &model {
        assert_eq!((iter.key(), iter.value()), (&key[..], &value[..]));
        iter.next().unwrap();
    }
    assert!(!iter.valid());
}

#[test]
fn walking_back_works_at_every_interval() {
    let model = numbered(700);
    for interval in [1, 2, 3, 16, 255, 256, 257, 1000] {
        let block = block_of(interval, &model);
        let mut iter = BlockIter::new(&block);
        iter.seek_to_last().unwrap();
        for (key, value) in model.iter().rev() {
            assert_eq!((iter.key(), iter.value()), (&key[..], &value[..]), "interval {interval}");
            iter.prev().unwrap();
        }
        assert!(!iter.valid());
    }
}

#[test]
fn an_iterator_moves_to_another_block() {
    let first = Arc::new(block_of(16, &numbered(20)));
    let second = Arc::new(block_of(16, &[(b"other".to_vec(), b"block".to_vec())].into()));
    let mut iter = BlockIter::new(Arc::clone(&first));
    iter.seek_to_last().unwrap();
    iter.prev().unwrap();
    iter.set_block(Arc::clone(&second));
    assert!(!iter.valid());
    assert!(Arc::ptr_eq(iter.block(), &second));
    iter.seek_to_last().unwrap();
    assert_eq!(iter.key(), b"other");
    assert_eq!(&second.contents()[iter.value_range()], b"block");
    iter.prev().unwrap();
    assert!(!iter.valid());
}

#[test]
fn find_leaves_the_key_of_the_first_entry_not_before_the_target() {
    let model = numbered(100);
    for interval in [1, 16] {
        let block = block_of(interval, &model);
        let mut key = b"left over".to_vec();
        let value = block.find(&BYTEWISE, b"key00007", &mut key).unwrap().unwrap();
        assert_eq!(key, b"key00008");
        assert_eq!(&block.contents()[value], &model[&key]);
        assert_eq!(block.find(&BYTEWISE, b"kez", &mut key).unwrap(), None);
    }
}

fn refusal(contents: &[u8]) -> (u64, String) {
    let error = Block::new(contents.to_vec()).unwrap_err();
    assert_eq!((error.kind, error.structure), (FormatErrorKind::Corrupt, "block"));
    (error.offset, error.problem)
}

#[test]
fn a_restart_array_that_does_not_fit_is_refused() {
    assert_eq!(refusal(b""), (0, "shorter than the number of restarts".into()));
    assert_eq!(refusal(b"\x01\0\0"), (0, "shorter than the number of restarts".into()));
    assert_eq!(refusal(b"\x01\0\0\0"), (0, "1 restarts do not fit 0 bytes".into()));
    assert_eq!(refusal(b"\0\0\0\0\xff\xff\xff\xff"), (4, "4294967295 restarts do not fit 4 bytes".into()));
    assert_eq!(refusal(b"\0\0\0\0\0\0\0"), (3, "entries without a restart".into()));
    assert_eq!(refusal(b"\0\0\0\x01\0\0\0\x01\0\0\0"), (3, "the first restart is not at 0".into()));
}

/// A block of the given entries' bytes with the given restarts.
fn crafted(entries: &[u8], restarts: &[u32]) -> Block {
    let mut contents = entries.to_vec();
    for offset in restarts {
        contents.extend(offset.to_le_bytes());
    }
    contents.extend((restarts.len() as u32).to_le_bytes());
    Block::new(contents).unwrap()
}

#[test]
fn an_entry_that_leads_beyond_the_entries_is_an_error_at_its_offset() {
    // The second entry claims a value of 9 bytes and has one of 1.
    let block = crafted(b"\x00\x01\x01a1\x00\x01\x09b2", &[0]);
    let mut iter = BlockIter::new(&block);
    iter.seek_to_first().unwrap();
    assert_eq!(iter.key(), b"a");
    let error = iter.next().unwrap_err();
    assert_eq!((error.offset, iter.valid()), (5, false));
    assert_eq!(iter.seek(&BYTEWISE, b"b").unwrap_err().offset, 5);
    assert_eq!(iter.seek_to_last().unwrap_err().offset, 5);
    assert!(!iter.valid());
    assert_eq!(block.find(&BYTEWISE, b"b", &mut Vec::new()).unwrap_err().offset, 5);
    assert_eq!(block.verify().unwrap_err().offset, 5);
    // The undamaged entry is still reachable.
    iter.seek(&BYTEWISE, b"a").unwrap();
    assert_eq!(iter.value(), b"1");
}

#[test]
fn an_entry_that_shares_more_than_there_is_is_an_error() {
    for entries in
        [&b"\x01\x01\x00a"[..], b"\x00\x01\x00a\x02\x01\x00b", b"\x00\x01\x00a\x01\x01\x00b\x03\x01\x00c"]
    {
        let block = crafted(entries, &[0]);
        let mut iter = BlockIter::new(&block);
        let problem = "an entry shares more bytes than the key before it has";
        assert_eq!(iter.seek_to_last().unwrap_err().problem, problem);
        assert_eq!(iter.seek(&BYTEWISE, b"z").unwrap_err().problem, problem);
        assert_eq!(block.verify().unwrap_err().problem, problem);
        assert!(!iter.valid());
    }
}

#[test]
fn a_restart_beyond_the_entries_is_an_error_at_its_place_in_the_array() {
    let block = crafted(b"\x00\x01\x00a\x00\x01\x00b", &[0, 80]);
    let mut iter = BlockIter::new(&block);
    let error = iter.seek(&BYTEWISE, b"b").unwrap_err();
    assert_eq!((error.offset, iter.valid()), (12, false));
    assert_eq!(block.verify().unwrap_err().offset, 12);
    // A walk does not need that restart.
    iter.seek_to_last().unwrap();
    assert_eq!(iter.key(), b"b");
}

#[test]
fn a_restart_at_an_entry_that_shares_is_an_error() {
    let block = crafted(b"\x00\x01\x00a\x01\x01\x00b", &[0, 4]);
    assert_eq!(BlockIter::new(&block).seek(&BYTEWISE, b"b").unwrap_err().offset, 12);
    assert_eq!(block.verify().unwrap_err().offset, 4);
}

/// Three entries with keys a, b and c. The first is longer than what a step back decodes at once. The second restart
/// lies in its value, at bytes that read as an entry ending within the second one.
fn with_a_restart_inside_an_entry() -> Block {
    let mut entries = b"\x00\x01\xd0\x0fa".to_vec();
    entries.resize(10, 0);
    entries.extend(b"\x00\x00\xd6\x0f");
    entries.resize(2005, 0);
    entries.extend(b"\x00\x01\x64b");
    entries.resize(2109, 0);
    entries.extend(b"\x00\x01\x00c");
    crafted(&entries, &[0, 10, 2005])
}

#[test]
fn a_restart_inside_an_entry_is_an_error_on_the_way_back() {
    let block = with_a_restart_inside_an_entry();
    let mut iter = BlockIter::new(&block);
    iter.seek(&BYTEWISE, b"c").unwrap();
    iter.prev().unwrap();
    assert_eq!(iter.key(), b"b");
    let error = iter.prev().unwrap_err();
    assert_eq!((error.offset, error.problem.as_str()), (2005, "a restart point lies inside an entry"));
    assert!(!iter.valid());
    assert_eq!(block.verify().unwrap_err().offset, 2117);
}

#[test]
fn an_error_on_the_way_back_does_not_spoil_later_steps() {
    let block = with_a_restart_inside_an_entry();
    let mut iter = BlockIter::new(&block);
    iter.seek_to_first().unwrap();
    iter.next().unwrap();
    iter.prev().unwrap();
    assert_eq!(iter.key(), b"a", "what is decoded needs no restart");
    let mut iter = BlockIter::new(&block);
    iter.seek(&BYTEWISE, b"c").unwrap();
    iter.prev().unwrap();
    assert!(iter.prev().is_err());
    iter.seek(&BYTEWISE, b"c").unwrap();
    iter.prev().unwrap();
    assert_eq!(iter.key(), b"b");
}

#[test]
fn unsorted_restarts_do_not_stop_the_way_back() {
    let block = crafted(b"\x00\x01\x00a\x00\x01\x00b\x00\x01\x00c", &[0, 8, 4]);
    let mut iter = BlockIter::new(&block);
    iter.seek_to_last().unwrap();
    let mut seen = Vec::new();
    while iter.valid() {
        seen.extend_from_slice(iter.key());
        iter.prev().unwrap();
    }
    assert_eq!(seen, b"cba");
    assert!(block.verify().is_err());
}

/// Calls everything on bytes that may be damaged. The calls are bounded, so that an endless loop would fail.
fn exercise(contents: Vec<u8>, target: &[u8]) {
    let step_limit = contents.len() + 1;
    let Ok(block) = Block::new(contents) else { return };
    let _ = block.verify();
    let _ = block.find(&BYTEWISE, target, &mut Vec::new());
    let mut iter = BlockIter::new(&block);
    let mut walk = |start: &dyn Fn(&mut BlockIter<&Block>) -> bool, forward: bool| {
        let mut steps = 0;
        let mut is_ok = start(&mut iter);
        while is_ok && iter.valid() {
            let _ = (iter.key(), iter.value());
            is_ok = if forward { iter.next() } else { iter.prev() }.is_ok();
            steps += 1;
            assert!(steps <= step_limit);
        }
        assert!(!iter.valid(), "after an error");
    };
    walk(&|iter| iter.seek_to_first().is_ok(), true);
    walk(&|iter| iter.seek_to_last().is_ok(), false);
    walk(&|iter| iter.seek(&BYTEWISE, target).is_ok(), true);
    walk(&|iter| iter.seek(&BYTEWISE, target).is_ok(), false);
}

#[derive(Clone, Debug)]
enum Step {
    Next,
    Prev,
    First,
    Last,
    Seek(Vec<u8>),
}

/// Short keys over a small alphabet, so that keys share prefixes and targets hit.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'b'), Just(0), Just(255)], 0..12),
        proptest::collection::vec(any::<u8>(), 0..200),
    ]
}

fn model() -> impl Strategy<Value = Model> {
    let value = prop_oneof![
        9 => proptest::collection::vec(any::<u8>(), 0..300),
        1 => proptest::collection::vec(any::<u8>(), 1_000..1_500),
    ];
    proptest::collection::btree_map(key(), value, 0..80)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Next),
        6 => Just(Step::Prev),
        1 => Just(Step::First),
        1 => Just(Step::Last),
        3 => key().prop_map(Step::Seek),
    ]
}

proptest! {
    #[test]
    fn any_steps_agree_with_a_map(
        model in model(),
        interval in 1usize..40,
        steps in proptest::collection::vec(step(), 0..200),
    ) {
        let block = block_of(interval, &model);
        let mut iter = BlockIter::new(&block);
        let mut expected: Option<(Vec<u8>, Vec<u8>)> = None;
        for step in steps {
            match step {
                Step::Next => {
                    iter.next().unwrap();
                    expected = expected.and_then(|(key, _)| {
                        use std::ops::Bound::{Excluded, Unbounded};
                        owned(model.range((Excluded(key), Unbounded)).next())
                    });
                }
                Step::Prev => {
                    iter.prev().unwrap();
                    expected = expected.and_then(|(key, _)| owned(model.range(..key).next_back()));
                }
                Step::First => {
                    iter.seek_to_first().unwrap();
                    expected = owned(model.first_key_value());
                }
                Step::Last => {
                    iter.seek_to_last().unwrap();
                    expected = owned(model.last_key_value());
                }
                Step::Seek(target) => {
                    iter.seek(&BYTEWISE, &target).unwrap();
                    expected = owned(model.range(target..).next());
                }
            }
            prop_assert_eq!(entry(&iter), expected.clone());
        }
    }

    #[test]
    fn find_agrees_with_a_map(
        model in model(),
        interval in 1usize..40,
        targets in proptest::collection::vec(key(), 1..40),
    ) {
        let block = block_of(interval, &model);
        let mut found_key = Vec::new();
        for target in targets.iter().chain(model.keys()) {
            let found = block.find(&BYTEWISE, target, &mut found_key).unwrap();
            let found = found.map(|value| (found_key.clone(), block.contents()[value].to_vec()));
            prop_assert_eq!(found, owned(model.range(target.clone()..).next()));
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        mut contents in proptest::collection::vec(any::<u8>(), 0..400),
        restart_count in 0u32..6,
        target in key(),
    ) {
        exercise(contents.clone(), &target);
        // Small numbers of restarts, the first one at 0, get further.
        contents.extend([0; 4]);
        contents.extend(restart_count.to_le_bytes());
        exercise(contents, &target);
    }

    #[test]
    fn small_lengths_are_read_without_panic(
        entries in proptest::collection::vec(0u8..6, 0..100),
        restarts in proptest::collection::vec(0u32..100, 0..5),
        target in key(),
    ) {
        let restarts: Vec<u32> = std::iter::once(0).chain(restarts).collect();
        exercise(crafted(&entries, &restarts).contents().to_vec(), &target);
    }

    #[test]
    fn flipped_bits_are_read_without_panic(
        model in model(),
        interval in 1usize..20,
        flips in proptest::collection::vec((any::<proptest::sample::Index>(), 0u8..8), 1..4),
        target in key(),
    ) {
        let mut contents = block_of(interval, &model).contents().to_vec();
        for (position, bit) in flips {
            let position = position.index(contents.len());
            contents[position] ^= 1 << bit;
        }
        exercise(contents, &target);
    }
}
