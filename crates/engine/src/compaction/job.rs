//! Runs one compaction. Predecessor: the picker. Successors: `compaction/output`, then the version set.
//!
//! Steps:
//!
//! 1. A trivial move only changes the level in the MANIFEST; nothing is read or written.
//! 2. Otherwise merge the inputs in order of internal keys and leave out what the drop rule allows. Several threads may
//!    do that together, each a part of the range (`compaction/parts`).
//! 3. Cut the output at user keys: when a table is full, or overlaps too much of the level below the output.
//! 4. Record inputs and outputs as one edit, then install the new version. Inputs are deleted once the last reader
//!    that pins them is gone.
//!
//! On failure, or when the database closes, the outputs are removed and nothing has changed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_format::internal_key::{before_all_versions, parse_internal_key, user_key};
use terrace_format::table::TableCounts;
use terrace_format::version_edit::VersionEdit;

use crate::compaction::drop_rule::DropRule;
use crate::compaction::output::{Output, OutputWriter};
use crate::compaction::parts::Part;
use crate::compaction::picker::{CompactionPlan, CompactionReason, max_grandparent_overlap_bytes};
use crate::db::inner::DbInner;
use crate::error::{Error, ErrorKind, Result};
use crate::iterator::InternalIterator;
use crate::options::ReadTier;
use crate::read::merging_iterator::MergingIterator;
use crate::table::BlockReadOptions;
use crate::version::file_meta::FileMeta;
use crate::version::level_iterator::LevelIterator;

impl DbInner {
    /// Runs `plan`, whose range is reserved, and installs the result.
    ///
    /// `helpers`: how many threads of the pool may take part besides this one.
    pub(crate) fn run_compaction(self: &Arc<Self>, plan: &CompactionPlan, helpers: usize) -> Result<()> {
        let started = self.env.monotonic_micros();
        self.versions.settle()?;
        let read_bytes: u64 = plan.inputs.iter().flatten().map(|file| file.size_bytes).sum();
        let mut edit = VersionEdit::default();
        for (depth, files) in plan.inputs.iter().enumerate() {
            let level = if depth == 0 { plan.level } else { plan.output_level };
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
                counts.push((output.entry.number, output.counts));
                edit.new_files.push((plan.output_level, output.entry));
            }
        }
        let outputs: Vec<u64> = counts.iter().map(|(number, _)| *number).collect();
        self.record(edit, &counts)?;
        let micros = self.env.monotonic_micros() - started;
        let mut background = self.background.lock();
        background.stats[plan.output_level].record(micros, read_bytes, written_bytes);
        if plan.reason != CompactionReason::Manual {
            let leaving = if plan.level == 0 { &plan.inputs[0][..] } else { &[] };
            background.level0_drained.add(leaving.iter().map(|file| file.raw_bytes()).sum(), micros);
        }
        self.update_super_version(&background, |view| view.version = self.versions.current());
        drop(background);
        self.info_log.line(format_args!(
            "compacted {} + {} tables of level {} to {} tables of level {} ({:?}; read {read_bytes}, wrote \
             {written_bytes} bytes, {} ms)",
            plan.inputs[0].len(),
            plan.inputs[1].len(),
            plan.level,
            if plan.trivial_move { plan.inputs[0].len() } else { outputs.len() },
            plan.output_level,
            plan.reason,
            micros / 1000
        ));
        Ok(())
    }

    /// Merges what lies in `part` of the plan's range into tables. Leaves none behind if it fails.
    pub(crate) fn write_part(self: &Arc<Self>, mut plan: CompactionPlan, part: &Part) -> Result<Vec<Output>> {
        let mut writer = OutputWriter::new(self);
        let result = self.merge_into(&mut plan, part, &mut writer);
        writer.end(result)
    }

    fn merge_into(
        self: &Arc<Self>,
        plan: &mut CompactionPlan,
        part: &Part,
        writer: &mut OutputWriter<'_>,
    ) -> Result<()> {
        let user = self.comparator.user();
        let mut rule = DropRule::new(user.clone(), self.reader_sequences());
        let mut merged = self.merge_inputs(plan);
        let mut grandparents = GrandparentOverlap::new(plan, self.options.max_file_size_bytes);
        let mut until_check = 0u32;
        match &part.from {
            Some(from) => merged.seek(&before_all_versions(from))?,
            None => merged.seek_to_first()?,
        }
        while merged.valid() {
            if until_check == 0 {
                until_check = 1024;
                if self.background_ends.load(Ordering::Relaxed) {
                    return Err(Error::closed());
                }
            }
            until_check -= 1;
            let key = merged.key();
            let entry = parse_internal_key(key).map_err(|error| Error::format(&self.directory, 0, error))?;
            let verdict = rule.judge(&entry, |user_key| plan.is_base_level_for_key(user_key));
            if verdict.is_new_key {
                if part.to.as_ref().is_some_and(|to| user.compare(entry.user_key, to).is_ge()) {
                    break;
                }
                let full = writer.size_bytes() >= self.options.max_file_size_bytes;
                if grandparents.crossed(self, entry.user_key) || full {
                    writer.finish_table()?;
                }
            }
            if !verdict.drop {
                writer.add(key, merged.value())?;
            }
            merged.next()?;
        }
        writer.finish_table()
    }

    fn merge_inputs(&self, plan: &CompactionPlan) -> MergingIterator<LevelIterator> {
        let options = BlockReadOptions { verify_checksums: true, fill_cache: false, tier: ReadTier::Disk };
        let mut children = Vec::new();
        let mut merge = |files: &[Arc<FileMeta>]| {
            let (comparator, tables) = (self.comparator.clone(), Arc::clone(&self.tables));
            children.push(LevelIterator::new(comparator, files.to_vec(), tables, options));
        };
        for (depth, files) in plan.inputs.iter().enumerate() {
            let level = if depth == 0 { plan.level } else { plan.output_level };
            if level == 0 {
                files.chunks(1).for_each(&mut merge);
            } else if !files.is_empty() {
                merge(files);
            }
        }
        MergingIterator::new(self.comparator.clone(), children)
    }

    /// The sequences at which somebody reads or will read, ascending.
    pub(crate) fn reader_sequences(&self) -> Vec<u64> {
        self.snapshots.readers(self.published.visible())
    }

    /// Records `edit`, which names new tables. They are removed if it is certain that the MANIFEST does not name
    /// them; after a failed write it may, and they stay until the version set has settled that, or the next open.
    pub(crate) fn record(&self, edit: VersionEdit, counts: &[(u64, TableCounts)]) -> Result<()> {
        let Err(error) = self.versions.apply(edit, counts) else { return Ok(()) };
        if matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::ReadOnly | ErrorKind::Poisoned) {
            let numbers: Vec<u64> = counts.iter().map(|(number, _)| *number).collect();
            self.remove_tables(&numbers);
        }
        Err(error)
    }
}

/// Keeps an output table from overlapping so much of the level below that its own compaction would be large.
struct GrandparentOverlap {
    /// Largest user key and size of the grandparents, in order.
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

    /// Takes note that the output goes on with `key`. Whether it should begin a new table before it.
    fn crossed(&mut self, db: &DbInner, key: &[u8]) -> bool {
        while let Some((largest, size_bytes)) = self.files.get(self.next) {
            if db.comparator.user().compare(key, largest).is_le() {
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
