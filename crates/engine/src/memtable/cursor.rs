//! A cursor over a [`MemTable`], forwards and backwards.

use std::sync::Arc;

use terrace_format::internal_key::{tag, user_key};

use super::MemTable;
use super::entry::EntryRef;
use super::order::{Leaf, LeafPlace, Order};
use crate::error::Result;
use crate::iterator::InternalIterator;

/// How many entries ahead of a cursor to prefetch: they lie in memory in the order in which they were inserted.
const AHEAD: usize = 8;

/// A cursor over a [`MemTable`]. Its seeks and steps never fail.
///
/// It shows the entries that were there when it was positioned for the first time. Inserts since then do not change it.
pub struct MemTableIterator {
    memtable: Arc<MemTable>,
    order: Option<Arc<Order>>,
    /// `None` if the cursor is not valid.
    at: Option<Position>,
}

struct Position {
    place: LeafPlace,
    leaf: Leaf,
    index: usize,
    /// The entry there, one of `memtable`.
    entry: EntryRef,
}

// SAFETY: the entry belongs to the memtable that the cursor keeps alive, and memtables are shared between threads.
unsafe impl Send for MemTableIterator {}

impl MemTableIterator {
    pub(super) fn new(memtable: Arc<MemTable>) -> Self {
        Self { memtable, order: None, at: None }
    }

    fn order(&mut self) -> Arc<Order> {
        Arc::clone(self.order.get_or_insert_with(|| self.memtable.order()))
    }

    /// Moves to a leaf, and to the entry in it at the index that `choose` returns for its length.
    fn enter(&mut self, order: &Order, place: Option<LeafPlace>, choose: impl FnOnce(usize) -> usize) {
        self.at = place.map(|place| {
            let leaf = Arc::clone(order.leaf(place));
            let index = choose(leaf.len());
            let entry = self.memtable.entry(leaf[index]);
            Position { place, leaf, index, entry }
        });
    }

    fn current(&self) -> &Position {
        self.at.as_ref().expect("the cursor stands on an entry")
    }
}

impl InternalIterator for MemTableIterator {
    fn valid(&self) -> bool {
        self.at.is_some()
    }

    fn seek_to_first(&mut self) -> Result<()> {
        let order = self.order();
        self.enter(&order, order.first_leaf(), |_| 0);
        Ok(())
    }

    fn seek_to_last(&mut self) -> Result<()> {
        let order = self.order();
        self.enter(&order, order.last_leaf(), |len| len - 1);
        Ok(())
    }

    fn seek(&mut self, internal_target: &[u8]) -> Result<()> {
        let order = self.order();
        let found = self.memtable.seek(&order, user_key(internal_target), tag(internal_target));
        self.enter(&order, found.map(|(place, _)| place), |_| found.map_or(0, |(_, index)| index));
        Ok(())
    }

    fn next(&mut self) -> Result<()> {
        if self.next_at_hand().is_some() {
            return Ok(());
        }
        let place = self.current().place;
        let order = self.order();
        self.enter(&order, order.leaf_after(place), |_| 0);
        Ok(())
    }

    fn prev(&mut self) -> Result<()> {
        if self.prev_at_hand().is_some() {
            return Ok(());
        }
        let place = self.current().place;
        let order = self.order();
        self.enter(&order, order.leaf_before(place), |len| len - 1);
        Ok(())
    }

    /// The next entry of the same leaf.
    #[inline]
    fn next_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        let at = self.at.as_mut()?;
        let &id = at.leaf.get(at.index + 1)?;
        at.index += 1;
        at.entry = self.memtable.entry(id);
        if let Some(&ahead) = at.leaf.get(at.index + AHEAD) {
            self.memtable.entry(ahead).prefetch();
        }
        // SAFETY: as for `key`.
        Some(unsafe { (at.entry.key(), at.entry.value()) })
    }

    /// The previous entry of the same leaf.
    #[inline]
    fn prev_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        let at = self.at.as_mut()?;
        at.index = at.index.checked_sub(1)?;
        at.entry = self.memtable.entry(at.leaf[at.index]);
        if at.index >= AHEAD {
            self.memtable.entry(at.leaf[at.index - AHEAD]).prefetch();
        }
        // SAFETY: as for `key`.
        Some(unsafe { (at.entry.key(), at.entry.value()) })
    }

    fn key(&self) -> &[u8] {
        // SAFETY: the entry is one of `memtable`, which lives while `self` does.
        unsafe { self.current().entry.key() }
    }

    fn value(&self) -> &[u8] {
        // SAFETY: as for `key`.
        unsafe { self.current().entry.value() }
    }
}
