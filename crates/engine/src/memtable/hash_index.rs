//! Finds the newest entry of a user key: an open-addressed table over the entries. Predecessor: `MemTable`.
//!
//! ```text
//! slot     hash >> 32-ish * slots: the higher the hash, the later the slot
//! +------+------------------+------------------+------+------+-----
//! | free | hash d | entry d | hash a | entry a | free | ...          a slot: 32 bits of hash | the id's 32 bits
//! +------+------------------+------------------+------+------+-----
//!           probes continue to the right until a free slot
//! ```
//!
//! Only the bytewise order has it: there, keys are equal if and only if their bytes are.
//!
//! Rules:
//! 1. There is one writer; readers take no lock. A slot is stored with `Release` after its entry was written, and loaded
//!    with `Acquire`. It is never freed and changes only to newer versions of its key.
//! 2. At most five slots of eight are taken, so probes are short and end. The hash is seeded (`key_hash`), so this holds even
//!    for keys that an attacker picked.
//! 3. To grow, a larger table replaces the old one; it is published when it is complete. Readers may still use the old
//!    table, which stays until the memtable is dropped. Growing needs no keys, because the slots hold the hashes. These are
//!    in the order of the slots, so it walks both tables from left to right.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::arena::EntryId;
use super::entry::prefetch;
use super::key_hash::KeyHash;
use crate::sync::{AtomicPtr, AtomicU64, zeroed_atomics};

const SMALLEST_TABLE_SLOTS: usize = if cfg!(all(test, loom)) { 4 } else { 64 };

type Table = Box<[AtomicU64]>;

/// See the head of this file.
pub(super) struct HashIndex {
    hash: KeyHash,
    /// The newest of the writer's tables.
    table: AtomicPtr<Table>,
}

/// The part of an index that only the writer has.
pub(super) struct HashIndexWriter {
    /// Oldest first; the last is in use. Readers hold their addresses.
    tables: Vec<Arc<Table>>,
    taken_slots: usize,
}

/// A place in the table in use.
pub(super) struct HashSlot {
    slot: usize,
    /// The entry that is there.
    pub(super) found: Option<EntryId>,
}

impl HashIndex {
    /// An index with room for `keys` keys before it grows.
    pub(super) fn for_keys(keys: usize) -> (Self, HashIndexWriter) {
        let slots = (keys + keys / 5 * 3).next_multiple_of(8).max(SMALLEST_TABLE_SLOTS);
        let table = Arc::new(new_table(slots));
        let index = Self { hash: KeyHash::random(), table: AtomicPtr::new(Arc::as_ptr(&table).cast_mut()) };
        (index, HashIndexWriter { tables: vec![table], taken_slots: 0 })
    }

    #[inline]
    pub(super) fn hash(&self, user_key: &[u8]) -> u32 {
        self.hash.of(user_key)
    }

    /// The newest entry of a key with this hash for which `is_sought` holds.
    #[inline]
    pub(super) fn find(&self, hash: u32, is_sought: impl FnMut(EntryId) -> bool) -> Option<EntryId> {
        probe(self.table(), hash, is_sought).found
    }

    /// Asks the processor to fetch the slot where the search for `hash` begins.
    #[inline]
    pub(super) fn prefetch(&self, hash: u32) {
        let table = self.table();
        prefetch(&raw const table[first_slot(table, hash)]);
    }

    #[inline]
    fn table(&self) -> &Table {
        // SAFETY: it points to a table of the writer's, which is not dropped before `self` (the caller of `for_keys` keeps
        // both), and was complete when the pointer was stored.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }
}

impl HashIndexWriter {
    /// Bytes of all tables.
    pub(super) fn memory_bytes(&self) -> usize {
        self.tables.iter().map(|table| table.len() * size_of::<AtomicU64>()).sum()
    }

    /// The number of keys.
    pub(super) fn keys(&self) -> usize {
        self.taken_slots
    }

    fn table(&self) -> &Table {
        self.tables.last().expect("there is a table from the beginning")
    }

    /// Finds the place that the key with this hash for which `is_sought` holds has or would have.
    #[inline]
    pub(super) fn place(&self, hash: u32, is_sought: impl FnMut(EntryId) -> bool) -> HashSlot {
        probe(self.table(), hash, is_sought)
    }

    /// Puts an entry in the place that [`place`](Self::place) has just found. Returns whether the index grew.
    #[inline]
    pub(super) fn put(&mut self, index: &HashIndex, place: &HashSlot, hash: u32, entry: EntryId) -> bool {
        let slot = u64::from(hash) << 32 | u64::from(entry.to_bits());
        self.table()[place.slot].store(slot, Ordering::Release);
        if place.found.is_some() {
            return false;
        }
        self.taken_slots += 1;
        let is_full = self.taken_slots > self.table().len() * 5 / 8;
        if is_full {
            self.grow(index);
        }
        is_full
    }

    #[cold]
    fn grow(&mut self, index: &HashIndex) {
        let old = self.table();
        let new = Arc::new(new_table(old.len() * 2));
        for slot in &**old {
            let bits = slot.load(Ordering::Relaxed);
            if bits != 0 {
                let free = probe(&new, (bits >> 32) as u32, |_| false).slot;
                new[free].store(bits, Ordering::Relaxed);
            }
        }
        index.table.store(Arc::as_ptr(&new).cast_mut(), Ordering::Release);
        self.tables.push(new);
    }
}

/// A table with all slots free and its memory in place. The system would otherwise provide each page twice, when a probe
/// first reads it and when an entry is first put there, and all that within the first inserts.
fn new_table(slots: usize) -> Table {
    const PAGE_SLOTS: usize = (4 << 10) / size_of::<AtomicU64>();
    let table = zeroed_atomics(slots);
    table.iter().step_by(PAGE_SLOTS).for_each(|slot| slot.store(0, Ordering::Relaxed));
    table
}

#[inline]
fn first_slot(table: &Table, hash: u32) -> usize {
    ((u64::from(hash) * table.len() as u64) >> 32) as usize
}

/// The slot of the key with this hash for which `is_sought` holds, or the free slot at which the search for it ends.
#[inline]
fn probe(table: &Table, hash: u32, mut is_sought: impl FnMut(EntryId) -> bool) -> HashSlot {
    let mut slot = first_slot(table, hash);
    loop {
        let bits = table[slot].load(Ordering::Acquire);
        // SAFETY: `put` wrote the slot.
        let Some(entry) = (unsafe { EntryId::from_bits(bits as u32) }) else {
            return HashSlot { slot, found: None };
        };
        if (bits >> 32) as u32 == hash && is_sought(entry) {
            return HashSlot { slot, found: Some(entry) };
        }
        slot += 1;
        if slot == table.len() {
            slot = 0;
        }
    }
}
