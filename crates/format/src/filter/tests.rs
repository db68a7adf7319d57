use proptest::prelude::*;

use super::*;

fn hashes(keys: &[&[u8]]) -> Vec<u32> {
    keys.iter().map(|key| bloom_hash(key)).collect()
}

fn keys(count: u32) -> Vec<[u8; 4]> {
    (0..count).map(u32::to_le_bytes).collect()
}

#[test]
fn the_hash_is_that_of_leveldb() {
    // The vectors in LevelDB's util/hash_test.cc.
    assert_eq!(bloom_hash(b""), 0xbc9f_1d34);
    assert_eq!(bloom_hash(&[0x62]), 0xef13_45c4);
    assert_eq!(bloom_hash(&[0xc3, 0x97]), 0x5b66_3814);
    assert_eq!(bloom_hash(&[0xe2, 0x99, 0xa5]), 0x323c_078f);
    assert_eq!(bloom_hash(&[0xe1, 0x80, 0xb9, 0x32]), 0xed21_633a);
    let mut header = [0; 48];
    for (position, byte) in
        [(0, 0x01), (1, 0xc0), (16, 0x14), (22, 0x04), (27, 0x14), (31, 0x18), (32, 0x28), (40, 0x02)]
    {
        header[position] = byte;
    }
    assert_eq!(hash(&header, 0x1234_5678), 0xf333_dabb);
}

#[test]
fn a_small_filter_has_the_bits_that_leveldb_sets() {
    // The filter that LevelDB makes of these two keys at 10 bits a key.
    let filter = BloomFilter::new(10).create(&hashes(&[b"hello", b"world"]));
    assert_eq!(filter, [0x11, 0x40, 0x00, 0x41, 0x44, 0x10, 0x40, 0x10, 0x06]);
    for (key, is_in) in [(&b"hello"[..], true), (b"world", true), (b"x", false), (b"foo", false)] {
        assert_eq!(bloom_may_contain(&filter, bloom_hash(key)), is_in);
    }
}

#[test]
fn the_number_of_probes_is_that_of_leveldb() {
    for (bits_per_key, probes) in [(0, 1), (1, 1), (2, 1), (3, 2), (10, 6), (43, 29), (44, 30), (1000, 30)] {
        let filter = BloomFilter::new(bits_per_key).create(&[1]);
        assert_eq!(filter.last(), Some(&probes), "{bits_per_key} bits a key");
    }
}

#[test]
fn a_filter_has_at_least_64_bits_and_whole_bytes() {
    for (count, size_bytes) in [(0, 8), (6, 8), (7, 9), (8, 10), (1000, 1250)] {
        let all: Vec<u32> = (0..count).collect();
        assert_eq!(BloomFilter::new(10).create(&all).len(), size_bytes + 1, "{count} keys");
    }
}

#[test]
fn ten_bits_a_key_answer_wrongly_for_about_one_key_in_a_hundred() {
    let inside: Vec<u32> = keys(10_000).iter().map(|key| bloom_hash(key)).collect();
    let filter = BloomFilter::new(10).create(&inside);
    assert!(inside.iter().all(|&hash| bloom_may_contain(&filter, hash)));
    let outside = (1_000_000_000u32..1_000_010_000).map(|n| bloom_hash(&n.to_le_bytes()));
    let wrong = outside.filter(|&hash| bloom_may_contain(&filter, hash)).count();
    assert!((20..200).contains(&wrong), "{wrong} of 10000");
}

#[test]
fn what_is_no_bloom_filter_denies_nothing() {
    let hash = bloom_hash(b"key");
    assert!(!bloom_may_contain(&[], hash), "an empty filter is whole and covers no key");
    assert!(bloom_may_contain(&[6], hash), "no bits");
    assert!(bloom_may_contain(&[0, 0, 0, 0, 0, 0, 0, 0, 31], hash), "reserved number of probes");
    assert!(bloom_may_contain(&[0, 0, 0, 0, 0, 0, 0, 0, 0xff], hash), "reserved number of probes");
    assert!(bloom_may_contain(&[0, 0, 0, 0, 0, 0, 0, 0, 0], hash), "no probes");
    assert!(!bloom_may_contain(&[0, 0, 0, 0, 0, 0, 0, 0, 30], hash));
}

