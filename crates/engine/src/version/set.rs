//! The current version, and the MANIFEST that makes each change of it durable.
//!
//! Predecessors: `recovery`, `flush`, `compaction::job`. Successors: `builder`, `checker`, `manifest`, `new_manifest`; readers take
//! [`VersionSet::current`].
//!
//! Steps of one change ([`VersionSet::apply`]), one change at a time:
//!
//! 1. Build the new version from the current one and the edit.
//! 2. Sync the directory, so that the names of new tables and of a new first log are durable before anything refers to
//!    them.
//! 3. Append the edit to the MANIFEST and sync it. If the MANIFEST has grown too large, or none is open yet, write a
//!    new one instead: snapshot of the new version, sync, sync the directory, replace `CURRENT`, remove the old one.
//! 4. Install the new version, and mark the files that it no longer lists: each is deleted when its last reader is gone.
//!
//! If step 3 fails, it is unknown what the disk holds. The version in force stays and can be read. If there was no
//! room, the next change first writes a new MANIFEST of the version in force ([`VersionSet::resolve_failed_change`]).
//! After any other failure, every later change is refused until the database is opened again.
//!
//! Threads: readers take the current version without a lock and never wait for a change. File numbers come from an
//! atomic counter. Changes queue at one mutex, which is held during I/O; it guards nothing that a reader or writer
//! needs.
//!
//! Numbers in the MANIFEST: `last_sequence` is the sequence of the memtable switch that was flushed last, not the
//! running one. Some readers skip log records below it (goleveldb); with the smaller number every log is read whole.
//! `db/finish_open` sees to it that no log of another engine is left under the number that the engine recorded.
//! `log_number` is the first log that still matters. Both only grow.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use terrace_format::file_name::{self, FileKind};
use terrace_format::internal_key::SequenceNumber;
use terrace_format::table::TableCounts;
use terrace_format::version_edit::VersionEdit;

use crate::error::{Error, ErrorKind, Result};
use crate::recovery::needed_logs::RecoveredNumbers;
use crate::sync::{ArcSwap, Mutex};
use crate::version::builder::{MissingFile, NewFiles, VersionBuilder};
use crate::version::checker;
use crate::version::file_meta::{FileMeta, FileOrigin, ObsoleteFiles};
use crate::version::manifest::ManifestWriter;
use crate::version::new_manifest;
use crate::version::recover::{
    FILE_NUMBER_LIMIT, Recovered, StoredCompactPointers, first_free_number, list_directory, recover,
};
use crate::version::set_options::VersionSetOptions;
use crate::version::version::Version;

/// The current version, and the MANIFEST that records it.
pub struct VersionSet {
    options: VersionSetOptions,
    current: ArcSwap<Version>,
    next_file_number: AtomicU64,
    log_number: AtomicU64,
    last_sequence: AtomicU64,
    manifest_number: AtomicU64,
    obsolete: Arc<ObsoleteFiles>,
    changes: Mutex<Changes>,
}

/// The data that changes need. Its mutex makes changes run one at a time.
struct Changes {
    /// `None` until the first change after a recovery.
    manifest: Option<ManifestWriter>,
    pointers: StoredCompactPointers,
    failure: Option<Error>,
    /// Set while it is unknown whether the disk holds an edit that found no room: the new tables that the edit names.
    unresolved: Option<Vec<u64>>,
}

/// A change of which nothing is written yet.
struct Prepared {
    edit: VersionEdit,
    version: Arc<Version>,
    pointers: StoredCompactPointers,
    /// Tables that the new version does not list.
    removed: Vec<Arc<FileMeta>>,
}

impl Changes {
    fn durable_manifest(&self) -> Option<(u64, u64)> {
        let manifest =
            self.manifest.as_ref().filter(|_| self.failure.is_none() && self.unresolved.is_none())?;
        Some((manifest.number(), manifest.size_bytes()))
    }
}

