//! Damaged and truncated tables: an error or the right answer, never a panic and never a wrong answer.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_format::compression::Compression;
use terrace_format::internal_key::parse_internal_key;
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::Footer;

use super::support::*;
use crate::error::{Error, ErrorKind};
use crate::iterator::InternalIterator;
use crate::table::{BlockReadOptions, Table, TableBuilderOptions};

fn small_table(compression: Compression) -> (Entries, Vec<u8>) {
    let mut entries = bytewise_entries(3, 25);
    entries.iter_mut().for_each(|(_, value)| value.truncate(40));
    let options = TableBuilderOptions { block_size_bytes: 128, compression, ..options() };
    let (bytes, _) = build(&entries, &bytewise(), options);
    (entries, bytes)
}

fn assert_is_report(error: &Error) {
    let kinds = [ErrorKind::Corruption, ErrorKind::Unsupported];
    assert!(kinds.contains(&error.kind()), "{error} is of kind {:?}", error.kind());
    assert_eq!(error.path().unwrap().to_str(), Some("/test.ldb"), "{error} names no path");
}

/// Checks that every answer of `table` is right. Errors are fine.
fn check_answers_are_right(table: &Arc<Table>, entries: &Entries) {
    let options = BlockReadOptions::default();
    for (key, value) in entries {
        match table.get(key, &options) {
            Ok(found) => {
                let found = found.unwrap_or_else(|| panic!("the key {key:?} is gone"));
                assert_eq!(found.kind, parse_internal_key(key).unwrap().kind);
                assert_eq!(found.value.as_ref(), value);
            }
            Err(error) => assert_is_report(&error),
        }
    }
    let mut iter = table.iter(options);
    let mut result = iter.seek_to_first();
    let mut expected = entries.iter();
    while result.is_ok() {
        let next = expected.next();
        assert_eq!(iter.valid(), next.is_some());
        let Some((key, value)) = next else { break };
        assert_eq!((iter.key(), iter.value()), (&key[..], &value[..]));
        result = iter.next();
    }
    if let Err(error) = result {
        assert_is_report(&error);
        assert!(!iter.valid());
    }
}

/// Reads without checksums. Any answer will do, but each walk must end.
fn check_unverified_reads_end(table: &Arc<Table>, entries: &Entries, size_bytes: usize) {
    let options = BlockReadOptions { verify_checksums: false, ..BlockReadOptions::default() };
    for (key, _) in entries {
        let _ = table.get(key, &options);
    }
    let mut iter = table.iter(options);
    let mut steps = 0;
    let mut result = iter.seek_to_first();
    while result.is_ok() && iter.valid() {
        steps += 1;
        assert!(steps <= size_bytes, "a walk does not end");
        result = iter.next();
    }
    let mut result = iter.seek_to_last();
    while result.is_ok() && iter.valid() {
        steps += 1;
        assert!(steps <= 2 * size_bytes, "a walk back does not end");
        result = iter.prev();
    }
}

fn flip_every_bit(compression: Compression) {
    let (entries, bytes) = small_table(compression);
    let footer_offset = bytes.len() - FOOTER_SIZE_BYTES;
    let footer = Footer::decode(&bytes[footer_offset..]).unwrap();
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        // Between the handles and the magic number the footer has bytes that mean nothing.
        let means_something =
            bit / 8 < footer_offset || Footer::decode(&damaged[footer_offset..]).ok() != Some(footer);
        // Every other byte is damaged in a mapped file.
        match open_file(TestFile::new_mapped(damaged, bit / 8 % 2 == 0), context(&bytewise())) {
            Ok(table) => {
                check_answers_are_right(&table, &entries);
                match table.verify() {
                    Err(error) => assert_is_report(&error),
                    Ok(()) => assert!(!means_something, "bit {bit} is damaged, and verify did not see it"),
                }
            }
            Err(error) => assert_is_report(&error),
        }
    }
}

#[test]
fn every_flipped_bit_of_an_uncompressed_table_is_noticed_or_harmless() {
    flip_every_bit(Compression::None);
}

#[test]
fn every_flipped_bit_of_a_compressed_table_is_noticed_or_harmless() {
    flip_every_bit(Compression::Snappy);
}

#[test]
fn without_checksums_damage_still_does_not_panic_or_hang() {
    for compression in [Compression::None, Compression::Snappy] {
        let (entries, bytes) = small_table(compression);
        let random = &mut Random::new(17);
        for _ in 0..3_000 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random.below(8) {
                let at = random.below(bytes.len());
                damaged[at] = [0, 1, 0x7f, 0x80, 0xff, random.below(256) as u8][random.below(6)];
            }
            // The size of the file does not limit the decompressed size of a block.
            let bound = 64 * damaged.len();
            if let Ok(table) = open(damaged, context(&bytewise())) {
                check_unverified_reads_end(&table, &entries, bound);
            }
        }
    }
}

