//! The ordered index of a memtable: a skiplist (Pugh 1990) whose nodes hold key and value inline.
//!
//! Predecessor: [`MemTable`](super::MemTable). Successor: [`Arena`].
//!
//! ```text
//! level 2  head ------------------------> b#7 ----------------------------> end
//! level 1  head ---------> a#3 ---------> b#7 ----------------> d#5 ------> end
//! level 0  head -> a#9 --> a#3 -> b#8 --> b#7 ----> c#2 ------> d#5 ------> end
//!
//! one node, in one piece of the arena (a tower of `height` links, lowest link last):
//! +----------------+-----+---------+---------+----------+------------+----------+-----+-------+
//! | link[height-1] | ... | link[1] | link[0] | key size | value size | user key | tag | value |
//! +----------------+-----+---------+---------+----------+------------+----------+-----+-------+
//!                                  ^ a `NodeRef` points here           \_ internal key _/
//! ```
//!
//! Growing the tower downwards from `link[0]` makes every part reachable without storing the height.
//!
//! Rules:
//! 1. One writer at a time: all that a writer changes lies behind a mutex. Readers take no lock.
//! 2. A node is written whole, with all its links, before the first link to it is stored. That store is
//!    `Release`, and readers load links with `Acquire`: who sees a node sees all of it.
//! 3. A node's key and value never change, and it is never taken out. So what a reader learnt about a node stays
//!    true, and a cursor stays good while the list lives.
//! 4. Links are stored from the lowest level up: a node found on a level is on every level below.
//! 5. Between two inserts the writer keeps the path to the last one. A key that belongs right behind it (a
//!    sequential load, or the next version of the same range) needs one or two comparisons.

use std::cmp::Ordering;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::atomic::Ordering as Memory;

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::{tag, user_key};
use terrace_format::limits::INTERNAL_KEY_TAG_SIZE_BYTES as TAG_BYTES;

use super::arena::Arena;
use crate::sync::{AtomicPtr, AtomicUsize, Mutex, PlainMemory};

/// Levels of the tallest tower. With one node in four rising a level, 12 levels suit 4^12 = 16 million entries;
/// more entries still work.
const MAX_HEIGHT: usize = 12;

/// One link of a tower: the node that follows on that level, or null.
#[repr(transparent)]
struct Link(AtomicPtr<Link>);

/// The fixed part of a node, from its lowest link on. Key and value follow.
#[repr(C)]
struct NodeStart {
    lowest_link: Link,
    key_bytes: u32,
    value_bytes: u32,
    /// For the two sizes, the key and the value.
    entry: PlainMemory,
}

/// A node of a list.
///
/// Invariant: it was made by [`SkipList::insert`] or [`SkipList::new`] of a list, or read from such a link, so it
/// points to a whole node as drawn above for as long as the list lives, with the provenance of its whole chunk.
/// The methods are unsafe because the type does not tie itself to the life of the list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct NodeRef(NonNull<Link>);

impl NodeRef {
    /// The link on `level`.
    ///
    /// # Safety
    /// The list lives for `'list`, and the node's tower is higher than `level`.
    unsafe fn link<'list>(self, level: usize) -> &'list AtomicPtr<Link> {
        // SAFETY: the tower grows downwards from link 0 within the node, and holds `level` (the caller's word).
        // Links are written before the node is reachable and afterwards only changed atomically.
        unsafe { &self.0.sub(level).as_ref().0 }
    }

    /// The node that follows on `level`.
    ///
    /// # Safety
    /// As for [`link`](Self::link).
    #[inline]
    unsafe fn next(self, level: usize) -> Option<NodeRef> {
        // SAFETY: passed on to the caller. A link is null or points to a node of the same list.
        NonNull::new(unsafe { self.link(level) }.load(Memory::Acquire)).map(NodeRef)
    }

    fn start(self) -> NonNull<NodeStart> {
        self.0.cast()
    }

