//! The order of a memtable's entries, as far as a reader needed it: a tree of three levels that never changes.
//! Predecessor: [`sort`](super::sort), which sorts newer entries. Successor: the cursor.
//!
//! ```text
//!             +----------+----------+
//! order       | branch 0 | branch 1 |            branches: 1 to 32 leaves each
//!             +----------+----------+
//!                  |           \________________
//!             +--------+--------+          +--------+--------+--------+
//!             | leaf 0 | leaf 1 |          | leaf 0 | leaf 1 | leaf 2 |      leaves: 1 to 512 entries each
//!             +--------+--------+          +--------+--------+--------+
//! ```
//!
//! Newer entries make a new tree ([`Order::with`]), which shares all leaves and branches to which nothing was added with the
//! old one. A cursor therefore keeps the tree with which it began, and a new cursor costs little after a few more entries.

use std::sync::Arc;

use super::arena::EntryId;

const MAX_LEAF_ENTRIES: usize = if cfg!(any(miri, loom)) { 4 } else { 512 };
const MAX_BRANCH_LEAVES: usize = if cfg!(any(miri, loom)) { 3 } else { 32 };

/// One or more entries, in order.
pub(super) type Leaf = Arc<[EntryId]>;
/// One or more leaves, in order.
type Branch = Arc<[Leaf]>;

/// See the head of this file.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    branches: Vec<Branch>,
    entries: usize,
}

/// A leaf's place in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeafPlace {
    branch: usize,
    leaf: usize,
}

impl Order {
    /// The order of these entries, which must be sorted.
    pub(super) fn of(sorted: &[EntryId]) -> Self {
        let leaves: Vec<Leaf> = even_parts(sorted, MAX_LEAF_ENTRIES).map(Arc::from).collect();
        Self {
            branches: even_parts(&leaves, MAX_BRANCH_LEAVES).map(Arc::from).collect(),
            entries: sorted.len(),
        }
    }

    /// The order of these entries and of `added`, which must be sorted too. `is_before(a, b)` returns whether `a` comes
    /// before `b`. If an added entry equals another, it comes first.
    pub(super) fn with(&self, added: &[EntryId], is_before: impl Fn(EntryId, EntryId) -> bool) -> Self {
        if self.entries == 0 {
            return Self::of(added);
        }
        let branches = merge_into(&self.branches, added, &is_before);
        Self { branches, entries: self.entries + added.len() }
    }

    /// The number of entries.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// Memory of the tree, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        /// The two counts of an `Arc`, and the pointer to it with its length.
        const SHARED_BYTES: usize = 4 * size_of::<usize>();
        let leaves: usize = self.branches.iter().map(|branch| branch.len()).sum();
        self.entries * size_of::<EntryId>() + (leaves + self.branches.len()) * SHARED_BYTES
    }

    pub(super) fn leaf(&self, place: LeafPlace) -> &Leaf {
        &self.branches[place.branch][place.leaf]
    }

    pub(super) fn first_leaf(&self) -> Option<LeafPlace> {
        (self.entries > 0).then_some(LeafPlace { branch: 0, leaf: 0 })
    }

    pub(super) fn last_leaf(&self) -> Option<LeafPlace> {
        let branch = self.branches.len().checked_sub(1)?;
        Some(LeafPlace { branch, leaf: self.branches[branch].len() - 1 })
    }

    pub(super) fn leaf_after(&self, place: LeafPlace) -> Option<LeafPlace> {
        let LeafPlace { branch, leaf } = place;
        if leaf + 1 < self.branches[branch].len() {
            return Some(LeafPlace { branch, leaf: leaf + 1 });
        }
        (branch + 1 < self.branches.len()).then_some(LeafPlace { branch: branch + 1, leaf: 0 })
    }

    pub(super) fn leaf_before(&self, place: LeafPlace) -> Option<LeafPlace> {
        let LeafPlace { branch, leaf } = place;
        if leaf > 0 {
            return Some(LeafPlace { branch, leaf: leaf - 1 });
        }
        let branch = branch.checked_sub(1)?;
        Some(LeafPlace { branch, leaf: self.branches[branch].len() - 1 })
    }

    /// Finds the leaf and the index of the first entry for which `is_before_target` does not hold. It must hold for all
    /// entries up to some point and for none after it. Entries about to be compared go to `prefetch` first.
    pub(super) fn seek(
        &self,
        is_before_target: impl Fn(EntryId) -> bool,
        prefetch: impl Fn(EntryId),
    ) -> Option<(LeafPlace, usize)> {
        if self.entries == 0 {
            return None;
        }
        let branch = last_beginning_before(&self.branches, &is_before_target);
        let leaf = last_beginning_before(&self.branches[branch], &is_before_target);
        let place = LeafPlace { branch, leaf };
        let index = partition_point(self.leaf(place), is_before_target, prefetch);
        if index < self.leaf(place).len() {
            return Some((place, index));
        }
        Some((self.leaf_after(place)?, 0))
    }
}

