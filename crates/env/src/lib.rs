//! Terrace's only way to files, directories, locks, clocks and threads.
//!
//! Nothing in the engine calls the operating system itself: it holds an [`Env`]. The same engine therefore runs on a
//! real disk ([`PosixEnv`]), in memory ([`MemoryEnv`]), under a simulator that cuts the power at any point, and in a
//! browser's worker ([`PooledEnv`]).
//!
//! # What survives what
//!
//! | after the return of | survives the death of the process | survives a loss of power |
//! |---|---|---|
//! | [`WritableFile::append`] | no, the bytes may wait in the process | no |
//! | [`WritableFile::flush`], [`WritableFile::close`] | yes | no |
//! | [`WritableFile::sync`] | yes | the bytes and the size |
//! | [`LogFile::append`] | yes | no |
//! | [`LogFile::sync`] | yes | the bytes and the size |
//! | [`Env::create`], [`Env::create_log`], [`Env::rename`], [`Env::remove_file`], [`Env::link_or_copy`], [`Env::remove_directory`] | yes | the change of the name: after [`Env::sync_directory`] |
//! | [`Env::create_directory_all`] | yes | yes |
//! | [`Env::replace_file`] | yes | yes |
//!
//! "No" means *not promised*. After a power cut, a file that was not synced may be shorter, hold zeros or old sectors
//! anywhere after its last synced byte, or be absent. Changes of names in a directory that was not synced may have
//! happened in any order or not at all.
//!
//! # What an error means
//!
//! | a call that fails | what is certain |
//! |---|---|
//! | opening, renaming, linking or removing; [`Env::create`] and [`Env::create_log`] | nothing has changed, except that an empty file may have been created |
//! | [`WritableFile::append`], [`WritableFile::flush`], [`WritableFile::close`] | the file holds some prefix of what was appended, and takes no more |
//! | [`LogFile::append`] | the log is as it was before, unless it [is damaged](LogFile::is_damaged) |
//! | [`WritableFile::sync`], [`LogFile::sync`], [`Env::sync_directory`], [`Env::replace_file`] | nothing: it may have happened, wholly, partly or not at all |
//!
//! This applies to every error. The system's error number explains why a call failed, not what it did: a file system may fail a sync
//! with `EROFS` or `EACCES` and keep the bytes. So once the file or directory is open, an error of the last line never claims that
//! nothing was tried ([`EnvError::is_read_only`], [`EnvError::is_out_of_descriptors`]).
//!
//! # Rules for an implementation
//!
//! * A failed write or sync is never forgotten. The file then refuses every later sync, because an operating system
//!   may drop the pages that it failed to write and report the next sync as a success.
//! * Several handles of one file may be open at once. A reader sees the bytes that a writer has flushed.
//! * A removed or replaced file stays whole for the handles opened before.
//! * Every method may be called from any thread at any time. An environment with one thread (a browser's worker)
//!   reports that with [`Background::Steps`]; it may then keep its handles in thread-local storage and pass their
//!   numbers around.
//! * Optional: [`RandomAccessFile::read_at_without_waiting`] may always return `None`, [`Env::link_or_copy`] may
//!   always copy, [`Env::spawn`] may always fail (with [`Background::Steps`]), [`Env::sync_directory`] may do nothing
//!   if changes of names are durable on return, and [`Env::hold_directory`] and [`Env::file_id`] may return `None`.
//!   Everything else is required, and checked by [`conformance`].
//! * An environment on a fixed pool of file handles (such as the browser's, which cannot open a handle while it runs)
//!   keeps a map from names to slots of the pool. A rename or a replacement is then one durable write of that map, the
//!   slot of a removed file is reused once its last handle is gone, and an empty pool is an error of kind
//!   [`std::io::ErrorKind::StorageFull`]. [`PooledEnv`] is such an environment.

pub mod conformance;
mod env;
mod error;
mod file;
mod held_clock;
mod host;
#[cfg(any(unix, windows))]
mod host_files;
mod lock;
mod locked_files;
pub mod locks;
mod log_state;
mod memory;
mod names;
pub mod pooled;
#[cfg(unix)]
mod posix;
#[cfg(unix)]
use posix as system;
mod process_local;
mod process_mark;
pub mod simulated;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as system;
#[cfg(not(any(unix, windows)))]
mod without_files;

pub use env::{Background, DirectoryHold, Env, FileId, HeldEnv, ThreadHandle};
pub use error::{EnvError, Result};
pub use file::{
    LOG_BLOCK_SIZE_BYTES, LOG_RECORD_HEADER_SIZE_BYTES, LogFile, RandomAccessFile, ReadPattern,
    SequentialFile, WritableFile,
};
pub use held_clock::{ClockWatcher, HeldClock};
pub use lock::{FileLock, LockError, LockHolder};
pub use memory::{GivenFile, MemoryEnv};
pub use pooled::PooledEnv;
#[cfg(unix)]
pub use posix::PosixEnv;
pub use process_local::ProcessLocal;
pub use process_mark::{ProcessMark, RevocableMark};
pub use simulated::SimulatedEnv;
#[cfg(windows)]
pub use windows::WindowsEnv;

/// The environment of this platform: the operating system's files (`PosixEnv` on Unix, `WindowsEnv` on Windows). On platforms where Terrace
/// has none yet, every call fails with kind [`std::io::ErrorKind::Unsupported`], so that a program supplies another
/// one.
pub fn default_env() -> std::sync::Arc<dyn Env> {
    #[cfg(unix)]
    let env = PosixEnv::new();
    #[cfg(windows)]
    let env = WindowsEnv::new();
    #[cfg(not(any(unix, windows)))]
    let env = without_files::WithoutFiles;
    static DEFAULT: std::sync::OnceLock<std::sync::Arc<dyn Env>> = std::sync::OnceLock::new();
    std::sync::Arc::clone(DEFAULT.get_or_init(|| std::sync::Arc::new(env)))
}
