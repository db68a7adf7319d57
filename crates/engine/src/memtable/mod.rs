//! The newest entries of a database, in memory, until they are flushed to a table.
//!
//! Predecessor: the commit path, which inserts a batch after its log record is written. Successors: the flush,
//! which writes [`MemTable::iter`] to a table, and reads.
//!
//! ```text
//!                   insert                     get                             iter
//!                     |                         |                                |
//!                     |                 hash_index: user key           order: a tree, extended by the
//!                     |                   -> newest version            entries that the log got since (sort)
//!                     v                         |                                |
//! arena    [entry a#1][entry c#2][entry a#3][entry b#4] ...   <------------------+
//! log       a#1        c#2        a#3        b#4              the entries as they came
//! ```
//!
//! An insert appends an entry and puts it in the hash index. It does not search an order. Entries are sorted when a
//! reader needs their order, and then only those that came since the last sort; all readers share the result.
//!
//! The rest of the engine knows only [`MemTable`], [`MemEntry`] and [`MemTableIterator`].
//!
//! Rules:
//! 1. There is one writer at a time: the caller holds the commit token. (A mutex inside makes a mistake slow and nothing
//!    worse.) Reads may run beside the writer, which never waits for them. `get` takes no lock. The first movement of
//!    a cursor takes one if there are new entries; other cursors wait meanwhile for the same result.
//! 2. Reads that begin after an insert returned see it. A read that runs beside it sees the entry whole or not at all;
//!    sequence numbers hide what is not published yet.
//! 3. An entry is never changed or removed. Slices stay valid while the memtable lives.
//! 4. The memtable accounts for its memory itself, exact to the arena's chunks, indexes included.
//! 5. If a comparator may call different keys equal, there is no hash index: `get` searches the order of entries.

mod append_list;
mod arena;
mod cursor;
mod entry;
mod hash_index;
mod key_hash;
mod merge_sort;
mod order;
mod slab;
mod sort;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::{InternalKeyComparator, SEEK_KIND, SequenceNumber, ValueKind, pack_tag};

use crate::sync::{ArcSwap, AtomicUsize, Mutex, MutexGuard};
use append_list::AppendList;
use arena::{Arena, ArenaWriter, EntryId};
pub use cursor::MemTableIterator;
use entry::EntryRef;
use hash_index::{HashIndex, HashIndexWriter};
use order::{LeafPlace, Order};
use slab::SpareMemory;

/// The newest entries, in memory.
pub struct MemTable {
    comparator: UserComparator,
    arena: Arena,
    /// All entries as they came.
    log: AppendList<EntryId>,
    /// Only for the bytewise order.
    index: Option<HashIndex>,
    /// The first entries of the log, sorted.
    order: ArcSwap<Order>,
    ordering: Mutex<()>,
    order_bytes: AtomicUsize,
    deletions: AtomicUsize,
    /// Memory held, without the order.
    memory_bytes: AtomicUsize,
    writer: Mutex<Writer>,
    /// The memtable to follow this one, if it was made ahead.
    prepared: Mutex<Option<Arc<MemTable>>>,
}

/// What the writer needs and readers never see.
struct Writer {
    arena: ArenaWriter,
    index: Option<HashIndexWriter>,
}

/// What a memtable knows about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemEntry<'a> {
    /// The key has this value.
    Value(&'a [u8]),
    /// The key was deleted.
    Deletion,
}

impl MemTable {
    /// An empty memtable in the order of `comparator`.
    pub fn new(comparator: InternalKeyComparator) -> Self {
        Self::for_keys(comparator.user().clone(), 0, Arc::default())
    }

    /// An empty memtable to take the place of this one: the one that was [prepared](Self::prepare_successor), or else a new
    /// one with the room to which this one has grown.
    pub fn successor(&self) -> Arc<Self> {
        let prepared = self.prepared.lock().take();
        prepared.unwrap_or_else(|| Arc::new(self.with_same_room()))
    }

    /// Makes the memtable to follow this one ahead, with the room to which `full` has grown: the first writes would have to
    /// wait for its memory, some milliseconds.
    pub(crate) fn prepare_successor(&self, full: &Self) {
        let successor = full.with_same_room();
        *self.prepared.lock() = Some(Arc::new(successor));
    }

    /// An empty memtable that need not grow for as many keys as this one has, or a few more, and that uses the
    /// memory of those before it that were dropped.
    fn with_same_room(&self) -> Self {
        let keys = self.writer.lock().index.as_ref().map_or(0, HashIndexWriter::keys);
        Self::for_keys(self.comparator.clone(), keys + keys / 5, Arc::clone(self.arena.spare()))
    }

