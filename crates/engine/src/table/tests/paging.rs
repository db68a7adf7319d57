//! Tables of a database that has outgrown memory: what is requested from the disk, and that the answers are the same.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_env::ReadPattern;
use terrace_format::compression::Compression;
use terrace_format::internal_key::user_key;

use super::support::*;
use crate::cache::working_set::WorkingSet;
use crate::error::ErrorKind;
use crate::iterator::{InternalIterator, Preparation};
use crate::read_tier::ReadTier;
use crate::table::{BlockReadOptions, Extent, Table, TableBuilderOptions, TableReadContext};

/// Blocks of 4 KiB, as in a usual table.
fn bytes_of(entries: &Entries) -> Vec<u8> {
    let usual =
        TableBuilderOptions { block_size_bytes: 4 << 10, compression: Compression::Snappy, ..options() };
    build(entries, &bytewise(), usual).0
}

fn many_entries() -> Entries {
    let value = |n: u64| n.to_be_bytes().map(|byte| byte.wrapping_mul(31)).repeat(3);
    (0..60_000)
        .map(|n: u64| {
            (key(format!("{:016}", n * 10).as_bytes()), value(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        })
        .collect()
}

/// The table without a block cache, and its file, of which nothing is in memory.
fn outgrown(entries: &Entries) -> (Arc<Table>, Arc<TestFile>) {
    let file = TestFile::new_mapped(bytes_of(entries), true);
    let context = TableReadContext { fit: WorkingSet::never(), block_cache: None, ..context(&bytewise()) };
    let table = open_file(Arc::clone(&file), context).unwrap();
    (table, file)
}

/// What was requested since the last call.
fn asked(file: &TestFile) -> Vec<Range<u64>> {
    std::mem::take(&mut file.advice.lock().asked)
}

/// Asserts that the ranges follow each other without a gap or an overlap.
fn assert_in_turn(ranges: &[Range<u64>]) {
    for pair in ranges.windows(2) {
        assert_eq!(pair[0].end, pair[1].start, "{ranges:?}");
    }
}

#[test]
fn a_get_asks_for_the_block_of_its_key_once_and_for_nothing_else() {
    let entries = many_entries();
    let (table, file) = outgrown(&entries);
    assert_eq!(file.advice.lock().pattern, Some(ReadPattern::Random));
    // Index and filter, each at once.
    assert_eq!(asked(&file).len(), 2);
    let filter = table.metadata.filter.as_ref().unwrap().handle;
    for (key, value) in entries.iter().step_by(97) {
        let found = table.get(key, &BlockReadOptions::default()).unwrap().unwrap();
        assert_eq!(found.value.as_ref(), value);
        let asked: Vec<_> = asked(&file).into_iter().filter(|range| range.start != filter.offset).collect();
        assert_eq!(asked.len(), 1);
        assert!(asked[0].end - asked[0].start <= 4_200, "{asked:?}");
    }
    let absent = (0..1_000).map(|n| key(format!("{:016}", n * 600 + 7).as_bytes()));
    let found = absent.filter(|key| table.get(key, &BlockReadOptions::default()).unwrap().is_some()).count();
    assert_eq!(found, 0);
    let of_data = asked(&file).into_iter().filter(|range| range.start != filter.offset).count();
    assert!(of_data < 50, "the filter excludes nearly all of a thousand absent keys");
}

#[test]
fn a_get_that_may_not_wait_begins_to_read() {
    let entries = many_entries();
    let (table, file) = outgrown(&entries);
    file.resident.store(true, Ordering::Relaxed);
    let hasty = BlockReadOptions { tier: ReadTier::MemoryOnly, ..BlockReadOptions::default() };
    let (target, value) = &entries[100];
    assert_eq!(table.get(target, &hasty).unwrap().unwrap().value.as_ref(), value);
    asked(&file);
    // Data is out of memory, index and filter are not.
    file.evicted_until.store(200_000, Ordering::Relaxed);
    assert_eq!(table.get(target, &hasty).unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(asked(&file).len(), 1);
}

#[test]
fn a_walk_asks_for_more_and_more_and_for_nothing_twice() {
    let entries = many_entries();
    let (table, file) = outgrown(&entries);
    let size_bytes = table.size_bytes();
    for start in [0, 20_000, 59_900] {
        asked(&file);
        let mut iter = table.iter(BlockReadOptions::default());
        iter.seek(&entries[start].0).unwrap();
        assert_eq!(asked(&file).len(), 1, "a seek asks for its block");
        for (key, value) in &entries[start..] {
            assert_eq!((iter.key(), iter.value()), (&key[..], &value[..]));
            iter.next().unwrap();
        }
        let asked = asked(&file);
        assert_in_turn(&asked);
        assert!(asked.len() < 12, "{asked:?}");
        assert!(asked.iter().all(|range| range.end <= size_bytes));
    }
    let mut iter = table.iter(BlockReadOptions::default());
    iter.seek_to_last().unwrap();
    asked(&file);
    for (key, value) in entries.iter().rev() {
        assert_eq!((iter.key(), iter.value()), (&key[..], &value[..]));
        iter.prev().unwrap();
    }
    let mut backward = asked(&file);
    backward.reverse();
    assert_in_turn(&backward);
    assert!(backward.len() < 12 && backward[0].start == 0, "{backward:?}");
}

#[test]
fn a_short_range_asks_for_little() {
    let entries = many_entries();
    let (table, file) = outgrown(&entries);
    asked(&file);
    let mut iter = table.iter(BlockReadOptions::default());
    iter.seek(&entries[30_000].0).unwrap();
    for _ in 0..300 {
        iter.next().unwrap();
    }
    let asked_bytes: u64 = asked(&file).iter().map(|range| range.end - range.start).sum();
    assert!(asked_bytes < 40_000, "{asked_bytes}");
}

#[test]
fn a_prepared_seek_asks_before_it_reads_and_only_once() {
    let entries = many_entries();
    let (table, file) = outgrown(&entries);
    asked(&file);
    let mut iter = table.iter(BlockReadOptions::default());
    let target = &entries[12_345].0;
    iter.prepare_seek(target, Preparation::FindBlock);
    assert_eq!(asked(&file).len(), 1);
    iter.prepare_seek(target, Preparation::LoadBlock);
    iter.seek(target).unwrap();
    assert_eq!(user_key(iter.key()), user_key(target));
    assert_eq!(asked(&file).len(), 0);
}

#[test]
fn a_cursor_through_the_whole_table_gives_up_what_it_brought_into_memory() {
    let entries = many_entries();
    let whole = BlockReadOptions { extent: Extent::Whole, fill_cache: false, ..BlockReadOptions::default() };
    for is_resident in [false, true] {
        let (table, file) = outgrown(&entries);
        asked(&file);
        file.resident.store(is_resident, Ordering::Relaxed);
        let mut iter = table.iter(whole);
        iter.seek_to_first().unwrap();
        let mut passed = 0;
        while iter.valid() {
            passed += 1;
            iter.next().unwrap();
        }
        assert_eq!(passed, entries.len());
        drop(iter);
        let asked = asked(&file);
        assert_in_turn(&asked);
        let given_up = std::mem::take(&mut file.advice.lock().given_up);
        assert_eq!(given_up, if is_resident { Vec::new() } else { asked });
    }
}

#[test]
fn while_tables_fit_the_system_is_told_nothing() {
    let entries = many_entries();
    let file = TestFile::new_mapped(bytes_of(&entries), true);
    let table = open_file(Arc::clone(&file), context(&bytewise())).unwrap();
    table.get(&entries[5].0, &BlockReadOptions::default()).unwrap().unwrap();
    let mut iter = table.iter(BlockReadOptions::default());
    iter.seek_to_first().unwrap();
    while iter.valid() {
        iter.next().unwrap();
    }
    let advice = file.advice.lock();
    assert!(advice.asked.is_empty() && advice.given_up.is_empty() && advice.pattern.is_none());
}

#[test]
fn damaged_handles_ask_for_nothing_outside_the_file() {
    let entries = many_entries();
    let good = bytes_of(&entries);
    let size_bytes = good.len() as u64;
    let random = &mut Random::new(17);
    for _ in 0..200 {
        let mut bytes = good.clone();
        // The index and what follows it are at the end.
        for _ in 0..8 {
            let place = bytes.len() - 1 - random.below(30_000);
            bytes[place] ^= 1 << random.below(8);
        }
        let file = TestFile::new_mapped(bytes, true);
        let context = TableReadContext { fit: WorkingSet::never(), ..context(&bytewise()) };
        let Ok(table) = open_file(Arc::clone(&file), context) else { continue };
        let _ = table.get(&entries[random.below(entries.len())].0, &BlockReadOptions::default());
        let mut iter = table.iter(BlockReadOptions { extent: Extent::Whole, ..BlockReadOptions::default() });
        let _ = iter.seek(&entries[random.below(entries.len())].0);
        while iter.valid() && iter.next().is_ok() {}
        assert!(asked(&file).iter().all(|range| range.end - range.start <= size_bytes));
    }
}

#[test]
fn a_filter_is_asked_while_searches_find_nothing_and_left_alone_while_they_do() {
    let entries = many_entries();
    let (table, file) = outgrown(&entries);
    let filter = table.metadata.filter.as_ref().unwrap().handle;
    asked(&file);
    let absent = key(b"0000000000001007");
    for (target, is_found) in [(&entries[7].0, true), (&absent, false), (&entries[7].0, true)] {
        let mut last = Vec::new();
        for _ in 0..40 {
            assert_eq!(table.get(target, &BlockReadOptions::default()).unwrap().is_some(), is_found);
            last = asked(&file);
        }
        assert_eq!(last.len(), 1);
        assert_eq!(last[0].start == filter.offset, !is_found, "{last:?}");
    }
}

#[test]
fn searches_agree_with_and_without_a_map_of_blocks() {
    let entries = bytewise_entries(9, 3_000);
    for compression in [Compression::None, Compression::Snappy] {
        let bytes = build(&entries, &bytewise(), TableBuilderOptions { compression, ..options() }).0;
        let fitting = open_file(TestFile::new_mapped(bytes.clone(), true), context(&bytewise())).unwrap();
        let file = TestFile::new_mapped(bytes, true);
        let context = TableReadContext { fit: WorkingSet::never(), ..context(&bytewise()) };
        let paged = open_file(Arc::clone(&file), context).unwrap();
        let random = &mut Random::new(3);
        for _ in 0..20_000 {
            let (mut target, _) = entries[random.below(entries.len())].clone();
            if random.below(2) == 0 {
                let place = random.below(target.len());
                target[place] = target[place].wrapping_add(random.below(3) as u8);
            }
            let of = |table: &Arc<Table>| {
                let found = table.get(&target, &BlockReadOptions::default()).unwrap();
                let mut iter = table.iter(BlockReadOptions::default());
                iter.seek(&target).unwrap();
                let sought = iter.valid().then(|| (iter.key().to_vec(), iter.value().to_vec()));
                (found.map(|entry| (entry.kind, entry.value.into_vec())), sought)
            };
            assert_eq!(of(&paged), of(&fitting), "{target:?}");
        }
    }
}
