//! Commands that only read change no byte of a directory: closed, with its owner running, or after its crash.

use std::path::{Path, PathBuf};

use crate::support::{self, Owner, TestDirectory, file_of, snapshot, terrace};

/// Runs every command that reads on `db`; each must succeed.
fn read_in_every_way(db: &Path, scratch: &TestDirectory, round: &str) {
    let db = &db.to_owned();
    let copy = scratch.path(&format!("copy-{round}"));
    terrace([&"scan", db]).ok();
    terrace([&"scan", db, &"--reverse", &"--json"]).ok();
    terrace([&"count", db]).ok();
    terrace([&"stats", db, &"--tables"]).ok();
    terrace([&"verify", db]).ok();
    terrace([&"inspect", db]).ok();
    terrace([&"inspect", db, &"--detail=all", &"--json"]).ok();
    terrace([&"export", db]).ok();
    terrace([&"export", db, &"--form=binary", &"--output", &scratch.path(&format!("export-{round}"))]).ok();
    terrace([&"copy", db, &copy]).ok();
    terrace([&"diff", db, &copy]).ok();
    let key = terrace([&"scan", db, &"--keys", &"-n1"]).ok();
    terrace([&"get", db, &key.trim_end().to_owned()]).ok();
    support::with_input([&"shell", db], b"stats\nscan -n 3\nreload\n").ok();
}

#[test]
fn reading_changes_no_byte_of_a_closed_database() {
    let scratch = TestDirectory::new();
    let databases: Vec<PathBuf> = [
        "chromium/visit2-killed/local-storage",
        "chromium/visit2-killed/session-storage",
        "leveldb-sst",
        "bedrock-deflate",
    ]
    .iter()
    .map(|name| scratch.copy(name))
    .collect();
    for (round, db) in databases.iter().enumerate() {
        let before = snapshot(db);
        read_in_every_way(db, &scratch, &round.to_string());
        assert_eq!(snapshot(db), before, "{}", db.display());
    }
}

#[test]
fn reading_changes_no_byte_while_the_owner_runs_and_after_its_crash() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(500);
    let mut owner = Owner::of(&db);
    owner.put("in-the-log", "only");
    let before = snapshot(&db);
    read_in_every_way(&db, &scratch, "running");
    assert_eq!(terrace([&"get", &db, &"in-the-log"]).ok(), "only\n");
    assert_eq!(terrace([&"count", &db]).ok(), "501\n");
    assert_eq!(snapshot(&db), before);

    // The next command sees what the owner writes afterwards.
    owner.put("later", "too");
    assert_eq!(terrace([&"count", &db]).ok(), "502\n");

    let process = owner.process();
    let stats = terrace([&"stats", &db]).ok();
    let known = if cfg!(target_os = "linux") {
        ", terrace\n"
    } else if cfg!(windows) {
        ", unless it has crashed\n"
    } else {
        "\n"
    };
    assert!(stats.contains(&format!("in use by        process {process}{known}")), "{stats}");
    let lock = terrace([&"inspect", &file_of(&db, "LOCK")]).ok();
    assert!(lock.contains(&format!("held by process {process}")), "{lock}");

    owner.crash();
    let before = snapshot(&db);
    read_in_every_way(&db, &scratch, "crashed");
    assert_eq!(terrace([&"get", &db, &"later"]).ok(), "too\n");
    assert_eq!(snapshot(&db), before);
    let stats = terrace([&"stats", &db]).ok();
    let known = if cfg!(windows) { "unknown: this system does not report it\n" } else { "no process\n" };
    assert!(stats.contains(&format!("in use by        {known}")), "{stats}");
}

#[test]
fn a_directory_that_may_not_be_written_is_read() {
    let scratch = TestDirectory::new();
    let db = scratch.copy("leveldb-1.20-snappy");
    let files: Vec<_> = std::fs::read_dir(&db).unwrap().map(|entry| entry.unwrap().path()).collect();
    let before = files.iter().chain([&db]).map(|path| std::fs::metadata(path).unwrap().permissions());
    let before: Vec<_> = before.collect();
    for (path, permissions) in files.iter().chain([&db]).zip(&before) {
        let mut permissions = permissions.clone();
        permissions.set_readonly(true);
        std::fs::set_permissions(path, permissions).unwrap();
    }
    let contents = snapshot(&db);
    read_in_every_way(&db, &scratch, "read-only");
    assert_eq!(snapshot(&db), contents);
    // Allows their removal.
    for (path, permissions) in files.iter().chain([&db]).zip(before) {
        std::fs::set_permissions(path, permissions).unwrap();
    }
}

/// As LevelDB does.
#[cfg(windows)]
#[test]
fn a_lock_that_is_shared_with_nobody_is_told() {
    use std::os::windows::fs::OpenOptionsExt;
    let scratch = TestDirectory::new();
    let db = scratch.numbers(10);
    let lock = std::fs::OpenOptions::new().write(true).share_mode(0).open(db.join("LOCK")).unwrap();
    assert!(terrace([&"stats", &db]).ok().contains("in use by        a process with unknown number"));
    let inspected = terrace([&"inspect", &db]).ok();
    assert!(inspected.contains("held by a process with unknown number"), "{inspected}");
    drop(lock);
    assert!(terrace([&"stats", &db]).ok().contains("in use by        unknown"));
}
