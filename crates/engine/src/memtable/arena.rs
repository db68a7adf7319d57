//! The memory of one memtable's entries. It grows by chunks and is freed as a whole.
//!
//! ```text
//!  chunk 0 (4 KiB)          chunk 1                 chunk 2                chunk 3
//! +-------+-------+----+   +-------+-----------+   +--------------------+  +-------+-----------+
//! | entry | entry |rest|   | entry | entry     |   | entry, large value |  | entry | free      |
//! +-------+-------+----+   +-------+-----------+   +--------------------+  +-------+-----------+
//!
//! an `EntryId`, 32 bits:   number of the chunk + 1 | offset in the chunk / 8
//!                          17 bits                   15 bits
//! ```
//!
//! Rules:
//! 1. Memory that was handed out never moves and is not freed before the arena is dropped.
//! 2. A request that is large compared with the chunk size gets its own chunk, so that the rest of the current
//!    chunk is not lost and a value of any size fits.
//! 3. The chunk size grows with the arena: an empty memtable costs one small chunk, and at most about an eighth
//!    of a large one is unused.
//! 4. The chunks of a large arena are parts of slabs, which an earlier memtable may have used ([`slab`](super::slab)).
//! 5. The writer allocates; readers turn an id into an address, without a lock.

use std::num::NonZeroU32;
use std::ptr::NonNull;
use std::sync::Arc;

use super::append_list::AppendList;
use super::slab::{LARGEST_SHARED_BYTES, SLAB_BYTES, Slab, SpareMemory, own_slab_bytes};

/// Alignment of everything handed out: enough for 64-bit integers.
const ALIGNMENT_BYTES: usize = 8;
const SMALLEST_CHUNK_BYTES: usize = 4 << 10;
const LARGEST_CHUNK_BYTES: usize = 256 << 10;
/// The number of an id's bits that hold the place in a chunk.
const OFFSET_BITS: u32 = (LARGEST_CHUNK_BYTES / ALIGNMENT_BYTES).ilog2();
const MAX_CHUNKS: usize = (1 << (u32::BITS - OFFSET_BITS)) - 1;

/// The place of a piece in an arena.
///
/// Invariant: only [`Arena::allocate`] makes ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryId(NonZeroU32);

impl EntryId {
    #[inline]
    pub(super) fn to_bits(self) -> u32 {
        self.0.get()
    }

    /// The id with these bits; `None` for 0.
    ///
    /// # Safety
    /// The bits are 0 or those of an id.
    #[inline]
    pub(super) unsafe fn from_bits(bits: u32) -> Option<Self> {
        NonZeroU32::new(bits).map(Self)
    }
}

/// The chunks, for all threads.
pub(super) struct Arena {
    /// Where each chunk starts, within a slab.
    chunks: AppendList<NonNull<u8>>,
    /// The memory of all chunks.
    slabs: AppendList<Slab>,
    /// Where slabs come from and go to.
    spare: Arc<SpareMemory>,
}

/// The part of an arena that only the writer has.
pub(super) struct ArenaWriter {
    /// First free byte of the current chunk; always aligned.
    next: NonNull<u8>,
    /// The id of the piece at `next`.
    next_id: u32,
    /// Free bytes from `next` on.
    free_bytes: usize,
    chunk_bytes: usize,
    /// First free byte of the current slab.
    next_in_slab: NonNull<u8>,
    /// Free bytes from there on.
    free_slab_bytes: usize,
}

// SAFETY: the writer half points into its arena's chunks, which are plain memory and not tied to a thread.
unsafe impl Send for ArenaWriter {}

impl ArenaWriter {
    /// Bytes of all chunks.
    pub(super) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes
    }
}

impl Arena {
    /// An empty arena, which takes its memory from `spare` if there is any.
    pub(super) fn new(spare: Arc<SpareMemory>) -> (Self, ArenaWriter) {
        let nowhere = NonNull::dangling();
        let writer = ArenaWriter {
            next: nowhere,
            next_id: 0,
            free_bytes: 0,
            chunk_bytes: 0,
            next_in_slab: nowhere,
            free_slab_bytes: 0,
        };
        (Self { chunks: AppendList::new(), slabs: AppendList::new(), spare }, writer)
    }

    /// The memory that this arena shares with those before and after it.
    pub(super) fn spare(&self) -> &Arc<SpareMemory> {
        &self.spare
    }

    /// Bytes of all chunks and of the lists. Less than a slab may be held besides.
    pub(super) fn memory_bytes(&self, writer: &ArenaWriter) -> usize {
        writer.chunk_bytes + self.chunks.memory_bytes() + self.slabs.memory_bytes()
    }