/// A leaf or a branch.
trait Part: Clone {
    fn first(&self) -> EntryId;

    /// Appends to `out` the parts that this one becomes with the entries `added`.
    fn merge(&self, added: &[EntryId], is_before: &impl Fn(EntryId, EntryId) -> bool, out: &mut Vec<Self>);
}

impl Part for Leaf {
    fn first(&self) -> EntryId {
        self[0]
    }

    fn merge(&self, added: &[EntryId], is_before: &impl Fn(EntryId, EntryId) -> bool, out: &mut Vec<Self>) {
        let mut merged = Vec::with_capacity(self.len() + added.len());
        let mut rest = &self[..];
        for &entry in added {
            let (before, behind) = rest.split_at(rest.partition_point(|&other| is_before(other, entry)));
            merged.extend_from_slice(before);
            merged.push(entry);
            rest = behind;
        }
        merged.extend_from_slice(rest);
        out.extend(even_parts(&merged, MAX_LEAF_ENTRIES).map(Leaf::from));
    }
}

impl Part for Branch {
    fn first(&self) -> EntryId {
        self[0][0]
    }

    fn merge(&self, added: &[EntryId], is_before: &impl Fn(EntryId, EntryId) -> bool, out: &mut Vec<Self>) {
        let merged = merge_into(self, added, is_before);
        out.extend(even_parts(&merged, MAX_BRANCH_LEAVES).map(Branch::from));
    }
}

/// Merges each of the `added` entries into the part where it belongs. The other parts stay unchanged.
fn merge_into<P: Part>(
    parts: &[P],
    mut added: &[EntryId],
    is_before: &impl Fn(EntryId, EntryId) -> bool,
) -> Vec<P> {
    let mut merged = Vec::with_capacity(parts.len() + 1);
    let mut rest = parts;
    while let Some(&next) = added.first() {
        let untouched = last_beginning_before(rest, &|first| is_before(first, next));
        merged.extend_from_slice(&rest[..untouched]);
        let part = &rest[untouched];
        rest = &rest[untouched + 1..];
        let here = match rest.first() {
            Some(behind) => added.partition_point(|&entry| !is_before(behind.first(), entry)),
            None => added.len(),
        };
        part.merge(&added[..here], is_before, &mut merged);
        added = &added[here..];
    }
    merged.extend_from_slice(rest);
    merged
}

/// Works as the slice's own `partition_point`, but prefetches all entries that the next three steps may compare, so that they
/// come from memory at the same time and not one after the other.
fn partition_point(
    entries: &[EntryId],
    is_before_target: impl Fn(EntryId) -> bool,
    prefetch: impl Fn(EntryId),
) -> usize {
    const PARTS: usize = 8;
    let (mut low, mut high) = (0, entries.len());
    while high - low >= PARTS {
        let step = (high - low) / PARTS;
        let ends: [usize; PARTS - 1] = std::array::from_fn(|part| low + (part + 1) * step);
        ends.iter().for_each(|&end| prefetch(entries[end]));
        let parts = ends.partition_point(|&end| is_before_target(entries[end]));
        high = ends.get(parts).copied().unwrap_or(high);
        low = if parts == 0 { low } else { ends[parts - 1] + 1 };
    }
    entries[low..high].iter().for_each(|&entry| prefetch(entry));
    low + entries[low..high].partition_point(|&entry| is_before_target(entry))
}

