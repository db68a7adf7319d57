//! A file system on a fixed set of files that are open already, such as a browser's worker has.
//!
//! One handle of the host's [`Handles`] holds a map from names to the others, which are *slots* for the bytes of files.
//! Opening, renaming and removing a file need nothing of the host but writes:
//!
//! ```text
//!                 map (checksum, generation)         slots
//!   db/CURRENT ──────────────────────────────────►   3
//!   db/000004.log ───────────────────────────────►   1
//!                                                    2  free
//! ```
//!
//! * A change of names writes the whole map, as the next generation, over both of its copies, one after the other. So each change is atomic,
//!   durable on return, and outlives damage to either copy ([`copies`] has the argument).
//! * A slot is given to a new file only when the map without its former file is durable, no handle is open, and the slot is empty durably.
//! * What is in the [`STAGE`] when a pool is opened belonged to a process that died, and is removed. So files can be prepared there, and
//!   take the place of all others in one change.
//! * If the map cannot be written or flushed, names can no longer change. Open files keep working.

mod copies;
mod file;
mod handles;
mod map;
mod pool;
mod read_ahead;
mod slots;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use file::{PooledLogFile, PooledRandomAccessFile, PooledSequentialFile, PooledWritableFile};
pub use handles::Handles;
use pool::Pool;
use slots::SlotFile;

use crate::locked_files::LockedFiles;
use crate::{
    Background, Env, EnvError, FileId, FileLock, LockError, LogFile, RandomAccessFile, Result,
    SequentialFile, ThreadHandle, WritableFile,
};

/// A directory for what must not outlive the process: copies, and files that are to take the place of all others.
pub const STAGE: &str = "/staged";

/// An environment on a pool of open files. See the [module](self). Clones share the pool.
///
/// It must be the only user of its handles. Paths are `/`-separated; relative ones start at the root, which always exists. A new file
/// needs a free slot: where there is none, that fails with kind [`io::ErrorKind::StorageFull`]. Background work runs in steps.
#[derive(Debug, Clone)]
pub struct PooledEnv {
    handles: Arc<dyn Handles>,
    pool: Arc<Pool>,
    locked: Arc<LockedFiles<SlotFile>>,
}

impl PooledEnv {
    /// Takes the files that are open. If all are empty, the file system is new.
    ///
    /// # Errors
    ///
    /// Kind [`io::ErrorKind::InvalidData`] if no copy of the map is whole, or a file that it lists is missing. Also if the host cannot read.
    pub fn open(handles: Arc<dyn Handles>) -> io::Result<Self> {
        let pool = Arc::new(Pool::open(Arc::clone(&handles), Path::new(STAGE))?);
        Ok(Self { handles, pool, locked: LockedFiles::new() })
    }

    /// How many files can be created before the host has to open more.
    pub fn free_slots(&self) -> usize {
        self.pool.slots().free_count()
    }

    /// How many slots have a file, whether it has a name or only open handles.
    pub fn used_slots(&self) -> usize {
        self.pool.slots().used_count()
    }

    /// Keeps `count` free slots from new files, from now on. Opening a database takes a few. So that it can be opened again when its files
    /// have taken all others, ask for them once it is open, and write nothing while [`lacks_reserve`](Self::lacks_reserve).
    pub fn reserve_slots(&self, count: usize) {
        self.pool.slots().reserve(count);
    }

    /// Whether fewer slots are free than are reserved.
    pub fn lacks_reserve(&self) -> bool {
        self.pool.slots().lacks_reserve()
    }

