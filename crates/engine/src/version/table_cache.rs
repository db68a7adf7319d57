//! The open tables of one database, bounded in number.
//!
//! predecessor: version (get, iterators), compaction · successor: [`Table::open`]
//!
//! An open table is in the slot of its file's [`FileMeta`], so a hit is one atomic load and takes no lock. The ring
//! lists the files whose slots are filled. When it is full, a CLOCK hand goes round: it spares a table that was used since
//! its last visit once, closes another and gives that place to the new table.
//!
//! ```text
//!   slot empty ──open, entered in the ring──▶ slot filled ──hand finds it unused──▶ slot empty
//!                                                  └── file no longer in any version: dropped with its FileMeta,
//!                                                      the hand removes the dead entry when it comes by
//! ```
//!
//! Readers hold a table by `Arc`: closing empties the slot, and the file itself closes when the last reader is done. The
//! limit therefore counts the tables in slots; running iterators may hold a few more.
//!
//! Locks: an opener holds the gate of its file, so that threads that miss at the same time open it once. Then it takes the
//! ring's lock for a moment. Nothing is read from disk under the ring's lock. A `FileMeta` may be dropped under either, so
//! its `drop` must not call back into the cache.

use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use arc_swap::Guard;
use terrace_env::locks::Mutex;
use terrace_env::{Env, RandomAccessFile};
use terrace_format::file_name::{legacy_table_name, table_name};

use crate::cache::working_set::WorkingSet;
use crate::error::{Error, ErrorKind, Result};
use crate::read_tier::ReadTier;
use crate::table::hash_lookup::LookupKey;
use crate::table::{Table, TableReadContext};
use crate::version::file_meta::FileMeta;

/// Number of gates for opening files. File numbers share them by remainder.
const GATE_COUNT: usize = 16;

/// Opens tables when they are first needed and closes those least recently used. Threads share it.
pub struct TableCache {
    env: Arc<dyn Env>,
    directory: PathBuf,
    max_open_files: usize,
    context: Arc<TableReadContext>,
    /// Another process may replace tables, so a missing table need not mean damage.
    writer_may_live: bool,
    gates: [Mutex<()>; GATE_COUNT],
    ring: Mutex<Ring>,
}

/// The files whose slots are filled, and where the hand stands.
#[derive(Default)]
struct Ring {
    files: Vec<Weak<FileMeta>>,
    hand: usize,
}

impl TableCache {
    /// A cache of the tables in `directory`. At most `max_open_files` (at least 1) stay open.
    pub fn new(
        env: Arc<dyn Env>,
        directory: PathBuf,
        max_open_files: usize,
        context: Arc<TableReadContext>,
    ) -> Self {
        let max_open_files = max_open_files.max(1);
        Self {
            env,
            directory,
            max_open_files,
            context,
            writer_may_live: false,
            gates: Default::default(),
            ring: Mutex::default(),
        }
    }

    /// Whether the tables fit into memory.
    #[inline]
    pub(crate) fn fit(&self) -> &WorkingSet {
        &self.context.fit
    }

    /// Makes this the cache of a read-only database: another process may replace its tables, so a missing table need not
    /// mean damage.
    pub(crate) fn beside_writer(self) -> Self {
        Self { writer_may_live: true, ..self }
    }

    /// Keeps `file` readable even if it is removed, provided that it can be mapped, which takes no descriptor, or is among the
    /// first `max_open_files`. Its contents are not read.
    ///
    /// # Errors
    /// `Outdated` if the file is gone; errors of the file system.
    pub(crate) fn pin(&self, file: &FileMeta, place: usize) -> Result<()> {
        let may_map = self.context.map_files;
        if may_map || place < self.max_open_files {
            let (opened, _) = self.open_file(file)?;
            if place < self.max_open_files || opened.mapped().is_some() {
                file.pin(opened);
            }
        }
        Ok(())
    }

    /// Takes over the open tables of `other`, a cache of the same directory, in place of the present ones.
    pub(crate) fn take_over(&self, other: &Self) {
        let taken = std::mem::take(&mut *other.ring.lock());
        let left = std::mem::replace(&mut *self.ring.lock(), taken);
        // The files that it lists may be dropped with it.
        drop(left);
    }

    /// The table of `file`, which is opened if necessary.
    ///
    /// # Errors
    /// Those of [`Table::open`] and [`Table::check_reaches`]. If the file is missing, `Corruption`, or `Outdated` if a writer may have removed it.
    pub fn table(&self, file: &Arc<FileMeta>) -> Result<Arc<Table>> {
        match self.table_if_open(file) {
            Some(table) => Ok(table),
            None => self.open_into_slot(file),
        }
    }

    /// The table of `file` for the duration of one read. It is opened if necessary and if `tier` allows it. If it is already
    /// open, no reference count changes, over which reading threads would contend.
    #[inline]
    pub(crate) fn lease(&self, file: &Arc<FileMeta>, tier: ReadTier) -> Result<TableLease> {
        let open = file.table.load();
        if let Some(table) = &*open {
            table.note_use();
            return Ok(TableLease(open));
        }
        match tier {
            ReadTier::Disk => Ok(TableLease(Guard::from_inner(Some(self.open_into_slot(file)?)))),
            ReadTier::MemoryOnly => Err(not_open(file)),
        }
    }

