//! Tests a MANIFEST of LevelDB's that lost its last edits: it is refused, and never opened as the older state. What a
//! crash of LevelDB leaves behind can be opened.

use std::path::Path;
use std::sync::Arc;

use crate::support::leveldb_files::{Version, log, manifest, table, write};
use crate::support::{get, memory, tiny};
use terrace_engine::env::Env;
use terrace_engine::{Db, ErrorKind, Options};
use terrace_format::current;
use terrace_format::version_edit::VersionEdit;

const DIRECTORY: &str = "/db";

/// A database of LevelDB's that flushed twice and has a log, with the first `edits` edits of its MANIFEST. `first_log`
/// is the number of the log that the first edit names.
fn database(edits: usize, first_log: u64) -> Arc<dyn Env> {
    let env = memory();
    let directory = Path::new(DIRECTORY);
    env.create_directory_all(directory).unwrap();
    let first: [Version<'_>; 2] = [(b"a", 1, Some(b"first")), (b"b", 2, Some(b"first"))];
    let second: [Version<'_>; 2] = [(b"a", 3, Some(b"second")), (b"c", 4, Some(b"second"))];
    let ((first, first_entry), (second, second_entry)) = (table(5, &first), table(8, &second));
    write(&*env, &directory.join("000005.ldb"), &first);
    write(&*env, &directory.join("000008.ldb"), &second);
    write(&*env, &directory.join("000009.log"), &log(5, &[("a", "third"), ("d", "third")]));
    let edit = |log_number, next_file_number, last_sequence| VersionEdit {
        log_number: Some(log_number),
        next_file_number: Some(next_file_number),
        last_sequence: Some(last_sequence),
        ..VersionEdit::default()
    };
    let history = [
        VersionEdit {
            comparator: Some(b"leveldb.BytewiseComparator".to_vec()),
            ..edit(first_log, first_log + 1, 0)
        },
        VersionEdit { new_files: vec![(0, first_entry)], ..edit(6, 7, 2) },
        VersionEdit { new_files: vec![(0, second_entry)], ..edit(9, 10, 4) },
    ];
    write(&*env, &directory.join("MANIFEST-000002"), &manifest(&history[..edits]));
    write(&*env, &directory.join("CURRENT"), current::encode(2).as_bytes());
    env
}

fn assert_newest(db: &Db) {
    let found = ["a", "b", "c", "d"].map(|key| get(db, key));
    assert_eq!(found, ["third", "first", "second", "third"].map(|value| Some(value.to_owned())));
}

#[test]
fn a_manifest_of_leveldb_that_lost_its_tail_is_refused_and_repair_finds_what_it_forgot() {
    for first_log in [0, 3] {
        for edits in [1, 2] {
            for read_only in [true, false] {
                let env = database(edits, first_log);
                let options = Options { read_only, ..tiny(Arc::clone(&env)) };
                let error = Db::open(DIRECTORY, options).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
                let text = error.to_string();
                assert!(text.contains("MANIFEST-000002") && text.contains("repair"), "{text}");
                Db::repair(DIRECTORY, &tiny(Arc::clone(&env))).unwrap();
                assert_newest(&Db::open(DIRECTORY, tiny(env)).unwrap());
            }
        }
    }
}

#[test]
fn what_a_crash_of_leveldb_leaves_opens() {
    for unfinished in ["000010.ldb", "000011.ldb"] {
        let env = database(3, 3);
        // The output of an unfinished compaction.
        write(&*env, &Path::new(DIRECTORY).join(unfinished), b"half a table");
        assert_newest(&Db::open(DIRECTORY, tiny(env)).unwrap());
    }
    // The database was copied without its log.
    let env = database(3, 3);
    env.remove_file(&Path::new(DIRECTORY).join("000009.log")).unwrap();
    let db = Db::open(DIRECTORY, tiny(env)).unwrap();
    assert_eq!(get(&db, "a"), Some("second".to_owned()));
}
