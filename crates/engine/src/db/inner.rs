//! The parts of an open database.
//!
//! Each part has one purpose, knows nothing of [`DbInner`], and is tested without a database. An open (`db/open`) reads the
//! files, assembles the parts (`db/assemble`) and makes the state durable (`db/finish_open`).
//!
//! | part | contents | depends on |
//! |---|---|---|
//! | `health` | which operations are refused, and with which error | |
//! | `files` | the directory, the open tables, the versions; how tables are added and removed | the version set, the table cache |
//! | `read/published` | the super version, the visible sequence, the snapshots | |
//! | `write/writer` | the commit token, the log, the active memtable, the throttle | the three above, and a `Backlog`, which takes full memtables |
//! | `write/submit` | the queue of submitted writes | the writer, the pool |
//! | `background/scheduler` | the running jobs, their measured rates, the pool | `health`, `published`, and `Jobs`: flush, compact, use idle time |
//! | `compaction/job` | one compaction, on one thread or several | `files`, `published`, the pool |
//!
//! They meet in `db/jobs`. There the background becomes the writer's `Backlog`, and readers see a flush or compaction once it
//! is recorded.

use std::sync::Arc;

use terrace_env::FileLock;
use terrace_env::locks::Mutex;

use crate::background::scheduler::Background;
use crate::cache::block_cache::BlockCache;
use crate::compaction::job::Compactor;
use crate::files::Files;
use crate::health::Health;
use crate::options::Options;
use crate::read::lookup::SeekForecast;
use crate::read::published::Published;
use crate::recovery::left_out::LeftOutLog;
use crate::write::submit::Submissions;
use crate::write::writer::Writer;

/// Everything behind a [`Db`](crate::Db): parts with one purpose each, which know nothing of it.
///
/// Locks may be taken in this order: the commit token (of [`writer`](Self::writer)), then the lock of
/// [`background`](Self::background), then the short inner ones (snapshot list, version set, info log). Readers take
/// none of them.
pub(crate) struct DbInner {
    pub(crate) options: Options,
    /// Decides which operations are refused.
    pub(crate) health: Arc<Health>,
    /// The directory, the tables and the versions.
    pub(crate) files: Arc<Files>,
    pub(crate) block_cache: Option<Arc<BlockCache>>,
    /// What readers see.
    pub(crate) published: Arc<Published>,
    pub(crate) seek_forecast: Arc<SeekForecast>,
    /// The log and the active memtable.
    pub(crate) writer: Arc<Writer<Arc<Background>>>,
    pub(crate) submissions: Arc<Submissions<Arc<Background>>>,
    /// Runs flushes and compactions.
    pub(crate) background: Arc<Background>,
    pub(crate) compactor: Arc<Compactor>,
    /// What the open left out of the logs.
    pub(crate) left_out: Vec<LeftOutLog>,
    pub(crate) file_lock: Mutex<Option<Box<dyn FileLock>>>,
}
