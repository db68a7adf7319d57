//! Runs one compaction. Predecessors: the picker, `db/jobs`. Successors: `compaction/output`, then the version set.
//!
//! Steps:
//!
//! 1. A trivial move only changes the level in the MANIFEST; nothing is read or written.
//! 2. Any other compaction merges the inputs in order of internal keys and leaves out what the drop rule allows.
//!    Several threads may do that together, each with a part of the range (`compaction/parts`).
//! 3. The output is cut between user keys, when a table is full or overlaps too much of the level below the output. A
//!    merge within level 0 writes a single table.
//! 4. Inputs and outputs are recorded as one edit. Then `db/jobs` shows readers the new version. The inputs are deleted
//!    once the last reader that pins them is gone.
//!
//! On failure, or when the database closes, the outputs are removed and nothing has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::{before_all_versions, parse_internal_key, user_key};
use terrace_format::version_edit::VersionEdit;

use crate::compaction::drop_rule::DropRule;
use crate::compaction::output::OutputWriter;
use crate::compaction::parts::{PARTS_PER_THREAD, Part, run_parts, split};
use crate::compaction::picker::{CompactionPlan, max_grandparent_overlap_bytes};
use crate::error::{Error, Result};
use crate::files::{Files, Output};
use crate::iterator::InternalIterator;
use crate::pool::BackgroundPool;
use crate::read::merging_iterator::MergingIterator;
use crate::read::published::Published;
use crate::table::{BlockReadOptions, Extent};
use crate::version::file_meta::FileMeta;
use crate::version::level_iterator::LevelIterator;

/// The things that compactions work with.
pub(crate) struct Compactor {
    pub(crate) files: Arc<Files>,
    pub(crate) published: Arc<Published>,
    /// Threads that may help, if there are any.
    pub(crate) pool: Option<Arc<BackgroundPool>>,
    pub(crate) max_file_size_bytes: u64,
    /// Tells running compactions to give up because the database is closing.
    pub(crate) gives_up: AtomicBool,
}

/// The result of a compaction.
#[derive(Debug)]
pub(crate) struct Compacted {
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    /// The number of tables it has put into the output level.
    pub(crate) tables: usize,
}

impl Compactor {
    /// Runs `plan`, whose range is reserved, and records the result. Up to `helpers` threads of the pool may take part
    /// besides this one.
    pub(crate) fn run(self: &Arc<Self>, plan: &CompactionPlan, helpers: usize) -> Result<Compacted> {
        self.files.versions.resolve_failed_change()?;
        let read_bytes = plan.input_bytes();
        let mut edit = VersionEdit::default();
        for (level, files) in plan.input_levels() {
            edit.deleted_files.extend(files.iter().map(|file| (level, file.number)));
        }
        if let Some(largest) = plan.inputs[0].last().map(|file| file.largest.clone()) {
            edit.compact_pointers.push((plan.level, largest));
        }
        let mut counts = Vec::new();
        let mut written_bytes = 0;
        if plan.trivial_move {
            for file in &plan.inputs[0] {
                edit.new_files.push((plan.output_level, file.entry()));
            }
        } else {
            for output in self.write_in_parts(plan, helpers)? {
                written_bytes += output.entry.size_bytes;
                counts.push(output.counted());
                edit.new_files.push((plan.output_level, output.entry));
            }
        }
        let tables = edit.new_files.len();
        self.files.versions.apply(edit, &counts)?;
        Ok(Compacted { read_bytes, written_bytes, tables })
    }

    /// Merges the inputs of `plan` with the help of up to `helpers` threads of the pool. If it fails, no new table is
    /// left.
    fn write_in_parts(self: &Arc<Self>, plan: &CompactionPlan, helpers: usize) -> Result<Vec<Output>> {
        let pool = self.pool.as_ref().filter(|pool| helpers > 0 && !pool.needs_steps());
        let count = if pool.is_some() { (helpers + 1) * PARTS_PER_THREAD } else { 1 };
        let mut parts = split(plan, self.files.comparator.user(), count, self.max_file_size_bytes);
        let (Some(pool), true) = (pool, parts.len() > 1) else {
            return self.write_part(plan.clone(), &parts.pop().unwrap_or_default());
        };
        let compactor = Arc::clone(self);
        let write = move |plan, part: &Part| compactor.write_part(plan, part);
        self.all_or_none(run_parts(pool, helpers, parts, plan.clone(), write))
    }

