//! One ordered cursor over several: memtables, level-0 tables and one cursor for each deeper level.
//!
//! Predecessor: [`DbIterator`](super::db_iterator::DbIterator), and compaction. Successors: the cursors of memtables,
//! tables and levels.
//!
//! ```text
//! Forward. The current child holds the smallest key; every other child stands on its first entry after it.
//!
//!   child 0   a   c  [g]  k                 current = 1 (e)
//!   child 1   b  [e]  f                     others  = min-heap: 0 (g), 2 (h)     3 is exhausted
//!   child 2   d  [h]                        next(): child 1 moves to f. One comparison with the heap's
//!   child 3   a   b  end                            top (g) shows that it stays current.
//!
//! Backward is the mirror: the current child holds the largest key; every other child stands on its last entry
//! before it; `others` is a max-heap.
//!
//!   child 0   a  [c]  g   k                 current = 1 (e), reached by prev() from f
//!   child 1   b  [e]  f                     others  = max-heap: 2 (d), 0 (c), 3 (b)
//!   child 2  [d]  h
//!   child 3   a  [b]
//! ```
//!
//! Heads are compared by the ranks of their user keys, and by the keys themselves only if the ranks are equal.
//!
//! Entries are ordered by internal key, then by child: if two children hold the same internal key, the child with the
//! smaller index comes first. The order is total, which makes backward an exact mirror of forward.
//!
//! Switching direction: a child has no entry between the current entry `e` and its position. So
//! - forward to backward: a child's last entry before `e` is the one before its position, or its last one if it is
//!   exhausted;
//! - backward to forward: a child's first entry after `e` is the one after its position, or its first one if it is
//!   exhausted.
//!
//! One step brings each child there. No search is needed, because no child's entries change while it is merged.

use std::cmp::Ordering;

use terrace_format::internal_key::{InternalKeyComparator, user_key};

use super::key_rank::rank;
use crate::error::Result;
use crate::iterator::{InternalIterator, PREPARATIONS, StoredBlock};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// Stands for the tag of a key that is too short to have one. Its kind is not a known one.
const NO_TAG: u64 = u64::MAX;

/// A child that stands on an entry, and what most readers need to know about its key.
#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    child: usize,
    /// The [rank] of its user key.
    pub(super) rank: u128,
    pub(super) user_key_length: usize,
    pub(super) tag: u64,
}

/// The address of the current entry. A reader asks for the entry several times, and finding it takes many calls.
struct EntryPlace {
    key: *const [u8],
    value: *const [u8],
}

// SAFETY: the pointers lead to memory of a child, which is `Send` and moves along with them.
unsafe impl Send for EntryPlace {}

impl EntryPlace {
    #[inline]
    fn of((key, value): (&[u8], &[u8])) -> Self {
        Self { key, value }
    }
}

/// All entries of several cursors in one order. Nothing is hidden: every version and deletion appears.
pub struct MergingIterator<C = Box<dyn InternalIterator>> {
    comparator: InternalKeyComparator,
    children: Vec<C>,
    direction: Direction,
    valid: bool,
    /// The child with the current entry; meaningless if the cursor is not valid.
    current: Head,
    /// The current child's entry. While the cursor is valid, no child was moved or borrowed mutably since this was set.
    entry: EntryPlace,
    /// A heap of the other children that stand on an entry, with the next one in the direction on top.
    others: Vec<Head>,
}

impl<C: InternalIterator> MergingIterator<C> {
    /// Merges `children`. Newer sources come first, because their order decides between equal internal keys.
    pub fn new(comparator: InternalKeyComparator, children: Vec<C>) -> Self {
        let others = Vec::with_capacity(children.len());
        let (direction, current, entry) = (Direction::Forward, Head::default(), EntryPlace::of((&[], &[])));
        Self { comparator, children, direction, valid: false, current, entry, others }
    }

    /// Merges these children from now on. None of them is positioned.
    pub(super) fn set_children(&mut self, children: Vec<C>) {
        self.valid = false;
        self.others = Vec::with_capacity(children.len());
        self.children = children;
    }

