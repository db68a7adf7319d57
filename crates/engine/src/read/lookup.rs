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
use std::sync::atomic::{AtomicU32, Ordering};

use terrace_format::comparator::UserComparator;
use terrace_format::hash_index::key_hash;
use terrace_format::internal_key::SequenceNumber;

use super::get::{Found, get_with};
use super::source::Source;
use super::super_version::SuperVersion;
use crate::cache::table_cache::TableCache;
use crate::error::{Error, ErrorKind, Result};
use crate::options::ReadTier;
use crate::table::BlockReadOptions;

/// Larger values are not copied: a cursor shows them where they lie.
const MAX_COPIED_VALUE_BYTES: usize = 4 << 10;

/// To bring more entries of a memtable into order takes longer than a reader that cannot wait should be held up.
const MAX_UNORDERED_ENTRIES: usize = 16 << 10;

/// Where an iterator's entries come from.
pub(crate) struct ReadView {
    pub(crate) super_version: Arc<SuperVersion>,
    pub(crate) tables: Arc<TableCache>,
    pub(crate) options: BlockReadOptions,
    pub(crate) forecast: Arc<SeekForecast>,
}

/// What an iterator shows, and what it keeps alive for that.
pub(crate) struct View {
    pub(crate) read: ReadView,
    pub(crate) sequence: SequenceNumber,
    pub(crate) pin: Box<dyn Send>,
}

/// Makes a newer view where that of the super version given is gone from the disk.
pub(crate) type Renewal = Box<dyn Fn(&Arc<SuperVersion>) -> Result<View> + Send>;

impl ReadView {
    /// Cursors that together visit every entry, newer sources first. Fails where much would have to be brought into order
    /// first, if the reader cannot wait.
    pub(super) fn cursors(&self) -> Result<Vec<Source>> {
        let SuperVersion { active, sealed, version, .. } = &*self.super_version;
        let memtables = std::iter::once(active).chain(sealed.iter().map(|sealed| &sealed.table));
        let memtables = memtables.filter(|memtable| !memtable.is_empty());
        if !self.may_wait() && memtables.clone().any(|memtable| memtable.unordered() > MAX_UNORDERED_ENTRIES)
        {
            return Err(Error::new(ErrorKind::WouldBlock, "many new entries are not in order yet"));
        }
        let mut children = Vec::with_capacity(1 + sealed.len() + version.most_iterators());
        children.extend(memtables.map(|memtable| Source::Memtable(memtable.iter())));
        children.extend(version.iterators(&self.tables, self.options).map(Source::Level));
        Ok(children)
    }

    /// Whether the reader can wait for the disk, or for what takes as long.
    pub(super) fn may_wait(&self) -> bool {
        self.options.tier == ReadTier::Disk
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
#[derive(Debug)]
pub(crate) struct SeekForecast {
    /// The larger, the more lookups were of use lately. 0: a few are tried.
    confidence: AtomicU32,
}

impl Default for SeekForecast {
    fn default() -> Self {
        Self { confidence: AtomicU32::new(Self::GAIN) }
    }
}

impl SeekForecast {
    /// A lookup that is of use saves several times what one that is not costs.
    const GAIN: u32 = 4;
    const LIMIT: u32 = 16;
    /// Without confidence, one target in so many is looked up.
    const TRIED_TARGETS: u64 = 64;

    /// Writes nothing: threads that read at once share this.
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

    /// How many of these seeks are looked up.
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
    fn lookups_are_made_while_they_are_of_use_and_else_tried_now_and_then() {
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
