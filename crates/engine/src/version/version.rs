//! One immutable state of the tables: which file is in which level. Predecessor: `read`, after the memtables.
//! Successors: the table cache, then the table.
//!
//! ```text
//!   level 0   [9: c───────x]  [8: a────m]  [5: b──────────z]     newest first; ranges may overlap
//!   level 1   [4: a──d] [7: e────k] [6: m──────y]                by key; ranges do not overlap
//!   level 2   [1: a─c] [2: d─f] [3: g───────────────z]
//! ```
//!
//! Rules that readers rely on:
//!
//! 1. For one user key, everything in a level is newer than everything in the levels below, so the first level that
//!    answers is right.
//! 2. In level 0 the file with the larger number mostly holds the newer entries (numbers are given when a memtable is
//!    sealed), so it is searched first. But LevelDB's repair puts all tables into level 0 under the numbers that they
//!    have. An answer is therefore right only if no file that is still to be searched can hold a newer one. A file that
//!    this engine wrote states how new its entries are; any other may hold a newer one
//!    ([`level0_lookup`](super::level0_lookup)).
//! 3. In a level from 1 on, the file that can answer is the first whose largest key is at or after the target. Keys are
//!    compared as internal keys, because LevelDB may split one user key across two neighbouring files.

use std::fmt::Write as _;
use std::sync::Arc;

use terrace_format::internal_key::{
    InternalKeyComparator, KeyCompare, before_all_versions, parse_internal_key,
};
use terrace_format::limits::LEVEL_COUNT;

use crate::error::Result;
use crate::table::BlockReadOptions;
use crate::table::entry::FoundEntry;
use crate::table::hash_lookup::LookupKey;
use crate::version::file_meta::FileMeta;
use crate::version::level0_lookup::Level0Lookup;
use crate::version::table_cache::TableCache;

/// An immutable list of the files of each level. While it lives, its files are not deleted.
#[derive(Debug)]
pub struct Version {
    /// Level 0: largest number (newest) first. Deeper levels: by smallest key.
    pub levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT],
    comparator: InternalKeyComparator,
}

impl Version {
    /// A version without files.
    pub fn empty(comparator: InternalKeyComparator) -> Self {
        Self::new(comparator, Default::default())
    }

