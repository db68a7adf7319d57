//! A cursor over all entries of a table: a cursor over the index, and within it one over the current data block.
//!
//! predecessor: merging iterator, level iterator, compaction · successor: [`block_fetch`](super::block_fetch)
//!
//! ```text
//!   index:   sep 0      sep 1      sep 2          the cursor stands on the current block's entry
//!              │          ▼          │
//!   data:   [k k k]    [k k k]    [k k k]         at most this one block is held
//!                         ▲
//! ```
//!
//! The cursor is valid exactly when it holds a block and the block's cursor is valid. It skips blocks without entries
//! in both directions. Readers of this cursor rely on internal keys ending with their tag, so an entry whose key is too
//! short for a tag is damage. After any failure the cursor releases its block: it is then not valid, and a later seek
//! starts from scratch.

use std::borrow::Borrow;
use std::sync::Arc;

use terrace_format::Result as FormatResult;
use terrace_format::block::BlockIter;
use terrace_format::internal_key::{InternalKeyComparator, ParsedInternalKey, parse_internal_key};
use terrace_format::table::BlockHandle;

use super::block_fetch::{BlockReadOptions, Caching, Extent};
use super::held_block::{CursorMemory, HeldBlock};
use super::index::{IndexCursor, TableIndex};
use super::read_ahead::{ReadAhead, window_bytes};
use super::reader::Table;
use crate::error::Result;
use crate::iterator::{InternalIterator, Preparation, StoredBlock};
use crate::read_tier::ReadTier;

/// A walk over this many blocks in one direction without a seek is a scan, which no longer changes the cache.
const BLOCKS_BEFORE_SCAN: u32 = 8;

/// A cursor over the entries of one table, in the order of internal keys. It holds the table as a `T`: an `Arc`, or a
/// reference for a short walk.
pub struct TableIterator<T: Borrow<Table> = Arc<Table>> {
    table: T,
    options: BlockReadOptions,
    index: IndexCursor,
    data: Option<DataBlock>,
    memory: CursorMemory,
    run: Run,
    read_ahead: ReadAhead,
    /// Whether a seek is being prepared; the index's cursor is then at its target.
    is_prepared: bool,
}

type Cursor = BlockIter<HeldBlock>;

struct DataBlock {
    handle: BlockHandle,
    entries: Cursor,
}

/// The direction of a walk: which neighbour of a block comes next, and at which of its ends the walk continues.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Direction {
    #[default]
    Forward,
    Backward,
}

/// How many blocks were entered from their neighbours, one after another in one direction.
#[derive(Clone, Copy, Default)]
pub(crate) struct Run {
    direction: Direction,
    blocks: u32,
}

impl Run {
    fn note(&mut self, direction: Direction) {
        let blocks = if self.direction == direction { self.blocks.saturating_add(1) } else { 1 };
        *self = Self { direction, blocks };
    }

    fn is_scan(&self) -> bool {
        self.blocks >= BLOCKS_BEFORE_SCAN
    }
}

impl Table {
    /// A cursor over the table's entries.
    pub fn iter(self: &Arc<Self>, options: BlockReadOptions) -> TableIterator<Arc<Table>> {
        TableIterator::new(self.clone(), options)
    }
}

impl<T: Borrow<Table>> TableIterator<T> {
    pub(crate) fn new(table: T, options: BlockReadOptions) -> Self {
        let index = table.borrow().index_cursor(options.tier);
        let (memory, run) = (CursorMemory::of_thread(), Run::default());
        let read_ahead = ReadAhead::default();
        Self { table, options, index, data: None, memory, run, read_ahead, is_prepared: false }
    }

    /// The run that led here. After the table's end it continues in the next table.
    pub(crate) fn run(&self) -> Run {
        self.run
    }

    /// Continues the run that led through the previous table.
    pub(crate) fn go_on_with(&mut self, run: Run) {
        self.run = run;
    }

    /// The handle of the block that the current entry is in. Needs `valid()`.
    pub(crate) fn block_handle(&self) -> BlockHandle {
        self.current().handle
    }

