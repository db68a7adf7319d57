//! How many threads databases use, and what they do if the system gives them none.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use terrace_engine::env::conformance::HANGS_AFTER;
use terrace_engine::env::{
    Background, Env, EnvError, FileLock, LockError, LogFile, MemoryEnv, RandomAccessFile, Result,
    SequentialFile, ThreadHandle, WritableFile,
};
use terrace_engine::{BackgroundPool, Db, Options, ReadOptions, WriteBatch, WriteOptions};

/// Counts the threads that it starts, and limits their number.
#[derive(Debug)]
struct CountedThreads {
    inner: MemoryEnv,
    started: AtomicUsize,
    limit: usize,
}

impl CountedThreads {
    fn at_most(limit: usize) -> Arc<Self> {
        Arc::new(Self { inner: MemoryEnv::new(), started: AtomicUsize::new(0), limit })
    }
}

impl Env for CountedThreads {
    fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>> {
        if self.started.load(Ordering::Relaxed) >= self.limit {
            return Err(EnvError::new("start thread", name, std::io::ErrorKind::WouldBlock.into()));
        }
        self.started.fetch_add(1, Ordering::Relaxed);
        self.inner.spawn(name, work)
    }

    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        self.inner.open_random(path)
    }
    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        self.inner.open_sequential(path)
    }
    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        self.inner.create(path)
    }
    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        self.inner.open_append(path)
    }
    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        self.inner.create_log(path)
    }
    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
        self.inner.replace_file(path, contents, temporary)
    }
    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.inner.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> Result<()> {
        self.inner.remove_file(path)
    }
    fn exists(&self, path: &Path) -> Result<bool> {
        self.inner.exists(path)
    }
    fn file_size(&self, path: &Path) -> Result<u64> {
        self.inner.file_size(path)
    }
    fn list(&self, directory: &Path) -> Result<Vec<String>> {
        self.inner.list(directory)
    }
    fn create_directory_all(&self, path: &Path) -> Result<()> {
        self.inner.create_directory_all(path)
    }
    fn remove_directory(&self, path: &Path) -> Result<()> {
        self.inner.remove_directory(path)
    }
    fn sync_directory(&self, path: &Path) -> Result<()> {
        self.inner.sync_directory(path)
    }
    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        self.inner.link_or_copy(from, to)
    }
    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
        self.inner.lock(path)
    }
    fn monotonic_micros(&self) -> u64 {
        self.inner.monotonic_micros()
    }
    fn unix_micros(&self) -> u64 {
        self.inner.unix_micros()
    }
    fn sleep(&self, duration: Duration) {
        self.inner.sleep(duration);
    }
    fn background(&self) -> Background {
        self.inner.background()
    }
    fn available_parallelism(&self) -> usize {
        self.inner.available_parallelism()
    }
    fn process_id(&self) -> u32 {
        self.inner.process_id()
    }
}

fn options(env: &Arc<CountedThreads>) -> Options {
    let env: Arc<dyn Env> = Arc::clone(env) as _;
    Options { write_buffer_size_bytes: 8 << 10, max_file_size_bytes: 4 << 10, env, ..Options::default() }
}

/// Has `db` store `key` durably without waiting for it.
fn submit(db: &Db, key: &str, sender: &mpsc::Sender<()>) {
    let mut batch = WriteBatch::new();
    batch.put(key.as_bytes(), &[b'v'; 500]).unwrap();
    let sender = sender.clone();
    let done = move |result: terrace_engine::Result<()>| {
        result.unwrap();
        sender.send(()).unwrap();
    };
    db.submit(batch, WriteOptions { sync: true }, Box::new(done));
}

/// How many threads a pool has for submitted writes.
fn commit_threads(env: &CountedThreads) -> usize {
    let processors = env.available_parallelism();
    (processors / 4).max(2).min(processors)
}

