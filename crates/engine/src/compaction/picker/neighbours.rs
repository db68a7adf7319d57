//! Finds the small neighbours of one level whose merge saves the most files. Entries in order make tables that overlap
//! nothing, which compactions only move from level to level, and each of them takes a file.
//!
//! Predecessor: `db/small_tables`. Successor: `plan`.
//!
//! The inputs of a plan are together no larger than a table may be. What one step reads and writes is therefore bounded,
//! and the output is a single table, or a few where the level below makes it be cut. Each plan leaves fewer tables than it takes.

use std::ops::Range;

use terrace_format::limits::LEVEL_COUNT;

use super::PickerOptions;
use super::plan::{self, CompactionPlan, CompactionReason};
use crate::compaction::reservations::Reservations;
use crate::version::version::Version;

/// The merge of neighbours that saves the most files, if it saves at least `least_saved`; `None` otherwise, or if a running job is in
/// the way.
///
/// While it saves a file to merge two neighbours, some plan does. If none does, each pair of neighbours is larger than a table may be, so
/// `n` tables of the levels from 1 on hold more than `(n - 6) / 2` times that.
pub fn pick(
    version: &Version,
    busy: &Reservations,
    options: &PickerOptions,
    least_saved: usize,
) -> Option<CompactionPlan> {
    let best = (1..LEVEL_COUNT)
        .filter_map(|level| best_run(version, options, level))
        .filter(|run| run.saved >= least_saved.max(1))
        .max_by_key(|run| run.saved)?;
    let inputs = version.levels[best.level][best.files].to_vec();
    let plan =
        plan::build(version, busy, options, best.level, best.level, inputs, CompactionReason::Neighbours)?;
    // Neighbours that share a key with the last ones come along.
    (plan.input_bytes() <= options.max_file_size_bytes).then_some(plan)
}

/// Neighbouring files of a level.
struct Run {
    level: usize,
    files: Range<usize>,
    /// How many files fewer there are if they are merged.
    saved: usize,
}

/// The run of neighbours in a level, together no larger than a table, whose merge saves the most files.
fn best_run(version: &Version, options: &PickerOptions, level: usize) -> Option<Run> {
    let files = &version.levels[level];
    let (mut end, mut size_bytes) = (0, 0);
    let runs = (0..files.len()).map(|start| {
        while let Some(file) = files.get(end)
            && size_bytes + file.size_bytes <= options.max_file_size_bytes
        {
            size_bytes += file.size_bytes;
            end += 1;
        }
        let run = start..end.max(start);
        if run.is_empty() {
            end = start + 1;
        } else {
            size_bytes -= files[start].size_bytes;
        }
        Run { level, saved: saved_files(version, options, level, run.clone()), files: run }
    });
    // Of several that save as many, the first.
    runs.reduce(|best, run| if run.saved > best.saved { run } else { best })
}

fn saved_files(version: &Version, options: &PickerOptions, level: usize, run: Range<usize>) -> usize {
    let files = &version.levels[level][run];
    let (Some(first), Some(last)) = (files.first(), files.last()) else { return 0 };
    let overlapped_bytes: u64 = if level + 1 < LEVEL_COUNT {
        let (smallest, largest) = (first.smallest_user_key(), last.largest_user_key());
        plan::sum_bytes(
            &version.levels[level + 1][version.overlapping_range(level + 1, Some(smallest), Some(largest))],
        )
    } else {
        0
    };
    let cuts = overlapped_bytes / plan::max_grandparent_overlap_bytes(options.max_file_size_bytes).max(1);
    files.len().saturating_sub(1).saturating_sub(cuts as usize)
}
