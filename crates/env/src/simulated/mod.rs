//! A simulated machine: files on a disk that loses power, fills up and fails, as a seed decides.
//!
//! [`SimulatedEnv`] is an [`Env`](crate::Env) without threads whose every decision comes from one seed: the same seed
//! and the same calls give the same bytes. A test drives it from outside:
//!
//! ```
//! use std::path::Path;
//! use terrace_env::Env;
//! use terrace_env::simulated::{Mode, SimulatedEnv};
//!
//! let mut env = SimulatedEnv::new(7, Mode::StrictPosix);
//! let mut file = env.create(Path::new("file"))?;
//! file.append(b"safe")?;
//! file.sync()?;
//! env.sync_directory(Path::new("/"))?;
//! file.append(b", perhaps")?;
//! file.flush()?;
//! let summary = env.cut_power();
//! println!("{summary}");
//! assert!(env.read_file(Path::new("file"))?.starts_with(b"safe"));
//! assert!(file.flush().is_err(), "handles die with the process");
//! # Ok::<(), terrace_env::EnvError>(())
//! ```
//!
//! The simulation covers the operating system and the disk below the posix environment: its files buffer 64 KiB in the
//! process, a log writes at once, and `replace_file` takes the same steps. Each step is one *call*, which a test can
//! make fail ([`SimulatedEnv::fail_at`]) or make the last before the machine stops ([`SimulatedEnv::halt_after`]).
//! `contents` (bytes and sizes) and `names` define what survives.
//!
//! [`SimulatedHandles`] are a few files on such a machine that are open already, for a [`PooledEnv`](crate::PooledEnv).
//!
//! A process lives until [`SimulatedEnv::cut_power`] or [`SimulatedEnv::kill_process`]. The value on which the test
//! called that lives on as the next process. Every clone made before, and every file and lock opened through them,
//! belongs to the dead process: their calls fail and change nothing.

mod call;
mod contents;
mod control;
mod env;
mod handle;
mod handles;
mod machine;
mod names;
mod process;
mod random;
mod summary;

pub use call::{CallCounts, CallKind, Failure, FaultPlan};
pub use control::SimulatedEnv;
pub use handles::SimulatedHandles;
pub use summary::{CutSummary, FileLoss};

/// What the simulated file system promises beyond the contract of [`Env`](crate::Env).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing. Syncing a file does not make its name durable; names change in any order until their directory is
    /// synced; a file may have grown without its bytes.
    StrictPosix,
    /// What ext4 does with `data=ordered`: names change in the order of the calls, syncing a new file makes its name
    /// durable with all changes before it, and bytes reach the disk before the size that makes them visible. (Real
    /// ext4 promises the last only for newly allocated blocks.)
    Ext4Ordered,
}
