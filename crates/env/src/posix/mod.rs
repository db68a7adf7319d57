//! The operating system's files, directories, locks, clocks and threads, on any Unix.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{FileType, OFlags};

#[cfg(target_pointer_width = "64")]
use crate::host_files::HostMappedFile;
use crate::host_files::{HostLogFile, HostSequentialFile, HostWritableFile};
use crate::{
    Background, Env, EnvError, FileId, FileLock, HeldEnv, LockError, LockHolder, LogFile, RandomAccessFile,
    Result, SequentialFile, ThreadHandle, WritableFile, host,
};

mod descriptor_share;
mod directory;
#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod fault_handler;
#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod guarded_store;
mod lock;
#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod log_mapping;
#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) mod log_space;
#[cfg(target_pointer_width = "64")]
pub(crate) mod mapping;
#[cfg(target_os = "linux")]
mod memory_for_files;
mod path_at;
mod random_file;
pub(crate) mod raw_file;

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(crate) use crate::host_files::no_log_space as log_space;
use path_at::{HeldDirectory, HeldName, PathAt};
use random_file::PosixRandomAccessFile;

/// The environment of the operating system.
///
/// Symbolic links are followed. New files and directories get the permissions that the process's umask leaves.
#[derive(Debug, Clone, Default)]
pub struct PosixEnv {
    /// The directory for which [`hold_directory`](Env::hold_directory) returned this value.
    held: Option<HeldName>,
}

impl PosixEnv {
    /// Creates the environment of the operating system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `work` on `path`, as seen from the held directory.
    fn at<'a, T>(
        &self,
        operation: &'static str,
        path: &'a Path,
        work: impl FnOnce(&PathAt<'a>) -> io::Result<T>,
    ) -> Result<T> {
        self.path_at(path)
            .and_then(|path_at| work(&path_at))
            .map_err(|source| EnvError::new(operation, path, source))
    }

    fn path_at<'a>(&self, path: &'a Path) -> io::Result<PathAt<'a>> {
        PathAt::new(self.held.as_ref(), path)
    }

    /// Where the path of a directory leads, for operations that name their errors themselves.
    fn path_at_directory<'a>(&self, path: &'a Path) -> Result<PathAt<'a>> {
        self.path_at(path).map_err(|source| EnvError::new("open directory", path, source))
    }

    fn create_log_at(&self, path: &Path, may_map: bool) -> Result<Box<dyn LogFile>> {
        // Mapping also requires read access.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC;
        let file = self.at("create", path, |path_at| path_at.open_regular(flags))?;
        Ok(Box::new(HostLogFile::new(file, path, may_map)))
    }

    fn open_to_read(&self, path: &Path) -> Result<File> {
        self.at("open", path, |path_at| path_at.open_regular(OFlags::RDONLY))
    }
}

impl Env for PosixEnv {
    fn hold_directory(&self, path: &Path) -> Result<Option<HeldEnv>> {
        let hold = Arc::new(HeldDirectory::open(path)?);
        let env = Arc::new(Self { held: Some(HeldName::of(&hold)) });
        Ok(Some(HeldEnv { env, hold }))
    }

    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        Ok(Arc::new(PosixRandomAccessFile::new(self.open_to_read(path)?, self, path)))
    }

    // A 32-bit process would run out of addresses.
    #[cfg(target_pointer_width = "64")]
    fn open_mapped(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        let file = self.open_to_read(path)?;
        match HostMappedFile::new(&file, path) {
            Ok(mapped) => Ok(Arc::new(mapped)),
            Err(_) => Ok(Arc::new(PosixRandomAccessFile::new(file, self, path))),
        }
    }

    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        Ok(Box::new(HostSequentialFile::new(self.open_to_read(path)?, path)))
    }

    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let file = self.at("create", path, |path_at| path_at.open_regular(flags))?;
        Ok(Box::new(HostWritableFile::new(file, path, 0)))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let file = self.at("open to append", path, |path_at| {
            let file = path_at.open_regular(OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)?;
            let size_bytes = file.metadata()?.len();
            Ok(HostWritableFile::new(file, path, size_bytes))
        })?;
        Ok(Box::new(file))
    }

    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        self.create_log_at(path, true)
    }

    fn create_unmapped_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        self.create_log_at(path, false)
    }

    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
        let directory = self.at("replace", path, |path_at| {
            directory::replace_file(path_at, contents, &self.path_at(temporary)?)?;
            Ok(path_at.parent())
        })?;
        directory::sync(&directory)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let renamed = || self.path_at(from)?.rename_to_new(&self.path_at(to)?);
        renamed().map_err(|source| EnvError::between(["rename", "rename a file to"], from, to, source))
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.at("remove", path, PathAt::remove_file)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        self.at("look for", path, PathAt::exists)
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        self.at("get the size of", path, |path_at| {
            let stat = path_at.stat()?;
            if FileType::from_raw_mode(stat.st_mode).is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            u64::try_from(stat.st_size).map_err(io::Error::other)
        })
    }

    fn file_id(&self, path: &Path) -> Result<Option<FileId>> {
        self.at("look at", path, PathAt::file_id)
    }

    fn is_link(&self, path: &Path) -> Result<bool> {
        self.at("look at", path, |path| path.is_link())
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>> {
        self.at("list", directory, PathAt::list)
    }

    fn create_directory_all(&self, path: &Path) -> Result<()> {
        directory::create_all(&self.path_at_directory(path)?)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        self.at("remove directory", path, PathAt::remove_directory)
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        directory::sync(&self.path_at_directory(path)?)
    }

    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        let linked = || directory::link_or_copy(&self.path_at(from)?, &self.path_at(to)?);
        linked().map_err(|source| EnvError::between(["link", "link a file to"], from, to, source))
    }

    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
        let path_at = self.path_at(path).map_err(|source| EnvError::new("lock", path, source))?;
        Ok(Box::new(lock::PosixLock::acquire(&path_at)?))
    }

    fn lock_holder(&self, path: &Path) -> Result<LockHolder> {
        self.at("look at the lock of", path, lock::holder)
    }

    fn monotonic_micros(&self) -> u64 {
        host::monotonic_micros()
    }

    fn unix_micros(&self) -> u64 {
        host::unix_micros()
    }

    fn sleep(&self, duration: Duration) {
        host::sleep(duration);
    }

    fn background(&self) -> Background {
        host::BACKGROUND
    }

    fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>> {
        host::spawn(name, work)
    }

    // On Linux, niceness and policy are per thread. With `SCHED_BATCH`, a thread that wakes up does not take the
    // processor from one that runs.
    #[cfg(target_os = "linux")]
    fn lower_priority(&self) {
        const STEPS: i32 = 5;
        // What the system reads of `sched_param`. musl has the function of this name fail always.
        let priority: libc::c_int = 0;
        // SAFETY: 0 is the calling thread. The calls touch no memory but `priority`, which outlives them.
        unsafe {
            libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_BATCH, &raw const priority);
            libc::setpriority(libc::PRIO_PROCESS, 0, libc::getpriority(libc::PRIO_PROCESS, 0) + STEPS);
        }
    }

    fn available_parallelism(&self) -> usize {
        host::available_parallelism()
    }

    #[cfg(target_os = "linux")]
    fn memory_for_files_bytes(&self) -> Option<u64> {
        memory_for_files::bytes()
    }

    fn process_id(&self) -> u32 {
        host::process_id()
    }
}
