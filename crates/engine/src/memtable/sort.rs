//! Sorts entries into the order of internal keys. Predecessor: the log of a memtable. Successor: [`Order`](super::order).
//!
//! Bytewise keys are sorted eight bytes at a time. These are read once, as a number stored with the entry's id, so that
//! most comparisons touch no entry:
//!
//! ```text
//! keys        user-0007:a user-0003:b user-0003:a          zoo
//! word 1      "user-000"  "user-000"  "user-000"           "zoo"      sorted by word 1: a group of three, and zoo
//! word 2      "7:a"       "3:b"       "3:a"                           the group sorted by word 2
//! ```
//!
//! A prefix that all keys share is found first and skipped. A prefix that many keys share costs one pass for each eight
//! bytes. In a small group, keys are compared as a whole.

use std::cmp::Ordering;

use terrace_format::comparator::UserComparator;

use super::arena::{Arena, EntryId};
use super::entry::{self, EntryRef};
use super::merge_sort::merge_sort;
use crate::key_prefix::{WORD_BYTES, first_word};

/// Groups up to this size are not worth another pass.
const SMALL_GROUP: usize = 16;
/// How many entries ahead of their use to prefetch.
const AHEAD: usize = 16;

#[derive(Clone, Copy)]
struct Item {
    word: u64,
    id: EntryId,
    /// The entry's number in the order of insertion.
    number: u32,
}

/// Sorts `ids`, which are in the order of insertion.
///
/// # Safety
/// As for [`entry::at`], for each id.
pub(super) unsafe fn sort(arena: &Arena, comparator: &UserComparator, ids: &mut [EntryId]) {
    let items = (0..).zip(&*ids).map(|(number, &id)| Item { word: 0, id, number });
    let mut items: Vec<Item> = items.collect();
    // SAFETY: the caller's promise.
    let entry = |item: &Item| unsafe { entry::at(arena, item.id) };
    match comparator {
        UserComparator::Bytewise => sort_bytewise(&mut items, entry),
        custom => merge_sort(&mut items, |a, b| {
            // SAFETY: the arena lives while it is borrowed.
            let (a_key, b_key) = unsafe { (entry(a).user_key(), entry(b).user_key()) };
            custom.compare(a_key, b_key).then_with(|| newest_first(a, b, entry)).is_gt()
        }),
    }
    for (id, item) in ids.iter_mut().zip(&items) {
        *id = item.id;
    }
}

/// The order of two entries of one user key. If their internal keys are the same, the one inserted last comes first.
fn newest_first(a: &Item, b: &Item, entry: impl Fn(&Item) -> EntryRef) -> Ordering {
    // SAFETY: the arena lives while `entry` borrows it.
    let (a_tag, b_tag) = unsafe { (entry(a).tag(), entry(b).tag()) };
    b_tag.cmp(&a_tag).then(b.number.cmp(&a.number))
}

fn sort_bytewise(items: &mut [Item], entry: impl Fn(&Item) -> EntryRef + Copy) {
    // SAFETY: the arena lives while `entry` borrows it.
    let key = |item: &Item| unsafe { entry(item).user_key() };
    let (are_sorted, shared_bytes) = survey(items, entry);
    if are_sorted {
        return;
    }
    // Groups still to be sorted: where they begin and end, and how many bytes of their keys are the same.
    let mut groups = vec![(0, items.len(), shared_bytes)];
    while let Some((start, end, shared_bytes)) = groups.pop() {
        let group = &mut items[start..end];
        if group.len() <= SMALL_GROUP {
            group.sort_unstable_by(|a, b| {
                key(a)[shared_bytes..].cmp(&key(b)[shared_bytes..]).then_with(|| newest_first(a, b, entry))
            });
            continue;
        }
        for index in 0..group.len() {
            if let Some(later) = group.get(index + AHEAD) {
                entry(later).prefetch_key();
            }
            group[index].word = first_word(&key(&group[index])[shared_bytes..]);
        }
        group.sort_unstable_by_key(|item| item.word);
        let mut first = 0;
        for equal in group.chunk_by_mut(|a, b| a.word == b.word) {
            let start = start + first;
            first += equal.len();
            if equal.len() == 1 {
                continue;
            }
            // Keys that end within the word differ only in how many of its zeroes belong to them. They come before keys
            // that continue after the word.
            let shared_bytes = shared_bytes + WORD_BYTES;
            let ended = move_to_front(equal, |item| key(item).len() <= shared_bytes);
            equal[..ended].sort_unstable_by(|a, b| {
                key(a).len().cmp(&key(b).len()).then_with(|| newest_first(a, b, entry))
            });
            if equal.len() - ended > 1 {
                groups.push((start + ended, start + equal.len(), shared_bytes));
            }
        }
    }
}

