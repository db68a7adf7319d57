//! Long walks leave the block cache alone, and reuse one block's memory for the next.

use std::sync::Arc;

use terrace_format::compression::Compression;

use super::support::*;
use crate::cache::block_cache::BlockCache;
use crate::error::ErrorKind;
use crate::iterator::InternalIterator;
use crate::table::{BlockReadOptions, Table, TableIterator};

/// Entries whose blocks differ in size, some much larger than the others.
fn entries() -> Entries {
    let value = |n: usize| vec![b'a' + (n % 7) as u8; if n.is_multiple_of(97) { 3_000 } else { n % 150 }];
    (0..2_000).map(|n| (key(format!("{n:016}").as_bytes()), value(n))).collect()
}

fn snappy_table(is_mapped: bool) -> (Arc<Table>, Arc<BlockCache>) {
    let (bytes, _) = build(
        &entries(),
        &bytewise(),
        crate::table::TableBuilderOptions { compression: Compression::Snappy, ..options() },
    );
    let context = context(&bytewise());
    let cache = context.block_cache.clone().unwrap();
    (open_file(TestFile::new_mapped(bytes, is_mapped), context).unwrap(), cache)
}

fn assert_walks_forward(iter: &mut TableIterator, entries: &[(Vec<u8>, Vec<u8>)]) {
    for (key, value) in entries {
        assert_eq!((iter.key(), iter.value()), (&key[..], &value[..]));
        iter.next().unwrap();
    }
}

fn assert_walks_backward(iter: &mut TableIterator, entries: &[(Vec<u8>, Vec<u8>)]) {
    for (key, value) in entries.iter().rev() {
        assert_eq!((iter.key(), iter.value()), (&key[..], &value[..]));
        iter.prev().unwrap();
    }
}

#[test]
fn a_long_scan_leaves_the_cache_as_it_is() {
    let entries = entries();
    for is_mapped in [true, false] {
        let (table, cache) = snappy_table(is_mapped);
        let mut iter = table.iter(BlockReadOptions::default());
        iter.seek_to_first().unwrap();
        assert_walks_forward(&mut iter, &entries[..200]);
        let used_bytes = cache.used_bytes();
        assert!(used_bytes > 0, "the first blocks are cached");
        assert_walks_forward(&mut iter, &entries[200..]);
        assert!(!iter.valid());
        assert_eq!(cache.used_bytes(), used_bytes);
        // A seek ends the scan. A block that is sought twice is cached.
        for _ in 0..2 {
            table.iter(BlockReadOptions::default()).seek(&entries[1_000].0).unwrap();
        }
        assert!(cache.used_bytes() > used_bytes);
    }
}

#[test]
fn turns_during_a_scan_show_the_same_entries() {
    let entries = entries();
    for fill_cache in [true, false] {
        let (table, _) = snappy_table(true);
        let mut iter = table.iter(BlockReadOptions { fill_cache, ..BlockReadOptions::default() });
        iter.seek_to_first().unwrap();
        assert_walks_forward(&mut iter, &entries[..1_500]);
        assert_walks_backward(&mut iter, &entries[700..=1_500]);
        assert_walks_forward(&mut iter, &entries[699..]);
        assert!(!iter.valid());
        iter.seek_to_last().unwrap();
        assert_walks_backward(&mut iter, &entries[3..]);
        assert_walks_forward(&mut iter, &entries[2..900]);
        // A block that is cached meanwhile, here by another reader, is not overwritten.
        let mut other = table.iter(BlockReadOptions::default());
        for entry in &entries[850..1_100] {
            other.seek(&entry.0).unwrap();
        }
        assert_walks_forward(&mut iter, &entries[900..]);
        other.seek(&entries[850].0).unwrap();
        assert_walks_forward(&mut other, &entries[850..1_100]);
    }
}

#[test]
fn a_damaged_block_within_a_scan_is_an_error_and_the_scan_can_start_again() {
    let entries = entries();
    let (mut bytes, _) = build(
        &entries,
        &bytewise(),
        crate::table::TableBuilderOptions { compression: Compression::Snappy, ..options() },
    );
    let middle = bytes.len() / 3;
    bytes[middle..middle + 8].fill(0xff);
    for verify_checksums in [true, false] {
        let table = open_file(TestFile::new_mapped(bytes.clone(), true), context(&bytewise())).unwrap();
        let mut iter = table.iter(BlockReadOptions { verify_checksums, ..BlockReadOptions::default() });
        for _ in 0..2 {
            iter.seek_to_first().unwrap();
            let error = std::iter::from_fn(|| iter.valid().then(|| iter.next()))
                .find_map(Result::err)
                .expect("the damage is met");
            assert_eq!(error.kind(), ErrorKind::Corruption);
            assert!(!iter.valid());
        }
        iter.seek_to_last().unwrap();
        assert_walks_backward(&mut iter, &entries[1_500..]);
    }
}
