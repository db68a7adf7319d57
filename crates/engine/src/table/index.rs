//! The index of an open table, and a cursor over it.
//!
//! predecessor: [`reader`](super::reader), [`iterator`](super::iterator) · successor: the handle of a data block
//!
//! In bytewise order the index is searched by *ranks*. The rank of a separator is the eight bytes after the prefix that
//! all separators share, as a number whose most significant byte comes first. The ranks are in a separate array. A
//! search by the separators themselves would touch two places of the index block in each step, and compare keys there.
//!
//! ```text
//! separators   key00120  key00171  key00305  l            the last may be short, and has no rank
//!              └─┬─┘└┬┘
//!           in common  rank, padded with zeros
//! ```
//!
//! Only one separator in four has a rank; the keys of the three between are compared.
//!
//! Separators with different ranks are in the order of their ranks. If the target has the rank of a separator, the keys
//! are compared. The ranks are made when a cursor is first moved; with the handle they take sixteen bytes per block.
//! There are none if the index is damaged, or not as this engine and LevelDB write it. Then a [`BlockIter`] walks the
//! index and reports the damage.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use terrace_format::Result as FormatResult;
use terrace_format::block::{Block, BlockIter};
use terrace_format::internal_key::{InternalKeyComparator, KeyCompare, user_key};
use terrace_format::limits::INTERNAL_KEY_TAG_SIZE_BYTES;
use terrace_format::table::BlockHandle;

use super::block_fetch::Residency;
use super::block_map::{BlockMap, Found};
use crate::key_prefix::first_word;

/// The index of an open table. Threads share it.
#[derive(Debug)]
pub(crate) struct TableIndex {
    block: Arc<Block>,
    pub(crate) place: Residency,
    /// Made when it is first needed. An inner `None` means that the index can have none.
    ranked: OnceLock<Option<RankedIndex>>,
    /// Made when the database has outgrown memory. An inner `None` means that the index can have none.
    map: OnceLock<Option<BlockMap>>,
}

impl TableIndex {
    pub(crate) fn new(block: Block, place: Residency) -> Self {
        Self { block: Arc::new(block), place, ranked: OnceLock::new(), map: OnceLock::new() }
    }

    /// The index block.
    pub(crate) fn block(&self) -> &Block {
        &self.block
    }

    #[inline]
    fn ranked(&self, comparator: &InternalKeyComparator) -> Option<&RankedIndex> {
        self.ranked.get_or_init(|| RankedIndex::of(&self.block, comparator)).as_ref()
    }

    /// Copies what a search needs of the index to separate memory, if ranks can be made. From then on searches use the
    /// copy.
    pub(super) fn keep_map(&self, comparator: &InternalKeyComparator) -> Option<&BlockMap> {
        let map = || {
            let (ranked, block) = (self.ranked(comparator)?, &*self.block);
            let rank_at =
                |at| first_word(separator_of(block, at).get(ranked.prefix.len()..).unwrap_or_default());
            let handle_at = |at| decode_handle(block.entry_at_restart(at)?.1).ok();
            let (last_separator, _) = block.entry_at_restart(ranked.ranked_count)?;
            let ranks = (0..ranked.ranked_count).map(rank_at);
            BlockMap::new(&ranked.prefix, ranks, last_separator, (0..block.restart_count()).map(handle_at))
        };
        self.map.get_or_init(map).as_ref()
    }

    /// The map, if it has been made.
    #[inline]
    pub(super) fn map(&self) -> Option<&BlockMap> {
        self.map.get()?.as_ref()
    }

    /// Whether it is known that there can be no map.
    pub(super) fn lacks_map(&self) -> bool {
        matches!(self.map.get(), Some(None))
    }

    /// The number of the first entry whose separator is not before `internal_target`; the number of entries if there is none.
    #[inline]
    fn find(&self, comparator: &InternalKeyComparator, internal_target: &[u8]) -> usize {
        if let Some(map) = self.map()
            && let Found::Block(number) = map.find(comparator, internal_target)
        {
            return number;
        }
        let ranked = self.ranked(comparator);
        ranked.map_or(BEYOND, |ranked| ranked.find(&self.block, comparator, internal_target))
    }

    /// A cursor over the index. It is not on an entry yet.
    pub(crate) fn cursor(&self, comparator: &InternalKeyComparator) -> IndexCursor {
        match self.ranked(comparator) {
            Some(_) => IndexCursor::Ranked(BEYOND),
            None => self.walking_cursor(),
        }
    }

