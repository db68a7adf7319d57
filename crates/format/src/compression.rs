//! Compressing and decompressing the contents of one block.
//!
//! | id | LevelDB and its kin | Basho's fork |
//! |---|---|---|
//! | 0 | none | none |
//! | 1 | snappy | snappy |
//! | 2 | zstd (LevelDB after 1.23) or zlib (Minecraft), told apart by the first bytes | size as fixed32, then an LZ4 block |
//! | 3 | – | none |
//! | 4 | raw deflate (Minecraft) | – |
//!
//! Terrace writes 0, 1 and, on request, 2 as zstd, which LevelDB 1.23 and older refuse to read. In Minecraft's databases it
//! writes 0 and 4.
//!
//! Rules:
//!
//! * A block is compressed only if that saves more than an eighth; otherwise reading it back would cost more than it saves.
//! * Decompressed contents never exceed [`MAX_DECOMPRESSED_BLOCK_SIZE_BYTES`]. If the compressed bytes state a size,
//!   it is checked against that limit and against the most that they can expand to, before anything is allocated.
//!   Otherwise the output grows in steps, as bytes come out.

use std::cell::RefCell;
use std::mem::take;

use bytes::{Bytes, BytesMut};
use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};

use crate::coding::decode_fixed32;
use crate::error::{FormatError, Result};
use crate::limits::MAX_DECOMPRESSED_BLOCK_SIZE_BYTES;

mod partial_snappy;
#[cfg(feature = "zstd")]
mod zstd_block;

pub use partial_snappy::PartialSnappy;
use partial_snappy::{decode_all, stated_size};

/// Compression id of contents stored uncompressed.
pub const NONE_ID: u8 = 0;
/// Compression id of snappy.
pub const SNAPPY_ID: u8 = 1;
/// Compression id of zstd, of zlib, and of LZ4 in Basho's fork.
pub const ZSTD_ID: u8 = 2;
/// Compression id that Basho's fork uses for contents stored uncompressed because its compressor could not make them
/// smaller.
pub const BASHO_NONE_ID: u8 = 3;
/// Compression id of raw deflate, without zlib's header and checksum.
pub const DEFLATE_ID: u8 = 4;

/// The first bytes of a zstd frame (RFC 8878, 3.1.1).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Most bytes that one byte of snappy can expand to, rounded up: a copy takes three bytes and yields up to 64.
const SNAPPY_MAX_EXPANSION: usize = 22;
/// Most bytes that one byte of an LZ4 block can expand to: each further byte of a match length adds up to 255.
const LZ4_MAX_EXPANSION: usize = 255;

/// Initial capacity, in bytes, of an output of unknown size. It doubles as needed.
const FIRST_STEP_BYTES: usize = 64 << 10;

/// How to compress the blocks of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// No compression.
    None,
    /// Snappy: fast, and readable by every LevelDB.
    #[default]
    Snappy,
    /// Zstandard: smaller and slower. LevelDB 1.23 and older cannot read it.
    Zstd {
        /// From fast to small, 1 to 22. 0 is the library's default; negative levels are faster still.
        level: i32,
    },
    /// Raw deflate, which Minecraft Bedrock writes. LevelDB cannot read it.
    Deflate,
}

impl Compression {
    /// Whether these stored contents, with this id, are compressed this way, at whatever level.
    pub fn is_that_of(&self, id: u8, contents: &[u8]) -> bool {
        match self {
            Self::None => false,
            Self::Snappy => id == SNAPPY_ID,
            // Other engines use the id for zlib and LZ4.
            Self::Zstd { .. } => id == ZSTD_ID && contents.starts_with(&ZSTD_MAGIC),
            Self::Deflate => id == DEFLATE_ID,
        }
    }

    /// Checks that this build can write and read it. Call this when options are set: [`compress`] does not fail, but
    /// stores the contents uncompressed.
    ///
    /// # Errors
    ///
    /// `Unsupported` for zstd if the feature `zstd` is off.
    pub fn check_supported(&self) -> Result<()> {
        match self {
            Self::Zstd { .. } if !cfg!(feature = "zstd") => Err(zstd_is_off()),
            _ => Ok(()),
        }
    }
}

/// The meaning of the compression ids in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompressionIds {
    /// LevelDB's, with Minecraft's additions.
    #[default]
    LevelDb,
    /// The numbering of Basho's fork.
    Basho,
}

