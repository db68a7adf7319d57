//! The environment itself: files and directories by path, the lock, clocks and threads.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::{
    ClockWatcher, FileLock, LockError, LockHolder, LogFile, RandomAccessFile, Result, SequentialFile,
    WritableFile,
};

/// How background work runs in an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// [`Env::spawn`] starts threads.
    Threads,
    /// There are no threads: [`Env::spawn`] fails, and the engine does background work in steps, inside calls or when
    /// its owner asks for one.
    Steps,
}

/// A thread started by [`Env::spawn`]. Dropping the handle detaches the thread, which keeps running.
pub trait ThreadHandle: Send + Sync {
    /// Waits until the thread's work is done. A panic of the work ends the wait and is not passed on: an owner that
    /// needs to know must catch it within the work. The thread itself must not call this.
    fn join(self: Box<Self>);
}

/// Identifies a file among all files that exist at the same time, whatever their names, as Unix does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The file system.
    pub device: u64,
    /// The file in it. Another file may get this number once this one is removed.
    pub inode: u64,
}

/// The right to a held directory. Its promise lasts until the last clone of the value is dropped.
pub trait DirectoryHold: Send + Sync + fmt::Debug {}

/// What [`Env::hold_directory`] returns.
#[derive(Debug, Clone)]
pub struct HeldEnv {
    /// The environment in which paths into the directory lead into the held one.
    pub env: Arc<dyn Env>,
    /// The hold. Once all its clones are dropped, operations of `env` on paths into the directory fail.
    pub hold: Arc<dyn DirectoryHold>,
}

