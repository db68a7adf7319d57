//! Databases in `testdata/` that other programs wrote have the expected contents.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use terrace_engine::{Db, ErrorKind, IterOptions, Options, ReadOptions, WriteOptions};
use terrace_testkit::digest::Digest;

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// Every generated directory with its expected contents, as [`Digest`] displays them.
fn databases() -> Vec<(String, String)> {
    let lines = fs::read_to_string(testdata().join("DIGESTS")).expect("testdata/DIGESTS is there");
    let split =
        |line: &str| line.split_once(' ').map(|(directory, digest)| (directory.into(), digest.into()));
    let databases: Vec<_> = lines.lines().filter_map(split).collect();
    assert!(databases.len() >= 6, "{databases:?}");
    databases
}

fn copy_of(directory: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a temporary directory");
    for (name, bytes) in files(&testdata().join(directory)) {
        fs::write(copy.path().join(name), bytes).expect("copies");
    }
    copy
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).expect("lists");
    let read = |entry: fs::DirEntry| {
        (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("reads"))
    };
    entries.map(|entry| read(entry.expect("lists"))).collect()
}

fn existing() -> Options {
    Options { create_if_missing: false, paranoid_checks: true, ..Options::default() }
}

fn digest(db: &Db) -> String {
    let mut iterator = db.iter(IterOptions::default()).expect("iterates");
    Digest::forward(&mut iterator).expect("reads").to_string()
}

#[test]
fn each_opens_and_contains_what_it_must() {
    for (directory, expected) in databases() {
        let copy = copy_of(&directory);
        let db = Db::open(copy.path(), existing()).unwrap_or_else(|error| panic!("{directory}: {error}"));
        assert_eq!(digest(&db), expected, "{directory}");
        db.verify().unwrap_or_else(|error| panic!("{directory}: {error}"));
        let value = db.get(b"key-000003", &ReadOptions::default()).expect("reads");
        assert!(value.is_some_and(|value| value.starts_with(b"value 2 of key 3; ")), "{directory}");
        assert_eq!(db.get(b"key-000005", &ReadOptions::default()).expect("reads"), None, "{directory}");
        db.close().expect("closes");
    }
}

#[test]
fn each_opens_read_only_without_a_change() {
    for (directory, expected) in databases() {
        let copy = copy_of(&directory);
        let before = files(copy.path());
        let db = Db::open(copy.path(), Options { read_only: true, ..existing() }).expect("opens");
        assert_eq!(digest(&db), expected, "{directory}");
        let refused = db.put(b"key", b"value", &WriteOptions::default());
        assert_eq!(refused.map_err(|error| error.kind()), Err(ErrorKind::ReadOnly), "{directory}");
        db.close().expect("closes");
        assert_eq!(before, files(copy.path()), "{directory}");
    }
}

#[test]
fn each_is_the_same_after_it_was_compacted_into_tables_of_ours() {
    for (directory, expected) in databases() {
        let copy = copy_of(&directory);
        let db = Db::open(copy.path(), existing()).expect("opens");
        db.compact_range(None, None).expect("compacts");
        db.close().expect("closes");
        let db = Db::open(copy.path(), existing()).expect("opens again");
        assert_eq!(digest(&db), expected, "{directory}");
        db.close().expect("closes");
    }
}
