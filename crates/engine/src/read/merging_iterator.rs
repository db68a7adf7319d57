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
//! The order of entries is by internal key, then by child: should two children hold the very same internal key,
//! the one with the smaller index comes first in both directions. The total order makes backward an exact mirror.
//!
//! Switching direction. Between the current entry `e` and a child's position nothing of that child lies. So
//! - forward to backward: a child's last entry before `e` is the one before its position, or its last if it is
//!   exhausted;
//! - backward to forward: a child's first entry after `e` is the one behind its position, or its first if it is
//!   exhausted.
//!
//! One step brings each child there; no search is needed. Only a memtable that grows meanwhile can put a new entry
//! in between, so the step is repeated until the child is on the right side of `e`.

use std::cmp::Ordering;

use terrace_format::internal_key::InternalKeyComparator;

use crate::error::Result;
use crate::iterator::InternalIterator;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// All entries of several cursors in one order. Nothing is hidden: every version and deletion appears.
pub struct MergingIterator {
    comparator: InternalKeyComparator,
    children: Vec<Box<dyn InternalIterator>>,
    direction: Direction,
    /// The child with the current entry; none where the cursor is not valid.
    current: Option<usize>,
    /// A heap of the other children that stand on an entry; the next one in the direction on top.
    others: Vec<usize>,
    /// The current key while the children turn round.
    pivot: Vec<u8>,
}

impl MergingIterator {
    /// Merges `children`. Give newer sources first: their order decides between equal internal keys.
    pub fn new(comparator: InternalKeyComparator, children: Vec<Box<dyn InternalIterator>>) -> Self {
        let others = Vec::with_capacity(children.len());
        Self { comparator, children, direction: Direction::Forward, current: None, others, pivot: Vec::new() }
    }

    /// Whether child `a` comes before child `b` in the current direction. Both stand on an entry.
    #[inline]
    fn comes_first(&self, a: usize, b: usize) -> bool {
        let order = self.comparator.compare(self.children[a].key(), self.children[b].key()).then(a.cmp(&b));
        match self.direction {
            Direction::Forward => order.is_lt(),
            Direction::Backward => order.is_gt(),
        }
    }

    /// Runs `movement`, which moves any children; then finds the current one among all.
    fn reposition(
        &mut self,
        direction: Direction,
        mut movement: impl FnMut(&mut dyn InternalIterator) -> Result<()>,
    ) -> Result<()> {
        self.current = None;
        for child in &mut self.children {
            movement(&mut **child)?;
        }
        self.direction = direction;
        self.gather();
        Ok(())
    }

    /// Builds the heap anew from all children on an entry, and takes the current child from its top.
    fn gather(&mut self) {
        self.others.clear();
        self.others.extend((0..self.children.len()).filter(|&index| self.children[index].valid()));
        for place in (0..self.others.len() / 2).rev() {
            self.sift_down(place);
        }
        self.current = self.pop();
    }

    fn pop(&mut self) -> Option<usize> {
        let last = self.others.pop()?;
        let Some(top) = self.others.first_mut() else { return Some(last) };
        let first = std::mem::replace(top, last);
        self.sift_down(0);
        Some(first)
    }

    /// Restores the heap below `place`, whose child may have to go deeper.
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
    fn step(&mut self, direction: Direction) -> Result<()> {
        let current = self.current.take().expect("the cursor stands on an entry");
        if self.direction != direction {
            self.turn(current, direction)?;
            advance(&mut *self.children[current], direction)?;
            self.gather();
            return Ok(());
        }
        advance(&mut *self.children[current], direction)?;
        if !self.children[current].valid() {
            self.current = self.pop();
            return Ok(());
        }
        self.current = match self.others.first() {
            Some(&top) if self.comes_first(top, current) => {
                self.others[0] = current;
                self.sift_down(0);
                Some(top)
            }
            _ => Some(current),
        };
        Ok(())
    }

    /// Brings every child but `current` to the other side of the current entry: see the head of this file.
    fn turn(&mut self, current: usize, direction: Direction) -> Result<()> {
        self.pivot.clear();
        self.pivot.extend_from_slice(self.children[current].key());
        let wrong_side = match direction {
            Direction::Forward => Ordering::Less,
            Direction::Backward => Ordering::Greater,
        };
        for (index, child) in self.children.iter_mut().enumerate() {
            if index == current {
                continue;
            }
            match (child.valid(), direction) {
                (true, _) => advance(&mut **child, direction)?,
                (false, Direction::Forward) => child.seek_to_first()?,
                (false, Direction::Backward) => child.seek_to_last()?,
            }
            while child.valid()
                && self.comparator.compare(child.key(), &self.pivot).then(index.cmp(&current)) == wrong_side
            {
                advance(&mut **child, direction)?;
            }
        }
        self.direction = direction;
        Ok(())
    }

    fn current_child(&self) -> &dyn InternalIterator {
        &*self.children[self.current.expect("the cursor stands on an entry")]
    }
}

fn advance(child: &mut dyn InternalIterator, direction: Direction) -> Result<()> {
    match direction {
        Direction::Forward => child.next(),
        Direction::Backward => child.prev(),
    }
}

/// An error of any child makes the cursor invalid; a seek moves every child anew.
impl InternalIterator for MergingIterator {
    fn valid(&self) -> bool {
        self.current.is_some()
    }

    fn seek_to_first(&mut self) -> Result<()> {
        self.reposition(Direction::Forward, |child| child.seek_to_first())
    }

    fn seek_to_last(&mut self) -> Result<()> {
        self.reposition(Direction::Backward, |child| child.seek_to_last())
    }

    fn seek(&mut self, internal_target: &[u8]) -> Result<()> {
        self.reposition(Direction::Forward, |child| child.seek(internal_target))
    }

    fn next(&mut self) -> Result<()> {
        self.step(Direction::Forward)
    }

    fn prev(&mut self) -> Result<()> {
        self.step(Direction::Backward)
    }

    fn key(&self) -> &[u8] {
        self.current_child().key()
    }

    fn value(&self) -> &[u8] {
        self.current_child().value()
    }
}

#[cfg(test)]
pub(crate) mod test_support;
#[cfg(test)]
mod tests;
