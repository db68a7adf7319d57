//! Finishes an open: makes what it found durable, and removes what nothing refers to. Predecessor: `db/open`.
//! Successors: the version set, and `flush` for what was in logs.
//!
//! What an open found can be read, but whether it is on the disk is unknown, and syncing it proves nothing. It is
//! therefore rewritten: a MANIFEST here, and tables by the flush of the recovered memtables. There is one exception. If
//! an earlier session recorded that the MANIFEST is durable exactly as it was found, this session continues in it, and
//! the open syncs nothing.
//!
//! New writes get sequences that leftovers may have, too: the records after a hole in a log, or a table or log that
//! nothing refers to. These must never be found again after a loss of power, so they are gone when the open returns.
//!
//! If another engine wrote the database, what its logs held is in tables before a MANIFEST of ours takes effect, and
//! that MANIFEST needs none of those logs. Two things depend on this, whenever this process dies. Our rules for logs
//! never apply to another engine's, whose sequences may have gaps. And every engine reads all that was acknowledged:
//! LevelDB records the running sequence with each compaction, and goleveldb skips what a log holds below that.

use std::sync::Arc;

use terrace_format::file_name::{self, FileKind};
use terrace_format::version_edit::VersionEdit;

use crate::db::inner::DbInner;
use crate::error::Result;
use crate::recovery::synced_files::SyncedManifest;
use crate::repair::{LOST_DIRECTORY, link_to_directory};

/// What must be known of the logs to finish an open.
pub(crate) struct FoundLogs {
    /// The logs that, because of a hole, count only in part or not at all.
    pub(crate) stopped: Vec<u64>,
    /// Whether another engine may have written them, because the MANIFEST is not ours or there is none.
    pub(crate) are_foreign: bool,
}

impl DbInner {
    /// Finishes the open. `names` are the files from before it.
    ///
    /// # Errors
    /// `DiskFull` if there is no room for what must be written, and others. Everything that was found then stays where it
    /// is.
    pub(crate) fn finish_open(self: &Arc<Self>, found: &FoundLogs, names: &[String]) -> Result<()> {
        if !found.stopped.is_empty() {
            self.link_to_lost(&found.stopped)?;
        }
        if found.are_foreign || !found.stopped.is_empty() {
            self.leave_logs()?;
        } else {
            self.make_manifest_durable()?;
        }
        self.note_manifest();
        self.remove_leftovers(&self.leftovers(names))
    }

    /// Makes sure that the MANIFEST in force is durable: either the one that was read is known to be, or a new one is
    /// written.
    fn make_manifest_durable(&self) -> Result<()> {
        let number = self.files.versions.manifest_number();
        let synced = self.files.synced.lock().manifest().filter(|synced| synced.number == number);
        if let Some(synced) = synced
            && self.files.env.file_id(&self.files.directory.join(file_name::manifest_name(number)))?
                == Some(synced.id)
        {
            self.files.versions.go_on_in_manifest(synced.size_bytes)?;
        }
        // The logs below the oldest existing one are gone, and the MANIFEST should need none of them.
        let oldest = self.background.lock().logs.iter().copied().min();
        let renewed = self.files.versions.renew(oldest)?;
        let mut token = self.writer.queue.take_token();
        if let Some(wal) = token.wal.as_mut().filter(|_| renewed) {
            wal.note_synced_name();
        }
        Ok(())
    }

    /// Records that the MANIFEST is durable. If this session is killed before it adds an edit, the next one continues
    /// in it.
    fn note_manifest(&self) {
        let Some((number, size_bytes)) = self.files.versions.durable_manifest() else { return };
        let is_known = |known: SyncedManifest| (known.number, known.size_bytes) == (number, size_bytes);
        if self.files.synced.lock().manifest().is_some_and(is_known) {
            return;
        }
        if let Some(manifest) = self.synced_manifest(number, size_bytes) {
            self.files.note_synced(|synced| synced.note_manifest(manifest));
        }
    }

    /// Keeps the logs from a hole on (`stopped`) in the directory `lost`.
    fn link_to_lost(&self, stopped: &[u64]) -> Result<()> {
        let lost = self.files.directory.join(LOST_DIRECTORY);
        self.files.env.create_directory_all(&lost)?;
        for number in stopped {
            let name = file_name::log_name(*number);
            link_to_directory(&*self.files.env, &self.files.directory.join(&name), &lost, &name)?;
        }
        Ok(self.files.env.sync_directory(&lost)?)
    }

    /// Writes what was recovered to tables, and has one edit name these and, as the first log, the one that this session
    /// began. The logs that were found count no longer.
    fn leave_logs(&self) -> Result<()> {
        let mut recovered = self.published.super_version().sealed.clone();
        recovered.reverse();
        if recovered.is_empty() {
            let newest = self.background.lock().logs.iter().copied().max();
            let edit = VersionEdit { log_number: newest, ..VersionEdit::default() };
            self.files.versions.apply(edit, &[])?;
            self.background.lock().logs.retain(|number| Some(*number) == newest);
        } else {
            self.flush_sealed(&recovered)?;
        }
        // The directory was synced before a MANIFEST named the log.
        let mut token = self.writer.queue.take_token();
        token.wal.iter_mut().for_each(|wal| wal.note_synced_name());
        Ok(())
    }

    /// The files among `names` that belong to a database but that nothing refers to, because a crash left them behind.
    fn leftovers(&self, names: &[String]) -> Vec<String> {
        let version = self.files.versions.current();
        let mut live: Vec<u64> = version.files().map(|file| file.number).collect();
        live.sort_unstable();
        let logs = self.background.lock().logs.clone();
        let is_left_over = |name: &&String| match file_name::parse(name) {
            _ if *name == file_name::SYNCED => false,
            Some(FileKind::Table(number) | FileKind::LegacyTable(number)) => {
                live.binary_search(&number).is_err()
            }
            Some(FileKind::Log(number)) => !logs.contains(&number),
            Some(FileKind::Manifest(number)) => number != self.files.versions.manifest_number(),
            Some(FileKind::Temporary(_)) => true,
            Some(FileKind::Current | FileKind::Lock | FileKind::InfoLog | FileKind::OldInfoLog) | None => {
                false
            }
        };
        names.iter().filter(is_left_over).cloned().collect()
    }

    fn remove_leftovers(&self, names: &[String]) -> Result<()> {
        let holds_data = names.iter().any(|name| is_data(name) && !self.is_empty(name));
        for name in names {
            // A file that cannot be removed takes up space but does no harm.
            if self.files.env.remove_file(&self.files.directory.join(name)).is_ok() {
                self.files.info_log.line(format_args!("removed {name}, which nothing refers to"));
            }
        }
        if holds_data {
            // The next writes get its sequences, so a repair after a loss of power must not find it again.
            self.files.env.sync_directory(&self.files.directory)?;
        }
        Ok(())
    }

    fn is_empty(&self, name: &str) -> bool {
        self.files.env.file_size(&self.files.directory.join(name)).is_ok_and(|size_bytes| size_bytes == 0)
    }
}

fn is_data(name: &str) -> bool {
    use FileKind::{LegacyTable, Log, Table};
    matches!(file_name::parse(name), Some(Table(_) | LegacyTable(_) | Log(_)))
}