    fn for_keys(comparator: UserComparator, keys: usize, spare: Arc<SpareMemory>) -> Self {
        let (arena, arena_writer) = Arena::new(spare);
        let (index, index_writer) = match comparator {
            UserComparator::Bytewise => Some(HashIndex::for_keys(keys)).unzip(),
            UserComparator::Custom(_) => (None, None),
        };
        let writer = Writer { arena: arena_writer, index: index_writer };
        let memtable = Self {
            comparator,
            arena,
            log: AppendList::new(),
            index,
            order: ArcSwap::from_pointee(Order::default()),
            ordering: Mutex::new(()),
            order_bytes: AtomicUsize::new(0),
            deletions: AtomicUsize::new(0),
            memory_bytes: AtomicUsize::new(0),
            writer: Mutex::new(writer),
            prepared: Mutex::new(None),
        };
        memtable.count_memory(&memtable.writer.lock());
        memtable
    }

    /// Adds an entry; `value` is empty for a deletion. For many entries one [`inserter`](Self::inserter) is cheaper.
    ///
    /// The caller holds the commit token and gives each entry its own sequence number.
    ///
    /// # Panics
    /// If the key or the value is 4 GiB or larger. A write batch refuses far smaller ones.
    #[inline]
    pub fn insert(&self, sequence: SequenceNumber, kind: ValueKind, user_key: &[u8], value: &[u8]) {
        self.inserter().insert(sequence, kind, user_key, value);
    }

    /// Asks the processor to fetch what an insert or a get of this key reads first. That takes as long as the insert itself,
    /// so ask before doing something else.
    #[inline]
    pub fn prefetch(&self, user_key: &[u8]) {
        if let Some(index) = &self.index {
            index.prefetch(index.hash(user_key));
        }
    }

