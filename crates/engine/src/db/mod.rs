//! The database handle: every public operation, and where it goes from here.

pub(crate) mod close;
pub(crate) mod inner;
pub(crate) mod open;
pub(crate) mod properties;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use terrace_format::batch::WriteBatch;

use crate::db::inner::DbInner;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{IterOptions, Options, ReadOptions, WriteOptions};
use crate::read::db_iterator::DbIterator;
use crate::read::get::{Found, Pinned, expect, get_with};
use crate::read::lookup::ReadView;
use crate::read::snapshot::Snapshot;
use crate::read::super_version::SuperVersion;
use crate::repair::report::RepairReport;
use crate::table::BlockReadOptions;
use crate::write::commit::Patience;
use crate::write::submit::WriteDone;

/// An open database. Clones share it; it closes when the last clone drops, or by [`close`](Self::close).
///
/// Every method may be called from any thread. Durability: a write that returned survives the death of the
/// process; with [`WriteOptions::sync`] also a loss of power.
///
/// ```
/// use terrace_engine::{Db, Options, ReadOptions, WriteOptions};
///
/// let folder = tempfile::tempdir()?;
/// let db = Db::open(folder.path(), Options::default())?;
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

/// Closes the database when the last handle drops. Background jobs hold the inner state, never this.
struct Closer(Arc<DbInner>);

impl Drop for Closer {
    fn drop(&mut self) {
        if self.0.check_process().is_err() {
            self.0.forget_in_child();
            return;
        }
        if let Err(error) = self.0.close() {
            self.0.info_log.line(format_args!("closing failed: {error}"));
        }
    }
}

/// What an iterator keeps alive. Tables that only it still held are deleted soon after it drops.
struct ViewPin {
    view: Option<Arc<SuperVersion>>,
    _snapshot: Option<Snapshot>,
    db: Weak<DbInner>,
}

impl Drop for ViewPin {
    fn drop(&mut self) {
        let inner = self.db.upgrade();
        if inner.as_ref().is_some_and(|inner| inner.check_process().is_err()) {
            // Letting go of tables takes locks that a thread of the parent may hold for ever.
            std::mem::forget(self.view.take());
            return;
        }
        self.view = None;
        if let Some(inner) = inner {
            inner.remove_obsolete_tables_soon();
        }
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Db").field("folder", &self.inner.folder).finish_non_exhaustive()
    }
}

