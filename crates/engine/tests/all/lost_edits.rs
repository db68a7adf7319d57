//! Tests a LevelDB MANIFEST that lost its last edits: it is refused, and never opened as the older state. What a crash
//! of LevelDB leaves behind can be opened.

use std::path::Path;
use std::sync::Arc;

use crate::support::leveldb_files::{Version, log, manifest, table, write};
use crate::support::{get, memory, tiny};
use terrace_engine::env::Env;
use terrace_engine::{Db, ErrorKind, LeftOutKind, Options};
use terrace_format::current;
use terrace_format::log::LogEncoder;
use terrace_format::version_edit::VersionEdit;

const DIRECTORY: &str = "/db";

/// A LevelDB database that flushed twice and has a log, with the first `edits` edits of its MANIFEST. `first_log` is
/// the number of the log that the first edit names.
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

#[test]
fn a_log_of_leveldb_that_was_not_copied_is_reported_by_the_open_as_by_the_repair() {
    for is_missing in [false, true] {
        for read_only in [true, false] {
            let env = database(3, 3);
            if is_missing {
                env.remove_file(&Path::new(DIRECTORY).join("000009.log")).unwrap();
            }
            let db = Db::open(DIRECTORY, Options { read_only, ..tiny(Arc::clone(&env)) }).unwrap();
            let found: Vec<_> =
                db.left_out_logs().iter().map(|log| (log.name.as_str(), log.kind, log.bytes)).collect();
            let expected: &[_] = if is_missing { &[("000009.log", LeftOutKind::MissingLog, 0)] } else { &[] };
            assert_eq!(found, expected);
            assert_eq!(db.verify().is_err(), is_missing && read_only);
            let lines = db.property("terrace.left-out").unwrap();
            assert_eq!(lines.contains("needs a log that is missing"), is_missing, "{lines}");
            assert_eq!(get(&db, "d").is_none(), is_missing);
        }
        let env = database(3, 3);
        if is_missing {
            env.remove_file(&Path::new(DIRECTORY).join("000009.log")).unwrap();
        }
        let report = Db::repair(DIRECTORY, &tiny(env)).unwrap();
        assert_eq!(report.nothing_lost(), !is_missing, "{report}");
    }
}

/// LevelDB skips what a log lacks at its end and reads the next one, and so does an open. The two signs together tell that a
/// loss of power took acknowledged writes.
#[test]
fn an_unfinished_log_of_leveldb_before_a_gap_is_reported_and_either_sign_alone_is_not() {
    for (is_cut, has_gap) in [(false, false), (true, false), (false, true), (true, true)] {
        for read_only in [true, false] {
            let env = database(2, 3);
            let directory = Path::new(DIRECTORY);
            env.remove_file(&directory.join("000008.ldb")).unwrap();
            let mut first = log(3, &[("a", "second")]);
            let rest = log(4, &[("c", "second")]);
            let (whole, cut) = (first.len(), rest.len() - 3);
            // Both fit in one block, so the second log's record may follow the first's.
            first.extend(if is_cut { &rest[..cut] } else { &rest[..] });
            write(&*env, &directory.join("000006.log"), &first);
            let next = if is_cut { 4 } else { 5 } + u64::from(has_gap);
            write(&*env, &directory.join("000009.log"), &log(next, &[("d", "third")]));
            let db = Db::open(DIRECTORY, Options { read_only, ..tiny(Arc::clone(&env)) }).unwrap();
            let found: Vec<_> = db
                .left_out_logs()
                .iter()
                .map(|log| (log.name.as_str(), log.kind, log.reason.offset()))
                .collect();
            let expected: &[_] = if is_cut && has_gap {
                &[("000006.log", LeftOutKind::MissingEnd, Some(whole as u64))]
            } else {
                &[]
            };
            assert_eq!(found, expected, "cut {is_cut}, gap {has_gap}");
            assert_eq!(get(&db, "d").as_deref(), Some("third"));
        }
    }
}

#[test]
fn a_database_of_goleveldb_with_more_levels_is_named_and_not_called_damaged() {
    let env = database(3, 3);
    let path = Path::new(DIRECTORY).join("MANIFEST-000002");
    let edit = |last: &[u8]| {
        let first = VersionEdit {
            comparator: Some(b"leveldb.BytewiseComparator".to_vec()),
            log_number: Some(9),
            next_file_number: Some(10),
            last_sequence: Some(4),
            ..VersionEdit::default()
        };
        let mut bytes = manifest(&[first]);
        LogEncoder::at_offset(bytes.len() as u64).encode_into(last, &mut bytes);
        bytes
    };
    // Table 5 is removed from level 7.
    write(&*env, &path, &edit(&[6, 7, 5]));
    let before = env.list(Path::new(DIRECTORY)).unwrap();
    for read_only in [true, false] {
        let error = Db::open(DIRECTORY, Options { read_only, ..tiny(Arc::clone(&env)) }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("goleveldb"), "{error}");
    }
    let error = Db::repair(DIRECTORY, &tiny(Arc::clone(&env))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let after = env.list(Path::new(DIRECTORY)).unwrap();
    assert!(before.iter().all(|name| after.contains(name)), "{after:?}");
}
