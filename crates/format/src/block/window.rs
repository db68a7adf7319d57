//! Entries of a block decoded ahead, in one tight loop, so that a step of [`BlockIter`](super::BlockIter) in either
//! direction only changes an index. The iterator moves the window over the block.
//!
//! ```text
//!   block     ┬────────┬────────┬────────┬────────┬────────┬────────┬──
//!             │ entry  │ entry  │ entry  │ entry  │ entry  │ entry  │
//!   ──────────┴────────┴────────┴────────┴────────┴────────┴────────┴──
//!                      ├── start     the window       end ─┤
//!   keys      ash·aster·astute·attic·(room)      assembled, back to back
//!   entries   where each key lies in `keys` and each value in the block
//! ```
//!
//! To continue forward, the last key moves to the front, because the next entry's key builds on it. The first key of a
//! window is then built in its place, so a block whose keys keep growing costs time linear in its size, not quadratic.
//!
//! Keys are copied sixteen bytes at a time, beyond the end of shorter ones: nearly every key is short, and a call of
//! `memmove` would cost more than everything else that an entry takes.

mod common_entries;

use std::mem::take;

use super::block::{Block, Entry};
use crate::error::{FormatError, Result};
use crate::limits::INTERNAL_KEY_TAG_SIZE_BYTES;

/// Number of entries decoded at once when moving forward. A block of 4 KiB has about as many.
pub(super) const ENTRIES_AHEAD: usize = 32;
/// Number of entries that a search decodes at once: half of those between two restart points, because a search ends
/// halfway on average.
pub(super) const ENTRIES_PER_SEARCH: usize = 8;
/// Number of bytes decoded at once when moving back, in addition to what lies between them and a restart point.
const SPAN_BEHIND_BYTES: usize = 1 << 10;
/// Bounds of a window when moving back, where only the distance of two restart points would limit it. They exceed any
/// interval that writers use. A hostile block cannot make a window take more memory; it only makes steps back slower.
const MAX_ENTRIES: usize = 256;
/// A window takes no further entries once its keys take this many bytes.
const MAX_KEY_BYTES: usize = 16 << 10;
/// Number of bytes copied at once.
const CHUNK: usize = 16;
/// Room for keys in a new window.
const KEY_BYTES_AT_FIRST: usize = 512;

/// Decoded entries that follow each other in a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    entries: Vec<DecodedEntry>,
    /// The keys of `entries` back to back. What follows the last one is left over from earlier keys.
    keys: Vec<u8>,
    /// Offset in the block of the first entry, and of the byte after the last.
    start: usize,
    end: usize,
    /// An entry with a shorter key is damaged.
    least_key_length: usize,
}

/// How far a stretch of a block has been decoded.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Offset in the block of the next entry.
    offset: usize,
    /// Where the previous key starts among the keys, and how long it is.
    before_start: usize,
    before_length: usize,
    /// Where the next key goes.
    key_start: usize,
}

/// Where the parts of an entry are.
#[derive(Clone, Copy, Debug)]
pub(super) struct DecodedEntry {
    key_start: usize,
    key_end: usize,
    /// Offset in the block's contents.
    pub(super) value_start: usize,
    pub(super) value_end: usize,
}

impl Window {
    /// Makes the window treat entries with shorter keys as damaged from now on.
    pub(super) fn set_least_key_length(&mut self, least_key_length: usize) {
        self.least_key_length = least_key_length;
    }

