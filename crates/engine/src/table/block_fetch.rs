//! From a block's handle to the block in memory: block cache, else file, checksum, decompression.
//!
//! predecessor: [`reader`](super::reader), [`iterator`](super::iterator), [`verify`](super::verify) · successor:
//! [`BlockCache`], then [`MappedFile`] or `RandomAccessFile`
//!
//! Blocks of a mapped file that are not compressed are used where they are. All others that are read for a user go through
//! the cache.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use terrace_env::RandomAccessFile;
use terrace_format::FormatError;
use terrace_format::block::Block;
use terrace_format::compression::{self, Dialect, NONE_ID, SNAPPY_ID};
use terrace_format::filter::FilterPolicy;
use terrace_format::internal_key::InternalKeyComparator;
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES};
use terrace_format::prefetch::prefetch;
use terrace_format::table::{BlockHandle, check_block, split_block};

use super::granule_bits::GranuleBits;
use super::held_block::HeldBlock;
use super::mapped_file::MappedFile;
use crate::cache::block_cache::BlockCache;
use crate::error::{Error, ErrorKind, Result};
use crate::options::ReadTier;

/// What all tables of a database have in common when they are read.
#[derive(Clone, Debug)]
pub struct TableReadContext {
    /// The order of the keys in the tables.
    pub comparator: InternalKeyComparator,
    /// Where data blocks are kept; none: each is read from the file each time.
    pub block_cache: Option<Arc<BlockCache>>,
    /// Whose meaning the compression ids have.
    pub dialect: Dialect,
    /// Whether filters are believed. Must be off for Basho's files: their filter has LevelDB's name and another hash.
    pub use_filters: bool,
    /// Whose filters are asked where a table has them; Bloom filters are known without.
    pub filter_policy: Option<Arc<dyn FilterPolicy>>,
    /// Whether files are read through a mapping, where the environment has that.
    pub map_files: bool,
}

/// How blocks are read for one get or one iterator.
#[derive(Clone, Copy, Debug)]
pub struct BlockReadOptions {
    /// Verify the checksum of each block read from the file. Default `true`.
    pub verify_checksums: bool,
    /// Put blocks that were read into the block cache; a scan does so with its first few only. Default `true`.
    pub fill_cache: bool,
    /// Whether the call may wait for the disk. Default yes.
    pub tier: ReadTier,
}

impl Default for BlockReadOptions {
    fn default() -> Self {
        Self { verify_checksums: true, fill_cache: true, tier: ReadTier::Disk }
    }
}

/// Whether a block that a cursor comes to, and that is not cached, is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// Not by a scan, which passes by.
    Never,
    /// If it was asked for before, not long ago; in any case if the file is not mapped, where reading it costs a call. For
    /// seeks: see [`BlockCache::note_miss`].
    IfWanted,
    Always,
}

/// Where contents are that an open table keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Residency {
    OwnMemory,
    /// Where the system may have to read them again.
    MappedFile,
}

/// The blocks of one open table file.
#[derive(Debug)]
pub(crate) struct BlockSource {
    file: Arc<dyn RandomAccessFile>,
    pub(crate) path: PathBuf,
    pub(crate) size_bytes: u64,
    /// This table's id in the block cache; without a cache it is not used.
    file_id: u64,
    /// The file in memory, if it is mapped.
    mapped: Option<MappedFile>,
    /// Clear for the blocks that are not cached: the cache, whose memory is cold, need not be asked for them.
    perhaps_cached: GranuleBits,
    pub(crate) context: Arc<TableReadContext>,
}

impl BlockSource {
    pub(crate) fn new(
        file: Arc<dyn RandomAccessFile>,
        path: PathBuf,
        size_bytes: u64,
        context: Arc<TableReadContext>,
    ) -> Self {
        let file_id = context.block_cache.as_ref().map_or(0, |cache| cache.new_file_id());
        let mapped = if context.map_files { MappedFile::new(&*file, size_bytes) } else { None };
        let perhaps_cached = GranuleBits::new(if context.block_cache.is_some() { size_bytes } else { 0 });
        Self { file, path, size_bytes, file_id, mapped, perhaps_cached, context }
    }

    /// The footer's bytes, from the file.
    pub(crate) fn footer_bytes(&self) -> Result<[u8; FOOTER_SIZE_BYTES]> {
        let mut bytes = [0; FOOTER_SIZE_BYTES];
        self.file.read_exact_at(self.size_bytes.saturating_sub(FOOTER_SIZE_BYTES as u64), &mut bytes)?;
        Ok(bytes)
    }