#[test]
fn a_block_without_keys_is_only_a_tail() {
    assert_eq!(FilterBlockBuilder::new(10, FilterLayout::PerTwoKiB).finish(), [0, 0, 0, 0, 11]);
    assert_eq!(FilterBlockBuilder::new(10, FilterLayout::WholeFile).finish(), [0, 0, 0, 0, 40]);
    for base_lg in [11, 40] {
        let reader = FilterBlockReader::new(vec![0, 0, 0, 0, base_lg]).unwrap();
        assert!(reader.may_contain(0, b"foo"));
        assert!(reader.may_contain(100_000, b"foo"));
    }
}

#[test]
fn blocks_in_the_same_two_kib_share_a_filter() {
    let mut builder = FilterBlockBuilder::new(10, FilterLayout::PerTwoKiB);
    builder.start_block(100);
    builder.add_key(b"foo");
    builder.add_key(b"bar");
    builder.start_block(200);
    builder.add_key(b"box");
    builder.start_block(300);
    builder.add_key(b"hello");
    let reader = FilterBlockReader::new(builder.finish()).unwrap();
    for key in [&b"foo"[..], b"bar", b"box", b"hello"] {
        assert!(reader.may_contain(100, key));
    }
    for key in [&b"missing"[..], b"other"] {
        assert!(!reader.may_contain(100, key));
    }
    assert!(reader.may_contain(2048, b"missing"), "nothing is known of what lies beyond");
}

fn several_filters(layout: FilterLayout) -> FilterBlockReader {
    let mut builder = FilterBlockBuilder::new(10, layout);
    for (offset, keys) in
        [(0, &[&b"foo"[..]][..]), (2000, &[b"bar"]), (3100, &[b"box"]), (9000, &[b"box", b"hello"])]
    {
        builder.start_block(offset);
        for key in keys {
            builder.add_key(key);
        }
    }
    FilterBlockReader::new(builder.finish()).unwrap()
}

#[test]
fn each_two_kib_of_file_has_a_filter_of_its_own() {
    let reader = several_filters(FilterLayout::PerTwoKiB);
    for (offset, inside) in [
        (0, &[&b"foo"[..], b"bar"][..]),
        (2000, &[b"foo", b"bar"]),
        (3100, &[b"box"]),
        (4100, &[]),
        (9000, &[b"box", b"hello"]),
    ] {
        for key in [&b"foo"[..], b"bar", b"box", b"hello"] {
            assert_eq!(reader.may_contain(offset, key), inside.contains(&key), "{offset} {key:?}");
        }
    }
    assert!(reader.covers_whole_file(2048) && !reader.covers_whole_file(2049));
}

#[test]
fn a_filter_of_the_whole_file_answers_the_same_at_every_offset() {
    let reader = several_filters(FilterLayout::WholeFile);
    for offset in [0, 2000, 9000, (1 << 40) - 1] {
        for key in [&b"foo"[..], b"bar", b"box", b"hello"] {
            assert!(reader.may_contain(offset, key));
        }
        assert!(!reader.may_contain(offset, b"missing"));
    }
    assert!(reader.may_contain(1 << 40, b"missing"), "nothing is known of what lies beyond");
    assert!(reader.covers_whole_file(1 << 40) && !reader.covers_whole_file((1 << 40) + 1));
}

#[test]
fn versions_of_one_key_count_once() {
    let mut once = FilterBlockBuilder::new(10, FilterLayout::WholeFile);
    once.add_key(b"key");
    let mut often = FilterBlockBuilder::new(10, FilterLayout::WholeFile);
    for _ in 0..1000 {
        often.add_key(b"key");
    }
    assert_eq!(often.finish(), once.finish());
}