/// Compresses `input` into `out`, whose former content is dropped, and returns the compression id to store.
///
/// If the id is 0 ([`NONE_ID`]), `out` is empty and the block is to be stored as `input`, uncopied: no compression
/// was requested, or it would not save more than an eighth.
pub fn compress(compression: &Compression, input: &[u8], out: &mut Vec<u8>) -> u8 {
    let id = match compression {
        Compression::None => None,
        Compression::Snappy => compress_snappy(input, out).then_some(SNAPPY_ID),
        Compression::Zstd { level } => compress_zstd(*level, input, out).then_some(ZSTD_ID),
        Compression::Deflate => deflate(input, out).then_some(DEFLATE_ID),
    };
    match id {
        Some(id) if out.len() < input.len() - input.len() / 8 => id,
        _ => {
            out.clear();
            NONE_ID
        }
    }
}

/// Whether only Minecraft Bedrock stores contents like these under this id.
pub fn is_bedrocks(id: u8, contents: &[u8]) -> bool {
    id == DEFLATE_ID || (id == ZSTD_ID && !contents.starts_with(&ZSTD_MAGIC) && starts_as_zlib(contents))
}

/// Decompresses the stored contents of a block.
///
/// # Errors
///
/// `Unsupported` if the id is not one of `ids` or needs a feature that is off; `Corrupt` if the contents are
/// damaged or exceed [`MAX_DECOMPRESSED_BLOCK_SIZE_BYTES`].
pub fn decompress(id: u8, input: &[u8], ids: CompressionIds) -> Result<Vec<u8>> {
    match (id, ids) {
        (NONE_ID, _) | (BASHO_NONE_ID, CompressionIds::Basho) => {
            check_claimed_size("block contents", input.len() as u64, None)?;
            Ok(input.to_vec())
        }
        (SNAPPY_ID, _) => decompress_snappy(input),
        (ZSTD_ID, CompressionIds::Basho) => decompress_lz4(input),
        (ZSTD_ID, CompressionIds::LevelDb) if input.starts_with(&ZSTD_MAGIC) => decompress_zstd(input),
        (ZSTD_ID, CompressionIds::LevelDb) if starts_as_zlib(input) => {
            inflate("zlib block", Decompress::new(true), input, MAX_DECOMPRESSED_BLOCK_SIZE_BYTES)
        }
        (ZSTD_ID, CompressionIds::LevelDb) => Err(FormatError::unsupported(
            "block contents",
            "compression 2 is neither zstd nor zlib; LZ4 of Basho's fork, or damaged",
            0,
        )),
        (DEFLATE_ID, CompressionIds::LevelDb) => {
            inflate("deflate block", Decompress::new(false), input, MAX_DECOMPRESSED_BLOCK_SIZE_BYTES)
        }
        _ => Err(FormatError::unsupported("block contents", format!("unknown compression {id}"), 0)),
    }
}

/// Like [`decompress`], but reuses `memory`, which held another block. For snappy, which nearly every block uses, the
/// output is neither allocated nor cleared where that memory suffices.
///
/// # Errors
///
/// Those of [`decompress`].
pub fn decompress_into(id: u8, input: &[u8], ids: CompressionIds, memory: &mut BytesMut) -> Result<Bytes> {
    if id != SNAPPY_ID {
        return decompress(id, input, ids).map(Bytes::from);
    }
    let (size_bytes, _) = stated_size(input)?;
    let mut out = take(memory);
    out.resize(size_bytes, 0);
    // Decoding fails unless it fills the output, so no bytes of another block are exposed.
    decode_all(input, &mut out)?;
    Ok(out.freeze())
}

/// Checks the size that the compressed bytes state: it must be within the limit, and they must be able to expand to
/// it. `compressed` is their number and the most bytes that each of them can expand to.
fn check_claimed_size(
    structure: &'static str,
    size: u64,
    compressed: Option<(usize, usize)>,
) -> Result<usize> {
    if size > MAX_DECOMPRESSED_BLOCK_SIZE_BYTES as u64 {
        let problem = format!("{size} bytes decompressed, more than {MAX_DECOMPRESSED_BLOCK_SIZE_BYTES}");
        return Err(FormatError::corrupt(structure, problem, 0));
    }
    if let Some((input_size, expansion)) = compressed
        && size > input_size as u64 * expansion as u64
    {
        let problem = format!("{size} bytes decompressed cannot come out of {input_size}");
        return Err(FormatError::corrupt(structure, problem, 0));
    }
    Ok(size as usize)
}

