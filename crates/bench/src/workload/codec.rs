//! crc32c, snappycomp, snappyuncomp: Terrace's own, whichever engine runs the other workloads.

use std::hint::black_box;

use terrace_format::compression::{Compression, CompressionIds, compress, decompress};
use terrace_format::crc::crc32c;

use crate::Result;
use crate::lane::{Lane, Plan};
use crate::live_keys::LiveKeys;
use crate::workload::Work;

const BLOCK_SIZE_BYTES: usize = 4096;
const CRC_TOTAL_BYTES: u64 = 500 << 20;
const SNAPPY_TOTAL_BYTES: u64 = 1 << 30;

/// Number of blocks that make up `total_bytes`, but at most NUM, so that a small run stays small.
fn blocks(total_bytes: u64, plan: &Plan) -> u64 {
    (total_bytes / BLOCK_SIZE_BYTES as u64).min(plan.num)
}

/// Checksums.
pub(super) struct Crc32c;

impl Work for Crc32c {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        // The check value of CRC-32C, from the catalogue of parametrised CRC algorithms.
        if crc32c(b"123456789") != 0xe306_9283 {
            return Err("crc32c is wrong".into());
        }
        let block = [b'x'; BLOCK_SIZE_BYTES];
        for _ in 0..blocks(CRC_TOTAL_BYTES, lane.plan) {
            black_box(crc32c(black_box(&block)));
            lane.meter.done(BLOCK_SIZE_BYTES);
        }
        Ok(())
    }

    fn check(&self, _lanes: &[Lane<'_>], _live: &mut LiveKeys) -> Result<String> {
        Ok("(4K per op)".to_owned())
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(blocks(CRC_TOTAL_BYTES, plan))
    }
}

/// A stored block, and the id of its compression.
fn compressed(block: &[u8]) -> (u8, Vec<u8>) {
    let mut out = Vec::new();
    let id = compress(&Compression::Snappy, block, &mut out);
    // Text that does not shrink is stored uncompressed.
    if out.is_empty() { (id, block.to_vec()) } else { (id, out) }
}

fn check_round_trip(block: &[u8]) -> Result<()> {
    let (id, stored) = compressed(block);
    let is_right = decompress(id, &stored, CompressionIds::LevelDb)? == block;
    if is_right { Ok(()) } else { Err("a compressed block decompresses to something else".into()) }
}

/// Compresses.
pub(super) struct SnappyCompress;

impl Work for SnappyCompress {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        let block = lane.values.of(0, 0, BLOCK_SIZE_BYTES);
        let mut out = Vec::new();
        for _ in 0..blocks(SNAPPY_TOTAL_BYTES, lane.plan) {
            black_box(compress(&Compression::Snappy, black_box(block), &mut out));
            lane.meter.done(BLOCK_SIZE_BYTES);
        }
        check_round_trip(block)
    }

    fn check(&self, lanes: &[Lane<'_>], _live: &mut LiveKeys) -> Result<String> {
        let stored = compressed(lanes[0].values.of(0, 0, BLOCK_SIZE_BYTES)).1.len();
        Ok(format!("(output: {:.1}%)", 100.0 * stored as f64 / BLOCK_SIZE_BYTES as f64))
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(blocks(SNAPPY_TOTAL_BYTES, plan))
    }
}

/// Decompresses.
pub(super) struct SnappyUncompress;

impl Work for SnappyUncompress {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        let block = lane.values.of(0, 0, BLOCK_SIZE_BYTES);
        let (id, stored) = compressed(block);
        for _ in 0..blocks(SNAPPY_TOTAL_BYTES, lane.plan) {
            black_box(decompress(id, black_box(&stored), CompressionIds::LevelDb)?);
            lane.meter.done(BLOCK_SIZE_BYTES);
        }
        check_round_trip(block)
    }

    fn check(&self, _lanes: &[Lane<'_>], _live: &mut LiveKeys) -> Result<String> {
        Ok(String::new())
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(blocks(SNAPPY_TOTAL_BYTES, plan))
    }
}
