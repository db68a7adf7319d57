//! A cursor over files that follow each other without overlap: a level from 1 on, or the inputs of a compaction.
//! Predecessor: the merging iterator. Successor: `table::iterator`.
//!
//! It holds at most one table's iterator, and opens a table only when it reaches it.

use std::mem;
use std::slice;
use std::sync::Arc;

use terrace_format::internal_key::InternalKeyComparator;
use terrace_format::limits::LEVEL_COUNT;

use crate::error::Result;
use crate::iterator::{InternalIterator, Preparation, StoredBlock};
use crate::read_tier::ReadTier;
use crate::table::{BlockReadOptions, Run, Table, TableIterator};
use crate::version::file_meta::FileMeta;
use crate::version::table_cache::{TableCache, not_open};
use crate::version::version::{Version, first_file_at_or_after};

/// Where the files come from. A reader shares its version's list, because copying it would cost each iterator a pass
/// over all files.
enum Files {
    OfLevel(Arc<Version>, usize),
    /// One file of level 0, by its index there.
    One(Arc<Version>, usize),
    Listed(Vec<Arc<FileMeta>>),
}

impl Files {
    fn as_slice(&self) -> &[Arc<FileMeta>] {
        match self {
            Self::OfLevel(version, level) => &version.levels[*level],
            Self::One(version, index) => slice::from_ref(&version.levels[0][*index]),
            Self::Listed(files) => files,
        }
    }
}

impl Version {
    /// Iterators that together visit every entry: one for each file of level 0, one for each deeper level with files.
    /// They open tables only when they reach them, and keep this version alive.
    pub fn iterators(
        self: &Arc<Self>,
        tables: &Arc<TableCache>,
        options: BlockReadOptions,
    ) -> impl Iterator<Item = LevelIterator> {
        tables.fit().note_read(|| self.size_bytes());
        let files = (0..self.levels[0].len())
            .map(move |index| LevelIterator::of_file(Arc::clone(self), index, Arc::clone(tables), options));
        let levels = (1..LEVEL_COUNT).filter(|&level| !self.levels[level].is_empty());
        files.chain(
            levels.map(move |level| {
                LevelIterator::of_level(Arc::clone(self), level, Arc::clone(tables), options)
            }),
        )
    }

    /// An upper bound on the number of [`iterators`](Self::iterators).
    pub fn most_iterators(&self) -> usize {
        self.levels[0].len() + LEVEL_COUNT - 1
    }
}

/// A cursor over the entries of files that are ordered by key and do not overlap.
pub struct LevelIterator {
    comparator: InternalKeyComparator,
    files: Files,
    tables: Arc<TableCache>,
    options: BlockReadOptions,
    /// The file that `table` reads; meaningless without it.
    index: usize,
    /// Valid whenever it is there, except while a seek is being prepared.
    table: Option<TableIterator>,
    /// Whether a seek is being prepared; `table` is then that of its target.
    is_prepared: bool,
}

impl LevelIterator {
    /// A cursor over `files`, which must be in key order and not overlap. Not valid until a seek.
    pub fn new(
        comparator: InternalKeyComparator,
        files: Vec<Arc<FileMeta>>,
        tables: Arc<TableCache>,
        options: BlockReadOptions,
    ) -> Self {
        Self {
            comparator,
            files: Files::Listed(files),
            tables,
            options,
            index: 0,
            table: None,
            is_prepared: false,
        }
    }

    /// A cursor over a level from 1 on of `version`, which it keeps alive. Not valid until a seek.
    fn of_level(
        version: Arc<Version>,
        level: usize,
        tables: Arc<TableCache>,
        options: BlockReadOptions,
    ) -> Self {
        debug_assert!(level > 0);
        let comparator = version.comparator().clone();
        Self {
            comparator,
            files: Files::OfLevel(version, level),
            tables,
            options,
            index: 0,
            table: None,
            is_prepared: false,
        }
    }

    /// A cursor over the file at `index` of level 0 of `version`, which it keeps alive. Not valid until a seek.
    fn of_file(
        version: Arc<Version>,
        index: usize,
        tables: Arc<TableCache>,
        options: BlockReadOptions,
    ) -> Self {
        let comparator = version.comparator().clone();
        Self {
            comparator,
            files: Files::One(version, index),
            tables,
            options,
            index: 0,
            table: None,
            is_prepared: false,
        }
    }

    /// Positions a table's iterator, at the end of `run`, with `seek`. Continues in later files while it finds nothing.
    fn enter_forward(
        &mut self,
        mut index: usize,
        run: Run,
        seek: impl FnOnce(&mut TableIterator) -> Result<()>,
    ) -> Result<()> {
        (self.table, self.is_prepared) = (None, false);
        let Some(file) = self.files.as_slice().get(index) else { return Ok(()) };
        let mut table = open_table(&self.tables, file, &self.options)?.iter(self.options);
        table.go_on_with(run);
        seek(&mut table)?;
        while !table.valid() {
            index += 1;
            let Some(file) = self.files.as_slice().get(index) else { return Ok(()) };
            table = open_table(&self.tables, file, &self.options)?.iter(self.options);
            table.go_on_with(run);
            table.seek_to_first()?;
        }
        self.index = index;
        self.table = Some(table);
        Ok(())
    }

