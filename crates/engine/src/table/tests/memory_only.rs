//! Reads that must not wait for the disk.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::support::*;
use terrace_format::compression::Compression;
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::Footer;

use crate::cache::block_cache::BlockCache;
use crate::error::ErrorKind;
use crate::iterator::InternalIterator;
use crate::read_tier::ReadTier;
use crate::table::block_fetch::Residency;
use crate::table::{BlockReadOptions, Extent, TableBuilderOptions, TableReadContext};

const MEMORY_ONLY: BlockReadOptions = BlockReadOptions {
    verify_checksums: true,
    fill_cache: true,
    tier: ReadTier::MemoryOnly,
    extent: Extent::Unknown,
};

#[test]
fn a_get_answers_from_the_cache_or_from_resident_pages_and_otherwise_would_block() {
    let entries = bytewise_entries(5, 100);
    let (bytes, _) = build(&entries, &bytewise(), options());
    let file = TestFile::new(bytes);
    let table = open_file(file.clone(), context(&bytewise())).unwrap();
    let (first, middle, last) = (&entries[0].0, &entries[90].0, &entries.last().unwrap().0);

    assert_eq!(table.get(first, &MEMORY_ONLY).unwrap_err().kind(), ErrorKind::WouldBlock);
    table.get(first, &BlockReadOptions::default()).unwrap().unwrap();
    assert!(table.get(first, &MEMORY_ONLY).unwrap().is_some(), "the block is cached now");

    // Only the first pages of the block are in memory, which is not damage.
    file.half_resident.store(true, Ordering::Relaxed);
    assert_eq!(table.get(middle, &MEMORY_ONLY).unwrap_err().kind(), ErrorKind::WouldBlock);
    file.half_resident.store(false, Ordering::Relaxed);

    file.resident.store(true, Ordering::Relaxed);
    assert!(table.get(last, &MEMORY_ONLY).unwrap().is_some());
    file.resident.store(false, Ordering::Relaxed);
    assert!(table.get(last, &MEMORY_ONLY).unwrap().is_some(), "the resident block was put into the cache");
}

#[test]
fn a_block_that_left_the_cache_is_read_and_cached_again() {
    let entries = bytewise_entries(5, 2_000);
    let (bytes, _) = build(&entries, &bytewise(), options());
    let cache = Arc::new(BlockCache::new(16 << 10));
    let table_context = TableReadContext { block_cache: Some(cache), ..context(&bytewise()) };
    let file = TestFile::new(bytes);
    let table = open_file(file.clone(), table_context).unwrap();
    let first = &entries[0].0;
    for round in 0..3 {
        table.get(first, &BlockReadOptions::default()).unwrap().unwrap();
        assert!(table.get(first, &MEMORY_ONLY).unwrap().is_some(), "in round {round}");
        let takes_its_place = (0..50).any(|_| {
            for (target, _) in entries.iter().skip(100).step_by(7) {
                table.get(target, &BlockReadOptions::default()).unwrap().unwrap();
            }
            matches!(table.get(first, &MEMORY_ONLY), Err(error) if error.kind() == ErrorKind::WouldBlock)
        });
        assert!(takes_its_place, "in round {round} no block took the first one's place");
    }
}

#[test]
fn a_key_that_the_filter_excludes_needs_no_disk() {
    let entries = bytewise_entries(5, 100);
    let (bytes, _) = build(&entries, &bytewise(), options());
    let table = open(bytes, context(&bytewise())).unwrap();
    let absent = (0..100).map(|number| key(format!("absent {number}").as_bytes()));
    let answered = absent.filter(|target| matches!(table.get(target, &MEMORY_ONLY), Ok(None))).count();
    assert!(answered > 90, "only {answered} of 100 absent keys were excluded in memory");
}

#[test]
fn a_cursor_that_would_block_is_not_valid_and_a_later_seek_succeeds() {
    let entries = bytewise_entries(6, 60);
    let (bytes, _) = build(&entries, &bytewise(), options());
    let file = TestFile::new(bytes);
    let table = open_file(file.clone(), context(&bytewise())).unwrap();
    // Fills the cache with the first block only.
    table.get(&entries[0].0, &BlockReadOptions::default()).unwrap().unwrap();

    let mut iter = table.iter(MEMORY_ONLY);
    iter.seek_to_first().unwrap();
    let mut seen = 0;
    let error = loop {
        assert_eq!(iter.key(), entries[seen].0);
        seen += 1;
        if let Err(error) = iter.next() {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert!(!iter.valid());
    assert!(seen > 0 && seen < entries.len());

    let mut elsewhere = table.iter(BlockReadOptions::default());
    elsewhere.seek(&entries[seen].0).unwrap();
    iter.seek(&entries[seen].0).unwrap();
    assert_eq!((iter.key(), iter.value()), (&entries[seen].0[..], &entries[seen].1[..]));
    iter.prev().unwrap();
    assert_eq!(iter.key(), entries[seen - 1].0);
    assert_eq!(iter.seek_to_last().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert!(!iter.valid());
}

#[test]
fn an_index_in_the_mapping_that_left_memory_would_block_until_it_is_back() {
    let entries = bytewise_entries(8, 300);
    let settings =
        TableBuilderOptions { compression: Compression::Snappy, hash_index_percent: 0, ..options() };
    let (bytes, _) = build(&entries, &bytewise(), settings);
    let index = Footer::decode(&bytes[bytes.len() - FOOTER_SIZE_BYTES..]).unwrap().index;
    let file = TestFile::new_mapped(bytes, true);
    let table = open_file(file.clone(), context(&bytewise())).unwrap();
    file.resident.store(true, Ordering::Relaxed);
    let target = &entries[7].0;
    for round in 0..2 {
        file.evicted_from.store(index.offset as usize, Ordering::Relaxed);
        assert_eq!(table.get(target, &MEMORY_ONLY).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut iter = table.iter(MEMORY_ONLY);
        assert_eq!(iter.seek(target).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(iter.seek_to_first().unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(iter.seek_to_last().unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(!iter.valid());
        table.get(target, &BlockReadOptions::default()).unwrap().unwrap();

        file.evicted_from.store(usize::MAX, Ordering::Relaxed);
        assert!(table.get(target, &MEMORY_ONLY).unwrap().is_some());
        iter.seek(target).unwrap();
        assert_eq!(iter.key(), target, "in round {round}");
        assert!(table.iter(MEMORY_ONLY).seek(target).is_ok());
    }
}

#[test]
fn index_and_filter_of_a_mapped_table_take_no_memory_of_their_own() {
    let (bytes, _) = build(
        &bytewise_entries(8, 300),
        &bytewise(),
        TableBuilderOptions { compression: Compression::Snappy, ..options() },
    );
    for (maps, place) in [(true, Residency::MappedFile), (false, Residency::OwnMemory)] {
        let table = open_file(TestFile::new_mapped(bytes.clone(), maps), context(&bytewise())).unwrap();
        assert_eq!(table.index.place, place);
        assert_eq!(table.metadata.filter.as_ref().unwrap().place, place);
    }
}
