use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;

use terrace_format::comparator::{Comparator, UserComparator};
use terrace_format::internal_key::{append_internal_key, parse_internal_key, tag, user_key};

use super::*;
use crate::iterator::InternalIterator;
use crate::read::merging_iterator::test_support::{Counting, Entry, Random, comparators, internal_key};

/// Miri interprets every instruction, so it gets smaller cases of the same kind.
const ROUNDS: usize = if cfg!(miri) { 1 } else { 60 };
const ENTRIES: usize = if cfg!(miri) { 15 } else { 1_500 };

fn kind(random: &mut Random) -> ValueKind {
    if random.one_in(4) { ValueKind::Deletion } else { ValueKind::Value }
}

/// A key in one of the patterns of real loads.
fn key(random: &mut Random, habit: usize, number: usize) -> Vec<u8> {
    match habit {
        0 => format!("{number:08}").into_bytes(),
        1 => format!("{:08}", 99_999_999 - number).into_bytes(),
        2 => format!("{}{number:08}", number % 2).into_bytes(),
        3 => random.key(4),
        _ => format!("{:05}", random.below(100_000)).into_bytes(),
    }
}

fn get_from_model(
    comparator: &InternalKeyComparator,
    model: &[Entry],
    key: &[u8],
    sequence: u64,
) -> Option<usize> {
    let target = internal_key(key, sequence, SEEK_KIND);
    let position = model.partition_point(|entry| comparator.compare(&entry.0, &target).is_lt());
    let found = model.get(position)?;
    comparator.user().compare(user_key(&found.0), key).is_eq().then_some(position)
}

fn assert_at(cursor: &MemTableIterator, model: &[Entry], position: Option<usize>) {
    let expected = position.and_then(|position| model.get(position));
    let actual = cursor.valid().then(|| (cursor.key().to_vec(), cursor.value().to_vec()));
    assert_eq!(actual.as_ref(), expected);
}

fn run_against_model(comparator: &InternalKeyComparator, random: &mut Random, habit: usize) {
    let memtable = Arc::new(MemTable::new(comparator.clone()));
    assert!(memtable.is_empty());
    let mut model: Vec<Entry> = Vec::new();
    let mut deletions = 0;
    for number in 0..ENTRIES {
        let sequence = number as u64 + 1;
        let (key, kind) = (key(random, habit, number), kind(random));
        let value = match kind {
            ValueKind::Value => vec![number as u8; random.below(40)],
            ValueKind::Deletion => Vec::new(),
        };
        memtable.insert(sequence, kind, &key, &value);
        deletions += u64::from(kind == ValueKind::Deletion);
        model.push((internal_key(&key, sequence, kind), value));
    }
    model.sort_by(|a, b| comparator.compare(&a.0, &b.0));
    assert_eq!((memtable.entries(), memtable.deletions()), (ENTRIES as u64, deletions));
    assert!(!memtable.is_empty());

    for number in 0..ENTRIES {
        let key = key(random, habit, number);
        let sequence = random.below(ENTRIES + 2) as u64;
        let expected = get_from_model(comparator, &model, &key, sequence).map(|position| {
            let (internal_key, value) = &model[position];
            match parse_internal_key(internal_key).unwrap().kind {
                ValueKind::Value => MemEntry::Value(value),
                ValueKind::Deletion => MemEntry::Deletion,
            }
        });
        assert_eq!(memtable.get(&key, sequence), expected);
    }

    let mut cursor = memtable.iter();
    assert!(!cursor.valid());
    cursor.seek_to_first().unwrap();
    for position in 0..model.len() {
        assert_at(&cursor, &model, Some(position));
        cursor.next().unwrap();
    }
    assert!(!cursor.valid());
    cursor.seek_to_last().unwrap();
    for position in (0..model.len()).rev() {
        assert_at(&cursor, &model, Some(position));
        cursor.prev().unwrap();
    }
    assert!(!cursor.valid());

    // The cursor alone keeps the memory.
    drop(memtable);
    for number in 0..ENTRIES {
        let target = internal_key(&key(random, habit, number), random.below(ENTRIES) as u64, SEEK_KIND);
        let mut position = model.partition_point(|entry| comparator.compare(&entry.0, &target).is_lt());
        cursor.seek(&target).unwrap();
        assert_at(&cursor, &model, Some(position));
        for _ in 0..4 {
            if cursor.valid() && random.one_in(2) {
                cursor.next().unwrap();
                position += 1;
            } else if cursor.valid() {
                cursor.prev().unwrap();
                position = position.checked_sub(1).unwrap_or(model.len());
            }
            assert_at(&cursor, &model, Some(position));
        }
    }
}

