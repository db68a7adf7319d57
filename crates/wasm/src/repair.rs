//! Repairs the database in the files that the host has opened, for an instance that has no database open.

use std::sync::Arc;

use terrace_engine::{Db, Options};
use terrace_wasm_abi::{Outcome, answer, report, report_to_host};

use crate::database::{DIRECTORY, pool, table_size_bytes};
use crate::failures::failed;

/// Files that a repair makes besides tables: the MANIFEST, CURRENT and the log for people, with some to spare.
const OTHER_FILES: usize = 8;

/// Whether more files should be open. A repair makes no more tables than there are files, and removes none before the end.
fn wants_files() -> Outcome<bool> {
    let pool = pool()?;
    Ok(pool.free_slots() < pool.used_slots() + OTHER_FILES)
}

fn repair(output: &mut Vec<u8>) -> Outcome<()> {
    let pool = pool()?;
    let options = Options {
        max_file_size_bytes: table_size_bytes(&pool, OTHER_FILES),
        write_buffer_size_bytes: 4 << 20,
        hash_index_percent: 0,
        env: Arc::new(pool),
        ..Options::default()
    };
    let done = Db::repair(DIRECTORY, &options).map_err(failed)?;
    let nothing_lost = u8::from(done.nothing_lost());
    let numbers = format!("{nothing_lost} {} {}\n{done}", done.lost_bytes(), done.entries_kept);
    output.extend_from_slice(numbers.as_bytes());
    Ok(())
}

/// Whether the host should open more files before it calls [`terrace_repair`], which may fail for want of them. Returns 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_repair_wants_files() -> i32 {
    report_to_host();
    report(wants_files().map(i32::from))
}

/// Repairs the database. Returns 0. The output is 1 if nothing is lost, otherwise 0; the bytes that could not be read; the entries that
/// were kept; a line break; and the report for people.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_repair() -> i32 {
    report_to_host();
    report(answer(|_, output| repair(output)).map(|()| 0))
}
