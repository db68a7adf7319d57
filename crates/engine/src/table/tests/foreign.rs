//! Tables as other programs write them, or might write them: assembled by hand, block by block.

use std::sync::Arc;

use terrace_format::block::BlockBuilder;
use terrace_format::compression::{DEFLATE_ID, NONE_ID, ZSTD_ID};
use terrace_format::filter::{FilterBlockBuilder, FilterLayout};
use terrace_format::internal_key::{MAX_SEQUENCE_NUMBER, SEEK_KIND, ValueKind};
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::table::{BlockHandle, Footer, TableCounts, filter_metaindex_key, seal_block};

use super::support::*;
use crate::error::ErrorKind;
use crate::iterator::InternalIterator;
use crate::table::{BlockReadOptions, Table, TableReadContext};

/// A table file under construction. Nothing is checked.
#[derive(Default)]
struct Assembly {
    file: Vec<u8>,
    index: Vec<(Vec<u8>, Vec<u8>)>,
    metaindex: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Assembly {
    fn write(&mut self, contents: &[u8], compression_id: u8) -> BlockHandle {
        let handle = BlockHandle { offset: self.file.len() as u64, size: contents.len() as u64 };
        self.file.extend_from_slice(contents);
        self.file.extend_from_slice(&seal_block(contents, compression_id));
        handle
    }

    fn data_block(&mut self, separator: &[u8], entries: &[(Vec<u8>, Vec<u8>)]) -> BlockHandle {
        self.stored_block(separator, &block(entries, 16), NONE_ID)
    }

    fn stored_block(&mut self, separator: &[u8], contents: &[u8], compression_id: u8) -> BlockHandle {
        let handle = self.write(contents, compression_id);
        self.index.push((separator.to_vec(), encoded(handle)));
        handle
    }

    fn filter(&mut self, filter: FilterBlockBuilder) {
        let handle = self.write(&filter.finish(), NONE_ID);
        self.metaindex.push((filter_metaindex_key().to_vec(), encoded(handle)));
    }

    fn finish(mut self) -> Vec<u8> {
        let metaindex_contents = block(&self.metaindex, 16);
        let metaindex = self.write(&metaindex_contents, NONE_ID);
        let index_contents = block(&self.index, 1);
        let index = self.write(&index_contents, NONE_ID);
        self.file.extend_from_slice(&Footer { metaindex, index }.encode());
        self.file
    }
}

fn encoded(handle: BlockHandle) -> Vec<u8> {
    let mut bytes = Vec::new();
    handle.encode_to(&mut bytes);
    bytes
}

fn block(entries: &[(Vec<u8>, Vec<u8>)], restart_interval: usize) -> Vec<u8> {
    let mut builder = BlockBuilder::new(restart_interval);
    for (key, value) in entries {
        builder.add(key, value);
    }
    builder.finish().to_vec()
}

fn entry(user_key: &[u8]) -> (Vec<u8>, Vec<u8>) {
    (key(user_key), [b"value of ", user_key].concat())
}

fn get(table: &Table, user_key: &[u8]) -> Option<Vec<u8>> {
    let target = internal_key(user_key, MAX_SEQUENCE_NUMBER, SEEK_KIND);
    let found = table.get(&target, &BlockReadOptions::default()).unwrap();
    found.map(|entry| entry.value.into_vec())
}

fn forward(table: &Arc<Table>) -> Vec<Vec<u8>> {
    let mut iter = table.iter(BlockReadOptions::default());
    let mut keys = Vec::new();
    iter.seek_to_first().unwrap();
    while iter.valid() {
        keys.push(iter.key().to_vec());
        iter.next().unwrap();
    }
    keys
}

fn backward(table: &Arc<Table>) -> Vec<Vec<u8>> {
    let mut iter = table.iter(BlockReadOptions::default());
    let mut keys = Vec::new();
    iter.seek_to_last().unwrap();
    while iter.valid() {
        keys.push(iter.key().to_vec());
        iter.prev().unwrap();
    }
    keys.reverse();
    keys
}

#[test]
fn leveldbs_filters_for_each_2_kib_are_used_by_block_offset() {
    let mut assembly = Assembly::default();
    let mut filter = FilterBlockBuilder::new(10, FilterLayout::PerTwoKiB);
    let mut offsets = Vec::new();
    for number in 0..20 {
        let user_key = format!("key {number:02}");
        filter.start_block(assembly.file.len() as u64);
        filter.add_key(user_key.as_bytes());
        offsets.push(assembly.file.len());
        assembly.data_block(&key(user_key.as_bytes()), &[(key(user_key.as_bytes()), vec![b'v'; 900])]);
    }
    assert!(*offsets.last().unwrap() > 8 * 2048);
    assembly.filter(filter);
    let file = TestFile::new(assembly.finish());
    let context = TableReadContext { block_cache: None, ..context(&bytewise()) };
    let table = open_file(file.clone(), context).unwrap();
    table.verify().unwrap();
    for number in 0..20 {
        assert_eq!(get(&table, format!("key {number:02}").as_bytes()).unwrap().len(), 900);
    }
    let reads_before = file.reads();
    for number in 0..19 {
        assert_eq!(get(&table, format!("key {number:02} absent").as_bytes()), None);
    }
    let reads = file.reads() - reads_before;
    assert!(reads < 5, "{reads} blocks were read in vain");
}

#[test]
fn a_filter_of_another_hash_is_not_believed_when_filters_are_off() {
    let mut assembly = Assembly::default();
    assembly.data_block(&key(b"b"), &[entry(b"a"), entry(b"b")]);
    let mut lying = FilterBlockBuilder::new(10, FilterLayout::WholeFile);
    lying.start_block(0);
    lying.add_key(b"something else");
    assembly.filter(lying);
    let bytes = assembly.finish();

    let believing = open(bytes.clone(), context(&bytewise())).unwrap();
    assert_eq!(get(&believing, b"a"), None);
    let error = believing.verify().unwrap_err();
    assert!(error.to_string().contains("the filter denies a key"), "{error}");

    let context = TableReadContext { use_filters: false, ..context(&bytewise()) };
    let table = open(bytes, context).unwrap();
    assert_eq!(get(&table, b"a").unwrap(), b"value of a");
    table.verify().unwrap();
}

#[test]
fn a_damaged_filter_is_ignored_and_reported_by_verify() {
    let mut assembly = Assembly::default();
    assembly.data_block(&key(b"a"), &[entry(b"a")]);
    let handle = assembly.write(b"no filter at all", NONE_ID);
    assembly.metaindex.push((filter_metaindex_key().to_vec(), encoded(handle)));
    let table = open(assembly.finish(), context(&bytewise())).unwrap();
    assert_eq!(get(&table, b"a").unwrap(), b"value of a");
    assert_eq!(table.verify().unwrap_err().kind(), ErrorKind::Corruption);
}

#[test]
fn unknown_metaindex_entries_padding_and_bytes_after_handles_are_ignored() {
    let mut assembly = Assembly::default();
    assembly.file.extend_from_slice(b"padding");
    assembly.data_block(&key(b"b"), &[entry(b"a"), entry(b"b")]);
    assembly.file.extend_from_slice(&[0; 100]);
    assembly.data_block(&key(b"d"), &[entry(b"c"), entry(b"d")]);
    for (_, handle) in &mut assembly.index {
        handle.extend_from_slice(b"more");
    }
    assembly.metaindex.push((b"another program's".to_vec(), vec![0xff; 3]));
    let table = open(assembly.finish(), context(&bytewise())).unwrap();
    for user_key in [b"a", b"b", b"c", b"d"] {
        assert!(get(&table, user_key).is_some());
    }
    assert_eq!(table.counts(), None);
    table.verify().unwrap();
}

#[test]
fn blocks_without_entries_are_skipped_in_both_directions() {
    let mut assembly = Assembly::default();
    assembly.data_block(&key(b"0"), &[]);
    assembly.data_block(&key(b"b"), &[entry(b"a"), entry(b"b")]);
    assembly.data_block(&key(b"c"), &[]);
    assembly.data_block(&key(b"d"), &[]);
    assembly.data_block(&key(b"f"), &[entry(b"e"), entry(b"f")]);
    assembly.data_block(&key(b"z"), &[]);
    let table = open(assembly.finish(), context(&bytewise())).unwrap();
    let keys: Vec<_> = [b"a", b"b", b"e", b"f"].map(|user_key| key(user_key)).into();
    assert_eq!(forward(&table), keys);
    assert_eq!(backward(&table), keys);
    assert_eq!(get(&table, b"c"), None);
    assert_eq!(get(&table, b"e").unwrap(), b"value of e");
    let mut iter = table.iter(BlockReadOptions::default());
    iter.seek(&key(b"c")).unwrap();
    assert_eq!(iter.key(), key(b"e"));
    iter.prev().unwrap();
    assert_eq!(iter.key(), key(b"b"));
    iter.seek(&key(b"g")).unwrap();
    assert!(!iter.valid());
    table.verify().unwrap();
}

#[test]
fn a_lookup_goes_on_to_the_next_block_when_a_separator_cuts_between_versions() {
    let version = |sequence| internal_key(b"k", sequence, ValueKind::Value);
    let mut assembly = Assembly::default();
    // The separator is not the last key of its block, but one between it and the next.
    assembly.data_block(&version(5), &[entry(b"j"), (version(9), b"new".to_vec())]);
    assembly.data_block(&key(b"z"), &[(version(2), b"old".to_vec()), entry(b"l")]);
    let table = open(assembly.finish(), context(&bytewise())).unwrap();
    let value_at = |sequence| {
        let found = table.get(&version(sequence), &BlockReadOptions::default()).unwrap();
        found.map(|entry| entry.value.into_vec())
    };
    assert_eq!(value_at(9), Some(b"new".to_vec()));
    assert_eq!(value_at(7), Some(b"old".to_vec()));
    assert_eq!(value_at(3), Some(b"old".to_vec()));
    assert_eq!(value_at(1), None);
    table.verify().unwrap();
}

#[test]
fn compressions_of_other_programs_are_read_and_unknown_ones_refused() {
    let contents = block(&[entry(b"a")], 16);
    // A deflate stream of one stored block (RFC 1951, 3.2.4), which needs no compressor.
    let length = contents.len() as u16;
    let mut deflated = vec![1];
    deflated.extend_from_slice(&length.to_le_bytes());
    deflated.extend_from_slice(&(!length).to_le_bytes());
    deflated.extend_from_slice(&contents);
    // The zlib form (RFC 1950) adds a header of two bytes, and the Adler-32 checksum of the contents.
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in &contents {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    let zlib = [&[0x78, 0x01], &deflated[..], &(high << 16 | low).to_be_bytes()].concat();

    for (stored, compression_id) in [(&contents, NONE_ID), (&zlib, ZSTD_ID), (&deflated, DEFLATE_ID)] {
        let mut assembly = Assembly::default();
        assembly.stored_block(&key(b"a"), stored, compression_id);
        let table = open(assembly.finish(), context(&bytewise())).unwrap();
        assert_eq!(get(&table, b"a").unwrap(), b"value of a", "compression {compression_id}");
        table.verify().unwrap();
    }

    let mut assembly = Assembly::default();
    assembly.data_block(&key(b"a"), &[entry(b"a")]);
    let offset = assembly.stored_block(&key(b"b"), &contents, 77).offset;
    let table = open(assembly.finish(), context(&bytewise())).unwrap();
    let error = table.get(&key(b"b"), &BlockReadOptions::default()).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Unsupported, Some(offset)));
    assert!(get(&table, b"a").is_some());
}

