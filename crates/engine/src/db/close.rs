//! Closes a database.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_format::file_name;

use crate::db::inner::DbInner;
use crate::error::Result;
use crate::memtable::MemTable;
use crate::read::super_version::SealedMemTable;
use crate::recovery::synced_files::SyncedManifest;
use crate::wal::writer::WalWriter;
use crate::write::writer::CommitState;

impl DbInner {
    /// See [`Db::close`](crate::Db::close).
    pub(crate) fn close(self: &Arc<Self>) -> Result<()> {
        if self.health.check_process().is_err() {
            self.forget_in_child();
            return Ok(());
        }
        if !self.health.begin_close() {
            return Ok(());
        }
        // This thread still writes what was submitted before. What comes after the token is refused.
        self.submissions.close();
        let mut token = self.writer.queue.take_token();
        let made_durable = self.writer.make_recovered_durable(&mut token);
        self.merge_small_tables();
        self.health.mark_closed();
        // The order matters: a compaction that gives up must find that the database is closing.
        self.background.lock().closing = true;
        self.compactor.gives_up.store(true, Ordering::Release);
        drop(self.background.wait_until(|background| background.is_quiet()));

        let (mut result, mut synced_log) = (Ok(()), None);
        if let Some(wal) = token.wal.take().filter(|wal| self.may_sync_logs(&token, wal)) {
            match self.writer.sync_outgoing_logs(&mut token).and_then(|()| self.close_log(wal)) {
                Ok(log) => synced_log = log,
                Err(error) => result = Err(error),
            }
        }
        // The files of these logs are gone, and the flush thread, which would close them, has no more work.
        let unneeded = std::mem::take(&mut self.background.lock().logs_to_close);
        drop(unneeded);
        self.files.remove_obsolete_tables();
        let manifest = self.files.versions.close();
        let synced_manifest = match (&result, &manifest) {
            (Ok(()), Ok(Some((number, size_bytes)))) => self.synced_manifest(*number, *size_bytes),
            _ => None,
        };
        self.note_what_was_synced(synced_log, synced_manifest);
        result = result.and(manifest.map(|_| ()));
        result = result.and(self.health.report_failure_at_close()).and(made_durable);
        match &result {
            Ok(()) => self.files.info_log.line(format_args!("closed")),
            Err(error) => self.files.info_log.line(format_args!("closed with an error: {error}")),
        }
        self.files.info_log.close();
        self.release_memory(&mut token);
        *self.file_lock.lock() = None;
        result
    }

    /// Whether a sync of the logs at the close says anything. After one has failed, which a call has returned, the system takes
    /// what it could not write for written.
    fn may_sync_logs(&self, commit: &CommitState, wal: &WalWriter) -> bool {
        !self.health.is_poisoned() || !commit.outgoing.iter().chain([wal]).any(WalWriter::has_failed_sync)
    }

    /// In a forked child, keeps everything until the process ends, because releasing it would change files or wait for
    /// threads that do not exist there. Only the lock's descriptor is closed, so that the lock ends with the parent.
    pub(crate) fn forget_in_child(self: &Arc<Self>) {
        drop(self.file_lock.try_lock().and_then(|mut lock| lock.take()));
        std::mem::forget(Arc::clone(self));
    }

    /// Releases what only reads need, because a handle may live on for long: in JavaScript, until it is collected.
    /// Reads that are under way and open iterators keep what they need.
    fn release_memory(&self, commit: &mut CommitState) {
        commit.memtable = Arc::new(MemTable::new(self.files.comparator.clone()));
        // A read that finds this view then finds the database closed. A caller that waits for a flush still finds it
        // unfinished.
        self.published.change(|view| {
            view.active = Arc::clone(&commit.memtable);
            view.hold = None;
            for sealed in &mut view.sealed {
                let table = Arc::clone(&commit.memtable);
                *sealed = Arc::new(SealedMemTable { table, ..SealedMemTable::clone(sealed) });
            }
        });
        self.files.tables.close_all();
        if let Some(own) = self.block_cache.as_ref().filter(|_| self.options.block_cache.is_none()) {
            own.clear();
        }
    }

    /// Makes the last log durable. A log without records is removed, or each open would leave one behind. A log that
    /// the MANIFEST may name must stay. Returns the number and size of a log with records.
    fn close_log(&self, mut wal: WalWriter) -> Result<Option<(u64, u64)>> {
        if wal.is_empty() && !self.files.versions.may_name_log(wal.number()) {
            wal.discard(&*self.files.env)?;
            return Ok(None);
        }
        if wal.number() == self.files.versions.log_number() {
            // Before the MANIFEST named it, the directory was synced.
            wal.note_synced_name();
        }
        wal.sync(&*self.files.env)?;
        let (number, size_bytes) = (wal.number(), wal.size_bytes());
        wal.close()?;
        Ok((size_bytes > 0).then_some((number, size_bytes)))
    }

