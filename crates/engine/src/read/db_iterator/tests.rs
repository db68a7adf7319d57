use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::Ordering as Memory;
use std::thread;

use super::backward::save_value;
use super::*;
use crate::memtable::MemTable;
use crate::read::merging_iterator::test_support::{
    Entry, Moves, Random, VecIterator, comparators, internal_key,
};

type Pair = (Vec<u8>, Vec<u8>);

fn merging(comparator: &InternalKeyComparator, contents: Vec<Vec<Entry>>) -> MergingIterator<Source> {
    let children =
        contents.into_iter().map(|entries| Source::Test(VecIterator::new(comparator, entries))).collect();
    MergingIterator::new(comparator.clone(), children)
}

fn unbounded(
    inner: MergingIterator<Source>,
    comparator: &InternalKeyComparator,
    sequence: u64,
) -> DbIterator {
    DbIterator::new(inner, comparator, sequence, Bounds::default(), Box::new(()))
}

fn current(iterator: &DbIterator) -> Option<Pair> {
    iterator.valid().then(|| (iterator.key().to_vec(), iterator.value().to_vec()))
}

fn is_within(key: &[u8], bounds: &Bounds, comparator: &UserComparator) -> bool {
    let above = match &bounds.lower {
        Bound::Unbounded => true,
        Bound::Included(lower) => comparator.compare(lower, key) != Ordering::Greater,
        Bound::Excluded(lower) => comparator.compare(lower, key) == Ordering::Less,
    };
    let below = match &bounds.upper {
        Bound::Unbounded => true,
        Bound::Included(upper) => comparator.compare(key, upper) != Ordering::Greater,
        Bound::Excluded(upper) => comparator.compare(key, upper) == Ordering::Less,
    };
    above && below
}

/// A history of writes, each with its sequence; a few keys get long runs of versions.
fn history(random: &mut Random) -> Vec<(Vec<u8>, u64, ValueKind)> {
    let mut writes = Vec::new();
    // Tables written outside a database have sequence 0 throughout.
    let mut sequence = random.below(2) as u64;
    for _ in 0..random.below(60) {
        let key = random.key(3);
        let versions = if random.one_in(12) { 1 + random.below(30) } else { 1 };
        for _ in 0..versions {
            let kind = if random.one_in(3) { ValueKind::Deletion } else { ValueKind::Value };
            writes.push((key.clone(), sequence, kind));
            sequence += 1;
        }
    }
    writes
}

/// What an iterator must show at `sequence` within `bounds`, computed in the plainest way.
fn model_of(
    writes: &[(Vec<u8>, u64, ValueKind)],
    sequence: u64,
    bounds: &Bounds,
    comparator: &UserComparator,
) -> Vec<Pair> {
    let mut seen: Vec<(&[u8], u64, ValueKind)> = Vec::new();
    for (key, written, kind) in writes.iter().filter(|(_, written, _)| *written <= sequence) {
        match seen.iter_mut().find(|(other, _, _)| comparator.compare(key, other).is_eq()) {
            Some(entry) => *entry = (key, *written, *kind),
            None => seen.push((key, *written, *kind)),
        }
    }
    seen.retain(|(key, _, kind)| *kind == ValueKind::Value && is_within(key, bounds, comparator));
    seen.sort_by(|a, b| comparator.compare(a.0, b.0));
    seen.into_iter().map(|(key, written, _)| (key.to_vec(), written.to_string().into_bytes())).collect()
}

fn bound(random: &mut Random, kind: usize) -> Bound<Vec<u8>> {
    match kind {
        0 => Bound::Unbounded,
        1 => Bound::Included(random.key(3)),
        _ => Bound::Excluded(random.key(3)),
    }
}

/// Makes random movements with an iterator and with the model.
fn walk(
    iterator: &mut DbIterator,
    model: &[Pair],
    comparator: &UserComparator,
    random: &mut Random,
    steps: usize,
) {
    let mut position: Option<usize> = None;
    for _ in 0..steps {
        match random.below(20) {
            0 => {
                iterator.seek_to_first().unwrap();
                position = Some(0);
            }
            1 => {
                iterator.seek_to_last().unwrap();
                position = model.len().checked_sub(1);
            }
            2 | 3 => {
                let target = random.key(3);
                iterator.seek(&target).unwrap();
                position = Some(model.partition_point(|(key, _)| comparator.compare(key, &target).is_lt()));
            }
            4 | 5 => {
                let target = random.key(3);
                iterator.seek_for_prev(&target).unwrap();
                let behind = model.partition_point(|(key, _)| comparator.compare(key, &target).is_le());
                position = behind.checked_sub(1);
            }
            6..=12 => {
                iterator.next().unwrap();
                position = position.map(|now| now + 1);
            }
            _ => {
                iterator.prev().unwrap();
                position = position.and_then(|now| now.checked_sub(1));
            }
        }
        let expected = position.and_then(|now| model.get(now));
        if expected.is_none() {
            position = None;
        }
        assert_eq!(current(iterator).as_ref(), expected);
    }
}

