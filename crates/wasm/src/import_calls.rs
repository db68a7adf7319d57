//! The functions of an import, for an instance that has no database open. There is one at a time.

use std::cell::RefCell;

use terrace_wasm_abi::{Failure, Outcome, report, report_to_host, with_input};

use crate::import::Import;

thread_local! {
    static IMPORT: RefCell<Option<Import>> = const { RefCell::new(None) };
}

fn with_import<T>(call: impl FnOnce(&mut Import) -> Outcome<T>) -> Outcome<T> {
    IMPORT.with_borrow_mut(|import| call(import.as_mut().ok_or_else(|| Failure::unknown("import"))?))
}

/// Begins an import into the files that are open. Unless `replaces` is 1, it is an error if they hold a database. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_import(replaces: u32) -> i32 {
    report_to_host();
    report(Import::new(replaces != 0).map(|import| {
        IMPORT.set(Some(import));
        0
    }))
}

/// How many files can be created before the host has to open more.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_import_free_files() -> i32 {
    report(with_import(|import| Ok(import.free_files() as i32)))
}

/// Begins a file, whose name has `length` bytes. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_import_file(length: u32) -> i32 {
    report(with_import(|import| with_input(|input| import.create(&input[..length as usize]))).map(|()| 0))
}

/// Adds `length` bytes to the file. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_import_write(length: u32) -> i32 {
    report(with_import(|import| with_input(|input| import.write(&input[..length as usize]))).map(|()| 0))
}

/// Ends the file. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_import_file_end() -> i32 {
    report(with_import(Import::finish_file).map(|()| 0))
}

/// Opens the database that the files make, or checks one of its tables. Returns 1 if there is more to check, otherwise 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_import_check() -> i32 {
    report(with_import(Import::check).map(i32::from))
}

/// Ends the import, which was checked: the database is in its place then, durably. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_import_end() -> i32 {
    report(IMPORT.take().ok_or_else(|| Failure::unknown("import")).and_then(Import::finish).map(|()| 0))
}
