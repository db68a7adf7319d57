//! Which pages of a mapping were found to be in memory a moment ago, so that the system need not be asked for each read.
//!
//! Predecessor: `file`, for reads that must not wait for the disk. Successor: `mapping`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::mapping::Mapping;

/// How long an answer holds. A page that was just in memory leaves it as soon as that only on a machine that has run out of
/// memory; there a program may wait for any of its pages.
const ANSWER_HOLDS_MS: u64 = 100;

/// Memory of which pages are in memory. Threads share it; what they do to it at the same time costs at worst a question to
/// the system, or lets an answer hold twice as long.
#[derive(Debug)]
pub(super) struct Residency {
    page_size_bytes: usize,
    /// One bit a page: found in memory since the last clearing.
    pages: Box<[AtomicU64]>,
    /// When the bits are to be cleared.
    holds_until_ms: AtomicU64,
}

impl Residency {
    /// Nothing is known yet of a mapping of `size_bytes`.
    pub(super) fn new(size_bytes: usize) -> Self {
        let page_size_bytes = rustix::param::page_size();
        let words = size_bytes.div_ceil(page_size_bytes).div_ceil(64);
        let pages = (0..words).map(|_| AtomicU64::new(0)).collect();
        Self { page_size_bytes, pages, holds_until_ms: AtomicU64::new(0) }
    }

    /// Whether these bytes of `mapping`, which must lie within it, are in memory, or were a moment ago.
    pub(super) fn is_in_memory(&self, mapping: &Mapping, offset: usize, size_bytes: usize) -> bool {
        if size_bytes == 0 {
            return true;
        }
        self.clear_if_old();
        let first = offset / self.page_size_bytes;
        let last = (offset + size_bytes - 1) / self.page_size_bytes;
        if self.each_word(first, last, |word, bits| word.load(Ordering::Relaxed) & bits == bits) {
            return true;
        }
        if !mapping.is_in_memory(offset, size_bytes) {
            return false;
        }
        self.each_word(first, last, |word, bits| {
            word.fetch_or(bits, Ordering::Relaxed);
            true
        });
        true
    }

    /// Whether `work` says yes to all the words, with the bits of the pages from `first` to `last`.
    fn each_word(&self, first: usize, last: usize, work: impl Fn(&AtomicU64, u64) -> bool) -> bool {
        (first / 64..=last / 64).all(|index| {
            let low = if index == first / 64 { first % 64 } else { 0 };
            let high = if index == last / 64 { last % 64 } else { 63 };
            work(&self.pages[index], (!0 >> (63 - high)) & (!0 << low))
        })
    }

    fn clear_if_old(&self) {
        static START: OnceLock<Instant> = OnceLock::new();
        // From 1, so that a time of 0 is always past.
        let now_ms = 1 + START.get_or_init(Instant::now).elapsed().as_millis() as u64;
        if now_ms < self.holds_until_ms.load(Ordering::Relaxed) {
            return;
        }
        for word in &self.pages {
            word.store(0, Ordering::Relaxed);
        }
        self.holds_until_ms.store(now_ms + ANSWER_HOLDS_MS, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_was_just_written_is_in_memory_and_stays_known() {
        let page = rustix::param::page_size();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 200 * page]).unwrap();
        let mapping = Mapping::new(&file, 200 * page).unwrap();
        let residency = Residency::new(200 * page);
        // A range may be in memory or not; asked in any way it must not panic, and what is found is remembered.
        for (offset, size_bytes) in
            [(0, 1), (page - 1, 2), (10, 130 * page), (0, 200 * page), (199 * page, page)]
        {
            if residency.is_in_memory(&mapping, offset, size_bytes) {
                let (first, last) = (offset / page, (offset + size_bytes - 1) / page);
                let is_set = |word: &AtomicU64, bits| word.load(Ordering::Relaxed) & bits == bits;
                assert!(residency.each_word(first, last, is_set));
            }
        }
    }

    #[test]
    fn pages_are_told_apart_across_words() {
        let residency = Residency::new(200 * rustix::param::page_size());
        residency.each_word(60, 130, |word, bits| {
            word.fetch_or(bits, Ordering::Relaxed);
            true
        });
        let is_set = |word: &AtomicU64, bits| word.load(Ordering::Relaxed) & bits == bits;
        assert!(residency.each_word(60, 130, is_set));
        for page in [59, 131] {
            assert!(!residency.each_word(page, page, is_set), "page {page}");
        }
    }
}
