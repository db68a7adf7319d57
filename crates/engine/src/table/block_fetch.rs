//! Fetches the block for a handle: from the block cache, or else from the file, with checksum and decompression.
//!
//! predecessor: [`reader`](super::reader), [`iterator`](super::iterator), [`verify`](super::verify) · successor:
//! [`BlockCache`], then [`MappedFile`] or `RandomAccessFile`
//!
//! Uncompressed blocks of a mapped file are used where they are. All other blocks that are read for a user go through the
//! cache.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use terrace_env::RandomAccessFile;
use terrace_format::FormatError;
use terrace_format::block::Block;
use terrace_format::compression::{self, CompressionIds, NONE_ID, SNAPPY_ID};
use terrace_format::filter::FilterPolicy;
use terrace_format::internal_key::InternalKeyComparator;
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES};
use terrace_format::prefetch::prefetch;
use terrace_format::table::{BlockHandle, check_block, split_block};

use super::granule_bits::GranuleBits;
use super::held_block::HeldBlock;
use super::mapped_file::MappedFile;
use super::paging::Paging;
use crate::cache::block_cache::BlockCache;
use crate::cache::working_set::WorkingSet;
use crate::error::{Error, ErrorKind, Result};
use crate::read_tier::ReadTier;

/// What all tables of a database have in common when they are read.
#[derive(Clone, Debug)]
pub struct TableReadContext {
    /// The order of the keys in the tables.
    pub comparator: InternalKeyComparator,
    /// The cache of data blocks; with `None`, each block is read from the file each time.
    pub block_cache: Option<Arc<BlockCache>>,
    /// The engine whose meaning the compression ids have.
    pub compression_ids: CompressionIds,
    /// Whether filters are used. Must be off for Basho's files: their filter has LevelDB's name but another hash.
    pub use_filters: bool,
    /// The policy whose filters are used in tables that have them. Bloom filters need no policy.
    pub filter_policy: Option<Arc<dyn FilterPolicy>>,
    /// Whether files are read through a mapping, if the environment can map them.
    pub map_files: bool,
    /// Whether the tables fit into memory.
    pub fit: Arc<WorkingSet>,
}

/// How much of a table a cursor will visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It is not known.
    Unknown,
    /// All of it, or a large part, from front to back and only once.
    Whole,
}

/// How blocks are read for one get or one iterator.
#[derive(Clone, Copy, Debug)]
pub struct BlockReadOptions {
    /// Verify the checksum of each block read from the file. Default `true`.
    pub verify_checksums: bool,
    /// Put blocks that were read into the block cache; a scan does so only with its first few blocks. Default `true`.
    pub fill_cache: bool,
    /// Whether the call may wait for the disk. Default: it may.
    pub tier: ReadTier,
    /// How much of each table a cursor will visit. Default: not known.
    pub extent: Extent,
}

impl Default for BlockReadOptions {
    fn default() -> Self {
        Self { verify_checksums: true, fill_cache: true, tier: ReadTier::Disk, extent: Extent::Unknown }
    }
}

/// Whether to cache a block that a cursor reaches and that is not cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// Do not cache it. For scans, which pass by.
    Never,
    /// Cache it if it was also needed a short time ago (see [`BlockCache::note_miss`]), or if the file is not mapped, so that
    /// reading the block costs a system call. For seeks.
    IfWanted,
    Always,
}

/// Where the contents are that an open table keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Residency {
    OwnMemory,
    /// In the mapped file: the system may have to read them again.
    MappedFile,
}

