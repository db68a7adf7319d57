//! The environment of a platform that has none: every call fails and says so. Nothing that a program stores ends up
//! in a place that it did not choose, memory included.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    Background, Env, EnvError, FileLock, LockError, LogFile, RandomAccessFile, Result, SequentialFile,
    ThreadHandle, WritableFile,
};

const REASON: &str = "Terrace cannot open files on this platform; set an environment in the options (`env`)";

/// See the module.
#[derive(Debug)]
pub(crate) struct WithoutFiles;

fn refuse<T>(operation: &'static str, path: &Path) -> Result<T> {
    Err(EnvError::new(operation, path, io::Error::new(ErrorKind::Unsupported, REASON)))
}

impl Env for WithoutFiles {
    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        refuse("open", path)
    }

    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        refuse("open", path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        refuse("create", path)
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        refuse("open", path)
    }

    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        refuse("create", path)
    }

    fn replace_file(&self, path: &Path, _contents: &[u8], _temporary: &Path) -> Result<()> {
        refuse("replace", path)
    }

    fn rename(&self, from: &Path, _to: &Path) -> Result<()> {
        refuse("rename", from)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        refuse("remove", path)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        refuse("look for", path)
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        refuse("get the size of", path)
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>> {
        refuse("list", directory)
    }

    fn create_directory_all(&self, path: &Path) -> Result<()> {
        refuse("create", path)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        refuse("remove", path)
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        refuse("sync", path)
    }

    fn link_or_copy(&self, from: &Path, _to: &Path) -> Result<()> {
        refuse("link", from)
    }

    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
        refuse("lock", path).map_err(LockError::Env)
    }

    fn monotonic_micros(&self) -> u64 {
        0
    }

    fn unix_micros(&self) -> u64 {
        0
    }

    fn sleep(&self, _duration: Duration) {}

    fn background(&self) -> Background {
        Background::Steps
    }

    fn spawn(&self, name: &str, _work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>> {
        refuse("start a thread", Path::new(name))
    }

    fn available_parallelism(&self) -> usize {
        1
    }

    fn process_id(&self) -> u32 {
        0
    }
}
