//! Where blocks lie: in as few pages as their size allows, with little unused between them.

use std::sync::Arc;

use terrace_format::compression::Compression;
use terrace_format::filter::FilterPolicy;
use terrace_format::limits::{
    BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES, MAX_BLOCK_PADDING_BYTES, PAGE_SIZE_BYTES,
};
use terrace_format::table::{BlockHandle, Footer};

use super::support::*;
use crate::table::{BlockReadOptions, TableBuilderOptions};

/// A policy that makes no filters.
#[derive(Debug)]
struct NoFilters;

impl FilterPolicy for NoFilters {
    fn name(&self) -> &[u8] {
        b"test.no-filters"
    }

    fn create_filter(&self, _user_keys: &[&[u8]]) -> Option<Vec<u8>> {
        None
    }

    fn may_contain(&self, _user_key: &[u8], _filter: &[u8]) -> bool {
        true
    }
}

/// Entries with values of 100 bytes that do not compress.
fn noise_entries(count: usize) -> Entries {
    let random = &mut Random::new(7);
    let noise = |random: &mut Random| (0..100).map(|_| random.below(256) as u8).collect();
    (0..count).map(|number| (key(format!("{number:016}").as_bytes()), noise(random))).collect()
}

/// The handles of the data blocks, in their order.
fn data_blocks(bytes: &[u8]) -> Vec<BlockHandle> {
    let footer = Footer::decode(&bytes[bytes.len() - FOOTER_SIZE_BYTES..]).unwrap();
    let separators = entries_of(&block_at(bytes, footer.index));
    separators.iter().map(|(_, value)| BlockHandle::decode(value).unwrap().0).collect()
}

fn end_of(handle: &BlockHandle) -> u64 {
    handle.offset + handle.size + BLOCK_TRAILER_SIZE_BYTES as u64
}

/// The number of unused bytes before each block but the first. Asserts that they are zeros, and few.
fn paddings(bytes: &[u8], blocks: &[BlockHandle]) -> Vec<u64> {
    let padding = |pair: &[BlockHandle]| {
        let (end, next) = (end_of(&pair[0]), pair[1].offset);
        assert!(bytes[end as usize..next as usize].iter().all(|&byte| byte == 0));
        next - end
    };
    let paddings: Vec<u64> = blocks.windows(2).map(padding).collect();
    assert!(paddings.iter().all(|&padding| padding <= MAX_BLOCK_PADDING_BYTES as u64));
    paddings
}

#[test]
fn blocks_that_do_not_compress_lie_in_as_few_pages_as_their_size_allows() {
    let entries = noise_entries(2_000);
    for compression in [Compression::None, Compression::Snappy] {
        for pages in [1, 4] {
            let block_size_bytes = pages * PAGE_SIZE_BYTES;
            let options = TableBuilderOptions { block_size_bytes, compression, ..options() };
            let (bytes, _) = build(&entries, &bytewise(), options);
            let blocks = data_blocks(&bytes);
            let page = PAGE_SIZE_BYTES as u64;
            let spans = |handle: &BlockHandle| end_of(handle).div_ceil(page) - handle.offset / page;
            let crossing: Vec<_> = blocks.iter().filter(|handle| spans(handle) > pages as u64).collect();
            // That nothing compresses shows only after a block, and the second one begins a little after a page does.
            let most = if compression == Compression::None { 0 } else { 2 };
            assert!(crossing.len() <= most, "{crossing:?}");
            let unused: u64 = paddings(&bytes, &blocks).iter().sum();
            assert!(unused > 0 && unused < bytes.len() as u64 / 40, "{unused} of {}", bytes.len());
            let table = open(bytes, context(&bytewise())).unwrap();
            table.verify().unwrap();
            for (key, value) in &entries {
                let found = table.get(key, &BlockReadOptions::default()).unwrap().unwrap();
                assert_eq!(found.value.as_ref(), &value[..]);
            }
        }
    }
}

#[test]
fn a_table_is_sound_wherever_its_hash_index_begins_within_a_page() {
    let options = TableBuilderOptions { block_size_bytes: PAGE_SIZE_BYTES, ..options() };
    for count in 1_000..1_100 {
        let (bytes, _) = build(&noise_entries(count), &bytewise(), options.clone());
        open(bytes, context(&bytewise())).unwrap().verify().unwrap();
    }
}

#[test]
fn blocks_lie_back_to_back_where_a_page_would_lose_much_and_where_filters_go_by_their_place() {
    let noise = noise_entries(1_000);
    let compressible: Entries = noise.iter().map(|(key, _)| (key.clone(), vec![b'x'; 100])).collect();
    let large: Entries = noise.iter().map(|(key, value)| (key.clone(), value.repeat(9))).collect();
    let options = TableBuilderOptions { block_size_bytes: PAGE_SIZE_BYTES, ..options() };
    let snappy = TableBuilderOptions { compression: Compression::Snappy, ..options.clone() };
    let unaligned = TableBuilderOptions { block_size_bytes: 5_000, ..options.clone() };
    let policy: Arc<dyn FilterPolicy> = Arc::new(NoFilters);
    let by_policy = TableBuilderOptions { filter_policy: Some(policy), ..options.clone() };
    for (entries, options, name) in [
        (&noise, unaligned, "a block size that is no number of pages"),
        (&noise, by_policy, "a filter policy"),
        (&compressible, snappy, "compressed"),
    ] {
        let (bytes, _) = build(entries, &bytewise(), options);
        let paddings = paddings(&bytes, &data_blocks(&bytes));
        assert!(paddings.iter().all(|&padding| padding == 0), "{name}: {paddings:?}");
    }
    // Three entries of 900 bytes leave more than may be lost of a page, so a block takes another.
    let (bytes, _) = build(&large, &bytewise(), options);
    assert!(data_blocks(&bytes).iter().rev().skip(1).all(|handle| handle.size >= 3_584));
}
