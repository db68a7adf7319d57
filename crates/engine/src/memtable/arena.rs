//! The memory of one memtable: grows by chunks, is freed as a whole.
//!
//! ```text
//!  chunk 1 (4 KiB)        chunk 2               chunk of its own       chunk 3
//! +------+------+----+   +------+-----------+  +------------------+   +------+-----------+
//! | node | node |rest|   | node | node      |  | node, large value|   | node | free      |
//! +------+------+----+   +------+-----------+  +------------------+   +------+-----------+
//!                                                                            ^ next
//! ```
//!
//! Rules:
//! 1. What was handed out never moves and is never freed before the arena is dropped.
//! 2. A request that is large beside the chunk size gets a chunk of its own, so that the rest of the current
//!    chunk is not lost and a value of any size fits.
//! 3. The chunk size grows with the arena: an empty memtable costs one small chunk, and at most about an eighth
//!    of a large one is unused.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Alignment of everything handed out: enough for pointers and 64-bit integers.
const ALIGNMENT_BYTES: usize = 8;
const SMALLEST_CHUNK_BYTES: usize = 4 << 10;
const LARGEST_CHUNK_BYTES: usize = 256 << 10;

/// Hands out memory that lives as long as the arena.
pub(super) struct Arena {
    /// First free byte of the current chunk; always aligned.
    next: NonNull<u8>,
    /// Free bytes from `next` on.
    free_bytes: usize,
    chunks: Vec<Chunk>,
    chunk_bytes: usize,
}

struct Chunk {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the arena is the only owner of its chunks, which are plain memory without ties to a thread.
unsafe impl Send for Arena {}

impl Arena {
    pub(super) fn new() -> Self {
        Self { next: NonNull::dangling(), free_bytes: 0, chunks: Vec::new(), chunk_bytes: 0 }
    }

    /// Bytes of all chunks, with the list of them.
    pub(super) fn memory_bytes(&self) -> usize {
        self.chunk_bytes + self.chunks.capacity() * size_of::<Chunk>()
    }

    /// Returns `size_bytes` of memory, not initialised, aligned to 8, valid until the arena is dropped.
    ///
    /// Ends the process if the system has no memory left, as the standard collections do.
    ///
    /// # Panics
    /// If `size_bytes` is 0 or beyond what an address can span.
    pub(super) fn allocate(&mut self, size_bytes: usize) -> NonNull<u8> {
        assert!(size_bytes > 0, "an allocation has at least one byte");
        let size_bytes =
            size_bytes.checked_next_multiple_of(ALIGNMENT_BYTES).expect("the size fits an address");
        if size_bytes > self.free_bytes {
            let chunk_bytes = (self.chunk_bytes / 8).clamp(SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES);
            // Rounding keeps every chunk a multiple of the alignment, and with it `next` aligned.
            let chunk_bytes = chunk_bytes.next_multiple_of(ALIGNMENT_BYTES);
            if size_bytes > chunk_bytes / 4 {
                return self.add_chunk(size_bytes);
            }
            self.next = self.add_chunk(chunk_bytes);
            self.free_bytes = chunk_bytes;
        }
        let start = self.next;
        // SAFETY: `size_bytes <= free_bytes`, so the result is in the current chunk or one past its end.
        self.next = unsafe { start.add(size_bytes) };
        self.free_bytes -= size_bytes;
        start
    }

    fn add_chunk(&mut self, size_bytes: usize) -> NonNull<u8> {
        let layout = Layout::from_size_align(size_bytes, ALIGNMENT_BYTES).expect("the size fits an address");
        // SAFETY: the layout's size is not zero: callers pass a non-zero size.
        let start = NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        self.chunks.push(Chunk { start, layout });
        self.chunk_bytes += size_bytes;
        start
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            // SAFETY: each chunk came from `alloc` with this very layout and is freed only here.
            unsafe { dealloc(chunk.start.as_ptr(), chunk.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_and_do_not_overlap() {
        let mut arena = Arena::new();
        let mut pieces = Vec::new();
        for round in 0..2_000usize {
            let size_bytes = 1 + (round * 37) % 300;
            let piece = arena.allocate(size_bytes);
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
        let mut arena = Arena::new();
        assert_eq!(arena.memory_bytes(), 0);
        arena.allocate(1);
        let list_bytes = arena.chunks.capacity() * size_of::<Chunk>();
        assert_eq!(arena.memory_bytes(), SMALLEST_CHUNK_BYTES + list_bytes);
        arena.allocate(100);
        assert_eq!(arena.memory_bytes(), SMALLEST_CHUNK_BYTES + list_bytes);
    }

    #[test]
    fn a_large_piece_gets_a_chunk_of_its_own() {
        let mut arena = Arena::new();
        let first = arena.allocate(8);
        arena.allocate(10 << 20);
        let second = arena.allocate(8);
        assert_eq!(second.as_ptr().addr(), first.as_ptr().addr() + 8, "the small chunk is still in use");
        assert_eq!(arena.chunk_bytes, SMALLEST_CHUNK_BYTES + (10 << 20));
    }

    #[test]
    fn little_is_unused_in_a_large_arena() {
        let mut arena = Arena::new();
        let mut used_bytes = 0;
        for round in 0..50_000 {
            let size_bytes = 16 + round % 400;
            arena.allocate(size_bytes);
            used_bytes += size_bytes;
        }
        assert!(
            arena.memory_bytes() < used_bytes + used_bytes / 6,
            "{} for {used_bytes}",
            arena.memory_bytes()
        );
    }
}
