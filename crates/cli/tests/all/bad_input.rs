//! Paths that are not databases, and impossible requests: a message with the remedy, an exit code, and no change.

use std::fs;

use crate::support::{self, TestDirectory, snapshot, terrace, with_input};

#[test]
fn a_directory_that_is_none_or_no_database() {
    let scratch = TestDirectory::new();
    let (nowhere, empty, file) = (scratch.path("nowhere"), scratch.path("empty"), scratch.path("file"));
    fs::create_dir(&empty).unwrap();
    fs::write(empty.join("notes.txt"), "mine").unwrap();
    fs::write(&file, "x").unwrap();
    let before = snapshot(&empty);
    for command in ["scan", "count", "stats", "verify", "export", "compact", "shell"] {
        let error = terrace([&command, &nowhere]).failed(3);
        assert!(error.contains("there is no directory") && error.contains("CURRENT"), "{command}: {error}");
        let error = terrace([&command, &empty]).failed(3);
        assert!(error.contains("there is no database here"), "{command}: {error}");
        let error = terrace([&command, &file]).failed(3);
        assert!(error.contains("is a file") && error.contains("terrace inspect"), "{command}: {error}");
    }
    terrace([&"inspect", &nowhere]).failed(3);
    terrace([&"inspect", &empty]).failed(3);
    terrace([&"repair", &nowhere]).failed(3);
    terrace([&"repair", &empty]).failed(3);
    terrace([&"destroy", &empty, &"--yes"]).failed(3);
    for error in [
        terrace([&"put", &nowhere, &"a", &"b"]).failed(3),
        with_input([&"import", &nowhere], b"").failed(3),
        terrace([&"del", &nowhere, &"a"]).failed(3),
    ] {
        assert!(error.contains("there is no "), "{error}");
    }
    let error = terrace([&"put", &nowhere, &"a", &"b"]).failed(3);
    assert!(error.contains("--create"), "{error}");
    let error = terrace([&"put", &empty, &"a", &"b"]).failed(3);
    assert!(error.contains("--create"), "{error}");
    assert!(!nowhere.exists());
    assert_eq!(snapshot(&empty), before);
}

#[test]
fn keys_that_cannot_be_read() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(3);
    for (format, key) in [("utf8", "\\x1"), ("hex", "0"), ("hex", "xy"), ("json", "{")] {
        let error = terrace([&"get", &db, &key, &"--key-format", &format]).failed(2);
        assert!(error.contains(key), "{error}");
    }
    terrace([&"scan", &db, &"--gt", &"\\"]).failed(2);
    terrace([&"get", &db]).failed(2);
    terrace([&"scan", &db, &"--gt=a", &"--gte=b"]).failed(2);
    terrace([&"nonsense"]).failed(2);
    // A bad value creates no database.
    let new = scratch.path("new");
    terrace([&"put", &new, &"a", &"\\q", &"--create"]).failed(2);
    assert!(!new.exists());
}

#[test]
fn an_order_that_is_not_known_is_named() {
    let scratch = TestDirectory::new();
    let db = scratch.path("db");
    let error = terrace([&"put", &db, &"a", &"b", &"--create", &"--comparator=mine"]).failed(3);
    assert!(error.contains("`mine`"), "{error}");
    assert!(!db.exists());
    terrace([&"put", &db, &"a", &"b", &"--create"]).ok();
    // Its MANIFEST is rewritten with another name of the same length.
    let path = support::file_of(
        &db,
        terrace([&"inspect", &db.join("CURRENT"), &"--json"]).json()[0]["contents"].as_str().unwrap().trim(),
    );
    fs::remove_file(&path).unwrap();
    fs::write(&path, manifest_with_order("leveldb.AnotherComparator_")).unwrap();
    let before = snapshot(&db);
    for command in ["scan", "count", "stats", "verify", "compact"] {
        let error = terrace([&command, &db]).failed(3);
        assert!(error.contains("`leveldb.AnotherComparator_`") && error.contains("idb_cmp1"), "{error}");
    }
    assert_eq!(snapshot(&db), before);
}

/// A MANIFEST of one edit.
fn manifest_with_order(name: &str) -> Vec<u8> {
    use terrace_format::log::LogEncoder;
    use terrace_format::version_edit::VersionEdit;
    let edit = VersionEdit {
        comparator: Some(name.as_bytes().to_vec()),
        log_number: Some(0),
        next_file_number: Some(20),
        last_sequence: Some(0),
        ..VersionEdit::default()
    };
    let mut file = Vec::new();
    LogEncoder::new().encode_into(&edit.encode(), &mut file);
    file
}
