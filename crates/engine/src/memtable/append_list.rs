//! A list that only grows and whose elements never move. One thread appends while any number of threads read.
//!
//! ```text
//! segments   0: 64 elements    1: 128    2: 256    ...   each twice as long as the one before
//! ```
//!
//! Rules:
//! 1. An element is written before the length that counts it is stored with `Release`.
//! 2. A reader may read an element if it knows of it through that length, or through anything else that the writer stored
//!    with `Release` after appending the element.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering;

use crate::sync::{AtomicPtr, AtomicUsize, PlainMemory};

/// Number of elements in the first segment, a power of two.
const FIRST_SEGMENT: usize = if cfg!(all(test, loom)) { 2 } else { 64 };
/// Enough for 2^32 elements.
const SEGMENTS: usize = 27;

struct Element<T> {
    value: MaybeUninit<T>,
    memory: PlainMemory,
}

/// See the head of this file.
pub(super) struct AppendList<T> {
    segments: [AtomicPtr<Element<T>>; SEGMENTS],
    len: AtomicUsize,
}

impl<T: Copy> AppendList<T> {
    pub(super) fn new() -> Self {
        Self { segments: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())), len: AtomicUsize::new(0) }
    }

    /// The number of elements that a reader may ask for.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    /// Memory of the segments, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let Some(last) = self.len().checked_sub(1) else { return 0 };
        let (segment, _) = place(last);
        ((FIRST_SEGMENT << (segment + 1)) - FIRST_SEGMENT) * size_of::<Element<T>>()
    }

    /// Appends `value`. Returns whether the list allocated memory for it.
    ///
    /// # Safety
    /// Only one thread at a time may append.
    #[inline]
    pub(super) unsafe fn push(&self, value: T) -> bool {
        let index = self.len.load(Ordering::Relaxed);
        let (segment, offset) = place(index);
        if offset == 0 {
            self.add_segment(segment);
        }
        let start = self.segments[segment].load(Ordering::Relaxed);
        // SAFETY: the segment was allocated when its first element was appended, and holds `offset` (see `place`). No
        // thread reads this element before the length counts it.
        unsafe {
            let element = &mut *start.add(offset);
            element.memory.write();
            element.value.write(value);
        }
        self.len.store(index + 1, Ordering::Release);
        offset == 0
    }

    #[cold]
    fn add_segment(&self, segment: usize) {
        let new = || Element { value: MaybeUninit::uninit(), memory: PlainMemory::new() };
        let elements: Box<[Element<T>]> = (0..FIRST_SEGMENT << segment).map(|_| new()).collect();
        self.segments[segment].store(Box::into_raw(elements).cast(), Ordering::Release);
    }

    /// The element at `index`.
    ///
    /// # Safety
    /// The caller knows of the element by rule 2.
    #[inline]
    pub(super) unsafe fn get(&self, index: usize) -> T {
        let (segment, offset) = place(index);
        let start = self.segments[segment].load(Ordering::Acquire);
        // SAFETY: by rule 2 the segment is there, and the element was written before.
        unsafe {
            let element = &*start.add(offset);
            element.memory.read();
            element.value.assume_init()
        }
    }
}

impl<T> Drop for AppendList<T> {
    fn drop(&mut self) {
        for (segment, start) in self.segments.iter().enumerate() {
            let start = start.load(Ordering::Relaxed);
            if !start.is_null() {
                let elements = ptr::slice_from_raw_parts_mut(start, FIRST_SEGMENT << segment);
                // SAFETY: `add_segment` made it from a box of this length; it is freed only here.
                drop(unsafe { Box::from_raw(elements) });
            }
        }
    }
}

/// The segment of element `index`, and its place in it.
#[inline]
fn place(index: usize) -> (usize, usize) {
    let shifted = index + FIRST_SEGMENT;
    let segment = (shifted.ilog2() - FIRST_SEGMENT.ilog2()) as usize;
    (segment, shifted - (FIRST_SEGMENT << segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_where_they_were_put() {
        let list = AppendList::new();
        for number in 0..1_000usize {
            // SAFETY: one thread.
            unsafe { list.push(number * 3) };
        }
        assert_eq!(list.len(), 1_000);
        // SAFETY: all below the length.
        assert!((0..1_000).all(|index| unsafe { list.get(index) } == index * 3));
    }

    #[test]
    fn segments_follow_each_other_without_a_gap() {
        let mut expected = (0, 0);
        for index in 0..if cfg!(miri) { 500 } else { 100_000 } {
            assert_eq!(place(index), expected);
            expected.1 += 1;
            if expected.1 == FIRST_SEGMENT << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn memory_is_that_of_the_segments_in_use() {
        let list = AppendList::<u64>::new();
        assert_eq!(list.memory_bytes(), 0);
        let mut grown = Vec::new();
        for number in 0..200 {
            let before = list.memory_bytes();
            // SAFETY: one thread.
            let grew = unsafe { list.push(number) };
            assert_eq!(grew, list.memory_bytes() > before);
            if grew {
                grown.push((number, list.memory_bytes() / size_of::<u64>()));
            }
        }
        assert_eq!(grown, [(0, 64), (64, 64 + 128), (192, 64 + 128 + 256)]);
    }
}
