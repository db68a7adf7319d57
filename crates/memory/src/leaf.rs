//! A leaf: entries packed into one piece of memory.
//!
//! ```text
//! slots   [ 31 apri | 0 avoc | 64 plum ]     positions and hints of the entries, in the order of their keys
//! data    [key length, value length, key, value][...][...] · · ·     in the order in which they came
//! ```
//!
//! A hint is what follows the bytes that all keys of the leaf begin with. Searches mostly read hints, which lie together, and one key.
//!
//! A new entry is appended. An overwritten or deleted one leaves dead bytes, which go when the room is needed, or when they are
//! half of all.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::separators::common_bytes;

/// A leaf with more bytes than this is split, if it has two entries.
pub(crate) const MOST_BYTES: usize = 4 << 10;
/// Larger values are not among the entries: copying the leaf would copy them.
const LARGEST_PACKED_BYTES: usize = 512;
/// The memory that a leaf grows by.
const GROWTH_BYTES: std::ops::RangeInclusive<usize> = 64..=256;
const GROWTH_SLOTS: usize = 8;
/// The size of what stands for a large value.
const NUMBER_BYTES: usize = size_of::<u32>();

/// See the head of this file.
#[derive(Clone, Default)]
pub(crate) struct Leaf {
    data: Vec<u8>,
    slots: Vec<Slot>,
    /// How many bytes all keys are known to begin with in common; they may share more.
    shared_bytes: usize,
    /// Values that are not in `data`, in no order.
    large: Vec<Rc<[u8]>>,
    dead_bytes: usize,
    /// Whether the last new entry came after all others: probably the next will as well.
    grows_at_end: bool,
}

/// Where an entry lies in `data`, and the hint of its key.
#[derive(Clone, Copy)]
struct Slot {
    position: u32,
    hint: u32,
}

/// An entry as it lies in `data`.
struct Packed<'a> {
    key: &'a [u8],
    /// The value, or the number of a large one.
    rest: &'a [u8],
    is_large: bool,
    /// Where `rest` begins.
    rest_at: usize,
    end: usize,
}

impl Leaf {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Bytes in use, without the values that are kept beside.
    pub(crate) fn live_bytes(&self) -> usize {
        self.data.len() - self.dead_bytes
    }

    pub(crate) fn key(&self, index: usize) -> &[u8] {
        self.packed(index).key
    }

    pub(crate) fn entry(&self, index: usize) -> (&[u8], &[u8]) {
        let packed = self.packed(index);
        (packed.key, self.value_of(&packed))
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let index = self.find(key).ok()?;
        Some(self.entry(index).1)
    }

    /// The place of `key`, or where it would be.
    pub(crate) fn find(&self, key: &[u8]) -> Result<usize, usize> {
        let hint = hint_of(key, self.shared_bytes);
        let (mut start, mut end) = (0, self.slots.len());
        while start < end {
            let middle = (start + end) / 2;
            match self.slots[middle].hint.cmp(&hint).then_with(|| self.key(middle).cmp(key)) {
                Ordering::Less => start = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => end = middle,
            }
        }
        Err(self.place_of_missing(key, start))
    }

    /// Where a key would be that is not here: at `place`, if it begins as all others do, which the search took for granted.
    fn place_of_missing(&self, key: &[u8], place: usize) -> usize {
        if self.slots.is_empty() {
            return 0;
        }
        let shared = &self.key(place.min(self.len() - 1))[..self.shared_bytes];
        match key[..key.len().min(self.shared_bytes)].cmp(shared) {
            Ordering::Less => 0,
            Ordering::Equal => place,
            Ordering::Greater => self.len(),
        }
    }