    /// A cursor over the index that needs no ranks. It is not on an entry yet.
    pub(crate) fn walking_cursor(&self) -> IndexCursor {
        IndexCursor::Walking(BlockIter::new(Arc::clone(&self.block)))
    }
}

/// What a search needs of an index in which every entry can be decoded.
#[derive(Debug)]
struct RankedIndex {
    /// The prefix that all separators but the last share.
    prefix: Box<[u8]>,
    /// The ranks of the first separator and of each [`STRIDE`]th after it, without the last.
    ranks: Box<[u64]>,
    /// The number of separators without the last.
    ranked_count: usize,
}

/// One separator in this many has a rank. With more, the index of a large database would take much of its memory twice. The
/// others are found by their keys, which are adjacent.
const STRIDE: usize = 4;

impl RankedIndex {
    #[cold]
    fn of(block: &Block, comparator: &InternalKeyComparator) -> Option<Self> {
        if !comparator.is_bytewise_by_user_key() || !block.has_only_restarts() {
            return None;
        }
        if !(0..block.restart_count()).all(|index| is_sound(block, index)) {
            return None;
        }
        let ranked_count = block.restart_count().checked_sub(1)?;
        let separators = || (0..ranked_count).map(|index| separator_of(block, index));
        let prefix = separators().reduce(common_prefix).unwrap_or_default();
        let rank_of = |separator: &[u8]| first_word(&separator[prefix.len()..]);
        // If they are not, the index is damaged or in another order.
        let are_in_order = separators().map(rank_of).is_sorted()
            && separators().last().is_none_or(|last| last <= separator_of(block, ranked_count));
        are_in_order.then(|| {
            let ranks = separators().step_by(STRIDE).map(rank_of).collect();
            Self { prefix: prefix.into(), ranks, ranked_count }
        })
    }

    /// The number of the first entry whose separator is not before `internal_target`; the number of entries if there is none.
    #[inline]
    fn find(&self, block: &Block, comparator: &InternalKeyComparator, internal_target: &[u8]) -> usize {
        let is_before = |index: usize| {
            let separator = block.entry_at_restart(index).map_or(&[][..], |(key, _)| key);
            comparator.compare(separator, internal_target).is_lt()
        };
        let target = user_key(internal_target);
        let ranked_count = self.ranked_count;
        let found = if let Some(rest) = target.strip_prefix(&*self.prefix) {
            let rank = first_word(rest);
            let first = self.ranks.partition_point(|&other| other < rank);
            let equal = self.ranks[first..].iter().take_while(|&&other| other == rank).count();
            // The last separator with a smaller rank is before the target, and the first with a greater one is not.
            let low = first.checked_sub(1).map_or(0, |smaller| STRIDE * smaller + 1);
            partition_point(low, (STRIDE * (first + equal)).min(ranked_count), |index| {
                let rest = separator_of(block, index).get(self.prefix.len()..).unwrap_or_default();
                match first_word(rest).cmp(&rank) {
                    Ordering::Equal => is_before(index),
                    order => order.is_lt(),
                }
            })
        } else if *target < *self.prefix {
            0
        } else {
            ranked_count
        };
        found + usize::from(found == ranked_count && is_before(ranked_count))
    }
}

/// The user key of a separator, in an index in which each entry is a restart point.
fn separator_of(block: &Block, index: usize) -> &[u8] {
    block.entry_at_restart(index).map_or(&[], |(key, _)| user_key(key))
}

/// Whether an entry has an internal key and a handle.
fn is_sound(block: &Block, index: usize) -> bool {
    block.entry_at_restart(index).is_some_and(|(key, value)| {
        key.len() >= INTERNAL_KEY_TAG_SIZE_BYTES && BlockHandle::decode(value).is_ok()
    })
}

/// The handle in an entry's value. Bytes after it come from another writer and are ignored.
pub(crate) fn decode_handle(value: &[u8]) -> FormatResult<BlockHandle> {
    BlockHandle::decode(value).map(|(handle, _)| handle)
}

fn common_prefix<'a>(a: &'a [u8], b: &[u8]) -> &'a [u8] {
    &a[..a.iter().zip(b).take_while(|(a, b)| a == b).count()]
}