#[test]
fn inserts_gets_and_movements_agree_with_a_sorted_vector() {
    let mut random = Random(3);
    for comparator in comparators() {
        for round in 0..ROUNDS.max(5) {
            run_against_model(&comparator, &mut random, round % 5);
        }
    }
}

#[test]
fn an_insert_compares_nothing_and_entries_in_sequence_are_sorted_by_one_comparison_each() {
    let counting = Arc::new(Counting::default());
    let comparator = InternalKeyComparator::new(UserComparator::Custom(Arc::<Counting>::clone(&counting)));
    let memtable = Arc::new(MemTable::new(comparator));
    for sequence in 1..=1_000u64 {
        memtable.insert(sequence, ValueKind::Value, &sequence.to_be_bytes(), b"");
    }
    assert_eq!(counting.0.load(Ordering::Relaxed), 0);
    let mut cursor = memtable.iter();
    cursor.seek_to_first().unwrap();
    assert_eq!(counting.0.load(Ordering::Relaxed), 999);
}

#[test]
fn the_same_internal_key_again_wins() {
    let [comparator, _] = comparators();
    let memtable = MemTable::new(comparator);
    memtable.insert(5, ValueKind::Value, b"a", b"old");
    memtable.insert(5, ValueKind::Value, b"a", b"new");
    assert_eq!(memtable.get(b"a", 5), Some(MemEntry::Value(b"new")));
}

#[test]
fn an_empty_memtable_has_nothing() {
    let [comparator, _] = comparators();
    let memtable = Arc::new(MemTable::new(comparator));
    assert_eq!(memtable.get(b"", 1), None);
    let mut cursor = memtable.iter();
    cursor.seek_to_first().unwrap();
    assert!(!cursor.valid());
    cursor.seek_to_last().unwrap();
    assert!(!cursor.valid());
    cursor.seek(&internal_key(b"", 1, SEEK_KIND)).unwrap();
    assert!(!cursor.valid());
}

#[test]
fn memory_follows_the_entries() {
    let [comparator, _] = comparators();
    let memtable = MemTable::new(comparator);
    let empty_bytes = memtable.approximate_memory_bytes();
    assert!(empty_bytes < 16 << 10, "an empty memtable holds {empty_bytes} bytes");
    let value = vec![1; 1_000];
    for sequence in 1..=500u64 {
        memtable.insert(sequence, ValueKind::Value, &sequence.to_be_bytes(), &value);
    }
    let bytes = memtable.approximate_memory_bytes();
    assert!((508_000..600_000).contains(&bytes), "508,000 bytes of entries took {bytes}");
}

#[cfg(not(miri))]
#[test]
fn a_large_value_is_stored_and_counted() {
    let [comparator, _] = comparators();
    let memtable = MemTable::new(comparator);
    let value = vec![0xa5; 200 << 20];
    memtable.insert(1, ValueKind::Value, b"small", b"1");
    memtable.insert(2, ValueKind::Value, b"large", &value);
    memtable.insert(3, ValueKind::Value, b"tiny", b"3");
    assert!(memtable.get(b"large", 3) == Some(MemEntry::Value(&value)));
    assert_eq!(memtable.get(b"small", 3), Some(MemEntry::Value(b"1")));
    assert_eq!(memtable.get(b"tiny", 3), Some(MemEntry::Value(b"3")));
    let bytes = memtable.approximate_memory_bytes();
    assert!((value.len()..value.len() + (1 << 20)).contains(&bytes), "{bytes}");
}

/// The key that write number `sequence` writes.
fn key_of(sequence: u64) -> Vec<u8> {
    format!("key {:04}", Random(sequence).below(500)).into_bytes()
}

