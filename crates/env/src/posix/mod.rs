//! The operating system's files, folders, locks, clocks and threads, on any Unix.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    Background, Env, EnvError, FileLock, LockError, LogFile, RandomAccessFile, Result, SequentialFile,
    ThreadHandle, WritableFile, host,
};

mod descriptor_share;
mod file;
mod folder;
mod lock;
mod log_file;
#[cfg(target_os = "linux")]
mod log_mapping;
#[cfg(target_os = "linux")]
mod log_space;
#[cfg(target_pointer_width = "64")]
mod mapped_file;
#[cfg(target_pointer_width = "64")]
mod mapping;
#[cfg(not(target_os = "linux"))]
mod no_log_space;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod residency;

use file::{PosixRandomAccessFile, PosixSequentialFile, PosixWritableFile};
use log_file::PosixLogFile;
#[cfg(not(target_os = "linux"))]
use no_log_space as log_space;

/// The environment of the operating system. It has no state of its own: all values are alike.
///
/// Symbolic links are followed. New files and folders get the permissions that the process's umask leaves.
#[derive(Debug, Clone, Copy, Default)]
pub struct PosixEnv {}

impl PosixEnv {
    /// The environment of the operating system.
    pub fn new() -> Self {
        Self {}
    }
}

/// Opens `path` to read.
fn open_to_read(path: &Path) -> Result<File> {
    open_regular(path, OpenOptions::new().read(true)).map_err(|source| EnvError::new("open", path, source))
}

/// Opens `path`, if it is a regular file: others bear no data that stays, and to open a pipe waits for somebody at its other
/// end. A folder the system would open, and fail only at the first read.
fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Regular files are read and written as without it.
    let file = options.custom_flags(libc::O_NONBLOCK).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}

impl Env for PosixEnv {
    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        Ok(Arc::new(PosixRandomAccessFile::new(open_to_read(path)?, path)))
    }

    // On 32 bits the addresses would run out.
    #[cfg(target_pointer_width = "64")]
    fn open_mapped(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        let file = open_to_read(path)?;
        match mapped_file::PosixMappedFile::new(&file, path) {
            Ok(mapped) => Ok(Arc::new(mapped)),
            Err(_) => Ok(Arc::new(PosixRandomAccessFile::new(file, path))),
        }
    }

    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        Ok(Box::new(PosixSequentialFile::new(open_to_read(path)?, path)))
    }

    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let file = open_regular(path, OpenOptions::new().write(true).create(true).truncate(true));
        let file = file.map_err(|source| EnvError::new("create", path, source))?;
        Ok(Box::new(PosixWritableFile::new(file, path, 0)))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let open = || {
            let file = open_regular(path, OpenOptions::new().append(true).create(true))?;
            let size_bytes = file.metadata()?.len();
            Ok(PosixWritableFile::new(file, path, size_bytes))
        };
        Ok(Box::new(open().map_err(|source| EnvError::new("open to append", path, source))?))
    }

    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        // To be mapped it has to be readable as well.
        let file = open_regular(path, OpenOptions::new().read(true).write(true).create(true).truncate(true));
        let file = file.map_err(|source| EnvError::new("create", path, source))?;
        Ok(Box::new(PosixLogFile::new(file, path)))
    }

    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
        folder::replace_file(path, contents, temporary)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        folder::rename_to_new(from, to)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        std::fs::remove_file(path).map_err(|source| EnvError::new("remove", path, source))
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        folder::exists(path).map_err(|source| EnvError::new("look for", path, source))
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        let size = || {
            let metadata = std::fs::metadata(path)?;
            if metadata.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Ok(metadata.len())
        };
        size().map_err(|source| EnvError::new("get the size of", path, source))
    }

    fn list(&self, folder: &Path) -> Result<Vec<String>> {
        folder::list(folder).map_err(|source| EnvError::new("list", folder, source))
    }

    fn create_folder_all(&self, path: &Path) -> Result<()> {
        folder::create_all(path)
    }

    fn remove_folder(&self, path: &Path) -> Result<()> {
        std::fs::remove_dir(path).map_err(|source| EnvError::new("remove folder", path, source))
    }

    fn sync_folder(&self, path: &Path) -> Result<()> {
        folder::sync(path)
    }

    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        folder::link_or_copy(from, to)
    }

    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
        Ok(Box::new(lock::PosixLock::acquire(path)?))
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

    fn available_parallelism(&self) -> usize {
        host::available_parallelism()
    }

    fn process_id(&self) -> u32 {
        host::process_id()
    }
}