    /// Drops the entries and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.keys.capacity() + self.entries.capacity() * size_of::<DecodedEntry>()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&DecodedEntry> {
        self.entries.get(index)
    }

    /// The key of one of the window's entries.
    #[inline]
    pub(super) fn key_of(&self, entry: &DecodedEntry) -> &[u8] {
        &self.keys[entry.key_start..entry.key_end]
    }

    /// The index of the first entry for which `is_before` is false, if it is true for all entries before it.
    #[inline]
    pub(super) fn partition_point(&self, is_before: impl Fn(&[u8]) -> bool) -> usize {
        self.entries.partition_point(|entry| is_before(self.key_of(entry)))
    }

    /// Whether `is_before` is true for the first entry and false for the last.
    #[inline]
    pub(super) fn spans(&self, is_before: impl Fn(&[u8]) -> bool) -> bool {
        match &self.entries[..] {
            [first, .., last] => is_before(self.key_of(first)) && !is_before(self.key_of(last)),
            _ => false,
        }
    }

    /// Offset in the block of the byte after the last entry.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Offset in the block of the first entry.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Goes to `offset`, a restart point, and decodes up to `max_entries` from there up to `end`. The window is empty
    /// if the block has no entry from `offset` on. Fails if the entry at `offset` is damaged.
    pub(super) fn restart_at(
        &mut self,
        block: &Block,
        offset: usize,
        end: usize,
        max_entries: usize,
    ) -> Result<()> {
        self.entries.clear();
        self.fill(block, 0, offset, end, max_entries)
    }

    /// Goes to the entry at `offset` alone. Its key begins with as much of `prefix` as the entry shares. Fails if the
    /// entry is damaged.
    pub(super) fn stand_on(&mut self, block: &Block, offset: usize, prefix: &[u8]) -> Result<()> {
        self.entries.clear();
        make_room(&mut self.keys, prefix.len() + CHUNK);
        self.keys[..prefix.len()].copy_from_slice(prefix);
        self.fill(block, prefix.len(), offset, block.entries_end(), 1)
    }

    /// Whether the entries have internal keys.
    #[inline]
    pub(super) fn holds_internal_keys(&self) -> bool {
        self.least_key_length == INTERNAL_KEY_TAG_SIZE_BYTES
    }

    /// Continues after the last entry. At the end of the block the window is then empty. Fails if the next entry is
    /// damaged; damage in a later one only ends the window.
    pub(super) fn advance(&mut self, block: &Block) -> Result<()> {
        self.advance_by(block, ENTRIES_AHEAD)
    }

    /// Like [`advance`](Self::advance), but takes at most `max_entries`.
    pub(super) fn advance_by(&mut self, block: &Block, max_entries: usize) -> Result<()> {
        let key_length = self.keep_last_key();
        self.fill(block, key_length, self.end, block.entries_end(), max_entries)
    }

    /// Goes back to the entries that end at `end`, where an entry must end; 0 leaves the window empty. Fails if an
    /// entry between the preceding restart point and `end` is damaged.
    pub(super) fn retreat(&mut self, block: &Block, end: usize) -> Result<()> {
        self.entries.clear();
        if end == 0 {
            return Ok(());
        }
        let near = block.restart_before(end);
        let far = block.restart_before(end.saturating_sub(SPAN_BEHIND_BYTES).max(1)).min(near);
        // Damage further back than the nearest restart point does not keep us from going back to that point.
        self.fill_up_to(block, far, end).or_else(|_| self.fill_up_to(block, near, end))
    }

    /// Decodes from `offset` on to exactly `end`. If that is more than a window holds, the last entries stay.
    fn fill_up_to(&mut self, block: &Block, mut offset: usize, end: usize) -> Result<()> {
        self.entries.clear();
        while offset < end {
            let key_length = self.keep_last_key();
            self.fill(block, key_length, offset, end, MAX_ENTRIES)?;
            offset = self.end;
        }
        if offset != end {
            self.entries.clear();
            return Err(FormatError::corrupt("block", "a restart point lies inside an entry", end as u64));
        }
        Ok(())
    }

    /// Moves the last key to the front, where the next entry's key builds on it, and drops the entries. Returns the
    /// length of the key.
    fn keep_last_key(&mut self) -> usize {
        let Some(&DecodedEntry { key_start, key_end, .. }) = self.entries.last() else { return 0 };
        if key_start > 0 {
            self.keys.copy_within(key_start..key_end, 0);
        }
        self.entries.clear();
        key_end - key_start
    }

    /// Decodes entries from `start` until the window is full or `end` is reached. The first key builds on the
    /// `key_length` bytes at the front of the keys. If the first entry is damaged, fails and leaves the window empty;
    /// a damaged later entry ends the window.
    fn fill(
        &mut self,
        block: &Block,
        key_length: usize,
        start: usize,
        end: usize,
        max_entries: usize,
    ) -> Result<()> {
        debug_assert!(self.entries.is_empty());
        // Moved out of `self` so that they stay in registers.
        let (mut entries, mut keys) = (take(&mut self.entries), take(&mut self.keys));
        entries.reserve(max_entries.min(ENTRIES_AHEAD));
        make_room(&mut keys, KEY_BYTES_AT_FIRST);
        let contents = block.contents();
        // The first key replaces the one that it builds on.
        let mut progress =
            Progress { offset: start, before_start: 0, before_length: key_length, key_start: 0 };
        let least = self.least_key_length;
        loop {
            common_entries::decode(contents, end, least, max_entries, &mut entries, &mut keys, &mut progress);
            let Progress { offset, before_start, before_length, key_start } = progress;
            if offset >= end || entries.len() >= max_entries || key_start >= MAX_KEY_BYTES {
                break;
            }
            let Some(Entry { shared, key_start: suffix_start, value_start, value_end }) =
                block.entry_at(offset)
            else {
                break;
            };
            let suffix_length = value_start - suffix_start;
            let key_length = shared + suffix_length;
            if shared > before_length || key_length < least {
                break;
            }
            make_room(&mut keys, key_start + key_length + CHUNK);
            if key_start != before_start {
                copy_within(&mut keys, before_start, key_start, shared);
            }
            copy(contents, suffix_start, &mut keys, key_start + shared, suffix_length);
            let key_end = key_start + key_length;
            entries.push(DecodedEntry { key_start, key_end, value_start, value_end });
            progress = Progress {
                offset: value_end,
                before_start: key_start,
                before_length: key_length,
                key_start: key_end,
            };
        }
        (self.entries, self.keys, self.start, self.end) = (entries, keys, start, progress.offset);
        if self.entries.is_empty() && start < end { Err(self.refusal(block, key_length)) } else { Ok(()) }
    }

    /// Why the entry at `end` was refused. The key before it has `key_length` bytes.
    #[cold]
    fn refusal(&self, block: &Block, key_length: usize) -> FormatError {
        match block.entry_at(self.end) {
            Some(entry) if entry.shared <= key_length => {
                FormatError::corrupt("block", "a key is too short for an internal key", self.end as u64)
            }
            _ => block.damaged_entry(self.end),
        }
    }
}

