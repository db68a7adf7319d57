//! Decodes the examples of `docs/format` on tables, blocks, filters and compression, and writes them again.

use crate::support;
use terrace_format::block::{Block, BlockBuilder, BlockIter};
use terrace_format::comparator::UserComparator;
use terrace_format::compression::{Compression, CompressionIds, SNAPPY_ID, ZSTD_ID, compress, decompress};
use terrace_format::filter::{BloomFilter, FilterBlockBuilder, FilterBlockReader, FilterLayout, bloom_hash};
use terrace_format::filter::{FILTER_NAME, bloom_may_contain};
use terrace_format::internal_key::{InternalKeyComparator, KeyCompare, ValueKind};
use terrace_format::internal_key::{append_internal_key, parse_internal_key};
use terrace_format::limits::{FOOTER_SIZE_BYTES, MAX_DECOMPRESSED_BLOCK_SIZE_BYTES};
use terrace_format::table::{BlockHandle, COUNTS_METAINDEX_KEY, Footer, TableCounts};
use terrace_format::table::{check_block, filter_metaindex_key, seal_block};

const FILES: &[&str] = &["table.md", "block.md", "filter.md", "compression.md"];

const CHECKS: &[support::Check] = &[
    ("block-trailer", block_trailer),
    ("block-handle", block_handle),
    ("footer", footer),
    ("table-counts", table_counts),
    ("whole-table", whole_table_is_read),
    ("block", block),
    ("block-long-value", block_long_value),
    ("empty-block", empty_block),
    ("empty-block-without-restart", empty_block_without_restart),
    ("damaged-block", damaged_block),
    ("bloom-filter", bloom_filter),
    ("filter-block-whole-file", filter_block_whole_file),
    ("filter-block-per-two-kib", filter_block_per_two_kib),
    ("filter-block-empty", filter_block_empty),
    ("snappy", snappy),
    ("zstd", zstd),
    ("zlib", |bytes| is_text(2, bytes, CompressionIds::LevelDb)),
    ("lz4-of-basho", |bytes| is_text(2, bytes, CompressionIds::Basho)),
    ("raw-deflate", |bytes| is_text(4, bytes, CompressionIds::LevelDb)),
];

#[test]
fn the_examples_are_what_the_text_says() {
    support::check_examples(FILES, CHECKS);
}

#[test]
fn the_numbers_in_the_text_are_those_of_the_code() {
    let text = std::fs::read_to_string(support::docs_directory().join("compression.md")).unwrap();
    assert_eq!(MAX_DECOMPRESSED_BLOCK_SIZE_BYTES, 1_141_899_264);
    assert!(text.contains("1,141,899,264 bytes"));
    let text = std::fs::read_to_string(support::docs_directory().join("filter.md")).unwrap();
    assert!(text.contains(FILTER_NAME));
    let hashed: [(&str, &[u8]); 6] = [
        ("(empty)", b""),
        ("`62`", b"\x62"),
        ("`c3 97`", b"\xc3\x97"),
        ("`e2 99 a5`", b"\xe2\x99\xa5"),
        ("`e1 80 b9 32`", b"\xe1\x80\xb9\x32"),
        ("`hello`", b"hello"),
    ];
    for (name, key) in hashed {
        let row = format!("| {name} | {:08x} |", bloom_hash(key));
        assert!(text.contains(&row), "{row}");
    }
}

fn block_trailer(bytes: &[u8]) {
    assert_eq!(check_block(bytes), Ok((0, &b"hello"[..])));
    assert_eq!(seal_block(b"hello", 0), bytes[5..]);
}

fn block_handle(bytes: &[u8]) {
    let handle = BlockHandle { offset: 300, size: 5 };
    assert_eq!(BlockHandle::decode(bytes), Ok((handle, &b""[..])));
    assert_eq!(handle.sealed_range(310), Ok(300..310));
    let mut encoded = Vec::new();
    handle.encode_to(&mut encoded);
    assert_eq!(encoded, bytes);
}

fn footer(bytes: &[u8]) {
    let footer = Footer {
        metaindex: BlockHandle { offset: 71, size: 69 },
        index: BlockHandle { offset: 145, size: 22 },
    };
    assert_eq!(Footer::decode(bytes), Ok(footer));
    assert_eq!(footer.encode(), bytes);
}

fn table_counts(bytes: &[u8]) {
    let counts = TableCounts {
        entries: 300,
        deletions: 2,
        raw_key_bytes: 5_936,
        raw_value_bytes: 65_536,
        newest_sequence: Some(1_000),
    };
    assert_eq!(TableCounts::decode(bytes), Ok(counts));
    assert_eq!(counts.encode(), bytes);
}

/// The block at `handle` of a table, checked and decompressed.
fn read_block(table: &[u8], handle: BlockHandle) -> Vec<u8> {
    let limit = (table.len() - FOOTER_SIZE_BYTES) as u64;
    let range = handle.sealed_range(limit).unwrap();
    let (id, contents) = check_block(&table[range.start as usize..range.end as usize]).unwrap();
    decompress(id, contents, CompressionIds::LevelDb).unwrap()
}