#[test]
fn a_thousand_databases_with_a_shared_pool_have_few_threads_for_submitted_writes() {
    let env = CountedThreads::at_most(usize::MAX);
    let pool = Arc::new(BackgroundPool::new(Arc::clone(&env) as _, 2));
    let open = |number: usize| {
        let options = Options { background_pool: Some(Arc::clone(&pool)), ..options(&env) };
        Db::open(format!("/db {number}"), options).unwrap()
    };
    let databases: Vec<Db> = (0..1000).map(open).collect();
    let (sender, receiver) = mpsc::channel();
    databases.iter().for_each(|db| submit(db, "key", &sender));
    databases.iter().for_each(|_| receiver.recv().unwrap());
    let started = env.started.load(Ordering::Relaxed);
    let most = 3 + commit_threads(&env);
    assert!(
        started <= most,
        "{started} threads: one for flushes, two for compactions, the others for writes"
    );
    databases.iter().for_each(|db| db.close().unwrap());
    assert_eq!(env.started.load(Ordering::Relaxed), started, "closing starts none");
}

#[test]
fn a_thousand_databases_that_are_given_no_pool_share_their_threads() {
    let env = CountedThreads::at_most(usize::MAX);
    let open = || (0..1000).map(|number| Db::open(format!("/db {number}"), options(&env)).unwrap());
    let databases: Vec<Db> = open().collect();
    let (sender, receiver) = mpsc::channel();
    databases.iter().for_each(|db| submit(db, "key", &sender));
    databases.iter().for_each(|_| receiver.recv().unwrap());
    drop(databases);
    // Now each has a table, and a check for idleness waits.
    let databases: Vec<Db> = open().collect();
    assert!(databases.iter().all(|db| db.get(b"key", &ReadOptions::default()).unwrap().is_some()));
    let started = env.started.load(Ordering::Relaxed);
    let most = 2 * (1 + (env.available_parallelism() / 2).max(1) + commit_threads(&env));
    assert!(started <= most, "{started} threads in two rounds, of at most {most}");
}

#[test]
fn where_no_thread_can_be_started_a_database_writes_flushes_compacts_and_closes() {
    // No thread at all, or too few for every lane.
    for limit in 0..3 {
        let env = CountedThreads::at_most(limit);
        let (sender, receiver) = mpsc::channel();
        for round in 0..3 {
            let db = Db::open("/db", options(&env)).unwrap();
            for number in 0..200 {
                submit(&db, &format!("{round} {number:03}"), &sender);
            }
            (0..200).for_each(|_| receiver.recv().unwrap());
            db.flush().unwrap();
            db.compact_range(None, None).unwrap();
            for number in 0..200 {
                submit(&db, &format!("{round} {number:03} again"), &sender);
            }
            db.close().unwrap();
            (0..200).for_each(|_| receiver.try_recv().expect("what was submitted before is written"));
        }
        let db = Db::open("/db", options(&env)).unwrap();
        for key in ["0 000", "1 111", "2 199", "2 199 again"] {
            assert!(db.get(key.as_bytes(), &ReadOptions::default()).unwrap().is_some(), "{key}");
        }
    }
}

#[test]
fn a_database_whose_last_handle_is_dropped_in_the_callback_of_another_database_closes() {
    let env = CountedThreads::at_most(usize::MAX);
    let pool = Arc::new(BackgroundPool::new(Arc::clone(&env) as _, 1));
    let open = |path: &str| {
        Db::open(path, Options { background_pool: Some(Arc::clone(&pool)), ..options(&env) }).unwrap()
    };
    let (first, second) = (open("/first"), open("/second"));
    let (sender, receiver) = mpsc::channel();
    let (answered, answers) = mpsc::channel();
    let mut batch = WriteBatch::new();
    batch.put(b"key", b"value").unwrap();
    let done = move |result: terrace_engine::Result<()>| {
        result.unwrap();
        // The close waits for the thread on which this runs.
        submit(&second, "key", &sender);
        drop(second);
        answered.send(()).unwrap();
    };
    first.submit(batch, WriteOptions { sync: true }, Box::new(done));
    answers.recv_timeout(HANGS_AFTER).unwrap();
    receiver.try_recv().unwrap();
    assert!(open("/second").get(b"key", &ReadOptions::default()).unwrap().is_some());
}
