//! One entry of a memtable: key and value in one piece of the arena.
//!
//! ```text
//! +-------------------+----------+------------+----------+-----+-------+
//! | next older version| key size | value size | user key | tag | value |
//! +-------------------+----------+------------+----------+-----+-------+
//! ^ an `EntryRef` points here                 \_ internal key _/
//! ```
//!
//! Rules:
//! 1. An entry is complete before its id is stored, with `Release`, where readers find it.
//! 2. Key and value never change. The link to the next older version of the same user key changes only if versions are
//!    inserted out of order.

use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::Ordering;

use terrace_format::internal_key::{tag, user_key};
use terrace_format::limits::INTERNAL_KEY_TAG_SIZE_BYTES as TAG_BYTES;

use super::arena::{Arena, ArenaWriter, EntryId};
use crate::sync::{AtomicU32, PlainMemory};

#[repr(C)]
struct Header {
    /// The bits of an [`EntryId`], or 0.
    older: AtomicU32,
    key_bytes: u32,
    value_bytes: u32,
    /// Tells a model checker about accesses to the two sizes, the key and the value.
    memory: PlainMemory,
}

/// An entry.
///
/// Invariant: [`write`] or [`at`] made it. While the arena lives, it points to a complete entry as drawn above, with the
/// provenance of its whole chunk. The methods are unsafe because the type is not tied to the lifetime of the arena.
#[derive(Clone, Copy)]
pub(super) struct EntryRef(NonNull<Header>);

/// The entry with this id.
///
/// # Safety
/// As for [`Arena::address`].
#[inline]
pub(super) unsafe fn at(arena: &Arena, id: EntryId) -> EntryRef {
    // SAFETY: the caller's promise. All memory that this arena hands out begins with a header (`write`).
    EntryRef(unsafe { arena.address(id) }.cast())
}

/// Writes an entry. No other thread can reach it yet.
///
/// # Panics
/// If the key or the value is 4 GiB or larger. The limits of a batch are far below.
///
/// # Safety
/// `writer` belongs to `arena`.
#[inline]
pub(super) unsafe fn write(
    arena: &Arena,
    writer: &mut ArenaWriter,
    user_key: &[u8],
    tag: u64,
    value: &[u8],
) -> (EntryId, EntryRef) {
    let key_bytes = u32::try_from(user_key.len() + TAG_BYTES).expect("a key is smaller than 4 GiB");
    let value_bytes = u32::try_from(value.len()).expect("a value is smaller than 4 GiB");
    let entry_bytes = (key_bytes as usize).checked_add(value.len() + size_of::<Header>());
    // SAFETY: the caller's promise.
    let (id, piece) =
        unsafe { arena.allocate(writer, entry_bytes.expect("the entry fits the address space")) };
    let header = piece.cast::<Header>();
    // SAFETY: the piece holds header, key, tag and value, and is aligned to 8 bytes, more than the header needs. No
    // other thread can reach it yet.
    unsafe {
        header.write(Header { older: AtomicU32::new(0), key_bytes, value_bytes, memory: PlainMemory::new() });
        header.as_ref().memory.write();
        let key_start = header.add(1).cast::<u8>().as_ptr();
        ptr::copy_nonoverlapping(user_key.as_ptr(), key_start, user_key.len());
        let tag_start = key_start.add(user_key.len());
        ptr::copy_nonoverlapping(tag.to_le_bytes().as_ptr(), tag_start, TAG_BYTES);
        ptr::copy_nonoverlapping(value.as_ptr(), tag_start.add(TAG_BYTES), value.len());
    }
    (id, EntryRef(header))
}

impl EntryRef {
    /// The internal key.
    ///
    /// # Safety
    /// The arena lives for `'arena`.
    #[inline]
    pub(super) unsafe fn key<'arena>(self) -> &'arena [u8] {
        let header = self.0.as_ptr();
        // SAFETY: an entry is written whole before it is reachable (rule 1) and its key never changes (rule 2); the sizes
        // in the header are those of the bytes that follow.
        unsafe {
            (*header).memory.read();
            slice::from_raw_parts(header.add(1).cast::<u8>(), (*header).key_bytes as usize)
        }
    }

    /// The user key.
    ///
    /// # Safety
    /// As for [`key`](Self::key).
    #[inline]
    pub(super) unsafe fn user_key<'arena>(self) -> &'arena [u8] {
        // SAFETY: the caller's promise.
        user_key(unsafe { self.key() })
    }

    /// Sequence number and kind.
    ///
    /// # Safety
    /// As for [`key`](Self::key).
    #[inline]
    pub(super) unsafe fn tag(self) -> u64 {
        // SAFETY: the caller's promise.
        tag(unsafe { self.key() })
    }

    /// The value.
    ///
    /// # Safety
    /// As for [`key`](Self::key).
    #[inline]
    pub(super) unsafe fn value<'arena>(self) -> &'arena [u8] {
        let header = self.0.as_ptr();
        // SAFETY: as in `key`; the value follows the key.
        unsafe {
            (*header).memory.read();
            let start = header.add(1).cast::<u8>().add((*header).key_bytes as usize);
            slice::from_raw_parts(start, (*header).value_bytes as usize)
        }
    }

    /// The next older version of the user key.
    ///
    /// # Safety
    /// As for [`key`](Self::key).
    #[inline]
    pub(super) unsafe fn older(self) -> Option<EntryId> {
        // SAFETY: the entry is there (the caller's promise). Only `set_older` stores here.
        unsafe { EntryId::from_bits(self.0.as_ref().older.load(Ordering::Acquire)) }
    }

    /// Links the next older version. `Release` publishes that entry.
    ///
    /// # Safety
    /// As for [`key`](Self::key), and the caller is the writer.
    #[inline]
    pub(super) unsafe fn set_older(self, older: Option<EntryId>) {
        // SAFETY: the entry is there (the caller's promise).
        let link = unsafe { &self.0.as_ref().older };
        link.store(older.map_or(0, EntryId::to_bits), Ordering::Release);
    }

    /// Asks the processor to fetch the sizes and the beginning of the key.
    #[inline]
    pub(super) fn prefetch_key(self) {
        prefetch(self.0.as_ptr());
    }

    /// Asks the processor to fetch the entry's memory, which will be read soon.
    #[inline]
    pub(super) fn prefetch(self) {
        const LINE_BYTES: usize = 64;
        // An entry of a small key and value spans up to three lines.
        for line in 0..3 {
            prefetch(self.0.as_ptr().cast::<u8>().wrapping_add(line * LINE_BYTES));
        }
    }
}

/// Asks the processor to fetch the memory at `address`. Any address is allowed.
#[inline]
pub(super) fn prefetch<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and it never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
