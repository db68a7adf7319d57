//! Deletes a range of keys, on a thread that may wait: the keys are read as of one moment and deleted in batches of
//! bounded size.

use terrace_engine::{Db, Error, IterOptions, ReadTier, Result, WriteBatch, WriteOptions};

/// Size of a batch of deletions, in bytes: large enough to cost little each, small enough not to hold up other
/// writers or fill memory.
const BATCH_BYTES: usize = 256 << 10;

/// A range to delete.
pub struct Clear {
    /// The range, and the snapshot whose keys are deleted; without one, the newest state.
    pub options: IterOptions,
    /// Whether to begin at the end of the range.
    pub reverse: bool,
    /// The largest number of keys to delete.
    pub limit: u64,
}

impl Clear {
    /// Deletes the keys. If it fails, some may already be deleted.
    pub fn run(mut self, db: &Db) -> Result<()> {
        self.options.read.fill_cache = false;
        self.options.read.tier = ReadTier::Disk;
        let mut keys = db.iter(self.options)?;
        if self.reverse {
            keys.seek_to_last()?;
        } else {
            keys.seek_to_first()?;
        }
        let mut remaining = self.limit;
        while remaining > 0 && keys.valid() {
            let mut batch = WriteBatch::new();
            while remaining > 0 && keys.valid() && batch.approximate_size_bytes() < BATCH_BYTES {
                batch.delete(keys.key()).map_err(Error::refused)?;
                remaining -= 1;
                if self.reverse {
                    keys.prev()?;
                } else {
                    keys.next()?;
                }
            }
            db.write(batch, &WriteOptions::default())?;
        }
        Ok(())
    }
}