#[test]
fn keys_that_are_not_internal_keys_are_damage() {
    for bad_key in [&b"short"[..], b"key of a bad kind\x09\0\0\0\0\0\0\0"] {
        let mut assembly = Assembly::default();
        assembly.data_block(&key(b"z"), &[(bad_key.to_vec(), b"value".to_vec())]);
        let table = open(assembly.finish(), context(&bytewise())).unwrap();
        assert_eq!(table.verify().unwrap_err().kind(), ErrorKind::Corruption);
    }
    let mut assembly = Assembly::default();
    assembly.data_block(&key(b"z"), &[(b"short".to_vec(), b"value".to_vec())]);
    let table = open(assembly.finish(), context(&bytewise())).unwrap();
    let mut iter = table.iter(BlockReadOptions::default());
    assert_eq!(iter.seek_to_first().unwrap_err().kind(), ErrorKind::Corruption);
    assert!(!iter.valid());
}

#[test]
fn verify_reports_each_broken_rule() {
    let problem = |assembly: Assembly| {
        let table = open(assembly.finish(), context(&bytewise())).unwrap();
        let error = table.verify().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        error.to_string()
    };

    let mut unsorted = Assembly::default();
    unsorted.data_block(&key(b"c"), &[entry(b"b"), entry(b"a")]);
    assert!(problem(unsorted).contains("do not ascend"));

    let mut twice = Assembly::default();
    twice.data_block(&key(b"a"), &[entry(b"a")]);
    twice.data_block(&key(b"b"), &[entry(b"a")]);
    assert!(problem(twice).contains("do not ascend"));

    let mut low_separator = Assembly::default();
    low_separator.data_block(&key(b"a"), &[entry(b"a"), entry(b"b")]);
    assert!(problem(low_separator).contains("separator"));

    let mut short_separator = Assembly::default();
    short_separator.data_block(b"short", &[entry(b"a")]);
    assert!(problem(short_separator).contains("too short"));

    let mut overlapping = Assembly::default();
    overlapping.data_block(&key(b"a"), &[entry(b"a")]);
    let (_, handle) = overlapping.index[0].clone();
    overlapping.index.push((key(b"b"), handle));
    assert!(problem(overlapping).contains("overlaps"));

    let mut miscounted = Assembly::default();
    miscounted.data_block(&key(b"a"), &[entry(b"a")]);
    let counts = TableCounts { entries: 2, ..TableCounts::default() };
    miscounted.metaindex.push((b"terrace.counts".to_vec(), counts.encode()));
    assert!(problem(miscounted).contains("contains"));

    let mut beyond = Assembly::default();
    beyond.index.push((key(b"a"), encoded(BlockHandle { offset: 10, size: u64::MAX - 12 })));
    assert!(problem(beyond).contains("beyond"));
}

