//! A position in the tree, with the path that led there.

use std::ops::Bound;
use std::rc::Rc;

use crate::inner::{Inner, Node};
use crate::leaf::Leaf;

/// A position in a map as it was when the cursor was made. Changes to the map do not show.
pub struct Cursor {
    root: Node,
    /// The inner nodes from the root down, each with the child that was taken.
    way: Vec<(Rc<Inner>, usize)>,
    /// The leaf, and the entry in it.
    at: Option<(Rc<Leaf>, usize)>,
}

impl Cursor {
    pub(crate) fn new(root: Node) -> Self {
        Self { root, way: Vec::new(), at: None }
    }

    /// The key and the value at the cursor.
    #[inline]
    pub fn entry(&self) -> Option<(&[u8], &[u8])> {
        self.at.as_ref().map(|(leaf, index)| leaf.entry(*index))
    }

    /// Goes to no entry.
    pub fn leave(&mut self) {
        self.at = None;
    }

    /// Goes to the first key of a range, or to the last if `reverse` says so. If the range is empty, this may be a key beyond
    /// its other end.
    pub fn seek_within(&mut self, (lower, upper): (Bound<&[u8]>, Bound<&[u8]>), reverse: bool) {
        if reverse { self.seek_back(upper) } else { self.seek(lower) }
    }

    /// Goes to the first key that is within a lower bound.
    pub fn seek(&mut self, lower: Bound<&[u8]>) {
        let (Bound::Included(key) | Bound::Excluded(key)) = lower else { return self.descend_to_edge(false) };
        self.descend(key);
        let is_found = matches!(self.entry(), Some((found, _)) if found == key);
        if is_found && matches!(lower, Bound::Excluded(_)) {
            self.step(false);
        }
    }

    /// Goes to the last key that is within an upper bound.
    pub fn seek_back(&mut self, upper: Bound<&[u8]>) {
        let (Bound::Included(key) | Bound::Excluded(key)) = upper else { return self.descend_to_edge(true) };
        self.descend(key);
        let Some((found, _)) = self.entry() else { return self.descend_to_edge(true) };
        if found != key || matches!(upper, Bound::Excluded(_)) {
            self.step(true);
        }
    }

    /// Goes to the next key, or to the one before if `reverse` says so; to none at the end.
    #[inline]
    pub fn step(&mut self, reverse: bool) {
        let Some((leaf, index)) = &mut self.at else { return };
        if reverse && *index > 0 {
            *index -= 1;
        } else if !reverse && *index + 1 < leaf.len() {
            *index += 1;
        } else {
            self.next_leaf(reverse);
        }
    }

    /// Goes to the first key at or after `key`.
    fn descend(&mut self, key: &[u8]) {
        self.way.clear();
        let mut node = self.root.clone();
        let leaf = loop {
            match node {
                Node::Leaf(leaf) => break leaf,
                Node::Inner(inner) => {
                    let child = inner.separators.child_of(key);
                    node = inner.children[child].clone();
                    self.way.push((inner, child));
                }
            }
        };
        let (Ok(index) | Err(index)) = leaf.find(key);
        let is_beyond = index == leaf.len();
        self.at = Some((leaf, index));
        if is_beyond {
            self.next_leaf(false);
        }
    }

    fn descend_to_edge(&mut self, last: bool) {
        self.way.clear();
        self.descend_along_edge(self.root.clone(), last);
    }

    /// Goes to the first or the last entry below `node`.
    fn descend_along_edge(&mut self, mut node: Node, last: bool) {
        let leaf = loop {
            match node {
                Node::Leaf(leaf) => break leaf,
                Node::Inner(inner) => {
                    let child = if last { inner.children.len() - 1 } else { 0 };
                    node = inner.children[child].clone();
                    self.way.push((inner, child));
                }
            }
        };
        let index = if last { leaf.len().saturating_sub(1) } else { 0 };
        self.at = (leaf.len() > 0).then_some((leaf, index));
    }

    #[cold]
    fn next_leaf(&mut self, reverse: bool) {
        self.at = None;
        while let Some((inner, child)) = self.way.pop() {
            let next = if reverse { child.checked_sub(1) } else { Some(child + 1) };
            if let Some(next) = next.filter(|&next| next < inner.children.len()) {
                let node = inner.children[next].clone();
                self.way.push((inner, next));
                return self.descend_along_edge(node, reverse);
            }
        }
    }
}