fn run_against_model(comparator: &InternalKeyComparator, random: &mut Random, bounds: Bounds) {
    let writes = history(random);
    let newest = writes.last().map_or(0, |(_, sequence, _)| *sequence);
    let sequence = if random.one_in(2) { newest } else { random.below(newest as usize + 2) as u64 };
    let mut contents: Vec<Vec<Entry>> = vec![Vec::new(); 1 + random.below(4)];
    for (key, written, kind) in &writes {
        let value = if *kind == ValueKind::Value { written.to_string().into_bytes() } else { Vec::new() };
        let child = random.below(contents.len());
        contents[child].push((internal_key(key, *written, *kind), value));
    }
    let model = model_of(&writes, sequence, &bounds, comparator.user());
    let inner = merging(comparator, contents);
    let mut iterator = DbIterator::new(inner, comparator, sequence, bounds, Box::new(()));
    assert!(!iterator.valid());
    walk(&mut iterator, &model, comparator.user(), random, if cfg!(miri) { 30 } else { 150 });

    iterator.seek_to_first().unwrap();
    for expected in &model {
        assert_eq!(current(&iterator).as_ref(), Some(expected));
        iterator.next().unwrap();
    }
    assert!(!iterator.valid());
    iterator.seek_to_last().unwrap();
    for expected in model.iter().rev() {
        assert_eq!(current(&iterator).as_ref(), Some(expected));
        iterator.prev().unwrap();
    }
    assert!(!iterator.valid());
}

#[test]
fn movements_agree_with_a_model_under_all_kinds_of_bounds() {
    let mut random = Random(4);
    for comparator in comparators() {
        for round in 0..if cfg!(miri) { 2 } else { 1_800 } {
            // About half of all random bounds are inverted.
            let bounds =
                Bounds { lower: bound(&mut random, round % 3), upper: bound(&mut random, round / 3 % 3) };
            run_against_model(&comparator, &mut random, bounds);
        }
    }
}

#[test]
fn bounds_that_nothing_can_meet_cost_no_movement() {
    let [comparator, _] = comparators();
    let key = |text: &str| text.as_bytes().to_vec();
    let empty = [
        (Bound::Included(key("b")), Bound::Included(key("a"))),
        (Bound::Included(key("a")), Bound::Excluded(key("a"))),
        (Bound::Excluded(key("a")), Bound::Included(key("a"))),
        (Bound::Excluded(key("a")), Bound::Excluded(key("a"))),
    ];
    for (lower, upper) in empty {
        let entries = vec![(internal_key(b"a", 1, ValueKind::Value), b"1".to_vec())];
        let child = VecIterator::new(&comparator, entries);
        let moves = child.moves();
        let inner = MergingIterator::new(comparator.clone(), vec![Source::Test(child)]);
        let mut iterator = DbIterator::new(inner, &comparator, 9, Bounds { lower, upper }, Box::new(()));
        iterator.seek_to_first().unwrap();
        assert!(!iterator.valid());
        iterator.seek_to_last().unwrap();
        assert!(!iterator.valid());
        iterator.seek(b"a").unwrap();
        assert!(!iterator.valid());
        iterator.seek_for_prev(b"a").unwrap();
        assert!(!iterator.valid());
        assert_eq!(moves.seeks.load(Memory::Relaxed) + moves.steps.load(Memory::Relaxed), 0);
    }
}

/// An iterator over one counted child.
fn counted(entries: Vec<Entry>, sequence: u64, bounds: Bounds) -> (DbIterator, Arc<Moves>) {
    let [comparator, _] = comparators();
    let child = VecIterator::new(&comparator, entries);
    let moves = child.moves();
    let inner = MergingIterator::new(comparator.clone(), vec![Source::Test(child)]);
    (DbIterator::new(inner, &comparator, sequence, bounds, Box::new(())), moves)
}

fn value_entry(key: &[u8], sequence: u64) -> Entry {
    (internal_key(key, sequence, ValueKind::Value), sequence.to_string().into_bytes())
}

