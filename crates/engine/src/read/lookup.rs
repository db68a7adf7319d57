//! What an iterator of the database reads, and the key lookup that may answer its seeks.
//!
//! Predecessor: [`DbIterator`](super::db_iterator::DbIterator). Successors: a [get](super::get), or the cursors that are
//! merged.
//!
//! A seek positions a cursor in every memtable, every table of level 0 and every level. If its target is a key of the
//! database, a get finds that key at a fraction of the cost and needs no cursors. A get is useless if the target is not a
//! key, and of little use if a step follows, which needs the cursors anyway. [`SeekForecast`] therefore remembers how
//! recent seeks went, for all iterators of a database.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use terrace_format::comparator::UserComparator;
use terrace_format::hash_index::key_hash;
use terrace_format::internal_key::SequenceNumber;

use super::get::{Found, get_with};
use super::source::Source;
use super::super_version::SuperVersion;
use crate::error::{Error, ErrorKind, Result};
use crate::read_tier::ReadTier;
use crate::table::BlockReadOptions;
use crate::version::table_cache::TableCache;

/// Values larger than this are not copied: a cursor shows them where they lie.
const MAX_COPIED_VALUE_BYTES: usize = 4 << 10;

/// Sorting more entries of a memtable than this takes too long for a reader that must not wait.
const MAX_UNORDERED_ENTRIES: usize = 16 << 10;

/// Where an iterator's entries come from.
pub(crate) struct ReadView {
    pub(crate) super_version: Arc<SuperVersion>,
    pub(crate) tables: Arc<TableCache>,
    pub(crate) options: BlockReadOptions,
    pub(crate) forecast: Arc<SeekForecast>,
}

/// The state that an iterator shows, and what keeps it alive.
pub(crate) struct View {
    pub(crate) read: ReadView,
    pub(crate) sequence: SequenceNumber,
    pub(crate) pin: Box<dyn Send>,
}

/// Makes a newer view when tables of the given super version are gone.
pub(crate) type Renewal = Box<dyn Fn(&Arc<SuperVersion>) -> Result<View> + Send>;

impl ReadView {
    /// Makes cursors that together visit every entry, newer sources first. If the reader must not wait, fails if many
    /// entries would have to be sorted first.
    pub(super) fn cursors(&self) -> Result<Vec<Source>> {
        let SuperVersion { active, sealed, version, .. } = &*self.super_version;
        let memtables = std::iter::once(active).chain(sealed.iter().map(|sealed| &sealed.table));
        let memtables = memtables.filter(|memtable| !memtable.is_empty());
        if !self.may_wait() && memtables.clone().any(|memtable| memtable.unordered() > MAX_UNORDERED_ENTRIES)
        {
            return Err(Error::new(
                ErrorKind::WouldBlock,
                "the iterator would have to sort many new entries",
            ));
        }
        let mut children = Vec::with_capacity(1 + sealed.len() + version.most_iterators());
        children.extend(memtables.map(|memtable| Source::Memtable(memtable.iter())));
        children.extend(version.iterators(&self.tables, self.options).map(Source::Level));
        Ok(children)
    }

    /// Whether the reader may wait for the disk, or for work that takes as long.
    pub(super) fn may_wait(&self) -> bool {
        self.options.tier == ReadTier::Disk
    }

    /// Copies the value of `key` as of `sequence` to `value`, if a lookup is likely to be useful and finds one. If it fails,
    /// the seek will fail too and report why.
    pub(super) fn find(
        &self,
        comparator: &UserComparator,
        key: &[u8],
        sequence: SequenceNumber,
        value: &mut Vec<u8>,
    ) -> bool {
        // In other orders, keys with different bytes may be equal.
        if !matches!(comparator, UserComparator::Bytewise) || !self.forecast.advises_lookup(key) {
            return false;
        }
        let mut copy = Some(|found: Found<'_>| {
            let bytes = found.bytes();
            let is_copied = bytes.len() <= MAX_COPIED_VALUE_BYTES;
            if is_copied {
                value.clear();
                value.extend_from_slice(bytes);
            }
            is_copied
        });
        let found = get_with(&self.super_version, &self.tables, key, sequence, &self.options, &mut copy);
        let is_found = matches!(found, Ok(Some(true)));
        if !is_found {
            self.forecast.note(SeekOutcome::Cursors);
        }
        is_found
    }

    /// Notes what became of a lookup that found its key.
    pub(super) fn note(&self, outcome: SeekOutcome) {
        self.forecast.note(outcome);
    }
}

/// What answered a seek in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SeekOutcome {
    /// A lookup alone.
    Lookup,
    /// Cursors: the target was not a key, or a step followed.
    Cursors,
}

/// Forecasts whether the next seek's target is a key and no step follows. A wrong forecast only costs time.
#[derive(Debug)]
pub(crate) struct SeekForecast {
    /// The larger, the more lookups were useful lately. At 0 only a few are tried.
    confidence: AtomicU32,
}

impl Default for SeekForecast {
    fn default() -> Self {
        Self { confidence: AtomicU32::new(Self::GAIN) }
    }
}

impl SeekForecast {
    /// A useful lookup saves several times what a useless one costs.
    const GAIN: u32 = 4;
    const LIMIT: u32 = 16;
    /// Without confidence, a lookup is tried for one target in this many.
    const TRIED_TARGETS: u64 = 64;

    /// Writes nothing, because concurrent readers share this.
    fn advises_lookup(&self, target: &[u8]) -> bool {
        self.confidence.load(Ordering::Relaxed) > 0 || key_hash(target).is_multiple_of(Self::TRIED_TARGETS)
    }

    fn note(&self, outcome: SeekOutcome) {
        let confidence = self.confidence.load(Ordering::Relaxed);
        let next = match outcome {
            SeekOutcome::Lookup => (confidence + Self::GAIN).min(Self::LIMIT),
            SeekOutcome::Cursors => confidence.saturating_sub(1),
        };
        if next != confidence {
            self.confidence.store(next, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the seeks that try a lookup.
    fn lookups(forecast: &SeekForecast, seeks: usize, outcome: impl Fn(usize) -> SeekOutcome) -> usize {
        let advised = (0..seeks).filter(|seek| {
            let advises = forecast.advises_lookup(&seek.to_le_bytes());
            if advises {
                forecast.note(outcome(*seek));
            }
            advises
        });
        advised.count()
    }

    #[test]
    fn lookups_are_made_while_they_are_useful_and_otherwise_tried_now_and_then() {
        let forecast = SeekForecast::default();
        assert_eq!(lookups(&forecast, 1_000, |_| SeekOutcome::Lookup), 1_000);
        let useless = lookups(&forecast, 1_000, |_| SeekOutcome::Cursors);
        assert!((17..70).contains(&useless), "{useless}");
        assert!(lookups(&forecast, 1_000, |_| SeekOutcome::Lookup) > 700);
    }

    #[test]
    fn one_seek_in_three_that_finds_its_target_is_enough() {
        let outcome = |seek| if seek % 3 == 0 { SeekOutcome::Lookup } else { SeekOutcome::Cursors };
        assert_eq!(lookups(&SeekForecast::default(), 1_000, outcome), 1_000);
    }
}
