//! The database handle: every public operation, and the part of the engine that carries it out.

mod assemble;
pub(crate) mod close;
pub(crate) mod compact_range;
mod finish_open;
mod first_memtables;
pub(crate) mod inner;
mod jobs;
pub(crate) mod open;
pub(crate) mod properties;
mod read_only;
mod small_tables;
mod view;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::Env;
use terrace_format::batch::WriteBatch;

use crate::db::compact_range::CompactRange;
use crate::db::inner::DbInner;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Options, WriteOptions};
use crate::read::db_iterator::DbIterator;
use crate::read::get::{Found, FoundValue, Pinned};
use crate::read::options::{IterOptions, ReadOptions};
use crate::read::snapshot::Snapshot;
use crate::recovery::left_out::LeftOutLog;
use crate::repair::report::RepairReport;
use crate::version::stored_order::comparator_name;
use crate::write::conditions::Condition;
use crate::write::submit::WriteDone;

/// An open database.
///
/// Clones share the database. It closes when the last clone is dropped or when [`close`](Self::close) is called. Any thread
/// may call any method.
///
/// The database stays with its directory. If the directory is moved while the database is open, the database keeps
/// using it and leaves alone whatever is created at the old path. A relative path is resolved once, when the database
/// is opened; a later `chdir` does not matter.
///
/// The database belongs to the process that opened it. A forked child gets [`Forked`](ErrorKind::Forked) from the
/// database and from its iterators, because the child has only a copy of the memory, in which locks that other threads
/// held at the fork are never released. The child may drop the database, which changes no file and leaves the parent's
/// lock alone, and may open the directory again as any other process may.
///
/// # Durability
/// A write that has returned survives the death of the process. With [`WriteOptions::sync`] it also survives a loss of
/// power.
///
/// # Errors
/// Except for [`close`](Self::close), every method that returns a `Result` fails with [`Closed`](ErrorKind::Closed) once the
/// database is closed and with [`Forked`](ErrorKind::Forked) in a forked child. Two more groups recur:
///
/// - *Read errors*: `Corruption` if a table is damaged or missing, `Unsupported` if this build does not know how a block is
///   compressed, and `TooManyFiles`, `ReadOnly` (no permission) or `Io` from the operating system.
/// - *Write errors*: `ReadOnly` if the database was opened read-only or the operating system forbids writing; `DiskFull`,
///   `TooManyFiles` or `Io` from the operating system; `Poisoned` after an earlier failure that makes further writes unsafe.
///
/// Reads of a database that was opened read-only can also fail with `Outdated`: see [`ErrorKind::Outdated`].
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
    /// Opens the database in the directory `path`. If the directory holds none and [`Options::create_if_missing`] is on,
    /// creates a database there.
    ///
    /// # Errors
    /// - `NoDatabase` if there is no database and none may be created; `AlreadyExists` if there is one and
    ///   [`Options::error_if_exists`] is on.
    /// - `Locked` if the database is already open, in this process or another one. A read-only open needs no lock.
    /// - `InvalidArgument` if the database was created with another comparator.
    /// - `Corruption` if a file of the database is damaged or missing; `Unsupported` if it is in a format that this
    ///   engine does not know. Both name the file and, where there is one, the offset.
    /// - `Outdated`, for a read-only open, if another process changed the database during each of many attempts to read it.
    /// - `Forked` if [`Options::background_pool`] was made before this process was forked.
    /// - `ReadOnly`, `DiskFull`, `TooManyFiles` or `Io` from the operating system.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let inner = open_any(path.as_ref(), options)?;
        Ok(Self { _closer: Arc::new(Closer(Arc::clone(&inner))), inner })
    }

    /// The path that was passed to [`open`](Self::open).
    pub fn path(&self) -> &Path {
        &self.inner.files.directory
    }

    /// The options that the database was opened with.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// The program that must be able to read what is written here: never [`Dialect::Auto`]. Decided once, by what the
    /// database holds when this is called or when the first table is written, whichever comes first.
    pub fn dialect(&self) -> Dialect {
        let view = self.inner.published.super_version();
        let sealed = view.sealed.iter().map(|sealed| &*sealed.table);
        self.inner.files.decide_dialect(&std::iter::once(&*view.active).chain(sealed).collect::<Vec<_>>())
    }

    /// Returns a copy of the value of `key`, or `None` if there is no such key.
    ///
    /// # Errors
    /// [Read errors](Self#errors); `InvalidArgument` if [`ReadOptions::snapshot`] belongs to another database; `WouldBlock` if
    /// [`ReadOptions::tier`] is [`MemoryOnly`](crate::ReadTier::MemoryOnly) and the answer is not in memory.
    pub fn get(&self, key: &[u8], options: &ReadOptions) -> Result<Option<Vec<u8>>> {
        self.read(key, options, |found| found.bytes().to_vec())
    }

    /// Returns the value of `key`, without copying it if it lies in a cached block or in a mapped table.
    ///
    /// # Errors
    /// See [`get`](Self::get).
    pub fn get_pinned(&self, key: &[u8], options: &ReadOptions) -> Result<Option<Pinned>> {
        self.read(key, options, |found| match found.value {
            FoundValue::InMemtable(value) => Pinned::Copied(value.to_vec()),
            FoundValue::InTable(value) => Pinned::Block(value.pin()),
        })
    }

    /// Calls `found` with the value of `key`, without copying the value, and returns what `found` returns. If there is no such
    /// key, returns `None` without a call.
    ///
    /// # Errors
    /// See [`get`](Self::get). `found` has not been called then.
    pub fn get_with<R>(
        &self,
        key: &[u8],
        options: &ReadOptions,
        found: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>> {
        self.read(key, options, |value| found(value.bytes()))
    }

    /// As [`get_with`](Self::get_with), but `found` also gets the sequence number of the write that stored the value. It is the
    /// entry's version: each write of the key gives it a larger one, and compactions keep it. A copy that is made by writing the
    /// entries elsewhere has versions of its own.
    ///
    /// # Errors
    /// See [`get`](Self::get). `found` has not been called then.
    pub fn get_entry_with<R>(
        &self,
        key: &[u8],
        options: &ReadOptions,
        found: impl FnOnce(&[u8], u64) -> R,
    ) -> Result<Option<R>> {
        self.read(key, options, |entry| found(entry.bytes(), entry.sequence))
    }

    /// Calls `found` once for each key, in the order of `keys`, with its value or `None`. All values come from one state of the
    /// database. One call for many keys is faster than many calls.
    ///
    /// # Errors
    /// See [`get`](Self::get). `found` may already have been called for some of the keys.
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
        // A read that moves on to a newer state starts again, so nothing may have been handed over before.
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

    /// Stores `value` under `key`, replacing the value that was there. See [`write`](Self::write) for the limits, for
    /// durability and for what a failed call leaves behind.
    ///
    /// # Errors
    /// `InvalidArgument` if `key` or `value` is over its limit; otherwise see [`write`](Self::write).
    pub fn put(&self, key: &[u8], value: &[u8], options: &WriteOptions) -> Result<()> {
        self.inner.writer.write_one(options.sync, |batch| batch.put(key, value))
    }

    /// Deletes `key`. A key that does not exist is not an error. See [`write`](Self::write) for durability and for what a failed
    /// call leaves behind.
    ///
    /// # Errors
    /// `InvalidArgument` if `key` is over its limit; otherwise see [`write`](Self::write).
    pub fn delete(&self, key: &[u8], options: &WriteOptions) -> Result<()> {
        self.inner.writer.write_one(options.sync, |batch| batch.delete(key))
    }

    /// Writes all operations of `batch`, or none of them. Waits for earlier writes, for room in the memtables, and, with
    /// [`WriteOptions::sync`], for the disk.
    ///
    /// A key may have up to 64 MiB, a value up to 1 GiB and a batch up to 3 GiB (256 and 512 MiB on 32-bit machines), see
    /// [`limits`](terrace_format::limits). The batch refuses an operation that exceeds a limit when it is added.
    ///
    /// # Durability
    /// On return the batch survives the death of the process, and with [`WriteOptions::sync`] also a loss of power.
    ///
    /// # Errors
    /// [Write errors](Self#errors), and `InvalidArgument` once the database has used up its sequence numbers. After a failure no
    /// read shows the batch. If the failure poisoned the database, the next open may still find the batch in the log.
    pub fn write(&self, batch: WriteBatch, options: &WriteOptions) -> Result<()> {
        self.inner.writer.write(batch, options.sync)
    }

    /// Writes `batch` as [`write`](Self::write) does if that is possible without waiting, and returns `true`. Otherwise it
    /// does nothing and returns `false`; use [`submit`](Self::submit) then. A write with [`WriteOptions::sync`] always
    /// has to wait, unless the batch is empty.
    ///
    /// # Errors
    /// See [`write`](Self::write). Having to wait is not an error.
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

    /// Writes all operations of `batch` if all `conditions` hold, and otherwise nothing. No other write comes between the check
    /// and the write. An empty batch only checks the conditions. Waits as [`write`](Self::write) does.
    ///
    /// # Durability
    /// That of [`write`](Self::write).
    ///
    /// # Errors
    /// `Conflict` if a condition does not hold; [`Error::failed_conditions`] names all that did not, at one moment during the
    /// call. `InvalidArgument` if a snapshot belongs to another database. Otherwise [read errors](Self#errors) and those of
    /// [`write`](Self::write).
    ///
    /// ```
    /// use terrace_engine::{Condition, Db, ErrorKind, Options, WriteBatch, WriteOptions};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let db = Db::open(directory.path(), Options::default())?;
    /// let claim = |owner: &[u8]| {
    ///     let mut batch = WriteBatch::new();
    ///     batch.put(b"owner", owner).unwrap();
    ///     db.write_if(batch, &[Condition::Absent(b"owner".to_vec())], &WriteOptions::default())
    /// };
    /// claim(b"Ada")?;
    /// assert_eq!(claim(b"Bob").unwrap_err().kind(), ErrorKind::Conflict);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_if(
        &self,
        batch: WriteBatch,
        conditions: &[Condition],
        options: &WriteOptions,
    ) -> Result<()> {
        self.inner.writer.write_if(batch, conditions, options.sync)
    }

    /// Writes `batch` as [`write_if`](Self::write_if) does if that is possible without waiting, and returns `true`. Otherwise
    /// it does nothing and returns `false`; use [`submit_if`](Self::submit_if) then.
    ///
    /// # Errors
    /// See [`write_if`](Self::write_if). Having to wait is not an error.
    pub fn try_write_if(
        &self,
        batch: &mut WriteBatch,
        conditions: &[Condition],
        options: &WriteOptions,
    ) -> Result<bool> {
        self.inner.health.check_writable()?;
        if (options.sync && !batch.is_empty()) || !self.inner.submissions.is_idle() {
            return Ok(false);
        }
        self.inner.writer.try_write_if(batch, conditions)
    }

    /// Queues `batch` and returns at once, as [`submit`](Self::submit) does. When its turn comes, it is written as by
    /// [`write_if`](Self::write_if), whose result `done` gets.
    pub fn submit_if(
        &self,
        batch: WriteBatch,
        conditions: Vec<Condition>,
        options: WriteOptions,
        done: WriteDone,
    ) {
        if let Err(error) = self.inner.health.check_writable() {
            done(Err(error));
        } else {
            self.inner.submissions.submit(batch, Some(conditions), options, done);
        }
    }

    /// Queues `batch` and returns at once. The commit thread of the database's [pool](crate::BackgroundPool) commits
    /// submitted writes in order; writes that wait at the same time share one sync.
    ///
    /// `done` gets the result that [`write`](Self::write) would return. It is called on the commit thread, or on the thread that
    /// closes the database while the write is still queued. It is called before this returns if there is no commit thread, or
    /// if the write is refused at once because the database is closed, read-only, poisoned or another process's. A refusal
    /// may overtake the results of earlier writes.
    pub fn submit(&self, batch: WriteBatch, options: WriteOptions, done: WriteDone) {
        if let Err(error) = self.inner.health.check_writable() {
            done(Err(error));
        } else {
            self.inner.submissions.submit(batch, None, options, done);
        }
    }

    /// Takes a snapshot of the current state. Pass it to later reads as [`ReadOptions::snapshot`].
    pub fn snapshot(&self) -> Snapshot {
        let inner = &*self.inner;
        if !inner.options.read_only {
            return inner.published.snapshot();
        }
        inner.published.pinned_snapshot()
    }

    /// Moves a database that was opened read-only to the newest state that its writer has written. Later reads see the new
    /// state; existing snapshots and iterators keep theirs. A database that is open for writing always shows the
    /// newest state, and this call does nothing.
    ///
    /// # Errors
    /// Those of [`open`](Self::open). After a failure the database keeps showing the state that it showed before.
    pub fn refresh(&self) -> Result<()> {
        self.inner.refresh()
    }

    /// Makes a cursor over the current state, or over the state of [`ReadOptions::snapshot`]. The cursor keeps that state and the
    /// files that it needs until it is dropped. Making it reads nothing; its movements do.
    ///
    /// # Errors
    /// `InvalidArgument` if the snapshot belongs to another database; `Closed` and `Forked`.
    pub fn iter(&self, options: IterOptions) -> Result<DbIterator> {
        let view = self.inner.view(&options.read)?;
        let renewal = self.inner.renewal(&options.read);
        Ok(DbIterator::over(view, &self.inner.files.comparator, options.bounds, renewal))
    }

    /// Estimates how many bytes the keys from `start` up to, but not including, `end` take. The sum counts tables as they
    /// are on disk, after compression, and memtables by the sizes of their keys and values. (LevelDB counts only tables.) The
    /// estimate is exact to a block's size in each table, and to about one part in four thousand in a large memtable.
    ///
    /// # Errors
    /// [Read errors](Self#errors).
    pub fn approximate_size(&self, start: &[u8], end: &[u8]) -> Result<u64> {
        self.inner.read_moving_on(|| self.inner.approximate_size(start, end))
    }

    /// Writes the memtables to tables and waits until that is done.
    ///
    /// # Durability
    /// On return every write that returned before the call survives a loss of power.
    ///
    /// # Errors
    /// [Write errors](Self#errors).
    pub fn flush(&self) -> Result<()> {
        self.inner.health.check_writable()?;
        self.inner.writer.flush()
    }

    /// Compacts the keys from `begin` to `end`, both included; `None` is an open end. The memtables are flushed first.
    /// After one call each key in the range is in one table, and deleted keys take no space, unless a snapshot still sees them.
    ///
    /// # Errors
    /// [Read and write errors](Self#errors).
    pub fn compact_range(&self, begin: Option<&[u8]>, end: Option<&[u8]>) -> Result<()> {
        self.inner.health.check_writable()?;
        self.inner.compact_range(begin, end)
    }

    /// Begins what [`compact_range`](Self::compact_range) does, for a program without threads that has other work to do between its steps:
    /// the caller runs [`CompactRange::step`] until it returns false. The memtables are flushed when this returns.
    ///
    /// # Errors
    /// [Read and write errors](Self#errors).
    pub fn begin_compact_range(&self, begin: Option<&[u8]>, end: Option<&[u8]>) -> Result<CompactRange> {
        self.inner.health.check_writable()?;
        self.inner.begin_compact_range(begin, end)
    }

    /// Merges small tables that lie side by side in a level, in one step of at most [`Options::max_file_size_bytes`],
    /// if that saves at least `least_saved` files. Returns whether it did. This helps a program that must keep the
    /// number of files low: entries written in order make tables that overlap nothing, which compactions only move.
    /// Does nothing in a database that takes no writes.
    ///
    /// # Errors
    /// [Read and write errors](Self#errors). The tables are then unchanged.
    pub fn merge_neighbours(&self, least_saved: usize) -> Result<bool> {
        self.inner.merge_neighbours(least_saved)
    }

    /// Adds the tables at `paths`, in the form that [`TableFileWriter`](crate::TableFileWriter) writes, as one atomic
    /// change. Their entries become newer than everything in the database. The files are copied and left unmodified.
    ///
    /// # Durability
    /// On return the entries survive a loss of power.
    ///
    /// # Errors
    /// `InvalidArgument` if the key ranges of the files overlap, or once the database has used up its sequence numbers, and
    /// `Corruption` if a file is damaged; nothing is added then. Otherwise [read and write errors](Self#errors).
    pub fn ingest(&self, paths: &[PathBuf]) -> Result<()> {
        self.inner.health.check_writable()?;
        self.inner.ingest(paths)
    }

    /// Writes a consistent copy of the database to the directory `target`, which must be empty or not exist. Tables are
    /// hard-linked where the file system supports that, so a copy is quick and takes little space. Writes continue
    /// meanwhile. The copy holds every write that returned before the call.
    ///
    /// # Durability
    /// On return the copy survives a loss of power.
    ///
    /// # Errors
    /// `InvalidArgument` if `target` is not empty; otherwise [write errors](Self#errors). A failed call may leave files in
    /// `target`.
    pub fn checkpoint(&self, target: impl AsRef<Path>) -> Result<()> {
        self.inner.health.check_writable()?;
        self.inner.while_open(|| self.inner.checkpoint(target.as_ref()))
    }

    /// Reads every table from end to end and checks checksums, the order of keys, filters and hash indexes.
    ///
    /// # Errors
    /// [Read errors](Self#errors). `Corruption` names the file and offset of the first damage found. If the database was opened
    /// read-only and the open left out writes, that is an error too (see [`left_out_logs`](Self::left_out_logs)).
    pub fn verify(&self) -> Result<()> {
        self.inner.read_moving_on(|| self.inner.verify())
    }

    /// Writes of the logs that this database does not show; usually none.
    pub fn left_out_logs(&self) -> &[LeftOutLog] {
        &self.inner.left_out
    }

    /// Checks one table as [`verify`](Self::verify) checks all of them. Several threads can share the work: each calls this for
    /// some of the [`tables`](Self::tables).
    ///
    /// # Errors
    /// [Read errors](Self#errors). `Corruption` names the file and the offset of the first damage. `InvalidArgument` if the
    /// database has no table `number`, or no longer has it.
    pub fn verify_table(&self, number: u64) -> Result<()> {
        self.inner.while_open(|| self.inner.verify_table(number))
    }

    /// Lists the tables of the current state by level: level 0 from newest to oldest, the other levels by key.
    ///
    /// # Errors
    /// `Closed` and `Forked`.
    pub fn tables(&self) -> Result<Vec<properties::TableInfo>> {
        self.inner.while_open(|| Ok(self.inner.tables()))
    }

    /// Removes the database in the directory `path`, including the files that repairs set aside. Other files stay; the directory
    /// goes if nothing else is in it. A symbolic link is removed, never the file that it leads to. Returns whether there was a
    /// database; if not, nothing is changed. Only the option [`env`](Options::env) matters.
    ///
    /// # Errors
    /// `Locked` if the database is open; `ReadOnly`, `TooManyFiles` or `Io` from the operating system. If a file cannot be
    /// removed, the others are removed all the same.
    pub fn destroy(path: impl AsRef<Path>, options: &Options) -> Result<bool> {
        crate::destroy::destroy(path.as_ref(), options)
    }

    /// Returns the name of the comparator that the database in the directory `path` was created with, for a program
    /// that opens any database: [`UserComparator::by_name`](crate::UserComparator::by_name) returns the comparator of
    /// that name. `None` if CURRENT and its MANIFEST do not lead to a name; an open then reports why. Nothing is
    /// written, and no lock is needed.
    pub fn comparator_name(path: impl AsRef<Path>, env: &dyn Env) -> Option<Vec<u8>> {
        comparator_name(env, path.as_ref())
    }

    /// Repairs the damaged database in the directory `path`, so that it can be opened again with everything that is intact. An
    /// undamaged database keeps every entry.
    ///
    /// While the MANIFEST can be read, tables keep their levels, and damaged tables and logs are replaced by what can
    /// be read from them, block by block and record by record. Without a MANIFEST all tables and logs are merged by
    /// sequence number. Damaged and unused files are never deleted: they move to the directory `lost` in the database's
    /// directory. The report lists where an older value may show because a newer one is lost.
    ///
    /// A repair needs as much free space as the damaged tables take, or, without a MANIFEST, as all tables take. A repair that
    /// fails or is interrupted either has changed nothing or has finished except for removing what it set aside; it can
    /// be run again.
    ///
    /// # Durability
    /// On return the repaired database survives a loss of power.
    ///
    /// # Errors
    /// - `NoDatabase` if there is nothing to repair; `Locked` if the database is open.
    /// - `InvalidArgument` if the database was created with another comparator, or if [`Options::read_only`] is on.
    /// - `Unsupported` for a format that this engine does not know.
    /// - `Io` if the disk refuses to read a file: copy the directory to a sound disk first. `ReadOnly`, `DiskFull` and
    ///   `TooManyFiles` from the operating system.
    pub fn repair(path: impl AsRef<Path>, options: &Options) -> Result<RepairReport> {
        crate::repair::repair(path.as_ref(), options)
    }

    /// The property `name` as text; `None` for an unknown name, and in a database that is closed or another process's:
    ///
    /// - `leveldb.num-files-at-level<N>`: tables in level N;
    /// - `leveldb.stats`: a table of each level's files, size, compaction time, and bytes read and written;
    /// - `leveldb.sstables`: every table with its key range;
    /// - `leveldb.approximate-memory-usage`: bytes in memtables and block cache;
    /// - `terrace.left-out`: a line for each of the [`left_out_logs`](Self::left_out_logs);
    /// - `terrace.left-out-log-bytes`: bytes of logs that the open left out;
    /// - `terrace.has-outgrown-memory`: 1 if the tables were last found not to fit into memory, so that blocks are
    ///   requested one by one; otherwise 0.
    pub fn property(&self, name: &str) -> Option<String> {
        self.inner.health.check_open().ok()?;
        self.inner.property(name)
    }

    /// Figures about the database's size and work. In a forked child all of them are 0.
    pub fn stats(&self) -> properties::Stats {
        self.inner.stats()
    }

    /// Runs one waiting background job on the calling thread if no thread will run it, because the environment has no
    /// threads or the system refused to start one. One that finds no room, on a full disk for example, is left for a later call. Returns
    /// whether one was done.
    pub fn step(&self) -> bool {
        self.inner.health.check_process().is_ok() && self.inner.background.step_well()
    }

    /// Closes the database: waits for writes and the running flush, abandons compactions (which have changed nothing
    /// yet), merges a bounded part of the small tables that short sessions have left, syncs the log and releases the directory. Later calls fail with [`Closed`](ErrorKind::Closed); open
    /// iterators stay usable. A second `close` does nothing and returns `Ok`, even while the first is still running.
    ///
    /// In a forked child this releases the child's copy of the lock and nothing else. The database stays open in the parent.
    ///
    /// # Durability
    /// After `Ok` from the first call every write that returned before it survives a loss of power.
    ///
    /// # Errors
    /// The failure that closing met, or that an earlier background job met. `Poisoned` if a call has returned that failure
    /// before. The database is closed all the same.
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }
}