#[test]
fn many_versions_of_a_key_are_skipped_by_a_seek() {
    let mut entries = vec![value_entry(b"a", 1), value_entry(b"c", 2)];
    entries.extend((3..10_000).map(|sequence| value_entry(b"b", sequence)));
    for (sequence, of_b) in [(9_999, "9999"), (5_000, "5000"), (3, "3")] {
        let (mut iterator, moves) = counted(entries.clone(), sequence, Bounds::default());
        let expected = [("a", "1"), ("b", of_b), ("c", "2")];
        iterator.seek_to_first().unwrap();
        for (key, value) in expected {
            assert_eq!(current(&iterator), Some((key.into(), value.into())));
            iterator.next().unwrap();
        }
        iterator.seek_to_last().unwrap();
        for (key, value) in expected.into_iter().rev() {
            assert_eq!(current(&iterator), Some((key.into(), value.into())));
            iterator.prev().unwrap();
        }
        let (steps, seeks) = (moves.steps.load(Memory::Relaxed), moves.seeks.load(Memory::Relaxed));
        assert!(steps < 100 && seeks < 12, "{steps} steps and {seeks} seeks");
    }
}

#[test]
fn distinct_keys_that_are_too_new_are_passed_by_steps() {
    let entries =
        (0..1_000u64).map(|number| value_entry(format!("{number:04}").as_bytes(), number + 1)).collect();
    let (mut iterator, moves) = counted(entries, 0, Bounds::default());
    iterator.seek_to_first().unwrap();
    assert!(!iterator.valid());
    assert_eq!(moves.seeks.load(Memory::Relaxed), 1);
    assert_eq!(moves.steps.load(Memory::Relaxed), 1_000);
}

#[test]
fn deletions_beyond_a_bound_are_not_looked_at() {
    let mut entries = vec![value_entry(b"m", 1)];
    for number in 0..1_000u64 {
        for side in ["a", "z"] {
            let key = format!("{side}{number:04}");
            entries.push((internal_key(key.as_bytes(), number + 2, ValueKind::Deletion), Vec::new()));
        }
    }
    let bounds = Bounds { lower: Bound::Included(b"b".to_vec()), upper: Bound::Excluded(b"y".to_vec()) };
    let (mut iterator, moves) = counted(entries, 5_000, bounds);
    iterator.seek_to_first().unwrap();
    assert_eq!(current(&iterator), Some((b"m".to_vec(), b"1".to_vec())));
    iterator.next().unwrap();
    assert!(!iterator.valid());
    iterator.seek_to_last().unwrap();
    assert_eq!(current(&iterator), Some((b"m".to_vec(), b"1".to_vec())));
    iterator.prev().unwrap();
    assert!(!iterator.valid());
    assert!(moves.steps.load(Memory::Relaxed) < 10);
}

#[test]
fn a_seek_outside_the_bounds_is_clamped() {
    let entries = (b'a'..=b'g').map(|letter| value_entry(&[letter], 1)).collect();
    let bounds = Bounds { lower: Bound::Excluded(b"b".to_vec()), upper: Bound::Included(b"e".to_vec()) };
    let (mut iterator, _) = counted(entries, 1, bounds);
    let mut key_at = |seek: fn(&mut DbIterator, &[u8]) -> Result<()>, target: &[u8]| {
        seek(&mut iterator, target).unwrap();
        current(&iterator).map(|(key, _)| key)
    };
    assert_eq!(key_at(DbIterator::seek, b"a"), Some(b"c".to_vec()));
    assert_eq!(key_at(DbIterator::seek, b"b"), Some(b"c".to_vec()));
    assert_eq!(key_at(DbIterator::seek, b"e"), Some(b"e".to_vec()));
    assert_eq!(key_at(DbIterator::seek, b"e0"), None);
    assert_eq!(key_at(DbIterator::seek_for_prev, b"z"), Some(b"e".to_vec()));
    assert_eq!(key_at(DbIterator::seek_for_prev, b"c"), Some(b"c".to_vec()));
    assert_eq!(key_at(DbIterator::seek_for_prev, b"b"), None);
    assert_eq!(key_at(DbIterator::seek_for_prev, b"a"), None);
}

#[test]
fn a_damaged_internal_key_is_reported() {
    let mut damaged = internal_key(b"b", 2, ValueKind::Value);
    let tag_at = damaged.len() - 8;
    damaged[tag_at] = 7;
    for damaged in [damaged, b"short".to_vec()] {
        let entries = vec![value_entry(b"a", 1), (damaged, Vec::new())];
        let (mut iterator, _) = counted(entries, 9, Bounds::default());
        iterator.seek_to_last().unwrap_or_else(|error| assert_eq!(error.kind(), ErrorKind::Corruption));
        let mut result = iterator.seek_to_first();
        while result.is_ok() && iterator.valid() {
            result = iterator.next();
        }
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Corruption);
        assert!(!iterator.valid());
    }
}

