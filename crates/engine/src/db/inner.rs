//! The state of an open database that its parts share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use terrace_env::locks::{Condvar, Mutex};
use terrace_env::{Env, FileLock, ProcessMark};
use terrace_format::internal_key::InternalKeyComparator;

use crate::cache::block_cache::BlockCache;
use crate::cache::table_cache::TableCache;
use crate::compaction::pool::BackgroundPool;
use crate::compaction::scheduler::BackgroundState;
use crate::db::properties::LeftOutLog;
use crate::error::{Error, ErrorKind, Result};
use crate::info_log::InfoLog;
use crate::options::Options;
use crate::read::lookup::SeekForecast;
use crate::read::snapshot::SnapshotList;
use crate::read::super_version::{Published, SuperVersion};
use crate::recovery::synced_files::SyncedFiles;
use crate::version::file_meta::ObsoleteFiles;
use crate::version::set::VersionSet;
use crate::write::commit::CommitState;
use crate::write::line::CommitLine;
use crate::write::submit::Submission;
use crate::write::submit_queue::SubmitQueue;

/// Everything behind a [`Db`](crate::Db).
///
/// Locks, in the order in which they may be taken: the commit token ([`line`](Self::line)), then
/// [`background`](Self::background), then the short inner ones (snapshot list, version set, info log). Readers
/// take none of them.
pub(crate) struct DbInner {
    pub(crate) directory: PathBuf,
    /// Which process opened it. A forked child has none of the background threads, and locks that any other thread held stay
    /// held there for good: so every operation is refused there, reads as well, and nothing is released.
    pub(crate) process: ProcessMark,
    pub(crate) env: Arc<dyn Env>,
    pub(crate) options: Options,
    pub(crate) comparator: InternalKeyComparator,
    pub(crate) block_cache: Option<Arc<BlockCache>>,
    pub(crate) tables: Arc<TableCache>,
    pub(crate) versions: VersionSet,
    pub(crate) obsolete: Arc<ObsoleteFiles>,
    pub(crate) snapshots: Arc<SnapshotList>,
    pub(crate) published: Published,
    pub(crate) seek_forecast: Arc<SeekForecast>,
    pub(crate) line: CommitLine<CommitState>,
    pub(crate) submissions: SubmitQueue<Submission>,
    pub(crate) background: Mutex<BackgroundState>,
    /// Signalled whenever a background job ends.
    pub(crate) progress: Condvar,
    /// None for a read-only database.
    pub(crate) pool: Option<Arc<BackgroundPool>>,
    pub(crate) info_log: InfoLog,
    /// How far logs are durable that take no more records.
    pub(crate) synced_files: Mutex<SyncedFiles>,
    /// What the open left out of the logs.
    pub(crate) left_out: Option<LeftOutLog>,
    pub(crate) file_lock: Mutex<Option<Box<dyn FileLock>>>,
    pub(crate) close_begun: AtomicBool,
    pub(crate) closed: AtomicBool,
    /// Tells running compactions to give up, since the database closes.
    pub(crate) background_ends: AtomicBool,
    pub(crate) poisoned: AtomicBool,
    pub(crate) failure: Mutex<Option<Error>>,
    /// Whether a check for idleness is due at some time.
    pub(crate) idle_check_armed: AtomicBool,
}

impl DbInner {
    /// An error in a process that was forked from the one that opened the database.
    #[inline]
    pub(crate) fn check_process(&self) -> Result<()> {
        if self.process.is_here() { Ok(()) } else { Err(Error::forked()) }
    }

    /// An error if the database is closed, or is another process's.
    #[inline]
    pub(crate) fn check_open(&self) -> Result<()> {
        self.check_process()?;
        if self.closed.load(Ordering::Acquire) { Err(Error::closed()) } else { Ok(()) }
    }

    /// An error if the database takes no writes.
    #[inline]
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.check_open()?;
        if self.poisoned.load(Ordering::Acquire) {
            let failure = self.failure.lock();
            return Err(failure.as_ref().map_or_else(Error::closed, Error::poisoned));
        }
        if self.options.read_only {
            let message = "the database was opened read-only";
            return Err(Error::at_path(ErrorKind::ReadOnly, &self.directory, message));
        }
        Ok(())
    }

    /// Refuses writes from now on, because of `cause`.
    pub(crate) fn poison(&self, cause: &Error) {
        let mut failure = self.failure.lock();
        if failure.is_none() {
            self.info_log.line(format_args!("writes are refused from now on: {cause}"));
            *failure = Some(cause.clone());
        }
        self.poisoned.store(true, Ordering::Release);
        drop(failure);
        self.progress.notify_all();
    }

    /// Replaces the super version by a changed copy. The caller holds [`background`](Self::background), which makes
    /// changes one after the other.
    pub(crate) fn update_super_version(
        &self,
        _background: &BackgroundState,
        change: impl FnOnce(&mut SuperVersion),
    ) {
        self.published.change(change);
    }
}
