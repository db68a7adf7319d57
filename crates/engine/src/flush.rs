//! Writes sealed memtables to tables of level 0, oldest first. Predecessor: `write/commit`. Successors:
//! `table/builder`, then the version set.
//!
//! Steps: write and sync the table; record it in the MANIFEST together with the number of the first log still
//! needed; replace memtable by table in the super version; remove the logs. A crash between any two steps leaves
//! either the log or the table in charge, never neither.

use std::path::Path;
use std::sync::Arc;

use terrace_format::compression::Compression;
use terrace_format::file_name;
use terrace_format::internal_key::{parse_internal_key, user_key};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::version_edit::VersionEdit;

use crate::compaction::drop_rule::DropRule;
use crate::db::inner::DbInner;
use crate::error::{Error, Result};
use crate::iterator::InternalIterator;
use crate::memtable::MemTable;
use crate::read::super_version::SealedMemTable;
use crate::table::{FinishedTable, TableBuilder, TableBuilderOptions};

impl DbInner {
    /// Flushes `sealed`, which must be the oldest. Runs on one thread at a time.
    pub(crate) fn flush_sealed(self: &Arc<Self>, sealed: &Arc<SealedMemTable>) -> Result<()> {
        let started = self.env.monotonic_micros();
        let unneeded = std::mem::take(&mut self.background.lock().logs_to_close);
        // Before the table is written: on a full disk it may need the room.
        drop(unneeded);
        self.versions.settle()?;
        let path = self.directory.join(file_name::table_name(sealed.file_number));
        let finished = self.write_level0_table(&sealed.table, &path)?;
        let mut edit = VersionEdit {
            log_number: Some(sealed.next_log_number),
            last_sequence: Some(sealed.last_sequence),
            ..VersionEdit::default()
        };
        let size_bytes = finished.as_ref().map_or(0, |finished| finished.size_bytes);
        let counts: Vec<_> = finished.iter().map(|finished| (sealed.file_number, finished.counts)).collect();
        edit.new_files.extend(finished.map(|finished| (0, finished.into_entry(sealed.file_number))));
        self.record(edit, &counts)?;

        let micros = self.env.monotonic_micros() - started;
        let mut background = self.background.lock();
        background.stats[0].record(micros, 0, size_bytes);
        background.flushed.add(counts.iter().map(|(_, counts)| counts.raw_bytes()).sum(), micros);
        self.update_super_version(&background, |view| {
            view.replace_by_table(sealed, self.versions.current());
        });
        drop(background);
        self.info_log.line(format_args!(
            "flushed {} entries to table {} ({size_bytes} bytes, {} ms)",
            sealed.table.entries(),
            sealed.file_number,
            micros / 1000
        ));
        self.remove_old_logs();
        Ok(())
    }

    /// Writes a memtable to a table. `None` if nothing in it is worth keeping.
    fn write_level0_table(&self, memtable: &Arc<MemTable>, path: &Path) -> Result<Option<FinishedTable>> {
        let mut rule = DropRule::new(self.comparator.user().clone(), self.reader_sequences());
        let mut entries = memtable.iter();
        entries.seek_to_last()?;
        if !entries.valid() {
            return Ok(None);
        }
        let last_user_key = user_key(entries.key()).to_vec();
        entries.seek_to_first()?;
        let mut options = TableBuilderOptions::of(&self.options);
        if self.will_be_merged_soon(user_key(entries.key()), &last_user_key) {
            options.compression = Compression::None;
        }
        let file = self.env.create(path)?;
        let mut builder = TableBuilder::new(file, path.to_owned(), self.comparator.clone(), options);
        let result = (|| {
            while entries.valid() {
                let parsed =
                    parse_internal_key(entries.key()).map_err(|error| Error::format(path, 0, error))?;
                if !rule.may_drop(&parsed, |_| false) {
                    builder.add(entries.key(), entries.value())?;
                }
                entries.next()?;
            }
            builder.finish()
        })();
        if result.is_err() {
            // What was written is of no use; the log still holds it all.
            let _ = self.env.remove_file(path);
        }
        result.map(Some)
    }

    /// Whether a table of level 0 with this range is merged with others before long: then to compress it now, and
    /// decompress it then, costs more than the space it takes meanwhile. One that overlaps nothing is moved down as it
    /// is.
    fn will_be_merged_soon(&self, first_user_key: &[u8], last_user_key: &[u8]) -> bool {
        let version = self.versions.current();
        (0..LEVEL_COUNT).any(|level| version.overlaps(level, Some(first_user_key), Some(last_user_key)))
    }

    /// Removes logs that hold nothing which is not in tables.
    fn remove_old_logs(&self) {
        let log_number = self.versions.log_number();
        let mut background = self.background.lock();
        let old: Vec<u64> = background.logs.extract_if(.., |number| *number < log_number).collect();
        drop(background);
        for number in old {
            let _ = self.env.remove_file(&self.directory.join(file_name::log_name(number)));
        }
    }
}
