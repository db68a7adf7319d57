//! Reading a block: the checked bytes, the decoding of one entry, and the search for a key.
//!
//! The bytes are already checked and decompressed. A point lookup uses [`Block::find`]; a scan uses
//! [`super::BlockIter`]. The [module above](super) draws the layout.
//!
//! This is the hottest code of a read. Keys stored whole are compared in place; only a key with a shared prefix is
//! assembled, in a reused buffer. A header whose three lengths are below 128 takes one comparison.

use std::cmp::Ordering;
use std::ops::Range;

use bytes::Bytes;

use crate::coding::{decode_fixed32, read_varint32};
use crate::error::{FormatError, Result};
use crate::internal_key::KeyCompare;
use crate::prefetch::prefetch;

/// The bytes of a block, whose restart array was checked to lie within them. Entries are checked as they are read.
///
/// The block owns the bytes, or they are part of something larger that they keep alive, such as a file in memory.
#[derive(Clone, Debug)]
pub struct Block {
    contents: Bytes,
    /// Where the entries end and the restart array starts.
    entries_end: usize,
    restart_count: usize,
}

/// One entry's header, resolved to positions in the block. The next entry starts at `value_end`.
pub(super) struct Entry {
    pub(super) shared: usize,
    pub(super) key_start: usize,
    pub(super) value_start: usize,
    pub(super) value_end: usize,
}

/// Where the bytes of a key are.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyPlace {
    /// The key is stored whole, at these offsets of the block.
    Block { start: usize, end: usize },
    /// The key is in the reader's buffer, where it was assembled.
    Buffer,
}

impl KeyPlace {
    /// The key before a restart point: nothing can be shared with it.
    pub(super) const NONE: Self = Self::Block { start: 0, end: 0 };
}

/// The entry that a reader is at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) key: KeyPlace,
    pub(super) value_start: usize,
    /// Where the value ends and the next entry starts.
    pub(super) value_end: usize,
}

impl Block {
    /// Takes the contents of a block, decompressed and without trailer.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the contents are too short for their restart array, if the first restart is not at 0, or if there
    /// are entries without a restart.
    pub fn new(contents: impl Into<Bytes>) -> Result<Self> {
        let contents = contents.into();
        let Some((rest, count)) = contents.split_last_chunk::<4>() else {
            return Err(FormatError::corrupt("block", "shorter than the number of restarts", 0));
        };
        let restart_count = u32::from_le_bytes(*count) as usize;
        if restart_count > rest.len() / 4 {
            let problem = format!("{restart_count} restarts do not fit {} bytes", rest.len());
            return Err(FormatError::corrupt("block", problem, rest.len() as u64));
        }
        let entries_end = rest.len() - 4 * restart_count;
        if restart_count == 0 && entries_end > 0 {
            return Err(FormatError::corrupt("block", "entries without a restart", rest.len() as u64));
        }
        if restart_count > 0 && decode_fixed32(&rest[entries_end..]) != 0 {
            return Err(FormatError::corrupt("block", "the first restart is not at 0", entries_end as u64));
        }
        Ok(Self { contents, entries_end, restart_count })
    }