    /// Moves to the last entry of the files before `end`, at the end of `run`.
    fn enter_backward(&mut self, end: usize, run: Run) -> Result<()> {
        (self.table, self.is_prepared) = (None, false);
        for index in (0..end).rev() {
            let file = &self.files.as_slice()[index];
            let mut table = open_table(&self.tables, file, &self.options)?.iter(self.options);
            table.go_on_with(run);
            table.seek_to_last()?;
            if table.valid() {
                self.index = index;
                self.table = Some(table);
                break;
            }
        }
        Ok(())
    }

    /// Continues after the table's iterator has `moved`: in the next file if it found nothing, nowhere if it failed.
    #[cold]
    fn go_on_forward(&mut self, moved: Result<()>) -> Result<()> {
        if moved.is_ok() && self.table.as_ref().is_some_and(TableIterator::valid) {
            return Ok(());
        }
        let run = self.take_run();
        moved?;
        self.enter_forward(self.index + 1, run, TableIterator::seek_to_first)
    }

    /// The mirror of [`go_on_forward`](Self::go_on_forward).
    #[cold]
    fn go_on_backward(&mut self, moved: Result<()>) -> Result<()> {
        let run = self.take_run();
        moved?;
        self.enter_backward(self.index, run)
    }

    /// Leaves the table and returns the run that led to its end.
    fn take_run(&mut self) -> Run {
        self.table.take().map(|table| table.run()).unwrap_or_default()
    }

    #[inline]
    fn current(&self) -> &TableIterator {
        self.table.as_ref().expect("a cursor is only read while it is valid")
    }
}

impl InternalIterator for LevelIterator {
    #[inline]
    fn valid(&self) -> bool {
        self.table.is_some()
    }

    fn seek_to_first(&mut self) -> Result<()> {
        self.enter_forward(0, Run::default(), TableIterator::seek_to_first)
    }

    fn seek_to_last(&mut self) -> Result<()> {
        self.enter_backward(self.files.as_slice().len(), Run::default())
    }

    fn seek(&mut self, internal_target: &[u8]) -> Result<()> {
        if mem::take(&mut self.is_prepared)
            && let Some(table) = &mut self.table
        {
            let moved = table.seek(internal_target);
            return self.go_on_forward(moved);
        }
        let index = first_file_at_or_after(&self.comparator, self.files.as_slice(), internal_target);
        // In a scan by short seeks, the current iterator is already at the right file.
        if index == self.index
            && let Some(table) = &mut self.table
        {
            let moved = table.seek(internal_target);
            return self.go_on_forward(moved);
        }
        self.enter_forward(index, Run::default(), |table| table.seek(internal_target))
    }

    /// Opens no table, which might take long or fail.
    fn prepare_seek(&mut self, internal_target: &[u8], preparation: Preparation) {
        if preparation == Preparation::FindBlock {
            let files = self.files.as_slice();
            let index = first_file_at_or_after(&self.comparator, files, internal_target);
            if index != self.index || self.table.is_none() {
                let table = files.get(index).and_then(|file| self.tables.table_if_open(file));
                self.table = table.map(|table| table.iter(self.options));
                self.index = index;
            }
            self.is_prepared = self.table.is_some();
        }
        if let Some(table) = &mut self.table {
            table.prepare_seek(internal_target, preparation);
        }
    }

    #[inline(always)]
    fn next(&mut self) -> Result<()> {
        let Some(table) = &mut self.table else { return Ok(()) };
        let moved = table.next();
        if moved.is_ok() && table.valid() { Ok(()) } else { self.go_on_forward(moved) }
    }

    #[inline(always)]
    fn prev(&mut self) -> Result<()> {
        let Some(table) = &mut self.table else { return Ok(()) };
        let moved = table.prev();
        if moved.is_ok() && table.valid() { Ok(()) } else { self.go_on_backward(moved) }
    }

    #[inline(always)]
    fn next_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        self.table.as_mut()?.next_at_hand()
    }

    #[inline(always)]
    fn prev_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        self.table.as_mut()?.prev_at_hand()
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.current().key()
    }

    #[inline]
    fn value(&self) -> &[u8] {
        self.current().value()
    }

    #[inline]
    fn entry(&self) -> (&[u8], &[u8]) {
        self.current().entry()
    }

    #[inline]
    fn key_before(&self) -> Option<&[u8]> {
        self.current().key_before()
    }

    fn stored_block(&self) -> Option<StoredBlock<'_>> {
        self.current().stored_block()
    }
}

/// The table of `file`, which is opened if necessary; `WouldBlock` if it is not open and `options` forbid waiting.
#[inline]
pub(crate) fn open_table(
    tables: &TableCache,
    file: &Arc<FileMeta>,
    options: &BlockReadOptions,
) -> Result<Arc<Table>> {
    match options.tier {
        ReadTier::Disk => tables.table(file),
        ReadTier::MemoryOnly => tables.table_if_open(file).ok_or_else(|| not_open(file)),
    }
}

#[cfg(test)]
mod tests;