    /// Makes an inserter, which adds entries one after another. The caller holds the commit token.
    #[inline]
    pub fn inserter(&self) -> Inserter<'_> {
        Inserter { memtable: self, writer: self.writer.lock() }
    }

    /// Inserts entry `id` somewhere after `newer` in the chain of a key's versions, which goes from new to old.
    #[cold]
    fn link_older_version(&self, mut newer: EntryId, id: EntryId, tag: u64) {
        // SAFETY: the entries are this arena's, and the caller is the writer.
        unsafe {
            while let Some(older) = self.entry(newer).older()
                && self.tag(older) > tag
            {
                newer = older;
            }
            self.entry(id).set_older(self.entry(newer).older());
            self.entry(newer).set_older(Some(id));
        }
    }

    fn count_memory(&self, writer: &Writer) {
        let bytes = if self.arena.is_nearly_full() {
            // Has the memtable sealed before the next batch, whatever its size.
            usize::MAX / 2
        } else {
            self.arena.memory_bytes(&writer.arena)
                + self.log.memory_bytes()
                + writer.index.as_ref().map_or(0, HashIndexWriter::memory_bytes)
        };
        self.memory_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Returns what the newest entry of `user_key` with a sequence number of at most `sequence` says. `None` means that there
    /// is none here, but an older memtable or a table may have one. Copies nothing.
    #[inline]
    pub fn get(&self, user_key: &[u8], sequence: SequenceNumber) -> Option<MemEntry<'_>> {
        self.find(user_key, sequence).map(|(_, entry)| entry)
    }

    /// As [`get`](Self::get), but also returns the entry's sequence number.
    #[inline]
    pub(crate) fn find(
        &self,
        user_key: &[u8],
        sequence: SequenceNumber,
    ) -> Option<(SequenceNumber, MemEntry<'_>)> {
        let tag = pack_tag(sequence, SEEK_KIND);
        let entry = match &self.index {
            Some(index) => {
                let newest = index.find(index.hash(user_key), |id| self.has_user_key(id, user_key))?;
                self.version(newest, tag)?
            }
            None => self.find_by_order(user_key, tag)?,
        };
        // SAFETY: the arena lives while `self` is borrowed.
        let (found, value) = unsafe { (entry.tag(), entry.value()) };
        // The lowest byte of the tag is the kind; only `insert` wrote it.
        let is_value = found as u8 == ValueKind::Value as u8;
        Some((found >> 8, if is_value { MemEntry::Value(value) } else { MemEntry::Deletion }))
    }

    /// The newest version at or below `tag` in the chain that begins with `newest`.
    #[inline]
    fn version(&self, newest: EntryId, tag: u64) -> Option<EntryRef> {
        let mut entry = self.entry(newest);
        // SAFETY: the arena lives while `self` is borrowed.
        unsafe {
            while entry.tag() > tag {
                entry = self.entry(entry.older()?);
            }
        }
        Some(entry)
    }

    fn find_by_order(&self, user_key: &[u8], tag: u64) -> Option<EntryRef> {
        let order = self.order();
        let (place, index) = self.seek(&order, user_key, tag)?;
        let entry = self.entry(order.leaf(place)[index]);
        // SAFETY: the arena lives while `self` is borrowed.
        let found = unsafe { entry.user_key() };
        self.comparator.compare(found, user_key).is_eq().then_some(entry)
    }

    /// The sequence numbers and user keys of the entries that are newer than `sequence`, newest first. The entries from the
    /// oldest of these on must have been inserted in the order of their sequence numbers, as commits do.
    pub(crate) fn newer_than(
        &self,
        sequence: SequenceNumber,
    ) -> impl Iterator<Item = (SequenceNumber, &[u8])> {
        let entries = (0..self.log.len()).rev().map(|index| {
            // SAFETY: the index is below the length just read, and the arena lives while `self` is borrowed.
            unsafe {
                let entry = self.entry(self.log.get(index));
                (entry.tag() >> 8, entry.user_key())
            }
        });
        entries.take_while(move |(found, _)| *found > sequence)
    }

    /// A cursor over all entries. It keeps the memtable alive.
    pub fn iter(self: &Arc<Self>) -> MemTableIterator {
        MemTableIterator::new(Arc::clone(self))
    }

    /// The memory held, in bytes, exact to the chunks in which it is allocated.
    pub fn approximate_memory_bytes(&self) -> usize {
        self.memory_bytes.load(Ordering::Relaxed) + self.order_bytes.load(Ordering::Relaxed)
    }

    /// The memory of the successor that was made ahead, in bytes.
    pub(crate) fn prepared_memory_bytes(&self) -> usize {
        self.prepared.lock().as_ref().map_or(0, |prepared| prepared.approximate_memory_bytes())
    }

    /// Estimates how many bytes the keys from `start` up to, but not including, `end` take with their values. Each version of a
    /// key counts.
    ///
    /// The estimate comes from a sample of the entries as they came, which needs no sorting; if there are few entries, the
    /// sample is all of them. While nothing is inserted, the sizes of adjacent ranges add up.
    pub fn approximate_size_between(&self, start: &[u8], end: &[u8]) -> u64 {
        const MOST_SAMPLED: usize = 4096;
        let entries = self.log.len();
        let stride = entries.div_ceil(MOST_SAMPLED).max(1);
        let strata = (0..entries).step_by(stride);
        let sizes = strata.map(|first| {
            // Not always the first of each: entries may come in a repeating pattern.
            let within = first.wrapping_mul(0x9e37_79b9) >> 16;
            let index = (first + within % stride).min(entries - 1);
            // SAFETY: the index is below the length read above, and the arena lives while `self` is borrowed.
            let (user_key, value) = unsafe {
                let entry = self.entry(self.log.get(index));
                (entry.user_key(), entry.value())
            };
            let is_within = self.comparator.compare(user_key, start).is_ge()
                && self.comparator.compare(user_key, end).is_lt();
            if is_within { (user_key.len() + value.len()) as u64 } else { 0 }
        });
        sizes.sum::<u64>() * stride as u64
    }

    /// Whether nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.log.len() == 0
    }

    /// Number of entries inserted, deletions included.
    pub fn entries(&self) -> u64 {
        self.log.len() as u64
    }

    /// Number of deletions inserted.
    pub fn deletions(&self) -> u64 {
        self.deletions.load(Ordering::Relaxed) as u64
    }

    /// How many entries a new cursor would first have to sort.
    pub fn unordered(&self) -> usize {
        self.log.len() - self.order.load().entries()
    }

    /// The order of all entries inserted so far.
    fn order(&self) -> Arc<Order> {
        let entries = self.log.len();
        let order = Arc::clone(&self.order.load());
        if order.entries() >= entries { order } else { self.extend_order(entries) }
    }

    /// Extends the order to at least the first `entries` of the log.
    #[cold]
    fn extend_order(&self, entries: usize) -> Arc<Order> {
        let _ordering = self.ordering.lock();
        let order = Arc::clone(&self.order.load());
        if order.entries() >= entries {
            return order;
        }
        let added = self.log.len() - order.entries();
        // If many entries came, sorting all of them is cheaper than merging.
        let keep = if added >= order.entries() { Order::default() } else { Order::clone(&order) };
        // SAFETY: below the length just read.
        let mut ids: Vec<EntryId> =
            (keep.entries()..self.log.len()).map(|index| unsafe { self.log.get(index) }).collect();
        // SAFETY: the ids are this arena's, and came through the log.
        unsafe { sort::sort(&self.arena, &self.comparator, &mut ids) };
        let longer = Arc::new(keep.with(&ids, |a, b| {
            // SAFETY: the arena lives while `self` is borrowed.
            let (user_key, tag) = unsafe { (self.entry(b).user_key(), self.entry(b).tag()) };
            self.is_before(a, user_key, tag)
        }));
        self.order_bytes.store(longer.memory_bytes(), Ordering::Relaxed);
        self.order.store(Arc::clone(&longer));
        longer
    }

    /// Finds the place of the first entry at or after `(user_key, tag)` in `order`.
    fn seek(&self, order: &Order, user_key: &[u8], tag: u64) -> Option<(LeafPlace, usize)> {
        order.seek(|id| self.is_before(id, user_key, tag), |id| self.entry(id).prefetch_key())
    }

    /// An entry of this memtable.
    #[inline]
    fn entry(&self, id: EntryId) -> EntryRef {
        // SAFETY: ids of this memtable do not leave it and its cursors. Other threads have them from the log, a slot, a
        // version's link or an order, all of which are stored with Release after the entry was allocated.
        unsafe { entry::at(&self.arena, id) }
    }

    #[inline]
    fn tag(&self, id: EntryId) -> u64 {
        // SAFETY: the arena lives while `self` is borrowed.
        unsafe { self.entry(id).tag() }
    }

    #[inline]
    fn has_user_key(&self, id: EntryId, user_key: &[u8]) -> bool {
        // SAFETY: the arena lives while `self` is borrowed.
        unsafe { self.entry(id).user_key() == user_key }
    }

    /// Whether an entry comes before `(sought_user_key, sought_tag)`: its user key is smaller, or the same and it is newer.
    #[inline]
    fn is_before(&self, id: EntryId, sought_user_key: &[u8], sought_tag: u64) -> bool {
        // SAFETY: the arena lives while `self` is borrowed.
        let (user_key, tag) = unsafe { (self.entry(id).user_key(), self.entry(id).tag()) };
        self.comparator.compare(user_key, sought_user_key).then_with(|| sought_tag.cmp(&tag)).is_lt()
    }
}

