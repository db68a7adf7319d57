//! Clocks, threads and identity of the current process, shared by `PosixEnv` and `MemoryEnv`.
//!
//! A bare WebAssembly module (`wasm32-unknown-unknown`) has none of them. There, time is a counter that advances by
//! one with each reading and by the time slept, threads do not start, and the process number is 0.

use std::sync::OnceLock;
use std::time::Duration;

use crate::{Background, EnvError, Result, ThreadHandle};

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use system::{monotonic_micros, process_id, sleep, unix_micros};

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) use counted::{monotonic_micros, process_id, sleep, unix_micros};

/// How background work runs on this target.
pub(crate) const BACKGROUND: Background = if cfg!(all(target_family = "wasm", target_os = "unknown")) {
    Background::Steps
} else {
    Background::Threads
};

/// Microseconds of `duration`, saturating.
fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod system {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

    use super::micros;

    pub(crate) fn monotonic_micros() -> u64 {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        micros(ORIGIN.get_or_init(Instant::now).elapsed())
    }

    pub(crate) fn unix_micros() -> u64 {
        // A clock set before 1970 reads as 1970.
        micros(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    pub(crate) fn sleep(duration: Duration) {
        std::thread::sleep(duration);
    }

    pub(crate) fn process_id() -> u32 {
        std::process::id()
    }
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod counted {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::micros;

    static MICROS: AtomicU64 = AtomicU64::new(0);

    pub(crate) fn monotonic_micros() -> u64 {
        MICROS.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn unix_micros() -> u64 {
        monotonic_micros()
    }

    pub(crate) fn sleep(duration: Duration) {
        MICROS.fetch_add(micros(duration), Ordering::Relaxed);
    }

    pub(crate) fn process_id() -> u32 {
        0
    }
}

struct HostThread {
    handle: std::thread::JoinHandle<()>,
}

impl ThreadHandle for HostThread {
    fn join(self: Box<Self>) {
        // The panic hook has already reported a panic; the contract forbids passing it on.
        let _ = self.handle.join();
    }
}

pub(crate) fn spawn(name: &str, work: Box<dyn FnOnce() + Send>) -> Result<Box<dyn ThreadHandle>> {
    let refused = |source| EnvError::new("start thread", name, source);
    if name.contains('\0') {
        // `std::thread` would panic.
        return Err(refused(std::io::ErrorKind::InvalidInput.into()));
    }
    let handle = std::thread::Builder::new().name(name.to_owned()).spawn(work).map_err(refused)?;
    Ok(Box::new(HostThread { handle }))
}

/// Found out once: on Linux it takes a dozen system calls, as many as the rest of opening a small database's files.
pub(crate) fn available_parallelism() -> usize {
    static PARALLELISM: OnceLock<usize> = OnceLock::new();
    *PARALLELISM.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}
