//! Writing a block: entries in order, each key without the prefix that it shares with the previous one.
//!
//! [`crate::compression::compress`] and [`crate::table::seal_block`] make the bytes ready for the file. The
//! [module above](super) draws the layout.

use crate::coding::{put_fixed32, put_varint32};
use crate::limits::MAX_VARINT32_SIZE_BYTES;

/// Builds the bytes of one block. [`reset`](Self::reset) starts another one in the same memory.
///
/// The caller adds keys in ascending order; the builder does not know the comparator and does not check.
///
/// ```
/// use terrace_format::block::BlockBuilder;
///
/// let mut builder = BlockBuilder::new(16);
/// builder.add(b"terrace", b"1");
/// builder.add(b"terrain", b"2");
/// assert_eq!(builder.last_key(), b"terrain");
/// let bytes = builder.finish();
/// assert_eq!(&bytes[..11], b"\x00\x07\x01terrace1");
/// assert_eq!(&bytes[11..17], b"\x05\x02\x01in2");
/// assert_eq!(&bytes[17..], b"\0\0\0\0\x01\0\0\0");
/// ```
#[derive(Clone, Debug)]
pub struct BlockBuilder {
    buffer: Vec<u8>,
    restarts: Vec<u32>,
    last_key: Vec<u8>,
    restart_interval: usize,
    entries_since_restart: usize,
}

impl BlockBuilder {
    /// Creates a builder that stores every `restart_interval`-th key whole. 0 means 1.
    pub fn new(restart_interval: usize) -> Self {
        Self {
            buffer: Vec::new(),
            restarts: vec![0],
            last_key: Vec::new(),
            restart_interval: restart_interval.max(1),
            entries_since_restart: 0,
        }
    }

    /// Appends an entry. `key` must be greater than every key added since the last [`reset`](Self::reset), and
    /// [`finish`](Self::finish) must not have been called since.
    ///
    /// # Panics
    ///
    /// If the key, the value or the block reaches 4 GiB, which the format cannot express. Keys and values within the
    /// limits of [`crate::limits`] and blocks of usual size stay far below that.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        let shared = if self.entries_since_restart < self.restart_interval {
            shared_prefix_length(&self.last_key, key)
        } else {
            self.restarts.push(format_length(self.buffer.len()));
            self.entries_since_restart = 0;
            0
        };
        let rest = &key[shared..];
        if (shared | rest.len() | value.len()) < 0x80 {
            // The usual case: one byte each.
            self.buffer.extend_from_slice(&[shared as u8, rest.len() as u8, value.len() as u8]);
        } else {
            put_varint32(&mut self.buffer, format_length(shared));
            put_varint32(&mut self.buffer, format_length(rest.len()));
            put_varint32(&mut self.buffer, format_length(value.len()));
        }
        self.buffer.extend_from_slice(rest);
        self.buffer.extend_from_slice(value);

        self.last_key.truncate(shared);
        self.last_key.extend_from_slice(rest);
        self.entries_since_restart += 1;
    }

    /// The bytes of a block with only this entry, before and after the value, for a value that is not to be copied.
    ///
    /// # Panics
    ///
    /// If the key or the value is 4 GiB or larger.
    pub fn around_value(key: &[u8], value_length: usize) -> (Vec<u8>, [u8; 8]) {
        let mut before = Vec::with_capacity(3 * MAX_VARINT32_SIZE_BYTES + key.len());
        for length in [0, key.len(), value_length] {
            put_varint32(&mut before, format_length(length));
        }
        before.extend_from_slice(key);
        // The restart point at 0, and the number of restart points.
        (before, [0, 0, 0, 0, 1, 0, 0, 0])
    }

    /// Appends the restart array and returns the whole block. Call [`reset`](Self::reset) before adding again.
    pub fn finish(&mut self) -> &[u8] {
        for &offset in &self.restarts {
            put_fixed32(&mut self.buffer, offset);
        }
        put_fixed32(&mut self.buffer, format_length(self.restarts.len()));
        &self.buffer
    }

    /// Starts an empty block in the memory of the previous one.
    pub fn reset(&mut self) {
        self.buffer.clear();
        self.restarts.clear();
        self.restarts.push(0);
        self.last_key.clear();
        self.entries_since_restart = 0;
    }

    /// Size in bytes of the block that [`finish`](Self::finish) would return now.
    #[inline]
    pub fn estimated_size_bytes(&self) -> usize {
        self.buffer.len() + 4 * (self.restarts.len() + 1)
    }

    /// Size in bytes of the block that [`finish`](Self::finish) would return after this entry, too, was
    /// [added](Self::add).
    pub fn size_with_bytes(&self, key: &[u8], value: &[u8]) -> usize {
        let is_restart = self.entries_since_restart >= self.restart_interval;
        let shared = if is_restart { 0 } else { shared_prefix_length(&self.last_key, key) };
        let lengths = [shared, key.len() - shared, value.len()];
        let lengths_size: usize = lengths.into_iter().map(varint_size_bytes).sum();
        let entry_size = lengths_size + key.len() - shared + value.len();
        self.estimated_size_bytes() + entry_size + if is_restart { 4 } else { 0 }
    }

    /// Size in bytes of the entries added so far: where the last one ends.
    #[inline]
    pub fn entries_size_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Offset of the restart point at or before the entry added last.
    #[inline]
    pub fn last_restart_offset(&self) -> usize {
        self.restarts.last().map_or(0, |&offset| offset as usize)
    }

    /// Whether the block is empty: nothing was added since the start or the last [`reset`](Self::reset).
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The key added last; empty in an empty block.
    #[inline]
    pub fn last_key(&self) -> &[u8] {
        &self.last_key
    }
}

/// A length or offset as the format stores it.
#[inline]
fn format_length(length: usize) -> u32 {
    u32::try_from(length).expect("keys, values and blocks are shorter than 4 GiB")
}

/// Size in bytes of a length as a varint.
fn varint_size_bytes(length: usize) -> usize {
    (usize::BITS - (length | 1).leading_zeros()).div_ceil(7) as usize
}

/// Number of bytes at the start of `a` and `b` that are equal, eight at a time.
#[inline]
pub(super) fn shared_prefix_length(a: &[u8], b: &[u8]) -> usize {
    let limit = a.len().min(b.len());
    let mut length = 0;
    while let (Some(left), Some(right)) = (a[length..].first_chunk::<8>(), b[length..].first_chunk::<8>()) {
        let difference = u64::from_le_bytes(*left) ^ u64::from_le_bytes(*right);
        if difference != 0 {
            return length + difference.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    while length < limit && a[length] == b[length] {
        length += 1;
    }
    length
}
