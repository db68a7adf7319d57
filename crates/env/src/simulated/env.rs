//! The simulated machine as an [`Env`]: each method makes the calls that the posix environment would make.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::call::{Call, CallKind};
use super::control::{SimulatedEnv, SimulatedHold};
use super::handle::{
    Handle, SimulatedLock, SimulatedLogFile, SimulatedRandomAccessFile, SimulatedSequentialFile,
    SimulatedWritableFile,
};
use super::process::Process;
use crate::names::normal;
use crate::{
    Background, Env, EnvError, FileId, FileLock, HeldEnv, LockError, LogFile, RandomAccessFile, Result,
    SequentialFile, ThreadHandle, WritableFile,
};

impl Process {
    /// The steps of `replace_file` up to the rename.
    fn replace(&self, path: &Path, contents: &[u8], temporary: &Path) -> io::Result<()> {
        let call = |step, path| Call::new(CallKind::Replace, step, path);
        let file = self.create(call("create to replace", temporary), true)?;
        let mut known_failures = self.failures_at_open(&file);
        self.write(call("write to replace", temporary), &file, 0, contents)?;
        self.sync(call("sync to replace", temporary), &file, &mut known_failures)?;
        self.on_names(call("rename to replace", path), |names| {
            names.rename_over(&normal(temporary), &normal(path))
        })
    }

    fn create_missing_directories(&self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        let mut missing: Vec<&Path> = Vec::new();
        for directory in path.ancestors() {
            let call = Call::new(CallKind::Look, "look for", directory);
            if self.on_names(call, |names| Ok(names.exists(directory)))? {
                break;
            }
            missing.push(directory);
        }
        let existing = missing.last().and_then(|outermost| outermost.parent());
        if let Some(existing) = existing {
            let call = Call::new(CallKind::List, "look into", existing);
            if let (Some(above), true) =
                (existing.parent(), self.on_names(call, |names| names.list(existing))?.is_empty())
            {
                self.sync_directory(Call::new(
                    CallKind::CreateDirectory,
                    "sync above an empty directory",
                    above,
                ))?;
            }
        }
        for directory in missing.iter().rev() {
            let call = Call::new(CallKind::CreateDirectory, "create directory", directory);
            self.on_names(call, |names| names.create_directory(directory))?;
            let above = directory.parent().unwrap_or(directory);
            self.sync_directory(Call::new(CallKind::CreateDirectory, "sync above a new directory", above))?;
        }
        self.on_names(Call::new(CallKind::Look, "look at", &path), |names| names.check_directory(&path))
    }
}

impl SimulatedEnv {
    /// Opens a directory that is not held. Syncing a held one takes no descriptor.
    fn open_to_sync(&self, path: &Path) -> io::Result<()> {
        match &self.held {
            Some((held, hold)) if *held == normal(path) => match hold.strong_count() {
                0 => Err(io::Error::other("nobody holds the directory any more")),
                _ => Ok(()),
            },
            _ => self.open_directory(path),
        }
    }

    fn open_directory(&self, path: &Path) -> io::Result<()> {
        let call = Call::new(CallKind::OpenDirectory, "open directory", path);
        self.process.on_names(call, |names| names.check_directory(&normal(path)))
    }
}