    /// The internal key.
    ///
    /// # Safety
    /// The list lives for `'list`.
    #[inline]
    pub(super) unsafe fn key<'list>(self) -> &'list [u8] {
        let start = self.start().as_ptr();
        // SAFETY: a node is written whole before it is reachable (rule 2) and its key never changes (rule 3); the
        // sizes in its fixed part are those of the bytes that follow.
        unsafe {
            (*start).entry.read();
            let key_bytes = (*start).key_bytes as usize;
            slice::from_raw_parts(start.add(1).cast::<u8>(), key_bytes)
        }
    }

    /// The value.
    ///
    /// # Safety
    /// The list lives for `'list`.
    #[inline]
    pub(super) unsafe fn value<'list>(self) -> &'list [u8] {
        let start = self.start().as_ptr();
        // SAFETY: as in `key`; the value follows the key.
        unsafe {
            (*start).entry.read();
            let key_bytes = (*start).key_bytes as usize;
            let value_bytes = (*start).value_bytes as usize;
            slice::from_raw_parts(start.add(1).cast::<u8>().add(key_bytes), value_bytes)
        }
    }
}

/// What the writer needs and readers never see.
struct Writer {
    arena: Arena,
    /// On each level the last node that is not behind the entry inserted last.
    path: [NodeRef; MAX_HEIGHT],
    random: u64,
}

// SAFETY: the node references point into `arena`, which travels with them.
unsafe impl Send for Writer {}

/// An ordered set of entries that only grows: one writer, any number of readers without locks.
pub(super) struct SkipList {
    comparator: UserComparator,
    /// A node without an entry, as high as a tower can be, before all others.
    head: NodeRef,
    /// Levels in use. A reader that sees an old value starts lower and only takes longer.
    height: AtomicUsize,
    memory_bytes: AtomicUsize,
    entries: AtomicUsize,
    writer: Mutex<Writer>,
}

// SAFETY: nodes belong to the list's arena, which is freed only when the list is dropped. Shared access is by the
// rules above: changes under the mutex, publication by Release, reading by Acquire. All other fields are `Send` and
// `Sync` by themselves, the comparator by the demand of its trait.
unsafe impl Send for SkipList {}
// SAFETY: as for Send.
unsafe impl Sync for SkipList {}

impl SkipList {
    pub(super) fn new(comparator: UserComparator) -> Self {
        let mut arena = Arena::new();
        let head = allocate_node(&mut arena, MAX_HEIGHT, 0, 0);
        let memory_bytes = AtomicUsize::new(arena.memory_bytes());
        let writer = Writer { arena, path: [head; MAX_HEIGHT], random: 0x9e37_79b9_7f4a_7c15 };
        Self {
            comparator,
            head,
            height: AtomicUsize::new(1),
            memory_bytes,
            entries: AtomicUsize::new(0),
            writer: Mutex::new(writer),
        }
    }

