//! Filter blocks and the Bloom filters in them.

use terrace_format::filter::{
    FilterBlockBuilder, FilterBlockReader, FilterLayout, bloom_hash, bloom_may_contain,
};

use crate::input::Input;

/// Offsets for which a hostile index could ask.
const OFFSETS: [u64; 8] = [0, 1, 2047, 2048, 1 << 20, 1 << 40, 1 << 63, u64::MAX];

/// The input is a filter block, followed by keys for a block of our own.
pub fn run(bytes: &[u8]) {
    bloom_may_contain(bytes, bloom_hash(bytes));
    if let Ok(reader) = FilterBlockReader::new(bytes.to_vec()) {
        for offset in OFFSETS {
            let key = &bytes[..bytes.len().min(8)];
            reader.may_contain(offset, key);
            reader.covers_whole_file(offset);
        }
        assert_eq!(reader.size_bytes(), bytes.len());
    }
    build(bytes);
}

/// A filter never denies a key that it was given.
fn build(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let layout = if input.byte() & 1 == 0 { FilterLayout::PerTwoKiB } else { FilterLayout::WholeFile };
    let mut builder = FilterBlockBuilder::new(input.byte().into(), layout);
    let mut offset = 0;
    let mut keys = Vec::new();
    while !input.is_empty() {
        // At most 64 KiB further, so that an input does not grow into a table of gigabytes.
        offset += u64::from(input.u16());
        builder.start_block(offset);
        for _ in 0..input.byte() % 4 {
            let key = input.string();
            builder.add_key(key);
            keys.push((offset, key));
        }
    }
    let reader = FilterBlockReader::new(builder.finish()).expect("what we write can be read");
    for (offset, key) in keys {
        assert!(reader.may_contain(offset, key), "the filter denies {key:x?} at {offset}");
    }
}
