//! The plan of one compaction: which files go in, and what the job must know about the levels below.
//!
//! ```text
//!   level          ┌─────┐┌────┐          inputs[0], with neighbours that share a user key
//!   next level    ┌───┐┌───────┐┌──┐      inputs[1], all that overlaps inputs[0]; usually the output level
//!                 └────── hull ────┘
//!   below        ┌──────┐   ┌────────┐    grandparents, and whatever else lies below: tombstones whose key one of
//!                                         these files covers must stay
//! ```
//!
//! A plan may go down several levels at once. Then it takes from each level what overlaps its inputs above, because no older
//! entry may stay above a newer one.
//!
//! A plan with `output_level == level` rewrites files in place, to drop tombstones that have nothing below them. In level 0
//! it merges several tables into one.

use std::sync::Arc;

use terrace_format::comparator::UserComparator;
use terrace_format::limits::LEVEL_COUNT;

use super::PickerOptions;
use crate::compaction::reservations::{KeyRange, ReservationId, Reservations};
use crate::version::file_meta::FileMeta;
use crate::version::version::Version;

/// Inputs are widened, if that costs no further file of the output level, up to this many times a file's size.
const EXPANDED_INPUT_FILES: u64 = 25;

/// The most bytes that a table may overlap one level below its own, so that its next compaction stays small. A table that
/// would overlap more is not written, nor moved unchanged. LevelDB's rule: ten tables.
pub(crate) fn max_grandparent_overlap_bytes(max_file_size_bytes: u64) -> u64 {
    10 * max_file_size_bytes
}

/// Why a compaction was picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionReason {
    /// A level is larger than it should be.
    Size,
    /// Deletions hide much space that could be freed.
    Tombstones,
    /// The program asked for it.
    Manual,
    /// Small neighbours take a file each.
    Neighbours,
}

/// One compaction to carry out.
///
/// A clone has its own cursors, so that several threads can each merge a part of the range.
#[derive(Clone, Debug)]
pub struct CompactionPlan {
    /// The level of `inputs[0]`.
    pub level: usize,
    /// The level of the output, and of the last of `inputs`.
    pub output_level: usize,
    /// The files to merge, level by level from `level` to `output_level`. Each list is in the order of its level: newest
    /// first in level 0, otherwise by key.
    pub inputs: Vec<Vec<Arc<FileMeta>>>,
    /// The files one level below the output that overlap it, by key: outputs should not overlap too much of them.
    pub grandparents: Vec<Arc<FileMeta>>,
    /// The number of the output, which is a single table, if it stays in level 0: there, numbers tell which table is newer.
    pub output_number: Option<u64>,
    /// Why it was picked.
    pub reason: CompactionReason,
    /// The range of user keys of all inputs.
    pub hull: KeyRange,
    /// Whether the inputs need not be rewritten, because an edit that lists them in the output level is enough. Only
    /// `inputs[0]` has files then.
    pub trivial_move: bool,
    /// For each level below the output level, the files that overlap the hull, and the position of the cursor in them.
    below: Vec<(Vec<Arc<FileMeta>>, usize)>,
    /// The ranges into which running jobs write below the output level. Everything, if older tables of the output level
    /// itself may lie below.
    outputs_below: Vec<KeyRange>,
    user: UserComparator,
}

impl CompactionPlan {
    /// Reserves what the plan touches. It must have been picked with `reservations` as they are now.
    pub fn reserve(&self, reservations: &mut Reservations) -> ReservationId {
        let leaving = &self.inputs[..self.output_level - self.level];
        let leaving = leaving.iter().flatten().map(|file| file.number).collect();
        reservations.reserve(self.level, self.output_level, self.hull.clone(), leaving)
    }

    /// The inputs with their levels.
    pub fn input_levels(&self) -> impl Iterator<Item = (usize, &[Arc<FileMeta>])> {
        (self.level..).zip(self.inputs.iter().map(Vec::as_slice))
    }

    /// The size of all inputs, in bytes.
    pub fn input_bytes(&self) -> u64 {
        self.inputs.iter().map(|files| sum_bytes(files)).sum()
    }

    /// Whether nothing below the output can hold `user_key`, so that a tombstone for it hides nothing there. Must be
    /// called with ascending keys.
    pub fn is_base_level_for_key(&mut self, user_key: &[u8]) -> bool {
        for (files, position) in &mut self.below {
            while let Some(file) = files.get(*position) {
                if self.user.compare(user_key, file.largest_user_key()).is_le() {
                    if self.user.compare(user_key, file.smallest_user_key()).is_ge() {
                        return false;
                    }
                    break;
                }
                *position += 1;
            }
        }
        !self.outputs_below.iter().any(|range| range.contains(&self.user, user_key))
    }

    /// Whether running jobs write below the output, within its range.
    pub(super) fn has_outputs_below(&self) -> bool {
        !self.outputs_below.is_empty()
    }
}

