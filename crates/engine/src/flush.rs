//! Writes sealed memtables to tables of level 0. Predecessors: `db/jobs`, which flushes the oldest one first, and `db/finish_open`,
//! which flushes all that an open found together. Successors: `table/builder`, then the version set.
//!
//! A flush writes and syncs the table, then records it in the MANIFEST together with the number of the first log still
//! needed. Then `db/jobs` replaces the memtable by the table in the super version and removes the logs. After a crash
//! between any two steps, either the log or the table is in charge.

use std::sync::Arc;

use terrace_format::compression::Compression;
use terrace_format::internal_key::{parse_internal_key, user_key};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::version_edit::VersionEdit;

use crate::compaction::drop_rule::DropRule;
use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::files::{Files, Output};
use crate::iterator::InternalIterator;
use crate::memtable::MemTable;
use crate::read::published::Published;
use crate::read::super_version::SealedMemTable;
use crate::version::file_meta::FileMeta;

/// Writes each of `sealed`, which must be the oldest sealed memtables, oldest first, to a table, and records all tables in
/// one edit. Returns the tables; there is none of a memtable in which nothing needs to be kept. Only one flush may run at
/// a time.
pub(crate) fn flush(
    files: &Files,
    published: &Published,
    sealed: &[Arc<SealedMemTable>],
) -> Result<Vec<Output>> {
    let Some(newest) = sealed.last() else { return Ok(Vec::new()) };
    files.versions.resolve_failed_change()?;
    files.decide_dialect(&sealed.iter().rev().map(|sealed| &*sealed.table).collect::<Vec<_>>());
    let mut tables: Vec<Output> = Vec::new();
    for memtable in sealed {
        match write_level0_table(files, published, &memtable.table, memtable.file_number) {
            Ok(table) => tables.extend(table),
            Err(error) => {
                files.versions.remove_tables(tables.iter().map(|table| table.entry.number));
                return Err(error);
            }
        }
    }
    let edit = VersionEdit {
        log_number: Some(newest.next_log_number),
        last_sequence: Some(newest.last_sequence),
        new_files: tables.iter().map(|table| (0, table.entry.clone())).collect(),
        ..VersionEdit::default()
    };
    files.versions.apply(edit, &tables.iter().map(Output::counted).collect::<Vec<_>>())?;
    let is_new = |file: &&Arc<FileMeta>| tables.iter().any(|table| table.entry.number == file.number);
    files.versions.current().levels[0].iter().filter(is_new).for_each(|file| file.note_left_number());
    Ok(tables)
}

fn write_level0_table(
    files: &Files,
    published: &Published,
    memtable: &Arc<MemTable>,
    number: u64,
) -> Result<Option<Output>> {
    let mut rule = DropRule::new(files.comparator.user().clone(), published.reader_sequences());
    let mut entries = memtable.iter();
    entries.seek_to_last()?;
    if !entries.valid() {
        return Ok(None);
    }
    let last_user_key = user_key(entries.key()).to_vec();
    entries.seek_to_first()?;
    let mut options = files.table_options.clone();
    // A world's tables show that it is a world: the next session decides by them.
    let is_bedrocks = files.dialect.get() == Some(&Dialect::Bedrock);
    if !is_bedrocks && will_be_merged_soon(files, user_key(entries.key()), &last_user_key) {
        options.compression = Compression::None;
    }
    let path = files.table_path(number);
    // If this fails, what was written is removed. The log still holds all of it.
    let mut table = files.create_table_with(number, options)?;
    while entries.valid() {
        let parsed = parse_internal_key(entries.key()).map_err(|error| Error::format(&path, 0, error))?;
        if !rule.may_drop(&parsed, |_| false) {
            table.add(entries.key(), entries.value())?;
        }
        entries.next()?;
    }
    table.finish().map(Some)
}