    /// Stores a value. Returns the length of the one that it replaces.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Option<usize> {
        match self.find(key) {
            Ok(index) => Some(self.replace(index, key, value)),
            Err(index) => {
                self.grows_at_end = index == self.slots.len();
                let position = self.append(key, value);
                if self.slots.len() == self.slots.capacity() {
                    self.slots.reserve_exact(GROWTH_SLOTS);
                }
                self.insert_slot(index, key, position);
                None
            }
        }
    }

    fn replace(&mut self, index: usize, key: &[u8], value: &[u8]) -> usize {
        let packed = self.packed(index);
        let (rest_at, end, is_large) = (packed.rest_at, packed.end, packed.is_large);
        let old_length = self.value_of(&packed).len();
        if !is_large && old_length == value.len() {
            self.data[rest_at..end].copy_from_slice(value);
            return old_length;
        }
        self.forget(index);
        // Room for the new entry is made without the old one.
        self.slots.remove(index);
        let position = self.append(key, value);
        self.insert_slot(index, key, position);
        old_length
    }

    /// Deletes the key. Returns the length of its value.
    pub(crate) fn remove(&mut self, key: &[u8]) -> Option<usize> {
        let index = self.find(key).ok()?;
        let length = self.entry(index).1.len();
        self.forget(index);
        self.slots.remove(index);
        if self.dead_bytes > self.data.len() / 2 {
            self.pack(0);
        }
        Some(length)
    }

    /// Makes the bytes of an entry dead. Its slot still leads to them.
    fn forget(&mut self, index: usize) {
        let packed = self.packed(index);
        let size = self.size(index);
        if packed.is_large {
            let number = self.number_of(&packed);
            self.large[number] = Rc::default();
        }
        self.dead_bytes += size;
    }

    fn insert_slot(&mut self, index: usize, key: &[u8], position: u32) {
        self.share(key);
        self.slots.insert(index, Slot { position, hint: hint_of(key, self.shared_bytes) });
    }

    /// Makes the hints allow for a new key.
    fn share(&mut self, key: &[u8]) {
        let Some(other) = (!self.slots.is_empty()).then(|| self.key(0)) else {
            self.shared_bytes = key.len();
            return;
        };
        let shared_bytes = common_bytes(&other[..self.shared_bytes], key);
        if shared_bytes < self.shared_bytes {
            self.hint(shared_bytes);
        }
    }

    /// Makes all hints follow so many bytes.
    fn hint(&mut self, shared_bytes: usize) {
        self.shared_bytes = shared_bytes;
        for index in 0..self.len() {
            self.slots[index].hint = hint_of(self.key(index), shared_bytes);
        }
    }

    /// Adds an entry to the data. Returns its position.
    fn append(&mut self, key: &[u8], value: &[u8]) -> u32 {
        let is_large = value.len() > LARGEST_PACKED_BYTES;
        let rest_bytes = if is_large { NUMBER_BYTES } else { value.len() };
        let tag = rest_bytes << 1 | usize::from(is_large);
        self.reserve(varint_bytes(key.len()) + varint_bytes(tag) + key.len() + rest_bytes);
        let number = (self.large.len() as u32).to_le_bytes();
        let rest = if is_large { &number[..] } else { value };
        let position = self.data.len() as u32;
        push_varint(&mut self.data, key.len());
        push_varint(&mut self.data, tag);
        self.data.extend_from_slice(key);
        self.data.extend_from_slice(rest);
        if is_large {
            self.large.push(value.into());
        }
        position
    }

    fn reserve(&mut self, needed: usize) {
        if self.data.capacity() - self.data.len() >= needed {
            return;
        }
        let growth = (self.data.len() / 8).clamp(*GROWTH_BYTES.start(), *GROWTH_BYTES.end()).max(needed);
        if self.dead_bytes > 0 {
            self.pack(growth);
        } else {
            self.data.reserve_exact(growth);
        }
    }

    /// Drops dead bytes, and leaves room for `spare_bytes`.
    fn pack(&mut self, spare_bytes: usize) {
        *self = self.part(0, self.slots.len(), spare_bytes);
    }

    /// A leaf of some of the entries.
    fn part(&self, start: usize, end: usize, spare_bytes: usize) -> Self {
        let sizes = (start..end).map(|index| self.size(index));
        let mut part = Self {
            data: Vec::with_capacity(sizes.sum::<usize>() + spare_bytes),
            slots: Vec::with_capacity(end - start + usize::from(spare_bytes > 0)),
            grows_at_end: self.grows_at_end,
            ..Self::default()
        };
        part.extend(self, start, end);
        part
    }

    fn extend(&mut self, other: &Self, start: usize, end: usize) {
        for index in start..end {
            let packed = other.packed(index);
            let start = other.slots[index].position as usize;
            self.slots.push(Slot { position: self.data.len() as u32, hint: 0 });
            if packed.is_large {
                let header = start..packed.rest_at;
                self.data.extend_from_slice(&other.data[header]);
                self.data.extend_from_slice(&(self.large.len() as u32).to_le_bytes());
                self.large.push(Rc::clone(&other.large[other.number_of(&packed)]));
            } else {
                self.data.extend_from_slice(&other.data[start..packed.end]);
            }
        }
        if let Some(last) = self.len().checked_sub(1) {
            self.hint(common_bytes(self.key(0), self.key(last)));
        }
    }

    /// Whether it has to be split.
    pub(crate) fn is_too_large(&self) -> bool {
        self.live_bytes() > MOST_BYTES && self.len() > 1
    }

    /// Splits off the later part: the last entry alone if entries come in order, or else about a half.
    pub(crate) fn split(&mut self) -> Self {
        let place = if self.grows_at_end { self.len() - 1 } else { self.middle() };
        let later = self.part(place, self.len(), 0);
        *self = self.part(0, place, 0);
        later
    }

    /// The place that divides the bytes into halves.
    fn middle(&self) -> usize {
        let mut before = 0;
        for index in 0..self.len() {
            before += self.size(index);
            if before > self.live_bytes() / 2 {
                return (index + usize::from(index == 0)).min(self.len() - 1);
            }
        }
        self.len() - 1
    }

    /// Takes over the entries of the leaf that follows.
    pub(crate) fn merge(&mut self, following: &Self) {
        let mut merged = self.part(0, self.len(), following.live_bytes());
        merged.extend(following, 0, following.len());
        *self = merged;
    }

    fn size(&self, index: usize) -> usize {
        self.packed(index).end - self.slots[index].position as usize
    }

    #[inline]
    fn packed(&self, index: usize) -> Packed<'_> {
        let mut position = self.slots[index].position as usize;
        let key_length = read_varint(&self.data, &mut position);
        let tag = read_varint(&self.data, &mut position);
        let rest_at = position + key_length;
        let end = rest_at + (tag >> 1);
        Packed {
            key: &self.data[position..rest_at],
            rest: &self.data[rest_at..end],
            is_large: tag & 1 == 1,
            rest_at,
            end,
        }
    }

    fn value_of<'a>(&'a self, packed: &Packed<'a>) -> &'a [u8] {
        if packed.is_large { &self.large[self.number_of(packed)] } else { packed.rest }
    }

    fn number_of(&self, packed: &Packed<'_>) -> usize {
        let bytes = packed.rest.try_into().expect("the number of a large value has four bytes");
        u32::from_le_bytes(bytes) as usize
    }
}

/// The four bytes of a key that follow those that it shares, as a number in their order. Missing bytes count as zeros.
#[inline]
fn hint_of(key: &[u8], shared_bytes: usize) -> u32 {
    let rest = key.get(shared_bytes..).unwrap_or_default();
    match rest.first_chunk() {
        Some(bytes) => u32::from_be_bytes(*bytes),
        None => rest.iter().zip([24, 16, 8]).fold(0, |hint, (byte, shift)| hint | u32::from(*byte) << shift),
    }
}

fn varint_bytes(mut number: usize) -> usize {
    let mut bytes = 1;
    while number >= 0x80 {
        number >>= 7;
        bytes += 1;
    }
    bytes
}

fn push_varint(target: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        target.push(number as u8 | 0x80);
        number >>= 7;
    }
    target.push(number as u8);
}

#[inline]
fn read_varint(data: &[u8], position: &mut usize) -> usize {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = data[*position];
        *position += 1;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return number;
        }
        shift += 7;
    }
}
