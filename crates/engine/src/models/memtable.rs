//! One writer of a memtable, with readers beside it. The memtable's constants are smaller in a model, so that a few
//! entries reach all of its parts: the hash index grows with the third key, the log gets a new segment with the third and
//! the seventh entry, and a leaf of the order holds four entries.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use loom::thread;
use terrace_format::internal_key::{ValueKind, append_internal_key, tag};

use super::explore;
use crate::iterator::InternalIterator;
use crate::memtable::{MemEntry, MemTable};
use crate::sync::AtomicU64;
use crate::version::testing::comparator;

/// The keys in the order in which they are inserted. The last is a newer version of the first.
const KEYS: [&[u8]; 5] = [b"b", b"f", b"d", b"e", b"b"];
/// The hash index grows with the next entry.
const BEFORE_GROWTH: u64 = 2;

/// Inserts entry number `sequence`. Its value repeats its internal key, so that a torn entry shows.
fn insert(memtable: &MemTable, sequence: u64) {
    let key = KEYS[sequence as usize - 1];
    let mut value = Vec::new();
    append_internal_key(&mut value, key, sequence, ValueKind::Value);
    memtable.insert(sequence, ValueKind::Value, key, &value);
}

/// A memtable with the entries up to `sequence`.
fn filled(sequence: u64) -> Arc<MemTable> {
    let memtable = Arc::new(MemTable::new(comparator()));
    (1..=sequence).for_each(|sequence| insert(&memtable, sequence));
    memtable
}

/// Whether entry number `sequence` is the newest of its key as of `sequence`.
fn is_there(memtable: &MemTable, sequence: u64) -> bool {
    match memtable.get(KEYS[sequence as usize - 1], sequence) {
        Some(MemEntry::Value(value)) => tag(value) >> 8 == sequence,
        _ => false,
    }
}

/// Walks over all entries. Returns how many there are.
fn walk(memtable: &Arc<MemTable>) -> u64 {
    let mut cursor = memtable.iter();
    let (mut entries, mut last) = (0, Vec::new());
    cursor.seek_to_first().unwrap();
    while cursor.valid() {
        assert_eq!(cursor.key(), cursor.value());
        assert!(last.is_empty() || comparator().compare(&last, cursor.key()).is_lt());
        last = cursor.key().to_vec();
        entries += 1;
        cursor.next().unwrap();
    }
    entries
}

#[test]
fn a_cursor_beside_the_writer_sees_entries_whole_and_in_order() {
    explore(|| {
        let memtable = filled(BEFORE_GROWTH);
        let reader = thread::spawn({
            let memtable = Arc::clone(&memtable);
            move || assert!((BEFORE_GROWTH..=BEFORE_GROWTH + 1).contains(&walk(&memtable)))
        });
        insert(&memtable, BEFORE_GROWTH + 1);
        reader.join().unwrap();
    });
}

#[test]
fn cursors_that_bring_the_same_entries_into_order_see_all_of_them() {
    explore(|| {
        let memtable = filled(3);
        assert_eq!(walk(&memtable), 3);
        insert(&memtable, 4);
        let reader = thread::spawn({
            let memtable = Arc::clone(&memtable);
            move || assert!((4..=5).contains(&walk(&memtable)))
        });
        insert(&memtable, 5);
        assert_eq!(walk(&memtable), 5);
        reader.join().unwrap();
        assert_eq!(walk(&memtable), 5);
    });
}

#[test]
fn what_was_published_is_found() {
    explore(|| {
        let memtable = filled(BEFORE_GROWTH);
        let visible = Arc::new(AtomicU64::new(BEFORE_GROWTH));
        let reader = thread::spawn({
            let (memtable, visible) = (Arc::clone(&memtable), Arc::clone(&visible));
            move || {
                let sequence = visible.load(Ordering::Acquire);
                assert!(memtable.entries() >= sequence);
                assert!((1..=sequence).all(|sequence| is_there(&memtable, sequence)));
            }
        });
        for sequence in BEFORE_GROWTH + 1..=BEFORE_GROWTH + 2 {
            insert(&memtable, sequence);
            visible.store(sequence, Ordering::Release);
        }
        reader.join().unwrap();
    });
}

#[test]
fn a_cursor_shows_what_was_published() {
    explore(|| {
        let memtable = filled(BEFORE_GROWTH);
        let visible = Arc::new(AtomicU64::new(BEFORE_GROWTH));
        let reader = thread::spawn({
            let (memtable, visible) = (Arc::clone(&memtable), Arc::clone(&visible));
            move || {
                let sequence = visible.load(Ordering::Acquire);
                assert!(walk(&memtable) >= sequence);
            }
        });
        insert(&memtable, BEFORE_GROWTH + 1);
        visible.store(BEFORE_GROWTH + 1, Ordering::Release);
        reader.join().unwrap();
    });
}

#[test]
fn an_older_version_stays_in_reach_of_its_sequence() {
    explore(|| {
        let memtable = filled(4);
        let reader = thread::spawn({
            let memtable = Arc::clone(&memtable);
            move || {
                assert!(is_there(&memtable, 1));
                let newest = memtable.get(KEYS[0], 5);
                let Some(MemEntry::Value(value)) = newest else { panic!("the key has a value: {newest:?}") };
                assert!([1, 5].contains(&(tag(value) >> 8)));
                assert!(is_there(&memtable, 1));
            }
        });
        insert(&memtable, 5);
        reader.join().unwrap();
        assert!(is_there(&memtable, 5));
    });
}

#[test]
fn two_writers_by_mistake_lose_nothing() {
    explore(|| {
        let memtable = filled(BEFORE_GROWTH);
        let other = thread::spawn({
            let memtable = Arc::clone(&memtable);
            move || insert(&memtable, BEFORE_GROWTH + 1)
        });
        insert(&memtable, BEFORE_GROWTH + 2);
        other.join().unwrap();
        assert_eq!(memtable.entries(), BEFORE_GROWTH + 2);
        assert!((1..=BEFORE_GROWTH + 2).all(|sequence| is_there(&memtable, sequence)));
    });
}