#[test]
fn a_footer_that_leads_to_another_intact_block_is_damage() {
    // One bit of the metaindex's handle flipped: a block of the same size lies there, and its checksum is right.
    let mut assembly = Assembly::default();
    let data = assembly.data_block(&key(b"a"), &[entry(b"a")]);
    let file = assembly.finish();
    let footer_offset = file.len() - FOOTER_SIZE_BYTES;
    let footer = Footer::decode(&file[footer_offset..]).unwrap();
    for metaindex in [data, footer.index] {
        let mut harmed = file[..footer_offset].to_vec();
        harmed.extend_from_slice(&Footer { metaindex, ..footer }.encode());
        let error = open(harmed, context(&bytewise())).unwrap().verify().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert!(error.to_string().contains("overlaps"), "{error}");
    }
}

#[test]
fn a_footer_that_leads_to_a_data_block_in_place_of_the_index_hides_no_entry() {
    let mut assembly = Assembly::default();
    let first = assembly.data_block(&key(b"a"), &[entry(b"a")]);
    assembly.data_block(&key(b"b"), &[entry(b"b")]);
    let file = assembly.finish();
    open(file.clone(), context(&bytewise())).unwrap().check_reaches(&key(b"b")).unwrap();

    let footer_offset = file.len() - FOOTER_SIZE_BYTES;
    let footer = Footer::decode(&file[footer_offset..]).unwrap();
    let mut harmed = file[..footer_offset].to_vec();
    harmed.extend_from_slice(&Footer { index: first, ..footer }.encode());
    let table = open(harmed, context(&bytewise())).unwrap();
    let error = table.check_reaches(&key(b"b")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains("largest"), "{error}");
}