#[test]
fn readers_beside_the_writer_see_whole_entries_in_order() {
    const WRITES: u64 = if cfg!(miri) { 30 } else { 60_000 };
    let [comparator, _] = comparators();
    let memtable = Arc::new(MemTable::new(comparator.clone()));
    let published = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for sequence in 1..=WRITES {
                // The value repeats the key and the sequence, so that a torn entry shows.
                let mut value = Vec::new();
                append_internal_key(&mut value, &key_of(sequence), sequence, ValueKind::Value);
                memtable.insert(sequence, ValueKind::Value, &key_of(sequence), &value);
                published.store(sequence, Ordering::Release);
            }
            done.store(true, Ordering::Release);
        });
        for reader in 0..2 {
            let (memtable, published, done, comparator) = (&memtable, &published, &done, &comparator);
            scope.spawn(move || {
                let mut random = Random(reader);
                let mut finished = false;
                while !finished {
                    finished = done.load(Ordering::Acquire);
                    let visible = published.load(Ordering::Acquire);
                    for _ in 0..20 {
                        let written = 1 + random.below(visible as usize + 1) as u64;
                        let found = memtable.get(&key_of(written), visible);
                        match found {
                            Some(MemEntry::Value(value)) => {
                                let value = parse_internal_key(value).unwrap();
                                assert_eq!(value.user_key, key_of(written));
                                assert!(value.sequence <= visible);
                                assert!(value.sequence >= written || written > visible);
                            }
                            Some(MemEntry::Deletion) => panic!("nothing was deleted"),
                            None => assert!(written > visible, "write {written} is missing at {visible}"),
                        }
                    }
                    let mut cursor = memtable.iter();
                    let (mut counted, mut last) = (0, Vec::new());
                    cursor.seek_to_first().unwrap();
                    while cursor.valid() {
                        assert_eq!(cursor.key(), cursor.value());
                        assert!(last.is_empty() || comparator.compare(&last, cursor.key()).is_lt());
                        last = cursor.key().to_vec();
                        counted += u64::from(tag(&last) >> 8 <= visible);
                        cursor.next().unwrap();
                    }
                    assert_eq!(counted, visible);
                    cursor.seek_to_last().unwrap();
                    for _ in 0..50 {
                        if cursor.valid() {
                            let before = cursor.key().to_vec();
                            cursor.prev().unwrap();
                            assert!(!cursor.valid() || comparator.compare(cursor.key(), &before).is_lt());
                        }
                    }
                }
            });
        }
    });
    assert_eq!(memtable.entries(), WRITES);
}

#[test]
fn two_writers_by_mistake_lose_nothing() {
    const WRITES: u64 = if cfg!(miri) { 20 } else { 5_000 };
    let [comparator, _] = comparators();
    let memtable = MemTable::new(comparator);
    thread::scope(|scope| {
        for writer in 0..2u64 {
            let memtable = &memtable;
            scope.spawn(move || {
                for number in 0..WRITES {
                    let sequence = 1 + number * 2 + writer;
                    memtable.insert(sequence, ValueKind::Value, &sequence.to_be_bytes(), b"");
                }
            });
        }
    });
    assert_eq!(memtable.entries(), 2 * WRITES);
    assert!((1..=2 * WRITES).all(|sequence| memtable.get(&sequence.to_be_bytes(), sequence).is_some()));
}

/// Inserts in bursts and makes cursors between them, some of which live on.
fn run_cursors_between_inserts(comparator: &InternalKeyComparator, random: &mut Random, habit: usize) {
    let memtable = Arc::new(MemTable::new(comparator.clone()));
    let mut model: Vec<Entry> = Vec::new();
    let mut older: Vec<(MemTableIterator, Vec<Entry>)> = Vec::new();
    let mut sequence = 0;
    while sequence < ENTRIES as u64 {
        for _ in 0..[1, 2, 1 + ENTRIES / 7][random.below(3)] {
            sequence += 1;
            let key = key(random, habit, sequence as usize);
            memtable.insert(sequence, ValueKind::Value, &key, &sequence.to_le_bytes());
            model.push((internal_key(&key, sequence, ValueKind::Value), sequence.to_le_bytes().to_vec()));
        }
        model.sort_by(|a, b| comparator.compare(&a.0, &b.0));
        if random.one_in(if cfg!(miri) { 2 } else { 8 }) {
            let mut cursor = memtable.iter();
            cursor.seek_to_last().unwrap();
            assert_at(&cursor, &model, Some(model.len() - 1));
            older.push((cursor, model.clone()));
        }
        let mut cursor = memtable.iter();
        let target = internal_key(&key(random, habit, random.0 as usize % ENTRIES), sequence, SEEK_KIND);
        let position = model.partition_point(|entry| comparator.compare(&entry.0, &target).is_lt());
        cursor.seek(&target).unwrap();
        assert_at(&cursor, &model, Some(position));
        let newest = model.iter().find(|entry| tag(&entry.0) >> 8 == sequence).unwrap();
        assert_eq!(memtable.get(user_key(&newest.0), sequence), Some(MemEntry::Value(&newest.1)));
    }
    for (mut cursor, model) in older {
        for position in (0..model.len()).rev() {
            assert_at(&cursor, &model, Some(position));
            cursor.prev().unwrap();
        }
        assert!(!cursor.valid());
        cursor.seek_to_first().unwrap();
        assert_at(&cursor, &model, Some(0));
    }
}