    /// Bytes that the list holds, exact to the arena's chunks.
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory_bytes.load(Memory::Relaxed)
    }

    /// Entries inserted so far.
    pub(super) fn entries(&self) -> usize {
        self.entries.load(Memory::Relaxed)
    }

    /// Adds an entry. Should the very same internal key be there already, the new entry goes before it.
    ///
    /// # Panics
    /// If the key or the value is 4 GiB or larger. The limits of a batch are far below.
    pub(super) fn insert(&self, user_key: &[u8], tag: u64, value: &[u8]) {
        let key_bytes = u32::try_from(user_key.len() + TAG_BYTES).expect("a key is smaller than 4 GiB");
        let value_bytes = u32::try_from(value.len()).expect("a value is smaller than 4 GiB");

        let mut writer = self.writer.lock();
        let writer = &mut *writer;
        self.find_path(&mut writer.path, user_key, tag);

        let height = random_height(&mut writer.random);
        let node = allocate_node(&mut writer.arena, height, key_bytes, value_bytes);
        self.memory_bytes.store(writer.arena.memory_bytes(), Memory::Relaxed);
        // SAFETY: `allocate_node` wrote the fixed part and reserved this many bytes behind it; nobody else knows the node
        // yet.
        unsafe {
            node.start().as_ref().entry.write();
            let key_start = node.start().as_ptr().add(1).cast::<u8>();
            ptr::copy_nonoverlapping(user_key.as_ptr(), key_start, user_key.len());
            let tag_start = key_start.add(user_key.len());
            ptr::copy_nonoverlapping(tag.to_le_bytes().as_ptr(), tag_start, TAG_BYTES);
            ptr::copy_nonoverlapping(value.as_ptr(), tag_start.add(TAG_BYTES), value.len());
        }
        for (level, before) in writer.path[..height].iter().enumerate() {
            // SAFETY: the list lives; nodes on the path of a level have that level (they were found or inserted there, or
            // are the head).
            let after = unsafe { before.link(level) }.load(Memory::Relaxed);
            // SAFETY: the new node has `height` levels. Relaxed: the node is not published yet.
            unsafe { node.link(level) }.store(after, Memory::Relaxed);
        }
        if height > self.height.load(Memory::Relaxed) {
            self.height.store(height, Memory::Relaxed);
        }
        for (level, before) in writer.path[..height].iter_mut().enumerate() {
            // SAFETY: as above. Release publishes all that was written to the node.
            unsafe { before.link(level) }.store(node.0.as_ptr(), Memory::Release);
            *before = node;
        }
        self.entries.store(self.entries.load(Memory::Relaxed) + 1, Memory::Relaxed);
    }

    /// Makes `path` hold, on each level, the last node before `(user_key, tag)`.
    ///
    /// `path` is that of the last insert. Its entries above the levels in use are the head, as they must be.
    fn find_path(&self, path: &mut [NodeRef; MAX_HEIGHT], user_key: &[u8], tag: u64) {
        if self.belongs_behind(path[0], user_key, tag) {
            // Every node of the path is at or before `path[0]`, and nothing lies between it and the new key:
            // the path is right on all levels.
            return;
        }
        self.descend(user_key, tag, |level, node| path[level] = node);
    }

    /// Whether `(user_key, tag)` belongs right behind `node`.
    fn belongs_behind(&self, node: NodeRef, user_key: &[u8], tag: u64) -> bool {
        if node != self.head && !self.is_before(node, user_key, tag) {
            return false;
        }
        // SAFETY: the list lives while `self` is borrowed; every node has level 0.
        match unsafe { node.next(0) } {
            Some(next) => !self.is_before(next, user_key, tag),
            None => true,
        }
    }

    /// Whether `node` (not the head) comes before the entry sought: smaller user key, or the same and newer.
    #[inline]
    fn is_before(&self, node: NodeRef, sought_user_key: &[u8], sought_tag: u64) -> bool {
        // SAFETY: the list lives while `self` is borrowed.
        let node_key = unsafe { node.key() };
        match self.comparator.compare(user_key(node_key), sought_user_key) {
            Ordering::Less => true,
            Ordering::Equal => tag(node_key) > sought_tag,
            Ordering::Greater => false,
        }
    }

    /// Walks to the last node before `(user_key, tag)`, which may be the head, telling `visit` the last such node
    /// of each level on the way down. Returns that node and the one behind it.
    #[inline]
    fn descend(
        &self,
        user_key: &[u8],
        tag: u64,
        mut visit: impl FnMut(usize, NodeRef),
    ) -> (NodeRef, Option<NodeRef>) {
        let mut node = self.head;
        let mut level = self.height.load(Memory::Relaxed) - 1;
        // A node known not to be before the key. It often follows on the next level too.
        let mut not_before = None;
        loop {
            // SAFETY: `node` is the head, which has all levels, or was found on this level or a higher one.
            let next = unsafe { node.next(level) };
            match next {
                Some(next) if Some(next) != not_before && self.is_before(next, user_key, tag) => node = next,
                _ => {
                    visit(level, node);
                    if level == 0 {
                        return (node, next);
                    }
                    not_before = next;
                    level -= 1;
                }
            }
        }
    }

    /// The first entry at or after `(user_key, tag)`.
    #[inline]
    pub(super) fn find_at_or_after(&self, user_key: &[u8], tag: u64) -> Option<NodeRef> {
        self.descend(user_key, tag, |_, _| ()).1
    }

    /// The last entry before `(user_key, tag)`.
    pub(super) fn find_before(&self, user_key: &[u8], tag: u64) -> Option<NodeRef> {
        let (node, _) = self.descend(user_key, tag, |_, _| ());
        (node != self.head).then_some(node)
    }

    /// The newest version of `sought_user_key` at or below `tag`.
    #[inline]
    pub(super) fn find_version(&self, sought_user_key: &[u8], tag: u64) -> Option<NodeRef> {
        let node = self.find_at_or_after(sought_user_key, tag)?;
        // SAFETY: the list lives while `self` is borrowed.
        let node_user_key = user_key(unsafe { node.key() });
        let same = match &self.comparator {
            UserComparator::Bytewise => node_user_key == sought_user_key,
            custom => custom.compare(node_user_key, sought_user_key).is_eq(),
        };
        same.then_some(node)
    }

    /// The first entry.
    pub(super) fn first(&self) -> Option<NodeRef> {
        self.after(self.head)
    }

    /// The entry behind `node`, a node of this list.
    pub(super) fn after(&self, node: NodeRef) -> Option<NodeRef> {
        // SAFETY: the list lives while `self` is borrowed; every node has level 0.
        unsafe { node.next(0) }
    }

    /// The entry before `node`, a node of this list. It costs a search: nodes are linked forward only.
    pub(super) fn before(&self, node: NodeRef) -> Option<NodeRef> {
        // SAFETY: the list lives while `self` is borrowed.
        let key = unsafe { node.key() };
        self.find_before(user_key(key), tag(key))
    }

    /// The last entry.
    pub(super) fn last(&self) -> Option<NodeRef> {
        let mut node = self.head;
        for level in (0..self.height.load(Memory::Relaxed)).rev() {
            // SAFETY: `node` is the head, which has all levels, or was found on this level or a higher one.
            while let Some(next) = unsafe { node.next(level) } {
                node = next;
            }
        }
        (node != self.head).then_some(node)
    }
}

