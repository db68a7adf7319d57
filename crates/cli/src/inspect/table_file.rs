//! The file of a table, read block by block without the engine, and the report on its blocks and keys.

use std::sync::Arc;

use terrace_engine::env::RandomAccessFile;
use terrace_format::compression::{self, CompressionIds};
use terrace_format::internal_key::user_key;
use terrace_format::limits::{FOOTER_SIZE_BYTES, INTERNAL_KEY_TAG_SIZE_BYTES};
use terrace_format::table::{BlockHandle, check_block};

/// A block that was read.
pub(super) struct ReadBlock {
    /// The id of its compression.
    pub(super) id: u8,
    /// The uncompressed contents.
    pub(super) contents: Vec<u8>,
}

/// A table file.
pub(super) struct TableFile {
    pub(super) file: Arc<dyn RandomAccessFile>,
    pub(super) size_bytes: u64,
}

impl TableFile {
    /// Offset of the footer, after all blocks.
    pub(super) fn footer_at(&self) -> u64 {
        self.size_bytes.saturating_sub(FOOTER_SIZE_BYTES as u64)
    }

    /// Reads one block. Checks everything that can be checked without its entries.
    ///
    /// # Errors
    ///
    /// A sentence that describes the problem.
    pub(super) fn read(&self, handle: BlockHandle) -> Result<ReadBlock, String> {
        let range = handle.sealed_range(self.footer_at()).map_err(|error| error.to_string())?;
        let mut bytes = vec![0; (range.end - range.start) as usize];
        self.file.read_exact_at(range.start, &mut bytes).map_err(|error| error.to_string())?;
        let (id, stored) = check_block(&bytes).map_err(|error| error.problem)?;
        let contents = compression::decompress(id, stored, CompressionIds::LevelDb)
            .map_err(|error| error.to_string())?;
        Ok(ReadBlock { id, contents })
    }
}

/// The name of a compression.
pub(super) fn compression_name(id: u8, stored_bytes: u64, contents_bytes: u64) -> String {
    let name = match id {
        0 => return "not compressed".to_owned(),
        1 => "snappy",
        2 => "zstd or zlib",
        4 => "deflate",
        _ => "unknown",
    };
    format!("{name}, {stored_bytes} of {contents_bytes} bytes")
}

/// The user key of an internal key, or the whole key if it is too short to be one.
pub(super) fn user_key_or_all(key: &[u8]) -> &[u8] {
    if key.len() >= INTERNAL_KEY_TAG_SIZE_BYTES { user_key(key) } else { key }
}
