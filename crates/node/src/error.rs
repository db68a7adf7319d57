//! Failures of the glue. [`exception`](crate::exception) makes JavaScript errors of them.

use napi_sys as sys;
use terrace_engine::{Error, ErrorKind};
use terrace_memory::Full;

/// Why a call failed.
#[derive(Debug)]
pub enum Failure {
    /// An error of the engine.
    Engine(Error),
    /// The signal of an iterator was aborted.
    Aborted,
    /// A value of this many bytes is larger than JavaScript can hold.
    TooLarge(usize),
    /// The entries of a database in memory would count more than their limit.
    Full(Full),
    /// The addon was called with a wrong argument.
    Argument(&'static str),
    /// Node-API refused: an exception is pending, or the environment is being torn down.
    NodeApi(sys::napi_status),
    /// A bug of ours: a panic was caught at the boundary.
    Panic(String),
}

/// The result of an operation of the glue that can fail.
pub type Fallible<T> = Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<Full> for Failure {
    fn from(full: Full) -> Self {
        Self::Full(full)
    }
}

/// Returns an error unless Node-API reported success.
#[inline]
pub fn check(status: sys::napi_status) -> Fallible<()> {
    if status == sys::Status::napi_ok { Ok(()) } else { Err(Failure::NodeApi(status)) }
}

/// The failure for a caught panic.
pub fn from_panic(payload: &(dyn std::any::Any + Send)) -> Failure {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Failure::Panic(text.unwrap_or_else(|| "unknown".to_owned()))
}

impl Failure {
    /// The kind that the factory in `errors.ts` takes.
    pub fn kind(&self) -> &'static str {
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
                ErrorKind::Outdated => "Outdated",
                ErrorKind::Conflict => "Conflict",
                _ => "Internal",
            },
            Self::Aborted => "Aborted",
            Self::TooLarge(_) => "TooLarge",
            Self::Full(_) => "Full",
            Self::Argument(_) => "Argument",
            Self::NodeApi(_) | Self::Panic(_) => "Internal",
        }
    }

    pub fn message(&self) -> String {
        match self {
            Self::Engine(error) => error.to_string(),
            Self::Aborted => "Operation has been aborted".to_owned(),
            Self::TooLarge(size) => format!("a value of {size} bytes is too large for JavaScript"),
            Self::Full(full) => full.to_string(),
            Self::Argument(message) => (*message).to_owned(),
            Self::NodeApi(status) => format!("Node-API failed with status {status}"),
            Self::Panic(message) => format!("internal error: {message}"),
        }
    }
}
