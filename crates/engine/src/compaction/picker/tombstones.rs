//! Compactions for the sake of deletions: they free space when no writes come that would push tombstones down.
//!
//! Tombstones are worth a compaction if it frees enough for what it must rewrite. The score of a file, with the files that
//! it overlaps one level down:
//!
//! ```text
//!               deletions of the file              bytes that they hide below, estimated
//!   score = max ──────────────────────────────── , ─────────────────────────────────────────
//!               entries of the file and of those   bytes of the file and of those
//! ```
//!
//! The first term is the gain for readers, which must skip tombstones; the second is space. A deletion is assumed to
//! hide one entry of the mean size of the entries that overlap the file in all deeper levels. If nothing is below, the
//! file is rewritten in place and the score is its share of deletions. A file that LevelDB wrote has no counts; it is
//! assumed to hold no deletions, and entries as large as those of other files. The estimate misses one case: if a few
//! large values are deleted from among many small ones in the same files, their space is reclaimed by later compactions
//! or a manual one.
//!
//! Why it converges: if no file's score is above t, tombstones hide at most about t times the database (each deeper level
//! is the larger part of what the one above overlaps). When the database is idle, t is half of
//! [`PickerOptions::deletion_ratio_trigger`].
//!
//! Why it ends: each pick moves tombstones one level down or drops them in place, and nothing moves them up. A rewrite
//! in place drops every tombstone of the file, because files are left alone
//! - while a reader may still need what their tombstones hide, that is, until [`FileMeta::newest_sequence`] is not above
//!   the oldest reader's: so the same file is not rewritten in vain over and over while a snapshot is held;
//! - while a running job writes below them.
//!
//! Why it does not thrash: a few tombstones over much data score low, and wait until more come or until the data above is
//! compacted for its size. Upper levels go first, so that tombstones gather on their way down and each deeper level is
//! rewritten once.

use std::ops::Range;
use std::sync::Arc;

use terrace_format::limits::LEVEL_COUNT;
use terrace_format::table::TableCounts;

use super::plan::{self, CompactionPlan, CompactionReason};
use super::{PickerOptions, pick_level0};
use crate::compaction::reservations::Reservations;
use crate::version::file_meta::FileMeta;
use crate::version::version::Version;

/// The assumed size of an entry if no file records how many it holds.
const GUESSED_ENTRY_SIZE_BYTES: f64 = 1024.0;

/// The share of the trigger that is enough when the database is idle.
const IDLE_FACTOR: f64 = 0.5;

/// Picks what to compact for its deletions; `None` if nothing is worth it.
pub(super) fn pick(
    version: &Version,
    busy: &Reservations,
    options: &PickerOptions,
    idle: bool,
) -> Option<CompactionPlan> {
    if !version.files().any(|file| may_give_back(file, options)) {
        return None;
    }
    let threshold = options.deletion_ratio_trigger * if idle { IDLE_FACTOR } else { 1.0 };
    let estimates = Estimates::new(version);
    // Every lookup reads level 0, but it is small and goes by count. When idle, it need not wait for more files.
    if idle {
        let pushes = |file: &FileMeta| {
            may_give_back(file, options) && {
                let (begin, end) = (file.smallest_user_key(), file.largest_user_key());
                let inputs = version.overlapping(0, Some(begin), Some(end));
                estimates.score(version, options, 0, &inputs) >= threshold
            }
        };
        let plan = pick_level0(version, busy, options, CompactionReason::Tombstones, pushes);
        if plan.is_some() {
            return plan;
        }
    }
    (1..LEVEL_COUNT).find_map(|level| pick_in_level(version, busy, options, &estimates, level, threshold))
}

fn pick_in_level(
    version: &Version,
    busy: &Reservations,
    options: &PickerOptions,
    estimates: &Estimates,
    level: usize,
    threshold: f64,
) -> Option<CompactionPlan> {
    let mut candidates: Vec<(f64, &Arc<FileMeta>)> = version.levels[level]
        .iter()
        .filter(|file| may_give_back(file, options))
        .map(|file| (estimates.score(version, options, level, std::slice::from_ref(file)), file))
        .filter(|(score, _)| *score >= threshold)
        .collect();
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    candidates.into_iter().find_map(|(_, file)| {
        let inputs = vec![Arc::clone(file)];
        let reason = CompactionReason::Tombstones;
        if estimates.below(version, level, &inputs, options).is_some() {
            return plan::build(version, busy, options, level, level + 1, inputs, reason);
        }
        let in_place = plan::build(version, busy, options, level, level, inputs, reason)?;
        // The output of a running job may come to cover the file's range and so keep its tombstones: wait for it.
        (!in_place.has_outputs_below()).then_some(in_place)
    })
}