/// Returns whether the user keys already ascend, as those of a sequential load do, and how many bytes at their beginning are
/// known to be the same in all of them.
fn survey(items: &[Item], entry: impl Fn(&Item) -> EntryRef + Copy) -> (bool, usize) {
    // SAFETY: the arena lives while `entry` borrows it.
    let key = |item: &Item| unsafe { entry(item).user_key() };
    let Some(first) = items.first().map(key) else { return (true, 0) };
    let (mut are_sorted, mut shared, mut last) = (true, first, first);
    for (index, item) in items.iter().enumerate().skip(1) {
        if let Some(later) = items.get(index + AHEAD) {
            entry(later).prefetch_key();
        }
        let key = key(item);
        are_sorted = are_sorted && last < key;
        last = key;
        if !key.starts_with(shared) {
            shared = &first[..first.iter().zip(key).take_while(|(a, b)| a == b).count()];
        }
        if !are_sorted && shared.is_empty() {
            break;
        }
    }
    (are_sorted, shared.len())
}

/// Moves the items for which `belongs` holds to the front. Returns how many there are.
fn move_to_front(items: &mut [Item], belongs: impl Fn(&Item) -> bool) -> usize {
    let mut moved = 0;
    for index in 0..items.len() {
        if belongs(&items[index]) {
            items.swap(moved, index);
            moved += 1;
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use terrace_format::internal_key::{ValueKind, pack_tag, tag};

    use super::*;
    use crate::read::merging_iterator::test_support::{Random, comparators};

    /// Sorts entries of `keys`, numbered in the order given, with `sort` and with the comparator alone, and compares.
    fn check(comparator: &UserComparator, keys: &[Vec<u8>]) {
        let (arena, mut writer) = Arena::new(Arc::default());
        let mut ids = Vec::new();
        let mut expected: Vec<(&[u8], u64)> = Vec::new();
        for (sequence, key) in (1..).zip(keys) {
            let tag = pack_tag(sequence, ValueKind::Value);
            // SAFETY: the halves of one arena, on one thread.
            ids.push(unsafe { entry::write(&arena, &mut writer, key, tag, b"") }.0);
            expected.push((key, tag));
        }
        expected.sort_by(|a, b| comparator.compare(a.0, b.0).then(b.1.cmp(&a.1)));
        // SAFETY: all ids are of this arena and this thread.
        unsafe { sort(&arena, comparator, &mut ids) };
        let sorted = ids.iter().map(|&id| {
            // SAFETY: as above.
            unsafe { (entry::at(&arena, id).user_key(), tag(entry::at(&arena, id).key())) }
        });
        assert_eq!(sorted.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn entries_are_sorted_as_the_comparator_says() {
        const ENTRIES: usize = if cfg!(miri) { 24 } else { 3_000 };
        let mut random = Random(8);
        // Few symbols, zeroes among them, make long shared prefixes, keys that end within others, and equal ones.
        for (symbols, max_bytes) in [(&b"\0a"[..], 12), (b"\0\x01\xff", 30), (b"abcdefgh", 3), (b"\0", 40)] {
            for prefix in ["", "12345678", "a prefix of 21 bytes:"] {
                let mut keys = Vec::new();
                for _ in 0..ENTRIES {
                    let mut key = prefix.as_bytes().to_vec();
                    key.extend((0..random.below(max_bytes)).map(|_| symbols[random.below(symbols.len())]));
                    keys.push(key);
                }
                for comparator in comparators() {
                    check(comparator.user(), &keys);
                }
            }
        }
    }

    #[test]
    fn the_same_internal_key_inserted_last_comes_first() {
        let (arena, mut writer) = Arena::new(Arc::default());
        // SAFETY: the halves of one arena, on one thread.
        let ids: Vec<EntryId> =
            (0..20).map(|_| unsafe { entry::write(&arena, &mut writer, b"key", 1, b"") }.0).collect();
        let mut sorted = ids.clone();
        // SAFETY: as above.
        unsafe { sort(&arena, &UserComparator::Bytewise, &mut sorted) };
        assert!(sorted.iter().eq(ids.iter().rev()));
    }
}