/// All entries of a block.
fn entries(contents: Vec<u8>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let block = Block::new(contents).unwrap();
    block.verify().unwrap();
    let mut iter = BlockIter::new(&block);
    let mut entries = Vec::new();
    iter.seek_to_first().unwrap();
    while iter.valid() {
        entries.push((iter.key().to_vec(), iter.value().to_vec()));
        iter.next().unwrap();
    }
    entries
}

fn handle_of(value: &[u8]) -> BlockHandle {
    let (handle, rest) = BlockHandle::decode(value).unwrap();
    assert_eq!(rest, b"");
    handle
}

/// What the whole table says about itself.
const WHOLE_TABLE_COUNTS: TableCounts =
    TableCounts { entries: 2, deletions: 1, raw_key_bytes: 28, raw_value_bytes: 3, newest_sequence: Some(2) };

fn whole_table_is_read(table: &[u8]) {
    let footer = Footer::decode(&table[table.len() - FOOTER_SIZE_BYTES..]).unwrap();

    let metaindex = entries(read_block(table, footer.metaindex));
    assert_eq!(metaindex.len(), 2);
    assert_eq!((&metaindex[0].0[..], &metaindex[1].0[..]), (filter_metaindex_key(), COUNTS_METAINDEX_KEY));
    let filter = FilterBlockReader::new(read_block(table, handle_of(&metaindex[0].1))).unwrap();
    let counts = TableCounts::decode(&metaindex[1].1).unwrap();
    assert_eq!(counts, WHOLE_TABLE_COUNTS);

    let comparator = InternalKeyComparator::new(UserComparator::Bytewise);
    let index = Block::new(read_block(table, footer.index)).unwrap();
    let mut target = Vec::new();
    append_internal_key(&mut target, b"apricot", 7, ValueKind::Value);
    let mut index_iter = BlockIter::new(&index);
    index_iter.seek(&comparator, &target).unwrap();
    let handle = handle_of(index_iter.value());
    assert!(filter.may_contain(handle.offset, b"apple") && filter.may_contain(handle.offset, b"apricot"));
    assert!(!filter.may_contain(handle.offset, b"banana"));

    let data = read_block(table, handle);
    let found: Vec<_> = entries(data.clone());
    let apple = parse_internal_key(&found[0].0).unwrap();
    assert_eq!((apple.user_key, apple.sequence, apple.kind), (&b"apple"[..], 1, ValueKind::Value));
    assert_eq!(found[0].1, b"red");
    let apricot = parse_internal_key(&found[1].0).unwrap();
    assert_eq!((apricot.user_key, apricot.sequence, apricot.kind), (&b"apricot"[..], 2, ValueKind::Deletion));
    assert_eq!(found.len(), 2);
    let mut key = Vec::new();
    Block::new(data).unwrap().find(&comparator, &target, &mut key).unwrap().unwrap();
    assert_eq!(key, found[1].0);

    assert_eq!(whole_table_is_written(), table);
}

/// The same table, built from the parts that a table builder uses.
fn whole_table_is_written() -> Vec<u8> {
    let mut table = Vec::new();
    let mut append = |contents: &[u8]| {
        let handle = BlockHandle { offset: table.len() as u64, size: contents.len() as u64 };
        table.extend_from_slice(contents);
        table.extend_from_slice(&seal_block(contents, 0));
        handle
    };
    let encoded = |handle: BlockHandle| {
        let mut out = Vec::new();
        handle.encode_to(&mut out);
        out
    };

    let mut data = BlockBuilder::new(16);
    let mut filter = FilterBlockBuilder::new(10, FilterLayout::WholeFile);
    filter.start_block(0);
    for (user_key, sequence, kind, value) in
        [(&b"apple"[..], 1, ValueKind::Value, &b"red"[..]), (b"apricot", 2, ValueKind::Deletion, b"")]
    {
        let mut key = Vec::new();
        append_internal_key(&mut key, user_key, sequence, kind);
        data.add(&key, value);
        filter.add_key(user_key);
    }
    let mut index_key = data.last_key().to_vec();
    let comparator = InternalKeyComparator::new(UserComparator::Bytewise);
    comparator.find_short_successor(&mut index_key);
    assert!(comparator.compare_keys(data.last_key(), &index_key).is_le());

    let data_handle = append(data.finish());
    let filter_handle = append(&filter.finish());
    let mut metaindex = BlockBuilder::new(16);
    metaindex.add(filter_metaindex_key(), &encoded(filter_handle));
    metaindex.add(COUNTS_METAINDEX_KEY, &WHOLE_TABLE_COUNTS.encode());
    let metaindex_handle = append(metaindex.finish());
    let mut index = BlockBuilder::new(1);
    index.add(&index_key, &encoded(data_handle));
    let index_handle = append(index.finish());
    table.extend_from_slice(&Footer { metaindex: metaindex_handle, index: index_handle }.encode());
    table
}

