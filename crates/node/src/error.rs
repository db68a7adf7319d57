//! Failures of the glue and how they become JavaScript errors. What an error looks like (code, cause) is
//! decided in `packages/terrace/src/errors.ts`, whose factory is called here.

use std::error::Error as _;
use std::ffi::CString;
use std::io;
use std::ptr;

use napi_sys as sys;
use terrace_engine::{Error, ErrorKind};

use crate::environment::Environment;
use crate::value::{Env, Value};

/// Why a call failed.
#[derive(Debug)]
pub enum Failure {
    /// The engine said no.
    Engine(Error),
    /// The signal of an iterator was aborted.
    Aborted,
    /// A value of this many bytes is larger than JavaScript can hold.
    TooLarge(usize),
    /// The addon was called with a wrong argument.
    Argument(&'static str),
    /// Node-API refused: an exception is pending, or the environment is being torn down.
    NodeApi(sys::napi_status),
    /// A bug of ours: a panic was caught at the boundary.
    Panic(String),
}

/// Result of what may fail in the glue.
pub type Fallible<T> = Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// An error unless Node-API said that all is well.
#[inline]
pub fn check(status: sys::napi_status) -> Fallible<()> {
    if status == sys::Status::napi_ok { Ok(()) } else { Err(Failure::NodeApi(status)) }
}

/// The failure that a caught panic stands for.
pub fn from_panic(payload: &(dyn std::any::Any + Send)) -> Failure {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Failure::Panic(text.unwrap_or_else(|| "unknown".to_owned()))
}

impl Failure {
    /// The kind that the factory in `errors.ts` knows it by.
    fn kind(&self) -> &'static str {
        match self {
            Self::Engine(error) => match error.kind() {
                ErrorKind::InvalidArgument => "InvalidArgument",
                ErrorKind::NoDatabase => "NoDatabase",
                ErrorKind::AlreadyExists => "AlreadyExists",
                ErrorKind::Locked => "Locked",
                ErrorKind::Corruption => "Corruption",
                ErrorKind::Unsupported => "Unsupported",
                ErrorKind::Io | ErrorKind::TooManyFiles => "Io",
                ErrorKind::DiskFull => "DiskFull",
                ErrorKind::ReadOnly => "ReadOnly",
                ErrorKind::Closed => "Closed",
                ErrorKind::Poisoned => "Poisoned",
                _ => "Internal",
            },
            Self::Aborted => "Aborted",
            Self::TooLarge(_) => "TooLarge",
            Self::Argument(_) => "Argument",
            Self::NodeApi(_) | Self::Panic(_) => "Internal",
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Engine(error) => error.to_string(),
            Self::Aborted => "Operation has been aborted".to_owned(),
            Self::TooLarge(size) => format!("a value of {size} bytes is too large for JavaScript"),
            Self::Argument(message) => (*message).to_owned(),
            Self::NodeApi(status) => format!("Node-API failed with status {status}"),
            Self::Panic(message) => format!("internal error: {message}"),
        }
    }

    /// The JavaScript error, made by the factory of `errors.ts`.
    pub fn into_value(self, env: Env, environment: Option<&Environment>) -> Fallible<Value> {
        let message = env.string(self.message().as_bytes())?;
        let Some(factory) = environment.and_then(|environment| environment.error_factory(env)) else {
            // SAFETY: both values belong to the running callback; the code is optional.
            return env.make(|result| unsafe {
                sys::napi_create_error(env.raw(), ptr::null_mut(), message.raw(), result)
            });
        };
        let missing = env.undefined()?;
        let (mut path, mut offset, mut os_error, mut os_message) = (missing, missing, missing, missing);
        if let Self::Engine(error) = &self {
            if let Some(found) = error.path() {
                path = env.string(found.to_string_lossy().as_bytes())?;
            }
            if let Some(found) = error.offset() {
                offset = env.number(found as f64)?;
            }
            if let Some(cause) = io_cause(error) {
                os_message = env.string(cause.to_string().as_bytes())?;
                if let Some(number) = cause.raw_os_error() {
                    os_error = env.number(f64::from(number))?;
                }
            }
        }
        let kind = env.string(self.kind().as_bytes())?;
        let arguments =
            [kind.raw(), message.raw(), path.raw(), offset.raw(), os_error.raw(), os_message.raw()];
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

/// What the operating system said, if it is behind `error`.
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

/// Throws `failure` in the running callback, unless an exception is pending already.
pub fn throw(env: Env, environment: Option<&Environment>, failure: Failure) {
    let mut pending = false;
    // SAFETY: the environment is that of the running callback.
    unsafe { sys::napi_is_exception_pending(env.raw(), &mut pending) };
    if pending {
        return;
    }
    let message = failure.message();
    match failure.into_value(env, environment) {
        // SAFETY: the error belongs to the running callback.
        Ok(error) => unsafe {
            sys::napi_throw(env.raw(), error.raw());
        },
        Err(_) => {
            let message = CString::new(message.replace('\0', "?")).unwrap_or_default();
            // SAFETY: the message ends with a zero; the code is optional. Fails while the environment is torn
            // down, when no one would catch it.
            unsafe { sys::napi_throw_error(env.raw(), ptr::null(), message.as_ptr()) };
        }
    }
}
