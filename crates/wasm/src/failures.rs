//! What the host learns of errors.

use terrace_engine::Error;
use terrace_engine::env::EnvError;
use terrace_wasm_abi::Failure;

/// An error of the engine.
pub(crate) fn failed(error: Error) -> Failure {
    Failure::new(format!("{:?}", error.kind()), error.to_string())
}

/// An error of the files.
pub(crate) fn failed_file(error: EnvError) -> Failure {
    failed(error.into())
}
