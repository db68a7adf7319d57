//! The state of an open database that its parts share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use terrace_env::locks::{Condvar, Mutex};
use terrace_env::{Env, FileLock};
use terrace_format::internal_key::InternalKeyComparator;

use crate::cache::block_cache::BlockCache;
use crate::cache::table_cache::TableCache;
use crate::compaction::pool::BackgroundPool;
use crate::compaction::scheduler::BackgroundState;
use crate::db::properties::LeftOutLog;
use crate::error::Error;
use crate::health::Health;
use crate::info_log::InfoLog;
use crate::options::Options;
use crate::read::lookup::SeekForecast;
use crate::read::snapshot::SnapshotList;
use crate::read::super_version::{Published, SuperVersion};
use crate::synced_logs::SyncedLogs;
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
    pub(crate) health: Health,
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
    pub(crate) info_log: Arc<InfoLog>,
    /// How far logs are durable that take no more records.
    pub(crate) synced_logs: Mutex<SyncedLogs>,
    /// What the open left out of the logs.
    pub(crate) left_out: Option<LeftOutLog>,
    pub(crate) file_lock: Mutex<Option<Box<dyn FileLock>>>,
    /// Tells running compactions to give up, since the database closes.
    pub(crate) background_ends: AtomicBool,
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
