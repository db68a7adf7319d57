//! Merges tables whose levels are unknown into tables of one level. Predecessor: tables that are all intact, whether
//! found, salvaged or written from logs. Successor: the new MANIFEST.
//!
//! Sequence numbers decide which version of a key is the newest, whichever table it is in; LevelDB's own repair trusts
//! file numbers instead. Only the newest version of each key stays, and a deletion is dropped once it has hidden all
//! older versions.
//!
//! Tables that do not overlap are read one after the other as one run, so that few files are open at a time. If there
//! are still too many runs, some are merged first, and their deletions are kept.

use std::sync::Arc;

use terrace_format::internal_key::{MAX_SEQUENCE_NUMBER, SequenceNumber, parse_internal_key, user_key};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::version_edit::FileEntry;

use crate::compaction::drop_rule::DropRule;
use crate::compaction::picker::LEVEL1_SIZE_BYTES;
use crate::error::{Error, Result};
use crate::iterator::InternalIterator;
use crate::read::merging_iterator::MergingIterator;
use crate::repair::repairer::{Repairer, WrittenTable, read_options};
use crate::version::file_meta::{FileMeta, FileOrigin, ObsoleteFiles};
use crate::version::level_iterator::LevelIterator;
use crate::version::table_cache::TableCache;

/// The number of runs merged at a time. Each run holds a file open.
const MAX_RUNS: usize = 64;

/// What a merge wrote.
#[derive(Debug, Default)]
pub(super) struct Merged {
    /// In key order.
    pub(super) tables: Vec<WrittenTable>,
    /// The newest sequence met, including dropped entries.
    pub(super) last_sequence: SequenceNumber,
}

/// Merges all of `files`.
pub(super) fn merge(repairer: &Repairer, files: Vec<FileEntry>) -> Result<Merged> {
    let mut runs = into_runs(repairer, files);
    let mut last_sequence = 0;
    while runs.len() > MAX_RUNS {
        let first = runs.drain(..MAX_RUNS).collect();
        let merged = merge_runs(repairer, first, false)?;
        last_sequence = last_sequence.max(merged.last_sequence);
        runs.push(merged.tables.into_iter().map(|table| table.file).collect());
    }
    let merged = merge_runs(repairer, runs, true)?;
    Ok(Merged { last_sequence: last_sequence.max(merged.last_sequence), ..merged })
}

/// The level at which `size_bytes` of tables are not too many.
pub(super) fn level_for(size_bytes: u64) -> usize {
    let mut level = 1;
    let mut capacity_bytes = LEVEL1_SIZE_BYTES;
    while level + 1 < LEVEL_COUNT && size_bytes > capacity_bytes {
        level += 1;
        capacity_bytes = capacity_bytes.saturating_mul(10);
    }
    level
}

/// Distributes the files over as few runs as possible. The files of a run follow each other without overlap.
fn into_runs(repairer: &Repairer, mut files: Vec<FileEntry>) -> Vec<Vec<FileEntry>> {
    let comparator = &repairer.comparator;
    files.sort_by(|a, b| comparator.compare(&a.smallest, &b.smallest));
    let mut runs: Vec<Vec<FileEntry>> = Vec::new();
    for file in files {
        let fits = |run: &&mut Vec<FileEntry>| {
            run.last().is_some_and(|last| {
                comparator.user().compare(user_key(&last.largest), user_key(&file.smallest)).is_lt()
            })
        };
        match runs.iter_mut().find(fits) {
            Some(run) => run.push(file),
            None => runs.push(vec![file]),
        }
    }
    runs
}

fn merge_runs(repairer: &Repairer, runs: Vec<Vec<FileEntry>>, is_everything: bool) -> Result<Merged> {
    let mut entries = open_runs(repairer, runs);
    let user = repairer.comparator.user().clone();
    let mut rule = DropRule::new(user.clone(), vec![MAX_SEQUENCE_NUMBER]);
    let max_file_size_bytes = repairer.options.max_file_size_bytes;
    let directory = repairer.directory.clone();
    let mut merged = Merged::default();
    let mut last_user_key: Option<Vec<u8>> = None;
    let mut table = repairer.begin_table();
    entries.seek_to_first()?;
    while entries.valid() {
        let parsed =
            parse_internal_key(entries.key()).map_err(|error| Error::format(&directory, 0, error))?;
        merged.last_sequence = merged.last_sequence.max(parsed.sequence);
        if last_user_key.as_deref().is_none_or(|last| user.compare(last, parsed.user_key).is_ne()) {
            let last = last_user_key.get_or_insert_with(Vec::new);
            last.clear();
            last.extend_from_slice(parsed.user_key);
            if table.size_bytes() >= max_file_size_bytes {
                merged.tables.extend(table.finish()?);
            }
        }
        if !rule.may_drop(&parsed, |_| is_everything) {
            table.add(entries.key(), entries.value())?;
        }
        entries.next()?;
    }
    merged.tables.extend(table.finish()?);
    Ok(merged)
}

fn open_runs(repairer: &Repairer, runs: Vec<Vec<FileEntry>>) -> MergingIterator {
    let (env, directory) = (Arc::clone(&repairer.env), repairer.directory.clone());
    let context = Arc::clone(&repairer.context);
    let tables = Arc::new(TableCache::new(env, directory, repairer.options.max_open_files, context));
    let queue = Arc::new(ObsoleteFiles::new());
    let mut children: Vec<Box<dyn InternalIterator>> = Vec::new();
    for run in runs {
        let files = run.into_iter().map(|file| {
            Arc::new(FileMeta::new(file, MAX_SEQUENCE_NUMBER, FileOrigin::Recovered, Arc::clone(&queue)))
        });
        let comparator = repairer.comparator.clone();
        let run = LevelIterator::new(comparator, files.collect(), Arc::clone(&tables), read_options());
        children.push(Box::new(run));
    }
    MergingIterator::new(repairer.comparator.clone(), children)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_grows_with_the_data() {
        assert_eq!(level_for(0), 1);
        assert_eq!(level_for(LEVEL1_SIZE_BYTES), 1);
        assert_eq!(level_for(LEVEL1_SIZE_BYTES + 1), 2);
        assert_eq!(level_for(u64::MAX), LEVEL_COUNT - 1);
    }
}
