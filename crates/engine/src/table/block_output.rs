//! The file of a table under construction: blocks, each with its trailer, compressed and aligned to pages where that
//! pays.
//!
//! predecessor: [`builder`](super::builder) · successor: env's `WritableFile`

use std::path::PathBuf;

use terrace_env::WritableFile;
use terrace_format::compression::{Compression, NONE_ID, compress};
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, MAX_BLOCK_PADDING_BYTES, PAGE_SIZE_BYTES};
use terrace_format::table::{BlockHandle, seal_block};

use crate::error::Result;

/// The file under construction, block by block.
pub(super) struct BlockOutput {
    file: Box<dyn WritableFile>,
    pub(super) path: PathBuf,
    pub(super) offset: u64,
    /// Whether uncompressed blocks begin with a page where that spares one.
    pub(super) fills_pages: bool,
    /// Buffer for compressed bytes, kept from block to block.
    compressed: Vec<u8>,
}

impl BlockOutput {
    /// Output to `file`, which must be empty; `path` is for messages.
    pub(super) fn new(file: Box<dyn WritableFile>, path: PathBuf, fills_pages: bool) -> Self {
        Self { file, path, offset: 0, fills_pages, compressed: Vec::new() }
    }

    /// Makes the contents of the file durable and closes it. Returns its size, in bytes.
    pub(super) fn finish(mut self) -> Result<u64> {
        self.file.sync()?;
        self.file.close()?;
        Ok(self.offset)
    }

    /// Compresses a block's contents if that pays, and appends them with their trailer. Returns their handle and their
    /// compression id.
    pub(super) fn write_block(
        &mut self,
        contents: &[u8],
        compression: &Compression,
    ) -> Result<(BlockHandle, u8)> {
        let mut compressed = std::mem::take(&mut self.compressed);
        let id = compress(compression, contents, &mut compressed);
        let stored = if id == NONE_ID { contents } else { &compressed };
        let handle = self.write_sealed(&[stored], seal_block(stored, id))?;
        self.compressed = compressed;
        Ok((handle, id))
    }

    /// Appends a block: its contents, which consist of these pieces, and its trailer.
    pub(super) fn write_sealed(
        &mut self,
        pieces: &[&[u8]],
        trailer: [u8; BLOCK_TRAILER_SIZE_BYTES],
    ) -> Result<BlockHandle> {
        if self.fills_pages && trailer[0] == NONE_ID {
            self.pad(pieces.iter().map(|piece| piece.len()).sum::<usize>() + trailer.len())?;
        }
        let offset = self.offset;
        pieces.iter().try_for_each(|piece| self.append(piece))?;
        let size = self.offset - offset;
        self.append(&trailer)?;
        Ok(BlockHandle { offset, size })
    }

    /// Begins a page if a block of `size_bytes` would otherwise lie in one page more than it need, and if little is lost.
    fn pad(&mut self, size_bytes: usize) -> Result<()> {
        let within_page = (self.offset % PAGE_SIZE_BYTES as u64) as usize;
        let padding = PAGE_SIZE_BYTES - within_page;
        let pages_here = (within_page + size_bytes).div_ceil(PAGE_SIZE_BYTES);
        if padding <= MAX_BLOCK_PADDING_BYTES && pages_here > size_bytes.div_ceil(PAGE_SIZE_BYTES) {
            self.append(&[0; MAX_BLOCK_PADDING_BYTES][..padding])?;
        }
        Ok(())
    }

    /// Appends bytes that are not a block.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.append(bytes)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}
