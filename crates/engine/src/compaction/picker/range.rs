//! Manual compaction of a key range: it moves everything in the range to one level and drops the tombstones there.
//!
//! Predecessor: `db/compact_range`, which requests one step at a time and carries it out. Successor: `plan`.
//!
//! 1. From level 0 on, level by level, push what overlaps the range down, until the range is in one level only: the
//!    deepest that held any of it. A step goes down as many levels as it can at once, so that entries are not rewritten
//!    in each of them, but only one level if it would otherwise become large or reach beyond the range.
//! 2. There, rewrite the files that may hold tombstones and were not written since the call. On request, also merge
//!    small neighbours: entries written in order make tables that overlap nothing, and such tables are moved down
//!    unmerged.
//!
//! One call is therefore enough, where LevelDB needs two (google/leveldb#227: it never rewrites the deepest level).
//!
//! It ends even if writes continue: in level 0 only files from before the call are pushed, and in deeper levels a
//! position moves from the beginning of the range to its end. It covers what was written before the call: when a
//! level's turn comes, all of that has arrived there, because the compaction waits for files above that other jobs are
//! compacting.

use std::sync::Arc;

use terrace_format::limits::LEVEL_COUNT;

use super::PickerOptions;
use super::plan::{self, CompactionPlan, CompactionReason};
use crate::compaction::reservations::Reservations;
use crate::version::file_meta::FileMeta;
use crate::version::version::Version;

/// One step takes about this many times a file's size from the upper level, so that it does not own too large a range for
/// too long.
const STEP_FILES: u64 = 8;

/// The same where small files are merged, because files are few.
const MERGE_STEP_FILES: u64 = 4;

/// A step goes down more than one level if its inputs are at most this many times a file's size, because all of them stay on
/// the disk until it ends.
const DEEP_STEP_FILES: u64 = 64;

/// The next step of a manual compaction.
#[derive(Debug)]
pub enum RangeStep {
    /// Carry out this plan, and ask again.
    Run(Box<CompactionPlan>),
    /// A running job is in the way: ask again when one has ended.
    Wait,
    /// There is nothing left to do.
    Done,
}

/// A manual compaction under way.
#[derive(Debug)]
pub struct RangeCompaction {
    begin: Option<Vec<u8>>,
    end: Option<Vec<u8>>,
    /// Files from this number on were written after the call.
    first_new_number: u64,
    level: usize,
    /// The last user key that is done in the current level.
    done_until: Option<Vec<u8>>,
    /// Neighbours that are smaller are merged.
    merged_below_bytes: u64,
}

impl RangeCompaction {
    /// The compaction of the user keys from `begin` to `end`, both included; `None` is an open end. Make it after the
    /// memtables were flushed, with [`VersionSet::next_file_number`](crate::version::VersionSet::next_file_number).
    pub fn new(begin: Option<Vec<u8>>, end: Option<Vec<u8>>, next_file_number: u64) -> Self {
        Self {
            begin,
            end,
            first_new_number: next_file_number,
            level: 0,
            done_until: None,
            merged_below_bytes: 0,
        }
    }

    /// Merges neighbouring files of the deepest level that are smaller than this, too.
    pub fn merge_below(&mut self, size_bytes: u64) {
        self.merged_below_bytes = size_bytes;
    }

