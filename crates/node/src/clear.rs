//! Deleting a range of keys, on a thread that may wait: keys are read at one point in time and deleted in batches
//! of bounded size.

use terrace_engine::{Db, Error, IterOptions, ReadTier, Result, WriteBatch, WriteOptions};

/// Keys are deleted in batches of about this size: large enough to cost little each, small enough that other
/// writers and memory are not held up.
const BATCH_BYTES: usize = 256 << 10;

/// A range to delete.
pub struct Clear {
    /// The range, and the snapshot whose keys are deleted; the newest state if none.
    pub options: IterOptions,
    /// Whether to begin at the end of the range.
    pub reverse: bool,
    /// How many keys to delete at most.
    pub limit: u64,
}

impl Clear {
    /// Deletes the keys. If it fails, some may be deleted.
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
