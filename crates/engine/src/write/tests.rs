//! Tests the writer with a background that the test plays.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use terrace_env::locks::Mutex;
use terrace_env::simulated::{CallKind, Failure, FaultPlan, Mode};
use terrace_env::{Env, MemoryEnv, SimulatedEnv};
use terrace_format::batch::WriteBatch;
use terrace_format::file_name;

use super::commit_queue::CommitQueue;
use super::submit::Submissions;
use super::throttle::{STOP_FILES, Throttle};
use super::writer::{Backlog, CommitState, Measured, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::health::Health;
use crate::memtable::{MemEntry, MemTable};
use crate::options::WriteOptions;
use crate::pool::BackgroundPool;
use crate::read::published::Published;
use crate::read::super_version::SealedMemTable;
use crate::recovery::synced_files::SyncedFiles;
use crate::testing::Shared;
use crate::wal::writer::WalWriter;

const WRITE_BUFFER_SIZE_BYTES: usize = 64 << 10;

/// A background that flushes when a writer waits for it, unless its disk is full.
struct PlayedBacklog {
    published: Arc<Published>,
    health: Arc<Health>,
    is_full: Mutex<bool>,
    /// The last sequence and the next log of each sealed memtable.
    sealed: Mutex<Vec<(u64, u64)>>,
    watches: AtomicUsize,
}

impl Backlog for Arc<PlayedBacklog> {
    fn take_over(
        &self,
        sealed: SealedMemTable,
        active: Arc<MemTable>,
        _needless: Vec<WalWriter>,
    ) -> Measured {
        self.sealed.lock().push((sealed.last_sequence, sealed.next_log_number));
        self.published.change(|view| view.seal(active, Arc::new(sealed)));
        Measured::default()
    }

    fn close_later(&self, _needless: Vec<WalWriter>) {}

    fn wait_for_change(&self, changed: impl Fn() -> bool) -> Result<()> {
        while !changed() {
            if *self.is_full.lock() {
                return Err(Error::new(ErrorKind::DiskFull, "no room for a table"));
            }
            self.published.change(|view| drop(view.sealed.pop()));
        }
        Ok(())
    }

    fn pause(&self, _delay: Duration) {}

    fn watch_for_idleness(&self) {
        self.watches.fetch_add(1, Ordering::Relaxed);
    }

    fn poison(&self, cause: &Error) {
        self.health.poison(cause);
    }
}

struct Fixture {
    writer: Arc<Writer<Arc<PlayedBacklog>>>,
    backlog: Arc<PlayedBacklog>,
    shared: Shared,
}

impl Fixture {
    fn new(env: Arc<dyn Env>) -> Self {
        let shared = Shared::new(&env);
        let backlog = Arc::new(PlayedBacklog {
            published: Arc::clone(&shared.published),
            health: Arc::clone(&shared.health),
            is_full: Mutex::new(false),
            sealed: Mutex::default(),
            watches: AtomicUsize::new(0),
        });
        let number = shared.files.versions.new_file_number();
        let path = shared.files.directory.join(file_name::log_name(number));
        let commit = CommitState {
            wal: Some(WalWriter::create(&*env, path, number, false).unwrap()),
            outgoing: Vec::new(),
            kept: Vec::new(),
            recovered: None,
            memtable: Arc::clone(&shared.published.super_version().active),
            last_sequence: 0,
            throttle: Throttle::new(),
            buffer: None,
        };
        let writer = Arc::new(Writer {
            queue: CommitQueue::new(commit),
            files: Arc::clone(&shared.files),
            health: Arc::clone(&shared.health),
            published: Arc::clone(&shared.published),
            backlog: Arc::clone(&backlog),
            write_buffer_size_bytes: WRITE_BUFFER_SIZE_BYTES,
            max_sealed_memtables: 2,
            stop_files: STOP_FILES,
            map_log: false,
        });
        Self { writer, backlog, shared }
    }

    fn in_memory() -> Self {
        Self::new(Arc::new(MemoryEnv::with_steps()))
    }

    fn put(&self, key: &str, sync: bool) -> Result<()> {
        self.writer.write_one(sync, |batch| batch.put(key.as_bytes(), &[7; 1000]))
    }

    /// Puts entries until a write fails or `seals` memtables were sealed.
    fn fill(&self, seals: usize) -> Result<()> {
        while self.backlog.sealed.lock().len() < seals {
            self.put("k", false)?;
        }
        Ok(())
    }

    fn visible(&self) -> u64 {
        self.shared.published.visible_sequence()
    }

    fn holds(&self, key: &str) -> bool {
        let view = self.shared.published.super_version();
        matches!(view.active.get(key.as_bytes(), self.visible()), Some(MemEntry::Value(_)))
    }
}

fn batch(keys: &[&str]) -> WriteBatch {
    let mut batch = WriteBatch::new();
    keys.iter().for_each(|key| batch.put(key.as_bytes(), b"v").unwrap());
    batch
}

#[test]
fn what_was_written_is_visible_and_has_the_next_sequences() {
    let fixture = Fixture::in_memory();
    fixture.put("a", false).unwrap();
    fixture.writer.write(batch(&["b", "c"]), true).unwrap();
    assert!(fixture.writer.try_write(&mut batch(&["d"])).unwrap());
    assert_eq!(fixture.visible(), 4);
    assert!(["a", "b", "c", "d"].iter().all(|key| fixture.holds(key)));
    assert!(!fixture.holds("e"));
    assert!(fixture.writer.queue.take_token().wal.as_ref().unwrap().size_bytes() > 1000);
}

#[test]
fn a_full_memtable_is_handed_over_and_the_next_one_has_a_log_of_its_own() {
    let fixture = Fixture::in_memory();
    fixture.fill(2).unwrap();
    let sealed = fixture.backlog.sealed.lock().clone();
    assert!(0 < sealed[0].0 && sealed[0].0 < sealed[1].0, "{sealed:?}");
    let token = fixture.writer.queue.take_token();
    assert_eq!(token.wal.as_ref().unwrap().number(), sealed[1].1);
    assert_eq!(token.outgoing.len(), 2, "logs that were not synced");
    assert!(!token.memtable.is_empty() && token.memtable.entries() < sealed[0].0);
}

#[test]
fn a_write_that_must_not_wait_hands_a_full_memtable_over_and_begins_a_log() {
    let fixture = Fixture::in_memory();
    while fixture.backlog.sealed.lock().len() < 2 {
        assert!(fixture.writer.try_write(&mut batch(&["k"])).unwrap());
    }
    let sealed = fixture.backlog.sealed.lock().clone();
    assert_eq!(fixture.writer.queue.take_token().wal.as_ref().unwrap().number(), sealed[1].1);
}

#[test]
fn a_sync_syncs_the_logs_before_its_own_and_leaves_word_of_that() {
    let fixture = Fixture::in_memory();
    fixture.fill(2).unwrap();
    fixture.put("synced", true).unwrap();
    assert!(fixture.writer.queue.take_token().outgoing.is_empty());
    assert_ne!(*fixture.shared.files.synced.lock(), SyncedFiles::default());
    assert!(fixture.shared.files.env.exists(&Path::new("/db").join(file_name::SYNCED)).unwrap());
}

#[test]
fn a_write_that_finds_no_room_is_refused_and_changes_nothing() {
    let fixture = Fixture::in_memory();
    *fixture.backlog.is_full.lock() = true;
    assert_eq!(fixture.fill(3).unwrap_err().kind(), ErrorKind::DiskFull);
    let visible = fixture.visible();
    assert_eq!(fixture.put("k", false).unwrap_err().kind(), ErrorKind::DiskFull);
    assert!(!fixture.writer.try_write(&mut batch(&["k"])).unwrap(), "it would have to wait");
    assert_eq!(fixture.visible(), visible);
    *fixture.backlog.is_full.lock() = false;
    fixture.put("k", false).unwrap();
    assert_eq!(fixture.visible(), visible + 1);
}

#[test]
fn the_first_sync_waits_for_what_was_found_at_the_open() {
    let fixture = Fixture::in_memory();
    let number = fixture.shared.files.versions.new_file_number();
    fixture.shared.seal(number, |_| ());
    fixture.writer.queue.take_token().recovered = Some(number);
    *fixture.backlog.is_full.lock() = true;
    fixture.put("a", false).unwrap();
    assert_eq!(fixture.put("b", true).unwrap_err().kind(), ErrorKind::DiskFull);
    *fixture.backlog.is_full.lock() = false;
    fixture.put("b", true).unwrap();
    assert!(fixture.shared.published.super_version().sealed.is_empty());
}

#[test]
fn deletions_are_watched_for_idle_times() {
    let fixture = Fixture::in_memory();
    fixture.put("a", false).unwrap();
    assert_eq!(fixture.backlog.watches.load(Ordering::Relaxed), 0);
    fixture.writer.write_one(false, |batch| batch.delete(b"a")).unwrap();
    assert_eq!(fixture.backlog.watches.load(Ordering::Relaxed), 1);
    assert!(!fixture.holds("a"));
}

#[test]
fn a_log_that_fails_poisons_and_one_that_is_full_refuses() {
    for (failure, kind, poisons) in
        [(Failure::NoSpace, ErrorKind::DiskFull, false), (Failure::Io, ErrorKind::Io, true)]
    {
        let env = SimulatedEnv::new(1, Mode::StrictPosix);
        let fixture = Fixture::new(Arc::new(env.clone()));
        fixture.put("a", false).unwrap();
        env.fail_at(FaultPlan::new(1, failure).of(CallKind::WriteLog));
        assert_eq!(fixture.put("b", false).unwrap_err().kind(), kind);
        assert_eq!(fixture.shared.health.is_poisoned(), poisons);
        assert_eq!((fixture.visible(), fixture.holds("b")), (1, false));
        let next = fixture.put("c", false);
        assert_eq!(next.err().map(|error| error.kind()), poisons.then_some(ErrorKind::Poisoned));
    }
}

#[test]
fn a_sync_that_fails_poisons() {
    let env = SimulatedEnv::new(1, Mode::StrictPosix);
    let fixture = Fixture::new(Arc::new(env.clone()));
    env.fail_at(FaultPlan::new(1, Failure::Io).of(CallKind::SyncLog));
    assert_eq!(fixture.put("a", true).unwrap_err().kind(), ErrorKind::Io);
    assert!(fixture.shared.health.is_poisoned());
    assert_eq!(fixture.visible(), 0, "what may not be durable is not shown");
}

#[test]
fn submitted_writes_are_committed_in_order_and_a_close_leaves_none() {
    let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
    let fixture = Fixture::new(Arc::clone(&env));
    let pool = Arc::new(BackgroundPool::new(env, 1));
    let submissions = Submissions::new(Arc::clone(&fixture.writer), Some(pool));
    let done = Arc::new(Mutex::new(Vec::new()));
    let submit = |index: usize| {
        let done = Arc::clone(&done);
        let note =
            move |result: Result<()>| done.lock().push((index, result.err().map(|error| error.kind())));
        submissions.submit(batch(&[&format!("k{index}")]), None, WriteOptions::default(), Box::new(note));
    };
    (0..100).for_each(submit);
    submissions.close();
    assert!(submissions.is_idle());
    assert_eq!(*done.lock(), (0..100).map(|index| (index, None)).collect::<Vec<_>>());
    assert_eq!(fixture.visible(), 100);
    submit(100);
    assert_eq!(done.lock().last(), Some(&(100, Some(ErrorKind::Closed))));
    assert_eq!(fixture.visible(), 100);
}
