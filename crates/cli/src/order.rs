//! The order of a database's keys, read from its MANIFEST, so that no command needs an option for it.

use std::path::Path;

use terrace_engine::env::default_env;
use terrace_engine::{Db, UserComparator};
use terrace_format::comparator::name_text;

use crate::failure::{Failure, Problem};

/// The names of the orders that the program knows.
pub(crate) const KNOWN: [&str; 2] = ["leveldb.BytewiseComparator", "idb_cmp1"];

/// The order of the database in `directory`; bytewise if it is unreadable, because opening it then reports why.
///
/// # Errors
///
/// If the program does not know the database's order.
pub(crate) fn of_directory(directory: &Path) -> Result<UserComparator, Failure> {
    match name(directory) {
        Some(name) => by_name(name),
        None => Ok(UserComparator::Bytewise),
    }
}

/// The order that has this name.
///
/// # Errors
///
/// If the program does not know it.
pub(crate) fn by_name(name: impl AsRef<[u8]>) -> Result<UserComparator, Failure> {
    let name = name.as_ref();
    UserComparator::by_name(name).ok_or_else(|| {
        Problem::database(
            format!("the keys are in an unknown order, `{}`", name_text(name)),
            "Known are leveldb.BytewiseComparator and Chromium's idb_cmp1. `terrace inspect` reads single files in any \
             order.",
        )
    })
}

/// The name of the order in the current MANIFEST.
pub(crate) fn name(directory: &Path) -> Option<Vec<u8>> {
    Db::comparator_name(directory, &*default_env())
}