    /// The data block that `handle` points to, from the cache or the file.
    pub(crate) fn data_block(&self, handle: BlockHandle, options: &BlockReadOptions) -> Result<Arc<Block>> {
        match self.cached(handle) {
            Some(block) => Ok(block),
            None => self.load_for_cache(handle, options),
        }
    }

    /// The data block that `handle` points to, for a cursor. It may take `memory` for itself.
    pub(crate) fn block_for_cursor(
        &self,
        handle: BlockHandle,
        options: &BlockReadOptions,
        caching: Caching,
        memory: &mut BytesMut,
    ) -> Result<HeldBlock> {
        // What a scan decompresses is then in the processor's caches; what was cached long ago is in cold memory.
        if caching == Caching::Never
            && options.tier == ReadTier::Disk
            && let Some(stored) = self.mapped_contents(handle, options)?
            && matches!(stored.id(), NONE_ID | SNAPPY_ID)
        {
            return self.mapped_block(handle, stored, memory).map(HeldBlock::Own);
        }
        if let Some(block) = self.cached(handle) {
            return Ok(HeldBlock::Shared(block));
        }
        let Some(stored) = self.mapped_contents(handle, options)? else {
            let block = Arc::new(self.read_block(handle, options)?);
            if caching != Caching::Never {
                self.cache(handle, options, &block);
            }
            return Ok(HeldBlock::Shared(block));
        };
        let is_in_place = stored.id() == NONE_ID;
        let is_to_be_cached = !is_in_place
            && options.fill_cache
            && match caching {
                Caching::Never => false,
                Caching::IfWanted => self.is_wanted(handle),
                Caching::Always => true,
            };
        if !is_to_be_cached {
            return self.mapped_block(handle, stored, memory).map(HeldBlock::Own);
        }
        let block = Arc::new(self.mapped_block(handle, stored, &mut BytesMut::new())?);
        self.cache(handle, options, &block);
        Ok(HeldBlock::Shared(block))
    }

    /// The block that `handle` points to, if it is cached; or, then from the file, if it was asked for so often that it is
    /// to be cached from now on.
    pub(crate) fn block_if_cached_or_wanted(
        &self,
        handle: BlockHandle,
        options: &BlockReadOptions,
    ) -> Result<Option<Arc<Block>>> {
        match self.cached(handle) {
            Some(block) => Ok(Some(block)),
            None if options.fill_cache && self.is_wanted(handle) => {
                self.load_for_cache(handle, options).map(Some)
            }
            None => Ok(None),
        }
    }

    /// The uncompressed contents of a block that is kept for as long as the table is open: where they lie in the mapped file if
    /// they are stored so, else in memory of their own.
    pub(crate) fn kept_contents(&self, handle: BlockHandle) -> Result<(Bytes, Residency)> {
        let options = BlockReadOptions::default();
        match self.mapped_contents(handle, &options)? {
            Some(stored) if stored.id() == NONE_ID => {
                Ok((stored.file.slice(stored.range), Residency::MappedFile))
            }
            _ => Ok((self.read_contents(handle, &options)?.into(), Residency::OwnMemory)),
        }
    }

    /// Whether the [kept contents](Self::kept_contents) of the block can be read without waiting for the disk, or `tier` allows to
    /// wait.
    #[inline]
    pub(crate) fn is_at_hand(&self, handle: BlockHandle, place: Residency, tier: ReadTier) -> bool {
        // The size is that of bytes in memory.
        tier == ReadTier::Disk
            || place == Residency::OwnMemory
            || self.mapped_is_in_memory(handle.offset, handle.size as usize)
    }

    /// Notes that the block was asked for and not cached, and says whether it was so before, not long ago.
    fn is_wanted(&self, handle: BlockHandle) -> bool {
        let cache = self.context.block_cache.as_ref();
        cache.is_some_and(|cache| cache.note_miss(self.file_id, handle.offset))
    }

    fn cached(&self, handle: BlockHandle) -> Option<Arc<Block>> {
        if !self.perhaps_cached.is_set(handle.offset) {
            return None;
        }
        let block = self.context.block_cache.as_ref()?.get(self.file_id, handle.offset);
        if block.is_none() {
            // Another thread may just have put it there: then it is not found, and cached again when it is wanted.
            self.perhaps_cached.clear(handle.offset);
        }
        block
    }

