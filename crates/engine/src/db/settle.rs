//! Settles what an open found. Predecessor: `db/open`. Successors: the version set, and `flush` for what was in logs.
//!
//! What was found can be read, but whether the disk has it is not known, and syncing it proves nothing. So it is written
//! anew: a MANIFEST here, tables by the flush of the recovered memtables. Only where the last session has left word that the
//! MANIFEST is durable just as it was found does this one go on in it, and the open syncs nothing. New writes are given sequences that something left
//! behind may have, too: what lies after a hole in a log, a table or a log that nothing refers to. After a loss of power
//! these must never be found again, so they are gone when the open returns.

use std::collections::HashSet;
use std::sync::Arc;

use terrace_format::file_name::{self, FileKind};
use terrace_format::version_edit::VersionEdit;

use crate::db::inner::DbInner;
use crate::error::Result;
use crate::repair::{LOST_DIRECTORY, link_to_directory};

impl DbInner {
    /// Settles. `stopped` are the logs that do not count, or not whole; `names` the files of before the open.
    pub(crate) fn settle(self: &Arc<Self>, stopped: &[u64], names: &[String]) -> Result<()> {
        if stopped.is_empty() {
            self.settle_manifest()?;
        } else {
            self.set_aside(stopped)?;
        }
        self.remove_leftovers(&self.leftovers(names))
    }

    /// Makes sure that the MANIFEST in force is durable: by what is known of the one that was read, or by a new one.
    fn settle_manifest(&self) -> Result<()> {
        let number = self.files.versions.manifest_number();
        let synced = self.files.synced.lock().manifest().filter(|synced| synced.number == number);
        if let Some(synced) = synced
            && self.files.env.file_id(&self.files.directory.join(file_name::manifest_name(number)))?
                == Some(synced.id)
        {
            self.files.versions.go_on_in_manifest(synced.size_bytes)?;
        }
        // The logs below the oldest that is there are gone, and the MANIFEST should need none of them.
        let oldest = self.background.lock().logs.iter().copied().min();
        self.files.versions.renew(oldest)
    }

    /// Recovery stopped at a hole: the logs from there on (`stopped`) must never count again, since new writes take the
    /// sequences of those after the hole. What was recovered becomes durable before.
    fn set_aside(self: &Arc<Self>, stopped: &[u64]) -> Result<()> {
        let lost = self.files.directory.join(LOST_DIRECTORY);
        self.files.env.create_directory_all(&lost)?;
        for number in stopped {
            let name = file_name::log_name(*number);
            link_to_directory(&*self.files.env, &self.files.directory.join(&name), &lost, &name)?;
        }
        self.files.env.sync_directory(&lost)?;
        while let Some(oldest) = self.published.super_version().sealed.last().cloned() {
            self.flush_sealed(&oldest)?;
        }
        let newest = self.background.lock().logs.iter().copied().max();
        let edit = VersionEdit { log_number: newest, ..VersionEdit::default() };
        self.files.record(edit, &[])?;
        self.background.lock().logs.retain(|number| Some(*number) == newest);
        Ok(())
    }

    /// Those of `names` that are a database's and that nothing refers to: what a crash left behind.
    fn leftovers(&self, names: &[String]) -> Vec<String> {
        let version = self.files.versions.current();
        let live: HashSet<u64> = version.levels.iter().flatten().map(|file| file.number).collect();
        let logs = self.background.lock().logs.clone();
        let is_left_over = |name: &&String| match file_name::parse(name) {
            Some(FileKind::Table(number) | FileKind::LegacyTable(number)) => !live.contains(&number),
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
        for name in names {
            self.files.info_log.line(format_args!("removes {name}, which nothing refers to"));
            // What cannot be removed takes up space and does no harm.
            let _ = self.files.env.remove_file(&self.files.directory.join(name));
        }
        if names.iter().any(|name| is_data(name)) {
            // Its sequences go to the next writes: after a loss of power a repair must not find it again.
            self.files.env.sync_directory(&self.files.directory)?;
        }
        Ok(())
    }
}

fn is_data(name: &str) -> bool {
    use FileKind::{LegacyTable, Log, Table};
    matches!(file_name::parse(name), Some(Table(_) | LegacyTable(_) | Log(_)))
}