    /// Prefetches into the processor's cache what a lookup of `key` in `file` reads first, if the table is open.
    #[inline]
    pub(crate) fn prefetch_lookup(&self, file: &FileMeta, key: &LookupKey<'_>) {
        if let Some(table) = &*file.table.load() {
            table.prefetch_lookup(key);
        }
    }

    /// The table of `file` if it is open. For reads that must not wait for the disk.
    pub fn table_if_open(&self, file: &FileMeta) -> Option<Arc<Table>> {
        let table = file.table.load_full()?;
        table.note_use();
        Some(table)
    }

    /// The number of tables in slots, including those of files that have just left the last version.
    pub fn open_files(&self) -> usize {
        self.ring.lock().files.len()
    }

    /// Closes all tables. A table that is being read is closed when the read is done. A table that is needed later is opened
    /// again.
    pub(crate) fn close_all(&self) {
        let files = std::mem::take(&mut *self.ring.lock()).files;
        for file in files.iter().filter_map(Weak::upgrade) {
            file.table.store(None);
        }
    }

    #[cold]
    fn open_into_slot(&self, file: &Arc<FileMeta>) -> Result<Arc<Table>> {
        let _gate = self.gates[(file.number % GATE_COUNT as u64) as usize].lock();
        if let Some(table) = self.table_if_open(file) {
            return Ok(table);
        }
        let table = Arc::new(self.open(file)?);
        file.set_counts(table.counts());
        let mut ring = self.ring.lock();
        let closed = ring.enter(Arc::downgrade(file), self.max_open_files);
        file.table.store(Some(table.clone()));
        drop(ring);
        // Closing a file is a system call, so it must not happen under the ring's lock.
        drop(closed);
        Ok(table)
    }

    /// Opens the file at `path`. If the process has no descriptor left, closes the tables that are not in use and tries
    /// again.
    fn open_path(&self, path: &Path) -> terrace_env::Result<Arc<dyn RandomAccessFile>> {
        let open =
            || if self.context.map_files { self.env.open_mapped(path) } else { self.env.open_random(path) };
        open().or_else(|error| {
            if !error.is_out_of_descriptors() {
                return Err(error);
            }
            self.close_all();
            open()
        })
    }

    fn open(&self, file: &FileMeta) -> Result<Table> {
        let (opened, path) = match file.pinned() {
            Some(pinned) => (Arc::clone(pinned), pinned.path().to_owned()),
            None => self.open_file(file)?,
        };
        let table = Table::open(opened, path, file.size_bytes, self.context.clone())?;
        table.check_reaches(&file.largest)?;
        Ok(table)
    }

    /// Opens the file under its current name, or under the one that LevelDB used before 1.14.
    fn open_file(&self, file: &FileMeta) -> Result<(Arc<dyn RandomAccessFile>, PathBuf)> {
        let path = self.directory.join(table_name(file.number));
        match self.open_path(&path) {
            Ok(opened) => return Ok((opened, path)),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
        let legacy_path = self.directory.join(legacy_table_name(file.number));
        match self.open_path(&legacy_path) {
            Ok(opened) => Ok((opened, legacy_path)),
            Err(error) if error.is_not_found() && self.writer_may_live => {
                let message = "another process kept writing to the database, and a table of the state read here is gone; \
                               refresh and read again";
                Err(Error::at_path(ErrorKind::Outdated, &path, message))
            }
            Err(error) if error.is_not_found() => {
                Err(Error::at_path(ErrorKind::Corruption, &path, "a table of the database is missing"))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The error of a read that must not wait for the disk and needs a table that is not open.
#[cold]
pub(crate) fn not_open(file: &FileMeta) -> Error {
    Error::new(ErrorKind::WouldBlock, format!("table {} is not open", file.number))
}

/// A table, held for one read.
pub(crate) struct TableLease(Guard<Option<Arc<Table>>>);

impl Deref for TableLease {
    type Target = Table;

    #[inline]
    fn deref(&self) -> &Table {
        self.0.as_ref().expect("a lease is made of an open table")
    }
}

impl Ring {
    /// Lists `file`. In a full ring it takes the place of a file that no version holds any more, or of a file whose table
    /// was not used since the hand last came by. That table is taken out of its slot and returned.
    fn enter(&mut self, file: Weak<FileMeta>, max_files: usize) -> Option<Arc<Table>> {
        if self.files.len() < max_files {
            self.files.push(file);
            return None;
        }
        let closed = self.close_one();
        self.files[self.hand] = file;
        // The hand comes to the new file last.
        self.hand = (self.hand + 1) % self.files.len();
        closed
    }

    /// Moves the hand to a place that can be reused, and empties the slot of the file there, if there is one.
    fn close_one(&mut self) -> Option<Arc<Table>> {
        // After one round no table counts as used, unless readers are quicker than the hand.
        for _ in 0..2 * self.files.len() {
            let file = self.files[self.hand].upgrade()?;
            if !file.table.load().as_ref().is_some_and(|table| table.take_recently_used()) {
                return file.table.swap(None);
            }
            self.hand = (self.hand + 1) % self.files.len();
        }
        self.files[self.hand].upgrade()?.table.swap(None)
    }
}

impl fmt::Debug for TableCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableCache")
            .field("directory", &self.directory)
            .field("max_open_files", &self.max_open_files)
            .field("open_files", &self.open_files())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