    /// The block from the file. It goes into the cache if `options` say so, unless its bytes are those of the mapping.
    fn load_for_cache(&self, handle: BlockHandle, options: &BlockReadOptions) -> Result<Arc<Block>> {
        let (block, is_in_place) = match self.mapped_contents(handle, options)? {
            Some(stored) => {
                let is_in_place = stored.id() == NONE_ID;
                (self.mapped_block(handle, stored, &mut BytesMut::new())?, is_in_place)
            }
            None => (self.read_block(handle, options)?, false),
        };
        let block = Arc::new(block);
        if !is_in_place {
            self.cache(handle, options, &block);
        }
        Ok(block)
    }

    /// Keeps the block for later reads, if `options` say so.
    fn cache(&self, handle: BlockHandle, options: &BlockReadOptions, block: &Arc<Block>) {
        if let Some(cache) = &self.context.block_cache
            && options.fill_cache
        {
            cache.insert(self.file_id, handle.offset, Arc::clone(block));
            self.perhaps_cached.set(handle.offset);
        }
    }

    /// The block of these contents. It may take `memory` for itself.
    fn mapped_block(
        &self,
        handle: BlockHandle,
        stored: MappedContents<'_>,
        memory: &mut BytesMut,
    ) -> Result<Block> {
        let contents = if stored.id() == NONE_ID {
            stored.file.slice(stored.range)
        } else {
            let dialect = self.context.dialect;
            compression::decompress_into(stored.id(), stored.contents(), dialect, memory)
                .map_err(|error| self.block_error(handle, error))?
        };
        Block::new(contents).map_err(|error| self.block_error(handle, error))
    }

