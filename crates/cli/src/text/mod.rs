//! How keys and values become text, and text becomes keys and values.
//!
//! Predecessor: what a command reads from the database, or from its arguments. Successor: the terminal, or the database.

pub(crate) mod bytewise;
pub(crate) mod date;
pub(crate) mod escape;
pub(crate) mod fields;
pub(crate) mod formats;
pub(crate) mod idb;
pub(crate) mod json;
pub(crate) mod local_storage;
mod plural;

pub(crate) use formats::FormatArguments;
pub(crate) use json::Json;
pub(crate) use plural::plural;
