//! A whole file system in memory: for tests, for databases that need no disk, and for platforms without one.
//!
//! It may also start with files that the embedding program supplies ([`MemoryEnv::give`]). A database in them can be
//! read or repaired without changing them.
//!
//! Nothing survives the last clone of the environment. As in a real file system, a removed or replaced file lives on
//! for the handles opened before, and a hard link is a second name of the same file.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};

use crate::{
    Background, ClockWatcher, Env, EnvError, FileId, FileLock, HeldClock, LockError, LogFile,
    RandomAccessFile, Result, SequentialFile, ThreadHandle, WritableFile, host,
};

mod file;

pub use file::GivenFile;
use file::{Body, Contents, MemoryLogFile, MemoryRandomAccessFile, MemorySequentialFile, MemoryWritableFile};

use crate::locked_files::LockedFiles;
use crate::names::Names;

/// An environment whose files are in memory. Clones share them; each [`MemoryEnv::new`] has its own.
///
/// Paths are `/`-separated; relative ones start at the root, which always exists. Nothing waits for a disk, and syncs
/// do nothing, because there is no power to lose. Threads and the process number are the system's, and so are the
/// clocks unless [`with_clock`](Self::with_clock) gives it one.
#[derive(Debug, Clone)]
pub struct MemoryEnv {
    names: Arc<Mutex<Names<Arc<Contents>>>>,
    locked: Arc<LockedFiles<Contents>>,
    background: Background,
    /// Takes the place of the system's clocks.
    clock: Option<HeldClock>,
    /// See [`MemoryEnv::set_memory_for_files_bytes`]. The largest number is none.
    memory_for_files_bytes: Arc<AtomicU64>,
}