impl VersionSet {
    /// The state of an empty database. This writes nothing: [`renew`](Self::renew), or the first change, writes a
    /// MANIFEST and finally `CURRENT`. Until then the directory holds no database.
    ///
    /// # Errors
    /// - `InvalidArgument` if the options say read-only.
    /// - `AlreadyExists` if there is a `CURRENT`.
    /// - The errors of listing the directory.
    pub fn create_new(options: VersionSetOptions, obsolete: Arc<ObsoleteFiles>) -> Result<Self> {
        if options.read_only {
            let message = "a database cannot be created read-only";
            return Err(Error::at_path(ErrorKind::InvalidArgument, &options.directory, message));
        }
        let names = list_directory(&options)?;
        if names.contains(&FileKind::Current) {
            let message = "the directory holds a database already";
            return Err(Error::at_path(ErrorKind::AlreadyExists, &options.directory, message));
        }
        // An open that failed halfway may have left files behind.
        let nothing = Recovered {
            version: Version::empty(options.comparator.clone()),
            pointers: StoredCompactPointers::default(),
            numbers: RecoveredNumbers {
                log_number: 0,
                previous_log_number: 0,
                last_sequence: 0,
                manifest_number: 0,
                next_file_number: 0,
                is_ours: true,
            },
            next_file_number: first_free_number(&names),
        };
        Ok(Self::build(options, obsolete, nothing))
    }

    /// Reads the state of an existing database. This writes nothing: the first [`apply`](Self::apply) writes a new
    /// MANIFEST, which also names all files of the old one, and then removes the old one.
    ///
    /// `names` are those in the directory, for a caller who holds the lock and has listed them. With `None` they are listed
    /// after the MANIFEST was read, since another process may be writing.
    ///
    /// # Errors
    /// - `NoDatabase` if there is no `CURRENT`, and no table or log either.
    /// - `InvalidArgument` if the comparator is not the one stored.
    /// - `Corruption` or `Unsupported`, naming file and offset.
    /// - The errors of reading the files.
    pub fn recover(
        options: VersionSetOptions,
        names: Option<&[String]>,
        obsolete: Arc<ObsoleteFiles>,
    ) -> Result<(Self, RecoveredNumbers)> {
        let recovered = recover(&options, names, &obsolete)?;
        let numbers = recovered.numbers;
        Ok((Self::build(options, obsolete, recovered), numbers))
    }

    fn build(options: VersionSetOptions, obsolete: Arc<ObsoleteFiles>, recovered: Recovered) -> Self {
        let numbers = recovered.numbers;
        Self {
            current: ArcSwap::from_pointee(recovered.version),
            next_file_number: AtomicU64::new(recovered.next_file_number),
            log_number: AtomicU64::new(numbers.log_number),
            last_sequence: AtomicU64::new(numbers.last_sequence),
            manifest_number: AtomicU64::new(numbers.manifest_number),
            obsolete,
            changes: Mutex::new(Changes {
                manifest: None,
                pointers: recovered.pointers,
                failure: None,
                unresolved: None,
            }),
            options,
        }
    }

    /// The version in force.
    pub fn current(&self) -> Arc<Version> {
        Arc::clone(&self.current.load())
    }

    /// Continues with the state that `other` has read from the same directory later. Only for a set that never writes.
    pub(crate) fn adopt(&self, other: &Self) {
        debug_assert!(self.options.read_only);
        self.next_file_number.fetch_max(other.next_file_number(), Ordering::Relaxed);
        self.log_number.store(other.log_number(), Ordering::Release);
        self.last_sequence.store(other.last_sequence(), Ordering::Release);
        self.manifest_number.store(other.manifest_number(), Ordering::Release);
        self.current.store(other.current());
    }

    /// Returns a number that no file of the directory has.
    pub fn new_file_number(&self) -> u64 {
        self.next_file_number.fetch_add(1, Ordering::Relaxed)
    }

    /// As [`new_file_number`](Self::new_file_number), for a table that a flush writes. The number before it stays free, for
    /// the table into which this one is merged if it is the newest input of a merge within level 0. That table is then
    /// newer by number than all before the inputs, and older than all after them.
    pub fn new_flush_number(&self) -> u64 {
        self.next_file_number.fetch_add(2, Ordering::Relaxed) + 1
    }

