//! Decompression of a block's contents, by every compression id in both dialects.

use terrace_format::compression::{Compression, Dialect, compress, decompress};
use terrace_format::limits::MAX_DECOMPRESSED_BLOCK_SIZE_BYTES;

/// One more than the largest id that is known.
const ID_COUNT: u8 = 6;

/// The input is stored contents, and then contents that are to be stored.
pub fn run(bytes: &[u8]) {
    for dialect in [Dialect::LevelDb, Dialect::Basho] {
        for id in 0..ID_COUNT {
            if let Ok(contents) = decompress(id, bytes, dialect) {
                assert!(contents.len() <= MAX_DECOMPRESSED_BLOCK_SIZE_BYTES);
            }
        }
    }
    let mut stored = Vec::new();
    for compression in [Compression::None, Compression::Snappy, Compression::Zstd { level: 1 }] {
        let id = compress(&compression, bytes, &mut stored);
        let stored = if id == 0 { bytes } else { &stored };
        assert!(stored.len() <= bytes.len());
        assert_eq!(decompress(id, stored, Dialect::LevelDb).as_deref(), Ok(bytes));
    }
}