    /// What is known about the current key. Needs `valid()`.
    #[inline]
    pub(super) fn head(&self) -> &Head {
        &self.current
    }

    /// Whether it is known without moving that the entry before the current one has a smaller user key. Needs `valid()`, after
    /// a movement backward.
    #[inline]
    pub(super) fn begins_its_key(&self) -> bool {
        let child = &self.children[self.current.child];
        let Some(before) = child.key_before() else { return false };
        let user = self.comparator.user();
        // Keys that are out of order do not count as smaller.
        let is_smaller = |rank: u128, key: &[u8]| {
            rank < self.current.rank
                || (rank == self.current.rank && user.compare(user_key(key), user_key(child.key())).is_lt())
        };
        self.direction == Direction::Backward
            && is_smaller(rank(user, before), before)
            && self.others.first().is_none_or(|top| is_smaller(top.rank, self.children[top.child].key()))
    }

    /// Whether child `a` comes before child `b` in the current direction. Both stand on an entry.
    #[inline]
    fn comes_first(&self, a: Head, b: Head) -> bool {
        let order = a.rank.cmp(&b.rank).then_with(|| self.compare_keys(a.child, b.child));
        match self.direction {
            Direction::Forward => order.is_lt(),
            Direction::Backward => order.is_gt(),
        }
    }

    fn compare_keys(&self, a: usize, b: usize) -> Ordering {
        self.comparator.compare(self.children[a].key(), self.children[b].key()).then(a.cmp(&b))
    }

    /// Runs `movement` on all children, then finds the current one.
    fn reposition(&mut self, direction: Direction, movement: impl Fn(&mut C) -> Result<()>) -> Result<()> {
        self.valid = false;
        for child in &mut self.children {
            movement(child)?;
        }
        self.direction = direction;
        self.gather();
        Ok(())
    }

    /// Rebuilds the heap from all children that stand on an entry, and takes the current child from its top.
    fn gather(&mut self) {
        self.others.clear();
        for child in 0..self.children.len() {
            if self.children[child].valid() {
                self.others.push(head_of(&self.comparator, child, self.children[child].key()));
            }
        }
        for place in (0..self.others.len() / 2).rev() {
            self.sift_down(place);
        }
        self.pop();
    }

    /// Makes the heap's top the current child, if there is one.
    fn pop(&mut self) {
        let Some(last) = self.others.pop() else { return };
        self.valid = true;
        self.current = last;
        if let Some(top) = self.others.first_mut() {
            std::mem::swap(top, &mut self.current);
            self.sift_down(0);
        }
        self.entry = EntryPlace::of(self.children[self.current.child].entry());
    }

    /// Restores the heap below `place`, whose child may have to move down.
    fn sift_down(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            if left >= self.others.len() {
                return;
            }
            let right = left + 1;
            let right_first =
                right < self.others.len() && self.comes_first(self.others[right], self.others[left]);
            let best = if right_first { right } else { left };
            if !self.comes_first(self.others[best], self.others[place]) {
                return;
            }
            self.others.swap(place, best);
            place = best;
        }
    }

    /// Moves one entry in `direction`.
    #[inline(always)]
    fn step(&mut self, direction: Direction) -> Result<()> {
        assert!(self.valid, "the cursor stands on an entry");
        self.valid = false;
        if self.direction != direction {
            return self.turn_and_step(direction);
        }
        let index = self.current.child;
        let child = &mut self.children[index];
        let at_hand = match direction {
            Direction::Forward => child.next_at_hand(),
            Direction::Backward => child.prev_at_hand(),
        };
        if let Some(entry) = at_hand {
            self.current = head_of(&self.comparator, index, entry.0);
            self.entry = EntryPlace::of(entry);
        } else {
            advance(child, direction)?;
            if !child.valid() {
                self.pop();
                return Ok(());
            }
            self.take_from(index);
        }
        self.valid = true;
        if self.others.first().is_some_and(|top| self.comes_first(*top, self.current)) {
            self.change_child();
        }
        Ok(())
    }

    /// Makes the child at `index`, which stands on an entry, the current one.
    fn take_from(&mut self, index: usize) {
        let entry = self.children[index].entry();
        self.current = head_of(&self.comparator, index, entry.0);
        self.entry = EntryPlace::of(entry);
    }

    /// Swaps the current child with the heap's top.
    fn change_child(&mut self) {
        std::mem::swap(&mut self.others[0], &mut self.current);
        self.sift_down(0);
        self.entry = EntryPlace::of(self.children[self.current.child].entry());
    }

    #[inline(never)]
    fn turn_and_step(&mut self, direction: Direction) -> Result<()> {
        let current = self.current.child;
        self.turn(current, direction)?;
        advance(&mut self.children[current], direction)?;
        self.gather();
        Ok(())
    }

    /// Moves every child but `current` to the other side of the current entry: see the head of this file.
    fn turn(&mut self, current: usize, direction: Direction) -> Result<()> {
        for (index, child) in self.children.iter_mut().enumerate() {
            if index == current {
                continue;
            }
            match (child.valid(), direction) {
                (true, _) => advance(child, direction)?,
                (false, Direction::Forward) => child.seek_to_first()?,
                (false, Direction::Backward) => child.seek_to_last()?,
            }
        }
        self.direction = direction;
        Ok(())
    }
}

