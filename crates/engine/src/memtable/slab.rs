//! The memory under an arena. After a memtable is flushed, its memory is kept for the next one.
//!
//! New memory from the system costs more than writing to it: the first touch of a page takes 0.6 to 3 microseconds, so
//! a value of 100 KB takes 15 to 80 microseconds instead of 3.
//!
//! ```text
//! arena of the active memtable      [slab][slab][slab · · ·]           [large piece]
//!                                                  ^ takes
//! spare                             [slab][slab][large piece]
//!                                                  ^ gives, when dropped
//! arena of a flushed memtable       [slab][slab][slab][large piece]
//! ```
//!
//! Rules:
//! 1. The spare memory is never more than what the memtable that gave the last of it had held. What was given first is
//!    freed first.
//! 2. A slab in use belongs to one arena; a spare one to none. Its contents are then as if uninitialised.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::collections::VecDeque;
use std::ptr::NonNull;

use crate::sync::Mutex;

/// The size of a slab that many pieces share.
pub(super) const SLAB_BYTES: usize = 512 << 10;
/// Pieces larger than this get a whole slab each.
pub(super) const LARGEST_SHARED_BYTES: usize = 128 << 10;
/// Alignment of slabs: enough for 64-bit integers.
const ALIGNMENT_BYTES: usize = 8;

/// Memory from the system, uninitialised.
#[derive(Clone, Copy)]
pub(super) struct Slab {
    start: NonNull<u8>,
    size_bytes: usize,
}

// SAFETY: a slab is plain memory and not tied to a thread.
unsafe impl Send for Slab {}

impl Slab {
    /// Memory of this size, which is not 0. Ends the process if the system has none left.
    pub(super) fn new(size_bytes: usize) -> Self {
        let layout = layout(size_bytes);
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, size_bytes }
    }

    pub(super) fn start(self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn size_bytes(self) -> usize {
        self.size_bytes
    }

    /// Gives the memory back to the system.
    ///
    /// # Safety
    /// Nothing uses it any more, and it is freed once.
    unsafe fn free(self) {
        // SAFETY: `new` allocated it with this layout; the rest is the caller's promise.
        unsafe { dealloc(self.start.as_ptr(), layout(self.size_bytes)) };
    }
}

fn layout(size_bytes: usize) -> Layout {
    Layout::from_size_align(size_bytes, ALIGNMENT_BYTES).expect("the size fits an address")
}

/// The size of the slab for one piece larger than [`LARGEST_SHARED_BYTES`]: up to an eighth more, so that it also fits other
/// pieces of about this size.
pub(super) fn own_slab_bytes(piece_bytes: usize) -> usize {
    let step = piece_bytes.checked_next_power_of_two().map_or(SLAB_BYTES, |power| power / 16);
    piece_bytes.checked_next_multiple_of(step).expect("the size fits an address")
}

/// Memory of flushed memtables, for those to come. It is freed when dropped.
#[derive(Default)]
pub(super) struct SpareMemory {
    slabs: Mutex<VecDeque<Slab>>,
}

impl SpareMemory {
    /// A slab of exactly this size, if there is one.
    pub(super) fn take(&self, size_bytes: usize) -> Option<Slab> {
        let mut slabs = self.slabs.lock();
        // The newest is most likely in the processor's caches.
        let index = slabs.iter().rposition(|slab| slab.size_bytes == size_bytes)?;
        slabs.remove(index)
    }

    /// Whether a slab of this size is there.
    pub(super) fn has(&self, size_bytes: usize) -> bool {
        self.slabs.lock().iter().any(|slab| slab.size_bytes == size_bytes)
    }

    /// Takes over the slabs of an arena.
    ///
    /// # Safety
    /// Nothing uses them any more, and nothing else frees them.
    pub(super) unsafe fn give(&self, given: impl IntoIterator<Item = Slab>) {
        let mut slabs = self.slabs.lock();
        let mut limit_bytes = 0;
        for slab in given {
            // The chunks of a small arena.
            if slab.size_bytes <= LARGEST_SHARED_BYTES {
                // SAFETY: the caller's promise.
                unsafe { slab.free() };
                continue;
            }
            limit_bytes += slab.size_bytes;
            slabs.push_back(slab);
        }
        let mut held_bytes: usize = slabs.iter().map(|slab| slab.size_bytes).sum();
        while held_bytes > limit_bytes
            && let Some(oldest) = slabs.pop_front()
        {
            held_bytes -= oldest.size_bytes;
            // SAFETY: a spare slab belongs to no arena, and it was just taken off the list.
            unsafe { oldest.free() };
        }
    }
}

impl Drop for SpareMemory {
    fn drop(&mut self) {
        for slab in self.slabs.lock().drain(..) {
            // SAFETY: a spare slab belongs to no arena, and it was just taken off the list.
            unsafe { slab.free() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn give(spare: &SpareMemory, sizes: &[usize]) {
        // SAFETY: the slabs are new, and nothing else refers to them.
        unsafe { spare.give(sizes.iter().map(|&size| Slab::new(size))) };
    }

    fn sizes(spare: &SpareMemory) -> Vec<usize> {
        spare.slabs.lock().iter().map(|slab| slab.size_bytes).collect()
    }

    #[test]
    fn no_more_is_kept_than_the_last_memtable_held() {
        let spare = SpareMemory::default();
        give(&spare, &[SLAB_BYTES; 4]);
        assert_eq!(sizes(&spare), [SLAB_BYTES; 4]);
        give(&spare, &[SLAB_BYTES, 2 * SLAB_BYTES]);
        assert_eq!(sizes(&spare), [SLAB_BYTES, 2 * SLAB_BYTES], "the newest");
        give(&spare, &[]);
        assert_eq!(sizes(&spare), [0; 0]);
    }

    #[test]
    fn small_chunks_are_not_kept() {
        let spare = SpareMemory::default();
        give(&spare, &[4 << 10, SLAB_BYTES, 64 << 10]);
        assert_eq!(sizes(&spare), [SLAB_BYTES]);
    }

    #[test]
    fn a_slab_is_taken_once_and_only_at_its_size() {
        let spare = SpareMemory::default();
        give(&spare, &[SLAB_BYTES]);
        assert!(spare.has(SLAB_BYTES) && spare.take(SLAB_BYTES + 8).is_none());
        let slab = spare.take(SLAB_BYTES).unwrap();
        assert!(!spare.has(SLAB_BYTES) && spare.take(SLAB_BYTES).is_none());
        // SAFETY: the slab was just taken.
        unsafe { slab.free() };
    }

    #[test]
    fn a_large_piece_wastes_at_most_an_eighth() {
        for piece in [LARGEST_SHARED_BYTES + 8, 150_000, 1 << 20, (1 << 20) + 8, 100 << 20] {
            let slab = own_slab_bytes(piece);
            assert!(slab >= piece && slab <= piece + piece / 8, "{slab} for {piece}");
        }
    }
}
