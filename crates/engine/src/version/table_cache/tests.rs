use super::*;
use std::path::Path;

use terrace_env::{MemoryEnv, WritableFile};
use terrace_format::comparator::UserComparator;
use terrace_format::compression::{Compression, CompressionIds};
use terrace_format::internal_key::{InternalKeyComparator, ValueKind, append_internal_key};
use terrace_format::version_edit::FileEntry;

use crate::cache::block_cache::BlockCache;
use crate::cache::working_set::WorkingSet;
use crate::table::{BlockReadOptions, TableBuilder, TableBuilderOptions};
use crate::version::file_meta::{FileOrigin, ObsoleteFiles};

/// A directory of tables. Each holds its own number under the key `k`.
struct Directory {
    env: Arc<MemoryEnv>,
    block_cache: Arc<BlockCache>,
    obsolete: Arc<ObsoleteFiles>,
}

impl Directory {
    fn new() -> Self {
        let block_cache = Arc::new(BlockCache::new(1 << 20));
        Self { env: Arc::new(MemoryEnv::new()), block_cache, obsolete: Arc::default() }
    }

    fn comparator() -> InternalKeyComparator {
        InternalKeyComparator::new(UserComparator::Bytewise)
    }

    fn cache(&self, max_open_files: usize) -> TableCache {
        let context = TableReadContext {
            comparator: Self::comparator(),
            block_cache: Some(self.block_cache.clone()),
            compression_ids: CompressionIds::LevelDb,
            use_filters: true,
            filter_policy: None,
            map_files: true,
            fit: WorkingSet::always(),
        };
        TableCache::new(self.env.clone(), PathBuf::from("/"), max_open_files, Arc::new(context))
    }

    fn write(&self, number: u64, name: &str) -> Arc<FileMeta> {
        let path = Path::new("/").join(name);
        let file: Box<dyn WritableFile> = self.env.create(&path).unwrap();
        let options = TableBuilderOptions {
            block_size_bytes: 4096,
            restart_interval: 16,
            compression: Compression::None,
            filter_bits_per_key: 10,
            filter_policy: None,
            hash_index_percent: 100,
        };
        let mut builder = TableBuilder::new(file, path, Self::comparator(), options);
        builder.add(&target(), number.to_string().as_bytes()).unwrap();
        let finished = builder.finish().unwrap();
        self.meta(number, finished.size_bytes)
    }

    fn meta(&self, number: u64, size_bytes: u64) -> Arc<FileMeta> {
        let entry = FileEntry { number, size_bytes, smallest: target(), largest: target() };
        Arc::new(FileMeta::new(entry, 1, FileOrigin::Written, self.obsolete.clone()))
    }

    fn files(&self, count: u64) -> Vec<Arc<FileMeta>> {
        (1..=count).map(|number| self.write(number, &table_name(number))).collect()
    }

    /// How often a table was opened. Each opening takes an id from the block cache.
    fn openings(&self) -> u64 {
        self.block_cache.new_file_id() - 1
    }
}

fn target() -> Vec<u8> {
    let mut key = Vec::new();
    append_internal_key(&mut key, b"k", 1, ValueKind::Value);
    key
}

fn number_in(table: &Table) -> u64 {
    let entry = table.get(&target(), &BlockReadOptions::default()).unwrap().unwrap();
    String::from_utf8(entry.value.into_vec()).unwrap().parse().unwrap()
}

fn filled_slots(files: &[Arc<FileMeta>]) -> Vec<u64> {
    files.iter().filter(|file| file.table.load().is_some()).map(|file| file.number).collect()
}

#[test]
fn a_table_is_opened_once_and_then_found_in_its_slot() {
    let directory = Directory::new();
    let files = directory.files(1);
    let cache = directory.cache(10);
    assert!(cache.table_if_open(&files[0]).is_none());
    let table = cache.table(&files[0]).unwrap();
    assert_eq!(number_in(&table), 1);
    assert!(Arc::ptr_eq(&cache.table(&files[0]).unwrap(), &table));
    assert!(Arc::ptr_eq(&cache.table_if_open(&files[0]).unwrap(), &table));
    assert_eq!((cache.open_files(), directory.openings()), (1, 1));
    assert_eq!(files[0].counts().unwrap().entries, 1, "opening tells the file's counts");
}

