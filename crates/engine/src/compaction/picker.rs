//! Decides what to compact next. A pure function from the files, the running jobs and the options to a plan.
//!
//! Predecessor: the scheduler, whenever files or running jobs change. Successor: `compaction::job`, which carries out
//! the plan.
//!
//! In order:
//!
//! 1. **Within level 0.** While flushes outrun compactions, [`PickerOptions::level0_merge_trigger`] flushed files that
//!    overlap each other are merged into one file of level 0. The output is not merged within level 0 again. Such a
//!    merge takes place only if the part of level 1 below them is larger than half of what lies above it. Level 0 then
//!    holds more before it is merged with level 1, and readers meet no more files
//!    ([decision 37](../../../../docs/decisions/0037-level-shapes.md)).
//! 2. **Size.** Level 0 is due from [`PickerOptions::level0_trigger`] files on, any other level when it is larger than
//!    its limit. The level that exceeds its limit the most comes first. Level 0 comes before all others once it is at
//!    twice its trigger, because writers wait for it, and when the database is idle, because every read pays for its
//!    files. But a merge of level 0 includes all of level 1 that it overlaps. While writes arrive, level 1 therefore
//!    goes first if it is due itself and larger than half of level 0, unless level 0 is crowded. Otherwise level 1
//!    would grow, and every merge with it. Within a level, files are taken in rotation, so that every range gets its
//!    turn; among the next few files, the one that overlaps the least of the level below for its size goes first.
//! 3. **Tombstones.** If nothing is due by size: files with many deletions, so that space is reclaimed without further
//!    writes. See [`tombstones`].
//!
//! Level 0 is only pushed down with everything in it that overlaps, and a deeper file only together with neighbours
//! that share a user key with it, so no older entry ever gets above a newer one. A merge within level 0 takes only
//! files with no other overlapping file between them, and its output ranks where the newest of them was. The picker
//! leaves alone whatever a running job owns.
//!
//! Manual compaction ([`range`]) and the merge of small neighbours ([`neighbours`]) use the same plans.

pub mod neighbours;
pub mod plan;
pub mod range;
mod tombstones;

use std::collections::HashSet;
use std::sync::Arc;

use terrace_format::internal_key::{InternalKeyComparator, KeyCompare, MAX_SEQUENCE_NUMBER, SequenceNumber};
use terrace_format::limits::LEVEL_COUNT;

use crate::compaction::reservations::Reservations;
use crate::version::StoredCompactPointers;
use crate::version::file_meta::FileMeta;
use crate::version::version::Version;

pub use plan::{CompactionPlan, CompactionReason};
pub(crate) use plan::{max_grandparent_overlap_bytes, sum_bytes};
pub use range::{RangeCompaction, RangeStep};

/// The number of files of a level, in rotation, among which the cheapest is picked.
const CANDIDATES: usize = 16;

/// From this many times its trigger on, level 0 goes first, whatever is in level 1.
const CROWDED_SCORE: f64 = 6.0;

/// Size above which level 1 is compacted, as in LevelDB; each deeper level may be ten times as large.
pub(crate) const LEVEL1_SIZE_BYTES: u64 = 10 << 20;

/// What the picker needs to know about the database's options and state.
#[derive(Clone, Debug)]
pub struct PickerOptions {
    /// The number of files from which level 0 is compacted. Default 4.
    pub level0_trigger: usize,
    /// Size above which level 1 is compacted. Default 10 MiB. It should not be less than what level 0 brings at once.
    pub level1_size_bytes: u64,
    /// The number of flushed tables that are merged with each other within level 0, if level 1 is large beside it. Default
    /// 8.
    pub level0_merge_trigger: usize,
    /// Whether level 0 may be merged within itself. Default `true`.
    pub merges_within_level0: bool,
    /// How many times larger each further level may be. Default 10.
    pub level_multiplier: u64,
    /// Size at which a compaction begins a new table.
    pub max_file_size_bytes: u64,
    /// The share of deletions, and of entries that they hide, in what a compaction would rewrite, from which files are
    /// compacted for the sake of deletions. Half of it is enough when the database is idle.
    pub deletion_ratio_trigger: f64,
    /// Hidden entries and deletions up to this sequence can be dropped, because no reader reads at an earlier one.
    pub oldest_reader: SequenceNumber,
    comparator: InternalKeyComparator,
}