/// A height from 1 to [`MAX_HEIGHT`]: each further level with a chance of one in four.
fn random_height(state: &mut u64) -> usize {
    // Marsaglia's xorshift64; the seed is fixed, so that a run can be repeated.
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    let rises = (*state >> 32).trailing_zeros() as usize / 2;
    (1 + rises).min(MAX_HEIGHT)
}

/// Makes a node of `height` null links with its sizes set. Key and value are not initialised yet.
fn allocate_node(arena: &mut Arena, height: usize, key_bytes: u32, value_bytes: u32) -> NodeRef {
    let tower_bytes = (height - 1) * size_of::<Link>();
    let entry_bytes = (key_bytes as usize).checked_add(value_bytes as usize);
    let node_bytes = entry_bytes.and_then(|bytes| bytes.checked_add(tower_bytes + size_of::<NodeStart>()));
    let piece = arena.allocate(node_bytes.expect("the entry fits the address space"));
    // SAFETY: the piece holds the tower, the fixed part and the entry, in this order. It is aligned to 8 bytes,
    // and links are aligned to their size, which divides 8; so is the fixed part behind them.
    unsafe {
        let lowest = piece.add(tower_bytes).cast::<Link>();
        for level in 1..height {
            lowest.sub(level).write(Link(AtomicPtr::new(ptr::null_mut())));
        }
        let lowest_link = Link(AtomicPtr::new(ptr::null_mut()));
        let entry = PlainMemory::new();
        lowest.cast::<NodeStart>().write(NodeStart { lowest_link, key_bytes, value_bytes, entry });
        NodeRef(lowest)
    }
}