/// The first of the numbers from `low` up to `high`, exclusive, for which `is_before` is false; `high` if there is none.
fn partition_point(mut low: usize, mut high: usize, is_before: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The place of a cursor that is not on an entry.
const BEYOND: usize = usize::MAX;

/// A cursor over the index of a table, which each of its methods takes as an argument. A new cursor is not on an entry.
pub(crate) enum IndexCursor {
    /// On the entry of this number, in an index with ranks.
    Ranked(usize),
    Walking(BlockIter<Arc<Block>>),
}

impl IndexCursor {
    pub(crate) fn seek_to_first(&mut self, _index: &TableIndex) -> FormatResult<()> {
        match self {
            Self::Ranked(at) => {
                *at = 0;
                Ok(())
            }
            Self::Walking(entries) => entries.seek_to_first(),
        }
    }

    pub(crate) fn seek_to_last(&mut self, index: &TableIndex) -> FormatResult<()> {
        match self {
            Self::Ranked(at) => {
                *at = index.block.restart_count() - 1;
                Ok(())
            }
            Self::Walking(entries) => entries.seek_to_last(),
        }
    }

    /// Moves to the first entry whose separator is not before `internal_target`, if there is one.
    pub(crate) fn seek(
        &mut self,
        index: &TableIndex,
        comparator: &InternalKeyComparator,
        internal_target: &[u8],
    ) -> FormatResult<()> {
        match self {
            Self::Ranked(at) => {
                *at = index.find(comparator, internal_target);
                Ok(())
            }
            Self::Walking(entries) => entries.seek(comparator, internal_target),
        }
    }

    /// Moves to the next entry if the cursor is on one.
    pub(crate) fn next(&mut self, index: &TableIndex) -> FormatResult<()> {
        match self {
            Self::Ranked(at) => {
                *at = at.saturating_add(usize::from(*at < index.block.restart_count()));
                Ok(())
            }
            Self::Walking(entries) => entries.next(),
        }
    }

    /// Moves to the previous entry if the cursor is on one.
    pub(crate) fn prev(&mut self, index: &TableIndex) -> FormatResult<()> {
        match self {
            Self::Ranked(at) => {
                *at = if *at < index.block.restart_count() { at.wrapping_sub(1) } else { BEYOND };
                Ok(())
            }
            Self::Walking(entries) => entries.prev(),
        }
    }

    /// The handle of the block; `None` if the cursor is not on an entry. Fails if the handle is damaged.
    pub(crate) fn handle(&self, index: &TableIndex) -> FormatResult<Option<BlockHandle>> {
        match self {
            Self::Ranked(at) => match index.map() {
                Some(map) => Ok(map.handle(*at)),
                None => index.block.entry_at_restart(*at).map(|(_, value)| decode_handle(value)).transpose(),
            },
            Self::Walking(entries) if entries.valid() => decode_handle(entries.value()).map(Some),
            Self::Walking(_) => Ok(None),
        }
    }

    /// The separator; empty if the cursor is not on an entry.
    pub(crate) fn separator<'a>(&'a self, index: &'a TableIndex) -> &'a [u8] {
        match self {
            Self::Ranked(at) => index.block.entry_at_restart(*at).map_or(&[], |(key, _)| key),
            Self::Walking(entries) => entries.key(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::merging_iterator::test_support::{Random, internal_key};
    use terrace_format::block::BlockBuilder;
    use terrace_format::comparator::UserComparator;
    use terrace_format::internal_key::ValueKind;

    fn bytewise() -> InternalKeyComparator {
        InternalKeyComparator::new(UserComparator::Bytewise)
    }

    fn handle(number: usize) -> BlockHandle {
        BlockHandle { offset: 10 * number as u64, size: 5 }
    }

    fn owned(contents: Vec<u8>) -> TableIndex {
        TableIndex::new(Block::new(contents).unwrap(), Residency::OwnMemory)
    }

    fn index(separators: &[Vec<u8>], restart_interval: usize) -> TableIndex {
        let mut builder = BlockBuilder::new(restart_interval);
        for (number, separator) in separators.iter().enumerate() {
            let mut value = Vec::new();
            handle(number).encode_to(&mut value);
            builder.add(separator, &value);
        }
        owned(builder.finish().to_vec())
    }

    /// Keys of few letters after a common prefix, some of them longer than a rank, and a short last one.
    fn separators(random: &mut Random, prefix: &str) -> Vec<Vec<u8>> {
        let comparator = bytewise();
        let mut keys: Vec<_> = (0..1 + random.below(60)).map(|_| key(random, prefix)).collect();
        if random.one_in(2) {
            keys.push(internal_key(b"z", 7, ValueKind::Value));
        }
        keys.sort_by(|a, b| comparator.compare(a, b));
        keys.dedup();
        keys
    }

    fn key(random: &mut Random, prefix: &str) -> Vec<u8> {
        let mut key = prefix.as_bytes()[..prefix.len() - usize::from(random.one_in(20))].to_vec();
        key.extend((0..random.below(11)).map(|_| b"\0ab\xff"[random.below(4)]));
        internal_key(&key, random.below(5) as u64, ValueKind::Value)
    }

    #[test]
    fn a_search_by_ranks_finds_what_a_search_by_keys_finds() {
        let (mut random, comparator) = (Random(3), bytewise());
        for round in 0..2_000 {
            let prefix = ["p", "a prefix of the keys", "a\0\0"][round % 3];
            let separators = separators(&mut random, prefix);
            let index = index(&separators, 1);
            assert!(index.ranked(&comparator).is_some());
            let mut cursor = index.cursor(&comparator);
            assert_eq!(cursor.handle(&index).unwrap(), None);
            for _ in 0..50 {
                let target = match random.below(4) {
                    0 => separators[random.below(separators.len())].clone(),
                    1 => internal_key(&[b'a' + random.below(26) as u8], 3, ValueKind::Value),
                    _ => key(&mut random, prefix),
                };
                let expected = separators.partition_point(|key| comparator.compare(key, &target).is_lt());
                cursor.seek(&index, &comparator, &target).unwrap();
                let expected_handle = separators.get(expected).map(|_| handle(expected));
                assert_eq!(cursor.handle(&index).unwrap(), expected_handle, "{separators:?} {target:?}");
                let separator = separators.get(expected).map_or(&[][..], |key| key);
                assert_eq!(cursor.separator(&index), separator);
            }
        }
    }

    #[test]
    fn cursors_walk_in_both_directions_with_and_without_ranks() {
        let (mut random, comparator) = (Random(4), bytewise());
        let separators = separators(&mut random, "prefix");
        for restart_interval in [1, 4] {
            let index = index(&separators, restart_interval);
            let mut cursor = index.cursor(&comparator);
            assert_eq!(matches!(cursor, IndexCursor::Ranked(_)), restart_interval == 1);
            cursor.seek_to_first(&index).unwrap();
            for number in 0..separators.len() {
                assert_eq!(cursor.handle(&index).unwrap(), Some(handle(number)));
                cursor.next(&index).unwrap();
            }
            assert_eq!(cursor.handle(&index).unwrap(), None);
            cursor.seek_to_last(&index).unwrap();
            for number in (0..separators.len()).rev() {
                assert_eq!(cursor.separator(&index), separators[number]);
                cursor.prev(&index).unwrap();
            }
            assert_eq!(cursor.handle(&index).unwrap(), None);
            cursor.prev(&index).unwrap();
            cursor.next(&index).unwrap();
            assert_eq!(cursor.handle(&index).unwrap(), None);
        }
    }

    #[test]
    fn an_index_that_is_damaged_or_in_another_order_has_no_ranks() {
        let keys =
            |names: [&str; 3]| names.map(|name| internal_key(name.as_bytes(), 1, ValueKind::Value)).to_vec();
        let comparator = bytewise();
        assert!(index(&keys(["a", "b", "c"]), 1).ranked(&comparator).is_some());
        assert!(index(&keys(["b", "a", "c"]), 1).ranked(&comparator).is_none());
        assert!(index(&keys(["a", "c", "b"]), 1).ranked(&comparator).is_none());
        assert!(index(&[b"short".to_vec()], 1).ranked(&comparator).is_none());
        let empty = owned(BlockBuilder::new(1).finish().to_vec());
        assert!(empty.ranked(&comparator).is_none());
        let mut contents = index(&keys(["a", "b", "c"]), 1).block.contents().to_vec();
        let entry_size = contents.len().checked_sub(16).unwrap() / 3;
        contents[entry_size + 1] = 0x7f;
        let damaged = owned(contents);
        assert!(damaged.ranked(&comparator).is_none());
        let mut cursor = damaged.cursor(&comparator);
        cursor.seek_to_first(&damaged).unwrap();
        assert!(cursor.next(&damaged).is_err());
    }
}
