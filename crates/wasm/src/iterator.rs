//! Iterators, which hand over many entries at once.

use std::ops::RangeBounds;

use terrace_engine::{Bounds, DbIterator, Result, WriteBatch};
use terrace_wasm_abi::{Page, RangeFlags};

/// Where the next read begins.
enum Next {
    /// At the first entry in the direction of the iterator.
    First,
    /// At the entry that the cursor is at, if it is at one.
    Here,
    /// After that entry.
    Following,
    /// Nowhere.
    End,
}

pub(crate) struct Iterator {
    entries: DbIterator,
    bounds: Bounds,
    flags: RangeFlags,
    next: Next,
}

impl Iterator {
    pub(crate) fn new(entries: DbIterator, bounds: Bounds, flags: RangeFlags) -> Self {
        Self { entries, bounds, flags, next: Next::First }
    }

    /// Moves to the first key that is not before `target`, in the direction of the iterator. A target outside the bounds leaves nothing to
    /// read, on either side.
    pub(crate) fn seek(&mut self, target: &[u8]) -> Result<()> {
        self.next = Next::End;
        if !self.is_in_range(target) {
            return Ok(());
        }
        if self.flags.is_reverse() {
            self.entries.seek_for_prev(target)?;
        } else {
            self.entries.seek(target)?;
        }
        self.next = Next::Here;
        Ok(())
    }

    /// Reads entries. Returns whether the end was reached.
    pub(crate) fn read(
        &mut self,
        most_entries: usize,
        high_water_mark_bytes: usize,
        output: &mut Vec<u8>,
    ) -> Result<bool> {
        let mut page = Page::new(self.flags, most_entries, high_water_mark_bytes);
        let has_ended = self.walk(|key, value| {
            page.add(key, value);
            page.is_full()
        })?;
        page.write_to(output);
        Ok(has_ended)
    }

    /// Adds the deletion of up to `most_entries` keys to a batch, at least of one. Returns the last of them, unless the end was reached.
    pub(crate) fn delete_into(
        &mut self,
        most_entries: u32,
        batch: &mut WriteBatch,
    ) -> Result<Option<Vec<u8>>> {
        let mut last = Vec::new();
        let has_ended = self.walk(|key, _| {
            // A key that is stored fits into a batch.
            let _ = batch.delete(key);
            let is_last = batch.count() >= most_entries;
            if is_last {
                last = key.to_vec();
            }
            is_last
        })?;
        Ok((!has_ended).then_some(last))
    }

    /// Passes entries on, up to one of which `take` says that it was the last. Returns whether the end was reached.
    fn walk(&mut self, mut take: impl FnMut(&[u8], &[u8]) -> bool) -> Result<bool> {
        // A failed movement ends the iterator.
        let mut is_at_entry = match std::mem::replace(&mut self.next, Next::End) {
            Next::First => self.go_to_first()?,
            Next::Following => self.advance()?,
            Next::Here => self.entries.valid(),
            Next::End => false,
        };
        while is_at_entry {
            if take(self.entries.key(), self.entries.value()) {
                self.next = Next::Following;
                break;
            }
            is_at_entry = self.advance()?;
        }
        Ok(!is_at_entry)
    }

    /// Moves to the first entry in the direction of the iterator. Returns whether there is one.
    fn go_to_first(&mut self) -> Result<bool> {
        if self.flags.is_reverse() {
            self.entries.seek_to_last()?
        } else {
            self.entries.seek_to_first()?
        }
        Ok(self.entries.valid())
    }

    /// Moves to the next entry in the direction of the iterator. Returns whether there is one.
    fn advance(&mut self) -> Result<bool> {
        if self.flags.is_reverse() {
            self.entries.prev()?
        } else {
            self.entries.next()?
        }
        Ok(self.entries.valid())
    }

    fn is_in_range(&self, target: &[u8]) -> bool {
        let Bounds { lower, upper } = &self.bounds;
        let range = (lower.as_ref().map(Vec::as_slice), upper.as_ref().map(Vec::as_slice));
        RangeBounds::<[u8]>::contains(&range, target)
    }
}