#[test]
fn a_table_truncated_at_any_length_does_not_open() {
    let (_, bytes) = small_table(Compression::Snappy);
    for size_bytes in 0..bytes.len() {
        let truncated = bytes[..size_bytes].to_vec();
        // With the file's own size, as repair would open it.
        let error = open(truncated.clone(), context(&bytewise())).unwrap_err();
        assert_is_report(&error);
        // With the size that the MANIFEST states.
        let file = TestFile::new(truncated);
        let context = Arc::new(context(&bytewise()));
        let stated_size_bytes = bytes.len() as u64;
        let error = Table::open(file, PathBuf::from("/test.ldb"), stated_size_bytes, context).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        let expected = format!("truncated: {size_bytes} bytes of {} are left", bytes.len());
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_open_is_damage_even_without_checksums() {
    let (entries, bytes) = small_table(Compression::None);
    let file = TestFile::new(bytes);
    let table = open_file(file.clone(), context(&bytewise())).unwrap();
    let last = &entries.last().unwrap().0;
    let offset = table.approximate_offset_of(last).unwrap();
    file.end.store(offset as usize + 10, Ordering::Relaxed);
    for verify_checksums in [true, false] {
        let options = BlockReadOptions { verify_checksums, ..BlockReadOptions::default() };
        let error = table.get(last, &options).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Corruption, Some(offset)));
        assert!(error.to_string().contains("the file ends"), "{error}");
    }
    assert!(table.get(&entries[0].0, &BlockReadOptions::default()).unwrap().is_some());
}

#[test]
fn the_error_says_why_a_file_is_not_a_table() {
    let message = |bytes: Vec<u8>| open(bytes, context(&bytewise())).unwrap_err().to_string();
    assert!(message(Vec::new()).contains("too short"), "{}", message(Vec::new()));
    let text = b"this is a text that somebody put where a table should be".to_vec();
    assert!(message(text.clone()).contains("magic"), "{}", message(text));
}

#[test]
fn the_error_of_a_damaged_block_names_its_offset() {
    let (entries, bytes) = small_table(Compression::None);
    let table = open(bytes.clone(), context(&bytewise())).unwrap();
    let last = &entries.last().unwrap().0;
    let offset = table.approximate_offset_of(last).unwrap();
    assert!(offset > 0);
    let mut damaged = bytes;
    damaged[offset as usize + 3] ^= 0x10;
    let table = open(damaged, context(&bytewise())).unwrap();
    let error = table.get(last, &BlockReadOptions::default()).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Corruption, Some(offset)));
    assert!(error.to_string().contains("/test.ldb") && error.to_string().contains("checksum"), "{error}");
    // The other blocks can still be read, and a later seek recovers the cursor.
    let mut iter = table.iter(BlockReadOptions::default());
    assert!(iter.seek(last).is_err());
    assert!(!iter.valid());
    iter.seek_to_first().unwrap();
    assert_eq!(iter.key(), entries[0].0);
}

#[test]
fn an_unverified_read_takes_a_block_whose_checksum_is_wrong() {
    let (entries, mut bytes) = small_table(Compression::None);
    let table = open(bytes.clone(), context(&bytewise())).unwrap();
    let first = &entries[0].0;
    let mut offsets = entries.iter().map(|(key, _)| table.approximate_offset_of(key).unwrap());
    let second_block = offsets.find(|&offset| offset > 0).unwrap();
    // The last byte of the first block's trailer belongs to its checksum.
    bytes[second_block as usize - 1] ^= 1;
    let table = open(bytes, context(&bytewise())).unwrap();
    let unverified =
        BlockReadOptions { verify_checksums: false, fill_cache: false, ..BlockReadOptions::default() };
    assert!(table.get(first, &unverified).unwrap().is_some());
    assert_eq!(table.get(first, &BlockReadOptions::default()).unwrap_err().kind(), ErrorKind::Corruption);
}

#[test]
fn a_size_beyond_any_file_is_damage_and_allocates_nothing() {
    let (_, bytes) = small_table(Compression::None);
    for size_bytes in [bytes.len() as u64 + 1, 1 << 50, u64::MAX] {
        for maps in [true, false] {
            let file = TestFile::new_mapped(bytes.clone(), maps);
            let opened =
                Table::open(file, PathBuf::from("/test.ldb"), size_bytes, Arc::new(context(&bytewise())));
            assert_eq!(opened.unwrap_err().kind(), ErrorKind::Corruption);
        }
    }
}