#[test]
fn cursors_made_between_inserts_show_what_was_there() {
    let mut random = Random(29);
    for comparator in comparators() {
        for habit in 0..5 {
            run_cursors_between_inserts(&comparator, &mut random, habit);
        }
    }
}

#[test]
fn versions_inserted_out_of_order_are_found_by_sequence() {
    const VERSIONS: u64 = if cfg!(miri) { 12 } else { 300 };
    let mut random = Random(31);
    for comparator in comparators() {
        let memtable = MemTable::new(comparator);
        let mut sequences: Vec<u64> = (1..=VERSIONS).map(|number| number * 2).collect();
        for place in (1..sequences.len()).rev() {
            sequences.swap(place, random.below(place + 1));
        }
        for (inserted, &sequence) in sequences.iter().enumerate() {
            memtable.insert(sequence, ValueKind::Value, b"key", &sequence.to_le_bytes());
            let asked = random.below(2 * VERSIONS as usize + 2) as u64;
            let expected = sequences[..=inserted].iter().filter(|&&other| other <= asked).max();
            let found = match memtable.get(b"key", asked) {
                Some(MemEntry::Value(value)) => Some(u64::from_le_bytes(value.try_into().unwrap())),
                _ => None,
            };
            assert_eq!(found.as_ref(), expected);
        }
    }
}

#[test]
fn keys_that_differ_and_compare_as_equal_are_one_key() {
    /// The order of the first byte.
    #[derive(Debug)]
    struct FirstByte;
    impl Comparator for FirstByte {
        fn name(&self) -> &[u8] {
            b"first byte"
        }
        fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
            a.first().cmp(&b.first())
        }
        fn find_shortest_separator(&self, _start: &mut Vec<u8>, _limit: &[u8]) {}
        fn find_short_successor(&self, _key: &mut Vec<u8>) {}
    }
    let comparator = InternalKeyComparator::new(UserComparator::Custom(Arc::new(FirstByte)));
    let memtable = Arc::new(MemTable::new(comparator));
    memtable.insert(1, ValueKind::Value, b"a long", b"1");
    memtable.insert(2, ValueKind::Value, b"b", b"2");
    memtable.insert(3, ValueKind::Value, b"a", b"3");
    assert_eq!(memtable.get(b"a short", 9), Some(MemEntry::Value(b"3")));
    assert_eq!(memtable.get(b"a short", 2), Some(MemEntry::Value(b"1")));
    assert_eq!(memtable.get(b"c", 9), None);
    let mut cursor = memtable.iter();
    cursor.seek(&internal_key(b"a other", 9, SEEK_KIND)).unwrap();
    assert_eq!(cursor.value(), b"3");
    cursor.next().unwrap();
    assert_eq!(cursor.value(), b"1");
}

const ROOM_ENTRIES: u64 = if cfg!(miri) { 100 } else { 20_000 };

/// Inserts so many entries. Returns the memory that the hash index takes before and after.
fn fill_index(memtable: &MemTable, entries: u64) -> (usize, usize) {
    let index_bytes = || memtable.writer.lock().index.as_ref().unwrap().memory_bytes();
    let empty_bytes = index_bytes();
    for sequence in 1..=entries {
        memtable.insert(sequence, ValueKind::Value, &sequence.to_be_bytes(), b"");
    }
    (empty_bytes, index_bytes())
}