#[inline(always)]
fn head_of(comparator: &InternalKeyComparator, child: usize, key: &[u8]) -> Head {
    Head {
        child,
        rank: rank(comparator.user(), key),
        user_key_length: user_key(key).len(),
        tag: key.last_chunk().map_or(NO_TAG, |bytes| u64::from_le_bytes(*bytes)),
    }
}

#[inline(always)]
fn advance(child: &mut impl InternalIterator, direction: Direction) -> Result<()> {
    match direction {
        Direction::Forward => child.next(),
        Direction::Backward => child.prev(),
    }
}

/// An error of any child makes the cursor invalid. A seek positions every child again.
impl<C: InternalIterator> InternalIterator for MergingIterator<C> {
    #[inline]
    fn valid(&self) -> bool {
        self.valid
    }

    fn seek_to_first(&mut self) -> Result<()> {
        self.reposition(Direction::Forward, |child| child.seek_to_first())
    }

    fn seek_to_last(&mut self) -> Result<()> {
        self.reposition(Direction::Backward, |child| child.seek_to_last())
    }

    fn seek(&mut self, internal_target: &[u8]) -> Result<()> {
        if self.children.len() > 1 {
            self.valid = false;
            for preparation in PREPARATIONS {
                for child in &mut self.children {
                    child.prepare_seek(internal_target, preparation);
                }
            }
        }
        self.reposition(Direction::Forward, |child| child.seek(internal_target))
    }

    #[inline]
    fn next(&mut self) -> Result<()> {
        self.step(Direction::Forward)
    }

    #[inline]
    fn prev(&mut self) -> Result<()> {
        self.step(Direction::Backward)
    }

    #[inline]
    fn key(&self) -> &[u8] {
        assert!(self.valid, "the cursor stands on an entry");
        // SAFETY: the child returned this slice, and has neither moved nor been moved since. Children are in a vector that
        // does not change. Every movement begins by clearing `valid`; if it ends with `valid` set, the place was taken
        // after the last mutable borrow of a child, or is what that borrow returned. Since then the child was borrowed
        // only shared. Such a borrow changes nothing that the child returned, because no child has interior mutability
        // there. Hence the slice is unchanged, and this borrow of `self` keeps it so.
        unsafe { &*self.entry.key }
    }

    #[inline]
    fn value(&self) -> &[u8] {
        assert!(self.valid, "the cursor stands on an entry");
        // SAFETY: as for the key.
        unsafe { &*self.entry.value }
    }

    fn stored_block(&self) -> Option<StoredBlock<'_>> {
        assert!(self.valid, "the cursor stands on an entry");
        self.children[self.current.child].stored_block()
    }
}

#[cfg(test)]
pub(crate) mod test_support;
#[cfg(test)]
mod tests;