    /// Makes sure that [`new_file_number`](Self::new_file_number) will not return `number`.
    pub fn mark_file_number_used(&self, number: u64) {
        self.next_file_number.fetch_max(number.saturating_add(1).min(FILE_NUMBER_LIMIT), Ordering::Relaxed);
    }

    /// A number larger than all those returned so far.
    pub fn next_file_number(&self) -> u64 {
        self.next_file_number.load(Ordering::Relaxed)
    }

    /// The recorded log number: logs below it hold nothing that is not in tables.
    pub fn log_number(&self) -> u64 {
        self.log_number.load(Ordering::Acquire)
    }

    /// The recorded sequence: no entry in a table has a newer one.
    pub fn last_sequence(&self) -> SequenceNumber {
        self.last_sequence.load(Ordering::Acquire)
    }

    /// The MANIFEST that `CURRENT` names.
    pub fn manifest_number(&self) -> u64 {
        self.manifest_number.load(Ordering::Acquire)
    }

    /// Where the compaction of each level last stopped. Waits for a change that is being written.
    pub fn compact_pointers(&self) -> StoredCompactPointers {
        self.changes.lock().pointers.clone()
    }

    /// Makes `edit` durable, then current, and returns the new version. `counts` lists the contents of the files
    /// that were written for it, by file number. The files must be synced; their names need not be.
    ///
    /// This method fills in the edit's `next_file_number`, `previous_log_number` and `comparator`. `log_number` and
    /// `last_sequence` may be left out, and then stay unchanged.
    ///
    /// # Errors
    /// - `InvalidArgument` if the edit does not fit the current version, and `ReadOnly` if the options say so. Neither
    ///   changes anything.
    /// - `DiskFull` if there is no room. Later changes may succeed.
    /// - After any other failure to write, every later change is refused with `Poisoned`.
    ///
    /// The new files are removed if nothing of the edit was handed to the system. After a failed write, whatever its error, the
    /// MANIFEST may name them, and they stay until a later change or the next open has resolved that.
    pub fn apply(&self, edit: VersionEdit, counts: &[(u64, TableCounts)]) -> Result<Arc<Version>> {
        let mut changes = self.changes.lock();
        let prepared = self.prepare(&mut changes, edit, counts);
        let Prepared { edit, version, pointers, removed } = prepared.inspect_err(|_| {
            self.remove_tables(counts.iter().map(|(number, _)| *number));
        })?;
        let numbers = (edit.log_number, edit.last_sequence);
        if let Err(error) = self.make_durable(&mut changes, &version, &pointers, edit) {
            if error.may_pass() {
                changes.manifest = None;
                changes.unresolved = Some(counts.iter().map(|(number, _)| *number).collect());
            } else {
                changes.failure = Some(error.clone());
            }
            return Err(error);
        }
        changes.pointers = pointers;
        self.log_number.store(numbers.0.unwrap_or_default(), Ordering::Release);
        self.last_sequence.store(numbers.1.unwrap_or_default(), Ordering::Release);
        self.current.store(Arc::clone(&version));
        for file in &removed {
            file.mark_obsolete();
        }
        Ok(version)
    }

    /// Completes `edit` and builds the version that it makes. Nothing of it is written.
    fn prepare(
        &self,
        changes: &mut Changes,
        edit: VersionEdit,
        counts: &[(u64, TableCounts)],
    ) -> Result<Prepared> {
        if self.options.read_only {
            let message = "the database was opened read-only";
            return Err(Error::at_path(ErrorKind::ReadOnly, &self.options.directory, message));
        }
        self.resolve(changes)?;
        let edit = self.complete(edit)?;
        let base = self.current();
        let new = NewFiles {
            newest_sequence: edit.last_sequence.unwrap_or_default(),
            origin: FileOrigin::Written,
            counts,
        };
        let mut builder = VersionBuilder::new(&base, Arc::clone(&self.obsolete), new);
        builder.apply(&edit.deleted_files, edit.new_files.iter().cloned(), MissingFile::Refuse)?;
        let (version, removed) = builder.finish();
        if cfg!(debug_assertions) {
            checker::check(&version)?;
        }
        let version = Arc::new(version);
        let mut pointers = changes.pointers.clone();
        for (level, key) in &edit.compact_pointers {
            pointers[*level] = Some(key.clone());
        }
        Ok(Prepared { edit, version, pointers, removed })
    }