impl Default for MemoryEnv {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryEnv {
    /// Creates an empty file system. Background work runs on threads if the platform has them.
    pub fn new() -> Self {
        Self {
            names: Arc::new(Mutex::new(Names::new())),
            locked: LockedFiles::new(),
            background: host::BACKGROUND,
            clock: None,
            memory_for_files_bytes: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }

    /// Creates an empty file system without threads: background work runs in steps.
    pub fn with_steps() -> Self {
        Self { background: Background::Steps, ..Self::new() }
    }

    /// Makes `clock` the clock of this environment, for both kinds of time. A [`sleep`](Env::sleep) then advances it
    /// and returns.
    #[must_use]
    pub fn with_clock(self, clock: HeldClock) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Sets what [`memory_for_files_bytes`](Env::memory_for_files_bytes) returns, here and in clones: at first `None`. An
    /// engine may then read as it would on a device.
    pub fn set_memory_for_files_bytes(&self, bytes: Option<u64>) {
        self.memory_for_files_bytes.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Adds a file that the caller supplies at `path`, replacing any file there and creating missing directories. Its
    /// bytes are read on demand. Writes to the file stay in memory.
    ///
    /// # Errors
    ///
    /// If `path` names a directory, or one of its directories is a file.
    pub fn give(&self, path: &Path, file: Arc<dyn GivenFile>) -> Result<()> {
        if let Some(directory) = path.parent() {
            self.create_directory_all(directory)?;
        }
        let given = self.create_contents(path).map_err(|source| EnvError::new("create", path, source))?;
        *given.write() = Body::Given(file);
        Ok(())
    }

    /// The file at `path`, created if missing.
    fn create_contents(&self, path: &Path) -> io::Result<Arc<Contents>> {
        self.names.lock().create(path, || Ok(Arc::default()))
    }
}

impl Env for MemoryEnv {
    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        let contents = self.names.lock().file(path).map_err(|source| EnvError::new("open", path, source))?;
        Ok(Arc::new(MemoryRandomAccessFile::new(contents, path)))
    }

    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        let contents = self.names.lock().file(path).map_err(|source| EnvError::new("open", path, source))?;
        Ok(Box::new(MemorySequentialFile::new(contents, path)))
    }

    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let contents = self.create_contents(path).map_err(|source| EnvError::new("create", path, source))?;
        *contents.write() = Body::default();
        Ok(Box::new(MemoryWritableFile::new(contents, path)))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let contents =
            self.create_contents(path).map_err(|source| EnvError::new("open to append", path, source))?;
        Ok(Box::new(MemoryWritableFile::new(contents, path)))
    }

    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        let contents = self.create_contents(path).map_err(|source| EnvError::new("create", path, source))?;
        *contents.write() = Body::default();
        Ok(Box::new(MemoryLogFile::new(contents, path)))
    }

    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
        // A new file, so that handles of the old one keep what they have.
        let file = || Ok(Arc::new(RwLock::new(Body::Growing(contents.to_vec()))));
        let replaced = self.names.lock().replace(path, temporary, file);
        replaced.map_err(|source| EnvError::new("replace", path, source))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.names
            .lock()
            .rename(from, to)
            .map_err(|source| EnvError::between(["rename", "rename a file to"], from, to, source))
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.names.lock().remove_file(path).map_err(|source| EnvError::new("remove", path, source))
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        Ok(self.names.lock().exists(path))
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        let contents =
            self.names.lock().file(path).map_err(|source| EnvError::new("get the size of", path, source))?;
        let size_bytes = contents.read().len();
        Ok(size_bytes)
    }

    fn file_id(&self, path: &Path) -> Result<Option<FileId>> {
        match self.names.lock().file(path) {
            Ok(contents) => Ok(Some(FileId { device: 0, inode: Arc::as_ptr(&contents) as usize as u64 })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(EnvError::new("look at", path, source)),
        }
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>> {
        self.names.lock().list(directory).map_err(|source| EnvError::new("list", directory, source))
    }

    fn create_directory_all(&self, path: &Path) -> Result<()> {
        self.names
            .lock()
            .create_directory_all(path)
            .map_err(|source| EnvError::new("create directory", path, source))
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        self.names
            .lock()
            .remove_directory(path)
            .map_err(|source| EnvError::new("remove directory", path, source))
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        self.names
            .lock()
            .check_directory(path)
            .map_err(|source| EnvError::new("sync directory", path, source))
    }

    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        self.names
            .lock()
            .link(from, to)
            .map_err(|source| EnvError::between(["link", "link a file to"], from, to, source))
    }

    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
        let contents = self.create_contents(path).map_err(|source| EnvError::new("lock", path, source))?;
        self.locked.lock(contents, Some(self.process_id()))
    }

    fn monotonic_micros(&self) -> u64 {
        self.clock.as_ref().map_or_else(host::monotonic_micros, HeldClock::micros)
    }

    fn unix_micros(&self) -> u64 {
        self.clock.as_ref().map_or_else(host::unix_micros, HeldClock::micros)
    }

    fn watch_clock(&self, watcher: Weak<dyn ClockWatcher>) {
        if let Some(clock) = &self.clock {
            clock.watch(watcher);
        }
    }

    fn sleep(&self, duration: Duration) {
        match &self.clock {
            Some(clock) => clock.advance(duration),
            None => host::sleep(duration),
        }
    }

    fn background(&self) -> Background {
        self.background
    }

    fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>> {
        match self.background {
            Background::Threads => host::spawn(name, work),
            Background::Steps => {
                Err(EnvError::new("start thread", name, std::io::ErrorKind::Unsupported.into()))
            }
        }
    }

    fn memory_for_files_bytes(&self) -> Option<u64> {
        Some(self.memory_for_files_bytes.load(Ordering::Relaxed)).filter(|&bytes| bytes < u64::MAX)
    }

    fn available_parallelism(&self) -> usize {
        match self.background {
            Background::Threads => host::available_parallelism(),
            Background::Steps => 1,
        }
    }

    fn process_id(&self) -> u32 {
        host::process_id()
    }
}
