//! The tables that flushes and compactions write. Predecessors: `flush`, `compaction/job`. Successor: `table/builder`.

use std::path::PathBuf;
use std::sync::Arc;

use terrace_format::file_name;
use terrace_format::table::TableCounts;
use terrace_format::version_edit::FileEntry;

use crate::db::inner::DbInner;
use crate::error::Result;
use crate::table::{TableBuilder, TableBuilderOptions};

/// A finished output of a compaction.
pub(crate) struct Output {
    pub(crate) entry: FileEntry,
    pub(crate) counts: TableCounts,
}

impl DbInner {
    /// Removes table files that no version lists.
    pub(crate) fn remove_tables(&self, numbers: &[u64]) {
        for number in numbers {
            let _ = self.env.remove_file(&self.directory.join(file_name::table_name(*number)));
        }
    }
}

/// Splits what a compaction writes into tables.
pub(crate) struct OutputWriter<'a> {
    db: &'a Arc<DbInner>,
    open: Option<OpenOutput>,
    finished: Vec<Output>,
}

struct OpenOutput {
    number: u64,
    builder: TableBuilder,
}

impl<'a> OutputWriter<'a> {
    pub(crate) fn new(db: &'a Arc<DbInner>) -> Self {
        Self { db, open: None, finished: Vec::new() }
    }

    /// Size of the table under construction, in bytes.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.builder.estimated_size_bytes())
    }

    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let open = match &mut self.open {
            Some(open) => open,
            None => {
                let db = self.db;
                let number = db.versions.new_file_number();
                let path: PathBuf = db.directory.join(file_name::table_name(number));
                let file = db.env.create(&path)?;
                let options = TableBuilderOptions::of(&db.options);
                let builder = TableBuilder::new(file, path, db.comparator.clone(), options);
                self.open.insert(OpenOutput { number, builder })
            }
        };
        open.builder.add(key, value)
    }

    pub(crate) fn finish_table(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let number = open.number;
        match open.builder.finish() {
            Ok(finished) => {
                let counts = finished.counts;
                self.finished.push(Output { entry: finished.into_entry(number), counts });
                Ok(())
            }
            Err(error) => {
                self.db.remove_tables(&[number]);
                Err(error)
            }
        }
    }

    /// The tables, or the error that ended the work; then none of them is left.
    pub(crate) fn end(self, result: Result<()>) -> Result<Vec<Output>> {
        let Err(error) = result else { return Ok(self.finished) };
        let mut numbers: Vec<u64> = self.finished.iter().map(|output| output.entry.number).collect();
        numbers.extend(self.open.as_ref().map(|open| open.number));
        drop(self.open);
        self.db.remove_tables(&numbers);
        Err(error)
    }
}
