//! Operations on a database that is not open, and the version of the interface.

use std::ffi::{c_char, c_int};
use std::path::Path;

use terrace_engine::{Db, Error, ErrorKind, Options};

use crate::barrier::{ErrorPointer, or_report};
use crate::failure::{Failure, Result, given};
use crate::memory::directory;
use crate::options::OptionsHandle;

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_destroy_db(
    options: Option<&OptionsHandle>,
    name: *const c_char,
    error: ErrorPointer<'_>,
) {
    or_report(error, (), || {
        // SAFETY: by the header's rule it is NULL or a string.
        let directory = unsafe { directory("name", name)? };
        maintain(options, directory, |options| Db::destroy(directory, options).map(drop))
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_repair_db(
    options: Option<&OptionsHandle>,
    name: *const c_char,
    error: ErrorPointer<'_>,
) {
    or_report(error, (), || {
        // SAFETY: by the header's rule it is NULL or a string.
        let directory = unsafe { directory("name", name)? };
        maintain(options, directory, |options| Db::repair(directory, options).map(drop))
    });
}

fn maintain(
    options: Option<&OptionsHandle>,
    directory: &Path,
    work: impl FnOnce(&Options) -> std::result::Result<(), Error>,
) -> Result<()> {
    // The callbacks are in use until this function ends.
    let (options, _in_use) = given("options", options)?.to_engine()?;
    work(&options).map_err(|error| match error.kind() {
        ErrorKind::NoDatabase => Failure::io(&error),
        _ => Failure::of_directory(directory, error),
    })
}

/// The version of LevelDB whose interface this is.
#[unsafe(no_mangle)]
extern "C" fn leveldb_major_version() -> c_int {
    1
}

/// See [`leveldb_major_version`].
#[unsafe(no_mangle)]
extern "C" fn leveldb_minor_version() -> c_int {
    23
}
