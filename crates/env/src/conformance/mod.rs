//! One suite of checks that every environment must pass.
//!
//! Each check gets a fresh environment and an empty directory in it. It panics if the environment breaks the contract
//! of [`Env`], and returns otherwise. It accepts both ways of what the contract leaves optional. No check needs
//! threads or a disk, so the suite also runs in a simulator and in a browser's worker.
//!
//! Durability shows only in a power cut, which no check here can cause: the simulator's own tests cover it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::Env;

mod host;
mod lock;
mod log;
mod names;
mod reading;
mod waiting;
mod writing;

pub use waiting::{HANGS_AFTER, eventually};

/// Where a check runs: an environment, and an empty directory in it that no other check uses.
#[derive(Debug)]
pub struct TestDirectory {
    env: Arc<dyn Env>,
    directory: PathBuf,
}

impl TestDirectory {
    /// Takes a directory that must exist and be empty.
    pub fn new(env: Arc<dyn Env>, directory: PathBuf) -> Self {
        Self { env, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Creates a file with these bytes.
    #[track_caller]
    fn write(&self, name: &str, contents: &[u8]) {
        let mut file = self.env.create(&self.path(name)).unwrap();
        file.append(contents).unwrap();
        file.close().unwrap();
    }

    #[track_caller]
    fn read(&self, name: &str) -> Vec<u8> {
        self.env.read_file(&self.path(name)).unwrap()
    }

    /// Sorted names in the directory.
    #[track_caller]
    fn names(&self) -> Vec<String> {
        let mut names = self.env.list(&self.directory).unwrap();
        names.sort();
        names
    }
}

/// A check: its name and the function to run.
pub type Check = (&'static str, fn(&TestDirectory));

/// All checks, for callers that run them one by one.
pub const CHECKS: &[Check] = &[
    ("reads at offsets", reading::at_offsets),
    ("reads without waiting", reading::without_waiting),
    ("maps files", reading::mapped),
    ("reads in sequence", reading::in_sequence),
    ("reads whole files", reading::whole_files),
    ("reads what a writer flushed", reading::what_a_writer_flushed),
    ("reads from many threads", reading::from_many_threads),
    ("reads a large file", reading::a_large_file),
    ("refuses to read what is not a file", reading::what_is_no_file),
    ("writes pieces of any size", writing::pieces_of_any_size),
    ("empties a file created again", writing::create_empties),
    ("appends after the end", writing::append_goes_on),
    ("syncs", writing::syncs),
    ("writes without a close", writing::dropped_files_are_written),
    ("refuses to write where no file can be", writing::where_no_file_can_be),
    ("logs are readable at once", log::readable_at_once),
    ("logs are truncated", log::truncated),
    ("logs hold records", log::records),
    ("logs begin empty", log::begin_empty),
    ("logs refuse a scratch where no file can be", log::where_no_file_can_be),
    ("replaces files", names::replaces),
    ("replaces a file under its readers", names::replaces_under_readers),
    ("renames", names::renames),
    ("refuses to rename onto a file", names::refuses_to_rename_onto_a_file),
    ("removes", names::removes),
    ("removes a file under its readers", names::removes_under_readers),
    ("tells a file from its copies", names::tells_files_apart),
    ("lists", names::lists),
    ("makes and removes directories", names::directories),
    ("syncs directories", names::syncs_directories),
    ("holds directories", names::holds_directories),
    ("links or copies", names::links_or_copies),
    ("locks once", lock::once),
    ("locks a file by any path", lock::by_any_path),
    ("locks files apart", lock::files_apart),
    ("releases a lock from any thread", lock::released_from_any_thread),
    ("refuses to lock in a missing directory", lock::missing_directory),
    ("clocks do not go backwards", host::clocks),
    ("threads start and end", host::threads),
    ("states its limits", host::limits),
];

/// Runs every check in an environment and an empty directory that `make` provides for it.
///
/// # Panics
///
/// At the first check that fails.
pub fn run_all(make: &dyn Fn() -> (Arc<dyn Env>, PathBuf)) {
    for (name, check) in CHECKS {
        // Test runners show this if the check panics.
        println!("conformance: {name}");
        let (env, directory) = make();
        check(&TestDirectory::new(env, directory));
    }
}

/// `size` bytes that vary with their position, so that a shifted or repeated piece shows.
fn pattern(size: usize) -> Vec<u8> {
    (0..size as u32).map(|index| (index.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect()
}