#[test]
fn after_an_error_a_seek_may_succeed() {
    let mut random = Random(5);
    let mut errors = 0;
    for round in 0..2_000 {
        let entries = (b'a'..=b'e').map(|letter| value_entry(&[letter], 1)).collect();
        let (mut iterator, moves) = counted(entries, 1, Bounds::default());
        moves.fail_after.store(1 + round % 15, Memory::Relaxed);
        for _ in 0..20 {
            let result = match random.below(6) {
                0 => iterator.seek_to_first(),
                1 => iterator.seek_to_last(),
                2 => iterator.seek(b"c"),
                3 => iterator.seek_for_prev(b"c"),
                4 => iterator.next(),
                _ => iterator.prev(),
            };
            if let Err(error) = result {
                errors += 1;
                assert_eq!(error.kind(), ErrorKind::Io);
                assert!(!iterator.valid());
                iterator.next().unwrap();
                assert!(!iterator.valid(), "a step from nowhere leads nowhere");
                iterator.seek_for_prev(b"d").unwrap();
                assert_eq!(iterator.key(), b"d");
                break;
            }
        }
    }
    assert!(errors > 1_000, "{errors} errors are too few for a test");
}

#[test]
fn the_pin_is_kept_until_the_iterator_is_dropped() {
    let [comparator, _] = comparators();
    let pin = Arc::new(());
    let inner = merging(&comparator, Vec::new());
    let iterator = DbIterator::new(inner, &comparator, 1, Bounds::default(), Box::new(Arc::clone(&pin)));
    assert_eq!(Arc::strong_count(&pin), 2);
    drop(iterator);
    assert_eq!(Arc::strong_count(&pin), 1);
}

#[test]
fn a_saved_large_value_gives_its_memory_back() {
    let mut buffer = Vec::new();
    save_value(&mut buffer, &vec![1; 4 << 20]);
    save_value(&mut buffer, b"small");
    assert_eq!(buffer, b"small");
    assert!(buffer.capacity() < 1_000);
}

#[test]
fn a_walk_beside_a_writer_sees_one_state() {
    const BEFORE: u64 = 300;
    const DURING: u64 = 40_000;
    let mut random = Random(6);
    let [comparator, _] = comparators();
    let memtable = Arc::new(MemTable::new(comparator.clone()));
    let mut writes = Vec::new();
    for sequence in 1..=BEFORE {
        let kind = if random.one_in(4) { ValueKind::Deletion } else { ValueKind::Value };
        let key = random.key(3);
        let value = if kind == ValueKind::Value { sequence.to_string() } else { String::new() };
        memtable.insert(sequence, kind, &key, value.as_bytes());
        writes.push((key, sequence, kind));
    }
    let model = model_of(&writes, BEFORE, &Bounds::default(), comparator.user());
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut random = Random(7);
            for sequence in BEFORE + 1..=BEFORE + DURING {
                let kind = if random.one_in(2) { ValueKind::Deletion } else { ValueKind::Value };
                memtable.insert(sequence, kind, &random.key(5), b"too new");
            }
        });
        while !writer.is_finished() {
            let inner = MergingIterator::new(comparator.clone(), vec![Source::Memtable(memtable.iter())]);
            let mut iterator = unbounded(inner, &comparator, BEFORE);
            walk(&mut iterator, &model, comparator.user(), &mut random, 200);
        }
    });
}

#[test]
fn keys_out_of_order_end_an_iteration_with_an_error_instead_of_looping() {
    let comparator = InternalKeyComparator::new(UserComparator::Bytewise);
    let versions = |key: &[u8], sequences: &[u64]| -> Vec<Entry> {
        let entry = |sequence: &u64| (internal_key(key, *sequence, ValueKind::Deletion), Vec::new());
        sequences.iter().map(entry).collect()
    };
    let iterator = |entries: Vec<Vec<Entry>>, sequence: u64| {
        let table = VecIterator::unordered(&comparator, entries.concat());
        unbounded(MergingIterator::new(comparator.clone(), vec![Source::Test(table)]), &comparator, sequence)
    };
    let many = (10..30).rev().collect::<Vec<u64>>();
    let back_again = vec![versions(b"a", &many), versions(b"a", &[0]), versions(b"a", &many)];
    // Versions that are hidden; then versions that are too new, for which a seek leads back.
    for sequence in [100, 5] {
        let error = iterator(back_again.clone(), sequence).seek_to_first().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
    }
    let ascending_backwards = vec![versions(b"b", &many), versions(b"a", &many)];
    let error = iterator(ascending_backwards, 100).seek_to_last().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
}
