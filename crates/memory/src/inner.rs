//! The nodes of the tree, and how changes go down and splits come up.

use std::rc::Rc;

use crate::leaf::{self, Leaf};
use crate::separators::{Separators, shortest_between};

/// More children than this are split. A write beside a snapshot copies a node of each level, and counts its children's references.
const MOST_CHILDREN: usize = 64;

/// A node, shared by all maps that lead to it.
#[derive(Clone)]
pub(crate) enum Node {
    Leaf(Rc<Leaf>),
    Inner(Rc<Inner>),
}

/// Child `i` has the keys from separator `i - 1` on, up to but not including separator `i`.
#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) separators: Separators,
    pub(crate) children: Vec<Node>,
}

/// What a put has done.
pub(crate) struct Put {
    /// The length of the value that was there before.
    pub(crate) replaced: Option<usize>,
    /// The node that now follows the changed one, and the key that divides them.
    pub(crate) split: Option<(Vec<u8>, Node)>,
}

impl Node {
    pub(crate) fn empty() -> Self {
        Self::Leaf(Rc::default())
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let mut node = self;
        loop {
            match node {
                Self::Leaf(leaf) => return leaf.get(key),
                Self::Inner(inner) => node = &inner.children[inner.separators.child_of(key)],
            }
        }
    }

    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Put {
        match self {
            Self::Leaf(leaf) => {
                let leaf = Rc::make_mut(leaf);
                let replaced = leaf.put(key, value);
                let split = leaf.is_too_large().then(|| {
                    let later = leaf.split();
                    let separator = shortest_between(leaf.key(leaf.len() - 1), later.key(0)).to_vec();
                    (separator, Self::Leaf(Rc::new(later)))
                });
                Put { replaced, split }
            }
            Self::Inner(inner) => Rc::make_mut(inner).put(key, value),
        }
    }

    /// Deletes a key. Returns the length of its value. The node may be small or empty afterwards.
    pub(crate) fn remove(&mut self, key: &[u8]) -> Option<usize> {
        match self {
            Self::Leaf(leaf) => Rc::make_mut(leaf).remove(key),
            Self::Inner(inner) => Rc::make_mut(inner).remove(key),
        }
    }

    /// The node itself, or the only child below it.
    pub(crate) fn lowered(self) -> Self {
        match self {
            Self::Inner(inner) if inner.children.len() == 1 => inner.children[0].clone().lowered(),
            node => node,
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Leaf(leaf) => leaf.len() == 0,
            Self::Inner(inner) => inner.children.len() == 1 && inner.children[0].is_empty(),
        }
    }

    /// Whether it should be merged with a neighbour if that is possible.
    fn is_small(&self) -> bool {
        match self {
            Self::Leaf(leaf) => leaf.live_bytes() < leaf::MOST_BYTES / 4,
            Self::Inner(inner) => inner.children.len() < MOST_CHILDREN / 4,
        }
    }

    /// Whether both in one would leave room for more.
    fn fits(&self, following: &Self) -> bool {
        match (self, following) {
            (Self::Leaf(a), Self::Leaf(b)) => a.live_bytes() + b.live_bytes() <= leaf::MOST_BYTES / 4 * 3,
            (Self::Inner(a), Self::Inner(b)) => a.children.len() + b.children.len() <= MOST_CHILDREN / 4 * 3,
            _ => false,
        }
    }

    /// Takes over what the node after this one has.
    fn merge(&mut self, separator: &[u8], following: &Self) {
        match (self, following) {
            (Self::Leaf(leaf), Self::Leaf(following)) => Rc::make_mut(leaf).merge(following),
            (Self::Inner(inner), Self::Inner(following)) => {
                let inner = Rc::make_mut(inner);
                inner.separators.insert(inner.separators.len(), separator);
                inner.separators.extend(&following.separators);
                inner.children.extend_from_slice(&following.children);
            }
            _ => unreachable!("nodes beside each other are equally high"),
        }
    }
}

impl Inner {
    /// A node over two.
    pub(crate) fn over(earlier: Node, separator: &[u8], later: Node) -> Self {
        let mut separators = Separators::default();
        separators.insert(0, separator);
        Self { separators, children: vec![earlier, later] }
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Put {
        let child = self.separators.child_of(key);
        let Put { replaced, split } = self.children[child].put(key, value);
        let Some((separator, later)) = split else { return Put { replaced, split: None } };
        self.separators.insert(child, &separator);
        self.children.insert(child + 1, later);
        let is_too_large = self.children.len() > MOST_CHILDREN;
        // Where entries come in order, the earlier nodes stay full.
        let is_last = child + 2 == self.children.len();
        let place = if is_last { self.children.len() - 2 } else { self.children.len() / 2 };
        Put { replaced, split: is_too_large.then(|| self.split(place)) }
    }

    /// Splits off the children from `place` on.
    fn split(&mut self, place: usize) -> (Vec<u8>, Node) {
        let (separator, separators) = self.separators.split_off(place - 1);
        let children = self.children.split_off(place);
        (separator, Node::Inner(Rc::new(Self { separators, children })))
    }

    fn remove(&mut self, key: &[u8]) -> Option<usize> {
        let child = self.separators.child_of(key);
        let removed = self.children[child].remove(key)?;
        if self.children[child].is_empty() && self.children.len() > 1 {
            self.children.remove(child);
            self.separators.remove(child.saturating_sub(1));
        } else if self.children[child].is_small() {
            self.merge_around(child);
        }
        Some(removed)
    }

    /// Merges a child with a neighbour, if one has room.
    fn merge_around(&mut self, child: usize) {
        for first in [child.checked_sub(1), Some(child)].into_iter().flatten() {
            let fits =
                first + 1 < self.children.len() && self.children[first].fits(&self.children[first + 1]);
            if fits {
                let following = self.children.remove(first + 1);
                self.children[first].merge(self.separators.get(first), &following);
                self.separators.remove(first);
                return;
            }
        }
    }
}
