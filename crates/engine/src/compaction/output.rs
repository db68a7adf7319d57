//! The tables that one thread of a compaction writes, one after another. Predecessor: `compaction/job`. Successor:
//! `files`.

use crate::error::Result;
use crate::files::{Files, NewTable, Output};
use crate::iterator::InternalIterator;
use crate::table::LARGE_VALUE_BYTES;

/// Splits the output of a compaction into tables.
pub(crate) struct OutputWriter<'a> {
    files: &'a Files,
    /// The number of the first table; further ones get new numbers.
    first_number: Option<u64>,
    open: Option<NewTable<'a>>,
    finished: Vec<Output>,
}

impl<'a> OutputWriter<'a> {
    pub(crate) fn new(files: &'a Files, first_number: Option<u64>) -> Self {
        Self { files, first_number, open: None, finished: Vec::new() }
    }

    /// The size of the table under construction, in bytes.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.open.as_ref().map_or(0, NewTable::estimated_size_bytes)
    }

    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.open_table()?.add(key, value)
    }

    /// Adds the current entry of `entries`. A large value that already has a compressed block to itself is copied as
    /// stored.
    #[inline]
    pub(crate) fn add_current(&mut self, entries: &impl InternalIterator) -> Result<()> {
        let (key, value) = (entries.key(), entries.value());
        let stored = if value.len() < LARGE_VALUE_BYTES { None } else { entries.stored_block() };
        match stored {
            Some(block) => self.open_table()?.add_stored(key, value, block),
            None => self.add(key, value),
        }
    }

    #[inline]
    fn open_table(&mut self) -> Result<&mut NewTable<'a>> {
        if self.open.is_none() {
            let number = self.first_number.take().unwrap_or_else(|| self.files.versions.new_file_number());
            self.open = Some(self.files.create_table(number)?);
        }
        Ok(self.open.as_mut().expect("it was just opened"))
    }

    pub(crate) fn finish_table(&mut self) -> Result<()> {
        if let Some(open) = self.open.take() {
            self.finished.push(open.finish()?);
        }
        Ok(())
    }

    /// Returns the tables, or the error that ended the work. On an error none of the tables is left.
    pub(crate) fn end(self, result: Result<()>) -> Result<Vec<Output>> {
        let Err(error) = result else { return Ok(self.finished) };
        self.files.versions.remove_tables(self.finished.iter().map(|output| output.entry.number));
        Err(error)
    }
}