impl PickerOptions {
    /// Options with LevelDB's level sizes and these settings. `oldest_snapshot` is the sequence of the oldest snapshot, if
    /// there is one.
    pub fn new(
        comparator: InternalKeyComparator,
        max_file_size_bytes: u64,
        deletion_ratio_trigger: f64,
        oldest_snapshot: Option<SequenceNumber>,
    ) -> Self {
        Self {
            level0_trigger: 4,
            level0_merge_trigger: 8,
            merges_within_level0: true,
            level1_size_bytes: LEVEL1_SIZE_BYTES,
            level_multiplier: 10,
            max_file_size_bytes,
            deletion_ratio_trigger,
            oldest_reader: oldest_snapshot.unwrap_or(MAX_SEQUENCE_NUMBER),
            comparator,
        }
    }

    /// Makes level 1 large enough for what level 0 brings at once, with memtables of this size.
    pub fn with_write_buffer_size(self, write_buffer_size_bytes: u64) -> Self {
        let brought = self.level0_trigger as u64 * write_buffer_size_bytes;
        Self { level1_size_bytes: self.level1_size_bytes.max(brought), ..self }
    }

    /// Size above which `level`, from 1 on, is compacted.
    pub fn level_limit_bytes(&self, level: usize) -> u64 {
        let times = self.level_multiplier.saturating_pow(level.saturating_sub(1) as u32);
        self.level1_size_bytes.saturating_mul(times)
    }
}

/// The key at which the last compaction by size of each level ended. The next one begins there.
#[derive(Clone, Debug, Default)]
pub struct CompactPointers {
    internal_keys: StoredCompactPointers,
}

impl CompactPointers {
    /// The pointers that the MANIFEST stores.
    pub fn from_stored(internal_keys: StoredCompactPointers) -> Self {
        Self { internal_keys }
    }

    /// Notes that `plan` is being carried out. This is done at its start and not at its end, so that other jobs that start
    /// meanwhile, and the next attempt if it fails, look elsewhere.
    pub fn advance(&mut self, plan: &CompactionPlan) {
        if plan.reason == CompactionReason::Size
            && let Some(last) = plan.inputs[0].last()
        {
            self.internal_keys[plan.level] = Some(last.largest.clone());
        }
    }

    fn get(&self, level: usize) -> Option<&[u8]> {
        self.internal_keys[level].as_deref()
    }
}

/// Picks what to compact next; `None` if nothing is due, or if all that is due is already being compacted.
///
/// `idle` means that no write has come for a while. Then less makes a compaction worthwhile.
///
/// Picking ends: without further writes, repeated picks lead to `None`. A merge within level 0 leaves fewer flushed files,
/// and what it writes does not count as one. Each other pick by size moves bytes to a deeper level.
/// Each pick by tombstones moves tombstones to a deeper level, or drops them.
pub fn pick(
    version: &Version,
    busy: &Reservations,
    pointers: &CompactPointers,
    options: &PickerOptions,
    idle: bool,
) -> Option<CompactionPlan> {
    let within_level0 = if idle { None } else { pick_within_level0(version, busy, options) };
    within_level0
        .or_else(|| pick_by_size(version, busy, pointers, options, idle))
        .or_else(|| tombstones::pick(version, busy, options, idle))
}

/// How far each level exceeds its limit (1 means that it is at its limit), without the files that running jobs remove. The
/// deepest level has no limit.
pub fn scores(version: &Version, busy: &Reservations, options: &PickerOptions) -> [f64; LEVEL_COUNT] {
    let mut scores = [0.0; LEVEL_COUNT];
    for (level, score) in scores.iter_mut().enumerate().take(LEVEL_COUNT - 1) {
        let staying = version.levels[level].iter().filter(|file| !busy.takes_away(file.number));
        *score = if level == 0 {
            staying.count() as f64 / options.level0_trigger as f64
        } else {
            let size_bytes: u64 = staying.map(|file| file.size_bytes).sum();
            size_bytes as f64 / options.level_limit_bytes(level) as f64
        };
    }
    scores
}

fn pick_by_size(
    version: &Version,
    busy: &Reservations,
    pointers: &CompactPointers,
    options: &PickerOptions,
    idle: bool,
) -> Option<CompactionPlan> {
    let scores = scores(version, busy, options);
    let mut due: Vec<usize> = (0..LEVEL_COUNT).filter(|level| scores[*level] >= 1.0).collect();
    due.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    if scores[0] >= if idle { 1.0 } else { 2.0 } {
        let level1_first = !idle
            && scores[0] < CROWDED_SCORE
            && scores[1] >= 1.0
            && is_heavy(&version.levels[1], &version.levels[0]);
        let urgent = if level1_first { [1, 0] } else { [0, 1] };
        due.retain(|level| *level > 1);
        due.splice(..0, urgent.into_iter().filter(|level| scores[*level] >= 1.0));
    }
    due.into_iter().find_map(|level| {
        if level == 0 {
            pick_level0(version, busy, options, CompactionReason::Size, |_| true)
        } else {
            pick_deeper(version, busy, pointers, options, level)
        }
    })
}

