//! Converts keys and values to text, and text to keys and values.

pub(crate) mod bytewise;
pub(crate) mod date;
pub(crate) mod escape;
pub(crate) mod fields;
pub(crate) mod formats;
pub(crate) mod idb;
mod idb_scopes;
pub(crate) mod json;
pub(crate) mod local_storage;
mod plural;
mod protobuf;
pub(crate) mod session_storage;
mod shell;
mod v8;

pub(crate) use formats::FormatArguments;
pub(crate) use json::Json;
pub(crate) use plural::plural;
pub(crate) use shell::shell_word;
