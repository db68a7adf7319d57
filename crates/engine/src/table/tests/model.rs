//! Compares tables with a sorted list: every way to read must agree with it, however the table was written.

use std::sync::Arc;

use terrace_format::compression::Compression;
use terrace_format::internal_key::{
    InternalKeyComparator, MAX_SEQUENCE_NUMBER, SEEK_KIND, ValueKind, parse_internal_key, user_key,
};

use super::support::*;
use crate::iterator::{InternalIterator, PREPARATIONS};
use crate::table::{BlockReadOptions, Table, TableBuilderOptions, TableIterator};

/// What a table should hold: its entries, and their order.
struct Model<'a> {
    entries: &'a Entries,
    comparator: &'a InternalKeyComparator,
    /// Turns a user key in the table into one that is not in it.
    absent: fn(&[u8]) -> Vec<u8>,
}

impl Model<'_> {
    /// Index of the first entry at or after `target`.
    fn lower_bound(&self, target: &[u8]) -> usize {
        self.entries.partition_point(|(key, _)| self.comparator.compare(key, target).is_lt())
    }

    fn check_position(&self, iter: &TableIterator, expected: Option<usize>) {
        assert_eq!(iter.valid(), expected.is_some());
        if let Some(index) = expected {
            assert_eq!(iter.key(), self.entries[index].0, "at entry {index}");
            assert_eq!(iter.value(), self.entries[index].1, "at entry {index}");
        }
    }

    fn check_get(&self, table: &Table, target: &[u8]) {
        let found = table.get(target, &BlockReadOptions::default()).unwrap();
        let expected = self
            .entries
            .get(self.lower_bound(target))
            .filter(|(key, _)| self.comparator.user().compare(user_key(key), user_key(target)).is_eq());
        match (found, expected) {
            (None, None) => {}
            (Some(found), Some((key, value))) => {
                let parsed = parse_internal_key(key).unwrap();
                assert_eq!(found.kind, parsed.kind);
                assert_eq!(found.value.as_ref(), value);
            }
            (found, expected) => panic!("found {found:?} where {expected:?} is"),
        }
    }

    fn check_gets(&self, table: &Table) {
        for (key, _) in self.entries {
            let parsed = parse_internal_key(key).unwrap();
            self.check_get(table, key);
            self.check_get(table, &internal_key(parsed.user_key, MAX_SEQUENCE_NUMBER, SEEK_KIND));
            self.check_get(table, &internal_key(parsed.user_key, parsed.sequence - 1, SEEK_KIND));
            self.check_get(table, &internal_key(parsed.user_key, 0, ValueKind::Deletion));
            self.check_get(table, &internal_key(&(self.absent)(parsed.user_key), 5, SEEK_KIND));
        }
        self.check_get(table, &key(b""));
        self.check_get(table, &key(&[0xff; 20]));
    }

    fn check_scans(&self, table: &Arc<Table>) {
        let mut iter = table.iter(BlockReadOptions::default());
        assert!(!iter.valid());
        iter.seek_to_first().unwrap();
        for index in 0..self.entries.len() {
            self.check_position(&iter, Some(index));
            iter.next().unwrap();
        }
        self.check_position(&iter, None);
        iter.seek_to_last().unwrap();
        for index in (0..self.entries.len()).rev() {
            self.check_position(&iter, Some(index));
            iter.prev().unwrap();
        }
        self.check_position(&iter, None);
    }

    fn check_random_walk(&self, table: &Arc<Table>, seed: u64) {
        let random = &mut Random::new(seed);
        let mut iter = table.iter(BlockReadOptions::default());
        let mut at = None;
        for _ in 0..600 {
            match (random.below(12), at) {
                (0, _) => {
                    // As if another cursor's seek had failed meanwhile.
                    if random.below(2) == 0 {
                        let target = self.random_target(random);
                        PREPARATIONS.iter().for_each(|&part| iter.prepare_seek(&target, part));
                    }
                    iter.seek_to_first().unwrap();
                    at = (!self.entries.is_empty()).then_some(0);
                }
                (1, _) => {
                    iter.seek_to_last().unwrap();
                    at = self.entries.len().checked_sub(1);
                }
                (step @ 2..6, Some(index)) if step < 4 => {
                    iter.prev().unwrap();
                    at = usize::checked_sub(index, 1);
                }
                (2..9, Some(index)) => {
                    iter.next().unwrap();
                    at = Some(index + 1).filter(|&next| next < self.entries.len());
                }
                _ => {
                    let target = self.random_target(random);
                    if random.below(2) == 0 {
                        PREPARATIONS.iter().for_each(|&part| iter.prepare_seek(&target, part));
                    }
                    iter.seek(&target).unwrap();
                    at = Some(self.lower_bound(&target)).filter(|&index| index < self.entries.len());
                }
            }
            self.check_position(&iter, at);
        }
    }

    /// An entry's key, or one right before or after it.
    fn random_target(&self, random: &mut Random) -> Vec<u8> {
        if self.entries.is_empty() {
            return key(b"any");
        }
        let (entry_key, _) = &self.entries[random.below(self.entries.len())];
        let mut user = user_key(entry_key).to_vec();
        match random.below(4) {
            0 => return entry_key.clone(),
            1 => drop(user.pop()),
            2 => user.push(0),
            _ => {}
        }
        internal_key(&user, random.below(2_000) as u64, SEEK_KIND)
    }

    fn check_offsets(&self, table: &Table) {
        let mut last = 0;
        for (key, _) in self.entries {
            let offset = table.approximate_offset_of(key).unwrap();
            assert!(offset >= last && offset < table.size_bytes());
            last = offset;
        }
        if let Some((last_key, _)) = self.entries.last() {
            let behind = internal_key(user_key(last_key), 0, ValueKind::Deletion);
            assert!(table.approximate_offset_of(&behind).unwrap() >= last);
        }
    }
}

