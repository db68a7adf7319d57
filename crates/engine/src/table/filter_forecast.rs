//! Decides whether to consult a filter, which may have to be read first.
//!
//! predecessor: [`reader`](super::reader), once the database has [outgrown](super::paging) memory
//!
//! The filter of a table is some dozen pages, and one lookup in it touches several of them. If most searches of the
//! table find their key, as in the deepest level, it is better to search without the filter: its pages then leave their
//! memory to others, and the search is one read. If many searches find nothing, each of them would be a read in vain.

use std::sync::atomic::{AtomicU8, Ordering};

/// How searches of one table went lately. Threads share it; a lost update changes little.
#[derive(Debug)]
pub(super) struct FilterForecast {
    /// The larger, the more of them found nothing.
    in_vain: AtomicU8,
}

/// A search that finds nothing counts for as many that do.
const GAIN: u8 = 4;
const LIMIT: u8 = 32;
/// From here on the filter is consulted.
const WORTH_ASKING: u8 = 2 * GAIN;

impl Default for FilterForecast {
    /// The filter of a table that was just opened is in memory.
    fn default() -> Self {
        Self { in_vain: AtomicU8::new(WORTH_ASKING) }
    }
}

impl FilterForecast {
    /// Whether to ask the filter.
    pub(super) fn advises_filter(&self) -> bool {
        self.in_vain.load(Ordering::Relaxed) >= WORTH_ASKING
    }

    /// Notes a search, with or without the filter.
    pub(super) fn note(&self, found: bool) {
        let before = self.in_vain.load(Ordering::Relaxed);
        let after = if found { before.saturating_sub(1) } else { (before + GAIN).min(LIMIT) };
        if after != before {
            self.in_vain.store(after, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_in(searches: u32, is_found: impl Fn(u32) -> bool) -> usize {
        let forecast = FilterForecast::default();
        let asked = (0..searches).filter(|&search| {
            let advised = forecast.advises_filter();
            forecast.note(is_found(search));
            advised
        });
        asked.count()
    }

    #[test]
    fn a_filter_is_asked_where_many_searches_find_nothing() {
        assert_eq!(asked_in(1_000, |_| true), 1);
        assert_eq!(asked_in(1_000, |_| false), 1_000);
        assert!(asked_in(1_000, |search| search % 10 != 0) < 20);
        assert!(asked_in(1_000, |search| search % 2 == 0) > 980);
    }
}
