//! Remembers which pages of a mapping were in memory a moment ago, so that reads that must not wait for the disk rarely
//! have to query the system.

use std::sync::atomic::{AtomicU64, Ordering};

use super::paging::PAGES_AT_ONCE;
use crate::system::mapping::{Mapping, coarse_clock_ms, page_size_bytes};

/// How long an answer holds. A page that was just in memory leaves it sooner only on a machine that has run out of
/// memory; a program there may wait for any of its pages.
const ANSWER_HOLDS_MS: u64 = 100;

/// Remembers which pages are in memory. Threads share it; concurrent changes at worst cost another question to the
/// system, or let an answer hold twice as long.
#[derive(Debug)]
pub(crate) struct Residency {
    page_size_bytes: usize,
    /// One bit per page: found in memory since the last clearing.
    pages: Box<[AtomicU64]>,
    /// When to clear the bits.
    holds_until_ms: AtomicU64,
}

impl Residency {
    /// Creates the memory of a mapping of `size_bytes`, of which nothing is known yet.
    pub(crate) fn new(size_bytes: usize) -> Self {
        let page_size_bytes = page_size_bytes();
        let words = size_bytes.div_ceil(page_size_bytes).div_ceil(64);
        let pages = (0..words).map(|_| AtomicU64::new(0)).collect();
        Self { page_size_bytes, pages, holds_until_ms: AtomicU64::new(0) }
    }

    /// Whether these bytes of `mapping`, which must lie within it, are in memory or were a moment ago. `with_neighbours`
    /// asks about the pages nearby, too.
    pub(crate) fn is_in_memory(
        &self,
        mapping: &Mapping,
        offset: usize,
        size_bytes: usize,
        with_neighbours: bool,
    ) -> bool {
        if size_bytes == 0 {
            return true;
        }
        self.clear_if_old();
        let first = offset / self.page_size_bytes;
        let last = (offset + size_bytes - 1) / self.page_size_bytes;
        each_word(first, last, |index, bits| {
            let word = &self.pages[index];
            if word.load(Ordering::Relaxed) & bits == bits {
                return true;
            }
            // The neighbours' answers cost little more if the pages are mapped, and will be wanted. About pages that
            // are not in memory each costs as much as the first.
            let first_bit = if with_neighbours { 0 } else { bits.trailing_zeros() as usize };
            let count = if with_neighbours { PAGES_AT_ONCE } else { bits.count_ones() as usize };
            let found = mapping.pages_in_memory(index * PAGES_AT_ONCE + first_bit, count) << first_bit;
            word.fetch_or(found, Ordering::Relaxed);
            found & bits == bits
        })
    }

    fn clear_if_old(&self) {
        let now_ms = coarse_clock_ms();
        if now_ms < self.holds_until_ms.load(Ordering::Relaxed) {
            return;
        }
        for word in &self.pages {
            word.store(0, Ordering::Relaxed);
        }
        self.holds_until_ms.store(now_ms + ANSWER_HOLDS_MS, Ordering::Relaxed);
    }
}

/// Whether `work` is true for every word of the pages from `first` to `last`; it gets the word's number and the
/// pages' bits.
fn each_word(first: usize, last: usize, work: impl Fn(usize, u64) -> bool) -> bool {
    (first / PAGES_AT_ONCE..=last / PAGES_AT_ONCE).all(|index| {
        let low = if index == first / PAGES_AT_ONCE { first % PAGES_AT_ONCE } else { 0 };
        let high = if index == last / PAGES_AT_ONCE { last % PAGES_AT_ONCE } else { PAGES_AT_ONCE - 1 };
        work(index, (!0 >> (PAGES_AT_ONCE - 1 - high)) & (!0 << low))
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;

    use super::*;

    /// A mapping of a file of this many pages, which was just written.
    fn mapping_of(pages: usize) -> Mapping {
        let size_bytes = pages * page_size_bytes();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; size_bytes]).unwrap();
        Mapping::new(&file, size_bytes).unwrap()
    }

    #[test]
    fn what_was_just_written_is_in_memory_and_stays_known() {
        let page = page_size_bytes();
        let mapping = mapping_of(200);
        let residency = Residency::new(200 * page);
        // A range may or may not be in memory: no question may panic, and answers are remembered.
        for (offset, size_bytes) in
            [(0, 1), (page - 1, 2), (10, 130 * page), (0, 200 * page), (199 * page, page)]
        {
            if residency.is_in_memory(&mapping, offset, size_bytes, offset > 10) {
                let (first, last) = (offset / page, (offset + size_bytes - 1) / page);
                assert!(each_word(first, last, |index, bits| {
                    residency.pages[index].load(Ordering::Relaxed) & bits == bits
                }));
            }
        }
    }

    #[test]
    fn no_page_after_the_end_is_in_memory() {
        let mapping = mapping_of(70);
        assert_eq!(mapping.pages_in_memory(64, PAGES_AT_ONCE) & !0b11_1111, 0);
        assert_eq!(mapping.pages_in_memory(128, PAGES_AT_ONCE), 0);
    }

    #[test]
    fn pages_are_told_apart_across_words() {
        let marked: [AtomicU64; 4] = Default::default();
        each_word(60, 130, |index, bits| {
            marked[index].fetch_or(bits, Ordering::Relaxed);
            true
        });
        let is_marked = |index: usize, bits| marked[index].load(Ordering::Relaxed) & bits == bits;
        assert!(each_word(60, 130, is_marked));
        for page in [59, 131] {
            assert!(!each_word(page, page, is_marked), "page {page}");
        }
    }
}