    /// The parts of the current entry's key. Needs `valid()`. Fails if the block is damaged.
    pub(crate) fn parsed_key(&self) -> Result<ParsedInternalKey<'_>> {
        let current = self.current();
        parse_internal_key(current.entries.key())
            .map_err(|error| self.table.borrow().source.block_error(current.handle, error))
    }

    /// Runs one movement; if it fails, the cursor becomes not valid.
    fn moving(&mut self, movement: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let result = movement(self);
        if result.is_err() {
            self.release_block();
        }
        result
    }

    /// Moves the index's cursor. The error for a damaged index names the file.
    fn move_index(
        &mut self,
        movement: impl FnOnce(&mut IndexCursor, &TableIndex) -> FormatResult<()>,
    ) -> Result<()> {
        let table = self.table.borrow();
        table.check_index_tier(self.options.tier)?;
        movement(&mut self.index, &table.index).map_err(|error| table.index_error(error))
    }

    fn seek_in_index(&mut self, internal_target: &[u8]) -> Result<()> {
        let table = self.table.borrow();
        table.check_index_tier(self.options.tier)?;
        let moved = self.index.seek(&table.index, table.comparator(), internal_target);
        moved.map_err(|error| table.index_error(error))
    }

    /// Moves the held block's cursor. The error for a damaged block names the file.
    fn move_data(
        &mut self,
        movement: impl FnOnce(&mut Cursor, &InternalKeyComparator) -> FormatResult<()>,
    ) -> Result<()> {
        let Some(data) = &mut self.data else {
            return Ok(());
        };
        let table = self.table.borrow();
        movement(&mut data.entries, table.comparator())
            .map_err(|error| table.source.block_error(data.handle, error))
    }

    /// Takes hold of the block that the index's cursor is on, or of none at the index's end.
    fn load_block(&mut self, caching: Caching) -> Result<()> {
        let table = self.table.borrow();
        let handle = self.index.handle(&table.index).map_err(|error| table.index_error(error))?;
        let Some(handle) = handle else {
            self.release_block();
            return Ok(());
        };
        if self.data.as_ref().is_some_and(|data| data.handle == handle) {
            return Ok(());
        }
        // The old block goes before the new one is read, so that only one is in memory.
        self.release_block();
        let caching = if self.passes_by() { Caching::Never } else { caching };
        self.start_reading(handle);
        let source = &self.table.borrow().source;
        if caching == Caching::Never && self.run.direction == Direction::Backward {
            source.prefetch_before(handle);
        }
        let block = source.block_for_cursor(handle, &self.options, caching, &mut self.memory.block)?;
        let memory = std::mem::take(&mut self.memory.entries);
        self.data = Some(DataBlock { handle, entries: BlockIter::over_internal_keys(block, memory) });
        Ok(())
    }

    /// Asks for the block, and for what a walk needs next, if the database has outgrown memory.
    #[inline]
    fn start_reading(&mut self, handle: BlockHandle) {
        if self.table.borrow().source.paging.is_active() && self.options.tier == ReadTier::Disk {
            self.read_ahead_of(handle);
        }
    }

    #[cold]
    fn read_ahead_of(&mut self, handle: BlockHandle) {
        let source = &self.table.borrow().source;
        match self.run.direction {
            _ if self.options.extent == Extent::Whole => self.read_ahead.pass(&source.paging, handle),
            _ if self.run.blocks == 0 && source.may_be_cached(handle) => {}
            _ if self.run.blocks == 0 => self.read_ahead.seek(&source.paging, handle),
            Direction::Forward => {
                self.read_ahead.forward(&source.paging, handle, window_bytes(self.run.blocks))
            }
            Direction::Backward => {
                self.read_ahead.backward(&source.paging, handle, window_bytes(self.run.blocks))
            }
        }
    }

    fn release_block(&mut self) {
        if let Some(data) = self.data.take() {
            let (block, memory) = data.entries.into_parts();
            self.memory.entries = memory;
            self.memory.keep_block(block);
        }
    }

    /// Whether this is a scan, whose blocks do not go into the cache.
    fn passes_by(&self) -> bool {
        self.run.is_scan() || !self.options.fill_cache
    }

    /// Whether the first entry at or after `internal_target` is in the held block or is the first of the next one, so that
    /// the index is not needed.
    fn holds_block_of(&self, internal_target: &[u8]) -> bool {
        let table = self.table.borrow();
        let comparator = table.comparator();
        self.data.as_ref().filter(|data| data.entries.valid()).is_some_and(|data| {
            comparator.compare(data.entries.key(), internal_target).is_lt()
                && table.index_is_at_hand(self.options.tier)
                && comparator.compare(internal_target, self.index.separator(&table.index)).is_le()
        })
    }

    /// Moves from a block that is used up to the nearest entry of the blocks beyond it.
    fn skip_used_up_blocks(&mut self, direction: Direction) -> Result<()> {
        while self.data.as_ref().is_some_and(|data| !data.entries.valid()) {
            match direction {
                Direction::Forward => self.move_index(IndexCursor::next)?,
                Direction::Backward => self.move_index(IndexCursor::prev)?,
            }
            self.run.note(direction);
            // In a damaged table two index entries may hold the same handle. Without this the walk would not end.
            self.release_block();
            self.load_block(Caching::Always)?;
            match direction {
                Direction::Forward => self.move_data(|cursor, _| cursor.seek_to_first())?,
                Direction::Backward => self.move_data(|cursor, _| cursor.seek_to_last())?,
            }
        }
        Ok(())
    }

    /// Makes a step beyond the decoded entries.
    #[inline(never)]
    fn long_step(&mut self, direction: Direction) -> Result<()> {
        self.moving(|this| {
            this.move_data(|cursor, _| match direction {
                Direction::Forward => cursor.next(),
                Direction::Backward => cursor.prev(),
            })?;
            this.skip_used_up_blocks(direction)
        })
    }

    #[inline]
    fn current(&self) -> &DataBlock {
        self.data.as_ref().expect("the cursor stands on an entry")
    }
}

