//! Runs one compaction on several threads. Its key range is cut into parts, and each free thread takes the next one.
//! Predecessor: `compaction/job`, which starts the work and records all outputs as one edit. Successor: the same, which
//! merges each part.
//!
//! ```text
//!   inputs   ┌────┐┌───┐┌──────┐┌────┐┌───┐      cuts lie where a table of the largest input level begins, so at a user
//!   parts    ├─────────┼────────────┼─────┤      key: all versions of a key are merged by one thread
//! ```
//!
//! The caller works too, and does not wait for helpers that have not begun. The compaction therefore ends even if the
//! pool never has a free thread.

use std::sync::Arc;

use terrace_env::locks::{Condvar, Mutex};
use terrace_format::comparator::UserComparator;

use crate::compaction::picker::{CompactionPlan, sum_bytes};
use crate::error::Result;
use crate::pool::{BackgroundPool, JobKind, without_panic};

/// The number of parts for each thread, so that a slow thread does not hold up the others.
pub(super) const PARTS_PER_THREAD: usize = 2;

/// A part is at least this many times the size of a table, because its last table is shorter than it might be.
const MIN_PART_TABLES: u64 = 2;

/// The user keys from `from` up to, but not including, `to`. `None` means no bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) from: Option<Vec<u8>>,
    pub(crate) to: Option<Vec<u8>>,
}

/// Cuts what `plan` merges into at most `count` parts of about the same size.
pub(crate) fn split(
    plan: &CompactionPlan,
    user: &UserComparator,
    count: usize,
    table_size_bytes: u64,
) -> Vec<Part> {
    let count = (count as u64).min(plan.input_bytes() / (MIN_PART_TABLES * table_size_bytes).max(1));
    let mut parts = vec![Part::default()];
    // Tables of a level from 1 on do not overlap, so the range can be cut where they begin.
    let ordered = plan.input_levels().filter(|(level, _)| *level > 0);
    let Some((whole_bytes, files)) =
        ordered.map(|(_, files)| (sum_bytes(files), files)).max_by_key(|(size_bytes, _)| *size_bytes)
    else {
        return parts;
    };

    let mut before_bytes = 0;
    for pair in files.windows(2) {
        before_bytes += pair[0].size_bytes;
        let key = pair[1].smallest_user_key();
        // LevelDB may have split the versions of one key across two tables.
        let cuts_between_keys = user.compare(pair[0].largest_user_key(), key).is_lt();
        if before_bytes * count >= whole_bytes * parts.len() as u64 && cuts_between_keys {
            if let Some(last) = parts.last_mut() {
                last.to = Some(key.to_vec());
            }
            parts.push(Part { from: Some(key.to_vec()), to: None });
        }
    }
    parts
}

/// Has `write` write each of `parts`, on this thread and on up to `helpers` threads of `pool`. Returns the results in
/// key order. Once a part has failed, no further part is begun.
pub(crate) fn run_parts<T: Send + 'static>(
    pool: &BackgroundPool,
    helpers: usize,
    parts: Vec<Part>,
    plan: CompactionPlan,
    write: impl Fn(CompactionPlan, &Part) -> Result<T> + Send + Sync + 'static,
) -> Vec<Result<T>> {
    let helpers = helpers.min(parts.len() - 1);
    let state = Mutex::new(State { plan: Some(plan), taken: 0, results: Vec::new() });
    let shared = Arc::new(Shared { write, parts, state, part_done: Condvar::new() });
    for _ in 0..helpers {
        let helper = Arc::clone(&shared);
        if !pool.submit(JobKind::Compaction, Box::new(move || helper.work())) {
            // If there is no thread to help, this thread does all the work.
            pool.run_one_of(&[JobKind::Compaction]);
        }
    }
    shared.work();
    shared.wait()
}

/// A compaction that several threads work on.
struct Shared<T, W> {
    write: W,
    parts: Vec<Part>,
    state: Mutex<State<T>>,
    part_done: Condvar,
}

struct State<T> {
    /// `None` once the work is done: a helper that comes late must not hold on to the inputs.
    plan: Option<CompactionPlan>,
    /// The number of parts taken so far, in order.
    taken: usize,
    results: Vec<(usize, Result<T>)>,
}

impl<T, W: Fn(CompactionPlan, &Part) -> Result<T>> Shared<T, W> {
    /// Takes parts until none is left or one has failed.
    fn work(&self) {
        while let Some((index, plan)) = self.take_part() {
            let result = without_panic(|| (self.write)(plan, &self.parts[index]));
            self.state.lock().results.push((index, result));
            self.part_done.notify_all();
        }
    }

    fn take_part(&self) -> Option<(usize, CompactionPlan)> {
        let mut state = self.state.lock();
        let failed = state.results.iter().any(|(_, result)| result.is_err());
        let index = state.taken;
        if failed || index == self.parts.len() {
            return None;
        }
        let plan = state.plan.clone()?;
        state.taken += 1;
        Some((index, plan))
    }

    /// Waits for the parts that others have begun. Returns all results in key order.
    fn wait(&self) -> Vec<Result<T>> {
        let mut state = self.state.lock();
        state.plan = None;
        while state.results.len() < state.taken {
            self.part_done.wait(&mut state);
        }
        let mut results = std::mem::take(&mut state.results);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::picker::{PickerOptions, RangeCompaction, RangeStep};
    use crate::compaction::reservations::Reservations;
    use crate::version::testing::{comparator, version};

    /// The cuts between the parts, for tables of 100 bytes each.
    fn cuts(files: &[(usize, u64, &str, &str)], count: usize, table_size_bytes: u64) -> Vec<String> {
        let options = PickerOptions::new(comparator(), table_size_bytes, 2.0, None);
        let mut range = RangeCompaction::new(None, None, 100);
        let step = range.next_step(&version(files), &Reservations::default(), &options);
        let RangeStep::Run(plan) = step else { panic!("{step:?}") };
        let parts = split(&plan, comparator().user(), count, table_size_bytes);
        assert_eq!((&parts[0].from, &parts[parts.len() - 1].to), (&None, &None));
        let ends = parts[..parts.len() - 1].iter().map(|part| part.to.clone());
        let begins = parts[1..].iter().map(|part| part.from.clone());
        assert!(ends.eq(begins), "{parts:?}");
        parts[1..].iter().map(|part| String::from_utf8(part.from.clone().unwrap()).unwrap()).collect()
    }

    const FILES: [(usize, u64, &str, &str); 6] = [
        (0, 9, "a", "z"),
        (0, 8, "a", "z"),
        (1, 1, "b", "c"),
        (1, 2, "d", "e"),
        (1, 3, "f", "g"),
        (1, 4, "h", "i"),
    ];

    #[test]
    fn parts_are_of_about_the_same_size_and_begin_where_tables_of_the_lower_level_do() {
        assert_eq!(cuts(&FILES, 1, 10), [] as [&str; 0]);
        assert_eq!(cuts(&FILES, 2, 10), ["f"]);
        assert_eq!(cuts(&FILES, 4, 10), ["d", "f", "h"]);
        assert_eq!(cuts(&FILES, 9, 10), ["d", "f", "h"]);
    }

    #[test]
    fn what_is_small_is_not_cut() {
        assert_eq!(cuts(&FILES, 4, 301), [] as [&str; 0]);
        assert_eq!(cuts(&FILES, 4, 150), ["f"]);
    }

    #[test]
    fn a_user_key_that_runs_on_into_the_next_table_is_not_cut() {
        let mut files = FILES;
        files[4].2 = "e";
        assert_eq!(cuts(&files, 2, 10), ["h"]);
    }
}
