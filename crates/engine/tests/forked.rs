//! A process that was forked while a database was open. It is this test program again, running only [`helper_process`], which
//! forks by a call that Rust's own library does not have.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use terrace_engine::{Db, ErrorKind, IterOptions, Options, ReadOptions, WriteBatch, WriteOptions};

const ROLE: &str = "TERRACE_FORKED_FOLDER";
const DONE: &str = "done as told";

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

#[test]
fn helper_process() {
    let Some(folder) = std::env::var_os(ROLE) else { return };
    fork_with_open_database(&PathBuf::from(folder).join("db"));
    println!("\n{DONE}");
}

fn key(who: &str, number: u32) -> Vec<u8> {
    format!("{who} {number:05}").into_bytes()
}

fn fork_with_open_database(folder: &Path) {
    let small = || Options { write_buffer_size_bytes: 64 << 10, ..Options::default() };
    let db = Db::open(folder, small()).unwrap();
    let put = |db: &Db, who: &str, number| db.put(&key(who, number), &[1; 100], &WriteOptions::default());
    (0..3000).for_each(|number| put(&db, "before", number).unwrap());
    let iterator = db.iter(IterOptions::default()).unwrap();
    let child = fork();
    if child == 0 {
        let kind = |result: Result<(), terrace_engine::Error>| result.err().map(|error| error.kind());
        let mut batch = WriteBatch::new();
        batch.put(b"child", b"value").unwrap();
        let refused = [
            kind(put(&db, "child", 1)),
            kind(db.put(b"child", b"synced", &WriteOptions { sync: true })),
            kind(db.delete(&key("before", 1), &WriteOptions::default())),
            kind(db.try_write(&mut batch.clone(), &WriteOptions::default()).map(drop)),
            kind(db.write(batch, &WriteOptions::default())),
            kind(db.get(&key("before", 1), &ReadOptions::default()).map(drop)),
            kind(db.iter(IterOptions::default()).map(drop)),
            kind(db.flush()),
            kind(db.compact_range(None, None)),
            kind(db.checkpoint(folder.with_extension("copy"))),
            kind(db.verify()),
            kind(db.close()),
            kind(Db::open(folder, Options::default()).map(drop)),
        ];
        let (last, others) = refused.split_last().unwrap();
        let all =
            others.iter().all(|kind| *kind == Some(ErrorKind::Forked)) && *last == Some(ErrorKind::Locked);
        drop(iterator);
        drop(db);
        if !all {
            eprintln!("{refused:?}");
        }
        _exit(i32::from(!all));
    }
    // The parent goes on meanwhile.
    (0..3000).for_each(|number| put(&db, "during", number).unwrap());
    let mut status = 0;
    // SAFETY: waits for the child; the number lives during the call.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child was not refused, or died");
    drop(iterator);
    (0..3000).for_each(|number| put(&db, "after", number).unwrap());
    assert_eq!(
        Db::open(folder, small()).unwrap_err().kind(),
        ErrorKind::Locked,
        "the child released no lock"
    );
    db.close().unwrap();
    drop(db);
    let db = Db::open(folder, small()).unwrap();
    db.verify().unwrap();
    for who in ["before", "during", "after"] {
        for number in 0..3000 {
            assert!(db.get(&key(who, number), &ReadOptions::default()).unwrap().is_some(), "{who} {number}");
        }
    }
    assert_eq!(db.get(b"child", &ReadOptions::default()).unwrap(), None);
}

#[test]
fn a_forked_child_changes_nothing_of_its_parents_database() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("timeout")
        .arg("60")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "helper_process", "--nocapture"])
        .env(ROLE, folder.path())
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(DONE), "{:?}: {said}", output.status);
}
