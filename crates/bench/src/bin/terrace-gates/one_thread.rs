//! An environment with one thread and a clock that advances with calls, so that each run does the same, instruction
//! by instruction. Files are the operating system's own, or in memory.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use terrace_engine::env::{
    Background, Env, EnvError, FileId, FileLock, LockError, LogFile, RandomAccessFile, Result,
    SequentialFile, ThreadHandle, WritableFile,
};

/// Passes everything except threads and time on to `files`.
#[derive(Debug)]
pub struct OneThread {
    files: Arc<dyn Env>,
    micros: AtomicU64,
}

impl OneThread {
    /// The environment `files` without its threads.
    pub fn over(files: Arc<dyn Env>) -> Arc<Self> {
        Arc::new(Self { files, micros: AtomicU64::new(0) })
    }
}

impl Env for OneThread {
    fn open_random(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        self.files.open_random(path)
    }

    fn open_mapped(&self, path: &Path) -> Result<Arc<dyn RandomAccessFile>> {
        self.files.open_mapped(path)
    }

    fn open_sequential(&self, path: &Path) -> Result<Box<dyn SequentialFile>> {
        self.files.open_sequential(path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        self.files.create(path)
    }

    fn open_append(&self, path: &Path) -> Result<Box<dyn WritableFile>> {
        self.files.open_append(path)
    }

    fn create_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        self.files.create_log(path)
    }

    fn create_unmapped_log(&self, path: &Path) -> Result<Box<dyn LogFile>> {
        self.files.create_unmapped_log(path)
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        self.files.read_file(path)
    }

    fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
        self.files.replace_file(path, contents, temporary)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        self.files.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> Result<()> {
        self.files.remove_file(path)
    }

    fn exists(&self, path: &Path) -> Result<bool> {
        self.files.exists(path)
    }

    fn file_size(&self, path: &Path) -> Result<u64> {
        self.files.file_size(path)
    }

    fn file_id(&self, path: &Path) -> Result<Option<FileId>> {
        self.files.file_id(path)
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>> {
        self.files.list(directory)
    }

    fn create_directory_all(&self, path: &Path) -> Result<()> {
        self.files.create_directory_all(path)
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        self.files.remove_directory(path)
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        self.files.sync_directory(path)
    }

    fn link_or_copy(&self, from: &Path, to: &Path) -> Result<()> {
        self.files.link_or_copy(from, to)
    }

    fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
        self.files.lock(path)
    }

    fn monotonic_micros(&self) -> u64 {
        self.micros.fetch_add(1, Ordering::Relaxed)
    }

    fn unix_micros(&self) -> u64 {
        self.monotonic_micros()
    }

    fn sleep(&self, duration: Duration) {
        self.micros.fetch_add(duration.as_micros() as u64, Ordering::Relaxed);
    }

    fn background(&self) -> Background {
        Background::Steps
    }

    fn spawn(&self, name: &str, _work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>> {
        Err(EnvError::new("start", Path::new(name), io::ErrorKind::Unsupported.into()))
    }

    fn available_parallelism(&self) -> usize {
        1
    }

    fn process_id(&self) -> u32 {
        1
    }
}
