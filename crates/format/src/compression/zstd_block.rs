//! zstd blocks: one frame that states the size of its content, as LevelDB's reader requires.
//!
//! The library's contexts are large, so each thread keeps one of each.

use std::cell::RefCell;
use std::io::Read;

use zstd::bulk::{Compressor, Decompressor};
use zstd::stream::read::Decoder;

use super::check_claimed_size;
use crate::block::may_begin_block;
use crate::error::{FormatError, Result};
use crate::limits::MAX_DECOMPRESSED_BLOCK_SIZE_BYTES;

const STRUCTURE: &str = "zstd block";

/// Up to this stated size, in bytes, the output is allocated at once, which covers every block of usual size. A frame
/// of a few bytes can honestly expand to any size, so larger outputs grow as bytes come out.
const MAX_SIZE_BYTES_ALLOCATED_AT_ONCE: usize = 4 << 20;

/// How many bytes of a large block are examined before the rest is decompressed.
const BEGINNING_SIZE_BYTES: usize = 64 << 10;

/// Most bytes that one byte of a frame can expand to: a block of four bytes repeats one of them 128 Ki times.
const ZSTD_MAX_EXPANSION: usize = 32 << 10;

/// Binary logarithm of the largest window, in bytes, of a frame that does not state its size: all levels up to 19 need
/// no more. A stated size already bounds the window's memory.
const MAX_WINDOW_LOG_WITHOUT_SIZE: u32 = 23;

/// Compresses `input` into `out`; `false` if the library refuses.
pub(super) fn compress_zstd(level: i32, input: &[u8], out: &mut Vec<u8>) -> bool {
    thread_local! {
        static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    }
    out.clear();
    out.reserve(zstd::zstd_safe::compress_bound(input.len()));
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => match Compressor::new(level) {
                Ok(compressor) => slot.insert(compressor),
                Err(_) => return false,
            },
        };
        compressor.set_compression_level(level).is_ok() && compressor.compress_to_buffer(input, out).is_ok()
    })
}

pub(super) fn decompress_zstd(input: &[u8]) -> Result<Vec<u8>> {
    let corrupt = |problem: String| FormatError::corrupt(STRUCTURE, problem, 0);
    let claimed = match zstd::zstd_safe::get_frame_content_size(input) {
        Ok(Some(claimed)) => {
            Some(check_claimed_size(STRUCTURE, claimed, Some((input.len(), ZSTD_MAX_EXPANSION)))?)
        }
        Ok(None) => None,
        Err(_) => return Err(corrupt("the frame header is damaged".into())),
    };
    let out = match claimed {
        Some(size_bytes) if size_bytes <= MAX_SIZE_BYTES_ALLOCATED_AT_ONCE => {
            decompress_at_once(input, size_bytes)
        }
        _ => decompress_in_steps(input, MAX_DECOMPRESSED_BLOCK_SIZE_BYTES),
    };
    let out = out.map_err(|error| corrupt(error.to_string()))?;
    match claimed {
        Some(size_bytes) if size_bytes != out.len() => {
            Err(corrupt(format!("{} bytes, but {size_bytes} are stated", out.len())))
        }
        _ => Ok(out),
    }
}

fn decompress_at_once(input: &[u8], size_bytes: usize) -> std::io::Result<Vec<u8>> {
    thread_local! {
        static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    }
    let mut out = Vec::with_capacity(size_bytes);
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(decompressor) => decompressor,
            None => slot.insert(Decompressor::new()?),
        };
        decompressor.decompress_to_buffer(input, &mut out)
    })?;
    Ok(out)
}

/// Fails when the output exceeds `limit` bytes, or when its beginning shows that it is not a block of entries: a
/// frame of a few KiB can expand to a GiB of zeros.
pub(super) fn decompress_in_steps(input: &[u8], limit: usize) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut decoder = Decoder::with_buffer(input)?;
    if !matches!(zstd::zstd_safe::get_frame_content_size(input), Ok(Some(_))) {
        decoder.window_log_max(MAX_WINDOW_LOG_WITHOUT_SIZE)?;
    }
    let mut rest = decoder.take(limit as u64 + 1);
    rest.by_ref().take(4 * BEGINNING_SIZE_BYTES as u64).read_to_end(&mut out)?;
    if out.len() == 4 * BEGINNING_SIZE_BYTES && !may_begin_block(&out[..BEGINNING_SIZE_BYTES]) {
        return Err(std::io::Error::other("the decompressed bytes are not a block of entries"));
    }
    rest.read_to_end(&mut out)?;
    if out.len() > limit {
        return Err(std::io::Error::other("more bytes decompressed than a block may have"));
    }
    Ok(out)
}