fn compress_snappy(input: &[u8], out: &mut Vec<u8>) -> bool {
    // The encoder holds a table of some KiB that is worth keeping between blocks.
    thread_local! {
        static ENCODER: RefCell<snap::raw::Encoder> = RefCell::new(snap::raw::Encoder::new());
    }
    out.resize(snap::raw::max_compress_len(input.len()), 0);
    match ENCODER.with_borrow_mut(|encoder| encoder.compress(input, out)) {
        Ok(size_bytes) => {
            out.truncate(size_bytes);
            true
        }
        // The encoder refuses only an input of 4 GiB or more.
        Err(_) => false,
    }
}

/// Compresses `input` into `out`; `false` if the result would not be smaller than the input.
fn deflate(input: &[u8], out: &mut Vec<u8>) -> bool {
    // The compressor holds some hundred KiB.
    thread_local! {
        static COMPRESSOR: RefCell<Compress> = RefCell::new(Compress::new(flate2::Compression::default(), false));
    }
    out.clear();
    out.reserve_exact(input.len());
    COMPRESSOR.with_borrow_mut(|stream| {
        stream.reset();
        matches!(stream.compress_vec(input, out, FlushCompress::Finish), Ok(Status::StreamEnd))
    })
}

fn decompress_snappy(input: &[u8]) -> Result<Vec<u8>> {
    let (size_bytes, _) = stated_size(input)?;
    let mut out = vec![0; size_bytes];
    decode_all(input, &mut out)?;
    Ok(out)
}

fn decompress_lz4(input: &[u8]) -> Result<Vec<u8>> {
    const STRUCTURE: &str = "lz4 block";
    let Some((size, rest)) = input.split_first_chunk::<4>() else {
        return Err(FormatError::corrupt(STRUCTURE, "the decompressed size is cut off", 0));
    };
    let claimed = u64::from(decode_fixed32(size));
    let mut out = vec![0; check_claimed_size(STRUCTURE, claimed, Some((rest.len(), LZ4_MAX_EXPANSION)))?];
    match lz4_flex::block::decompress_into(rest, &mut out) {
        Ok(size_bytes) if size_bytes == out.len() => Ok(out),
        Ok(size_bytes) => {
            let problem = format!("{size_bytes} bytes, but {claimed} are stated");
            Err(FormatError::corrupt(STRUCTURE, problem, 4))
        }
        Err(error) => Err(FormatError::corrupt(STRUCTURE, error.to_string(), 4)),
    }
}

/// Whether `input` can begin a zlib stream (RFC 1950, 2.2): the method is deflate, and the first two bytes as a
/// big-endian number are a multiple of 31.
fn starts_as_zlib(input: &[u8]) -> bool {
    matches!(*input, [cmf, flags, ..] if cmf & 0x0f == 8 && u16::from_be_bytes([cmf, flags]).is_multiple_of(31))
}

/// Decompresses a deflate stream, which does not state its size: the output doubles while bytes come out.
fn inflate(structure: &'static str, mut stream: Decompress, input: &[u8], limit: usize) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(FIRST_STEP_BYTES.min(limit));
    loop {
        let consumed = stream.total_in() as usize;
        let produced = out.len();
        let corrupt = |problem: &str| FormatError::corrupt(structure, problem, consumed as u64);
        let status = stream
            .decompress_vec(&input[consumed..], &mut out, FlushDecompress::None)
            .map_err(|error| corrupt(&error.to_string()))?;
        if out.len() > limit {
            return Err(corrupt("more bytes decompressed than a block may have"));
        }
        if status == Status::StreamEnd {
            return Ok(out);
        }
        if out.len() == out.capacity() {
            // One byte beyond the limit, to tell a stream that ends at the limit from one that does not.
            out.reserve_exact(out.len().clamp(1, limit + 1 - out.len()));
        } else if stream.total_in() as usize == consumed && out.len() == produced {
            return Err(corrupt("the stream is cut off"));
        }
    }
}

#[cfg(feature = "zstd")]
use zstd_block::{compress_zstd, decompress_zstd};

/// Without zstd, blocks are stored uncompressed.
#[cfg(not(feature = "zstd"))]
fn compress_zstd(_level: i32, _input: &[u8], _out: &mut Vec<u8>) -> bool {
    false
}

#[cfg(not(feature = "zstd"))]
fn decompress_zstd(_input: &[u8]) -> Result<Vec<u8>> {
    Err(zstd_is_off())
}

fn zstd_is_off() -> FormatError {
    FormatError::unsupported("zstd block", "this build is without zstd (feature \"zstd\")", 0)
}

#[cfg(test)]
mod tests;
