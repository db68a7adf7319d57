//! The files, directories, locks, clocks and threads of Windows.
//!
//! Each file is opened so that others may read, write, rename and remove it meanwhile, LOCK excepted. Tables are
//! mapped, unless they are on a network share.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::Threading::{
    GetCurrentThread, SetThreadPriority, THREAD_PRIORITY_BELOW_NORMAL,
};

#[cfg(target_pointer_width = "64")]
use crate::host_files::HostMappedFile;
use crate::host_files::{HostLogFile, HostSequentialFile, HostWritableFile};
use crate::{
    Background, Env, EnvError, FileId, FileLock, HeldEnv, LockError, LockHolder, LogFile, RandomAccessFile,
    Result, SequentialFile, ThreadHandle, WritableFile, host,
};

mod directory;
mod lock;
#[cfg(target_pointer_width = "64")]
pub(crate) mod mapping;
mod names;
mod open;
mod path;
mod random_file;
pub(crate) mod raw_file;

pub(crate) use crate::host_files::no_log_space as log_space;
use path::{HeldDirectory, HeldName};
use random_file::WindowsRandomAccessFile;

/// The environment of Windows.
///
/// Paths may be longer than 260 characters. Another program that keeps a file from being opened, renamed or removed, such
/// as a scanner for viruses, is waited for, half a second at most.
#[derive(Debug, Clone, Default)]
pub struct WindowsEnv {
    /// The directory for which [`hold_directory`](Env::hold_directory) returned this value.
    held: Option<HeldName>,
}

impl WindowsEnv {
    /// Creates the environment of the operating system.
    pub fn new() -> Self {
        Self::default()
    }

    fn resolve<'a>(&self, path: &'a Path) -> io::Result<Cow<'a, Path>> {
        path::resolve(self.held.as_ref(), path)
    }

    /// Runs `work` on `path`, as seen from the held directory.
    fn at<T>(
        &self,
        operation: &'static str,
        path: &Path,
        work: impl FnOnce(&Path) -> io::Result<T>,
    ) -> Result<T> {
        self.resolve(path)
            .and_then(|resolved| work(&resolved))
            .map_err(|source| EnvError::new(operation, path, source))
    }
}

impl Env for WindowsEnv {
    fn hold_directory(&self, path: &Path) -> Result<Option<HeldEnv>> {
        let held = HeldDirectory::open(path);
        let hold = Arc::new(held.map_err(|source| EnvError::new("open directory", path, source))?);
        let env = Arc::new(Self { held: Some(HeldName::of(&hold)) });
        Ok(Some(HeldEnv { env, hold }))
    }

    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        let file = self.at("open", path, open::to_read)?;
        Ok(Arc::new(WindowsRandomAccessFile::new(file, path)))
    }

    // A 32-bit process would run out of addresses.
    #[cfg(target_pointer_width = "64")]
    fn open_mapped(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        let file = self.at("open", path, open::to_read)?;
        match HostMappedFile::new(&file, path) {
            Ok(mapped) => Ok(Arc::new(mapped)),
            Err(_) => Ok(Arc::new(WindowsRandomAccessFile::new(file, path))),
        }
    }

    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        Ok(Box::new(HostSequentialFile::new(self.at("open", path, open::to_read)?, path)))
    }

    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let file = self.at("create", path, open::anew)?;
        Ok(Box::new(HostWritableFile::new(file, path, 0)))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let file = self.at("open to append", path, |resolved| {
            let file = open::open(OpenOptions::new().append(true).create(true), resolved)?;
            let size_bytes = file.metadata()?.len();
            Ok(HostWritableFile::new(file, path, size_bytes))
        })?;
        Ok(Box::new(file))
    }

    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        let file = self.at("create", path, open::anew)?;
        Ok(Box::new(HostLogFile::new(file, path, false)))
    }

    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
        self.at("replace", path, |path| names::replace(path, contents, &self.resolve(temporary)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let renamed = || names::rename_to_new(&self.resolve(from)?, &self.resolve(to)?);
        renamed().map_err(|source| EnvError::between(["rename", "rename a file to"], from, to, source))
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.at("remove", path, names::remove)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        self.at("look for", path, Path::try_exists)
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        self.at("get the size of", path, |path| {
            let metadata = std::fs::metadata(path)?;
            if metadata.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(metadata.len()) }
        })
    }

    fn file_id(&self, path: &Path) -> Result<Option<FileId>> {
        self.at("look at", path, |path| match open::file_id(path) {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn is_link(&self, path: &Path) -> Result<bool> {
        self.at("look at", path, names::is_link)
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>> {
        self.at("list", directory, |directory| {
            let mut found = Vec::new();
            let entries = std::fs::read_dir(directory);
            for entry in entries.map_err(|error| directory::or_file(error, directory))? {
                let Ok(name) = entry?.file_name().into_string() else { continue };
                if !names::is_put_off(directory, &name) {
                    found.push(name);
                }
            }
            Ok(found)
        })
    }

    fn create_directory_all(&self, path: &Path) -> Result<()> {
        self.at("create directory", path, directory::create_all)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        names::remove_put_off();
        self.at("remove directory", path, |path| std::fs::remove_dir(path))
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        self.at("sync directory", path, directory::sync)
    }

    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        let linked = || names::link_or_copy(&self.resolve(from)?, &self.resolve(to)?);
        linked().map_err(|source| EnvError::between(["link", "link a file to"], from, to, source))
    }

    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
        let resolved = self.resolve(path).map_err(|source| EnvError::new("lock", path, source))?;
        Ok(Box::new(lock::WindowsLock::acquire(&resolved, path)?))
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

    fn lower_priority(&self) {
        // SAFETY: the handle stands for the calling thread, and no memory is touched.
        unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL) };
    }

    fn available_parallelism(&self) -> usize {
        host::available_parallelism()
    }

    fn memory_for_files_bytes(&self) -> Option<u64> {
        let mut status =
            MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..MEMORYSTATUSEX::default() };
        // SAFETY: the structure has the length that it says, and lives during the call.
        let told = unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0;
        told.then_some(status.ullAvailPhys)
    }

    fn process_id(&self) -> u32 {
        host::process_id()
    }
}
