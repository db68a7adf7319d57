//! Features of Terrace that LevelDB's interface lacks: the functions of `include/terrace.h`.

use std::ffi::{CStr, c_char};
use std::ptr;

use terrace_engine::Stats;
use terrace_engine::limits::LEVEL_COUNT;

use crate::barrier::{self, ErrorPointer, or_report};
use crate::database::Database;
use crate::failure::{Failure, Result, given};
use crate::memory::{copy_text, directory};
use crate::options::OptionsHandle;

/// A `terrace_level_statistics_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct LevelStatistics {
    files: u64,
    size_bytes: u64,
    jobs: u64,
    micros: u64,
    read_bytes: u64,
    written_bytes: u64,
}

/// A `terrace_statistics_t`. New members are only added at the end.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Statistics {
    levels: [LevelStatistics; LEVEL_COUNT],
    memtable_bytes: u64,
    block_cache_bytes: u64,
    sealed_memtables: u64,
    compactions_running: u64,
    last_sequence: u64,
}

impl From<Stats> for Statistics {
    fn from(stats: Stats) -> Self {
        Self {
            levels: stats.levels.map(|level| LevelStatistics {
                files: level.files as u64,
                size_bytes: level.size_bytes,
                jobs: level.jobs,
                micros: level.micros,
                read_bytes: level.read_bytes,
                written_bytes: level.written_bytes,
            }),
            memtable_bytes: stats.memtable_bytes as u64,
            block_cache_bytes: stats.block_cache_bytes as u64,
            sealed_memtables: stats.sealed_memtables as u64,
            compactions_running: stats.compactions_running as u64,
            last_sequence: stats.last_sequence,
        }
    }
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("the version has no zero in it"),
};

#[unsafe(no_mangle)]
extern "C" fn terrace_version() -> *const c_char {
    VERSION.as_ptr()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn terrace_open_read_only(
    options: Option<&OptionsHandle>,
    name: *const c_char,
    error: ErrorPointer<'_>,
) -> *const Database {
    or_report(error, ptr::null(), || {
        // SAFETY: by the header's rule it is NULL or a string.
        let directory = unsafe { directory("name", name)? };
        Database::open(options, directory, |options| options.read_only = true)
    })
}

#[unsafe(no_mangle)]
extern "C" fn terrace_refresh(database: Option<&Database>, error: ErrorPointer<'_>) {
    or_report(error, (), || Ok(given("db", database)?.db().refresh()?));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn terrace_close(database: *const Database, error: ErrorPointer<'_>) {
    or_report(error, (), || {
        if database.is_null() {
            return Err(Failure::argument("db is NULL"));
        }
        // SAFETY: by the header's rule it came from `leveldb_open`, and is closed once; or iterators or snapshots of
        // it still exist.
        unsafe { Database::close(database) }
    });
}

#[unsafe(no_mangle)]
extern "C" fn terrace_flush(database: Option<&Database>, error: ErrorPointer<'_>) {
    or_report(error, (), || Ok(given("db", database)?.db().flush()?));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn terrace_checkpoint(
    database: Option<&Database>,
    target: *const c_char,
    error: ErrorPointer<'_>,
) {
    or_report(error, (), || {
        let database = given("db", database)?;
        // SAFETY: by the header's rule it is NULL or a string.
        let target = unsafe { directory("target", target)? };
        Ok(database.db().checkpoint(target)?)
    });
}

#[unsafe(no_mangle)]
extern "C" fn terrace_verify(database: Option<&Database>, error: ErrorPointer<'_>) {
    or_report(error, (), || Ok(given("db", database)?.db().verify()?));
}

#[unsafe(no_mangle)]
extern "C" fn terrace_left_out(database: Option<&Database>) -> *mut c_char {
    let lines = barrier::catch(|| -> Result<Option<String>> {
        Ok(given("db", database)?.db().property("terrace.left-out").filter(|lines| !lines.is_empty()))
    });
    lines.unwrap_or_default().map_or(ptr::null_mut(), |lines| copy_text(&lines))
}

/// `size` is the size of the program's type, which may be older or newer than ours.
#[unsafe(no_mangle)]
unsafe extern "C" fn terrace_statistics(database: Option<&Database>, statistics: *mut u8, size: usize) {
    let filled = barrier::catch(|| -> Result<Statistics> { Ok(given("db", database)?.db().stats().into()) });
    let filled = filled.unwrap_or_default();
    if !statistics.is_null() {
        let known = size.min(size_of::<Statistics>());
        // SAFETY: by the header's rule there is room for `size` bytes; ours are numbers without gaps between them.
        unsafe {
            statistics.write_bytes(0, size);
            ptr::copy_nonoverlapping((&raw const filled).cast(), statistics, known);
        }
    }
}
