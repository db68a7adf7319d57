//! An environment that fails at the n-th call that changes something: once, or from then on, as if the process had died.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use terrace_engine::env::{
    Background, Env, EnvError, FileLock, LockError, LogFile, RandomAccessFile, Result, SequentialFile,
    ThreadHandle, WritableFile,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One call fails; later ones succeed.
    Once,
    /// That call and all later ones fail.
    FromThenOn,
}

#[derive(Debug)]
struct Counter {
    calls: AtomicU64,
    fails_at: u64,
    fault: Fault,
}

impl Counter {
    fn check(&self, operation: &'static str, path: &Path) -> Result<()> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let fails = match self.fault {
            Fault::Once => call == self.fails_at,
            Fault::FromThenOn => call >= self.fails_at,
        };
        if fails { Err(EnvError::new(operation, path, io::Error::other("a fault"))) } else { Ok(()) }
    }
}

#[derive(Debug)]
pub struct FaultyEnv {
    inner: Arc<dyn Env>,
    counter: Arc<Counter>,
}

impl FaultyEnv {
    pub fn new(inner: Arc<dyn Env>, fails_at: u64, fault: Fault) -> Self {
        Self { inner, counter: Arc::new(Counter { calls: AtomicU64::new(0), fails_at, fault }) }
    }

    /// Whether the fault has happened.
    pub fn has_failed(&self) -> bool {
        self.counter.calls.load(Ordering::Relaxed) > self.counter.fails_at
    }
}

struct FaultyFile {
    inner: Box<dyn WritableFile>,
    counter: Arc<Counter>,
}

impl WritableFile for FaultyFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.counter.check("write", Path::new("file"))?;
        self.inner.append(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.counter.check("flush", Path::new("file"))?;
        self.inner.flush()
    }

    fn sync(&mut self) -> Result<()> {
        self.counter.check("sync", Path::new("file"))?;
        self.inner.sync()
    }

    fn size_bytes(&self) -> u64 {
        self.inner.size_bytes()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.counter.check("close", Path::new("file"))?;
        self.inner.close()
    }
}

impl Env for FaultyEnv {
    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        self.inner.open_random(path)
    }

    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        self.inner.open_sequential(path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        self.counter.check("create", path)?;
        let inner = self.inner.create(path)?;
        Ok(Box::new(FaultyFile { inner, counter: Arc::clone(&self.counter) }))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        self.counter.check("open", path)?;
        self.inner.open_append(path)
    }

    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        self.counter.check("create", path)?;
        self.inner.create_log(path)
    }

    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
        self.counter.check("replace", path)?;
        self.inner.replace_file(path, contents, temporary)?;
        // The change is made and then reported as failed.
        self.counter.check("sync directory after replacing", path)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.counter.check("rename", from)?;
        self.inner.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.counter.check("remove", path)?;
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
        self.counter.check("create directory", path)?;
        self.inner.create_directory_all(path)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        self.counter.check("remove directory", path)?;
        self.inner.remove_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        self.counter.check("sync directory", path)?;
        self.inner.sync_directory(path)
    }

    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        self.counter.check("link", from)?;
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

    fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>> {
        self.inner.spawn(name, work)
    }

    fn available_parallelism(&self) -> usize {
        self.inner.available_parallelism()
    }

    fn process_id(&self) -> u32 {
        self.inner.process_id()
    }
}