    /// The next step for the present files and running jobs.
    pub fn next_step(
        &mut self,
        version: &Version,
        busy: &Reservations,
        options: &PickerOptions,
    ) -> RangeStep {
        loop {
            let deepest = (self.level..LEVEL_COUNT)
                .rev()
                .find(|level| version.overlaps(*level, self.begin.as_deref(), self.end.as_deref()));
            let Some(deepest) = deepest else { return RangeStep::Done };
            let rewrites = self.level > 0 && self.level == deepest;
            let inputs = if self.level == 0 {
                self.level0_inputs(version, options)
            } else {
                let begin = self.done_until.as_deref().or(self.begin.as_deref());
                let run = version.overlapping_range(self.level, begin, self.end.as_deref());
                let files = &version.levels[self.level][run];
                let files = &files[files.partition_point(|file| self.is_done(file, options))..];
                let is_wanted = |at: usize| {
                    !rewrites || self.needs_rewrite(&files[at], options) || self.is_merged(files, at)
                };
                let step_files = if self.merged_below_bytes > 0 { MERGE_STEP_FILES } else { STEP_FILES };
                first_files(files, is_wanted, step_files * options.max_file_size_bytes)
            };
            if inputs.is_empty() {
                if rewrites {
                    return RangeStep::Done;
                }
                self.level += 1;
                self.done_until = None;
                continue;
            }
            let build = |output_level| {
                let (inputs, reason) = (inputs.clone(), CompactionReason::Manual);
                plan::build(version, busy, options, self.level, output_level, inputs, reason)
            };
            let mut deep = (self.level + 2..=deepest).rev().filter_map(build);
            let nearest = if rewrites { self.level } else { self.level + 1 };
            let plan = deep.find(|plan| self.may_go_deep(plan, options)).or_else(|| build(nearest));
            let Some(plan) = plan else {
                return RangeStep::Wait;
            };
            if rewrites && plan.has_outputs_below() {
                // Tombstones that the running job's output will cover would have to stay.
                return RangeStep::Wait;
            }
            if self.level > 0 {
                self.done_until = plan.inputs[0].last().map(|file| file.largest_user_key().to_vec());
            }
            return RangeStep::Run(Box::new(plan));
        }
    }

    /// Whether a step may go down several levels at once with this plan.
    fn may_go_deep(&self, plan: &CompactionPlan, options: &PickerOptions) -> bool {
        let user = options.comparator.user();
        let begins_before =
            self.begin.as_ref().is_some_and(|begin| user.compare(&plan.hull.smallest, begin).is_lt());
        let ends_after = self.end.as_ref().is_some_and(|end| user.compare(&plan.hull.largest, end).is_gt());
        let is_small = plan.input_bytes() <= DEEP_STEP_FILES * options.max_file_size_bytes;
        plan.trivial_move || (is_small && !begins_before && !ends_after)
    }

    fn level0_inputs(&self, version: &Version, options: &PickerOptions) -> Vec<Arc<FileMeta>> {
        let user = options.comparator.user();
        let oldest = version.levels[0].iter().rev().find(|file| {
            let before =
                self.begin.as_ref().is_some_and(|b| user.compare(file.largest_user_key(), b).is_lt());
            let after = self.end.as_ref().is_some_and(|e| user.compare(file.smallest_user_key(), e).is_gt());
            file.number < self.first_new_number && !before && !after
        });
        oldest.map_or_else(Vec::new, |file| {
            version.overlapping(0, Some(file.smallest_user_key()), Some(file.largest_user_key()))
        })
    }

    /// Whether the file lies before the position, which is a file's last key.
    fn is_done(&self, file: &FileMeta, options: &PickerOptions) -> bool {
        let user = options.comparator.user();
        self.done_until.as_ref().is_some_and(|done| user.compare(file.largest_user_key(), done).is_le())
    }

    /// Whether the file may hold tombstones that a rewrite at the bottom would drop.
    fn needs_rewrite(&self, file: &FileMeta, options: &PickerOptions) -> bool {
        file.number < self.first_new_number
            && file.newest_sequence() <= options.oldest_reader
            && file.counts().is_none_or(|counts| counts.deletions > 0)
    }

    /// Whether the file is to be merged with the one before it or after it.
    fn is_merged(&self, files: &[Arc<FileMeta>], at: usize) -> bool {
        let is_small = |at: usize| {
            files.get(at).is_some_and(|file| {
                file.number < self.first_new_number && file.size_bytes < self.merged_below_bytes
            })
        };
        is_small(at) && (is_small(at + 1) || at.checked_sub(1).is_some_and(is_small))
    }
}

/// The first adjacent files at places that are `wanted`, up to and with the one that reaches `step_bytes`.
fn first_files(
    files: &[Arc<FileMeta>],
    wanted: impl Fn(usize) -> bool,
    step_bytes: u64,
) -> Vec<Arc<FileMeta>> {
    let mut size_bytes = 0;
    (0..files.len())
        .skip_while(|at| !wanted(*at))
        .take_while(|at| {
            let room = size_bytes < step_bytes && wanted(*at);
            size_bytes += files[*at].size_bytes;
            room
        })
        .map(|at| Arc::clone(&files[at]))
        .collect()
}