    /// Removes tables that no version lists. If one stays, it does no harm, and the next open removes it.
    pub(crate) fn remove_tables(&self, numbers: impl IntoIterator<Item = u64>) {
        let VersionSetOptions { env, directory, .. } = &self.options;
        for number in numbers {
            let _ = env.remove_file(&directory.join(file_name::table_name(number)));
        }
    }

    /// Makes sure that the disk states the version in force and nothing else. After a change that found no room, the
    /// disk may or may not hold that change. This method then writes a new MANIFEST and removes the tables that the
    /// change named. Call it before writing a table under a number that was used before.
    ///
    /// # Errors
    /// The same as those of [`apply`](Self::apply).
    pub fn resolve_failed_change(&self) -> Result<()> {
        self.resolve(&mut self.changes.lock())
    }

    fn resolve(&self, changes: &mut Changes) -> Result<()> {
        if let Some(failure) = &changes.failure {
            return Err(Error::poisoned(failure));
        }
        let Some(tables) = changes.unresolved.take() else { return Ok(()) };
        let resolved = self.complete(VersionEdit::default()).and_then(|edit| {
            self.replace_manifest(changes, &self.current(), &changes.pointers.clone(), edit)
        });
        match resolved {
            Ok(()) => self.remove_tables(tables),
            Err(error) if error.may_pass() => {
                changes.unresolved = Some(tables);
                return Err(error);
            }
            Err(error) => {
                changes.failure = Some(error.clone());
                return Err(error);
            }
        }
        Ok(())
    }

    /// Whether the state on the disk may need the log `number` as its first log: the version in force may, or a change
    /// that failed but may still be on the disk.
    pub fn may_name_log(&self, number: u64) -> bool {
        let changes = self.changes.lock();
        number == self.log_number() || changes.failure.is_some() || changes.unresolved.is_some()
    }

    /// Lets changes continue in the MANIFEST that was read, which is known to be durable up to `size_bytes`. Does
    /// nothing if the MANIFEST is longer by now, or so large that the next change would replace it. Nothing is written.
    ///
    /// # Errors
    /// The errors of opening the file.
    pub(crate) fn go_on_in_manifest(&self, size_bytes: u64) -> Result<()> {
        let VersionSetOptions { env, directory, manifest_size_limit_bytes, .. } = &self.options;
        if size_bytes < *manifest_size_limit_bytes {
            let number = self.manifest_number();
            self.changes.lock().manifest = ManifestWriter::go_on(&**env, directory, number, size_bytes)?;
        }
        Ok(())
    }

    /// Writes a new MANIFEST of the version in force, unless one has been open since the set was created. What was
    /// recovered may only be in the system's memory. Afterwards it is durable, and files that it does not name may be
    /// removed.
    ///
    /// The MANIFEST names `log_number`, if given, as the first log that still matters. Returns whether one was written: then
    /// the names of all files that were created before are durable, too.
    ///
    /// # Errors
    /// The same as those of [`apply`](Self::apply).
    pub fn renew(&self, log_number: Option<u64>) -> Result<bool> {
        let mut changes = self.changes.lock();
        if changes.manifest.is_some() && log_number.is_none_or(|number| number == self.log_number()) {
            return Ok(false);
        }
        let edit = self.complete(VersionEdit { log_number, ..VersionEdit::default() })?;
        let number = edit.log_number.unwrap_or_default();
        let pointers = changes.pointers.clone();
        self.replace_manifest(&mut changes, &self.current(), &pointers, edit)?;
        self.log_number.store(number, Ordering::Release);
        Ok(true)
    }