/// The plan that compacts `inputs` from `level` into `output_level`, which is a deeper level or the same one. `inputs` must
/// not be empty. In level 0 they must include all files that overlap them. `None` if a running job is in the way.
pub(super) fn build(
    version: &Version,
    busy: &Reservations,
    options: &PickerOptions,
    level: usize,
    output_level: usize,
    inputs: Vec<Arc<FileMeta>>,
    reason: CompactionReason,
) -> Option<CompactionPlan> {
    debug_assert!(output_level < LEVEL_COUNT);
    let user = options.comparator.user();
    let upper = if level == 0 { inputs } else { with_neighbours(version, level, &inputs)? };
    let mut chosen = vec![upper];
    for lower_level in level + 1..=output_level {
        let upper_hull = hull(user, chosen.iter().flatten())?;
        chosen.push(overlapping_with_neighbours(version, lower_level, &upper_hull));
    }
    if level > 0
        && let [upper, lower] = &chosen[..]
        && let Some(wider) = widen(version, busy, options, level, upper, lower)
    {
        chosen = wider.into();
    }
    let hull = hull(user, chosen.iter().flatten())?;
    let (smallest, largest) = (&hull.smallest[..], &hull.largest[..]);
    if busy.conflicts(user, level, output_level, smallest, largest) {
        return None;
    }
    let below: Vec<(Vec<Arc<FileMeta>>, usize)> = (output_level + 1..LEVEL_COUNT)
        .map(|level| (version.overlapping(level, Some(smallest), Some(largest)), 0))
        .collect();
    let grandparents = below.first().map(|(files, _)| files.clone()).unwrap_or_default();
    let trivial_move = output_level != level
        && chosen[1..].iter().all(Vec::is_empty)
        && (level > 0 || chosen[0].len() == 1)
        && sum_bytes(&grandparents) <= max_grandparent_overlap_bytes(options.max_file_size_bytes);
    let outputs_below = busy.outputs_below(user, output_level, smallest, largest);
    Some(CompactionPlan {
        level,
        output_level,
        inputs: chosen,
        grandparents,
        output_number: None,
        reason,
        hull,
        trivial_move,
        below,
        outputs_below,
        user: user.clone(),
    })
}

/// The plan that merges `inputs` of level 0, newest first, into one table of level 0. The newest must leave the number before
/// its own. What overlaps the inputs and is not one of them must be older or newer than all of them. `None` if a running job
/// is in the way.
pub(super) fn build_within_level0(
    version: &Version,
    busy: &Reservations,
    options: &PickerOptions,
    inputs: Vec<Arc<FileMeta>>,
) -> Option<CompactionPlan> {
    let newest = inputs.first()?;
    debug_assert!(newest.leaves_number());
    let output_number = newest.number.checked_sub(1);
    let plan = build(version, busy, options, 0, 0, inputs, CompactionReason::Size)?;
    let outputs_below = vec![plan.hull.clone()];
    Some(CompactionPlan { grandparents: Vec::new(), output_number, outputs_below, ..plan })
}

/// Adds files of the upper level, if they overlap no further file of the lower one. Otherwise these files would soon be
/// merged with the same lower files again.
fn widen(
    version: &Version,
    busy: &Reservations,
    options: &PickerOptions,
    level: usize,
    upper: &[Arc<FileMeta>],
    lower: &[Arc<FileMeta>],
) -> Option<[Vec<Arc<FileMeta>>; 2]> {
    if lower.is_empty() {
        return None;
    }
    let user = options.comparator.user();
    let whole = hull(user, upper.iter().chain(lower))?;
    let wider = overlapping_with_neighbours(version, level, &whole);
    let size_bytes = sum_bytes(&wider) + sum_bytes(lower);
    if wider.len() <= upper.len() || size_bytes > EXPANDED_INPUT_FILES * options.max_file_size_bytes {
        return None;
    }
    let wider_hull = hull(user, &wider)?;
    let below = overlapping_with_neighbours(version, level + 1, &wider_hull);
    let free = !busy.conflicts(user, level, level + 1, &wider_hull.smallest, &wider_hull.largest);
    (free && below.len() == lower.len()).then_some([wider, below])
}

/// `files` of a level from 1 on, with the files between them and the neighbours that share a user key with one of their
/// ends. LevelDB may have split a key's versions, and moving the newer ones below the older ones would hide them.
fn with_neighbours(version: &Version, level: usize, files: &[Arc<FileMeta>]) -> Option<Vec<Arc<FileMeta>>> {
    let range = hull(version.comparator().user(), files)?;
    Some(overlapping_with_neighbours(version, level, &range))
}

fn overlapping_with_neighbours(version: &Version, level: usize, range: &KeyRange) -> Vec<Arc<FileMeta>> {
    let files = &version.levels[level];
    let user = version.comparator().user();
    let mut indexes = version.overlapping_range(level, Some(&range.smallest), Some(&range.largest));
    let splits_key = |left: usize| {
        user.compare(files[left].largest_user_key(), files[left + 1].smallest_user_key()).is_eq()
    };
    if indexes.is_empty() {
        return Vec::new();
    }
    while indexes.start > 0 && splits_key(indexes.start - 1) {
        indexes.start -= 1;
    }
    while indexes.end < files.len() && splits_key(indexes.end - 1) {
        indexes.end += 1;
    }
    files[indexes].to_vec()
}

/// The range of user keys of `files`; `None` if there are none.
pub(super) fn hull<'a>(
    user: &UserComparator,
    files: impl IntoIterator<Item = &'a Arc<FileMeta>>,
) -> Option<KeyRange> {
    let mut files = files.into_iter();
    let first = files.next()?;
    let (mut smallest, mut largest) = (first.smallest_user_key(), first.largest_user_key());
    for file in files {
        if user.compare(file.smallest_user_key(), smallest).is_lt() {
            smallest = file.smallest_user_key();
        }
        if user.compare(file.largest_user_key(), largest).is_gt() {
            largest = file.largest_user_key();
        }
    }
    Some(KeyRange { smallest: smallest.to_vec(), largest: largest.to_vec() })
}

/// The size of `files`, in bytes.
pub(crate) fn sum_bytes(files: &[Arc<FileMeta>]) -> u64 {
    files.iter().map(|file| file.size_bytes).sum()
}