impl Env for SimulatedEnv {
    fn hold_directory(&self, path: &Path) -> Result<Option<HeldEnv>> {
        self.open_directory(path).map_err(|source| EnvError::new("open directory", path, source))?;
        let hold = Arc::new(SimulatedHold);
        let held = Some((normal(path), Arc::downgrade(&hold)));
        Ok(Some(HeldEnv { env: Arc::new(Self { held, ..self.clone() }), hold }))
    }

    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        let file = self.process.open(path).map_err(|source| EnvError::new("open", path, source))?;
        Ok(Arc::new(SimulatedRandomAccessFile(Handle::new(&self.process, file, path))))
    }

    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        let file = self.process.open(path).map_err(|source| EnvError::new("open", path, source))?;
        Ok(Box::new(SimulatedSequentialFile::new(Handle::new(&self.process, file, path))))
    }

    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let file = self
            .process
            .create(Call::new(CallKind::Create, "create", path), true)
            .map_err(|source| EnvError::new("create", path, source))?;
        Ok(Box::new(SimulatedWritableFile::new(Handle::new(&self.process, file, path))))
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        let file = self
            .process
            .create(Call::new(CallKind::Create, "open to append", path), false)
            .map_err(|source| EnvError::new("open to append", path, source))?;
        Ok(Box::new(SimulatedWritableFile::new(Handle::new(&self.process, file, path))))
    }

    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        let file = self.process.create_log(path).map_err(|source| EnvError::new("create", path, source))?;
        Ok(Box::new(SimulatedLogFile::new(Handle::new(&self.process, file, path))))
    }

    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
        if let Err(error) = self.process.replace(path, contents, temporary) {
            let call = Call::new(CallKind::Replace, "remove after a failure", temporary);
            // The failure above is the one to report.
            let _ = self.process.on_names(call, |names| names.remove_file(&normal(temporary)));
            return Err(EnvError::new("replace", path, error));
        }
        let normal = normal(path);
        let directory = normal.parent().unwrap_or(&normal);
        self.process
            .sync_directory(Call::new(CallKind::Replace, "sync directory to replace", directory))
            .map_err(|source| EnvError::new("sync directory", directory, source))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.process
            .on_names(Call::new(CallKind::Rename, "rename", from), |names| {
                names.rename_to_new(&normal(from), &normal(to))
            })
            .map_err(|source| EnvError::between(["rename", "rename a file to"], from, to, source))
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        let call = Call::new(CallKind::Remove, "remove", path);
        self.process
            .on_names(call, |names| names.remove_file(&normal(path)))
            .map_err(|source| EnvError::new("remove", path, source))
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        let call = Call::new(CallKind::Look, "look for", path);
        self.process
            .on_names(call, |names| Ok(names.exists(&normal(path))))
            .map_err(|source| EnvError::new("look for", path, source))
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        let call = Call::new(CallKind::Look, "get the size of", path);
        let file = self.process.on_names(call, |names| names.file(&normal(path)));
        let file = file.map_err(|source| EnvError::new("get the size of", path, source))?;
        let size_bytes = file.lock().bytes().len();
        Ok(size_bytes as u64)
    }

    fn file_id(&self, path: &Path) -> Result<Option<FileId>> {
        let call = Call::new(CallKind::Look, "look at", path);
        match self.process.on_names(call, |names| names.file(&normal(path))) {
            Ok(file) => Ok(Some(FileId { device: 0, inode: Arc::as_ptr(&file) as usize as u64 })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(EnvError::new("look at", path, source)),
        }
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>> {
        let call = Call::new(CallKind::List, "list", directory);
        self.process
            .on_names(call, |names| names.list(&normal(directory)))
            .map_err(|source| EnvError::new("list", directory, source))
    }

    fn create_directory_all(&self, path: &Path) -> Result<()> {
        self.process
            .create_missing_directories(path)
            .map_err(|source| EnvError::new("create directory", path, source))
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        let call = Call::new(CallKind::RemoveDirectory, "remove directory", path);
        self.process
            .on_names(call, |names| names.remove_directory(&normal(path)))
            .map_err(|source| EnvError::new("remove directory", path, source))
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        self.open_to_sync(path)
            .and_then(|()| {
                self.process.sync_directory(Call::new(CallKind::SyncDirectory, "sync directory", path))
            })
            .map_err(|source| EnvError::new("sync directory", path, source))
    }

    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        let call = Call::new(CallKind::Link, "link", from);
        self.process
            .on_names(call, |names| names.link(&normal(from), &normal(to)))
            .map_err(|source| EnvError::between(["link", "link a file to"], from, to, source))
    }

    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
        match self.process.lock(path).map_err(|source| EnvError::new("lock", path, source))? {
            Some(file) => Ok(Box::new(SimulatedLock(Handle::new(&self.process, file, path)))),
            None => Err(LockError::Held { holder: Some(self.process_id()), this_process: true }),
        }
    }

    fn monotonic_micros(&self) -> u64 {
        self.read_clocks().0
    }

    fn unix_micros(&self) -> u64 {
        self.read_clocks().1
    }

    fn sleep(&self, duration: Duration) {
        self.advance(duration);
    }

    fn background(&self) -> Background {
        Background::Steps
    }

    fn spawn(&self, name: &str, _work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>> {
        Err(EnvError::new("start thread", name, ErrorKind::Unsupported.into()))
    }

    fn available_parallelism(&self) -> usize {
        1
    }

    fn process_id(&self) -> u32 {
        // Each life is a separate process; 0 would mean that there is no such thing.
        u32::try_from(self.process.life + 1).unwrap_or(u32::MAX)
    }
}