    /// Size of the contents, in bytes.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.contents.len()
    }

    /// The contents, as given to [`new`](Self::new).
    #[inline]
    pub fn contents(&self) -> &[u8] {
        &self.contents
    }

    /// Whether the block consists of one entry, stored whole, and of its restart point.
    pub fn holds_one_entry(&self) -> bool {
        let entry = Self::entry_in(&self.contents[..self.entries_end], 0);
        self.restart_count == 1
            && entry.is_some_and(|entry| entry.shared == 0 && entry.value_end == self.entries_end)
    }

    /// Drops everything except the contents.
    pub fn into_contents(self) -> Bytes {
        self.contents
    }

    /// Finds the first entry whose key is not before `target`. Leaves its key in `key_buffer` and returns the range
    /// of its value in [`contents`](Self::contents), or `None` if every key is before `target`.
    ///
    /// Allocates only if `key_buffer` has to grow. After `None` or an error the buffer's content is unspecified.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the search meets a damaged entry or restart point, with its offset in the block.
    pub fn find<C: KeyCompare>(
        &self,
        comparator: &C,
        target: &[u8],
        key_buffer: &mut Vec<u8>,
    ) -> Result<Option<Range<usize>>> {
        let Some(position) = self.lower_bound(comparator, target, key_buffer)? else {
            return Ok(None);
        };
        if let KeyPlace::Block { start, end } = position.key {
            key_buffer.clear();
            key_buffer.extend_from_slice(&self.contents[start..end]);
        }
        Ok(Some(position.value_start..position.value_end))
    }

    /// Checks everything that [`new`](Self::new) leaves to the readers: every entry decodes, and the restart offsets
    /// ascend and each is the offset of an entry stored whole. Does not check the order of the keys, which needs the
    /// comparator.
    ///
    /// # Errors
    ///
    /// `Corrupt` with the offset of the first entry or restart point that is damaged.
    pub fn verify(&self) -> Result<()> {
        let mut restarts = 0;
        let mut key_length = 0;
        let mut offset = 0;
        while offset < self.entries_end {
            let entry = self.entry_at(offset).ok_or_else(|| self.damaged_entry(offset))?;
            if restarts < self.restart_count && self.restart(restarts) == offset {
                restarts += 1;
                key_length = 0;
            }
            if entry.shared > key_length {
                return Err(self.damaged_entry(offset));
            }
            key_length = entry.shared + (entry.value_start - entry.key_start);
            offset = entry.value_end;
        }
        // A block without entries has a restart that leads to none.
        if restarts < self.restart_count && self.entries_end > 0 {
            return Err(self.damaged_restart(restarts));
        }
        Ok(())
    }

    /// Prefetches what a search compares first, the keys at the restart points, into the processor's cache, if there
    /// are few of them.
    #[inline]
    pub fn prefetch_restarts(&self) {
        const MOST: usize = 8;
        for index in 0..self.restart_count.min(MOST) {
            let offset = self.restart(index);
            prefetch(self.contents.get(offset..offset.saturating_add(1)).unwrap_or_default());
        }
    }

    /// Number of restart points.
    #[inline]
    pub fn restart_count(&self) -> usize {
        self.restart_count
    }

    /// Key and value of the entry at a restart point. `None` if there is no such restart point, or if it does not lead to
    /// an entry stored whole.
    #[inline]
    pub fn entry_at_restart(&self, index: usize) -> Option<(&[u8], &[u8])> {
        if index >= self.restart_count {
            return None;
        }
        let entry = self.entry_at(self.restart(index)).filter(|entry| entry.shared == 0)?;
        let (key, value) = (entry.key_start..entry.value_start, entry.value_start..entry.value_end);
        Some((&self.contents[key], &self.contents[value]))
    }

    /// Whether every entry is at a restart point and the restart points are in order, as in an index.
    pub fn has_only_restarts(&self) -> bool {
        let mut end = 0;
        for index in 0..self.restart_count {
            match self.entry_at(end) {
                Some(entry) if self.restart(index) == end && entry.shared == 0 => end = entry.value_end,
                _ => return false,
            }
        }
        end == self.entries_end
    }

    /// Where the entries end: one past the last entry's offset.
    #[inline]
    pub(super) fn entries_end(&self) -> usize {
        self.entries_end
    }

    /// The first entry not before `target`. Its key is where the returned position says.
    #[inline]
    pub(super) fn lower_bound<C: KeyCompare>(
        &self,
        comparator: &C,
        target: &[u8],
        buffer: &mut Vec<u8>,
    ) -> Result<Option<Position>> {
        if self.entries_end == 0 {
            return Ok(None);
        }
        let restart = self.last_restart_before_key(comparator, target)?;
        let mut offset = self.restart(restart);
        let mut key = KeyPlace::NONE;
        // The binary search has compared every restart that it returns, except the first.
        let mut is_known_before = restart > 0;
        while offset < self.entries_end {
            let position = self.read(offset, key, buffer).ok_or_else(|| self.damaged_entry(offset))?;
            if !is_known_before
                && comparator.compare_keys(self.key(position.key, buffer), target) != Ordering::Less
            {
                return Ok(Some(position));
            }
            is_known_before = false;
            key = position.key;
            offset = position.value_end;
        }
        Ok(None)
    }

    /// The last restart point before the entry at `offset`, or before the end. Terminates and stays below `offset`
    /// with any restart array; `offset` must not be 0.
    pub(super) fn restart_before(&self, offset: usize) -> usize {
        let (mut low, mut high) = (0, self.restart_count - 1);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.restart(middle) < offset {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        self.restart(low)
    }

    /// Decodes the entry at `offset`. `previous` is the place of the previous key; `buffer` holds that key if it was
    /// assembled. `None` if the entry is damaged.
    #[inline]
    pub(super) fn read(&self, offset: usize, previous: KeyPlace, buffer: &mut Vec<u8>) -> Option<Position> {
        let entry = self.entry_at(offset)?;
        let Entry { shared, key_start, value_start, value_end } = entry;
        let key = if shared == 0 {
            KeyPlace::Block { start: key_start, end: value_start }
        } else {
            match previous {
                KeyPlace::Block { start, end } => {
                    buffer.clear();
                    buffer.extend_from_slice(self.contents[start..end].get(..shared)?);
                }
                KeyPlace::Buffer if shared <= buffer.len() => buffer.truncate(shared),
                KeyPlace::Buffer => return None,
            }
            buffer.extend_from_slice(&self.contents[key_start..value_start]);
            KeyPlace::Buffer
        };
        Some(Position { key, value_start, value_end })
    }

    /// The bytes of a key.
    #[inline]
    pub(super) fn key<'a>(&'a self, place: KeyPlace, buffer: &'a [u8]) -> &'a [u8] {
        match place {
            KeyPlace::Block { start, end } => &self.contents[start..end],
            KeyPlace::Buffer => buffer,
        }
    }

    /// The error for an entry that [`read`](Self::read) refused.
    #[cold]
    pub(super) fn damaged_entry(&self, offset: usize) -> FormatError {
        let problem = match self.entry_at(offset) {
            Some(_) => "an entry shares more bytes than the key before it has",
            None => "an entry's lengths are cut off or lead beyond the entries",
        };
        FormatError::corrupt("block", problem, offset as u64)
    }

    /// Offset of restart `index`, which must be below the number of restarts.
    #[inline]
    pub(super) fn restart(&self, index: usize) -> usize {
        decode_fixed32(&self.contents[self.entries_end + 4 * index..]) as usize
    }

    /// Offset of the restart after restart `index`, or the end of the entries.
    #[inline]
    pub(super) fn restart_after(&self, index: usize) -> usize {
        if index + 1 < self.restart_count { self.restart(index + 1) } else { self.entries_end }
    }

    /// Index of the last restart whose key is before `target`; the first one if none is.
    #[inline]
    pub(super) fn last_restart_before_key<C: KeyCompare>(
        &self,
        comparator: &C,
        target: &[u8],
    ) -> Result<usize> {
        let (mut low, mut high) = (0, self.restart_count - 1);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let Some((key, _)) = self.entry_at_restart(middle) else {
                return Err(self.damaged_restart(middle));
            };
            if comparator.compare_keys(key, target) == Ordering::Less {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Ok(low)
    }

    /// Decodes the header of the entry at `offset`. `None` if it is cut off, or if the key or the value would not end
    /// within the entries.
    #[inline]
    pub(super) fn entry_at(&self, offset: usize) -> Option<Entry> {
        Self::entry_in(&self.contents[..self.entries_end], offset)
    }

    /// Like [`entry_at`](Self::entry_at), for entries that lie in `entries`.
    #[inline]
    pub(super) fn entry_in(entries: &[u8], offset: usize) -> Option<Entry> {
        let bytes = entries.get(offset..)?;
        let (shared, key_length, value_length, header_size) = match *bytes {
            [shared, key, value, ..] if shared | key | value < 0x80 => {
                (u32::from(shared), u32::from(key), u32::from(value), 3)
            }
            _ => long_header(bytes)?,
        };
        // The lengths are untrusted: their sum may overflow a 32-bit usize, but not a u64.
        let available = bytes.len() - header_size;
        if u64::from(key_length) + u64::from(value_length) > available as u64 {
            return None;
        }
        let key_start = offset + header_size;
        let value_start = key_start + key_length as usize;
        let value_end = value_start + value_length as usize;
        Some(Entry { shared: shared as usize, key_start, value_start, value_end })
    }

    #[cold]
    fn damaged_restart(&self, index: usize) -> FormatError {
        let problem = format!("restart {index} does not lead to an entry stored whole");
        FormatError::corrupt("block", problem, (self.entries_end + 4 * index) as u64)
    }
}

/// The three lengths of an entry and the size of its header in bytes, if a length takes more than one byte.
fn long_header(bytes: &[u8]) -> Option<(u32, u32, u32, usize)> {
    let (shared, first) = read_varint32(bytes)?;
    let (key, second) = read_varint32(&bytes[first..])?;
    let (value, third) = read_varint32(&bytes[first + second..])?;
    Some((shared, key, value, first + second + third))
}