#[test]
fn a_successor_has_the_room_at_once_for_a_few_keys_more() {
    let [comparator, _] = comparators();
    let memtable = MemTable::new(comparator);
    let (_, grown_bytes) = fill_index(&memtable, ROOM_ENTRIES);
    let successor = memtable.successor();
    assert!(successor.is_empty());
    let (empty_bytes, filled_bytes) = fill_index(&successor, ROOM_ENTRIES + ROOM_ENTRIES / 6);
    assert_eq!(empty_bytes, filled_bytes, "it did not grow");
    assert!(
        filled_bytes < grown_bytes,
        "{filled_bytes} after {grown_bytes} with the tables that were outgrown"
    );
}

#[test]
fn a_successor_made_ahead_has_the_room_of_another_and_is_taken_once() {
    let [comparator, _] = comparators();
    let (full, active) = (MemTable::new(comparator.clone()), MemTable::new(comparator));
    fill_index(&full, ROOM_ENTRIES);
    assert_eq!(active.prepared_memory_bytes(), 0);
    active.prepare_successor(&full);
    let prepared_bytes = active.prepared_memory_bytes();
    assert!(prepared_bytes as u64 >= ROOM_ENTRIES * 8, "{prepared_bytes}");
    let successor = active.successor();
    assert_eq!(successor.approximate_memory_bytes(), prepared_bytes);
    let (empty_bytes, filled_bytes) = fill_index(&successor, ROOM_ENTRIES);
    assert_eq!(empty_bytes, filled_bytes, "it did not grow");
    assert_eq!(active.prepared_memory_bytes(), 0);
    assert!(active.successor().approximate_memory_bytes() < prepared_bytes);
}

#[test]
fn the_order_counts_as_memory() {
    const ENTRIES: u64 = if cfg!(miri) { 100 } else { 10_000 };
    let [comparator, _] = comparators();
    let memtable = Arc::new(MemTable::new(comparator));
    (1..=ENTRIES)
        .for_each(|sequence| memtable.insert(sequence, ValueKind::Value, &sequence.to_be_bytes(), b""));
    let before_bytes = memtable.approximate_memory_bytes();
    memtable.iter().seek_to_first().unwrap();
    let order_bytes = (memtable.approximate_memory_bytes() - before_bytes) as u64;
    assert!((4 * ENTRIES..30 * ENTRIES).contains(&order_bytes), "{order_bytes} bytes for {ENTRIES} entries");
}

#[test]
fn the_size_of_a_range_is_exact_for_few_entries_and_near_for_many() {
    for comparator in comparators() {
        let memtable = MemTable::new(comparator.clone());
        assert_eq!(memtable.approximate_size_between(b"", b"\xff"), 0);
        for (number, key) in [b"b", b"a", b"c", b"a"].into_iter().enumerate() {
            memtable.insert(number as u64 + 1, ValueKind::Value, key, &[0; 9]);
        }
        let user = comparator.user();
        let (low, high) =
            if user.compare(b"a", b"b").is_lt() { (&b"a"[..], &b"b"[..]) } else { (&b"b"[..], &b"a"[..]) };
        let expected = if low == b"a" { 20 } else { 10 };
        assert_eq!(memtable.approximate_size_between(low, high), expected);
        assert_eq!(memtable.approximate_size_between(high, low), 0);
    }
    let entries = if cfg!(miri) { 1_000 } else { 50_000u64 };
    let memtable = MemTable::new(InternalKeyComparator::new(UserComparator::Bytewise));
    for number in 0..entries {
        // Two alternating kinds of entries, one ten times as large as the other.
        let (prefix, size) = if number % 2 == 0 { ('a', 20) } else { ('b', 200) };
        let key = format!("{prefix}{number:09}");
        memtable.insert(number + 1, ValueKind::Value, key.as_bytes(), &vec![1; size - key.len()]);
    }
    for (start, end, exact) in
        [("a", "b", entries * 10), ("b", "c", entries * 100), ("a", "c", entries * 110)]
    {
        let size = memtable.approximate_size_between(start.as_bytes(), end.as_bytes());
        assert!(size.abs_diff(exact) < exact / 10, "{start} to {end}: {size} of {exact}");
    }
    let parts: u64 = ["a", "a000001000", "a000025000", "b", "b000000007", "c"]
        .windows(2)
        .map(|ends| memtable.approximate_size_between(ends[0].as_bytes(), ends[1].as_bytes()))
        .sum();
    assert_eq!(parts, memtable.approximate_size_between(b"a", b"c"), "the parts of a range add up");
}
