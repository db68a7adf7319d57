//! The name of the order of keys that a database was made with, for programs that open any database. Predecessor:
//! [`Db::comparator_name`](crate::Db::comparator_name). Successor: CURRENT and the MANIFEST that it names. Nothing is written.

use std::path::Path;

use terrace_env::Env;
use terrace_format::log::{LogEvent, LogReader};
use terrace_format::version_edit::VersionEdit;
use terrace_format::{current, file_name};

use crate::recovery::source::FileSource;
use crate::version::recover::read_current;

/// A running writer may replace the MANIFEST between two reads.
const MOST_ATTEMPTS: usize = 20;

/// See [`Db::comparator_name`](crate::Db::comparator_name).
pub(crate) fn comparator_name(env: &dyn Env, directory: &Path) -> Option<Vec<u8>> {
    (0..MOST_ATTEMPTS).find_map(|_| {
        let number = current::decode(&read_current(env, directory).ok()?).ok()?;
        of_manifest(env, &directory.join(file_name::manifest_name(number)))
    })
}

/// The first name in a MANIFEST. What is damaged is passed over, so that a repair knows the order.
fn of_manifest(env: &dyn Env, path: &Path) -> Option<Vec<u8>> {
    let file = env.open_random(path).ok()?;
    let mut reader = LogReader::new(FileSource::new(&*file));
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
