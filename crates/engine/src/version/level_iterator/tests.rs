//! Level iterators and lookups in a version, over tables in memory.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use terrace_env::{Env, MemoryEnv};
use terrace_format::compression::{Compression, CompressionIds};
use terrace_format::file_name::table_name;
use terrace_format::internal_key::{SEEK_KIND, ValueKind, append_internal_key};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::version_edit::FileEntry;

use super::*;
use crate::cache::working_set::WorkingSet;
use crate::error::ErrorKind;
use crate::memtable::MemTable;
use crate::read::merging_iterator::MergingIterator;
use crate::read::source::Source;
use crate::table::entry::TableEntry;
use crate::table::{TableBuilder, TableBuilderOptions, TableReadContext};
use crate::version::file_meta::{FileOrigin, ObsoleteFiles};
use crate::version::testing::comparator;

/// User key, sequence and value; no value means a deletion.
type Row = (String, u64, Option<&'static str>);

struct Tables {
    env: MemoryEnv,
    next_number: u64,
    block_size_bytes: usize,
    compression: Compression,
}

impl Tables {
    fn new() -> Self {
        Self { env: MemoryEnv::new(), next_number: 1, block_size_bytes: 64, compression: Compression::None }
    }

    fn write(&mut self, rows: &[Row]) -> Arc<FileMeta> {
        let number = self.next_number;
        self.next_number += 1;
        let path = Path::new("/").join(table_name(number));
        let options = TableBuilderOptions {
            block_size_bytes: self.block_size_bytes,
            restart_interval: 2,
            compression: self.compression,
            filter_bits_per_key: 10,
            filter_policy: None,
            hash_index_percent: 100,
        };
        let file = self.env.create(&path).unwrap();
        let mut builder = TableBuilder::new(file, path, comparator(), options);
        for row in rows {
            builder.add(&internal(row), row.2.unwrap_or("").as_bytes()).unwrap();
        }
        let finished = builder.finish().unwrap();
        let entry = FileEntry {
            number,
            size_bytes: finished.size_bytes,
            smallest: finished.smallest,
            largest: finished.largest,
        };
        Arc::new(FileMeta::new(entry, 100, FileOrigin::Written, Arc::new(ObsoleteFiles::new())))
    }

    fn cache(&self) -> Arc<TableCache> {
        let context = TableReadContext {
            comparator: comparator(),
            block_cache: None,
            compression_ids: CompressionIds::LevelDb,
            use_filters: true,
            filter_policy: None,
            map_files: true,
            fit: WorkingSet::always(),
        };
        Arc::new(TableCache::new(Arc::new(self.env.clone()), PathBuf::from("/"), 10, Arc::new(context)))
    }
}

fn row(key: &str, sequence: u64, value: &'static str) -> Row {
    (key.to_owned(), sequence, Some(value))
}

fn internal((key, sequence, value): &Row) -> Vec<u8> {
    let kind = if value.is_some() { ValueKind::Value } else { ValueKind::Deletion };
    let mut internal = Vec::new();
    append_internal_key(&mut internal, key.as_bytes(), *sequence, kind);
    internal
}

fn target(key: &str, sequence: u64) -> Vec<u8> {
    let mut target = Vec::new();
    append_internal_key(&mut target, key.as_bytes(), sequence, SEEK_KIND);
    target
}

#[derive(Clone, Debug)]
enum Step {
    First,
    Last,
    Seek(u8),
    Next,
    Prev,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => Just(Step::First),
        1 => Just(Step::Last),
        3 => (0..100u8).prop_map(Step::Seek),
        6 => Just(Step::Next),
        6 => Just(Step::Prev),
    ]
}