    /// What the next open needs to recognize the MANIFEST, which is durable.
    pub(super) fn synced_manifest(&self, number: u64, size_bytes: u64) -> Option<SyncedManifest> {
        let path = self.files.directory.join(file_name::manifest_name(number));
        let id = self.files.env.file_id(&path).ok()??;
        Some(SyncedManifest { number, size_bytes, id })
    }

    /// Records that the last log and the MANIFEST are durable, by one write for both. The next open then continues in
    /// the MANIFEST.
    fn note_what_was_synced(&self, log: Option<(u64, u64)>, manifest: Option<SyncedManifest>) {
        let oldest = self.files.versions.log_number();
        self.files.note_synced(|synced| {
            if let Some((number, size_bytes)) = log {
                synced.note_log(number, size_bytes, oldest);
            }
            if let Some(manifest) = manifest {
                synced.note_manifest(manifest);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::thread;

    use terrace_env::conformance::eventually;
    use terrace_env::{Env, MemoryEnv};

    use super::*;
    use crate::error::ErrorKind;
    use crate::{Db, IterOptions, Options, ReadOptions, WriteOptions};

    fn wait_for_line(db: &Db, length: usize) {
        eventually("the queue is that long", || db.inner.writer.queue.length() >= length);
    }

    #[test]
    fn opening_and_closing_without_writes_leaves_no_logs_behind() {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
        let open = || Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
        let logs = || {
            let names = env.list(Path::new("/db")).unwrap();
            names.into_iter().filter(|name| name.ends_with(".log")).collect::<Vec<_>>()
        };
        open().close().unwrap();
        assert_eq!(logs().len(), 1, "the log that the first MANIFEST names");
        for (round, flushes) in [false, true, false, true].into_iter().enumerate() {
            let db = open();
            db.put(b"k", &[round as u8], &WriteOptions::default()).unwrap();
            if flushes {
                db.flush().unwrap();
            }
            db.close().unwrap();
            for _ in 0..5 {
                let db = open();
                assert_eq!(db.get(b"k", &ReadOptions::default()).unwrap().unwrap(), [round as u8]);
                db.close().unwrap();
                // The oldest one, which the MANIFEST names, and one that an open came to flush.
                assert!(logs().len() <= 2, "in round {round}: {:?}", logs());
            }
        }
    }

    #[test]
    fn a_closed_database_whose_handle_lives_on_holds_no_tables_and_no_entries() {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
        let db = Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
        for (key, flushes) in [(b"a", true), (b"b", false)] {
            db.put(key, &[7; 1000], &WriteOptions::default()).unwrap();
            if flushes {
                db.flush().unwrap();
            }
        }
        let mut iterator = db.iter(IterOptions::default()).unwrap();
        iterator.seek_to_first().unwrap();
        assert!(
            db.inner.files.tables.open_files() > 0 && !db.inner.published.super_version().active.is_empty()
        );
        db.close().unwrap();
        assert_eq!(db.inner.files.tables.open_files(), 0);
        assert_eq!(db.inner.block_cache.as_ref().unwrap().used_bytes(), 0);
        assert!(db.inner.published.super_version().active.is_empty());
        let read = db.get(b"b", &ReadOptions::default());
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Closed);
        iterator.next().unwrap();
        assert_eq!(iterator.key(), b"b", "an iterator keeps what it needs");
    }

    #[test]
    fn what_a_close_overtakes_can_reach_the_files_and_fails_with_closed() {
        let directory = tempfile::tempdir().unwrap();
        let db = Db::open(directory.path().join("db"), Options::default()).unwrap();
        let lost = directory.path().join("db/000099.ldb");
        let overtaken = db.inner.while_open(|| {
            db.close()?;
            assert!(db.inner.files.env.exists(&db.path().join("CURRENT"))?);
            // The next owner has removed it.
            Ok(db.inner.files.env.file_size(&lost)?)
        });
        assert_eq!(overtaken.unwrap_err().kind(), ErrorKind::Closed);
        assert_eq!(db.inner.while_open(|| Ok(())).unwrap_err().kind(), ErrorKind::Closed);
    }

    #[test]
    fn what_fails_in_an_open_database_keeps_its_error() {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
        let db = Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
        let failed = db.inner.while_open(|| Ok(env.file_size(Path::new("/db/000099.ldb"))?));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Io);
    }

    #[test]
    fn a_flush_that_waited_behind_a_close_leaves_the_directory_alone() {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
        let db = Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
        db.put(b"k", b"v", &WriteOptions::default()).unwrap();
        let files = || {
            let mut names = env.list(Path::new("/db")).unwrap();
            names.sort();
            names
        };
        let before = files();
        let token = db.inner.writer.queue.take_token();
        thread::scope(|scope| {
            let close = scope.spawn(|| db.close());
            wait_for_line(&db, 1);
            // The database is not closed yet, so this passes the first check and joins the line.
            let flush = scope.spawn(|| db.flush());
            wait_for_line(&db, 2);
            drop(token);
            close.join().unwrap().unwrap();
            assert_eq!(flush.join().unwrap().unwrap_err().kind(), ErrorKind::Closed);
        });
        // The directory may belong to another database by now. A new log in it would empty one of that database's logs.
        assert_eq!(files(), before);
    }
}