#[inline]
fn make_room(keys: &mut Vec<u8>, size_bytes: usize) {
    if keys.len() < size_bytes {
        keys.resize(size_bytes.next_power_of_two().max(KEY_BYTES_AT_FIRST), 0);
    }
}

/// Copies `length` bytes from `from` to `to`, which lies at least `length` further on, and perhaps up to a chunk
/// more, for which there is room.
#[inline(always)]
fn copy_within(bytes: &mut [u8], mut from: usize, mut to: usize, length: usize) {
    let end = to + length;
    while to < end {
        let chunk: [u8; CHUNK] = *bytes[from..].first_chunk().expect("there is room after the keys");
        *bytes[to..].first_chunk_mut().expect("there is room after the keys") = chunk;
        from += CHUNK;
        to += CHUNK;
    }
}

/// Copies `length` bytes at `from` of `source` to `to` of `target`, and perhaps up to a chunk more, for which the
/// target has room.
#[inline(always)]
fn copy(source: &[u8], mut from: usize, target: &mut [u8], mut to: usize, length: usize) {
    let end = to + length;
    while to < end {
        let Some(chunk) = source[from..].first_chunk::<CHUNK>() else {
            // The block ends before the chunk would.
            return target[to..end].copy_from_slice(&source[from..from + (end - to)]);
        };
        *target[to..].first_chunk_mut().expect("there is room after the keys") = *chunk;
        from += CHUNK;
        to += CHUNK;
    }
}