/// Whether the file has tombstones and no reader reads at a sequence that would keep them.
fn may_give_back(file: &FileMeta, options: &PickerOptions) -> bool {
    file.newest_sequence() <= options.oldest_reader
        && file.counts().is_some_and(|counts| counts.deletions > 0)
}

/// Prefix sums over the files of each level, so that the sum over any run of files is one subtraction.
struct Estimates {
    levels: [Vec<Sums>; LEVEL_COUNT],
    mean_entry_bytes: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    bytes: f64,
    entries: f64,
    /// Entries that are not deletions.
    values: f64,
    deletions: f64,
}

impl Sums {
    fn add(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            entries: self.entries + other.entries,
            values: self.values + other.values,
            deletions: self.deletions + other.deletions,
        }
    }
}

impl Estimates {
    fn new(version: &Version) -> Self {
        let (mut bytes, mut values) = (0.0, 0.0);
        for file in version.files() {
            if let Some(counts) = file.counts() {
                bytes += file.size_bytes as f64;
                values += value_count(&counts);
            }
        }
        let mean_entry_bytes = if values > 0.0 { bytes / values } else { GUESSED_ENTRY_SIZE_BYTES };
        let mut estimates = Self { levels: Default::default(), mean_entry_bytes: mean_entry_bytes.max(1.0) };
        for (level, files) in version.levels.iter().enumerate() {
            let mut sums = Vec::with_capacity(files.len() + 1);
            sums.push(Sums::default());
            for file in files {
                let before = *sums.last().unwrap_or(&Sums::default());
                sums.push(before.add(estimates.of_file(file)));
            }
            estimates.levels[level] = sums;
        }
        estimates
    }

    fn of_file(&self, file: &FileMeta) -> Sums {
        let bytes = file.size_bytes as f64;
        match file.counts() {
            Some(counts) => Sums {
                bytes,
                entries: counts.entries as f64,
                values: value_count(&counts),
                deletions: counts.deletions as f64,
            },
            None => {
                let entries = bytes / self.mean_entry_bytes;
                Sums { bytes, entries, values: entries, deletions: 0.0 }
            }
        }
    }

    fn of_run(&self, level: usize, run: Range<usize>) -> Sums {
        let (end, start) = (self.levels[level][run.end], self.levels[level][run.start]);
        Sums {
            bytes: end.bytes - start.bytes,
            entries: end.entries - start.entries,
            values: end.values - start.values,
            deletions: end.deletions - start.deletions,
        }
    }

    /// The sums over what overlaps `inputs` one level below, and in all levels below together. `None` if nothing does.
    fn below(
        &self,
        version: &Version,
        level: usize,
        inputs: &[Arc<FileMeta>],
        options: &PickerOptions,
    ) -> Option<(Sums, Sums)> {
        let hull = plan::hull(options.comparator.user(), inputs)?;
        let mut next = Sums::default();
        let mut all = Sums::default();
        let mut any = false;
        for below in level + 1..LEVEL_COUNT {
            let run = version.overlapping_range(below, Some(&hull.smallest), Some(&hull.largest));
            any |= !run.is_empty();
            let sums = self.of_run(below, run);
            if below == level + 1 {
                next = sums;
            }
            all = all.add(sums);
        }
        any.then_some((next, all))
    }

    fn score(
        &self,
        version: &Version,
        options: &PickerOptions,
        level: usize,
        inputs: &[Arc<FileMeta>],
    ) -> f64 {
        let own = inputs.iter().fold(Sums::default(), |sums, file| sums.add(self.of_file(file)));
        let Some((next, all)) = self.below(version, level, inputs, options) else {
            return own.deletions / own.entries.max(1.0);
        };
        let hidden_bytes = (own.deletions * all.bytes / all.values.max(1.0)).min(all.bytes);
        let of_entries = own.deletions / (own.entries + next.entries).max(1.0);
        let of_bytes = hidden_bytes / (own.bytes + next.bytes).max(1.0);
        of_entries.max(of_bytes)
    }
}

fn value_count(counts: &TableCounts) -> f64 {
    counts.entries.saturating_sub(counts.deletions) as f64
}