    /// A version of these files, which must be in the order that [`levels`](Self::levels) states.
    pub fn new(comparator: InternalKeyComparator, levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT]) -> Self {
        Self { levels, comparator }
    }

    /// The order of the keys.
    pub fn comparator(&self) -> &InternalKeyComparator {
        &self.comparator
    }

    /// Hands `found` the first entry at or after `internal_target` that has its user key, without a copy. That is the newest
    /// entry that a reader at the target's sequence may see. Returns whether a table holds one; a deletion is an entry.
    ///
    /// # Errors
    /// Those of reading a table; with [`ReadTier::MemoryOnly`](crate::read_tier::ReadTier), `WouldBlock` if the answer needs
    /// the disk.
    pub(crate) fn get_with(
        &self,
        internal_target: &[u8],
        tables: &TableCache,
        options: &BlockReadOptions,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<bool> {
        tables.fit().note_read(|| self.size_bytes());
        let key = LookupKey::new(internal_target);
        let user = self.comparator.user();
        let is_in_range = |file: &FileMeta| {
            user.compare(key.user_key(), file.smallest_user_key()).is_ge()
                && user.compare(key.user_key(), file.largest_user_key()).is_le()
        };
        if let [_, others @ ..] = &self.levels[0][..] {
            others.iter().for_each(|file| tables.prefetch_lookup(file, &key));
        }
        let level0 = Level0Lookup { files: &self.levels[0], tables, key: &key, options };
        if level0.get_with(is_in_range, found)? {
            return Ok(true);
        }
        for files in &self.levels[1..] {
            let index = first_file_at_or_after(&self.comparator, files, internal_target);
            if let Some(file) = files.get(index)
                && user.compare(key.user_key(), file.smallest_user_key()).is_ge()
                && tables.lease(file, options.tier)?.get_with(&key, options, found)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Asks the processor to fetch what a lookup of this user key reads first.
    pub(crate) fn prefetch(&self, internal_target: &[u8], tables: &TableCache) {
        let key = LookupKey::new(internal_target);
        let deeper = self.levels[1..]
            .iter()
            .filter_map(|files| files.get(first_file_at_or_after(&self.comparator, files, internal_target)));
        self.levels[0].iter().chain(deeper).for_each(|file| tables.prefetch_lookup(file, &key));
    }

    /// The files of `level` that may hold a user key from `user_begin` to `user_end`, both included, in the level's order;
    /// `None` is an open end.
    ///
    /// In level 0, every file brings the files that overlap it, so that no older file stays alone.
    pub fn overlapping(
        &self,
        level: usize,
        user_begin: Option<&[u8]>,
        user_end: Option<&[u8]>,
    ) -> Vec<Arc<FileMeta>> {
        let files = &self.levels[level];
        if level > 0 {
            return files[self.overlapping_range(level, user_begin, user_end)].to_vec();
        }
        let user = self.comparator.user();
        let mut begin = user_begin.map(<[u8]>::to_vec);
        let mut end = user_end.map(<[u8]>::to_vec);
        let mut taken = vec![false; files.len()];
        loop {
            let mut grown = false;
            for (file, taken) in files.iter().zip(&mut taken) {
                let (smallest, largest) = (file.smallest_user_key(), file.largest_user_key());
                let before = begin.as_ref().is_some_and(|begin| user.compare(largest, begin).is_lt());
                let after = end.as_ref().is_some_and(|end| user.compare(smallest, end).is_gt());
                if *taken || before || after {
                    continue;
                }
                *taken = true;
                grown = true;
                if let Some(begin) = begin.as_mut().filter(|begin| user.compare(smallest, begin).is_lt()) {
                    *begin = smallest.to_vec();
                }
                if let Some(end) = end.as_mut().filter(|end| user.compare(largest, end).is_gt()) {
                    *end = largest.to_vec();
                }
            }
            if !grown {
                break;
            }
        }
        files.iter().zip(taken).filter(|(_, taken)| *taken).map(|(file, _)| Arc::clone(file)).collect()
    }

    /// As [`overlapping`](Self::overlapping), but returns indexes. Only for levels from 1 on.
    pub(crate) fn overlapping_range(
        &self,
        level: usize,
        user_begin: Option<&[u8]>,
        user_end: Option<&[u8]>,
    ) -> std::ops::Range<usize> {
        debug_assert!(level > 0);
        let files = &self.levels[level];
        let user = self.comparator.user();
        let start = user_begin.map_or(0, |begin| {
            files.partition_point(|file| user.compare(file.largest_user_key(), begin).is_lt())
        });
        let end = user_end.map_or(files.len(), |end| {
            files.partition_point(|file| user.compare(file.smallest_user_key(), end).is_le())
        });
        start..end.max(start)
    }

    /// Whether a file of `level` may hold a user key from `user_begin` to `user_end`, both included.
    pub fn overlaps(&self, level: usize, user_begin: Option<&[u8]>, user_end: Option<&[u8]>) -> bool {
        if level > 0 {
            return !self.overlapping_range(level, user_begin, user_end).is_empty();
        }
        let user = self.comparator.user();
        self.levels[0].iter().any(|file| {
            user_begin.is_none_or(|begin| user.compare(file.largest_user_key(), begin).is_ge())
                && user_end.is_none_or(|end| user.compare(file.smallest_user_key(), end).is_le())
        })
    }

    /// Estimates how many bytes of tables lie before the first entry of `key`, in all levels together. Opens the tables
    /// whose ranges hold `key`.
    pub fn approximate_offset_of(&self, key: &[u8], tables: &TableCache) -> Result<u64> {
        let target = before_all_versions(key);
        let mut offset = 0;
        for file in self.files() {
            if self.comparator.compare_keys(&file.largest, &target).is_lt() {
                offset += file.size_bytes;
            } else if self.comparator.compare_keys(&file.smallest, &target).is_lt() {
                offset += tables.table(file)?.approximate_offset_of(&target)?;
            }
        }
        Ok(offset)
    }

    /// All files, level by level.
    pub fn files(&self) -> impl Iterator<Item = &Arc<FileMeta>> {
        self.levels.iter().flatten()
    }

    /// The size of all files together, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.files().map(|file| file.size_bytes).sum()
    }

    /// All files as text, in the form in which LevelDB shows its property `leveldb.sstables`:
    ///
    /// ```text
    /// --- level 1 ---
    ///  17:123['a' @ 8 : 1 .. 'd' @ 5 : 0]
    /// ```
    ///
    /// Each line has the number, the size in bytes, and the smallest and largest key. A key is shown as its user key (with
    /// bytes that are not printable ASCII as `\x0a`), its sequence and its kind.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        for (level, files) in self.levels.iter().enumerate() {
            let _ = writeln!(text, "--- level {level} ---");
            for file in files {
                let (smallest, largest) = (describe_key(&file.smallest), describe_key(&file.largest));
                let _ = writeln!(text, " {}:{}[{smallest} .. {largest}]", file.number, file.size_bytes);
            }
        }
        text
    }
}