/// Moves `iterator` and an index into `all`, the sorted internal keys that it should show, and compares them after each step.
fn walk_beside(
    iterator: &mut impl InternalIterator,
    all: &[Vec<u8>],
    steps: Vec<Step>,
    target: impl Fn(u8) -> Vec<u8>,
) -> std::result::Result<(), TestCaseError> {
    let order = comparator();
    let mut at: Option<usize> = None;
    for step in steps {
        match step {
            Step::First => {
                iterator.seek_to_first().unwrap();
                at = Some(0);
            }
            Step::Last => {
                iterator.seek_to_last().unwrap();
                at = all.len().checked_sub(1);
            }
            Step::Seek(key) => {
                let target = target(key);
                iterator.seek(&target).unwrap();
                at = Some(all.partition_point(|entry| order.compare(entry, &target).is_lt()));
            }
            Step::Next if at.is_some() => {
                iterator.next().unwrap();
                at = at.map(|at| at + 1);
            }
            Step::Prev if at.is_some() => {
                iterator.prev().unwrap();
                at = at.and_then(|at| at.checked_sub(1));
            }
            Step::Next | Step::Prev => {}
        }
        at = at.filter(|at| *at < all.len());
        prop_assert_eq!(iterator.valid(), at.is_some());
        if let Some(at) = at {
            prop_assert_eq!(iterator.key(), &all[at][..]);
            prop_assert_eq!(iterator.value(), b"v");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn many_overlapping_runs_are_merged_like_one_sorted_list(
        runs in proptest::collection::vec(proptest::collection::btree_set(0..100u8, 1..12), 0..20),
        steps in proptest::collection::vec(step(), 0..80),
    ) {
        let mut tables = Tables::new();
        let (mut files, mut all) = (Vec::new(), Vec::new());
        for (run, keys) in runs.iter().enumerate() {
            let rows: Vec<Row> = keys.iter().map(|key| row(&format!("{key:02}"), run as u64, "v")).collect();
            files.push(tables.write(&rows));
            all.extend(rows.iter().map(internal));
        }
        let order = comparator();
        all.sort_by(|a, b| order.compare(a, b));
        let cache = tables.cache();
        let run = |file| {
            LevelIterator::new(comparator(), vec![file], Arc::clone(&cache), BlockReadOptions::default())
        };
        let mut iterator = MergingIterator::new(comparator(), files.into_iter().map(run).collect());
        walk_beside(&mut iterator, &all, steps, |key| target(&format!("{key:02}"), u64::from(key % 20)))?;
    }

    #[test]
    fn walks_like_one_sorted_list(
        file_sizes in proptest::collection::vec(1..9usize, 0..6),
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let mut tables = Tables::new();
        let mut files = Vec::new();
        let mut all: Vec<Row> = Vec::new();
        for size in file_sizes {
            // Every other key is missing, so that seeks also land between keys and between files.
            let rows: Vec<Row> =
                (0..size).map(|index| row(&format!("{:02}", 2 * (all.len() + index)), 5, "v")).collect();
            files.push(tables.write(&rows));
            all.extend(rows);
        }
        let options = BlockReadOptions::default();
        let mut iterator = LevelIterator::new(comparator(), files, tables.cache(), options);
        prop_assert!(!iterator.valid());
        let all: Vec<_> = all.iter().map(internal).collect();
        walk_beside(&mut iterator, &all, steps, |key| target(&format!("{key:02}"), 5))?;
    }
}

#[test]
fn after_an_error_it_is_not_valid_and_a_seek_may_succeed() {
    let mut tables = Tables::new();
    let files = vec![tables.write(&[row("a", 5, "1")]), tables.write(&[row("b", 5, "2")])];
    tables.env.remove_file(&Path::new("/").join(table_name(2))).unwrap();
    let mut iterator = LevelIterator::new(comparator(), files, tables.cache(), BlockReadOptions::default());
    iterator.seek_to_first().unwrap();
    assert!(iterator.valid());
    assert_eq!(iterator.next().unwrap_err().kind(), ErrorKind::Corruption);
    assert!(!iterator.valid());
    assert!(iterator.seek_to_last().is_err());
    iterator.seek(&target("a", 9)).unwrap();
    assert_eq!(iterator.value(), b"1");
}

fn sample() -> (Tables, Arc<Version>) {
    let mut tables = Tables::new();
    let mut levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT] = Default::default();
    // Written from old to new, because the number decides in level 0.
    levels[3].push(tables.write(&[row("a", 1, "a1"), row("b", 2, "b2"), row("z", 3, "z3")]));
    levels[1].push(tables.write(&[row("a", 11, "a11"), row("c", 12, "c12")]));
    levels[1].push(tables.write(&[("d".to_owned(), 13, None), row("f", 14, "f14")]));
    levels[0].push(tables.write(&[("a".to_owned(), 21, None), row("e", 22, "e22")]));
    levels[0].insert(0, tables.write(&[row("a", 31, "a31"), row("a", 30, "a30"), row("f", 32, "f32")]));
    (tables, Arc::new(Version::new(comparator(), levels)))
}

fn get(
    version: &Version,
    target: &[u8],
    tables: &TableCache,
    options: &BlockReadOptions,
) -> Result<Option<TableEntry>> {
    let mut entry = None;
    version.get_with(target, tables, options, &mut |found| {
        entry = Some(TableEntry { kind: found.kind, value: found.value.pin() });
    })?;
    Ok(entry)
}

#[test]
fn a_lookup_finds_the_newest_entry_that_its_sequence_allows() {
    let (tables, version) = sample();
    let cache = tables.cache();
    let options = BlockReadOptions::default();
    for (key, sequence, expected) in [
        ("a", 99, Some("a31")),
        ("a", 30, Some("a30")),
        ("a", 29, Some("deleted")),
        ("a", 20, Some("a11")),
        ("a", 10, Some("a1")),
        ("a", 0, None),
        ("b", 99, Some("b2")),
        ("d", 99, Some("deleted")),
        ("f", 31, Some("f14")),
        ("e", 99, Some("e22")),
        ("z", 99, Some("z3")),
        ("zz", 99, None),
        ("", 99, None),
    ] {
        let found = get(&version, &target(key, sequence), &cache, &options).unwrap();
        let found = found.map(|entry| match entry.kind {
            ValueKind::Value => String::from_utf8(entry.value.into_vec()).unwrap(),
            ValueKind::Deletion => "deleted".to_owned(),
        });
        assert_eq!(found.as_deref(), expected, "{key} at {sequence}");
    }
}

/// For Miri: a merge keeps pointers to its entry, which lies in a memtable, a block, or the memory of a cursor.
#[test]
fn an_entry_of_a_merge_stays_in_reach_while_tables_and_blocks_take_turns() {
    const VALUE: &str = "a value, a value, a value, which is compressed";
    const ROWS: u64 = if cfg!(miri) { 24 } else { 60 };
    for (block_size_bytes, compression) in [(64, Compression::None), (300, Compression::Snappy)] {
        let mut tables = Tables { block_size_bytes, compression, ..Tables::new() };
        let rows: Vec<Row> = (1..=ROWS).map(|number| row(&format!("{number:03}"), number, VALUE)).collect();
        // Short runs of one source, so that the ends of sources, tables of a level and blocks interleave.
        let of = |source: u64| rows.iter().filter(|row| row.1 / 3 % 3 == source).cloned().collect::<Vec<_>>();
        let memtable = Arc::new(MemTable::new(comparator()));
        of(0)
            .iter()
            .for_each(|row| memtable.insert(row.1, ValueKind::Value, row.0.as_bytes(), VALUE.as_bytes()));
        let (level0, level1) =
            (tables.write(&of(1)), of(2).chunks(4).map(|rows| tables.write(rows)).collect());
        let level =
            |files| LevelIterator::new(comparator(), files, tables.cache(), BlockReadOptions::default());
        let sources = [
            Source::Memtable(memtable.iter()),
            Source::Level(level(vec![level0])),
            Source::Level(level(level1)),
        ];
        let mut merged = MergingIterator::new(comparator(), sources.into());
        let is_at = |merged: &MergingIterator<Source>, expected: &Row| {
            assert_eq!((merged.key(), merged.value()), (&internal(expected)[..], VALUE.as_bytes()));
        };
        merged.seek_to_first().unwrap();
        for (index, expected) in rows.iter().enumerate() {
            merged = *Box::new(merged);
            is_at(&merged, expected);
            if index % 5 == 4 {
                merged.prev().unwrap();
                is_at(&merged, &rows[index - 1]);
                merged.next().unwrap();
            }
            merged.next().unwrap();
        }
        assert!(!merged.valid());
        merged.seek_to_last().unwrap();
        for expected in rows.iter().rev() {
            is_at(&merged, expected);
            merged.prev().unwrap();
        }
        assert!(!merged.valid());
    }
}

#[test]
fn in_memory_only_a_closed_table_would_block() {
    let (tables, version) = sample();
    let cache = tables.cache();
    let options = BlockReadOptions { tier: ReadTier::MemoryOnly, ..BlockReadOptions::default() };
    assert_eq!(get(&version, &target("e", 99), &cache, &options).unwrap_err().kind(), ErrorKind::WouldBlock);
    // If no table can hold the key, there is nothing to wait for.
    assert!(get(&version, &target("zz", 99), &cache, &options).unwrap().is_none());
    let mut iterator = LevelIterator::of_level(Arc::clone(&version), 1, cache, options);
    assert_eq!(iterator.seek_to_first().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn the_iterators_of_a_version_visit_every_entry() {
    let (tables, version) = sample();
    let cache = tables.cache();
    let mut iterators: Vec<_> = version.iterators(&cache, BlockReadOptions::default()).collect();
    assert_eq!(cache.open_files(), 0);
    assert_eq!(iterators.len(), 4);
    let mut seen = Vec::new();
    for iterator in &mut iterators {
        iterator.seek_to_first().unwrap();
        while iterator.valid() {
            seen.push(String::from_utf8(iterator.value().to_vec()).unwrap());
            iterator.next().unwrap();
        }
    }
    seen.sort();
    assert_eq!(seen, ["", "", "a1", "a11", "a30", "a31", "b2", "c12", "e22", "f14", "f32", "z3"]);
}

#[test]
fn offsets_grow_with_the_key_up_to_all_bytes() {
    let mut tables = Tables::new();
    let rows: Vec<Row> = (0..200).map(|index| row(&format!("{index:03}"), 5, "some value")).collect();
    let mut levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT] = Default::default();
    levels[2] = rows.chunks(50).map(|rows| tables.write(rows)).collect();
    let version = Version::new(comparator(), levels);
    let cache = tables.cache();
    let offsets: Vec<u64> = (0..=200)
        .map(|index| version.approximate_offset_of(format!("{index:03}").as_bytes(), &cache).unwrap())
        .collect();
    assert!(offsets.is_sorted());
    assert_eq!((offsets[0], offsets[200]), (0, version.level_size_bytes(2)));
    assert!(offsets[125] > offsets[200] / 2 && offsets[125] < offsets[200] * 3 / 4);
}