    /// Whether half of the ids are used up. The other half suffices for one more write batch of any size.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.chunks.len() > MAX_CHUNKS / 2
    }

    /// The address of a piece, with the provenance of its whole chunk.
    ///
    /// # Safety
    /// The id is of this arena, and reached this thread through an atomic (or a lock) that was written after the
    /// allocation.
    #[inline]
    pub(super) unsafe fn address(&self, id: EntryId) -> NonNull<u8> {
        let bits = id.to_bits();
        // SAFETY: the chunk was appended before the id was made, and the caller has the id through an atomic. The offset is
        // that of a piece within the chunk.
        unsafe {
            let chunk = self.chunks.get((bits >> OFFSET_BITS) as usize - 1);
            chunk.add((bits & ((1 << OFFSET_BITS) - 1)) as usize * ALIGNMENT_BYTES)
        }
    }

    /// Returns `size_bytes` of uninitialised memory, aligned to 8 and valid until the arena is dropped.
    ///
    /// Ends the process if the system has no memory left, as the standard collections do.
    ///
    /// # Panics
    /// If `size_bytes` is 0 or more than an address can span, or if no ids are left, which takes two batches of the
    /// largest size after [`is_nearly_full`](Self::is_nearly_full).
    ///
    /// # Safety
    /// `writer` belongs to this arena.
    #[inline]
    pub(super) unsafe fn allocate(
        &self,
        writer: &mut ArenaWriter,
        size_bytes: usize,
    ) -> (EntryId, NonNull<u8>) {
        assert!(size_bytes > 0, "an allocation has at least one byte");
        let size_bytes =
            size_bytes.checked_next_multiple_of(ALIGNMENT_BYTES).expect("the size fits an address");
        if size_bytes > writer.free_bytes {
            let chunk_bytes = (writer.chunk_bytes / 8).clamp(SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES);
            // Rounding keeps every chunk a multiple of the alignment, and with it `next` aligned.
            let chunk_bytes = chunk_bytes.next_multiple_of(ALIGNMENT_BYTES);
            if size_bytes > chunk_bytes / 4 {
                let memory = self.memory_for_piece(writer, size_bytes);
                return (EntryId(self.add_chunk(writer, memory, size_bytes)), memory);
            }
            let start = self.memory_for_chunk(writer, chunk_bytes);
            let id = self.add_chunk(writer, start, chunk_bytes);
            (writer.next_id, writer.next, writer.free_bytes) = (id.get(), start, chunk_bytes);
        }
        let piece = (EntryId(NonZeroU32::new(writer.next_id).expect("there is a chunk")), writer.next);
        // SAFETY: `size_bytes <= free_bytes`, so the result is in the current chunk or one past its end.
        writer.next = unsafe { writer.next.add(size_bytes) };
        // Within a chunk this stays below the chunk's bits. Past its end it is not used.
        writer.next_id = writer.next_id.wrapping_add((size_bytes / ALIGNMENT_BYTES) as u32);
        writer.free_bytes -= size_bytes;
        piece
    }

    /// Adds the chunk at `start` and returns the id of its first piece.
    #[cold]
    fn add_chunk(&self, writer: &mut ArenaWriter, start: NonNull<u8>, size_bytes: usize) -> NonZeroU32 {
        // SAFETY: only the owner of the writer half appends.
        unsafe { self.chunks.push(start) };
        let number = self.chunks.len();
        assert!(number <= MAX_CHUNKS, "the memtable has no room for more entries");
        writer.chunk_bytes += size_bytes;
        NonZeroU32::new((number as u32) << OFFSET_BITS).expect("the number is not 0")
    }

    /// Memory for a chunk with a single piece.
    fn memory_for_piece(&self, writer: &mut ArenaWriter, size_bytes: usize) -> NonNull<u8> {
        if size_bytes > LARGEST_SHARED_BYTES {
            return self.add_slab(own_slab_bytes(size_bytes)).start();
        }
        self.memory_for_chunk(writer, size_bytes)
    }

    /// Memory for a chunk of this size, a multiple of the alignment.
    fn memory_for_chunk(&self, writer: &mut ArenaWriter, size_bytes: usize) -> NonNull<u8> {
        if size_bytes > writer.free_slab_bytes {
            if writer.chunk_bytes < SLAB_BYTES && !self.spare.has(SLAB_BYTES) {
                return self.add_slab(size_bytes).start();
            }
            let slab = self.add_slab(SLAB_BYTES);
            (writer.next_in_slab, writer.free_slab_bytes) = (slab.start(), slab.size_bytes());
        }
        let start = writer.next_in_slab;
        // SAFETY: `size_bytes <= free_slab_bytes`, so the result is in the current slab or one past its end.
        writer.next_in_slab = unsafe { start.add(size_bytes) };
        writer.free_slab_bytes -= size_bytes;
        start
    }

    fn add_slab(&self, size_bytes: usize) -> Slab {
        let slab = self.spare.take(size_bytes).unwrap_or_else(|| Slab::new(size_bytes));
        // SAFETY: only the owner of the writer half appends.
        unsafe { self.slabs.push(slab) };
        slab
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.slabs.len() == 0 {
            // Made ahead, and not used.
            return;
        }
        // SAFETY: the indexes are below the length.
        let slabs = (0..self.slabs.len()).map(|index| unsafe { self.slabs.get(index) });
        // SAFETY: nothing uses an arena's memory after the arena (rule 1), and only this gives it away.
        unsafe { self.spare.give(slabs) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(arena: &Arena, writer: &mut ArenaWriter, size_bytes: usize) -> NonNull<u8> {
        // SAFETY: the tests below keep the halves together, on one thread.
        unsafe {
            let (id, address) = arena.allocate(writer, size_bytes);
            assert_eq!(arena.address(id), address);
            assert_eq!(EntryId::from_bits(id.to_bits()), Some(id));
            address
        }
    }

    #[test]
    fn pieces_are_aligned_and_do_not_overlap() {
        let (arena, mut writer) = Arena::new(Arc::default());
        let mut pieces = Vec::new();
        for round in 0..if cfg!(miri) { 200 } else { 2_000usize } {
            let size_bytes = 1 + (round * 37) % 300;
            let piece = allocate(&arena, &mut writer, size_bytes);
            assert_eq!(piece.as_ptr().addr() % ALIGNMENT_BYTES, 0);
            let mark = (round % 251) as u8;
            // SAFETY: the arena handed out `size_bytes` bytes at `piece`.
            unsafe { piece.as_ptr().write_bytes(mark, size_bytes) };
            pieces.push((piece, size_bytes, mark));
        }
        for (piece, size_bytes, mark) in pieces {
            // SAFETY: all of the piece was written above and the arena still lives.
            let bytes = unsafe { std::slice::from_raw_parts(piece.as_ptr(), size_bytes) };
            assert!(bytes.iter().all(|&byte| byte == mark));
        }
    }

    #[test]
    fn memory_is_counted_by_chunks() {
        let (arena, mut writer) = Arena::new(Arc::default());
        assert_eq!(arena.memory_bytes(&writer), 0);
        allocate(&arena, &mut writer, 1);
        let list_bytes = arena.chunks.memory_bytes() + arena.slabs.memory_bytes();
        assert!(list_bytes > 0);
        assert_eq!(arena.memory_bytes(&writer), SMALLEST_CHUNK_BYTES + list_bytes);
        allocate(&arena, &mut writer, 100);
        assert_eq!(arena.memory_bytes(&writer), SMALLEST_CHUNK_BYTES + list_bytes);
    }

    #[test]
    fn a_large_piece_gets_a_chunk_of_its_own() {
        let (arena, mut writer) = Arena::new(Arc::default());
        let first = allocate(&arena, &mut writer, 8);
        allocate(&arena, &mut writer, 10 << 20);
        let second = allocate(&arena, &mut writer, 8);
        assert_eq!(second.as_ptr().addr(), first.as_ptr().addr() + 8, "the small chunk is still in use");
        assert_eq!(writer.chunk_bytes, SMALLEST_CHUNK_BYTES + (10 << 20));
    }

    #[test]
    fn memory_is_used_again() {
        let spare = Arc::new(SpareMemory::default());
        let sizes: Vec<usize> = (0..60).flat_map(|round| [100_000, 300 + round, 300_000]).collect();
        let mut places: Vec<Vec<usize>> = Vec::new();
        for _ in 0..3 {
            let (arena, mut writer) = Arena::new(Arc::clone(&spare));
            let mut pieces = Vec::new();
            for (number, &size_bytes) in sizes.iter().enumerate() {
                let piece = allocate(&arena, &mut writer, size_bytes);
                // SAFETY: the arena handed out `size_bytes` bytes at `piece`.
                unsafe { piece.as_ptr().write_bytes(number as u8, size_bytes) };
                pieces.push(piece);
            }
            for (number, (piece, &size_bytes)) in pieces.iter().zip(&sizes).enumerate() {
                // SAFETY: all of the piece was written above and the arena still lives.
                let bytes = unsafe { std::slice::from_raw_parts(piece.as_ptr(), size_bytes) };
                let step = if cfg!(miri) { 4096 } else { 1 };
                assert!(bytes.iter().step_by(step).all(|&byte| byte == number as u8));
            }
            let slabs = (0..arena.slabs.len()).map(|index| {
                // SAFETY: the index is below the length.
                unsafe { arena.slabs.get(index) }.start().as_ptr().addr()
            });
            places.push(slabs.collect());
        }
        // The first arena began with small chunks, which are not kept.
        let known = |place: &usize| places[1].contains(place);
        assert!(places[2].iter().filter(|place| known(place)).count() * 10 > places[2].len() * 9);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes when interpreted")]
    fn little_is_unused_in_a_large_arena() {
        let (arena, mut writer) = Arena::new(Arc::default());
        let mut used_bytes = 0;
        for round in 0..50_000 {
            let size_bytes = 16 + round % 400;
            allocate(&arena, &mut writer, size_bytes);
            used_bytes += size_bytes;
        }
        let bytes = arena.memory_bytes(&writer);
        assert!(bytes < used_bytes + used_bytes / 6, "{bytes} for {used_bytes}");
    }
}
