//! The logs before the active one, until their memtables are in tables. Predecessors: a seal, which leaves such a log;
//! an open, which may keep those that it found (`recovery/kept_logs`); a sync, before which these logs are synced.
//! Successor: `synced_files`.

use crate::error::Result;
use crate::wal::writer::WalWriter;
use crate::write::writer::{Backlog, CommitState, Writer};

impl<B: Backlog> Writer<B> {
    /// Syncs and closes the logs before the active one that still matter.
    pub(crate) fn sync_outgoing_logs(&self, commit: &mut CommitState) -> Result<()> {
        if commit.outgoing.is_empty() {
            return Ok(());
        }
        self.backlog.close_later(self.take_flushed_logs(commit));
        let log_number = || self.files.versions.log_number();
        // A flush that made a log unnecessary may have removed it meanwhile.
        let unless_needless = |number: u64, result: Result<()>| match result {
            Err(_) if number < log_number() => Ok(()),
            result => result,
        };
        for outgoing in &mut commit.outgoing {
            unless_needless(outgoing.number(), outgoing.sync(&*self.files.env))?;
        }
        commit.outgoing.drain(..).try_for_each(|outgoing| {
            let (number, size_bytes) = (outgoing.number(), outgoing.size_bytes());
            unless_needless(number, outgoing.close())?;
            self.files.note_synced_log(number, size_bytes);
            Ok(())
        })
    }

    /// Makes the logs that were found at the open and still matter durable.
    pub(super) fn replace_kept_logs(&self, commit: &mut CommitState) -> Result<()> {
        if commit.kept.is_empty() {
            return Ok(());
        }
        self.backlog.close_later(self.take_flushed_logs(commit));
        for kept in &commit.kept {
            kept.replace(&*self.files.env, &self.files.directory)?;
            self.files.note_synced_log(kept.number, kept.size_bytes);
        }
        // The directory was synced after the active log was begun.
        if let Some(wal) = commit.wal.as_mut().filter(|_| !commit.kept.is_empty()) {
            wal.note_synced_name();
        }
        Ok(())
    }

    /// Takes out the logs whose memtables are now in tables. They no longer need a sync.
    pub(super) fn take_flushed_logs(&self, commit: &mut CommitState) -> Vec<WalWriter> {
        let oldest_needed = self.files.versions.log_number();
        commit.kept.retain(|kept| kept.number >= oldest_needed);
        commit.outgoing.extract_if(.., |outgoing| outgoing.number() < oldest_needed).collect()
    }
}
