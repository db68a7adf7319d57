//! The hash index of an open table, read and verified when it is first needed.
//!
//! predecessor: [`metaindex`](super::metaindex) finds it; [`hash_lookup`](super::hash_lookup) and [`verify`](super::verify) use it ·
//! successor: [`block_fetch`](super::block_fetch)

use std::sync::OnceLock;

use terrace_format::FormatErrorKind;
use terrace_format::compression::NONE_ID;
use terrace_format::hash_index::HashIndexReader;
use terrace_format::table::{BlockHandle, check_block};

use super::block_fetch::{BlockReadOptions, BlockSource};
use crate::error::Result;
use crate::read_tier::ReadTier;

/// The hash index of an open table.
#[derive(Debug)]
pub(crate) struct HashIndex {
    pub(super) handle: BlockHandle,
    /// Made when it is first needed. An inner `None` means that the index is damaged or not understood.
    pub(super) reader: OnceLock<Option<HashIndexReader>>,
}

impl HashIndex {
    pub(crate) fn new(handle: BlockHandle) -> Self {
        Self { handle, reader: OnceLock::new() }
    }

    /// Where its block is.
    pub(crate) fn handle(&self) -> BlockHandle {
        self.handle
    }

    /// The reader and the bytes that it reads; `None` if there is none, or if `tier` forbids waiting for them.
    #[inline]
    pub(super) fn ready<'a>(
        &self,
        source: &'a BlockSource,
        tier: ReadTier,
    ) -> Option<(HashIndexReader, &'a [u8])> {
        let stored = source.mapped_stored(self.handle)?;
        if tier == ReadTier::MemoryOnly && !source.mapped_is_in_memory(self.handle.offset, stored.len()) {
            return None;
        }
        let reader = (*self.reader.get_or_init(|| self.read(stored)))?;
        Some((reader, &stored[..self.handle.size as usize]))
    }

    /// The index as it is in the file, to be checked. Any damage is an error; an index of another version is ignored.
    pub(crate) fn read_to_verify(&self, source: &BlockSource) -> Result<Option<(HashIndexReader, Vec<u8>)>> {
        let contents = source.read_contents(self.handle, &BlockReadOptions::default())?;
        match HashIndexReader::new(&contents, self.handle.offset) {
            Ok(reader) => Ok(Some((reader, contents))),
            Err(error) if error.kind == FormatErrorKind::Unsupported => Ok(None),
            Err(error) => Err(source.block_error(self.handle, error)),
        }
    }

    #[cold]
    fn read(&self, stored: &[u8]) -> Option<HashIndexReader> {
        match check_block(stored) {
            Ok((NONE_ID, contents)) => HashIndexReader::new(contents, self.handle.offset).ok(),
            _ => None,
        }
    }
}
