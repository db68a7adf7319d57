//! Large values, each in a separate block, and blocks that are copied as stored.

use std::path::PathBuf;

use terrace_env::{Env, MemoryEnv};
use terrace_format::block::BlockBuilder;
use terrace_format::compression::{Compression, NONE_ID, SNAPPY_ID};
use terrace_format::table::seal_block;

use super::support::*;
use crate::iterator::{InternalIterator, StoredBlock};
use crate::table::{BlockReadOptions, LARGE_VALUE_BYTES, Table, TableBuilder, TableBuilderOptions};

fn snappy() -> TableBuilderOptions {
    TableBuilderOptions { compression: Compression::Snappy, block_size_bytes: 4 << 10, ..options() }
}

/// Large values between small ones. Some of the large ones compress, some do not.
fn entries() -> Entries {
    let mut random = Random::new(3);
    let mut entry = |number: usize| {
        let size_bytes = match number % 4 {
            0 => LARGE_VALUE_BYTES + random.below(100_000),
            1 => LARGE_VALUE_BYTES - number % 2,
            _ => random.below(300),
        };
        let period = [1, 100, usize::MAX][number / 4 % 3];
        let mut value = Vec::with_capacity(size_bytes);
        for index in 0..size_bytes {
            value.push(if index < period { random.below(256) as u8 } else { value[index - period] });
        }
        (key(format!("{number:04}").as_bytes()), value)
    };
    (0..60).map(&mut entry).collect()
}

fn open_mapped(bytes: Vec<u8>) -> std::sync::Arc<Table> {
    open_file(TestFile::new_mapped(bytes, true), context(&bytewise())).unwrap()
}

/// Copies a table as a compaction does: large values by their blocks. Returns the file and the number of such blocks.
fn pass_on(table: &std::sync::Arc<Table>, options: TableBuilderOptions) -> (Vec<u8>, usize) {
    let (env, path) = (MemoryEnv::new(), PathBuf::from("/copy.ldb"));
    let mut builder = TableBuilder::new(env.create(&path).unwrap(), path.clone(), bytewise(), options);
    let mut passed_on = 0;
    let mut cursor = table.iter(BlockReadOptions { fill_cache: false, ..BlockReadOptions::default() });
    cursor.seek_to_first().unwrap();
    while cursor.valid() {
        match cursor.stored_block() {
            Some(block) => {
                passed_on += 1;
                builder.add_stored(cursor.key(), cursor.value(), block).unwrap();
            }
            None => builder.add(cursor.key(), cursor.value()).unwrap(),
        }
        cursor.next().unwrap();
    }
    builder.finish().unwrap();
    (env.read_file(&path).unwrap(), passed_on)
}

fn assert_has(bytes: Vec<u8>, entries: &Entries) {
    for maps in [false, true] {
        let file = TestFile::new_mapped(bytes.clone(), maps);
        let table = open_file(file, context(&bytewise())).unwrap();
        let mut cursor = table.iter(BlockReadOptions::default());
        cursor.seek_to_first().unwrap();
        for (key, value) in entries {
            assert_eq!((cursor.key(), cursor.value()), (&key[..], &value[..]));
            let mut seeker = table.iter(BlockReadOptions::default());
            seeker.seek(key).unwrap();
            assert_eq!(seeker.value(), value);
            cursor.next().unwrap();
        }
        assert!(!cursor.valid());
    }
}

#[test]
fn a_large_value_is_alone_in_its_block() {
    let entries = entries();
    for options in [snappy(), TableBuilderOptions { compression: Compression::None, ..snappy() }] {
        let (bytes, finished) = build(&entries, &bytewise(), options);
        assert_eq!(finished.counts.entries, entries.len() as u64);
        assert_eq!((&finished.smallest, &finished.largest), (&entries[0].0, &entries[59].0));
        let table = open_mapped(bytes.clone());
        let mut cursor = table.iter(BlockReadOptions::default());
        cursor.seek_to_first().unwrap();
        for (_, value) in &entries {
            assert!(value.len() < LARGE_VALUE_BYTES || cursor.stored_block().is_some());
            cursor.next().unwrap();
        }
        assert_has(bytes, &entries);
    }
}

#[test]
fn a_table_that_is_passed_on_is_the_same_file() {
    let (bytes, _) = build(&entries(), &bytewise(), snappy());
    let (copy, passed_on) = pass_on(&open_mapped(bytes.clone()), snappy());
    assert!(passed_on >= 15, "{passed_on}");
    assert!(copy == bytes);
}

#[test]
fn blocks_change_where_the_compression_does() {
    let entries = entries();
    let none = TableBuilderOptions { compression: Compression::None, ..snappy() };
    let (raw, _) = build(&entries, &bytewise(), none.clone());
    let (compressed, _) = build(&entries, &bytewise(), snappy());
    assert!(compressed.len() < raw.len() / 10 * 9);
    assert!(pass_on(&open_mapped(raw.clone()), snappy()).0 == compressed);
    assert!(pass_on(&open_mapped(compressed), none).0 == raw);
}

/// Another encoder's block stays what it is: it is neither decoded nor compressed again.
#[test]
fn a_compressed_block_is_taken_over_as_it_is() {
    let value = [7; LARGE_VALUE_BYTES];
    let entry = key(b"k");
    let mut builder = BlockBuilder::new(16);
    builder.add(&entry, &value);
    let plain = builder.finish().to_vec();
    // The size, and one literal with its length in two bytes.
    let mut contents =
        vec![plain.len() as u8 | 0x80, (plain.len() >> 7) as u8 | 0x80, (plain.len() >> 14) as u8];
    contents.extend([61 << 2, (plain.len() - 1) as u8, ((plain.len() - 1) >> 8) as u8]);
    contents.extend(&plain);
    let holds = |file: &[u8], contents: &[u8]| file.windows(contents.len()).any(|window| window == contents);
    for (id, is_taken_over) in [(SNAPPY_ID, true), (NONE_ID, false)] {
        let (env, path) = (MemoryEnv::new(), PathBuf::from("/test.ldb"));
        let file = env.create(&path).unwrap();
        let mut builder = TableBuilder::new(file, path.clone(), bytewise(), snappy());
        let trailer = &seal_block(&contents, id);
        builder.add_stored(&entry, &value, StoredBlock { contents: &contents, trailer }).unwrap();
        builder.finish().unwrap();
        let bytes = env.read_file(&path).unwrap();
        assert_eq!(holds(&bytes, &contents), is_taken_over);
        assert_has(bytes, &vec![(entry.clone(), value.to_vec())]);
    }
}

#[test]
fn a_damaged_block_is_not_passed_on() {
    let (mut bytes, _) = build(&entries(), &bytewise(), snappy());
    bytes[1000] ^= 1;
    let mut cursor = open_mapped(bytes).iter(BlockReadOptions::default());
    assert!(cursor.seek_to_first().is_err());
}

#[test]
fn blocks_of_several_entries_are_not_at_hand() {
    let small: Entries = (0..10).map(|n| (key(format!("{n}").as_bytes()), vec![b'v'; 20])).collect();
    let (bytes, _) = build(&small, &bytewise(), snappy());
    let mut cursor = open_mapped(bytes).iter(BlockReadOptions::default());
    cursor.seek_to_first().unwrap();
    while cursor.valid() {
        assert!(cursor.stored_block().is_none());
        cursor.next().unwrap();
    }
}
