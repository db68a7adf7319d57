//! Databases in a process that may open few files (`ulimit -n`).
//!
//! The process is this test program again, started by a shell that sets the limit, running only [`helper_process`].
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::support::{only, scaled};
use terrace_engine::env::conformance::eventually;
use terrace_engine::env::default_env;
use terrace_engine::{
    BackgroundPool, Db, ErrorKind, IterOptions, Options, ReadOptions, WriteBatch, WriteOptions,
};

const ROLE: &str = "TERRACE_FEW_DESCRIPTORS_ROLE";
const DIRECTORY: &str = "TERRACE_FEW_DESCRIPTORS_DIRECTORY";
const ENTRIES: u64 = 30_000;
const ENTRIES_A_BATCH: u64 = 100;
/// All keys and values together take 150 MB, in tables of a megabyte, so that there are more of them than descriptors. In the short form
/// the values and the tables are smaller.
const VALUE_SIZE_BYTES: u32 = 5_000;
const TABLE_SIZE_BYTES: u32 = 1 << 20;

/// Runs `role` with `limit` descriptors in a new directory, and checks the directory afterwards.
fn run(role: &str, limit: usize) {
    let directory = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")])
        .arg(program)
        .args(only(concat!(module_path!(), "::helper_process")))
        .env(ROLE, role)
        .env(DIRECTORY, directory.path())
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{role}: {:?}: {said}", output.status.signal());
    assert!(said.contains("done as told"), "{role}: {said}");
}

/// The helper process. Does nothing in an ordinary run of the tests.
#[test]
fn helper_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
    match role.as_str() {
        "mapped" => fill_and_read(&[&directory.join("db")], options(true)),
        "not mapped" => fill_and_read(&[&directory.join("db")], options(false)),
        "three databases" => {
            let [a, b, c] = ["a", "b", "c"].map(|name| directory.join(name));
            fill_and_read(&[&a, &b, &c], options(false));
        }
        "none left" => run_out_of_descriptors(&directory.join("db")),
        other => panic!("no such role: {other}"),
    }
    println!("\ndone as told");
}

fn options(map_tables: bool) -> Options {
    Options {
        map_tables,
        write_buffer_size_bytes: scaled(TABLE_SIZE_BYTES) as usize,
        max_file_size_bytes: scaled(TABLE_SIZE_BYTES).into(),
        ..Options::default()
    }
}

fn key(number: u64) -> Vec<u8> {
    // Keys are spread, so that tables overlap and compactions have work.
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into_bytes()
}

/// A value that does not compress.
fn value(number: u64) -> Vec<u8> {
    let mut state = number + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..scaled(VALUE_SIZE_BYTES)).map(|_| next()).collect()
}

/// Divides the entries among databases in `directories`, and reads them while they are open and again after reopening.
fn fill_and_read(directories: &[&Path], options: Options) {
    let open = || -> Vec<Db> {
        directories.iter().map(|directory| Db::open(directory, options.clone()).unwrap()).collect()
    };
    let databases = open();
    for first in (0..ENTRIES).step_by(ENTRIES_A_BATCH as usize) {
        let mut batch = WriteBatch::new();
        for number in first..first + ENTRIES_A_BATCH {
            batch.put(&key(number), &value(number)).unwrap();
        }
        let db = &databases[(first / ENTRIES_A_BATCH) as usize % directories.len()];
        db.write(batch, &WriteOptions::default()).unwrap();
    }
    let check = |databases: &[Db]| {
        for number in (0..ENTRIES).step_by(7) {
            let db = &databases[(number / ENTRIES_A_BATCH) as usize % directories.len()];
            assert!(
                db.get(&key(number), &ReadOptions::default()).unwrap() == Some(value(number)),
                "{number}"
            );
        }
        let mut found = 0;
        for db in databases {
            let mut iterator = db.iter(IterOptions::default()).unwrap();
            iterator.seek_to_first().unwrap();
            while iterator.valid() {
                found += 1;
                iterator.next().unwrap();
            }
        }
        assert_eq!(found, ENTRIES);
    };
    check(&databases);
    for db in &databases {
        db.compact_range(None, None).unwrap();
    }
    check(&databases);
    let tables: usize = databases.iter().map(|db| db.tables().unwrap().len()).sum();
    assert!(tables > 100, "{tables} tables are too few for a test");
    databases.iter().for_each(|db| db.close().unwrap());
    drop(databases);
    check(&open());
    for directory in directories {
        let report = Db::repair(directory, &options).unwrap();
        assert!(report.nothing_lost(), "{report}");
    }
    check(&open());
}

/// The program around the database takes every free descriptor, and later gives them back.
fn run_out_of_descriptors(directory: &Path) {
    for map_tables in [true, false] {
        let pool = Arc::new(BackgroundPool::new(default_env(), 1));
        let options = Options { background_pool: Some(Arc::clone(&pool)), ..options(map_tables) };
        let db = Db::open(directory, options).unwrap();
        let mut number = 0;
        let mut put = || {
            number += 1;
            db.put(&key(number), &value(number), &WriteOptions::default()).map(|()| number)
        };
        (0..1000).for_each(|_| assert!(put().is_ok()));
        // No work is under way that would free a descriptor when it is done.
        db.flush().unwrap();
        eventually("the background is idle", || pool.is_idle());
        put().unwrap();
        let mut taken = Vec::new();
        while let Ok(file) = std::fs::File::open("/dev/null") {
            taken.push(file);
        }
        // The first sync of the current log, which makes the log's name durable as well, needs no descriptor.
        db.put(&key(0), b"synced", &WriteOptions { sync: true }).unwrap();
        // Writes until the memtable is full and the next one would need a new log.
        let refused = (0..1000).find_map(|_| put().err()).expect("there is no descriptor for another log");
        assert_eq!(refused.kind(), ErrorKind::TooManyFiles, "{refused}");
        assert_eq!(db.flush().unwrap_err().kind(), ErrorKind::TooManyFiles);
        eventually("the background work that was due is tried, and fails", || pool.is_idle());
        drop(taken);
        // It is tried again within a second. Nothing is poisoned.
        eventually("there are descriptors again", || db.flush().is_ok());
        put().unwrap();
        assert!(db.get(&key(1), &ReadOptions::default()).unwrap() == Some(value(1)));
        assert!(db.get(&key(0), &ReadOptions::default()).unwrap().is_some_and(|value| value == b"synced"));
        db.close().unwrap();
    }
}

#[test]
fn with_64_descriptors_150_mb_are_written_and_read_through_mappings() {
    run("mapped", 64);
}

#[test]
fn with_64_descriptors_150_mb_are_written_and_read_by_calls() {
    run("not mapped", 64);
}

#[test]
fn with_64_descriptors_three_databases_share_them() {
    run("three databases", 64);
}

#[test]
fn a_process_without_a_free_descriptor_is_told_so_and_goes_on_once_it_has_some() {
    run("none left", 64);
}