/// Adds entries to a memtable. While it lives, no other inserter can.
pub struct Inserter<'a> {
    memtable: &'a MemTable,
    writer: MutexGuard<'a, Writer>,
}

impl Inserter<'_> {
    /// As [`MemTable::insert`].
    pub fn insert(&mut self, sequence: SequenceNumber, kind: ValueKind, user_key: &[u8], value: &[u8]) {
        let tag = pack_tag(sequence, kind);
        let Self { memtable, writer } = self;
        let writer = &mut **writer;
        let hash = memtable.index.as_ref().map_or(0, |index| index.hash(user_key));
        let chunks_bytes = writer.arena.chunk_bytes();
        // SAFETY: the halves were made together.
        let (id, entry) = unsafe { entry::write(&memtable.arena, &mut writer.arena, user_key, tag, value) };
        let mut grew = writer.arena.chunk_bytes() != chunks_bytes;
        if let (Some(index), Some(index_writer)) = (&memtable.index, &mut writer.index) {
            let place = index_writer.place(hash, |other| memtable.has_user_key(other, user_key));
            match place.found {
                Some(newest) if memtable.tag(newest) > tag => memtable.link_older_version(newest, id, tag),
                newest => {
                    // SAFETY: the entry is this arena's, and this is the writer.
                    unsafe { entry.set_older(newest) };
                    grew |= index_writer.put(index, &place, hash, id);
                }
            }
        }
        // SAFETY: the writer's lock is held.
        grew |= unsafe { memtable.log.push(id) };
        if kind == ValueKind::Deletion {
            memtable.deletions.store(memtable.deletions.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        if grew {
            memtable.count_memory(writer);
        }
    }
}

impl fmt::Debug for MemTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemTable")
            .field("entries", &self.entries())
            .field("deletions", &self.deletions())
            .field("memory_bytes", &self.approximate_memory_bytes())
            .finish()
    }
}
