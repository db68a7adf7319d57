//! The environment: the operating system's, the only one that this interface can create.

use std::ffi::c_char;
use std::path::PathBuf;
use std::sync::Arc;

use terrace_engine::env::{Env, default_env};

use crate::barrier;
use crate::memory::{copy, drop_box};

/// A `leveldb_env_t`.
pub(crate) struct EnvHandle(Arc<dyn Env>);

impl EnvHandle {
    pub(crate) fn env(&self) -> Arc<dyn Env> {
        Arc::clone(&self.0)
    }
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_create_default_env() -> *mut EnvHandle {
    barrier::or_else(std::ptr::null_mut(), || Box::into_raw(Box::new(EnvHandle(default_env()))))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_env_destroy(env: *mut EnvHandle) {
    // SAFETY: by the header's rule it is NULL or came from `leveldb_create_default_env`, and is no longer used.
    barrier::or_else((), || unsafe { drop_box(env) });
}

/// Chosen as in LevelDB: the directory in the variable `TEST_TMPDIR`, or one of the user's own among those for temporary files.
#[unsafe(no_mangle)]
extern "C" fn leveldb_env_get_test_directory(env: Option<&EnvHandle>) -> *mut c_char {
    barrier::or_else(std::ptr::null_mut(), || {
        let Some(env) = env else { return std::ptr::null_mut() };
        let directory = match std::env::var_os("TEST_TMPDIR").filter(|directory| !directory.is_empty()) {
            Some(directory) => PathBuf::from(directory),
            None => users_test_directory(),
        };
        // If it cannot be created, its first user will get an error.
        let _ = env.0.create_directory_all(&directory);
        let mut bytes = directory.into_os_string().into_encoded_bytes();
        bytes.push(0);
        copy(&bytes).unwrap_or(std::ptr::null_mut())
    })
}

#[cfg(unix)]
fn users_test_directory() -> PathBuf {
    // SAFETY: the call has no conditions.
    let user = unsafe { libc::geteuid() };
    PathBuf::from(format!("/tmp/leveldbtest-{user}"))
}

/// Windows has a directory for temporary files for each user.
#[cfg(windows)]
fn users_test_directory() -> PathBuf {
    std::env::temp_dir().join("leveldbtest")
}