/// The index of the first file, in a level from 1 on, whose largest key is at or after `internal_target`.
#[inline]
pub(crate) fn first_file_at_or_after(
    comparator: &InternalKeyComparator,
    files: &[Arc<FileMeta>],
    internal_target: &[u8],
) -> usize {
    files.partition_point(|file| comparator.compare_keys(&file.largest, internal_target).is_lt())
}

fn describe_key(internal_key: &[u8]) -> String {
    match parse_internal_key(internal_key) {
        Ok(key) => format!("'{}' @ {} : {}", escape(key.user_key), key.sequence, key.kind as u8),
        Err(_) => format!("(bad){}", escape(internal_key)),
    }
}

fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if (b' '..=b'~').contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::version::testing::{comparator, file, file_with_keys, version};
    use terrace_format::internal_key::{SEEK_KIND, ValueKind, append_internal_key};

    fn numbers(files: &[Arc<FileMeta>]) -> Vec<u64> {
        files.iter().map(|file| file.number).collect()
    }

    #[test]
    fn level_0_overlap_is_the_transitive_closure() {
        let version = version(&[(0, 1, "a", "c"), (0, 2, "b", "f"), (0, 3, "e", "h"), (0, 4, "j", "k")]);
        assert_eq!(numbers(&version.overlapping(0, Some(b"a"), Some(b"a"))), [3, 2, 1]);
        assert_eq!(numbers(&version.overlapping(0, Some(b"i"), Some(b"z"))), [4]);
        assert_eq!(numbers(&version.overlapping(0, Some(b"i"), Some(b"i"))), []);
        assert_eq!(numbers(&version.overlapping(0, None, None)), [4, 3, 2, 1]);
        assert_eq!(numbers(&version.overlapping(0, Some(b"g"), None)), [4, 3, 2, 1]);
        assert!(version.overlaps(0, Some(b"k"), None));
        assert!(!version.overlaps(0, Some(b"i"), Some(b"i")));
    }

    #[test]
    fn deeper_overlap_includes_both_ends() {
        let version = version(&[(1, 1, "b", "d"), (1, 2, "f", "h"), (1, 3, "j", "l")]);
        assert_eq!(numbers(&version.overlapping(1, Some(b"d"), Some(b"f"))), [1, 2]);
        assert_eq!(numbers(&version.overlapping(1, Some(b"e"), Some(b"e"))), []);
        assert_eq!(numbers(&version.overlapping(1, Some(b"z"), Some(b"a"))), []);
        assert_eq!(numbers(&version.overlapping(1, None, Some(b"b"))), [1]);
        assert_eq!(numbers(&version.overlapping(1, Some(b"l"), None)), [3]);
        assert_eq!(version.live_files(), HashSet::from([1, 2, 3]));
    }

    #[test]
    fn a_user_key_split_across_two_files_is_looked_up_by_sequence() {
        let left = file_with_keys(1, ("a", 9), ("k", 7));
        let right = file_with_keys(2, ("k", 5), ("p", 1));
        let files = vec![Arc::new(left), Arc::new(right)];
        let mut target = Vec::new();
        append_internal_key(&mut target, b"k", 6, SEEK_KIND);
        assert_eq!(first_file_at_or_after(&comparator(), &files, &target), 1);
        target.clear();
        append_internal_key(&mut target, b"k", 8, SEEK_KIND);
        assert_eq!(first_file_at_or_after(&comparator(), &files, &target), 0);
        target.clear();
        append_internal_key(&mut target, b"q", 8, SEEK_KIND);
        assert_eq!(first_file_at_or_after(&comparator(), &files, &target), 2);
    }

    #[test]
    fn describes_itself_as_leveldb_does() {
        let mut levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT] = Default::default();
        levels[0].push(Arc::new(file(6, "a", "b")));
        let mut odd = file_with_keys(17, ("a\n~", 300), ("d\\", 2));
        odd.size_bytes = 123;
        let tag_at = odd.largest.len() - 8;
        odd.largest[tag_at] = ValueKind::Deletion as u8;
        levels[1].push(Arc::new(odd));
        let mut bad = file(18, "e", "f");
        bad.smallest = b"shor".to_vec();
        levels[1].push(Arc::new(bad));
        let text = Version::new(comparator(), levels).describe();
        let expected = "--- level 0 ---\n 6:100['a' @ 1 : 1 .. 'b' @ 1 : 1]\n--- level 1 ---\n \
                        17:123['a\\x0a~' @ 300 : 1 .. 'd\\' @ 2 : 0]\n \
                        18:100[(bad)shor .. 'f' @ 1 : 1]\n--- level 2 ---\n--- level 3 ---\n--- level 4 ---\n\
                        --- level 5 ---\n--- level 6 ---\n";
        assert_eq!(text, expected);
    }
}
