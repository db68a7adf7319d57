//! The database handle: every public operation, and where it goes from here.

pub(crate) mod close;
pub(crate) mod home;
pub(crate) mod inner;
mod jobs;
pub(crate) mod left_out_log;
pub(crate) mod open;
pub(crate) mod properties;
mod read_only;
pub(crate) mod settle;
mod view;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_format::batch::WriteBatch;

use crate::db::inner::DbInner;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{IterOptions, Options, ReadOptions, WriteOptions};
use crate::read::db_iterator::DbIterator;
use crate::read::get::{Found, Pinned};
use crate::read::snapshot::Snapshot;
use crate::repair::report::RepairReport;
use crate::write::submit::WriteDone;

/// An open database. Clones share it; it closes when the last clone drops, or by [`close`](Self::close).
///
/// Every method may be called from any thread. Durability: a write that returned survives the death of the
/// process; with [`WriteOptions::sync`] also a loss of power.
///
/// It stays with its directory: where the directory is moved while the database is open, the database goes on in it, and leaves alone
/// what is made at the old place. So a relative path means the directory that it led to at the opening, whatever `chdir` does later.
///
/// It belongs to the process that opened it. In a forked child it is refused ([`ErrorKind::Forked`]), iterators as well: what
/// the child has are copies of memory, in which locks that other threads held at the fork stay held for good. The child may
/// drop it, which touches neither files nor the lock, and open the directory anew as any other process may.
///
/// ```
/// use terrace_engine::{Db, Options, ReadOptions, WriteOptions};
///
/// let directory = tempfile::tempdir()?;
/// let db = Db::open(directory.path(), Options::default())?;
/// db.put(b"fig", b"purple", &WriteOptions::default())?;
/// assert_eq!(db.get(b"fig", &ReadOptions::default())?.as_deref(), Some(&b"purple"[..]));
/// db.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Db {
    pub(crate) inner: Arc<DbInner>,
    _closer: Arc<Closer>,
}

fn open_any(directory: &Path, options: Options) -> Result<Arc<DbInner>> {
    if options.background_pool.as_ref().is_some_and(|pool| !pool.is_of_this_process()) {
        let message = "the background pool in the options was made before this process was forked; make one in this process";
        return Err(Error::at_path(ErrorKind::Forked, directory, message));
    }
    if options.read_only { read_only::open(directory, options) } else { open::open(directory, options) }
}

/// Closes the database when the last handle drops. Background jobs hold the inner state, never this.
struct Closer(Arc<DbInner>);

impl Drop for Closer {
    fn drop(&mut self) {
        if let Err(error) = self.0.close() {
            self.0.files.info_log.line(format_args!("closing failed: {error}"));
        }
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Db").field("directory", &self.inner.files.directory).finish_non_exhaustive()
    }
}

