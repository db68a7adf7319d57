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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use terrace_env::MemoryEnv;
    use terrace_format::comparator::{IDB_NAME, UserComparator};

    use super::*;
    use crate::{Db, Options};

    #[test]
    fn the_name_is_that_of_the_comparator_that_the_database_was_made_with() {
        let env = MemoryEnv::with_steps();
        assert_eq!(Db::comparator_name("/db", &env), None);
        let comparator = UserComparator::by_name(IDB_NAME).unwrap();
        let options = Options { comparator, env: Arc::new(env.clone()), ..Options::default() };
        Db::open("/db", options).unwrap().close().unwrap();
        assert_eq!(Db::comparator_name("/db", &env).as_deref(), Some(IDB_NAME.as_bytes()));

        let number = current::decode(&read_current(&env, Path::new("/db")).unwrap()).unwrap();
        env.remove_file(&Path::new("/db").join(file_name::manifest_name(number))).unwrap();
        assert_eq!(Db::comparator_name("/db", &env), None);
    }
}