/// The index of the last part whose first entry is before the target, or 0.
fn last_beginning_before<P: Part>(parts: &[P], is_before_target: &impl Fn(EntryId) -> bool) -> usize {
    parts.partition_point(|part| is_before_target(part.first())).saturating_sub(1)
}

/// Splits `items` into as few parts of at most `max` items as possible, all of about the same length.
fn even_parts<T>(items: &[T], max: usize) -> impl Iterator<Item = &[T]> {
    let parts = items.len().div_ceil(max);
    (0..parts).map(move |part| &items[part * items.len() / parts..(part + 1) * items.len() / parts])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::merging_iterator::test_support::Random;

    fn id(number: u32) -> EntryId {
        // SAFETY: these ids are only compared; their addresses are never taken.
        unsafe { EntryId::from_bits(number + 1) }.unwrap()
    }

    fn is_before(a: EntryId, b: EntryId) -> bool {
        a.to_bits() < b.to_bits()
    }

    fn forward(order: &Order) -> Vec<EntryId> {
        let places = std::iter::successors(order.first_leaf(), |&place| order.leaf_after(place));
        places.flat_map(|place| order.leaf(place).to_vec()).collect()
    }

    fn backward(order: &Order) -> Vec<EntryId> {
        let places = std::iter::successors(order.last_leaf(), |&place| order.leaf_before(place));
        places.flat_map(|place| order.leaf(place).iter().rev().copied().collect::<Vec<_>>()).collect()
    }

    #[test]
    fn orders_grow_by_sorted_entries_and_old_orders_stay_as_they_were() {
        const NUMBERS: usize = if cfg!(miri) { 300 } else { 100_000 };
        let mut random = Random(4);
        let (mut order, mut model) = (Order::default(), Vec::new());
        assert_eq!((order.first_leaf(), order.last_leaf()), (None, None));
        while model.len() < NUMBERS / 2 {
            let from = random.below(NUMBERS);
            let spread = [5, NUMBERS - from][random.below(2)];
            let count = [1, 3, NUMBERS / 10][random.below(3)];
            let mut added: Vec<EntryId> =
                (0..count).map(|_| id((from + random.below(spread)).min(NUMBERS) as u32)).collect();
            added.sort_by_key(|entry| entry.to_bits());
            let longer = order.with(&added, is_before);
            assert_eq!(forward(&order), model);
            order = longer;
            model.extend(added);
            model.sort_by_key(|entry| entry.to_bits());
            assert_eq!(order.entries(), model.len());
            assert!(order.memory_bytes() >= model.len() * 4);
            if cfg!(miri) || random.one_in(10) {
                assert_eq!(forward(&order), model);
                assert!(backward(&order).iter().eq(model.iter().rev()));
            }
        }
        for _ in 0..NUMBERS / 10 {
            let target = id(random.below(NUMBERS + 10) as u32);
            let expected = model.get(model.partition_point(|&entry| is_before(entry, target)));
            let found = order.seek(|entry| is_before(entry, target), |_| ());
            assert_eq!(found.map(|(place, index)| &order.leaf(place)[index]), expected);
        }
    }

    #[test]
    fn parts_without_additions_are_shared() {
        const NUMBERS: u32 = if cfg!(miri) { 100 } else { 10_000 };
        let numbers: Vec<EntryId> = (0..NUMBERS).map(|number| id(number * 2)).collect();
        let order = Order::of(&numbers);
        let longer = order.with(&[id(NUMBERS + 1)], is_before);
        let leaves = |order: &Order| -> Vec<*const EntryId> {
            order.branches.iter().flat_map(|branch| branch.iter().map(|leaf| leaf.as_ptr())).collect()
        };
        let (old, new) = (leaves(&order), leaves(&longer));
        assert_eq!(old.iter().filter(|leaf| !new.contains(leaf)).count(), 1);
    }

    #[test]
    fn an_added_entry_comes_before_an_equal_one() {
        let by_tens = |a: EntryId, b: EntryId| a.to_bits() / 10 < b.to_bits() / 10;
        let order = Order::of(&[id(10), id(20), id(30)]).with(&[id(21), id(31)], by_tens);
        assert_eq!(forward(&order), [id(10), id(21), id(20), id(31), id(30)]);
    }
}
