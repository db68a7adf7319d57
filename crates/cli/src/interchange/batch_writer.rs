//! Writes many operations in batches.

use terrace_engine::{Db, WriteBatch, WriteOptions};

use crate::failure::Failure;
use crate::progress::Progress;

/// A batch is written once it has this many bytes.
const BATCH_BYTES: usize = 256 << 10;

/// Collects operations and writes them in batches.
pub(crate) struct BatchWriter<'a> {
    db: &'a Db,
    progress: &'a Progress,
    batch: WriteBatch,
    written: u64,
}

impl<'a> BatchWriter<'a> {
    pub(crate) fn new(db: &'a Db, progress: &'a Progress) -> Self {
        Self { db, progress, batch: WriteBatch::new(), written: 0 }
    }

    /// Stores an entry, now or with one of the next batches.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        self.batch.put(key, value).map_err(terrace_engine::Error::refused)?;
        self.write_if_full()
    }

    /// Removes a key, now or with one of the next batches.
    pub(crate) fn delete(&mut self, key: &[u8]) -> Result<(), Failure> {
        self.batch.delete(key).map_err(terrace_engine::Error::refused)?;
        self.write_if_full()
    }

    fn write_if_full(&mut self) -> Result<(), Failure> {
        if self.batch.approximate_size_bytes() >= BATCH_BYTES { self.write(false) } else { Ok(()) }
    }

    /// Writes the collected operations. With `sync`, everything so far survives a power cut on return.
    pub(crate) fn write(&mut self, sync: bool) -> Result<(), Failure> {
        let batch = std::mem::take(&mut self.batch);
        let operations = u64::from(batch.count());
        self.db.write(batch, &WriteOptions { sync })?;
        self.written += operations;
        self.progress.advance(operations);
        Ok(())
    }

    /// Writes the rest and syncs; returns the number of all operations.
    pub(crate) fn finish(mut self) -> Result<u64, Failure> {
        self.write(true)?;
        Ok(self.written)
    }
}