    /// The block that `handle` points to as it is stored in the mapped file, its checksum verified if it was not before;
    /// `None` if the file is not mapped.
    #[inline]
    pub(crate) fn mapped_contents(
        &self,
        handle: BlockHandle,
        options: &BlockReadOptions,
    ) -> Result<Option<MappedContents<'_>>> {
        let Some(mapped) = &self.mapped else {
            return Ok(None);
        };
        let size_bytes = self.check_handle(handle)?;
        if options.tier == ReadTier::MemoryOnly && !self.mapped_is_in_memory(handle.offset, size_bytes) {
            return Err(would_block(&self.path));
        }
        let file = mapped.bytes();
        let start = handle.offset as usize;
        if options.verify_checksums && !mapped.is_intact(handle.offset, size_bytes) {
            check_block(&file[start..start + size_bytes]).map_err(|error| self.block_error(handle, error))?;
            mapped.note_intact(handle.offset, size_bytes);
        }
        Ok(Some(MappedContents { file, range: start..start + handle.size as usize }))
    }

    /// The block that `handle` points to in the mapped file, with its trailer and unverified; `None` if it is not there.
    #[inline]
    pub(crate) fn mapped_stored(&self, handle: BlockHandle) -> Option<&[u8]> {
        let mapped = self.mapped.as_ref()?;
        let size_bytes = self.check_handle(handle).ok()?;
        mapped.bytes()[handle.offset as usize..].get(..size_bytes)
    }

    /// Starts to bring the beginning of a block in the mapped file and its trailer into the processor's cache, while the
    /// block cache is asked for it.
    #[inline]
    pub(crate) fn prefetch_stored(&self, handle: BlockHandle) {
        const BEGINNING_SIZE_BYTES: usize = 128;
        if let Some(stored) = self.mapped_stored(handle) {
            prefetch(&stored[..stored.len().min(BEGINNING_SIZE_BYTES)]);
            prefetch(&stored[stored.len().saturating_sub(BLOCK_TRAILER_SIZE_BYTES)..]);
        }
    }

    /// Starts to bring what is stored before the block of `handle` into the processor's caches, if the file is mapped:
    /// processors foresee a way forward only.
    pub(crate) fn prefetch_before(&self, handle: BlockHandle) {
        const BLOCK_SIZE_BYTES: u64 = 4 << 10;
        let size_bytes = handle.size.min(BLOCK_SIZE_BYTES).min(handle.offset);
        let before = BlockHandle { offset: handle.offset - size_bytes, size: size_bytes };
        if let Some(stored) = self.mapped_stored(before) {
            prefetch(stored);
        }
    }

    /// Whether reading these bytes of the mapped file would not wait for the disk.
    pub(crate) fn mapped_is_in_memory(&self, offset: u64, size_bytes: usize) -> bool {
        self.file.mapped_is_in_memory(offset, size_bytes)
    }

    /// The block that `handle` points to, from the file.
    pub(crate) fn read_block(&self, handle: BlockHandle, options: &BlockReadOptions) -> Result<Block> {
        let contents = self.read_contents(handle, options)?;
        Block::new(contents).map_err(|error| self.block_error(handle, error))
    }

    /// The uncompressed contents of the block that `handle` points to, from the file.
    pub(crate) fn read_contents(&self, handle: BlockHandle, options: &BlockReadOptions) -> Result<Vec<u8>> {
        let stored = self.read_stored(handle, options.tier)?;
        let decoded = if options.verify_checksums { check_block(&stored) } else { split_block(&stored) }
            .and_then(|(id, contents)| match id {
                NONE_ID => Ok(None),
                id => compression::decompress(id, contents, self.context.dialect).map(Some),
            })
            .map_err(|error| self.block_error(handle, error))?;
        Ok(decoded.unwrap_or_else(|| {
            let mut contents = stored;
            contents.truncate(contents.len() - BLOCK_TRAILER_SIZE_BYTES);
            contents
        }))
    }

    /// The block as it is stored: contents and trailer.
    fn read_stored(&self, handle: BlockHandle, tier: ReadTier) -> Result<Vec<u8>> {
        let stored_size_bytes = self.check_handle(handle)?;
        let mut stored = vec![0; stored_size_bytes];
        match tier {
            ReadTier::Disk => {
                let read = self.file.read_at(handle.offset, &mut stored)?;
                if read < stored.len() {
                    let problem = format!("the file ends inside a block of {stored_size_bytes} bytes");
                    return Err(Error::corruption(&self.path, handle.offset, problem));
                }
            }
            // A short answer means that only the first pages are in memory.
            ReadTier::MemoryOnly => match self.file.read_at_without_waiting(handle.offset, &mut stored)? {
                Some(read) if read == stored.len() => {}
                _ => return Err(would_block(&self.path)),
            },
        }
        Ok(stored)
    }

    /// The stored size of the block at `handle` with its trailer, if it lies between the file's start and its footer:
    /// nothing is allocated by the length in a handle before it passed here.
    fn check_handle(&self, handle: BlockHandle) -> Result<usize> {
        let footer_offset = self.size_bytes.saturating_sub(FOOTER_SIZE_BYTES as u64);
        // The error's offset is one in the file already; a handle that leads beyond the blocks is most likely the
        // footer's.
        let range = handle.sealed_range(footer_offset).map_err(|error| {
            let offset = error.offset.min(footer_offset);
            Error::format(&self.path, 0, FormatError { offset, ..error })
        })?;
        usize::try_from(range.end - range.start).map_err(|_| {
            let problem = "a block is larger than this machine can address";
            Error::at_path(ErrorKind::Unsupported, &self.path, problem)
        })
    }

    /// What a decoder said of the block at `handle`. The decoder counts bytes of the uncompressed block, which is not
    /// a place in the file: the error's offset is the block's, and the place in the block goes into the text.
    pub(crate) fn block_error(&self, handle: BlockHandle, error: FormatError) -> Error {
        let problem = format!("{} (byte {} of the block)", error.problem, error.offset);
        Error::format(&self.path, handle.offset, FormatError { problem, offset: 0, ..error })
    }
}

/// A block as it is stored in a mapped file, which has its trailer as well.
pub(crate) struct MappedContents<'a> {
    pub(crate) file: &'a Bytes,
    range: Range<usize>,
}

impl<'a> MappedContents<'a> {
    /// The contents as they are stored.
    #[inline]
    pub(crate) fn contents(&self) -> &'a [u8] {
        &self.file[self.range.clone()]
    }

    /// The compression id. It may lie in another cache line than all that is wanted of the block.
    #[inline]
    pub(crate) fn id(&self) -> u8 {
        self.file[self.range.end]
    }
}

/// The error of a read that would have to wait for the disk.
pub(crate) fn would_block(path: &Path) -> Error {
    Error::at_path(ErrorKind::WouldBlock, path, "the answer is not in memory")
}
