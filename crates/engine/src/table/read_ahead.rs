//! Reads ahead of a cursor that walks through a table of a database that has [outgrown](super::paging) memory.
//!
//! predecessors: [`iterator`](super::iterator), [`verify`](super::verify) · successor: [`paging`](super::paging)
//!
//! ```text
//!   forward:    [ read │ requested                  ]         when the cursor nears the end of what was requested, it
//!                      ▲ cursor      │ mark                   requests the next window
//! ```
//!
//! A seek requests only its block. A walk requests as much as it has passed, up to a limit, because most ranges are
//! short. A cursor that will visit the whole table begins at the limit, and gives up the memory of what it has passed
//! if it was not there before.

use std::mem;
use std::ops::Range;

use terrace_format::table::BlockHandle;

use super::paging::Paging;

/// The first window of a walk.
const FIRST_WINDOW_BYTES: u64 = 16 << 10;

/// The largest window.
const LAST_WINDOW_BYTES: u64 = 1 << 20;

/// The smallest window that is requested while the one before it is still being passed.
const LEADING_WINDOW_BYTES: u64 = 128 << 10;

/// The size of a usual block in a file.
const USUAL_BLOCK_BYTES: u64 = 4 << 10;

/// The window of a walk that has passed this many blocks.
pub(super) fn window_bytes(passed_blocks: u32) -> u64 {
    let passed_bytes = u64::from(passed_blocks) * USUAL_BLOCK_BYTES;
    passed_bytes.next_power_of_two().clamp(FIRST_WINDOW_BYTES, LAST_WINDOW_BYTES)
}

/// How far before the end of the requested range the next window is requested, in bytes. A short range mostly ends
/// before that point, and reads nothing in vain.
fn lead_bytes(window_bytes: u64) -> u64 {
    if window_bytes < LEADING_WINDOW_BYTES { 0 } else { window_bytes / 2 }
}

/// What a cursor has requested in one table.
#[derive(Debug, Default)]
pub(super) struct ReadAhead {
    asked: Range<u64>,
    /// The window that a cursor through the whole table is in, and the one before, as far as they were not in memory.
    passing: [Range<u64>; 2],
}

impl ReadAhead {
    /// Asks for the block that a seek leads to.
    pub(super) fn seek(&mut self, paging: &Paging, handle: BlockHandle) {
        let block = paging.range_of(handle);
        if !covers(&self.asked, &block) {
            paging.ask(&block);
            self.asked = block;
        }
    }

    /// Asks for what follows the block that a cursor enters from the one before it.
    pub(super) fn forward(&mut self, paging: &Paging, handle: BlockHandle, window_bytes: u64) {
        if let Some(window) = self.next_forward(paging, handle, window_bytes) {
            paging.ask(&window);
            self.note_forward(&window);
        }
    }

    /// As [`forward`](Self::forward), for a cursor through the whole table.
    pub(super) fn pass(&mut self, paging: &Paging, handle: BlockHandle) {
        if let Some(window) = self.next_forward(paging, handle, LAST_WINDOW_BYTES) {
            let is_in_memory = paging.is_in_memory(&window);
            paging.ask(&window);
            self.note_forward(&window);
            let next = if is_in_memory { 0..0 } else { window };
            let [current, passed] = mem::take(&mut self.passing);
            paging.give_up(&passed);
            self.passing = [next, current];
        }
    }

    /// Gives up the memory of what a cursor through the whole table has passed, now that it leaves the table.
    pub(super) fn leave(&mut self, paging: &Paging) {
        mem::take(self).passing.iter().rev().for_each(|window| paging.give_up(window));
    }

    /// Asks for what precedes the block that a cursor enters from the one after it.
    pub(super) fn backward(&mut self, paging: &Paging, handle: BlockHandle, window_bytes: u64) {
        let block = paging.range_of(handle);
        let is_covered = covers(&self.asked, &block);
        if is_covered && block.end > self.asked.start.saturating_add(lead_bytes(window_bytes)) {
            return;
        }
        let is_entered = self.asked.start < block.end && block.end <= self.asked.end;
        let end = if is_entered { self.asked.start } else { block.end };
        let begin = end.saturating_sub(window_bytes).min(block.start);
        if begin < end {
            paging.ask(&(begin..end));
            self.asked = if is_entered { begin..self.asked.end } else { begin..end };
        }
    }

    /// The window to request when the cursor enters the block, if it is near the end of the requested range.
    fn next_forward(&self, paging: &Paging, handle: BlockHandle, window_bytes: u64) -> Option<Range<u64>> {
        let block = paging.range_of(handle);
        let is_covered = covers(&self.asked, &block);
        if is_covered && block.start < self.asked.end.saturating_sub(lead_bytes(window_bytes)) {
            return None;
        }
        let begin = if self.asked.contains(&block.start) { self.asked.end } else { block.start };
        let end = begin.saturating_add(window_bytes).max(block.end).min(paging.size_bytes());
        (begin < end).then_some(begin..end)
    }

    fn note_forward(&mut self, window: &Range<u64>) {
        let begin = if self.asked.end == window.start { self.asked.start } else { window.start };
        self.asked = begin..window.end;
    }
}

fn covers(asked: &Range<u64>, block: &Range<u64>) -> bool {
    asked.start <= block.start && block.end <= asked.end
}