#[test]
fn any_stored_base_lg_is_read() {
    let filter = BloomFilter::new(10).create(&hashes(&[b"in"]));
    for base_lg in [0, 1, 11, 12, 40, 63] {
        let mut contents = filter.clone();
        contents.extend([0, 0, 0, 0]);
        contents.extend((filter.len() as u32).to_le_bytes());
        contents.push(base_lg);
        let reader = FilterBlockReader::new(contents).unwrap();
        assert_eq!(reader.size_bytes(), filter.len() + 9);
        let last = (1 << base_lg) - 1;
        assert!(reader.may_contain(last, b"in"));
        assert!(!reader.may_contain(last, b"out"));
        assert!(reader.may_contain(last + 1, b"out"));
    }
}

fn refusal(contents: &[u8]) -> (u64, String) {
    let error = FilterBlockReader::new(contents.to_vec()).unwrap_err();
    (error.offset, error.problem)
}

#[test]
fn offsets_that_do_not_fit_are_refused() {
    assert_eq!(refusal(b""), (0, "shorter than five bytes".into()));
    assert_eq!(refusal(&[0, 0, 0, 11]), (0, "shorter than five bytes".into()));
    assert_eq!(refusal(&[1, 0, 0, 0, 11]), (0, "the offset of the filter offsets is wrong".into()));
    assert_eq!(refusal(&[9, 0, 0, 0, 0, 11]), (1, "the offset of the filter offsets is wrong".into()));
    assert_eq!(
        refusal(&[0, 0, 0, 0, 64]),
        (4, "the length of file for each filter is not below 2^64".into())
    );
}

#[test]
fn a_filter_whose_offsets_are_damaged_denies_nothing() {
    let mut builder = FilterBlockBuilder::new(10, FilterLayout::PerTwoKiB);
    builder.add_key(b"in");
    let whole = builder.finish();
    assert!(!FilterBlockReader::new(whole.clone()).unwrap().may_contain(0, b"out"));
    // The only filter starts beyond its end and beyond the block.
    for start in [10, 11, 1000, u32::MAX] {
        let mut contents = whole.clone();
        contents[9..13].copy_from_slice(&start.to_le_bytes());
        assert!(FilterBlockReader::new(contents).unwrap().may_contain(0, b"out"), "start {start}");
    }
}

proptest! {
    #[test]
    fn no_key_is_ever_denied(
        blocks in proptest::collection::vec((0u64..9000, proptest::collection::vec(any::<Vec<u8>>(), 0..20)), 0..12),
        bits_per_key in 0usize..60,
        per_two_kib in any::<bool>(),
    ) {
        let layout = if per_two_kib { FilterLayout::PerTwoKiB } else { FilterLayout::WholeFile };
        let mut builder = FilterBlockBuilder::new(bits_per_key, layout);
        let mut offset = 0;
        let mut placed = Vec::new();
        for (length, keys) in &blocks {
            builder.start_block(offset);
            for key in keys {
                builder.add_key(key);
                placed.push((offset, key));
            }
            offset += length;
        }
        let reader = FilterBlockReader::new(builder.finish()).unwrap();
        for (offset, key) in placed {
            prop_assert!(reader.may_contain(offset, key));
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        mut contents in proptest::collection::vec(any::<u8>(), 0..100),
        array_offset in 0u32..100,
        offset in any::<u64>(),
        key in any::<Vec<u8>>(),
    ) {
        if let Ok(reader) = FilterBlockReader::new(contents.clone()) {
            reader.may_contain(offset, &key);
        }
        contents.extend(array_offset.to_le_bytes());
        contents.push((offset % 64) as u8);
        if let Ok(reader) = FilterBlockReader::new(contents) {
            for offset in [offset, 0, 1, 5000] {
                reader.may_contain(offset, &key);
            }
        }
    }
}
