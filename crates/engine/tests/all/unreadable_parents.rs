//! New databases below directories that may be traversed but not read, as on shared hosts.
//!
//! The process that makes them is this test program again, as the user `nobody`, running only [`helper_process`].
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::only;
use terrace_engine::{Db, Options, ReadOptions, WriteOptions};

const DATABASE: &str = "TERRACE_UNREADABLE_PARENTS_DATABASE";
const NOBODY: u32 = 65534;

/// The helper process. Does nothing in an ordinary run of the tests.
#[test]
fn helper_process() {
    let Some(path) = std::env::var_os(DATABASE).map(PathBuf::from) else { return };
    let db = Db::open(&path, Options::default()).unwrap();
    db.put(b"key", b"value", &WriteOptions { sync: true }).unwrap();
    db.close().unwrap();
    let db = Db::open(&path, Options::default()).unwrap();
    assert_eq!(db.get(b"key", &ReadOptions::default()).unwrap().as_deref(), Some(&b"value"[..]));
    db.close().unwrap();
    println!("\ndone as told");
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// As the user `nobody`, makes a database at `path` below a new directory. The `home` in it belongs to `nobody` and has the
/// mode `home_mode`.
fn make_below(home_mode: u32, path: &str) {
    let top = tempfile::tempdir().unwrap();
    let home = top.path().join("home");
    std::fs::create_dir(&home).unwrap();
    if let Err(problem) = chown(&home, Some(NOBODY), Some(NOBODY)) {
        eprintln!("skipped: only root can act as another user: {problem}");
        return;
    }
    set_mode(&home, home_mode);
    // The program has to be where the user `nobody` can reach it. Another process copies it: one that another test starts while this
    // process has the copy open would inherit it, and a program that is open for writing cannot be run.
    let program = top.path().join("program");
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap();
    assert!(copied.success());
    set_mode(&program, 0o755);
    set_mode(top.path(), 0o711);
    let output = Command::new(&program)
        .args(only(concat!(module_path!(), "::helper_process")))
        .env(DATABASE, home.join(path))
        .current_dir("/")
        .gid(NOBODY)
        .uid(NOBODY)
        .output()
        .unwrap();
    let output_text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output_text.contains("done as told"), "{output_text}");
}

#[test]
fn a_database_is_made_where_the_directory_above_the_parent_may_not_be_read() {
    make_below(0o700, "db");
}

#[test]
fn a_database_is_made_with_its_parents_where_one_above_may_not_be_read() {
    make_below(0o700, "a/b/db");
}

#[test]
fn a_database_is_made_where_its_parent_may_be_written_and_not_read() {
    make_below(0o300, "db");
}
