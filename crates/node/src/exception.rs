//! How failures become JavaScript errors, thrown or given to promises. The factory in `packages/terrace/src/errors.ts`,
//! which is called here, decides how an error looks (code, cause).

use std::error::Error as _;
use std::ffi::CString;
use std::io;
use std::ptr;

use napi_sys as sys;
use terrace_engine::Error;

use crate::error::{Failure, Fallible};
use crate::value::{Env, Value};

impl Failure {
    /// Creates the JavaScript error, with the `factory` of `errors.ts`, or a plain one without it.
    pub fn into_value(self, env: Env, factory: Option<Value>) -> Fallible<Value> {
        let message = env.string(self.message().as_bytes())?;
        let Some(factory) = factory else {
            // SAFETY: both values belong to the running callback; the code is optional.
            return env.make(|result| unsafe {
                sys::napi_create_error(env.raw(), ptr::null_mut(), message.raw(), result)
            });
        };
        let missing = env.undefined()?;
        let (mut path, mut offset, mut os_error, mut os_message) = (missing, missing, missing, missing);
        let mut conditions = missing;
        if let Self::Engine(error) = &self {
            if let Some(found) = error.path() {
                path = env.string(found.to_string_lossy().as_bytes())?;
            }
            if let Some(found) = error.offset() {
                offset = env.number(found as f64)?;
            }
            if let Some(cause) = io_cause(error) {
                os_message = env.string(cause.to_string().as_bytes())?;
                os_error = env.number(f64::from(os_number(cause)))?;
            }
            let failed = error.failed_conditions();
            if !failed.is_empty() {
                conditions = env.array(failed.len())?;
                for (place, index) in failed.iter().enumerate() {
                    env.set_element(conditions, place, env.number(*index as f64)?)?;
                }
            }
        }
        let kind = env.string(self.kind().as_bytes())?;
        let arguments =
            [kind, message, path, offset, os_error, os_message, conditions].map(|argument| argument.raw());
        // SAFETY: the factory and its arguments belong to the running callback.
        env.make(|result| unsafe {
            sys::napi_call_function(
                env.raw(),
                missing.raw(),
                factory.raw(),
                arguments.len(),
                arguments.as_ptr(),
                result,
            )
        })
    }
}

/// The operating system's error that caused `error`, if any.
fn io_cause(error: &Error) -> Option<&io::Error> {
    let mut next = error.source();
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref::<io::Error>() {
            return Some(found);
        }
        next = cause.source();
    }
    None
}

/// The operating system's number for an error. `errors.ts` maps it to Node's name. An error found before any system
/// call has the number that the system would have given. These numbers are the same on every Unix, and in the C library
/// of Windows.
fn os_number(cause: &io::Error) -> i32 {
    const ENOENT: i32 = 2;
    const EIO: i32 = 5;
    const EACCES: i32 = 13;
    const EEXIST: i32 = 17;
    const ENOTDIR: i32 = 20;
    const EISDIR: i32 = 21;
    const EINVAL: i32 = 22;
    const ENOSPC: i32 = 28;
    const EROFS: i32 = 30;
    // The error of a sync holds that of the system.
    let cause = cause.get_ref().and_then(|inner| inner.downcast_ref::<io::Error>()).unwrap_or(cause);
    known_number(cause).unwrap_or(match cause.kind() {
        io::ErrorKind::NotFound => ENOENT,
        io::ErrorKind::PermissionDenied => EACCES,
        io::ErrorKind::AlreadyExists => EEXIST,
        io::ErrorKind::NotADirectory => ENOTDIR,
        io::ErrorKind::IsADirectory => EISDIR,
        io::ErrorKind::InvalidInput => EINVAL,
        io::ErrorKind::StorageFull => ENOSPC,
        io::ErrorKind::ReadOnlyFilesystem => EROFS,
        _ => EIO,
    })
}

#[cfg(unix)]
fn known_number(cause: &io::Error) -> Option<i32> {
    cause.raw_os_error()
}

/// What Windows has other numbers for, and the kind of error says too little about.
#[cfg(windows)]
fn known_number(cause: &io::Error) -> Option<i32> {
    use windows_sys::Win32::Foundation::{
        ERROR_ACCESS_DENIED, ERROR_FILENAME_EXCED_RANGE, ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION,
        ERROR_TOO_MANY_OPEN_FILES,
    };

    const EPERM: i32 = 1;
    const EBUSY: i32 = 16;
    const EMFILE: i32 = 24;
    const ENAMETOOLONG: i32 = 38;
    match cause.raw_os_error()? as u32 {
        ERROR_ACCESS_DENIED => Some(EPERM),
        ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION => Some(EBUSY),
        ERROR_TOO_MANY_OPEN_FILES => Some(EMFILE),
        ERROR_FILENAME_EXCED_RANGE => Some(ENAMETOOLONG),
        _ => None,
    }
}

/// Throws `failure` in the running callback, as `factory` makes it, unless an exception is already pending.
pub fn throw(env: Env, factory: Option<Value>, failure: Failure) {
    let mut pending = false;
    // SAFETY: the environment is that of the running callback.
    unsafe { sys::napi_is_exception_pending(env.raw(), &mut pending) };
    if pending {
        return;
    }
    let message = failure.message();
    match failure.into_value(env, factory) {
        // SAFETY: the error belongs to the running callback.
        Ok(error) => unsafe {
            sys::napi_throw(env.raw(), error.raw());
        },
        Err(_) => {
            let message = CString::new(message.replace('\0', "?")).unwrap_or_default();
            // SAFETY: the message ends with a zero; the code is optional. This fails while the environment is torn
            // down, when no caller is left to catch it.
            unsafe { sys::napi_throw_error(env.raw(), ptr::null(), message.as_ptr()) };
        }
    }
}