    /// Writes a MANIFEST with the number `manifest_number` for a copy of `version` in `directory` that has no logs. Its
    /// contents are durable on return; its name is durable once the directory is synced.
    pub fn write_copy(
        &self,
        version: &Version,
        directory: &Path,
        manifest_number: u64,
        last_sequence: SequenceNumber,
    ) -> Result<()> {
        let edit = VersionEdit {
            log_number: Some(manifest_number),
            last_sequence: Some(last_sequence),
            ..VersionEdit::default()
        };
        let snapshot = self.snapshot(version, &StoredCompactPointers::default(), edit);
        ManifestWriter::create(&self.options.env, directory, manifest_number, snapshot)?.close()
    }

    /// The number and size of the MANIFEST if all of it is durable and it states the version in force.
    pub fn durable_manifest(&self) -> Option<(u64, u64)> {
        self.changes.lock().durable_manifest()
    }

    /// Closes the MANIFEST. Every later change is refused. Returns what [`durable_manifest`](Self::durable_manifest) returned
    /// before.
    pub fn close(&self) -> Result<Option<(u64, u64)>> {
        let mut changes = self.changes.lock();
        let durable = changes.durable_manifest();
        changes.failure.get_or_insert_with(Error::closed);
        changes.manifest.take().map_or(Ok(()), ManifestWriter::close)?;
        Ok(durable)
    }

    /// Fills in the numbers, and checks those that were given.
    fn complete(&self, mut edit: VersionEdit) -> Result<VersionEdit> {
        let log_number = edit.log_number.unwrap_or_else(|| self.log_number());
        if log_number < self.log_number() {
            let message = format!("log number {log_number} after {}", self.log_number());
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let next_file_number = self.next_file_number();
        let named = edit.new_files.iter().map(|(_, file)| file.number).chain([log_number]);
        if let Some(number) = named.max().filter(|number| *number >= next_file_number) {
            let message = format!("file number {number} was never given out");
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        edit.comparator = None;
        edit.log_number = Some(log_number);
        edit.previous_log_number = Some(0);
        edit.next_file_number = Some(next_file_number);
        edit.last_sequence = Some(edit.last_sequence.unwrap_or_default().max(self.last_sequence()));
        Ok(edit)
    }

    fn make_durable(
        &self,
        changes: &mut Changes,
        version: &Version,
        pointers: &StoredCompactPointers,
        edit: VersionEdit,
    ) -> Result<()> {
        let limit_bytes = self.options.manifest_size_limit_bytes;
        if let Some(manifest) = &mut changes.manifest
            && manifest.size_bytes() < limit_bytes.max(2 * manifest.snapshot_size_bytes())
        {
            if !edit.new_files.is_empty() || edit.log_number != Some(self.log_number()) {
                self.options.env.sync_directory(&self.options.directory)?;
            }
            return manifest.append(&edit);
        }
        self.replace_manifest(changes, version, pointers, edit)
    }

    /// Replaces the MANIFEST in force by a new one of `version`.
    fn replace_manifest(
        &self,
        changes: &mut Changes,
        version: &Version,
        pointers: &StoredCompactPointers,
        edit: VersionEdit,
    ) -> Result<()> {
        let (old, number) = (self.manifest_number(), self.new_file_number());
        let snapshot = self.snapshot(version, pointers, edit);
        changes.manifest = Some(new_manifest::put_in_force(&self.options, number, snapshot)?);
        self.manifest_number.store(number, Ordering::Release);
        if old != 0 {
            // Nothing refers to the old MANIFEST. If it stays, the next open removes it.
            let _ = self.options.env.remove_file(&self.options.directory.join(file_name::manifest_name(old)));
        }
        Ok(())
    }

    fn snapshot(
        &self,
        version: &Version,
        pointers: &StoredCompactPointers,
        edit: VersionEdit,
    ) -> VersionEdit {
        new_manifest::snapshot(&self.options, version, pointers, self.next_file_number(), edit)
    }
}

impl std::fmt::Debug for VersionSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VersionSet")
            .field("directory", &self.options.directory)
            .field("manifest_number", &self.manifest_number())
            .field("log_number", &self.log_number())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