/// The blocks of one open table file.
#[derive(Debug)]
pub(crate) struct BlockSource {
    file: Arc<dyn RandomAccessFile>,
    pub(crate) path: PathBuf,
    pub(crate) size_bytes: u64,
    /// This table's id in the block cache; unused without a cache.
    file_id: u64,
    /// The file in memory, if it is mapped.
    mapped: Option<MappedFile>,
    /// Clear for blocks that are not cached. The cache, whose memory is cold, is then not searched for them.
    perhaps_cached: GranuleBits,
    /// The file's pages.
    pub(super) paging: Paging,
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
        let paging = Paging::new(Arc::clone(&file), size_bytes, Arc::clone(&context.fit), mapped.is_some());
        Self { file, path, size_bytes, file_id, mapped, perhaps_cached, paging, context }
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
            None => {
                if options.tier == ReadTier::Disk {
                    self.paging.start_reading(handle);
                }
                self.load_for_cache(handle, options)
            }
        }
    }

    /// The data block that `handle` points to, for a cursor. May take `memory` for the block.
    pub(crate) fn block_for_cursor(
        &self,
        handle: BlockHandle,
        options: &BlockReadOptions,
        caching: Caching,
        memory: &mut BytesMut,
    ) -> Result<HeldBlock> {
        // A block that a scan decompresses is in the processor's caches; one that was cached long ago is in cold memory.
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

    /// The block that `handle` points to, if it is cached. Also if it is needed often enough to be cached from now on: then it
    /// comes from the file.
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

    /// The uncompressed contents of a block that is kept while the table is open: in the mapped file if they are stored
    /// uncompressed, otherwise in separate memory.
    pub(crate) fn kept_contents(&self, handle: BlockHandle) -> Result<(Bytes, Residency)> {
        let options = BlockReadOptions::default();
        self.paging.start_reading(handle);
        match self.mapped_contents(handle, &options)? {
            Some(stored) if stored.id() == NONE_ID => {
                Ok((stored.file.slice(stored.range), Residency::MappedFile))
            }
            _ => Ok((self.read_contents(handle, &options)?.into(), Residency::OwnMemory)),
        }
    }

    /// Whether the [kept contents](Self::kept_contents) of the block can be read without waiting for the disk, or `tier` allows
    /// waiting.
    #[inline]
    pub(crate) fn is_at_hand(&self, handle: BlockHandle, place: Residency, tier: ReadTier) -> bool {
        // The size is that of contents in memory.
        tier == ReadTier::Disk
            || place == Residency::OwnMemory
            || self.mapped_is_in_memory(handle.offset, handle.size as usize)
    }

    /// Notes that the block was needed and not cached. Returns whether that also happened a short time ago.
    fn is_wanted(&self, handle: BlockHandle) -> bool {
        let cache = self.context.block_cache.as_ref();
        cache.is_some_and(|cache| cache.note_miss(self.file_id, handle.offset))
    }

    /// Whether the block may be in the cache. `false` is certain.
    pub(super) fn may_be_cached(&self, handle: BlockHandle) -> bool {
        self.perhaps_cached.is_set(handle.offset)
    }

    fn cached(&self, handle: BlockHandle) -> Option<Arc<Block>> {
        if !self.may_be_cached(handle) {
            return None;
        }
        let block = self.context.block_cache.as_ref()?.get(self.file_id, handle.offset);
        if block.is_none() {
            // Another thread may just have cached it. Then it is not found, and is cached again when it is wanted.
            self.perhaps_cached.clear(handle.offset);
        }
        block
    }

    /// The block from the file. It goes into the cache if `options` say so, unless it is used in the mapping.
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

    /// Caches the block if `options` say so.
    fn cache(&self, handle: BlockHandle, options: &BlockReadOptions, block: &Arc<Block>) {
        if let Some(cache) = &self.context.block_cache
            && options.fill_cache
        {
            cache.insert(self.file_id, handle.offset, Arc::clone(block));
            self.perhaps_cached.set(handle.offset);
        }
    }

    /// The block with these contents. May take `memory` for the block.
    fn mapped_block(
        &self,
        handle: BlockHandle,
        stored: MappedContents<'_>,
        memory: &mut BytesMut,
    ) -> Result<Block> {
        let contents = if stored.id() == NONE_ID {
            stored.file.slice(stored.range)
        } else {
            let ids = self.context.compression_ids;
            compression::decompress_into(stored.id(), stored.contents(), ids, memory)
                .map_err(|error| self.block_error(handle, error))?
        };
        Block::new(contents).map_err(|error| self.block_error(handle, error))
    }

    /// The block that `handle` points to, as it is stored in the mapped file. Its checksum is verified unless it was before.
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
            // A caller that may wait will read this block next.
            self.paging.start_reading(handle);
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

    /// The block that `handle` points to in the mapped file, unverified and with its trailer; `None` if it is not there.
    #[inline]
    pub(crate) fn mapped_stored(&self, handle: BlockHandle) -> Option<&[u8]> {
        let mapped = self.mapped.as_ref()?;
        let size_bytes = self.check_handle(handle).ok()?;
        mapped.bytes()[handle.offset as usize..].get(..size_bytes)
    }

    /// Prefetches the beginning and the trailer of a block in the mapped file into the processor's cache, while the block
    /// cache is searched.
    #[inline]
    pub(crate) fn prefetch_stored(&self, handle: BlockHandle) {
        const BEGINNING_SIZE_BYTES: usize = 128;
        if let Some(stored) = self.mapped_stored(handle) {
            prefetch(&stored[..stored.len().min(BEGINNING_SIZE_BYTES)]);
            prefetch(&stored[stored.len().saturating_sub(BLOCK_TRAILER_SIZE_BYTES)..]);
        }
    }

    /// Prefetches what is stored before the block of `handle` into the processor's caches, if the file is mapped.
    /// Processors prefetch automatically only when memory is read forward.
    pub(crate) fn prefetch_before(&self, handle: BlockHandle) {
        const BLOCK_SIZE_BYTES: u64 = 4 << 10;
        let size_bytes = handle.size.min(BLOCK_SIZE_BYTES).min(handle.offset);
        let before = BlockHandle { offset: handle.offset - size_bytes, size: size_bytes };
        if let Some(stored) = self.mapped_stored(before) {
            prefetch(stored);
        }
    }

    /// Whether these bytes of the mapped file can be read without waiting for the disk.
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
                id => compression::decompress(id, contents, self.context.compression_ids).map(Some),
            })
            .map_err(|error| self.block_error(handle, error))?;
        Ok(decoded.unwrap_or_else(|| {
            let mut contents = stored;
            contents.truncate(contents.len() - BLOCK_TRAILER_SIZE_BYTES);
            contents
        }))
    }

    /// The stored bytes of the block: contents and trailer.
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
            // A short read means that only the first pages are in memory.
            ReadTier::MemoryOnly => match self.file.read_at_without_waiting(handle.offset, &mut stored)? {
                Some(read) if read == stored.len() => {}
                _ => return Err(would_block(&self.path)),
            },
        }
        Ok(stored)
    }

    /// The stored size of the block at `handle` with its trailer, if the block lies between the file's start and its footer.
    /// Nothing is allocated from a handle's length before it has passed this check.
    fn check_handle(&self, handle: BlockHandle) -> Result<usize> {
        let footer_offset = self.size_bytes.saturating_sub(FOOTER_SIZE_BYTES as u64);
        // The error's offset is already one in the file: a handle that leads beyond the blocks is most likely the
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

    /// The error of a decoder of the block at `handle`. The decoder counts bytes of the uncompressed block, which have no place
    /// in the file. The error's offset is therefore the block's, and the place in the block goes into the message.
    pub(crate) fn block_error(&self, handle: BlockHandle, error: FormatError) -> Error {
        let problem = format!("{} (byte {} of the block)", error.problem, error.offset);
        Error::format(&self.path, handle.offset, FormatError { problem, offset: 0, ..error })
    }
}

/// A block as it is stored in a mapped file, with its trailer.
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

    /// The block's trailer.
    pub(crate) fn trailer(&self) -> &'a [u8; BLOCK_TRAILER_SIZE_BYTES] {
        let trailer = self.file[self.range.end..].first_chunk();
        trailer.expect("the handle was checked to leave room for it")
    }

    /// The compression id. It may lie in a different cache line from everything else that is needed of the block.
    #[inline]
    pub(crate) fn id(&self) -> u8 {
        self.file[self.range.end]
    }
}

/// The error of a read that would have to wait for the disk.
pub(crate) fn would_block(path: &Path) -> Error {
    Error::at_path(ErrorKind::WouldBlock, path, "the answer is not in memory")
}