/// Whether a table of level 0 with this range will soon be merged with others. Compressing it now and decompressing it
/// then would cost more than the space that it takes meanwhile. A table that overlaps nothing is moved down unchanged.
fn will_be_merged_soon(files: &Files, first_user_key: &[u8], last_user_key: &[u8]) -> bool {
    let version = files.versions.current();
    (0..LEVEL_COUNT).any(|level| version.overlaps(level, Some(first_user_key), Some(last_user_key)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use terrace_env::simulated::{CallKind, Failure, FaultPlan, Mode};
    use terrace_env::{Env, MemoryEnv, SimulatedEnv};
    use terrace_format::internal_key::ValueKind;

    use super::*;
    use crate::error::ErrorKind;
    use crate::testing::Shared;

    fn seal(shared: &Shared, entries: &[(u64, &str)]) -> Arc<SealedMemTable> {
        shared.published.publish(entries.iter().map(|entry| entry.0).max().unwrap_or_default());
        shared.seal(shared.files.versions.new_flush_number(), |memtable| {
            for (sequence, key) in entries {
                memtable.insert(*sequence, ValueKind::Value, key.as_bytes(), b"v");
            }
        })
    }

    #[test]
    fn a_memtable_becomes_one_table_of_level_0_with_what_somebody_sees() {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::with_steps());
        let shared = Shared::new(&env);
        let sealed = seal(&shared, &[(1, "a"), (2, "a"), (3, "b")]);
        let tables = flush(&shared.files, &shared.published, &[Arc::clone(&sealed)]).unwrap();
        let described: Vec<_> =
            tables.iter().map(|table| (table.entry.number, table.counts.entries)).collect();
        assert_eq!(described, [(sealed.file_number, 2)]);
        let version = shared.files.versions.current();
        assert_eq!(
            version.levels[0].iter().map(|file| file.number).collect::<Vec<_>>(),
            [sealed.file_number]
        );
        assert_eq!(shared.files.versions.last_sequence(), 3);
    }

    #[test]
    fn an_empty_memtable_becomes_no_table() {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::with_steps());
        let shared = Shared::new(&env);
        let sealed = seal(&shared, &[]);
        assert!(flush(&shared.files, &shared.published, &[sealed]).unwrap().is_empty());
        assert!(shared.tables().is_empty());
    }

    #[test]
    fn several_memtables_become_tables_in_one_edit_or_not_at_all() {
        let env = SimulatedEnv::new(1, Mode::StrictPosix);
        let shared = Shared::new(&(Arc::new(env.clone()) as Arc<dyn Env>));
        let sealed = [seal(&shared, &[(1, "a")]), seal(&shared, &[(2, "a"), (3, "b")])];
        env.fail_at(FaultPlan::new(2, Failure::NoSpace).of(CallKind::Create).on(".ldb"));
        let failure = flush(&shared.files, &shared.published, &sealed).unwrap_err();
        assert_eq!(failure.kind(), ErrorKind::DiskFull);
        assert!(env.has_failed() && shared.tables().is_empty());
        assert_eq!(shared.files.versions.last_sequence(), 0);

        let before = env.counts();
        assert_eq!(flush(&shared.files, &shared.published, &sealed).unwrap().len(), 2);
        assert_eq!(env.counts().since(&before).of(CallKind::Sync), 3, "two tables and a MANIFEST");
        assert_eq!(shared.files.versions.last_sequence(), 3);
    }

    #[test]
    fn a_flush_that_fails_leaves_no_table_behind() {
        for kind in [CallKind::Write, CallKind::Sync, CallKind::Close] {
            let env = SimulatedEnv::new(1, Mode::StrictPosix);
            let shared = Shared::new(&(Arc::new(env.clone()) as Arc<dyn Env>));
            let sealed = seal(&shared, &[(1, "a")]);
            env.fail_at(FaultPlan::new(1, Failure::Io).of(kind).on(".ldb"));
            let failure = flush(&shared.files, &shared.published, &[sealed]).unwrap_err();
            assert_eq!(failure.kind(), ErrorKind::Io);
            assert!(env.has_failed() && shared.tables().is_empty(), "{kind:?}");
            assert_eq!(shared.files.versions.current().files().count(), 0);
        }
    }
}