/// Whether these files of level 1 are so large, beside files of level 0, that a merge of both should wait: the larger level
/// 0 has become by then, the fewer times level 1 is rewritten.
fn is_heavy(level1: &[Arc<FileMeta>], level0: &[Arc<FileMeta>]) -> bool {
    plan::sum_bytes(level1) > plan::sum_bytes(level0) / 2
}

/// Plans the merge of [`PickerOptions::level0_merge_trigger`] files of level 0 among those that overlap each other: the
/// oldest that were flushed, with only flushed ones above them. There are no more of them, so that building their output
/// takes little memory.
fn pick_within_level0(
    version: &Version,
    busy: &Reservations,
    options: &PickerOptions,
) -> Option<CompactionPlan> {
    let files = &version.levels[0];
    if !options.merges_within_level0 || files.len() < options.level0_merge_trigger {
        return None;
    }
    let mut looked_at = HashSet::new();
    files.iter().filter(|file| file.leaves_number()).find_map(|file| {
        if looked_at.contains(&file.number) {
            return None;
        }
        let together = version.overlapping(0, Some(file.smallest_user_key()), Some(file.largest_user_key()));
        looked_at.extend(together.iter().map(|file| file.number));
        let flushed = together.iter().take_while(|file| file.leaves_number()).count();
        let inputs = flushed.checked_sub(options.level0_merge_trigger)?..flushed;
        let hull = plan::hull(options.comparator.user(), &together)?;
        let level1 = version.overlapping_range(1, Some(&hull.smallest), Some(&hull.largest));
        is_heavy(&version.levels[1][level1], &together)
            .then(|| plan::build_within_level0(version, busy, options, together[inputs].to_vec()))?
    })
}

/// Plans the compaction of the oldest file of level 0 that is `wanted` and free, with all that overlaps it.
fn pick_level0(
    version: &Version,
    busy: &Reservations,
    options: &PickerOptions,
    reason: CompactionReason,
    wanted: impl Fn(&FileMeta) -> bool,
) -> Option<CompactionPlan> {
    version.levels[0].iter().rev().filter(|file| wanted(file)).find_map(|file| {
        let inputs = version.overlapping(0, Some(file.smallest_user_key()), Some(file.largest_user_key()));
        plan::build(version, busy, options, 0, 1, inputs, reason)
    })
}

fn pick_deeper(
    version: &Version,
    busy: &Reservations,
    pointers: &CompactPointers,
    options: &PickerOptions,
    level: usize,
) -> Option<CompactionPlan> {
    let files = &version.levels[level];
    let start = pointers.get(level).map_or(0, |pointer| {
        files.partition_point(|file| options.comparator.compare_keys(&file.largest, pointer).is_le())
    });
    let user = options.comparator.user();
    let in_rotation: Vec<&Arc<FileMeta>> = files[start..]
        .iter()
        .chain(&files[..start])
        .filter(|file| {
            !busy.conflicts(user, level, level + 1, file.smallest_user_key(), file.largest_user_key())
        })
        .collect();
    in_rotation.chunks(CANDIDATES).find_map(|candidates| {
        let mut candidates: Vec<(f64, &Arc<FileMeta>)> = candidates
            .iter()
            .map(|file| {
                (overlap_bytes(version, level + 1, file) as f64 / file.size_bytes.max(1) as f64, *file)
            })
            .collect();
        candidates.sort_by(|a, b| a.0.total_cmp(&b.0));
        candidates.into_iter().find_map(|(_, file)| {
            let inputs = vec![Arc::clone(file)];
            plan::build(version, busy, options, level, level + 1, inputs, CompactionReason::Size)
        })
    })
}

fn overlap_bytes(version: &Version, level: usize, file: &FileMeta) -> u64 {
    let range =
        version.overlapping_range(level, Some(file.smallest_user_key()), Some(file.largest_user_key()));
    version.levels[level][range].iter().map(|file| file.size_bytes).sum()
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
