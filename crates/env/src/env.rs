//! The environment itself: files and directories by path, the lock, clocks and threads.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{FileLock, LockError, LogFile, RandomAccessFile, Result, SequentialFile, WritableFile};

/// How background work runs in an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// [`Env::spawn`] starts threads.
    Threads,
    /// There are no threads: [`Env::spawn`] fails, and the engine does background work by steps, inside calls or
    /// when its owner asks for one.
    Steps,
}

/// A thread started by [`Env::spawn`]. Dropping it lets the thread go on by itself.
pub trait ThreadHandle: Send + Sync {
    /// Waits until the thread's work is done. A panic of the work ends the wait and is not passed on: work whose
    /// owner must know catches it. Must not be called by the thread itself.
    fn join(self: Box<Self>);
}

/// What tells a file from every other that is there at the same time, whatever their names: as Unix has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId {
    /// The file system.
    pub device: u64,
    /// The file in it. Another file may have the number once this one is removed.
    pub inode: u64,
}

/// A directory that is held. What it promises lasts until the last clone of the value is dropped.
pub trait DirectoryHold: Send + Sync + fmt::Debug {}

/// What [`Env::hold_directory`] returns.
#[derive(Debug, Clone)]
pub struct HeldEnv {
    /// The environment, in which paths into the directory lead into the one that is held.
    pub env: Arc<dyn Env>,
    /// The hold. Once nobody has it, operations of `env` on paths into the directory fail.
    pub hold: Arc<dyn DirectoryHold>,
}

/// Files, directories, clocks and threads. See the [crate's page](crate) for what survives what, and which
/// parts are optional.
///
/// Paths are those of the environment: on a real file system the system's own, elsewhere `/`-separated names.
/// An operation inside a directory that does not exist fails with
/// [`is_not_found`](crate::EnvError::is_not_found).
pub trait Env: Send + Sync + fmt::Debug + 'static {
    /// An environment in which `path`, and paths that begin with it, lead into the directory that is there now: also once the
    /// directory is moved, another is made in its place, or the process goes to work in another directory (`chdir`). To sync the
    /// directory there takes no descriptor. `None` where directories are never moved.
    ///
    /// The path means here what it means to a process, whatever directory this environment itself holds.
    fn hold_directory(&self, path: &Path) -> Result<Option<HeldEnv>> {
        let _ = path;
        Ok(None)
    }

    /// Opens a file to read at any offset. It must exist and be no directory.
    ///
    /// Where the process may open few files, an environment may open this one for each read: a file that is renamed or
    /// removed meanwhile then fails to be read.
    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>>;

    /// As [`open_random`](Self::open_random), for a file that is complete and is read through
    /// [`mapped`](RandomAccessFile::mapped) where the environment can do that: it then holds no descriptor, and stays
    /// readable whatever becomes of its name. Optional: by default as `open_random`.
    fn open_mapped(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        self.open_random(path)
    }

    /// Opens a file to read from front to back. It must exist and be no directory.
    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>>;

    /// Creates a file to write; one that exists is emptied. The name is durable after
    /// [`sync_directory`](Self::sync_directory).
    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>>;

    /// Opens a file to write behind its end; creates it if missing.
    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>>;

    /// Creates a write-ahead log; a file that exists is emptied. The name is durable after
    /// [`sync_directory`](Self::sync_directory).
    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>>;

    /// As [`create_log`](Self::create_log), for a log that is not to be mapped into memory, where `create_log` might do that:
    /// each append is a call to the system. Optional: by default as `create_log`.
    fn create_unmapped_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        self.create_log(path)
    }

    /// The whole contents of a file. For small ones: they come into memory at once.
    fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        const CHUNK_SIZE_BYTES: usize = 16 << 10;
        let mut file = self.open_sequential(path)?;
        let mut contents = Vec::new();
        let mut chunk = vec![0; CHUNK_SIZE_BYTES];
        loop {
            match file.read(&mut chunk)? {
                0 => return Ok(contents),
                read_bytes => contents.extend_from_slice(&chunk[..read_bytes]),
            }
        }
    }

    /// Gives `path` these contents, durably and at once: whatever happens, also a loss of power, `path` then holds
    /// its old contents (or is absent, if it was) or the new ones, whole. After success it is the new ones.
    ///
    /// `temporary` is a name in the same directory that the environment may use for the time of the call; what it
    /// held is lost, and it is gone afterwards. It can stay behind only after the death of the process or a loss
    /// of power.
    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()>;

    /// Renames a file. If `to` exists, nothing happens and the error
    /// [`is_already_exists`](crate::EnvError::is_already_exists). Durable after syncing the directories of both.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Removes a file's name. Handles that are open go on to work. Durable after
    /// [`sync_directory`](Self::sync_directory).
    fn remove_file(&self, path: &Path) -> Result<()>;

    /// Whether a file or directory of that name exists.
    fn exists(&self, path: &Path) -> Result<bool>;

    /// Size of a file in bytes, as far as its writers have flushed.
    fn file_size(&self, path: &Path) -> Result<u64>;

    /// Tells the file at `path` from its copies. Optional: by default `None`, where the environment cannot tell.
    fn file_id(&self, path: &Path) -> Result<Option<FileId>> {
        let _ = path;
        Ok(None)
    }

    /// Names of the files and directories directly inside `directory`, in any order. Names that are no UTF-8 are left
    /// out: no database file has one.
    fn list(&self, directory: &Path) -> Result<Vec<String>>;

    /// Creates a directory and those above it, as far as they are missing. The names of those it created are durable
    /// on return. The name of the innermost one that was there is made durable, too, if it is empty: a process may have made
    /// it and died. No other directory has to be readable.
    fn create_directory_all(&self, path: &Path) -> Result<()>;

    /// Removes a directory, which must be empty.
    fn remove_directory(&self, path: &Path) -> Result<()>;

    /// Makes durable what names the directory holds: every creation, rename and removal in it that returned before.
    /// It does not sync the files' contents.
    fn sync_directory(&self, path: &Path) -> Result<()>;

    /// Makes `to` hold the bytes of `from`: by a hard link where possible, else by a copy that is synced. Neither
    /// may be written afterwards, and `from` must have been synced before. If `to` exists, nothing happens and the
    /// error [`is_already_exists`](crate::EnvError::is_already_exists). The name is durable after
    /// [`sync_directory`](Self::sync_directory).
    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()>;

    /// Takes the one lock on the file at `path`, which is created if missing. It never waits: a lock that is held,
    /// here or in another process, is [`LockError::Held`].
    ///
    /// The lock goes with the file, not with the spelling of its path. It is released when the returned value is
    /// dropped or the process dies. The file is never removed, so that two openers cannot lock two files of one
    /// name.
    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError>;

    /// Microseconds since a fixed moment in the past. Never goes backwards; only differences mean something.
    fn monotonic_micros(&self) -> u64;

    /// Microseconds since 1970-01-01 00:00 UTC by the machine's clock, which may be set and so go backwards.
    fn unix_micros(&self) -> u64;

    /// Waits at least so long. Without threads it may return at once: nothing else could happen meanwhile.
    fn sleep(&self, duration: Duration);

    /// Whether [`spawn`](Self::spawn) works.
    fn background(&self) -> Background;

    /// Starts a thread. `name` shows in debuggers; systems may shorten it. With [`Background::Steps`] it fails
    /// with kind [`std::io::ErrorKind::Unsupported`] and the work is dropped.
    fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>>;

    /// How many threads can run at once here; at least 1.
    fn available_parallelism(&self) -> usize;

    /// Number of this process, 0 where there is no such thing.
    fn process_id(&self) -> u32;
}