fn block(bytes: &[u8]) {
    let expected = [("terrace", "one"), ("terracotta", "two"), ("terrain", "three"), ("tundra", "")];
    let expected = expected.map(|(key, value)| (key.as_bytes().to_vec(), value.as_bytes().to_vec()));
    assert_eq!(entries(bytes.to_vec()), expected);
    let mut builder = BlockBuilder::new(3);
    for (key, value) in &expected {
        builder.add(key, value);
    }
    assert_eq!(builder.finish(), bytes);
    let mut key = Vec::new();
    let block = Block::new(bytes.to_vec()).unwrap();
    let value = block.find(&UserComparator::Bytewise, b"terrain", &mut key).unwrap().unwrap();
    assert_eq!(&bytes[value], b"three");
}

fn block_long_value(bytes: &[u8]) {
    assert_eq!(entries(bytes.to_vec()), [(b"k".to_vec(), vec![b'v'; 200])]);
    let mut builder = BlockBuilder::new(16);
    builder.add(b"k", &[b'v'; 200]);
    assert_eq!(builder.finish(), bytes);
}

fn empty_block(bytes: &[u8]) {
    assert_eq!(entries(bytes.to_vec()), []);
    assert_eq!(BlockBuilder::new(16).finish(), bytes);
}

fn empty_block_without_restart(bytes: &[u8]) {
    assert_eq!(entries(bytes.to_vec()), []);
}

fn damaged_block(bytes: &[u8]) {
    let block = Block::new(bytes.to_vec()).unwrap();
    let mut iter = BlockIter::new(&block);
    iter.seek_to_first().unwrap();
    assert_eq!(iter.key(), b"a");
    assert_eq!(iter.next().unwrap_err().offset, 4);
    assert!(!iter.valid());
    assert_eq!(block.verify().unwrap_err().offset, 4);
}

fn bloom_filter(bytes: &[u8]) {
    let hashes = [bloom_hash(b"hello"), bloom_hash(b"world")];
    assert_eq!(BloomFilter::new(10).create(&hashes), bytes);
    assert!(hashes.iter().all(|&hash| bloom_may_contain(bytes, hash)));
    assert!(!bloom_may_contain(bytes, bloom_hash(b"foo")));
}

fn filter_block_whole_file(bytes: &[u8]) {
    let mut builder = FilterBlockBuilder::new(10, FilterLayout::WholeFile);
    for (offset, key) in [(0, &b"apple"[..]), (4_000, b"apricot")] {
        builder.start_block(offset);
        builder.add_key(key);
    }
    assert_eq!(builder.finish(), bytes);
    let reader = FilterBlockReader::new(bytes.to_vec()).unwrap();
    assert!(reader.may_contain(4_000, b"apple") && !reader.may_contain(4_000, b"banana"));
}

fn filter_block_per_two_kib(bytes: &[u8]) {
    let mut builder = FilterBlockBuilder::new(10, FilterLayout::PerTwoKiB);
    for (offset, keys) in
        [(0, &[&b"foo"[..]][..]), (2_000, &[b"bar"]), (3_100, &[b"box"]), (9_000, &[b"box", b"hello"])]
    {
        builder.start_block(offset);
        keys.iter().for_each(|key| builder.add_key(key));
    }
    assert_eq!(builder.finish(), bytes);
    let reader = FilterBlockReader::new(bytes.to_vec()).unwrap();
    assert!(reader.may_contain(3_100, b"box"));
    assert!(!reader.may_contain(3_100, b"foo"));
    assert!(!reader.may_contain(5_000, b"box"), "filter 2 is empty");
    assert!(reader.may_contain(9_000, b"hello"));
    assert!(reader.may_contain(10_240, b"foo"), "there is no filter 5");
}

fn filter_block_empty(bytes: &[u8]) {
    assert_eq!(FilterBlockBuilder::new(10, FilterLayout::PerTwoKiB).finish(), bytes);
    assert!(FilterBlockReader::new(bytes.to_vec()).unwrap().may_contain(0, b"any"));
}

fn text() -> Vec<u8> {
    b"terrace ".repeat(8)
}

fn is_text(id: u8, bytes: &[u8], dialect: CompressionIds) {
    assert_eq!(decompress(id, bytes, dialect), Ok(text()));
}

fn snappy(bytes: &[u8]) {
    is_text(SNAPPY_ID, bytes, CompressionIds::LevelDb);
    let mut out = Vec::new();
    assert_eq!(compress(&Compression::Snappy, &text(), &mut out), SNAPPY_ID);
    is_text(SNAPPY_ID, &out, CompressionIds::Basho);
}

fn zstd(bytes: &[u8]) {
    if cfg!(feature = "zstd") {
        is_text(ZSTD_ID, bytes, CompressionIds::LevelDb);
    } else {
        assert!(decompress(ZSTD_ID, bytes, CompressionIds::LevelDb).is_err());
    }
}
