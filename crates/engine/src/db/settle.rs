//! Settles what an open found. Predecessor: `db/open`. Successors: the version set, and `flush` for what was in logs.
//!
//! What an open found can be read, but whether it is on the disk is unknown, and syncing it proves nothing. It is
//! therefore written anew: a MANIFEST here, and tables by the flush of the recovered memtables. There is one exception.
//! If an earlier session recorded that the MANIFEST is durable exactly as it was found, this session continues in it, and
//! the open syncs nothing.
//!
//! New writes get sequences that leftovers may have, too: the records after a hole in a log, or a table or log that
//! nothing refers to. These must never be found again after a loss of power, so they are gone when the open returns.
//!
//! LevelDB records the running sequence with each compaction, so its MANIFEST may record one that records of its log do
//! not exceed. goleveldb skips those records. They are in tables before the open returns, unless there is no room for
//! tables: what is acknowledged after it is then read by everyone, whenever this process dies.

use std::sync::Arc;

use terrace_format::file_name::{self, FileKind};
use terrace_format::version_edit::VersionEdit;

use crate::db::inner::DbInner;
use crate::error::Result;
use crate::recovery::synced_files::SyncedManifest;
use crate::repair::{LOST_DIRECTORY, link_to_directory};

/// What an open found in logs, as far as it must be settled.
#[derive(Default)]
pub(crate) struct FoundLogs {
    /// The logs that, because of a hole, count only in part or not at all.
    pub(crate) stopped: Vec<u64>,
    /// Whether the last sequence that the MANIFEST records reaches into them.
    pub(crate) are_covered: bool,
}

impl DbInner {
    /// Settles the state. `names` are the files from before the open.
    pub(crate) fn settle(self: &Arc<Self>, found: &FoundLogs, names: &[String]) -> Result<()> {
        if found.stopped.is_empty() {
            self.settle_manifest()?;
            if found.are_covered {
                // If this fails, the background goes on with it, and reports why.
                let _ = self.flush_recovered();
            }
        } else {
            self.set_aside(&found.stopped)?;
        }
        self.note_manifest();
        self.remove_leftovers(&self.leftovers(names))
    }

    /// Makes sure that the MANIFEST in force is durable: either the one that was read is known to be, or a new one is
    /// written.
    fn settle_manifest(&self) -> Result<()> {
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
        let mut token = self.writer.line.take_token();
        if let Some(wal) = token.wal.as_mut().filter(|_| renewed) {
            wal.note_synced_name();
        }
        // The directory was synced before a MANIFEST named the first log.
        let first = self.files.versions.log_number();
        for kept in token.kept.iter_mut().filter(|kept| renewed || kept.number == first) {
            kept.note_synced_name();
        }
        Ok(())
    }

    /// Records that the MANIFEST is durable. If this session is killed before it adds an edit, the next one goes on in it.
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

    /// Deals with a hole at which recovery stopped. The logs from there on (`stopped`) must never count again, because
    /// new writes take the sequences of those after the hole. What was recovered becomes durable first.
    fn set_aside(self: &Arc<Self>, stopped: &[u64]) -> Result<()> {
        let lost = self.files.directory.join(LOST_DIRECTORY);
        self.files.env.create_directory_all(&lost)?;
        for number in stopped {
            let name = file_name::log_name(*number);
            link_to_directory(&*self.files.env, &self.files.directory.join(&name), &lost, &name)?;
        }
        self.files.env.sync_directory(&lost)?;
        self.flush_recovered()?;
        let newest = self.background.lock().logs.iter().copied().max();
        let edit = VersionEdit { log_number: newest, ..VersionEdit::default() };
        self.files.record(edit, &[])?;
        self.background.lock().logs.retain(|number| Some(*number) == newest);
        Ok(())
    }

    /// Writes what was recovered from logs to tables.
    fn flush_recovered(&self) -> Result<()> {
        while let Some(oldest) = self.published.super_version().sealed.last().cloned() {
            self.flush_sealed(&oldest)?;
        }
        Ok(())
    }

    /// The files among `names` that belong to a database but that nothing refers to, because a crash left them behind.
    fn leftovers(&self, names: &[String]) -> Vec<String> {
        let version = self.files.versions.current();
        let mut live: Vec<u64> = version.files().map(|file| file.number).collect();
        live.sort_unstable();
        let logs = self.background.lock().logs.clone();
        let is_left_over = |name: &&String| match file_name::parse(name) {
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
            self.files.info_log.line(format_args!("removes {name}, which nothing refers to"));
            // A file that cannot be removed takes up space but does no harm.
            let _ = self.files.env.remove_file(&self.files.directory.join(name));
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
