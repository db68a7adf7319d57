//! The state of an open database that its parts share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use terrace_env::FileLock;
use terrace_env::locks::{Condvar, Mutex};

use crate::cache::block_cache::BlockCache;
use crate::compaction::job::Compactor;
use crate::compaction::pool::BackgroundPool;
use crate::compaction::scheduler::BackgroundState;
use crate::db::properties::LeftOutLog;
use crate::error::Error;
use crate::files::Files;
use crate::health::Health;
use crate::options::Options;
use crate::read::lookup::SeekForecast;
use crate::read::published::Published;
use crate::read::super_version::SuperVersion;
use crate::synced_logs::SyncedLogs;
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
    pub(crate) health: Health,
    pub(crate) options: Options,
    pub(crate) files: Arc<Files>,
    pub(crate) block_cache: Option<Arc<BlockCache>>,
    pub(crate) published: Arc<Published>,
    pub(crate) compactor: Arc<Compactor>,
    pub(crate) seek_forecast: Arc<SeekForecast>,
    pub(crate) line: CommitLine<CommitState>,
    pub(crate) submissions: SubmitQueue<Submission>,
    pub(crate) background: Mutex<BackgroundState>,
    /// Signalled whenever a background job ends.
    pub(crate) progress: Condvar,
    /// None for a read-only database.
    pub(crate) pool: Option<Arc<BackgroundPool>>,
    /// How far logs are durable that take no more records.
    pub(crate) synced_logs: Mutex<SyncedLogs>,
    /// What the open left out of the logs.
    pub(crate) left_out: Option<LeftOutLog>,
    pub(crate) file_lock: Mutex<Option<Box<dyn FileLock>>>,
    /// Whether a check for idleness is due at some time.
    pub(crate) idle_check_armed: AtomicBool,
}

impl DbInner {
    /// Refuses writes from now on, because of `cause`.
    pub(crate) fn poison(&self, cause: &Error) {
        self.health.poison(cause);
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
