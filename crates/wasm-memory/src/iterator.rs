//! Iterators, which hand over many entries at once.

use std::ops::Bound;

use terrace_memory::{Cursor, is_within};
use terrace_wasm_abi::{Page, RangeFlags};

pub(crate) struct Iterator {
    cursor: Cursor,
    bounds: (Bound<Vec<u8>>, Bound<Vec<u8>>),
    flags: RangeFlags,
    /// Whether the cursor is at the next entry to read, or at none because nothing is left.
    is_placed: bool,
}

impl Iterator {
    pub(crate) fn new(
        cursor: Cursor,
        flags: RangeFlags,
        lower: Option<Vec<u8>>,
        upper: Option<Vec<u8>>,
    ) -> Self {
        Self { cursor, bounds: flags.bounds(lower, upper), flags, is_placed: false }
    }

    /// Moves to the first key that is not before `target`, in the direction of the iterator. A target outside the bounds leaves nothing to
    /// read, on either side.
    pub(crate) fn seek(&mut self, target: &[u8]) {
        self.is_placed = true;
        if is_within(target, borrowed(&self.bounds)) {
            let at = Bound::Included(target);
            self.cursor.seek_within((at, at), self.flags.is_reverse());
        } else {
            self.cursor.leave();
        }
    }

    /// Reads entries. Returns whether the end was reached.
    pub(crate) fn read(
        &mut self,
        most_entries: usize,
        high_water_mark_bytes: usize,
        output: &mut Vec<u8>,
    ) -> bool {
        let reverse = self.flags.is_reverse();
        let range = borrowed(&self.bounds);
        if !self.is_placed {
            self.is_placed = true;
            self.cursor.seek_within(range, reverse);
        }
        let mut page = Page::new(self.flags, most_entries, high_water_mark_bytes);
        let has_ended = loop {
            let Some((key, value)) = self.cursor.entry().filter(|(key, _)| is_within(key, range)) else {
                break true;
            };
            if page.is_full() {
                break false;
            }
            page.add(key, value);
            self.cursor.step(reverse);
        };
        page.write_to(output);
        has_ended
    }
}

pub(crate) fn borrowed(bounds: &(Bound<Vec<u8>>, Bound<Vec<u8>>)) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (bounds.0.as_ref().map(Vec::as_slice), bounds.1.as_ref().map(Vec::as_slice))
}