#[test]
fn the_number_of_open_tables_is_bounded_and_readers_keep_theirs() {
    let directory = Directory::new();
    let files = directory.files(20);
    let cache = directory.cache(4);
    let held = cache.table(&files[0]).unwrap();
    for file in &files {
        assert_eq!(number_in(&cache.table(file).unwrap()), file.number);
        assert!(cache.open_files() <= 4 && filled_slots(&files).len() <= 4);
    }
    assert_eq!(filled_slots(&files).len(), 4);
    assert!(!filled_slots(&files).contains(&1));
    assert_eq!(number_in(&held), 1);
}

#[test]
fn a_table_in_use_is_spared_by_the_hand() {
    let directory = Directory::new();
    let files = directory.files(40);
    let cache = directory.cache(4);
    let favourite = cache.table(&files[0]).unwrap();
    for file in &files[1..] {
        cache.table(file).unwrap();
        let again = cache.table(&files[0]).unwrap();
        assert!(Arc::ptr_eq(&again, &favourite), "closed when table {} came", file.number);
    }
}

#[test]
fn a_bound_of_zero_still_reads() {
    let directory = Directory::new();
    let files = directory.files(3);
    let cache = directory.cache(0);
    for file in files.iter().chain(&files) {
        assert_eq!(number_in(&cache.table(file).unwrap()), file.number);
        assert_eq!(cache.open_files(), 1);
    }
}

#[test]
fn files_that_left_every_version_make_room() {
    let directory = Directory::new();
    let cache = directory.cache(4);
    let mut gone = directory.files(4);
    for file in &gone {
        cache.table(file).unwrap();
        file.mark_obsolete();
    }
    gone.clear();
    assert_eq!(directory.obsolete.take(), [1, 2, 3, 4]);
    let files: Vec<_> = (5..9).map(|number| directory.write(number, &table_name(number))).collect();
    for file in &files {
        cache.table(file).unwrap();
    }
    assert_eq!(filled_slots(&files), [5, 6, 7, 8], "dead entries should go before living ones");
}

#[test]
fn the_name_of_old_databases_is_tried_second() {
    let directory = Directory::new();
    let file = directory.write(7, &legacy_table_name(7));
    let table = directory.cache(4).table(&file).unwrap();
    assert_eq!(number_in(&table), 7);
    assert_eq!(table.path(), Path::new("/000007.sst"));
}

#[test]
fn a_missing_or_damaged_table_is_named_and_takes_no_place() {
    let directory = Directory::new();
    let cache = directory.cache(4);
    let missing = directory.meta(9, 100);
    let error = cache.table(&missing).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains("/000009.ldb"), "{error}");

    let mut file = directory.env.create(Path::new("/000010.ldb")).unwrap();
    file.append(&[7; 100]).unwrap();
    file.close().unwrap();
    let error = cache.table(&directory.meta(10, 100)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains("/000010.ldb"), "{error}");
    assert_eq!(cache.open_files(), 0);
}

#[test]
fn threads_that_miss_together_open_a_file_once() {
    let directory = Directory::new();
    let files = directory.files(1);
    let cache = directory.cache(100);
    let start = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                // What `table` does once it has found the slot empty, as each thread may have before another opens.
                assert_eq!(number_in(&cache.open_into_slot(&files[0]).unwrap()), 1);
            });
        }
    });
    assert_eq!((cache.open_files(), directory.openings()), (1, 1));
}

#[test]
fn eight_threads_share_four_slots() {
    let directory = Directory::new();
    let files = directory.files(12);
    let cache = directory.cache(4);
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (cache, files) = (&cache, &files);
            scope.spawn(move || {
                let mut state = thread + 1;
                for _ in 0..2_000 {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let file = &files[(state >> 33) as usize % files.len()];
                    assert_eq!(number_in(&cache.table(file).unwrap()), file.number);
                    assert!(cache.open_files() <= 4);
                }
            });
        }
    });
    assert!(filled_slots(&files).len() <= 4);
    assert_eq!(filled_slots(&files).len(), cache.open_files());
}