impl<T: Borrow<Table>> Drop for TableIterator<T> {
    fn drop(&mut self) {
        self.release_block();
        self.read_ahead.leave(&self.table.borrow().source.paging);
        std::mem::take(&mut self.memory).give_to_thread();
    }
}

impl<T: Borrow<Table> + Send> InternalIterator for TableIterator<T> {
    #[inline]
    fn valid(&self) -> bool {
        self.data.is_some()
    }

    fn seek_to_first(&mut self) -> Result<()> {
        self.is_prepared = false;
        self.moving(|this| {
            this.move_index(IndexCursor::seek_to_first)?;
            this.load_block(Caching::Always)?;
            this.move_data(|cursor, _| cursor.seek_to_first())?;
            this.skip_used_up_blocks(Direction::Forward)
        })
    }

    fn seek_to_last(&mut self) -> Result<()> {
        self.is_prepared = false;
        self.moving(|this| {
            this.move_index(IndexCursor::seek_to_last)?;
            this.load_block(Caching::Always)?;
            this.move_data(|cursor, _| cursor.seek_to_last())?;
            this.skip_used_up_blocks(Direction::Backward)
        })
    }

    fn seek(&mut self, internal_target: &[u8]) -> Result<()> {
        self.run = Run::default();
        let is_prepared = std::mem::take(&mut self.is_prepared);
        let is_near = !is_prepared && self.holds_block_of(internal_target);
        self.moving(|this| {
            if !is_near {
                if !is_prepared {
                    this.seek_in_index(internal_target)?;
                }
                this.load_block(Caching::IfWanted)?;
            }
            this.move_data(|entries, comparator| entries.seek(comparator, internal_target))?;
            this.skip_used_up_blocks(Direction::Forward)
        })
    }

    /// Leaves undone what fails. The seek will report it.
    fn prepare_seek(&mut self, internal_target: &[u8], preparation: Preparation) {
        match preparation {
            Preparation::FindBlock => {
                self.run = Run::default();
                self.is_prepared =
                    !self.holds_block_of(internal_target) && self.seek_in_index(internal_target).is_ok();
                let table = self.table.borrow();
                if self.is_prepared
                    && let Ok(Some(handle)) = self.index.handle(&table.index)
                {
                    table.source.prefetch_stored(handle);
                    // The device then reads the blocks of all merged cursors at the same time.
                    self.start_reading(handle);
                }
            }
            Preparation::LoadBlock if self.is_prepared => {
                let is_loaded = self.moving(|this| this.load_block(Caching::IfWanted)).is_ok();
                if let Some(data) = self.data.as_ref().filter(|_| is_loaded) {
                    data.entries.block().prefetch_restarts();
                }
            }
            Preparation::LoadBlock => {}
        }
    }

    #[inline(always)]
    fn next(&mut self) -> Result<()> {
        if self.next_at_hand().is_some() { Ok(()) } else { self.long_step(Direction::Forward) }
    }

    #[inline(always)]
    fn prev(&mut self) -> Result<()> {
        if self.prev_at_hand().is_some() { Ok(()) } else { self.long_step(Direction::Backward) }
    }

    #[inline(always)]
    fn next_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        self.data.as_mut()?.entries.step_forward()
    }

    #[inline(always)]
    fn prev_at_hand(&mut self) -> Option<(&[u8], &[u8])> {
        self.data.as_mut()?.entries.step_backward()
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.current().entries.key()
    }

    #[inline]
    fn value(&self) -> &[u8] {
        self.current().entries.value()
    }

    #[inline]
    fn entry(&self) -> (&[u8], &[u8]) {
        self.current().entries.entry()
    }

    #[inline]
    fn key_before(&self) -> Option<&[u8]> {
        self.current().entries.key_before()
    }

    fn stored_block(&self) -> Option<StoredBlock<'_>> {
        let DataBlock { handle, entries } = self.current();
        if !self.options.verify_checksums || !entries.block().holds_one_entry() {
            return None;
        }
        let stored = self.table.borrow().source.mapped_contents(*handle, &self.options).ok()??;
        Some(StoredBlock { contents: stored.contents(), trailer: stored.trailer() })
    }
}
