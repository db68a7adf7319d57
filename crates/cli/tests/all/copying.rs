//! Copies that are stopped at any time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{TestDirectory, program, terrace};
use terrace_engine::env::conformance::eventually;
use terrace_engine::{Compression, Db, Options, WriteOptions};

/// Large enough to stop a copy in the middle.
fn make_large(path: &Path) {
    let options = Options { compression: Compression::None, ..Options::default() };
    let db = Db::open(path, options).unwrap();
    for index in 0..60_000u32 {
        db.put(&index.to_be_bytes(), &[index as u8; 1000], &WriteOptions::default()).unwrap();
    }
    db.close().unwrap();
}

/// What ends a process on every system.
const KILL: &str = "-KILL";

/// The program. If the tests run in the background, SIGINT may be ignored, and children inherit that; the `env` of GNU
/// undoes it.
fn with_signals() -> Command {
    const UNDO: &str = "--default-signal=INT";
    let can_undo = Command::new("env").args([UNDO, "true"]).stderr(Stdio::null()).status();
    if !can_undo.is_ok_and(|status| status.success()) {
        return program();
    }
    let mut command = Command::new("env");
    command.arg(UNDO).arg(program().get_program());
    command
}

/// Starts a copy and stops it once the new database has a table; `false` if it ended before.
fn is_copy_stopped(db: &Path, target: &Path, signal: &str) -> bool {
    let mut child = with_signals()
        .arg("copy")
        .arg(db)
        .arg(target)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let has_tables = || {
        let names = fs::read_dir(target.join("unfinished-copy")).into_iter().flatten().flatten();
        names.into_iter().any(|entry| entry.file_name().to_string_lossy().ends_with(".ldb"))
    };
    let mut has_ended = false;
    eventually("the copy makes a table", || {
        has_ended = child.try_wait().unwrap().is_some();
        has_ended || has_tables()
    });
    if has_ended {
        return false;
    }
    if signal == KILL {
        // It may have ended.
        let _ = child.kill();
    } else {
        let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap();
        assert!(sent.success());
    }
    !child.wait().unwrap().success()
}

/// Stops a copy of `db`. If it has already ended when the signal arrives, it is removed and started again.
fn stop_copy(db: &Path, target: &Path, signal: &str) {
    let was_stopped = (0..50).any(|_| {
        let was_stopped = is_copy_stopped(db, target, signal);
        if !was_stopped {
            fs::remove_dir_all(target).unwrap();
        }
        was_stopped
    });
    assert!(was_stopped, "each copy ended before it was stopped");
}

#[test]
fn a_copy_that_is_stopped_looks_like_no_database_and_the_next_one_is_whole() {
    let scratch = TestDirectory::new();
    let (db, target) = (scratch.path("db"), scratch.path("target"));
    make_large(&db);
    let signals: &[_] = if cfg!(windows) { &[KILL] } else { &["-INT", "-TERM", KILL] };
    for signal in signals {
        stop_copy(&db, &target, signal);
        let error = terrace([&"count", &target]).failed(3);
        assert!(error.contains("no database"), "{error}");
        let options = Options { create_if_missing: false, ..Options::default() };
        assert!(Db::open(&target, options).is_err(), "{signal}");
    }
    assert!(terrace([&"copy", &db, &target]).ok().starts_with("60000 entries"));
    assert_eq!(terrace([&"diff", &db, &target]).ok(), "");
    assert!(!target.join("unfinished-copy").exists());
    // A complete copy is not a target for another one.
    assert!(terrace([&"copy", &db, &target]).failed(3).contains("is not empty"));
}

#[test]
fn a_copy_that_is_stopped_while_its_files_move_up_is_begun_anew() {
    let scratch = TestDirectory::new();
    let (db, target) = (scratch.path("db"), scratch.path("target"));
    terrace([&"put", &db, &"a", &"1", &"--create"]).ok();
    terrace([&"compact", &db]).ok();
    terrace([&"copy", &db, &target]).ok();
    // Everything but CURRENT has moved up.
    let unfinished = target.join("unfinished-copy");
    fs::create_dir(&unfinished).unwrap();
    fs::rename(target.join("CURRENT"), unfinished.join("CURRENT")).unwrap();
    terrace([&"get", &target, &"a"]).failed(5);
    terrace([&"copy", &db, &target]).ok();
    assert_eq!(terrace([&"get", &target, &"a"]).ok(), "1\n");
    // Everything has moved up, and only the directory was still to be removed: the copy is complete.
    fs::create_dir(&unfinished).unwrap();
    assert_eq!(terrace([&"get", &target, &"a"]).ok(), "1\n");
    terrace([&"copy", &db, &target]).failed(3);
    assert_eq!(terrace([&"get", &target, &"a"]).ok(), "1\n");
    // Other people's files are not touched.
    let other = scratch.path("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("holiday.jpg"), b"not ours").unwrap();
    terrace([&"copy", &db, &other]).failed(3);
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_no_table_gets_no_advice_to_repair_its_directory() {
    let scratch = TestDirectory::new();
    let db = scratch.path("db");
    terrace([&"put", &db, &"a", &"1", &"--create"]).ok();
    let lost = scratch.path("lost");
    fs::create_dir(&lost).unwrap();
    for file in [scratch.path("passwd"), lost.join("000005.ldb")] {
        fs::write(&file, "root:x:0:0:root:/root:/bin/bash\n".repeat(50)).unwrap();
        let error = terrace([&"ingest", &db, &file]).failed(5);
        assert!(error.contains("terrace inspect") && !error.contains("terrace repair"), "{error}");
    }
    let checkpoint = terrace([&"checkpoint", &db, &lost]).failed(3);
    assert!(checkpoint.contains("the directory is not empty"), "{checkpoint}");
}
