//! One writer of a memtable, and a reader beside it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use loom::thread;
use terrace_format::internal_key::{ValueKind, append_internal_key, tag};

use super::explore;
use crate::iterator::InternalIterator;
use crate::memtable::{MemEntry, MemTable};
use crate::sync::AtomicU64;
use crate::version::testing::comparator;

/// Keys in the order in which they are inserted. Heights are the same in every run: the first three have towers of one
/// level, the fourth has two, the fifth three.
const KEYS: [&[u8]; 5] = [b"b", b"f", b"d", b"e", b"h"];
const LOW_TOWERS: u64 = 3;

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

fn is_there(memtable: &MemTable, sequence: u64) -> bool {
    match memtable.get(KEYS[sequence as usize - 1], sequence) {
        Some(MemEntry::Value(value)) => tag(value) >> 8 == sequence,
        _ => false,
    }
}

#[test]
fn a_cursor_beside_the_writer_sees_entries_whole_and_in_order() {
    explore(|| {
        let memtable = filled(LOW_TOWERS);
        let reader = thread::spawn({
            let memtable = Arc::clone(&memtable);
            move || {
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
                assert!((LOW_TOWERS..=LOW_TOWERS + 1).contains(&entries));
            }
        });
        insert(&memtable, LOW_TOWERS + 1);
        reader.join().unwrap();
    });
}

#[test]
fn an_entry_found_on_a_high_level_is_on_all_levels_below() {
    explore(|| {
        let memtable = filled(LOW_TOWERS + 1);
        let newest = LOW_TOWERS + 2;
        let reader = thread::spawn({
            let memtable = Arc::clone(&memtable);
            move || {
                // Walks the highest level first.
                let mut cursor = memtable.iter();
                cursor.seek_to_last().unwrap();
                if tag(cursor.key()) >> 8 == newest {
                    // Ends on the lowest level.
                    assert!(is_there(&memtable, newest));
                }
            }
        });
        insert(&memtable, newest);
        reader.join().unwrap();
    });
}

#[test]
fn what_was_published_is_found() {
    explore(|| {
        let memtable = filled(LOW_TOWERS);
        let visible = Arc::new(AtomicU64::new(LOW_TOWERS));
        let reader = thread::spawn({
            let (memtable, visible) = (Arc::clone(&memtable), Arc::clone(&visible));
            move || {
                let sequence = visible.load(Ordering::Acquire);
                assert!(memtable.entries() >= sequence);
                assert!((1..=sequence).all(|sequence| is_there(&memtable, sequence)));
            }
        });
        for sequence in LOW_TOWERS + 1..=LOW_TOWERS + 2 {
            insert(&memtable, sequence);
            visible.store(sequence, Ordering::Release);
        }
        reader.join().unwrap();
    });
}

#[test]
fn two_writers_by_mistake_lose_nothing() {
    explore(|| {
        let memtable = filled(LOW_TOWERS);
        let other = thread::spawn({
            let memtable = Arc::clone(&memtable);
            move || insert(&memtable, LOW_TOWERS + 1)
        });
        insert(&memtable, LOW_TOWERS + 2);
        other.join().unwrap();
        assert_eq!(memtable.entries(), LOW_TOWERS + 2);
        assert!((1..=LOW_TOWERS + 2).all(|sequence| is_there(&memtable, sequence)));
    });
}