/// Every combination of small and usual settings.
fn all_options() -> Vec<TableBuilderOptions> {
    let mut all = Vec::new();
    for compression in [Compression::None, Compression::Snappy, Compression::Zstd { level: 1 }] {
        for block_size_bytes in [1, 64, 4096] {
            for filter_bits_per_key in [0, 10] {
                for restart_interval in [1, 2, 16] {
                    all.push(TableBuilderOptions {
                        block_size_bytes,
                        restart_interval,
                        compression,
                        filter_bits_per_key,
                        filter_policy: None,
                        hash_index_percent: 10_000,
                    });
                }
            }
        }
    }
    all
}

fn check_against_model(
    comparator: InternalKeyComparator,
    entries_of: fn(u64, usize) -> Entries,
    absent: fn(&[u8]) -> Vec<u8>,
) {
    for (seed, options) in all_options().into_iter().enumerate() {
        let entries = entries_of(seed as u64, [0, 1, 2, 150][seed % 4]);
        let model = Model { entries: &entries, comparator: &comparator, absent };
        let (bytes, finished) = build(&entries, &comparator, options.clone());
        assert_eq!(finished.counts.entries, entries.len() as u64);
        if let (Some(first), Some(last)) = (entries.first(), entries.last()) {
            assert_eq!((&finished.smallest, &finished.largest), (&first.0, &last.0));
        }
        for (block_cache, maps) in [(true, true), (false, true), (true, false), (false, false)] {
            let mut context = context(&comparator);
            if !block_cache {
                context.block_cache = None;
            }
            let table = open_file(TestFile::new_mapped(bytes.clone(), maps), context);
            let table = table.unwrap_or_else(|error| panic!("{options:?}: {error}"));
            assert_eq!(table.counts(), Some(finished.counts));
            model.check_gets(&table);
            model.check_scans(&table);
            model.check_random_walk(&table, seed as u64);
            model.check_offsets(&table);
            table.verify().unwrap();
        }
    }
}

#[test]
fn bytewise_tables_agree_with_the_model() {
    check_against_model(bytewise(), bytewise_entries, |user_key| [user_key, b"!"].concat());
}

#[test]
fn tables_in_chromiums_order_agree_with_the_model() {
    // The order ignores bytes after a key's end, but a filter does not: the string itself must differ.
    check_against_model(idb(), idb_entries, |user_key| {
        let mut absent = [user_key, b"\0!"].concat();
        absent[5] += 1;
        absent
    });
}

#[test]
fn the_filter_spares_reads_of_absent_keys() {
    let entries: Entries =
        (0..2_000).map(|n| (key(format!("{:06}", n * 2).as_bytes()), b"v".to_vec())).collect();
    let reads_of_absent = |filter_bits_per_key| {
        let (bytes, _) =
            build(&entries, &bytewise(), TableBuilderOptions { filter_bits_per_key, ..options() });
        let file = TestFile::new(bytes);
        let context = crate::table::TableReadContext { block_cache: None, ..context(&bytewise()) };
        let table = open_file(file.clone(), context).unwrap();
        let reads_before = file.reads();
        for number in 0..1_000 {
            let absent = key(format!("{:06}", number * 2 + 1).as_bytes());
            assert!(table.get(&absent, &BlockReadOptions::default()).unwrap().is_none());
        }
        file.reads() - reads_before
    };
    assert!(reads_of_absent(0) >= 1_000);
    let filtered = reads_of_absent(10);
    assert!(filtered < 50, "{filtered} of 1000 lookups of absent keys read a block");
}

#[test]
fn a_cached_block_is_not_read_again_unless_the_cache_was_not_to_be_filled() {
    let entries = bytewise_entries(1, 100);
    let (bytes, _) = build(&entries, &bytewise(), options());
    let file = TestFile::new(bytes);
    let table = open_file(file.clone(), context(&bytewise())).unwrap();
    let target = &entries[50].0;
    let get_and_count = |options: &BlockReadOptions| {
        let before = file.reads();
        assert!(table.get(target, options).unwrap().is_some());
        file.reads() - before
    };
    let without_filling = BlockReadOptions { fill_cache: false, ..BlockReadOptions::default() };
    assert_eq!(get_and_count(&without_filling), 1);
    assert_eq!(get_and_count(&BlockReadOptions::default()), 1);
    assert_eq!(get_and_count(&BlockReadOptions::default()), 0);
    assert_eq!(get_and_count(&without_filling), 0);
}