impl Db {
    /// Opens the database in the directory `path`, and creates it if there is none and
    /// [`Options::create_if_missing`] is on.
    ///
    /// # Errors
    /// `Locked` if the directory is open elsewhere, `NoDatabase`, `AlreadyExists`, `InvalidArgument` for a comparator
    /// that is not the database's, `Corruption` and `Unsupported` naming file and offset.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let inner = open_any(path.as_ref(), options)?;
        Ok(Self { _closer: Arc::new(Closer(Arc::clone(&inner))), inner })
    }

    /// The directory the database is in, as it was named at the opening.
    pub fn path(&self) -> &Path {
        &self.inner.files.directory
    }

    /// The options it was opened with.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// The value of `key`.
    pub fn get(&self, key: &[u8], options: &ReadOptions) -> Result<Option<Vec<u8>>> {
        self.read(key, options, |found| found.bytes().to_vec())
    }

    /// The value of `key`, without a copy where it lies in a cached block.
    pub fn get_pinned(&self, key: &[u8], options: &ReadOptions) -> Result<Option<Pinned>> {
        self.read(key, options, |found| match found {
            Found::InMemtable(value) => Pinned::Copied(value.to_vec()),
            Found::InTable(value) => Pinned::Block(value.pin()),
        })
    }

    /// Calls `found` with the value of `key`, in place: nothing is copied or allocated.
    pub fn get_with<R>(
        &self,
        key: &[u8],
        options: &ReadOptions,
        found: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>> {
        self.read(key, options, |value| found(value.bytes()))
    }

    /// Calls `found` with the value of each key, or with `None`, in the order of the keys. All are read from one state, and
    /// together in less time than one by one.
    ///
    /// # Errors
    /// As [`get`](Self::get); `found` was then called for some of the keys.
    pub fn get_many_with<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        options: &ReadOptions,
        mut found: impl FnMut(Option<&[u8]>),
    ) -> Result<()> {
        let inner = &*self.inner;
        if !inner.options.read_only || options.snapshot.is_some() {
            return inner.get_many(keys, options, found);
        }
        // A read that has to move on begins anew, so that nothing may have been handed over.
        let values = inner.read_moving_on(|| {
            let mut values = Vec::with_capacity(keys.len());
            inner.get_many(keys, options, |value| values.push(value.map(<[u8]>::to_vec)))?;
            Ok(values)
        })?;
        values.iter().for_each(|value| found(value.as_deref()));
        Ok(())
    }

    fn read<R>(
        &self,
        key: &[u8],
        options: &ReadOptions,
        found: impl FnOnce(Found<'_>) -> R,
    ) -> Result<Option<R>> {
        let mut found = Some(found);
        match self.inner.get(key, options, &mut found) {
            Err(error) if error.kind() == ErrorKind::Outdated && options.snapshot.is_none() => {
                self.inner.read_moving_on(|| self.inner.get(key, options, &mut found))
            }
            result => result,
        }
    }

    /// Stores `value` under `key`.
    pub fn put(&self, key: &[u8], value: &[u8], options: &WriteOptions) -> Result<()> {
        self.inner.writer.write_one(options.sync, |batch| batch.put(key, value))
    }

    /// Removes `key`. It is no error if there is none.
    pub fn delete(&self, key: &[u8], options: &WriteOptions) -> Result<()> {
        self.inner.writer.write_one(options.sync, |batch| batch.delete(key))
    }

    /// Writes all operations of `batch`, or none of them. A batch holds up to 3 GiB
    /// ([`MAX_BATCH_SIZE_BYTES`](terrace_format::limits::MAX_BATCH_SIZE_BYTES)): adding more to it is refused. Waits for its turn, for room, and for the disk if
    /// [`WriteOptions::sync`] asks for that.
    pub fn write(&self, batch: WriteBatch, options: &WriteOptions) -> Result<()> {
        self.inner.writer.write(batch, options.sync)
    }

    /// Like [`write`](Self::write), but only if it need not wait for anything. Returns `false`, with nothing done,
    /// if it would have to: use [`submit`](Self::submit) then.
    pub fn try_write(&self, batch: &mut WriteBatch, options: &WriteOptions) -> Result<bool> {
        self.inner.health.check_writable()?;
        if batch.is_empty() {
            return Ok(true);
        }
        if options.sync || !self.inner.submissions.is_idle() {
            return Ok(false);
        }
        self.inner.writer.try_write(batch)
    }

    /// Queues a write and returns at once. Submitted writes are committed in order by a thread of the database's
    /// own; those that wait at the same time share one sync. `done` is called there with the result; a write that is refused
    /// at once, since the database is closed or poisoned, is answered here, perhaps before earlier ones.
    pub fn submit(&self, batch: WriteBatch, options: WriteOptions, done: WriteDone) {
        if let Err(error) = self.inner.health.check_writable() {
            done(Err(error));
        } else {
            self.inner.submissions.submit(batch, options, done);
        }
    }

    /// The present state, to read from later by [`ReadOptions::snapshot`].
    pub fn snapshot(&self) -> Snapshot {
        let inner = &*self.inner;
        if !inner.options.read_only {
            return inner.published.snapshot();
        }
        inner.published.pinned_snapshot()
    }

    /// Shows, where the database was opened read-only, what others have written since: the newest state is read as at the
    /// opening. Reads from then on work on it; snapshots and iterators that are there keep the state that they show. A
    /// database that is open for writing always shows the newest state, and this does nothing.
    ///
    /// # Errors
    /// Those of opening, `Closed`, and `Outdated` if the writer changed the state during each of many attempts to read it.
    /// The state that was shown before is then shown still.
    pub fn refresh(&self) -> Result<()> {
        self.inner.refresh()
    }

    /// A cursor over the present state, or over that of a snapshot. It keeps its view, and the files it needs,
    /// until it drops.
    pub fn iter(&self, options: IterOptions) -> Result<DbIterator> {
        let view = self.inner.view(&options.read)?;
        let renewal = self.inner.renewal(&options.read);
        Ok(DbIterator::over(view, &self.inner.files.comparator, options.bounds, renewal))
    }

    /// About how many bytes the keys from `start` to before `end` take: on disk after compression, and in memory, as keys
    /// and values, what is not in tables yet. (LevelDB counts only the former.) An estimate: of a table to a block's size,
    /// of a large memtable to about one part in four thousand.
    pub fn approximate_size(&self, start: &[u8], end: &[u8]) -> Result<u64> {
        self.inner.read_moving_on(|| self.inner.approximate_size(start, end))
    }

    /// Writes what is in memory to tables, and waits until that is done.
    pub fn flush(&self) -> Result<()> {
        self.inner.health.check_writable()?;
        self.inner.writer.flush()
    }

    /// Compacts the keys from `begin` to `end`, both included; `None` is an open end. Afterwards each key in the
    /// range is in one table, and deleted ones take no space, unless a snapshot still sees them. One call is
    /// enough.
    pub fn compact_range(&self, begin: Option<&[u8]>, end: Option<&[u8]>) -> Result<()> {
        self.inner.health.check_writable()?;
        self.inner.compact_range(begin, end)
    }

    /// Adds finished tables, as written by [`TableFileWriter`](crate::TableFileWriter), as one atomic change. Their
    /// entries are newer than everything in the database. The files are copied; they stay as they are.
    ///
    /// # Errors
    /// `InvalidArgument` if the files' keys overlap each other; `Corruption` if a file is damaged. Nothing is added
    /// then.
    pub fn ingest(&self, paths: &[PathBuf]) -> Result<()> {
        self.inner.health.check_writable()?;
        self.inner.ingest(paths)
    }

    /// Writes a consistent copy of the database to the directory `target`, which must be empty or not exist. Tables are
    /// hard-linked where the file system can, so it is quick and takes little space. Writes go on meanwhile; the copy
    /// holds all that were acknowledged before the call. It survives a loss of power once this returns.
    ///
    /// # Errors
    /// `InvalidArgument` if there is something in the directory; `Io` and `DiskFull`.
    pub fn checkpoint(&self, target: impl AsRef<Path>) -> Result<()> {
        self.inner.health.check_writable()?;
        self.inner.checkpoint(target.as_ref())
    }

    /// Reads every table from end to end and checks checksums, order and filters.
    ///
    /// # Errors
    /// The first damage found, naming file and offset. Of a database that was opened read-only also the place in a log from
    /// which on an open leaves out what follows ([`left_out_log`](Self::left_out_log)).
    pub fn verify(&self) -> Result<()> {
        self.inner.read_moving_on(|| self.inner.verify())
    }

    /// What the open left out of the logs, if anything: see [`LeftOutLog`](left_out_log::LeftOutLog).
    pub fn left_out_log(&self) -> Option<&left_out_log::LeftOutLog> {
        self.inner.left_out.as_ref()
    }

    /// Does for one table what [`verify`](Self::verify) does for all, to be called for each of [`tables`](Self::tables), by
    /// one thread or by several.
    ///
    /// # Errors
    /// The first damage found in it, naming file and offset; `InvalidArgument` if the database has no such table (any
    /// more).
    pub fn verify_table(&self, number: u64) -> Result<()> {
        self.inner.health.check_open()?;
        self.inner.verify_table(number)
    }

    /// The tables that the database consists of now, by level; level 0 from the newest to the oldest, the others by key.
    ///
    /// # Errors
    /// `Closed`.
    pub fn tables(&self) -> Result<Vec<properties::TableInfo>> {
        self.inner.health.check_open()?;
        Ok(self.inner.tables())
    }

    /// Removes the database in the directory `path` from disk; other files in it stay. It is no error if there is none.
    ///
    /// # Errors
    /// `Locked` if it is open.
    pub fn destroy(path: impl AsRef<Path>, options: &Options) -> Result<()> {
        crate::destroy::destroy(path.as_ref(), options)
    }

    /// Makes the database in the directory `path` openable again after damage, with everything that is intact.
    ///
    /// While the MANIFEST can be read, tables keep their levels; damaged tables and logs are replaced by what could be
    /// read from them, block by block and record by record. Without a MANIFEST all tables and logs are merged by
    /// sequence number. What is damaged or unused is moved to the directory `lost` in the database's directory, never deleted.
    /// Where an older value may show because a newer one is lost, the report says so. An undamaged database keeps every
    /// entry.
    ///
    /// The result is durable on return. A repair that fails or is interrupted has changed nothing, or finished all but
    /// removing what it set aside; it can be run again. It needs as much free space as the damaged tables take, or,
    /// without a MANIFEST, as all tables take.
    ///
    /// # Errors
    /// `Locked` if the database is open; `NoDatabase`; `InvalidArgument` for a comparator that is not the database's;
    /// `Unsupported` for a format that is unknown here; `Io` if the disk refuses to read a file: copy the directory to a
    /// sound disk first.
    pub fn repair(path: impl AsRef<Path>, options: &Options) -> Result<RepairReport> {
        crate::repair::repair(path.as_ref(), options)
    }

    /// What the database knows about itself under `name`, or `None` for a name it does not know:
    ///
    /// - `leveldb.num-files-at-level<N>`: tables in level N;
    /// - `leveldb.stats`: a table of work done and bytes moved by level;
    /// - `leveldb.sstables`: every table with its key range;
    /// - `leveldb.approximate-memory-usage`: bytes in memtables and block cache;
    /// - `terrace.left-out-log-bytes`: bytes of logs that the open left out, see [`left_out_log`](Self::left_out_log).
    pub fn property(&self, name: &str) -> Option<String> {
        self.inner.health.check_open().ok()?;
        self.inner.property(name)
    }

    /// Numbers about the database's size and work.
    pub fn stats(&self) -> properties::Stats {
        self.inner.stats()
    }

    /// Runs one waiting background job on the calling thread, where the environment has no threads. Returns
    /// whether there was one.
    pub fn step(&self) -> bool {
        self.inner.health.check_process().is_ok() && self.inner.background.step()
    }

    /// Closes the database: waits for writes and the running flush, abandons compactions (they have changed
    /// nothing yet), syncs the log and releases the directory. Later calls, and a second close, get or do nothing.
    /// Iterators that are still open stay usable.
    ///
    /// In a process that was forked from the one that opened the database this only lets go: the database stays open in the
    /// other one.
    ///
    /// # Errors
    /// What went wrong while closing, or in the background before. The database is closed all the same.
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }
}
