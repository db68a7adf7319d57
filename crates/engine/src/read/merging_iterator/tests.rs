use std::sync::Arc;
use std::sync::atomic::Ordering as Memory;

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::ValueKind;

use super::test_support::{Counting, Entry, Random, VecIterator, comparators, internal_key};
use super::*;
use crate::memtable::MemTable;

/// The number of rounds of a test against a model.
const ROUNDS: usize = if cfg!(miri) { 2 } else { 600 };

fn value_entry(user_key: &str, sequence: u64) -> Entry {
    (internal_key(user_key.as_bytes(), sequence, ValueKind::Value), sequence.to_string().into_bytes())
}

fn boxed(child: impl InternalIterator + 'static) -> Box<dyn InternalIterator> {
    Box::new(child)
}

/// The user key and sequence that `cursor` stands on, as text.
fn at(cursor: &MergingIterator) -> Option<String> {
    cursor.valid().then(|| {
        let parsed = terrace_format::internal_key::parse_internal_key(cursor.key()).unwrap();
        assert_eq!(cursor.value(), parsed.sequence.to_string().as_bytes());
        format!("{}#{}", String::from_utf8_lossy(parsed.user_key), parsed.sequence)
    })
}

/// Makes random movements over random children, and the same ones over a sorted vector of all their entries.
fn run_against_model(comparator: &InternalKeyComparator, random: &mut Random) {
    let most_children = if random.one_in(4) { 24 } else { 7 };
    let child_count = random.below(most_children);
    let mut contents: Vec<Vec<Entry>> = vec![Vec::new(); child_count];
    let mut sequence = 0;
    for (child, entries) in contents.iter_mut().enumerate() {
        for _ in 0..random.below(25) {
            sequence += 1;
            let key = internal_key(&random.key(3), sequence, ValueKind::Value);
            entries.push((key, child.to_string().into_bytes()));
        }
    }
    // The same internal key is in several children: the first child comes first.
    for child in 1..child_count {
        if random.one_in(3) {
            let copied: Vec<_> = contents[0].iter().filter(|_| random.one_in(2)).cloned().collect();
            contents[child].extend(copied.into_iter().map(|(key, _)| (key, child.to_string().into_bytes())));
        }
    }
    let mut model: Vec<&Entry> = contents.iter().flatten().collect();
    // The sort is stable, so equal keys stay in the order of children.
    model.sort_by(|a, b| comparator.compare(&a.0, &b.0));
    let children =
        contents.iter().map(|entries| boxed(VecIterator::new(comparator, entries.clone()))).collect();
    let mut cursor = MergingIterator::new(comparator.clone(), children);
    assert!(!cursor.valid());

    let mut position: Option<usize> = None;
    for _ in 0..200 {
        match (random.below(10), position) {
            (0, _) => {
                cursor.seek_to_first().unwrap();
                position = Some(0);
            }
            (1, _) => {
                cursor.seek_to_last().unwrap();
                position = model.len().checked_sub(1);
            }
            (2..6, Some(now)) => {
                cursor.next().unwrap();
                position = Some(now + 1);
            }
            (6..10, Some(now)) => {
                cursor.prev().unwrap();
                position = now.checked_sub(1);
            }
            _ => {
                let target = internal_key(
                    &random.key(3),
                    random.below(sequence as usize + 2) as u64,
                    ValueKind::Value,
                );
                cursor.seek(&target).unwrap();
                position = Some(model.partition_point(|entry| comparator.compare(&entry.0, &target).is_lt()));
            }
        }
        position = position.filter(|now| *now < model.len());
        assert_eq!(cursor.valid(), position.is_some());
        if let Some(now) = position {
            assert_eq!((cursor.key(), cursor.value()), (&model[now].0[..], &model[now].1[..]));
        }
    }
}

#[test]
fn movements_agree_with_a_sorted_vector() {
    let mut random = Random(1);
    for comparator in comparators() {
        for _ in 0..ROUNDS {
            run_against_model(&comparator, &mut random);
        }
    }
}

#[test]
fn without_entries_it_is_never_valid() {
    let [comparator, _] = comparators();
    for child_count in 0..3 {
        let children = (0..child_count).map(|_| boxed(VecIterator::new(&comparator, Vec::new()))).collect();
        let mut cursor = MergingIterator::new(comparator.clone(), children);
        cursor.seek_to_first().unwrap();
        assert!(!cursor.valid());
        cursor.seek_to_last().unwrap();
        assert!(!cursor.valid());
        cursor.seek(b"12345678").unwrap();
        assert!(!cursor.valid());
    }
}

