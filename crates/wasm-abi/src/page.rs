//! What an iterator hands over: many entries at once.
//!
//! The output of a read: the number of lengths that follow (4 bytes), each length (4 bytes), then the bytes of all keys and values end
//! to end. All numbers are little-endian. In an iterator of keys only, or values only, the other part is left out.

use std::ops::Bound;

const KEYS: u32 = 1;
const VALUES: u32 = 2;
const REVERSE: u32 = 4;
const LOWER_EXCLUDED: u32 = 8;
const UPPER_EXCLUDED: u32 = 16;

const LENGTH_BYTES: usize = 4;

/// Flags of `terrace_iterator`: 1 yields keys, 2 values; with 4 it goes from the last key to the first; 8 excludes the lower bound, 16 the
/// upper one.
#[derive(Debug, Clone, Copy)]
pub struct RangeFlags(pub u32);

impl RangeFlags {
    /// Whether the iterator goes from the last key to the first.
    pub fn is_reverse(self) -> bool {
        self.0 & REVERSE != 0
    }

    /// The bounds of a range between these keys.
    pub fn bounds(self, lower: Option<Vec<u8>>, upper: Option<Vec<u8>>) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
        (self.bound(lower, LOWER_EXCLUDED), self.bound(upper, UPPER_EXCLUDED))
    }

    fn bound(self, key: Option<Vec<u8>>, excluded: u32) -> Bound<Vec<u8>> {
        match key {
            None => Bound::Unbounded,
            Some(key) if self.0 & excluded != 0 => Bound::Excluded(key),
            Some(key) => Bound::Included(key),
        }
    }
}

/// Entries that a read collects.
#[derive(Debug)]
pub struct Page {
    flags: RangeFlags,
    most_entries: usize,
    high_water_mark_bytes: usize,
    entries: usize,
    lengths: Vec<u32>,
    bytes: Vec<u8>,
}

impl Page {
    /// A page that is full with so many entries, or once they exceed so many bytes. It has room for at least one.
    pub fn new(flags: RangeFlags, most_entries: usize, high_water_mark_bytes: usize) -> Self {
        Self {
            flags,
            most_entries: most_entries.max(1),
            high_water_mark_bytes,
            entries: 0,
            lengths: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Whether no entry can be added.
    pub fn is_full(&self) -> bool {
        self.entries >= self.most_entries || self.bytes.len() > self.high_water_mark_bytes
    }

    /// Adds what the flags want of an entry.
    pub fn add(&mut self, key: &[u8], value: &[u8]) {
        for (part, flag) in [(key, KEYS), (value, VALUES)] {
            if self.flags.0 & flag != 0 {
                self.lengths.push(part.len() as u32);
                self.bytes.extend_from_slice(part);
            }
        }
        self.entries += 1;
    }

    /// Adds all of it to the output.
    pub fn write_to(&self, output: &mut Vec<u8>) {
        output.reserve(LENGTH_BYTES * (1 + self.lengths.len()) + self.bytes.len());
        output.extend_from_slice(&(self.lengths.len() as u32).to_le_bytes());
        self.lengths.iter().for_each(|length| output.extend_from_slice(&length.to_le_bytes()));
        output.extend_from_slice(&self.bytes);
    }
}