/// Files, directories, clocks and threads. The [crate's page](crate) lists what survives which failure, and which parts
/// are optional.
///
/// Paths are those of the environment: the system's own on a real file system, `/`-separated names elsewhere. An
/// operation inside a directory that does not exist fails with [`is_not_found`](crate::EnvError::is_not_found).
pub trait Env: Send + Sync + fmt::Debug + 'static {
    /// Returns an environment in which `path`, and paths that begin with it, lead into the directory that is there
    /// now, even if the directory is moved, another one takes its place, or the process changes its working directory
    /// (`chdir`). Syncing the directory then needs no descriptor. `None` if directories never move.
    ///
    /// `path` means here what it means to the process, whatever directory this environment itself holds.
    ///
    /// # Errors
    ///
    /// If the directory does not exist or cannot be opened.
    fn hold_directory(&self, path: &Path) -> Result<Option<HeldEnv>> {
        let _ = path;
        Ok(None)
    }

    /// Opens a file to read at any offset. It must exist and not be a directory.
    ///
    /// If the process may open only few files, an environment may open this one for each read: reading a file that
    /// was renamed or removed in the meantime then fails.
    ///
    /// # Errors
    ///
    /// If the file does not exist, is not a file, or cannot be opened.
    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>>;

    /// Like [`open_random`](Self::open_random), for a complete file that is read through
    /// [`mapped`](RandomAccessFile::mapped) if the environment supports that: the handle then holds no descriptor,
    /// and the file stays readable whatever happens to its name. Optional: the default is `open_random`.
    ///
    /// # Errors
    ///
    /// Those of [`open_random`](Self::open_random).
    fn open_mapped(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        self.open_random(path)
    }

    /// Opens a file to read from front to back. It must exist and not be a directory.
    ///
    /// # Errors
    ///
    /// If the file does not exist, is not a file, or cannot be opened.
    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>>;

    /// Creates a file to write; an existing one is emptied.
    ///
    /// # Durability
    ///
    /// The name is durable after [`sync_directory`](Self::sync_directory).
    ///
    /// # Errors
    ///
    /// If the file cannot be created or emptied, for example because `path` names a directory.
    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>>;

    /// Opens a file to write after its end; creates it if it is missing.
    ///
    /// # Errors
    ///
    /// If the file can be neither opened nor created, for example because `path` names a directory.
    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>>;

    /// Creates a write-ahead log; an existing file is emptied.
    ///
    /// # Durability
    ///
    /// The name is durable after [`sync_directory`](Self::sync_directory).
    ///
    /// # Errors
    ///
    /// If the file cannot be created or emptied, for example because `path` names a directory.
    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>>;

    /// Like [`create_log`](Self::create_log), for a log that must not be mapped into memory, where `create_log` might
    /// do that: each append is a system call. Optional: the default is `create_log`.
    ///
    /// # Errors
    ///
    /// Those of [`create_log`](Self::create_log).
    fn create_unmapped_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        self.create_log(path)
    }

    /// Reads the whole contents of a file into memory; meant for small files.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or read.
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

    /// Replaces the contents of `path` atomically and durably: whatever happens, even a power cut, `path` then has
    /// either its old contents (or is absent, if it was) or all of the new ones. On success it has the new ones.
    ///
    /// `temporary` is a name in the same directory that the environment may use during the call. Its former contents
    /// are lost, and it is gone afterwards; it can remain only after the death of the process or a power cut.
    ///
    /// # Errors
    ///
    /// If the contents cannot be written, synced or renamed.
    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()>;

    /// Renames a file.
    ///
    /// # Durability
    ///
    /// Durable after syncing the directories of both names.
    ///
    /// # Errors
    ///
    /// [`is_already_exists`](crate::EnvError::is_already_exists) if `to` exists; nothing happens then. Also if `from`
    /// does not exist or the system refuses.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Removes a file's name. Open handles keep working.
    ///
    /// # Durability
    ///
    /// Durable after [`sync_directory`](Self::sync_directory).
    ///
    /// # Errors
    ///
    /// If the file does not exist or cannot be removed.
    fn remove_file(&self, path: &Path) -> Result<()>;

    /// Whether a file or directory of that name exists.
    ///
    /// # Errors
    ///
    /// If the environment cannot tell.
    fn exists(&self, path: &Path) -> Result<bool>;

    /// Size of a file in bytes, as far as its writers have flushed.
    ///
    /// # Errors
    ///
    /// If the file does not exist or its size cannot be read.
    fn file_size(&self, path: &Path) -> Result<u64>;

    /// Identity of the file or directory at `path`, which distinguishes it from its copies. `None` if there is no such file, or if the
    /// environment cannot tell. Optional: the default is `None`.
    ///
    /// # Errors
    ///
    /// If the identity cannot be read.
    fn file_id(&self, path: &Path) -> Result<Option<FileId>> {
        let _ = path;
        Ok(None)
    }

    /// Whether `path` is a symbolic link. Every other call follows links, except those that rename or remove. Optional:
    /// by default there are no links.
    ///
    /// # Errors
    ///
    /// If the file system cannot be queried.
    fn is_link(&self, path: &Path) -> Result<bool> {
        let _ = path;
        Ok(false)
    }

    /// Names of the files and directories directly inside `directory`, in any order. Names that are not UTF-8 are
    /// left out: no database file has one.
    ///
    /// # Errors
    ///
    /// If the directory does not exist or cannot be read.
    fn list(&self, directory: &Path) -> Result<Vec<String>>;

    /// Creates a directory and those of its parents that are missing.
    ///
    /// # Durability
    ///
    /// The names of the created directories are durable on return. The name of the innermost existing directory is
    /// durable as well if that is empty: a process may have created it and died. No other directory has to be readable.
    ///
    /// # Errors
    ///
    /// If a directory cannot be created or its name cannot be synced.
    fn create_directory_all(&self, path: &Path) -> Result<()>;

    /// Removes a directory, which must be empty.
    ///
    /// # Errors
    ///
    /// If the directory does not exist or is not empty.
    fn remove_directory(&self, path: &Path) -> Result<()>;

    /// Makes the names in the directory durable: every creation, rename and removal in it that returned before. Does
    /// not sync the files' contents.
    ///
    /// # Errors
    ///
    /// If the directory does not exist or cannot be synced.
    fn sync_directory(&self, path: &Path) -> Result<()>;

    /// Gives `to` the bytes of `from`: by a hard link if possible, otherwise by a copy that is synced. Neither file
    /// may be written afterwards, and `from` must have been synced before. If `from` is a symbolic link, `to` gets the file that it
    /// leads to.
    ///
    /// # Durability
    ///
    /// The name is durable after [`sync_directory`](Self::sync_directory).
    ///
    /// # Errors
    ///
    /// [`is_already_exists`](crate::EnvError::is_already_exists) if `to` exists; nothing happens then. Also if `from`
    /// does not exist or can be neither linked nor copied.
    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()>;

    /// Takes the only lock on the file at `path`, which is created if missing. Never waits.
    ///
    /// The lock belongs to the file, not to the spelling of its path. It is released when the returned value is
    /// dropped or the process dies. The file is never removed, so that two openers cannot lock two files of one name.
    ///
    /// # Errors
    ///
    /// [`LockError::Held`] if the lock is held, by this process or another one; [`LockError::Env`] if the file cannot
    /// be opened or locked.
    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError>;

    /// Which process holds the lock on the file at `path`. Neither takes the lock nor changes the file. Optional: the
    /// default does not know.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened. A missing file is not an error: its lock is free.
    fn lock_holder(&self, path: &Path) -> Result<LockHolder> {
        let _ = path;
        Ok(LockHolder::Unknown(None))
    }

    /// Microseconds since a fixed moment in the past. Never goes backwards; only differences are meaningful.
    fn monotonic_micros(&self) -> u64;

    /// Microseconds since 1970-01-01 00:00 UTC by the machine's clock, which can be set and may therefore go
    /// backwards.
    fn unix_micros(&self) -> u64;

    /// Calls `watcher` each time the clock is advanced by hand. By default it does nothing: a system's clock advances
    /// automatically, and a wait on it ends without a call.
    fn watch_clock(&self, watcher: Weak<dyn ClockWatcher>) {
        let _ = watcher;
    }

    /// Waits at least this long. Without threads it may return at once, because nothing else could happen in the
    /// meantime.
    fn sleep(&self, duration: Duration);

    /// Whether [`spawn`](Self::spawn) works.
    fn background(&self) -> Background;

    /// Starts a thread. Debuggers show `name`, which systems may shorten.
    ///
    /// # Errors
    ///
    /// With [`Background::Steps`] it fails with kind [`std::io::ErrorKind::Unsupported`] and drops the work. Also if
    /// the system cannot start a thread.
    fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>>;

    /// Lets other threads run before the calling one where there are more than processors. For threads whose work can
    /// wait. Optional: by default nothing happens.
    fn lower_priority(&self) {}

    /// Number of threads that can run at once here; at least 1.
    fn available_parallelism(&self) -> usize;

    /// Memory that the process may use for the contents of files without others losing theirs, in bytes: free memory
    /// and what files already take, within the limits of the process. It changes all the time. `None` if that is not
    /// known or does not apply. Optional: the default is `None`.
    fn memory_for_files_bytes(&self) -> Option<u64> {
        None
    }

    /// Number of this process; 0 if there is no such thing.
    fn process_id(&self) -> u32;
}