#[test]
fn an_error_of_a_child_ends_in_a_cursor_that_can_be_sought_again() {
    let [comparator, _] = comparators();
    let mut random = Random(2);
    let mut errors = 0;
    for round in 0..5 * ROUNDS {
        let first = VecIterator::new(&comparator, vec![value_entry("a", 1), value_entry("c", 2)]);
        let second = VecIterator::new(&comparator, vec![value_entry("b", 3), value_entry("d", 4)]);
        let moves = second.moves();
        let mut cursor = MergingIterator::new(comparator.clone(), vec![boxed(first), boxed(second)]);
        moves.fail_after.store(1 + round % 12, Memory::Relaxed);
        for _ in 0..20 {
            let result = match (random.below(5), cursor.valid()) {
                (0, _) => cursor.seek_to_first(),
                (1, _) => cursor.seek_to_last(),
                (2, true) => cursor.next(),
                (3, true) => cursor.prev(),
                _ => cursor.seek(&internal_key(b"b", 9, ValueKind::Value)),
            };
            if result.is_err() {
                errors += 1;
                assert!(!cursor.valid(), "after an error the cursor stands nowhere");
                cursor.seek_to_first().unwrap();
                assert_eq!(at(&cursor).as_deref(), Some("a#1"));
                cursor.next().unwrap();
                assert_eq!(at(&cursor).as_deref(), Some("b#3"));
                break;
            }
        }
    }
    assert!(errors > 2 * ROUNDS, "{errors} errors are too few for a test");
}

#[test]
fn an_entry_inserted_during_the_iteration_does_not_break_the_order_at_a_turn() {
    let [comparator, _] = comparators();
    let memtable = Arc::new(MemTable::new(comparator.clone()));
    memtable.insert(1, ValueKind::Value, b"a", b"1");
    memtable.insert(2, ValueKind::Value, b"z", b"2");
    let table = VecIterator::new(&comparator, vec![value_entry("m", 3)]);
    let mut cursor = MergingIterator::new(comparator, vec![boxed(memtable.iter()), boxed(table)]);
    cursor.seek(&internal_key(b"m", 9, ValueKind::Value)).unwrap();
    assert_eq!(at(&cursor).as_deref(), Some("m#3"));
    // The memtable's cursor stands on z and shows only the entries with which it began: one step back is a.
    memtable.insert(4, ValueKind::Value, b"p", b"4");
    cursor.prev().unwrap();
    assert_eq!(at(&cursor).as_deref(), Some("a#1"));
    cursor.next().unwrap();
    assert_eq!(at(&cursor).as_deref(), Some("m#3"));
    cursor.next().unwrap();
    assert_eq!(at(&cursor).as_deref(), Some("z#2"));
    // The other way round: the table's cursor is exhausted, and the memtable's passes a new entry going back.
    cursor.seek_to_last().unwrap();
    cursor.prev().unwrap();
    assert_eq!(at(&cursor).as_deref(), Some("m#3"));
    memtable.insert(5, ValueKind::Value, b"c", b"5");
    cursor.next().unwrap();
    assert_eq!(at(&cursor).as_deref(), Some("z#2"));
}

#[test]
fn a_run_within_one_child_costs_one_comparison_an_entry() {
    const ENTRIES: usize = if cfg!(miri) { 10 } else { 1_000 };
    let counting = Arc::new(Counting::default());
    let comparator = InternalKeyComparator::new(UserComparator::Custom(counting.clone()));
    // Child i holds a run of keys "i…".
    let children = (0..8u64).map(|child| {
        let run = (0..ENTRIES as u64)
            .map(|entry| value_entry(&format!("{child}{entry:04}"), child * 1_000 + entry));
        boxed(VecIterator::new(&comparator, run.collect()))
    });
    let mut cursor = MergingIterator::new(comparator.clone(), children.collect());
    cursor.seek_to_first().unwrap();
    counting.0.store(0, Memory::Relaxed);
    for _ in 1..ENTRIES {
        cursor.next().unwrap();
    }
    assert_eq!(counting.0.load(Memory::Relaxed), ENTRIES - 1);
    let mut entries = ENTRIES;
    while cursor.valid() {
        cursor.next().unwrap();
        entries += usize::from(cursor.valid());
    }
    assert_eq!(entries, 8 * ENTRIES);
}

#[test]
fn the_entry_stays_in_reach_when_the_cursor_is_moved_in_memory_and_children_take_turns() {
    let [comparator, _] = comparators();
    let children = (0..3u64).map(|child| {
        let run = (0..50).map(|entry| value_entry(&format!("{:04}", entry * 3 + child), entry * 3 + child));
        boxed(VecIterator::new(&comparator, run.collect()))
    });
    let mut cursor = MergingIterator::new(comparator.clone(), children.collect());
    cursor.seek_to_first().unwrap();
    for number in 0..150 {
        cursor = *Box::new(cursor);
        assert_eq!(at(&cursor), Some(format!("{number:04}#{number}")));
        cursor.next().unwrap();
        if number % 10 == 4 {
            cursor.prev().unwrap();
            assert_eq!(at(&cursor), Some(format!("{number:04}#{number}")));
            cursor.next().unwrap();
        }
    }
    assert!(!cursor.valid());
}