    /// The bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        self.pool.look(|names| names.all().filter_map(|(_, file)| file).map(|file| file.size_bytes()).sum())
    }

    /// Removes a directory and everything inside, in one change. Does nothing if there is none.
    ///
    /// # Errors
    ///
    /// If the change cannot be stored.
    pub fn remove_all(&self, directory: &Path) -> Result<()> {
        let removed = self.pool.change(|names| {
            names.remove_all(directory);
            Ok(())
        });
        removed.map_err(|source| EnvError::new("remove all of", directory, source))
    }

    /// Puts what is in this directory in the root, in place of everything that there is, in one change. Handles that are open stay valid.
    ///
    /// # Durability
    ///
    /// The change is durable on return. The files have to be durable before.
    ///
    /// # Errors
    ///
    /// If there is no such directory, or the change cannot be stored.
    pub fn make_root(&self, directory: &Path) -> Result<()> {
        let made = self.pool.change(|names| names.make_root(directory));
        made.map_err(|source| EnvError::new("make the root of", directory, source))
    }

    fn existing(&self, operation: &'static str, path: &Path) -> Result<Arc<SlotFile>> {
        self.pool.look(|names| names.file(path)).map_err(|source| EnvError::new(operation, path, source))
    }

    fn created(&self, operation: &'static str, path: &Path) -> Result<Arc<SlotFile>> {
        self.pool.create(path).map_err(|source| EnvError::new(operation, path, source))
    }

    /// The file at `path`, empty.
    fn emptied(&self, path: &Path) -> Result<Arc<SlotFile>> {
        let file = self.created("create", path)?;
        if file.size_bytes() > 0 {
            file.truncate(0).map_err(|source| EnvError::new("create", path, source))?;
        }
        Ok(file)
    }

    fn random(&self, path: &Path) -> Result<PooledRandomAccessFile> {
        Ok(PooledRandomAccessFile { file: self.existing("open", path)?, path: path.to_owned() })
    }
}

impl Env for PooledEnv {
    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        Ok(Arc::new(self.random(path)?))
    }

    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        Ok(Box::new(PooledSequentialFile::new(self.random(path)?)))
    }

    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        Ok(Box::new(PooledWritableFile::new(self.emptied(path)?, path, 0)))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let file = self.created("open to append", path)?;
        let end = file.size_bytes();
        Ok(Box::new(PooledWritableFile::new(file, path, end)))
    }

    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        Ok(Box::new(PooledLogFile::new(self.emptied(path)?, path)))
    }

    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
        let file = || {
            let file = self.pool.slots().take()?;
            file.write_at(0, contents)?;
            file.flush()?;
            Ok(file)
        };
        let replaced = self.pool.change(|names| names.replace(path, temporary, file));
        replaced.map_err(|source| EnvError::new("replace", path, source))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.pool
            .change(|names| names.rename(from, to))
            .map_err(|source| EnvError::between(["rename", "rename a file to"], from, to, source))
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let removed = self.pool.change(|names| names.remove_file(path));
        removed.map_err(|source| EnvError::new("remove", path, source))
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        Ok(self.pool.look(|names| names.exists(path)))
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        Ok(self.existing("get the size of", path)?.size_bytes())
    }

    fn file_id(&self, path: &Path) -> Result<Option<FileId>> {
        match self.pool.look(|names| names.file(path)) {
            Ok(file) => Ok(Some(FileId { device: 0, inode: file.slot() as u64 })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(EnvError::new("look at", path, source)),
        }
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>> {
        let listed = self.pool.look(|names| names.list(directory));
        listed.map_err(|source| EnvError::new("list", directory, source))
    }

    fn create_directory_all(&self, path: &Path) -> Result<()> {
        let created = self.pool.change(|names| names.create_directory_all(path));
        created.map_err(|source| EnvError::new("create directory", path, source))
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        let removed = self.pool.change(|names| names.remove_directory(path));
        removed.map_err(|source| EnvError::new("remove directory", path, source))
    }

    /// Every change of a name is durable already.
    fn sync_directory(&self, path: &Path) -> Result<()> {
        let found = self.pool.look(|names| names.check_directory(path));
        found.map_err(|source| EnvError::new("sync directory", path, source))
    }

    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        self.pool
            .change(|names| names.link(from, to))
            .map_err(|source| EnvError::between(["link", "link a file to"], from, to, source))
    }

    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
        self.locked.lock(self.created("lock", path)?, None)
    }

    fn monotonic_micros(&self) -> u64 {
        self.handles.monotonic_micros()
    }

    fn unix_micros(&self) -> u64 {
        self.handles.unix_micros()
    }

    /// Without threads, nothing could happen in the meantime.
    fn sleep(&self, _duration: Duration) {}

    fn background(&self) -> Background {
        Background::Steps
    }

    fn spawn(&self, name: &str, _work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>> {
        Err(EnvError::new("start thread", name, io::ErrorKind::Unsupported.into()))
    }

    fn available_parallelism(&self) -> usize {
        1
    }

    fn process_id(&self) -> u32 {
        0
    }
}
