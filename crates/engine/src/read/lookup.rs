//! What an iterator of the database reads, and the lookup of a key by which it may answer a seek.
//!
//! Predecessor: [`DbIterator`](super::db_iterator::DbIterator). Successors: a [get](super::get), or the cursors that are
//! merged.
//!
//! A seek positions a cursor in every memtable, every table of level 0 and every level. If its target is a key of the
//! database, a get finds it at a fraction of that, and needs no cursors. But it is of no use where the target is no key, and
//! of little where a step follows, for which the cursors are needed all the same. So [`SeekForecast`] remembers how it went
//! of late, for all iterators of a database.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::SequenceNumber;

use super::get::{Found, get_with};
use super::source::Source;
use super::super_version::SuperVersion;
use crate::cache::table_cache::TableCache;
use crate::table::BlockReadOptions;

/// Larger values are not copied: a cursor shows them where they lie.
const MAX_COPIED_VALUE_BYTES: usize = 4 << 10;

/// Where an iterator's entries come from.
pub(crate) struct ReadView {
    pub(crate) super_version: Arc<SuperVersion>,
    pub(crate) tables: Arc<TableCache>,
    pub(crate) options: BlockReadOptions,
    pub(crate) forecast: Arc<SeekForecast>,
}

impl ReadView {
    /// Cursors that together visit every entry, newer sources first.
    pub(super) fn cursors(&self) -> Vec<Source> {
        let SuperVersion { active, sealed, version } = &*self.super_version;
        let memtables = std::iter::once(active).chain(sealed.iter().map(|sealed| &sealed.table));
        let memtables = memtables.filter(|memtable| !memtable.is_empty());
        let mut children = Vec::with_capacity(1 + sealed.len() + version.most_iterators());
        children.extend(memtables.map(|memtable| Source::Memtable(memtable.iter())));
        children.extend(version.iterators(&self.tables, self.options).map(Source::Level));
        children
    }

    /// Copies the value of `key` as of `sequence` to `value`, if a lookup is likely to be of use and finds one. Where it
    /// fails so will the seek, which then tells why.
    pub(super) fn find(
        &self,
        comparator: &UserComparator,
        key: &[u8],
        sequence: SequenceNumber,
        value: &mut Vec<u8>,
    ) -> bool {
        // In other orders, keys that differ in their bytes may be the same.
        if !matches!(comparator, UserComparator::Bytewise) || !self.forecast.advises_lookup() {
            return false;
        }
        let found = get_with(&self.super_version, &self.tables, key, sequence, &self.options, |found| {
            let bytes = match &found {
                Found::InMemtable(bytes) => bytes,
                Found::InTable(bytes) => bytes.bytes(),
            };
            let is_copied = bytes.len() <= MAX_COPIED_VALUE_BYTES;
            if is_copied {
                value.clear();
                value.extend_from_slice(bytes);
            }
            is_copied
        });
        let is_found = matches!(found, Ok(Some(true)));
        if !is_found {
            self.forecast.note(SeekOutcome::Cursors);
        }
        is_found
    }

    /// Says what became of a lookup that found its key.
    pub(super) fn note(&self, outcome: SeekOutcome) {
        self.forecast.note(outcome);
    }
}

/// How a seek was answered in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeekOutcome {
    /// By a lookup alone.
    Lookup,
    /// By cursors: the target was no key, or a step followed.
    Cursors,
}

/// Whether the next seek's target is likely to be a key, and no step to follow. A wrong answer costs time only.
#[derive(Debug, Default)]
pub(crate) struct SeekForecast {
    /// The larger, the more lookups were of use. Below 0, so many seeks are left until one is tried again.
    confidence: AtomicI32,
}

impl SeekForecast {
    /// A lookup that is of use saves several times what one that is not costs.
    const GAIN: i32 = 4;
    const LIMIT: i32 = 16;
    /// So many seeks go without a lookup once confidence is used up.
    const PAUSE: i32 = 64;

    fn advises_lookup(&self) -> bool {
        let confidence = self.confidence.load(Ordering::Relaxed);
        if confidence < 0 {
            self.confidence.store(confidence + 1, Ordering::Relaxed);
        }
        confidence >= 0
    }

    fn note(&self, outcome: SeekOutcome) {
        let confidence = self.confidence.load(Ordering::Relaxed);
        let next = match outcome {
            SeekOutcome::Lookup => (confidence + Self::GAIN).min(Self::LIMIT),
            SeekOutcome::Cursors if confidence > 0 => confidence - 1,
            SeekOutcome::Cursors => -Self::PAUSE,
        };
        // Threads that read at once share this: what does not change is not written.
        if next != confidence {
            self.confidence.store(next, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookups(forecast: &SeekForecast, seeks: usize, outcome: SeekOutcome) -> usize {
        let advised = (0..seeks).filter(|_| {
            let advises = forecast.advises_lookup();
            if advises {
                forecast.note(outcome);
            }
            advises
        });
        advised.count()
    }

    #[test]
    fn lookups_are_made_while_they_are_of_use_and_else_tried_now_and_then() {
        let forecast = SeekForecast::default();
        assert_eq!(lookups(&forecast, 1_000, SeekOutcome::Lookup), 1_000);
        let useless = lookups(&forecast, 1_000, SeekOutcome::Cursors);
        assert!((15..50).contains(&useless), "{useless}");
        assert!(lookups(&forecast, 1_000, SeekOutcome::Lookup) > 900);
    }

    #[test]
    fn one_seek_in_three_that_finds_its_target_is_enough() {
        let forecast = SeekForecast::default();
        let outcome = |seek| if seek % 3 == 0 { SeekOutcome::Lookup } else { SeekOutcome::Cursors };
        let advised = (0..1_000).filter(|&seek| lookups(&forecast, 1, outcome(seek)) == 1).count();
        assert_eq!(advised, 1_000);
    }
}
