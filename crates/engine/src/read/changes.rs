//! Whether a range of keys has changed since a sequence number. Predecessor: `write/conditions`. Successors: the memtables, and
//! those tables that hold something newer.
//!
//! A change leaves an entry with a newer sequence number: a value, or a tombstone. Later compactions drop entries only if a
//! newer one of the same key stays, except for tombstones with nothing below; [`Published::forgotten`] counts these.
//!
//! [`Published::forgotten`]: crate::read::published::Published::forgotten

use std::ops::Bound;
use std::slice;
use std::sync::Arc;

use terrace_format::internal_key::{InternalKeyComparator, SequenceNumber, before_all_versions};

use crate::error::{Error, ErrorKind, Result};
use crate::iterator::InternalIterator;
use crate::memtable::MemTable;
use crate::read::bounds::{is_above, is_below};
use crate::read::db_iterator::parse;
use crate::read::options::Bounds;
use crate::read::super_version::SuperVersion;
use crate::read_tier::ReadTier;
use crate::table::BlockReadOptions;
use crate::version::file_meta::FileMeta;
use crate::version::level_iterator::LevelIterator;
use crate::version::table_cache::TableCache;

/// The most entries that a search for changes examines for a caller that must not wait.
const MOST_ENTRIES_AT_ONCE: usize = 2_000;

/// Looks for changes in one state of the database.
pub(crate) struct Changes<'a> {
    view: &'a SuperVersion,
    tables: &'a Arc<TableCache>,
    /// What is newer is not visible yet.
    visible: SequenceNumber,
    options: BlockReadOptions,
    comparator: &'a InternalKeyComparator,
    entries_left: usize,
}

impl<'a> Changes<'a> {
    pub(crate) fn new(
        view: &'a SuperVersion,
        tables: &'a Arc<TableCache>,
        visible: SequenceNumber,
        options: BlockReadOptions,
    ) -> Self {
        let entries_left = match options.tier {
            ReadTier::Disk => usize::MAX,
            ReadTier::MemoryOnly => MOST_ENTRIES_AT_ONCE,
        };
        Self { view, tables, visible, options, comparator: view.version.comparator(), entries_left }
    }

    /// Whether an entry within `bounds` is newer than `since`.
    pub(crate) fn are_within(&mut self, bounds: &Bounds, since: SequenceNumber) -> Result<bool> {
        let view = self.view;
        if self.are_in_memtable(&view.active, bounds, since)? {
            return Ok(true);
        }
        // Newest first: the others hold nothing newer either.
        for sealed in view.sealed.iter().take_while(|sealed| sealed.last_sequence > since) {
            if self.are_in_memtable(&sealed.table, bounds, since)? {
                return Ok(true);
            }
        }
        for (level, files) in view.version.levels.iter().enumerate() {
            let newer: Vec<_> =
                files.iter().filter(|file| self.may_hold(file, bounds, since)).cloned().collect();
            // The ranges of the tables of level 0 may overlap.
            let runs: Vec<&[_]> =
                if level == 0 { newer.iter().map(slice::from_ref).collect() } else { vec![&newer[..]] };
            for run in runs.into_iter().filter(|run| !run.is_empty()) {
                if self.are_in_tables(run, bounds, since)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn may_hold(&self, file: &FileMeta, bounds: &Bounds, since: SequenceNumber) -> bool {
        let user = self.comparator.user();
        file.newest_sequence() > since
            && !is_above(file.smallest_user_key(), &bounds.upper, user)
            && !is_below(file.largest_user_key(), &bounds.lower, user)
    }

    fn are_in_memtable(
        &mut self,
        memtable: &MemTable,
        bounds: &Bounds,
        since: SequenceNumber,
    ) -> Result<bool> {
        for (sequence, key) in memtable.newer_than(since) {
            self.count_entry()?;
            if sequence <= self.visible && bounds.contain(key, self.comparator.user()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn are_in_tables(
        &mut self,
        files: &[Arc<FileMeta>],
        bounds: &Bounds,
        since: SequenceNumber,
    ) -> Result<bool> {
        let comparator = self.comparator;
        let mut entries =
            LevelIterator::new(comparator.clone(), files.to_vec(), Arc::clone(self.tables), self.options);
        match &bounds.lower {
            Bound::Unbounded => entries.seek_to_first()?,
            Bound::Included(lower) | Bound::Excluded(lower) => entries.seek(&before_all_versions(lower))?,
        }
        while entries.valid() {
            self.count_entry()?;
            let entry = parse(entries.key())?;
            if is_above(entry.user_key, &bounds.upper, comparator.user()) {
                break;
            }
            let is_newer = entry.sequence > since && entry.sequence <= self.visible;
            if is_newer && !is_below(entry.user_key, &bounds.lower, comparator.user()) {
                return Ok(true);
            }
            entries.next()?;
        }
        Ok(false)
    }

    fn count_entry(&mut self) -> Result<()> {
        self.entries_left = self.entries_left.checked_sub(1).ok_or_else(|| {
            Error::new(ErrorKind::WouldBlock, "the conditions would have to look at many entries")
        })?;
        Ok(())
    }
}
