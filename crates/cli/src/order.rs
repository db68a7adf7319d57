//! The order of a database's keys, read from its MANIFEST, so that no command needs to be told.
//!
//! Predecessor: a directory. Successor: [`database`](crate::database), which opens it in that order.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use terrace_engine::UserComparator;
use terrace_format::comparator::name_text;
use terrace_format::log::{LogEvent, LogReader};
use terrace_format::version_edit::VersionEdit;
use terrace_format::{current, file_name};

use crate::failure::{Failure, Problem};

/// A running writer may replace the MANIFEST between two reads.
const ATTEMPTS: usize = 20;

/// The order of the database in `directory`; bytewise if it is unreadable, because the open that follows says why.
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
    (0..ATTEMPTS).find_map(|_| {
        let number = current::decode(&fs::read(directory.join(file_name::CURRENT)).ok()?).ok()?;
        of_manifest(&directory.join(file_name::manifest_name(number)))
    })
}

fn of_manifest(path: &Path) -> Option<Vec<u8>> {
    let mut file = fs::File::open(path).ok()?;
    let mut reader = LogReader::new(|buffer: &mut [u8]| file.read(buffer));
    loop {
        match reader.next().ok()? {
            LogEvent::Record { payload, .. } => {
                if let Some(name) = VersionEdit::decode(payload).ok()?.comparator {
                    return Some(name);
                }
            }
            LogEvent::Damage { .. } => {}
            LogEvent::TornTail { .. } | LogEvent::End => return None,
        }
    }
}