    fn all_or_none(&self, results: Vec<Result<Vec<Output>>>) -> Result<Vec<Output>> {
        let mut outputs = Vec::new();
        let mut failure = None;
        for result in results {
            match result {
                Ok(part) => outputs.extend(part),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        let Some(error) = failure else { return Ok(outputs) };
        self.files.versions.remove_tables(outputs.iter().map(|output| output.entry.number));
        Err(error)
    }

    /// Merges the part of the plan's range in `part` into tables. If it fails, none of them is left.
    fn write_part(&self, mut plan: CompactionPlan, part: &Part) -> Result<Vec<Output>> {
        let mut writer = OutputWriter::new(&self.files, plan.output_number);
        let result = self.merge_into(&mut plan, part, &mut writer);
        writer.end(result)
    }

    fn merge_into(
        &self,
        plan: &mut CompactionPlan,
        part: &Part,
        writer: &mut OutputWriter<'_>,
    ) -> Result<()> {
        let user = self.files.comparator.user();
        let mut rule = DropRule::new(user.clone(), self.published.reader_sequences());
        let mut merged = self.merge_inputs(plan);
        let mut grandparents = GrandparentOverlap::new(plan, self.max_file_size_bytes);
        let is_single = plan.output_number.is_some();
        let mut until_check = 0u32;
        match &part.from {
            Some(from) => merged.seek(&before_all_versions(from))?,
            None => merged.seek_to_first()?,
        }
        while merged.valid() {
            if until_check == 0 {
                until_check = 1024;
                if self.gives_up.load(Ordering::Relaxed) {
                    return Err(Error::closed());
                }
            }
            until_check -= 1;
            let key = merged.key();
            let entry =
                parse_internal_key(key).map_err(|error| Error::format(&self.files.directory, 0, error))?;
            let verdict = rule.judge(&entry, |user_key| plan.is_base_level_for_key(user_key));
            if verdict.is_new_key {
                if part.to.as_ref().is_some_and(|to| user.compare(entry.user_key, to).is_ge()) {
                    break;
                }
                let full = writer.size_bytes() >= self.max_file_size_bytes && !is_single;
                if grandparents.crossed(user, entry.user_key) || full {
                    writer.finish_table()?;
                }
            }
            if !verdict.drop {
                writer.add_current(&merged)?;
            }
            merged.next()?;
        }
        self.published.forget(rule.newest_dropped_tombstone());
        writer.finish_table()
    }

    fn merge_inputs(&self, plan: &CompactionPlan) -> MergingIterator<LevelIterator> {
        let options =
            BlockReadOptions { fill_cache: false, extent: Extent::Whole, ..BlockReadOptions::default() };
        let fit = self.files.tables.fit();
        fit.look(|| self.files.versions.current().size_bytes());
        let mut children = Vec::new();
        let mut merge = |files: &[Arc<FileMeta>]| {
            let (comparator, tables) = (self.files.comparator.clone(), Arc::clone(&self.files.tables));
            children.push(LevelIterator::new(comparator, files.to_vec(), tables, options));
        };
        for (level, files) in plan.input_levels() {
            if level == 0 {
                files.chunks(1).for_each(&mut merge);
            } else if !files.is_empty() {
                merge(files);
            }
        }
        MergingIterator::new(self.files.comparator.clone(), children)
    }
}

/// Keeps an output table from overlapping so much of the level below that its own compaction would be large.
struct GrandparentOverlap {
    /// The largest user key and the size of each grandparent, in order.
    files: Vec<(Vec<u8>, u64)>,
    next: usize,
    overlapped_bytes: u64,
    limit_bytes: u64,
}

impl GrandparentOverlap {
    fn new(plan: &CompactionPlan, max_file_size_bytes: u64) -> Self {
        let files = plan.grandparents.iter().map(|file| (user_key(&file.largest).to_vec(), file.size_bytes));
        Self {
            files: files.collect(),
            next: 0,
            overlapped_bytes: 0,
            limit_bytes: max_grandparent_overlap_bytes(max_file_size_bytes),
        }
    }

    /// Notes that the output continues with `key`. Returns whether it should begin a new table before that key.
    fn crossed(&mut self, user: &UserComparator, key: &[u8]) -> bool {
        while let Some((largest, size_bytes)) = self.files.get(self.next) {
            if user.compare(key, largest).is_le() {
                break;
            }
            self.overlapped_bytes += size_bytes;
            self.next += 1;
        }
        let crossed = self.overlapped_bytes > self.limit_bytes;
        if crossed {
            self.overlapped_bytes = 0;
        }
        crossed
    }
}

#[cfg(test)]
mod tests {
    use terrace_env::{Env, MemoryEnv};
    use terrace_format::internal_key::ValueKind;

    use super::*;
    use crate::compaction::picker::{PickerOptions, RangeCompaction, RangeStep};
    use crate::compaction::reservations::Reservations;
    use crate::error::ErrorKind;
    use crate::flush::flush;
    use crate::testing::Shared;

    /// Creates two tables of level 0, each with a version of every key from 0 to 999, and a compactor for them.
    /// `between` runs after the first table.
    fn two_tables<T>(between: impl Fn(&Shared) -> T) -> (Shared, Arc<Compactor>, Vec<T>) {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
        let shared = Shared::new(&env);
        let mut kept = Vec::new();
        for round in 0..2 {
            shared.published.publish(1000 * (round + 1));
            let sealed = shared.seal(shared.files.versions.new_flush_number(), |memtable| {
                for key in 0..1000 {
                    let sequence = 1000 * round + key + 1;
                    memtable.insert(sequence, ValueKind::Value, format!("{key:04}").as_bytes(), &[7; 100]);
                }
            });
            flush(&shared.files, &shared.published, &[sealed]).unwrap();
            if round == 0 {
                kept.push(between(&shared));
            }
        }
        let compactor = Arc::new(Compactor {
            files: Arc::clone(&shared.files),
            published: Arc::clone(&shared.published),
            pool: Some(Arc::new(BackgroundPool::new(env, 2))),
            max_file_size_bytes: 4 << 10,
            gives_up: AtomicBool::new(false),
        });
        (shared, compactor, kept)
    }

    fn plan(shared: &Shared) -> CompactionPlan {
        let options = PickerOptions::new(shared.files.comparator.clone(), 4 << 10, 2.0, None);
        let mut range = RangeCompaction::new(None, None, shared.files.versions.next_file_number());
        let version = shared.files.versions.current();
        match range.next_step(&version, &Reservations::default(), &options) {
            RangeStep::Run(plan) => *plan,
            step => panic!("{step:?}"),
        }
    }

    fn entries(shared: &Shared) -> u64 {
        let version = shared.files.versions.current();
        version.files().map(|file| file.counts().unwrap().entries).sum()
    }

    #[test]
    fn what_nobody_sees_is_left_out_and_the_inputs_go() {
        let (shared, compactor, _) = two_tables(|_| ());
        assert_eq!(entries(&shared), 2000);
        let done = compactor.run(&plan(&shared), 0).unwrap();
        assert_eq!(entries(&shared), 1000);
        let version = shared.files.versions.current();
        assert!(version.levels[0].is_empty() && version.levels[1].len() == done.tables && done.tables > 1);
        shared.published.change(|view| view.version = version);
        shared.files.remove_obsolete_tables();
        assert_eq!(shared.tables().len(), done.tables);
    }

    #[test]
    fn what_a_snapshot_sees_stays() {
        let (shared, compactor, snapshots) = two_tables(|shared| shared.published.snapshot());
        compactor.run(&plan(&shared), 1).unwrap();
        assert_eq!(entries(&shared), 2000);
        drop(snapshots);
    }

    #[test]
    fn a_compaction_that_gives_up_leaves_everything_as_it_was() {
        let (shared, compactor, _) = two_tables(|_| ());
        let before = shared.tables();
        compactor.gives_up.store(true, Ordering::Relaxed);
        for helpers in [0, 1] {
            let failure = compactor.run(&plan(&shared), helpers).unwrap_err();
            assert_eq!(failure.kind(), ErrorKind::Closed);
            assert_eq!((shared.tables(), entries(&shared)), (before.clone(), 2000));
        }
    }
}
