//! The newest entries of a database, in memory and in order, until they are flushed to a table.
//!
//! Predecessor: the commit path, which inserts a batch after its log record is written. Successors: the flush,
//! which writes [`MemTable::iter`] to a table, and reads. Below: [`skiplist`] (the order) and [`arena`] (the
//! memory).
//!
//! The rest of the engine knows only [`MemTable`], [`MemEntry`] and [`MemTableIterator`]. Another structure can
//! take the skiplist's place behind them.
//!
//! Rules:
//! 1. One writer at a time: the caller holds the commit lock. (A mutex inside keeps a mistake from being worse
//!    than slow.) Reads need no lock and may run beside the writer.
//! 2. An insert is seen by reads that begin after it returned. A read beside it sees the entry whole or not at all;
//!    sequence numbers hide what is not published yet.
//! 3. An entry is never changed or taken out. Slices stay good while the memtable lives.
//! 4. The memtable accounts for its memory itself, exact to the arena's chunks.

mod arena;
mod skiplist;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_format::internal_key::{
    InternalKeyComparator, SEEK_KIND, SequenceNumber, ValueKind, pack_tag, tag, user_key,
};

use crate::error::Result;
use crate::iterator::InternalIterator;
use crate::sync::AtomicUsize;
use skiplist::{NodeRef, SkipList};

/// The newest entries, in memory.
pub struct MemTable {
    list: SkipList,
    deletions: AtomicUsize,
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
        Self { list: SkipList::new(comparator.user().clone()), deletions: AtomicUsize::new(0) }
    }

    /// Adds an entry; `value` is empty for a deletion.
    ///
    /// The caller holds the commit lock, and gives each entry a sequence number of its own.
    ///
    /// # Panics
    /// If the key or the value is 4 GiB or larger: a write batch refuses them long before.
    pub fn insert(&self, sequence: SequenceNumber, kind: ValueKind, user_key: &[u8], value: &[u8]) {
        if kind == ValueKind::Deletion {
            self.deletions.fetch_add(1, Ordering::Relaxed);
        }
        self.list.insert(user_key, pack_tag(sequence, kind), value);
    }

    /// What the newest entry of `user_key` with a sequence number of at most `sequence` says; `None` if there is
    /// none here, and an older memtable or a table may know. Copies and allocates nothing.
    pub fn get(&self, user_key: &[u8], sequence: SequenceNumber) -> Option<MemEntry<'_>> {
        let node = self.list.find_version(user_key, pack_tag(sequence, SEEK_KIND))?;
        // SAFETY: the node is one of this list, which lives while `self` is borrowed.
        let (internal_key, value) = unsafe { (node.key(), node.value()) };
        // The lowest byte of the tag is the kind; only `insert` wrote it.
        let is_value = tag(internal_key) as u8 == ValueKind::Value as u8;
        Some(if is_value { MemEntry::Value(value) } else { MemEntry::Deletion })
    }

    /// A cursor over all entries. It keeps the memtable alive, and may meet entries inserted later.
    pub fn iter(self: &Arc<Self>) -> MemTableIterator {
        MemTableIterator { memtable: Arc::clone(self), node: None }
    }

    /// Bytes of memory held, exact to the chunks in which it is allocated.
    pub fn approximate_memory_bytes(&self) -> usize {
        self.list.memory_bytes()
    }

    /// Whether nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.list.entries() == 0
    }

    /// Entries inserted, deletions among them.
    pub fn entries(&self) -> u64 {
        self.list.entries() as u64
    }

    /// Deletions inserted.
    pub fn deletions(&self) -> u64 {
        self.deletions.load(Ordering::Relaxed) as u64
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

/// A cursor over a [`MemTable`]. Its seeks and steps never fail.
pub struct MemTableIterator {
    memtable: Arc<MemTable>,
    /// A node of `memtable`, or none where the cursor is not valid.
    node: Option<NodeRef>,
}

// SAFETY: the node belongs to the memtable that the cursor keeps alive, and memtables are shared between threads.
unsafe impl Send for MemTableIterator {}

impl MemTableIterator {
    fn current(&self) -> NodeRef {
        self.node.expect("the cursor stands on an entry")
    }
}

impl InternalIterator for MemTableIterator {
    fn valid(&self) -> bool {
        self.node.is_some()
    }

    fn seek_to_first(&mut self) -> Result<()> {
        self.node = self.memtable.list.first();
        Ok(())
    }

    fn seek_to_last(&mut self) -> Result<()> {
        self.node = self.memtable.list.last();
        Ok(())
    }

    fn seek(&mut self, internal_target: &[u8]) -> Result<()> {
        self.node = self.memtable.list.find_at_or_after(user_key(internal_target), tag(internal_target));
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        self.node = self.memtable.list.after(self.current());
        Ok(())
    }

    fn prev(&mut self) -> Result<()> {
        self.node = self.memtable.list.before(self.current());
        Ok(())
    }

    fn key(&self) -> &[u8] {
        // SAFETY: the node is one of `memtable`, which lives while `self` does.
        unsafe { self.current().key() }
    }

    fn value(&self) -> &[u8] {
        // SAFETY: as for `key`.
        unsafe { self.current().value() }
    }
}
