//! Decompression of a block's contents, by every compression id in both dialects.

use terrace_format::compression::{
    Compression, CompressionIds, PartialSnappy, SNAPPY_ID, compress, decompress,
};
use terrace_format::limits::MAX_DECOMPRESSED_BLOCK_SIZE_BYTES;

/// One more than the largest known id.
const ID_COUNT: u8 = 6;

/// The input is stored contents, and also contents to be stored.
pub fn run(bytes: &[u8]) {
    for dialect in [CompressionIds::LevelDb, CompressionIds::Basho] {
        for id in 0..ID_COUNT {
            if let Ok(contents) = decompress(id, bytes, dialect) {
                assert!(contents.len() <= MAX_DECOMPRESSED_BLOCK_SIZE_BYTES);
            }
        }
    }
    partial_snappy(bytes);
    let mut stored = Vec::new();
    for compression in [Compression::None, Compression::Snappy, Compression::Zstd { level: 1 }] {
        let id = compress(&compression, bytes, &mut stored);
        let stored = if id == 0 { bytes } else { &stored };
        assert!(stored.len() <= bytes.len());
        assert_eq!(decompress(id, stored, CompressionIds::LevelDb).as_deref(), Ok(bytes));
    }
}

/// A snappy block decoded step by step equals the block decoded at once, and is refused if that is refused.
fn partial_snappy(bytes: &[u8]) {
    let whole = decompress(SNAPPY_ID, bytes, CompressionIds::LevelDb).ok();
    let mut output = vec![0xee; bytes.len()];
    let step_bytes = 1 + bytes.last().map_or(0, |&last| usize::from(last) * 8);
    let steps = |decoder: &mut PartialSnappy<'_>| {
        while !decoder.is_complete() {
            decoder.decode_to(decoder.decoded().len() + step_bytes)?;
            if let Some(whole) = &whole {
                assert!(whole.starts_with(decoder.decoded()));
            }
        }
        decoder.decode_to(usize::MAX)
    };
    let decoded = PartialSnappy::new(bytes, &mut output).and_then(|mut decoder| {
        steps(&mut decoder)?;
        Ok(decoder.decoded().to_vec())
    });
    assert_eq!(decoded.ok(), whole);
}