impl Db {
    /// Opens the database in the folder `path`, and creates it if there is none and
    /// [`Options::create_if_missing`] is on.
    ///
    /// # Errors
    /// `Locked` if the folder is open elsewhere, `NoDatabase`, `AlreadyExists`, `InvalidArgument` for a comparator
    /// that is not the database's, `Corruption` and `Unsupported` naming file and offset.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let inner = open::open(path.as_ref(), options)?;
        Ok(Self { _closer: Arc::new(Closer(Arc::clone(&inner))), inner })
    }

    /// The folder the database is in.
    pub fn path(&self) -> &Path {
        &self.inner.folder
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
        /// So many keys ahead of its get, a key's place is asked for.
        const AHEAD: usize = 3;
        let inner = &*self.inner;
        let (view, sequence) = inner.published.for_read(self.own_snapshot(options)?);
        inner.check_open()?;
        let block_options = block_read_options(options);
        for (index, key) in keys.iter().enumerate() {
            if let Some(later) = keys.get(index + AHEAD) {
                expect(&view, &inner.tables, later.as_ref(), sequence);
            }
            let answer = get_with(&view, &inner.tables, key.as_ref(), sequence, &block_options, |value| {
                found(Some(value.bytes()));
            })?;
            if answer.is_none() {
                found(None);
            }
        }
        Ok(())
    }

    fn read<R>(
        &self,
        key: &[u8],
        options: &ReadOptions,
        found: impl FnOnce(Found<'_>) -> R,
    ) -> Result<Option<R>> {
        let inner = &*self.inner;
        let (view, sequence) = inner.published.for_read(self.own_snapshot(options)?);
        inner.check_open()?;
        get_with(&view, &inner.tables, key, sequence, &block_read_options(options), found)
    }

    /// The snapshot to read from, which must be of this database.
    fn own_snapshot<'a>(&self, options: &'a ReadOptions) -> Result<Option<&'a Snapshot>> {
        match &options.snapshot {
            Some(snapshot) if !snapshot.belongs_to(&self.inner.snapshots) => {
                Err(Error::new(ErrorKind::InvalidArgument, "the snapshot belongs to another database"))
            }
            snapshot => Ok(snapshot.as_ref()),
        }
    }

    /// Stores `value` under `key`.
    pub fn put(&self, key: &[u8], value: &[u8], options: &WriteOptions) -> Result<()> {
        self.write_one(options, |batch| batch.put(key, value))
    }

    /// Removes `key`. It is no error if there is none.
    pub fn delete(&self, key: &[u8], options: &WriteOptions) -> Result<()> {
        self.write_one(options, |batch| batch.delete(key))
    }

    /// Writes what `fill` puts into a batch. Whoever need not wait uses the buffer that comes with the token.
    #[inline]
    fn write_one(
        &self,
        options: &WriteOptions,
        fill: impl FnOnce(&mut WriteBatch) -> terrace_format::error::Result<()>,
    ) -> Result<()> {
        self.inner.check_writable()?;
        let line = &self.inner.line;
        let shares_sync = options.sync && line.expects_others();
        let Some(mut token) = (!shares_sync).then(|| line.try_token()).flatten() else {
            let mut batch = WriteBatch::new();
            fill(&mut batch).map_err(Error::refused)?;
            return self.write(batch, options);
        };
        let mut batch = token.buffer.take().unwrap_or_default();
        batch.clear();
        let result = fill(&mut batch).map_err(Error::refused).and_then(|()| {
            self.inner.commit_group(&mut token, std::slice::from_mut(&mut batch), options.sync)
        });
        token.keep_buffer(batch);
        result
    }

    /// Writes all operations of `batch`, or none of them. Waits for its turn, for room, and for the disk if
    /// [`WriteOptions::sync`] asks for that.
    pub fn write(&self, batch: WriteBatch, options: &WriteOptions) -> Result<()> {
        self.inner.check_writable()?;
        if batch.is_empty() {
            return Ok(());
        }
        self.inner.line.write(batch, options.sync, |commit, batches, sync| {
            self.inner.commit_group(commit, batches, sync)
        })
    }

    /// Like [`write`](Self::write), but only if it need not wait for anything. Returns `false`, with nothing done,
    /// if it would have to: use [`submit`](Self::submit) then.
    pub fn try_write(&self, batch: &mut WriteBatch, options: &WriteOptions) -> Result<bool> {
        self.inner.check_writable()?;
        if batch.is_empty() {
            return Ok(true);
        }
        if options.sync || self.inner.has_submissions() {
            return Ok(false);
        }
        let Some(mut token) = self.inner.line.try_token() else { return Ok(false) };
        if token.wal.as_ref().is_some_and(|wal| !wal.is_ready(batch.as_bytes().len())) {
            return Ok(false);
        }
        // It may have been closed or poisoned since the first look.
        self.inner.check_writable()?;
        match self.inner.make_room(&mut token, batch.approximate_size_bytes(), Patience::Refuse) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
            Ok(()) => {
                self.inner.commit_with_room(&mut token, std::slice::from_mut(batch), false)?;
                Ok(true)
            }
        }
    }

    /// Queues a write and returns at once. Submitted writes are committed in order by a thread of the database's
    /// own; those that wait at the same time share one sync. `done` is called there with the result; a write that is refused
    /// at once, since the database is closed or poisoned, is answered here, perhaps before earlier ones.
    pub fn submit(&self, batch: WriteBatch, options: WriteOptions, done: WriteDone) {
        if let Err(error) = self.inner.check_writable() {
            done(Err(error));
        } else {
            self.inner.submit_write(batch, options, done);
        }
    }

    /// The present state, to read from later by [`ReadOptions::snapshot`].
    pub fn snapshot(&self) -> Snapshot {
        self.inner.snapshots.acquire(self.inner.published.visible())
    }

    /// A cursor over the present state, or over that of a snapshot. It keeps its view, and the files it needs,
    /// until it drops.
    pub fn iter(&self, options: IterOptions) -> Result<DbIterator> {
        let inner = &*self.inner;
        let (view, sequence) = inner.published.for_read(self.own_snapshot(&options.read)?);
        inner.check_open()?;
        let super_version = Arc::clone(&view);
        let pin = ViewPin {
            view: Some(Arc::clone(&super_version)),
            _snapshot: options.read.snapshot.clone(),
            db: Arc::downgrade(&self.inner),
        };
        let view = ReadView {
            super_version,
            tables: Arc::clone(&inner.tables),
            options: block_read_options(&options.read),
            forecast: Arc::clone(&inner.seek_forecast),
        };
        Ok(DbIterator::over(view, &inner.comparator, sequence, options.bounds, Box::new(pin)))
    }

    /// About how many bytes on disk the keys from `start` to before `end` take, after compression. What is still
    /// in memory does not count.
    pub fn approximate_size(&self, start: &[u8], end: &[u8]) -> Result<u64> {
        self.inner.check_open()?;
        self.inner.approximate_size(start, end)
    }

    /// Writes what is in memory to tables, and waits until that is done.
    pub fn flush(&self) -> Result<()> {
        self.inner.check_writable()?;
        self.inner.flush_and_wait()
    }

    /// Compacts the keys from `begin` to `end`, both included; `None` is an open end. Afterwards each key in the
    /// range is in one table, and deleted ones take no space, unless a snapshot still sees them. One call is
    /// enough.
    pub fn compact_range(&self, begin: Option<&[u8]>, end: Option<&[u8]>) -> Result<()> {
        self.inner.check_writable()?;
        self.inner.compact_range(begin, end)
    }

    /// Adds finished tables, as written by [`TableFileWriter`](crate::TableFileWriter), as one atomic change. Their
    /// entries are newer than everything in the database. The files are copied; they stay as they are.
    ///
    /// # Errors
    /// `InvalidArgument` if the files' keys overlap each other; `Corruption` if a file is damaged. Nothing is added
    /// then.
    pub fn ingest(&self, paths: &[PathBuf]) -> Result<()> {
        self.inner.check_writable()?;
        self.inner.ingest(paths)
    }

    /// Writes a consistent copy of the database to the folder `target`, which must be empty or not exist. Tables are
    /// hard-linked where the file system can, so it is quick and takes little space. Writes go on meanwhile; the copy
    /// holds all that were acknowledged before the call. It survives a loss of power once this returns.
    pub fn checkpoint(&self, target: impl AsRef<Path>) -> Result<()> {
        self.inner.check_writable()?;
        self.inner.checkpoint(target.as_ref())
    }

    /// Reads every table from end to end and checks checksums, order and filters.
    ///
    /// # Errors
    /// The first damage found, naming file and offset.
    pub fn verify(&self) -> Result<()> {
        self.inner.check_open()?;
        let version = self.inner.versions.current();
        version.files().try_for_each(|file| self.inner.tables.table(file)?.verify())
    }

    /// Does for one table what [`verify`](Self::verify) does for all, to be called for each of [`tables`](Self::tables), by
    /// one thread or by several.
    ///
    /// # Errors
    /// The first damage found in it, naming file and offset; `InvalidArgument` if the database has no such table (any
    /// more).
    pub fn verify_table(&self, number: u64) -> Result<()> {
        self.inner.check_open()?;
        self.inner.verify_table(number)
    }

    /// The tables that the database consists of now, by level; level 0 from the newest to the oldest, the others by key.
    ///
    /// # Errors
    /// `Closed`.
    pub fn tables(&self) -> Result<Vec<properties::TableInfo>> {
        self.inner.check_open()?;
        Ok(self.inner.tables())
    }

    /// Removes the database in the folder `path` from disk; other files in it stay. It is no error if there is none.
    ///
    /// # Errors
    /// `Locked` if it is open.
    pub fn destroy(path: impl AsRef<Path>, options: &Options) -> Result<()> {
        crate::destroy::destroy(path.as_ref(), options)
    }

    /// Makes the database in the folder `path` openable again after damage, with everything that is intact.
    ///
    /// While the MANIFEST can be read, tables keep their levels; damaged tables and logs are replaced by what could be
    /// read from them, block by block and record by record. Without a MANIFEST all tables and logs are merged by
    /// sequence number. What is damaged or unused is moved to the folder `lost` in the database's folder, never deleted.
    /// Where an older value may show because a newer one is lost, the report says so. An undamaged database keeps every
    /// entry.
    ///
    /// The result is durable on return. A repair that fails or is interrupted has changed nothing, or finished all but
    /// removing what it set aside; it can be run again. It needs as much free space as the damaged tables take, or,
    /// without a MANIFEST, as all tables take.
    ///
    /// # Errors
    /// `Locked` if the database is open; `NoDatabase`; `InvalidArgument` for a comparator that is not the database's;
    /// `Unsupported` for a format that is unknown here; `Io` if the disk refuses to read a file: copy the folder to a
    /// sound disk first.
    pub fn repair(path: impl AsRef<Path>, options: &Options) -> Result<RepairReport> {
        crate::repair::repair(path.as_ref(), options)
    }

    /// What the database knows about itself under `name`, or `None` for a name it does not know:
    ///
    /// - `leveldb.num-files-at-level<N>`: tables in level N;
    /// - `leveldb.stats`: a table of work done and bytes moved by level;
    /// - `leveldb.sstables`: every table with its key range;
    /// - `leveldb.approximate-memory-usage`: bytes in memtables and block cache.
    pub fn property(&self, name: &str) -> Option<String> {
        self.inner.check_open().ok()?;
        self.inner.property(name)
    }

    /// Numbers about the database's size and work.
    pub fn stats(&self) -> properties::Stats {
        self.inner.stats()
    }

    /// Runs one waiting background job on the calling thread, where the environment has no threads. Returns
    /// whether there was one.
    pub fn step(&self) -> bool {
        self.inner.step_background()
    }

    /// Closes the database: waits for writes and the running flush, abandons compactions (they have changed
    /// nothing yet), syncs the log and releases the folder. Later calls, and a second close, get or do nothing.
    /// Iterators that are still open stay usable.
    ///
    /// # Errors
    /// What went wrong while closing, or in the background before. The database is closed all the same.
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }
}

fn block_read_options(options: &ReadOptions) -> BlockReadOptions {
    BlockReadOptions {
        verify_checksums: options.verify_checksums,
        fill_cache: options.fill_cache,
        tier: options.tier,
    }
}
