//! Lookups by the hash index, and cases in which it must not be used.

use std::sync::atomic::Ordering;

use terrace_format::block::{Block, BlockIter};
use terrace_format::compression::Compression;
use terrace_format::hash_index::HASH_INDEX_METAINDEX_KEY;
use terrace_format::internal_key::ValueKind;
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::{BlockHandle, Footer};

use super::support::*;
use crate::error::ErrorKind;
use crate::read_tier::ReadTier;
use crate::table::{BlockReadOptions, Extent, TableBuilderOptions, TableReadContext};

const MEMORY_ONLY: BlockReadOptions = BlockReadOptions {
    verify_checksums: true,
    fill_cache: true,
    tier: ReadTier::MemoryOnly,
    extent: Extent::Unknown,
};

/// Options without a filter, so that only the hash index can tell that a key is not there.
fn without_filter(compression: Compression) -> TableBuilderOptions {
    TableBuilderOptions { compression, filter_bits_per_key: 0, ..options() }
}

fn numbered(count: u64) -> Entries {
    (0..count).map(|n| (key(format!("{n:016}").as_bytes()), format!("value {n:0>90}").into_bytes())).collect()
}

/// Where the hash index is in the file.
fn hash_index_handle(bytes: &[u8]) -> Option<BlockHandle> {
    let footer = Footer::decode(&bytes[bytes.len() - FOOTER_SIZE_BYTES..]).unwrap();
    let BlockHandle { offset, size } = footer.metaindex;
    let metaindex = Block::new(bytes[offset as usize..(offset + size) as usize].to_vec()).unwrap();
    let mut entries = BlockIter::new(&metaindex);
    entries.seek_to_first().unwrap();
    while entries.valid() {
        if entries.key() == HASH_INDEX_METAINDEX_KEY {
            return Some(BlockHandle::decode(entries.value()).unwrap().0);
        }
        entries.next().unwrap();
    }
    None
}

#[test]
fn a_lookup_of_an_absent_key_reads_no_block() {
    for compression in [Compression::None, Compression::Snappy] {
        let (mut bytes, _) = build(&numbered(500), &bytewise(), without_filter(compression));
        // Every data block is damaged, which goes unnoticed while none is read.
        let end = hash_index_handle(&bytes).unwrap().offset as usize;
        bytes[..end].fill(0xaa);
        let table = open_file(TestFile::new_mapped(bytes, true), context(&bytewise())).unwrap();
        let absent = (0..300).map(|n| key(format!("{n:016}.").as_bytes()));
        let answered = absent.filter(|key| matches!(table.get(key, &BlockReadOptions::default()), Ok(None)));
        assert!(answered.count() > 270);
        let present = key(format!("{:016}", 3).as_bytes());
        let error = table.get(&present, &BlockReadOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "and a block that is read is verified");
    }
}

#[test]
fn a_damaged_hash_index_is_ignored() {
    let entries = numbered(300);
    let (bytes, _) = build(&entries, &bytewise(), without_filter(Compression::Snappy));
    let handle = hash_index_handle(&bytes).unwrap();
    for place in (handle.offset..handle.offset + handle.size).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[place as usize] ^= 0x10;
        let table = open_file(TestFile::new_mapped(damaged, true), context(&bytewise())).unwrap();
        for (key, value) in &entries {
            let found = table.get(key, &BlockReadOptions::default()).unwrap().unwrap();
            assert_eq!(found.value.as_ref(), value);
        }
        assert_eq!(table.verify().unwrap_err().kind(), ErrorKind::Corruption);
    }
}

#[test]
fn an_older_read_finds_the_older_version() {
    let mut entries = Entries::new();
    for number in 0..200 {
        for sequence in [90, 50, 10] {
            let user_key = format!("{number:08}");
            let value = format!("{number} at {sequence}").into_bytes();
            entries.push((internal_key(user_key.as_bytes(), sequence, ValueKind::Value), value));
        }
    }
    for compression in [Compression::None, Compression::Snappy] {
        let (bytes, _) = build(&entries, &bytewise(), without_filter(compression));
        let table = open_file(TestFile::new_mapped(bytes, true), context(&bytewise())).unwrap();
        for number in 0..200 {
            for (sequence, version) in
                [(100, Some(90)), (90, Some(90)), (89, Some(50)), (10, Some(10)), (9, None)]
            {
                let target = internal_key(format!("{number:08}").as_bytes(), sequence, ValueKind::Value);
                let found = table.get(&target, &BlockReadOptions::default()).unwrap();
                let expected = version.map(|version| format!("{number} at {version}").into_bytes());
                assert_eq!(found.map(|entry| entry.value.into_vec()), expected, "{number} at {sequence}");
            }
        }
    }
}

#[test]
fn a_table_whose_hash_index_would_be_large_has_none() {
    let entries = numbered(300);
    let percents = [(0, false), (3, false), (50, true)];
    for (hash_index_percent, expected) in percents {
        let options = TableBuilderOptions { hash_index_percent, ..options() };
        let (bytes, _) = build(&entries, &bytewise(), options);
        assert_eq!(hash_index_handle(&bytes).is_some(), expected, "{hash_index_percent} percent");
    }
    let (bytes, _) = build(&idb_entries(1, 100), &idb(), options());
    assert!(hash_index_handle(&bytes).is_none(), "keys in another order than that of their bytes");
}

#[test]
fn in_memory_only_pages_that_are_not_resident_would_block() {
    for compression in [Compression::None, Compression::Snappy] {
        let entries = numbered(300);
        let (bytes, _) = build(&entries, &bytewise(), without_filter(compression));
        let file = TestFile::new_mapped(bytes, true);
        let context = TableReadContext { block_cache: None, ..context(&bytewise()) };
        let table = open_file(file.clone(), context).unwrap();
        // The same holds after the blocks were read: they may have left memory since.
        for _ in 0..2 {
            let error = table.get(&entries[7].0, &MEMORY_ONLY).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            table.get(&entries[7].0, &BlockReadOptions::default()).unwrap().unwrap();
        }
        file.resident.store(true, Ordering::Relaxed);
        assert!(table.get(&entries[7].0, &MEMORY_ONLY).unwrap().is_some());
        assert!(table.get(&key(b"absent"), &MEMORY_ONLY).unwrap().is_none());
    }
}

#[test]
fn a_value_in_a_mapped_file_outlives_the_table() {
    let entries = numbered(50);
    let (bytes, _) = build(&entries, &bytewise(), without_filter(Compression::None));
    let table = open_file(TestFile::new_mapped(bytes, true), context(&bytewise())).unwrap();
    let found = table.get(&entries[20].0, &BlockReadOptions::default()).unwrap().unwrap();
    drop(table);
    assert_eq!(found.value.as_ref(), entries[20].1);
}
