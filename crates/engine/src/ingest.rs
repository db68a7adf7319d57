//! Ingestion: adds finished tables to a database as one atomic change. Predecessor: `table/file_writer`, or another
//! database's writer. Successor: the version set.
//!
//! Steps, all under the commit token:
//!
//! 1. Flush the memtables, so that nothing older comes into level 0 after the ingested tables.
//! 2. Take one sequence number for all entries, newer than everything in the database. So the entries hide what was there,
//!    and no snapshot sees them.
//! 3. Rewrite the entries with that number into tables of the database's own. The given files are not changed.
//! 4. Record these tables in one edit.

use std::path::PathBuf;
use std::sync::Arc;

use terrace_format::internal_key::{MAX_SEQUENCE_NUMBER, append_internal_key};
use terrace_format::version_edit::VersionEdit;

use crate::db::inner::DbInner;
use crate::error::{Error, ErrorKind, Result};
use crate::files::Output;
use crate::table::{TableFileIterator, TableFileOptions, TableFileReader};
use crate::write::writer::CommitState;

impl DbInner {
    /// See [`Db::ingest`](crate::Db::ingest).
    pub(crate) fn ingest(self: &Arc<Self>, paths: &[PathBuf]) -> Result<()> {
        let sources = self.open_sources(paths)?;
        if sources.is_empty() {
            return Ok(());
        }
        let mut token = self.writer.queue.take_token();
        self.health.check_writable()?;
        if token.last_sequence >= MAX_SEQUENCE_NUMBER {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "the database has too few sequence numbers left; copy its entries into a new database",
            ));
        }
        self.writer.flush_with_token(&mut token)?;
        let sequence = token.last_sequence + 1;
        let mut written = Vec::new();
        let rewritten =
            sources.into_iter().try_for_each(|source| self.rewrite(source, sequence, &mut written));
        if let Err(error) = rewritten {
            self.files.versions.remove_tables(written.iter().map(|output| output.entry.number));
            return Err(error);
        }
        self.install_ingested(&mut token, sequence, &written)
    }

    /// Opens and verifies the files, and sorts them by their keys.
    fn open_sources(&self, paths: &[PathBuf]) -> Result<Vec<TableFileIterator>> {
        let user = self.files.comparator.user();
        let mut ranges: Vec<(Vec<u8>, Vec<u8>, &PathBuf, TableFileIterator)> = Vec::new();
        for path in paths {
            let options = TableFileOptions {
                comparator: user.clone(),
                env: Arc::clone(&self.files.env),
                ..TableFileOptions::default()
            };
            let reader = TableFileReader::open(path, options)?;
            reader.verify()?;
            let mut entries = reader.iter();
            entries.seek_to_last()?;
            if !entries.valid() {
                continue;
            }
            let largest = entries.key().to_vec();
            entries.seek_to_first()?;
            ranges.push((entries.key().to_vec(), largest, path, entries));
        }
        ranges.sort_by(|a, b| user.compare(&a.0, &b.0));
        for pair in ranges.windows(2) {
            if user.compare(&pair[0].1, &pair[1].0).is_ge() {
                let message = format!("the file's keys overlap those of {}", pair[0].2.display());
                return Err(Error::at_path(ErrorKind::InvalidArgument, pair[1].2, message));
            }
        }
        Ok(ranges.into_iter().map(|(_, _, _, entries)| entries).collect())
    }

    /// Writes the newest version of each key in `source` to a new table, with the number `sequence`.
    fn rewrite(&self, mut source: TableFileIterator, sequence: u64, written: &mut Vec<Output>) -> Result<()> {
        let mut table = self.files.create_table(self.files.versions.new_file_number())?;
        let user = self.files.comparator.user();
        let (mut key, mut last_user_key) = (Vec::new(), None::<Vec<u8>>);
        while source.valid() {
            if last_user_key.as_ref().is_none_or(|last| user.compare(last, source.key()).is_ne()) {
                key.clear();
                append_internal_key(&mut key, source.key(), sequence, source.kind());
                table.add(&key, source.value())?;
                last_user_key = Some(source.key().to_vec());
            }
            source.next()?;
        }
        written.push(table.finish()?);
        Ok(())
    }

    fn install_ingested(
        self: &Arc<Self>,
        commit: &mut CommitState,
        sequence: u64,
        written: &[Output],
    ) -> Result<()> {
        let edit = VersionEdit {
            last_sequence: Some(sequence),
            new_files: written.iter().map(|output| (0, output.entry.clone())).collect(),
            ..VersionEdit::default()
        };
        let counts: Vec<_> = written.iter().map(Output::counted).collect();
        self.files.versions.apply(edit, &counts).inspect_err(|error| {
            // An edit that found no room may still be on the disk. The next write gets its sequence number, so the edit
            // must be gone before that.
            if !error.may_pass() || self.files.versions.resolve_failed_change().is_err() {
                self.background.poison(error);
                self.background.note_failure_reported();
            }
        })?;
        commit.last_sequence = sequence;
        let mut background = self.background.lock();
        self.background
            .update_super_version(&background, |view| view.version = self.files.versions.current());
        self.published.publish(sequence);
        self.writer.note_pressure(commit);
        self.background.schedule(&mut background);
        self.files.info_log.line(format_args!("ingested {} tables", written.len()));
        Ok(())
    }
}
