//! Times of the memtable alone, for [decision 9](../../../../docs/decisions/0009-memtable-hash.md). They print and
//! assert nothing:
//!
//! ```text
//! cargo test --release -p terrace-engine --lib memtable::bench -- --ignored --nocapture --test-threads 1
//! ```

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Instant;

use super::*;
use crate::iterator::InternalIterator;
use crate::read::merging_iterator::test_support::{Random, comparators};

const VALUE: [u8; 100] = [b'v'; 100];
/// About what 4, 16 and 64 MB of buffer hold.
const SIZES: [u64; 3] = [28_000, 115_000, 460_000];

fn key(number: u64) -> [u8; 16] {
    let mut key = [b'0'; 16];
    let (mut rest, mut place) = (number, 15);
    while rest > 0 {
        key[place] = b'0' + (rest % 10) as u8;
        rest /= 10;
        place -= 1;
    }
    key
}

fn keys(random: bool, entries: u64) -> Vec<[u8; 16]> {
    let mut generator = Random(17);
    (0..entries).map(|number| key(if random { generator.below(1_000_000) as u64 } else { number })).collect()
}

fn fill(keys: &[[u8; 16]]) -> Arc<MemTable> {
    let [comparator, _] = comparators();
    let memtable = Arc::new(MemTable::new(comparator));
    (1..).zip(keys).for_each(|(sequence, key)| memtable.insert(sequence, ValueKind::Value, key, &VALUE));
    memtable
}

fn report(name: &str, entries: u64, operations: u64, started: Instant) {
    let nanos = started.elapsed().as_nanos() as f64 / operations as f64;
    println!("{name:<34} {entries:>8} {nanos:>9.1} ns");
}

/// Runs `work` three times and reports the last, whose memory is warm.
fn fills(entries: u64, random: bool) -> Arc<MemTable> {
    let keys = keys(random, entries);
    for _ in 0..2 {
        drop(fill(&keys));
    }
    let started = Instant::now();
    let memtable = fill(&keys);
    report(if random { "insert random" } else { "insert sequential" }, entries, entries, started);
    memtable
}

fn walk(memtable: &Arc<MemTable>) -> u64 {
    let mut cursor = memtable.iter();
    cursor.seek_to_first().unwrap();
    let mut sum = 0;
    while cursor.valid() {
        sum += u64::from(cursor.key()[15]) + u64::from(cursor.value()[99]);
        cursor.next().unwrap();
    }
    sum
}

#[test]
#[ignore = "a benchmark"]
fn basics() {
    for entries in SIZES {
        for random in [false, true] {
            let memtable = fills(entries, random);
            let started = Instant::now();
            black_box(walk(&memtable));
            report("first walk (a flush)", entries, entries, started);
            let started = Instant::now();
            black_box(walk(&memtable));
            report("walk again", entries, entries, started);

            let mut generator = Random(99);
            let hits = keys(random, entries);
            let started = Instant::now();
            for _ in 0..200_000 {
                black_box(memtable.get(&hits[generator.below(hits.len())], entries));
            }
            report("get hit", entries, 200_000, started);
            let started = Instant::now();
            for _ in 0..200_000 {
                black_box(memtable.get(&key(2_000_000 + generator.below(1_000_000) as u64), entries));
            }
            report("get miss", entries, 200_000, started);
            let mut cursor = memtable.iter();
            let mut target = Vec::new();
            let started = Instant::now();
            for _ in 0..100_000 {
                target.clear();
                target.extend_from_slice(&hits[generator.below(hits.len())]);
                target.extend_from_slice(&[255; 8]);
                cursor.seek(&target).unwrap();
                black_box(cursor.valid());
            }
            report("seek", entries, 100_000, started);
            let started = Instant::now();
            drop((cursor, memtable));
            report("drop", entries, entries, started);
        }
    }
}

/// One put, one cursor with a seek and some steps, one put, ...
#[test]
#[ignore = "a benchmark"]
fn puts_and_cursors_in_turns() {
    for entries in SIZES {
        for random in [false, true] {
            for (steps, puts) in [(1, 1), (100, 1), (100, 100)] {
                let all = keys(random, entries + 100_000);
                let memtable = fill(&all[..entries as usize]);
                black_box(walk(&memtable));
                let mut generator = Random(5);
                let mut target = Vec::new();
                let turns = 20_000 / puts as u64;
                let mut sequence = entries;
                let started = Instant::now();
                for _ in 0..turns {
                    for _ in 0..puts {
                        sequence += 1;
                        memtable.insert(sequence, ValueKind::Value, &all[sequence as usize - 1], &VALUE);
                    }
                    target.clear();
                    target.extend_from_slice(&all[generator.below(entries as usize)]);
                    target.extend_from_slice(&[255; 8]);
                    let mut cursor = memtable.iter();
                    cursor.seek(&target).unwrap();
                    for _ in 0..steps {
                        if cursor.valid() {
                            black_box(cursor.key());
                            cursor.next().unwrap();
                        }
                    }
                }
                let name = format!("{puts} put + seek + {steps} next {}", if random { "r" } else { "s" });
                report(&name, entries, turns, started);
            }
        }
    }
}

#[test]
#[ignore = "a benchmark"]
fn overwrites_of_few_keys() {
    let mut generator = Random(3);
    let few: Vec<_> = (0..115_000).map(|_| key(generator.below(100) as u64)).collect();
    drop(fill(&few));
    let started = Instant::now();
    let memtable = fill(&few);
    report("overwrite 100 keys", 115_000, 115_000, started);
    let started = Instant::now();
    for _ in 0..200_000 {
        black_box(memtable.get(&few[generator.below(few.len())], 115_000));
    }
    report("get newest of 1150 versions", 115_000, 200_000, started);
    let started = Instant::now();
    black_box(walk(&memtable));
    report("walk", 115_000, 115_000, started);
}

#[test]
#[ignore = "a benchmark"]
fn a_writer_beside_readers() {
    let keys = keys(true, 460_000);
    for cursors in [false, true] {
        let [comparator, _] = comparators();
        let memtable = Arc::new(MemTable::new(comparator));
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut generator, mut reads) = (Random(1), 0u64);
                let started = Instant::now();
                let mut target = Vec::new();
                while !done.load(Ordering::Acquire) {
                    let key = &keys[generator.below(1 + memtable.entries() as usize).min(keys.len() - 1)];
                    if cursors {
                        target.clear();
                        target.extend_from_slice(key);
                        target.extend_from_slice(&[255; 8]);
                        let mut cursor = memtable.iter();
                        cursor.seek(&target).unwrap();
                        black_box(cursor.valid());
                    } else {
                        black_box(memtable.get(key, u64::MAX >> 8));
                    }
                    reads += 1;
                }
                report(if cursors { "new cursor + seek" } else { "get" }, 460_000, reads, started);
            });
            let started = Instant::now();
            for (sequence, key) in (1..).zip(&keys) {
                memtable.insert(sequence, ValueKind::Value, key, &VALUE);
            }
            report("insert random beside a reader", 460_000, 460_000, started);
            done.store(true, Ordering::Release);
            reader.join().unwrap();
        });
    }
}
