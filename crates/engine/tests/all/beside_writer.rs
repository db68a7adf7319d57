//! Reading a database while another process writes it. A thread stands for that process: a reader takes no lock and shares
//! only the files with the writer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use crate::support::{entries, is_short, put, tiny};
use terrace_engine::env::{Env, default_env};
use terrace_engine::{Db, ErrorKind, IterOptions, Options, ReadOptions, WriteOptions};

const TABLES: u32 = 40;
/// How often a database is opened beside a writer, at least.
const OPENS: u32 = 1_000;
/// How much the writer writes meanwhile, at least, and how much in the short form.
const WRITES: u32 = 3_000;
const WRITES_IN_SHORT: u32 = 500;

fn posix() -> Arc<dyn Env> {
    default_env()
}

/// A table for each of [`TABLES`] keys, which no compaction has merged yet.
fn writer_with_many_tables(path: &Path) -> Db {
    let options = Options { compaction_threads: 1, max_file_size_bytes: 4 << 10, ..Options::default() };
    let db = Db::open(path, options).unwrap();
    for index in 0..TABLES {
        put(&db, &format!("{index:03}"), &"old ".repeat(1000));
        if index % 4 == 3 {
            db.flush().unwrap();
        }
    }
    db.compact_range(None, None).unwrap();
    db
}

/// Replaces every table.
fn replace_tables(db: &Db) {
    for index in 0..TABLES {
        put(db, &format!("{index:03}"), "new");
    }
    db.compact_range(None, None).unwrap();
}

fn reader(path: &Path, map_tables: bool) -> Db {
    Db::open(path, Options { read_only: true, max_open_files: 3, map_tables, ..Options::default() }).unwrap()
}

#[test]
fn a_reader_with_more_tables_than_it_may_open_reads_on_when_the_writer_compacts() {
    for map_tables in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let writer = writer_with_many_tables(directory.path());
        let reader = reader(directory.path(), map_tables);
        replace_tables(&writer);
        for index in 0..TABLES {
            let key = format!("{index:03}");
            let value = reader.get(key.as_bytes(), &ReadOptions::default()).unwrap();
            assert!(value.is_some(), "{key}, mapped: {map_tables}");
        }
        assert_eq!(entries(&reader, IterOptions::default()).len(), TABLES as usize, "mapped: {map_tables}");
    }
}

fn values_of(db: &Db, options: IterOptions) -> Vec<usize> {
    entries(db, options).into_iter().map(|(_, value)| value.len()).collect()
}

const OLD: usize = 4000;
const NEW: usize = 3;

#[test]
fn a_reader_shows_one_state_until_it_is_refreshed() {
    for map_tables in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let writer = writer_with_many_tables(directory.path());
        let max_open_files = if map_tables { 3 } else { 1000 };
        let options = Options { read_only: true, max_open_files, map_tables, ..Options::default() };
        let reader = Db::open(directory.path(), options).unwrap();
        let before = reader.snapshot();
        let mut iterator = reader.iter(IterOptions::default()).unwrap();
        for round in 0..3 {
            replace_tables(&writer);
            put(&writer, "in the log", "new");
            if round == 0 {
                assert_eq!(values_of(&reader, IterOptions::default()), [OLD; TABLES as usize]);
                reader.verify().unwrap();
            }
            reader.refresh().unwrap();
            assert_eq!(values_of(&reader, IterOptions::default()), [NEW; TABLES as usize + 1]);
            let at = ReadOptions { snapshot: Some(before.clone()), ..ReadOptions::default() };
            assert_eq!(reader.get(b"007", &at).unwrap().unwrap().len(), OLD);
            assert_eq!(reader.get(b"in the log", &at).unwrap(), None);
            let at = IterOptions { read: at, ..IterOptions::default() };
            assert_eq!(values_of(&reader, at), [OLD; TABLES as usize]);
            iterator.seek(b"007").unwrap();
            assert_eq!(iterator.value().len(), OLD);
        }
        assert_eq!(reader.stats().last_sequence, writer.stats().last_sequence);
        assert!(reader.property("leveldb.sstables").unwrap() == writer.property("leveldb.sstables").unwrap());
    }
}

#[test]
fn a_state_that_a_reader_cannot_keep_is_outdated_and_not_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let writer = writer_with_many_tables(directory.path());
    let reader = reader(directory.path(), false);
    let snapshot = reader.snapshot();
    let mut iterator = reader.iter(IterOptions::default()).unwrap();
    iterator.seek_to_first().unwrap();
    let mut fresh = reader.iter(IterOptions::default()).unwrap();
    replace_tables(&writer);

    let at = ReadOptions { snapshot: Some(snapshot), ..ReadOptions::default() };
    let error = reader.get(b"030", &at).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Outdated);
    assert!(error.to_string().contains("refresh and read again"), "{error}");
    let error = reader.get_many_with(&[b"030"], &at, |_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Outdated);
    // It has shown an entry of a state that is gone, and must not continue with entries of another state.
    assert_eq!(iterator.seek_to_last().unwrap_err().kind(), ErrorKind::Outdated);
    // This one has shown nothing yet.
    fresh.seek_to_last().unwrap();
    assert_eq!((fresh.key(), fresh.value()), (&b"039"[..], &b"new"[..]));
    let mut found = Vec::new();
    let keys = ["000", "030", "039", "none"];
    reader.get_many_with(&keys, &ReadOptions::default(), |value| found.push(value.map(<[u8]>::len))).unwrap();
    assert_eq!(found, [Some(NEW), Some(NEW), Some(NEW), None]);
    reader.verify().unwrap();
    reader.approximate_size(b"000", b"039").unwrap();
}

#[test]
fn each_way_to_read_moves_on_by_itself() {
    type Way = (&'static str, fn(&Db));
    let ways: [Way; 6] = [
        ("get", |db| drop(db.get(b"030", &ReadOptions::default()).unwrap().unwrap())),
        ("get_pinned", |db| drop(db.get_pinned(b"030", &ReadOptions::default()).unwrap().unwrap())),
        ("get_many", |db| {
            db.get_many_with(&["001", "030"], &ReadOptions::default(), |value| assert!(value.is_some()))
                .unwrap();
        }),
        ("seek", |db| {
            let mut iterator = db.iter(IterOptions::default()).unwrap();
            iterator.seek(b"030").unwrap();
            assert!(iterator.valid());
        }),
        ("verify", |db| db.verify().unwrap()),
        ("approximate_size", |db| assert!(db.approximate_size(b"0", b"030").is_ok())),
    ];
    for (way, read) in ways {
        let directory = tempfile::tempdir().unwrap();
        let writer = writer_with_many_tables(directory.path());
        let reader = reader(directory.path(), false);
        replace_tables(&writer);
        println!("{way}");
        read(&reader);
    }
}

#[test]
fn refresh_fails_where_an_open_would_and_keeps_the_state_shown() {
    let directory = tempfile::tempdir().unwrap();
    let writer = writer_with_many_tables(directory.path());
    writer.refresh().unwrap();
    let reader = reader(directory.path(), true);
    drop(writer);
    let current = directory.path().join("CURRENT");
    let contents = std::fs::read(&current).unwrap();
    std::fs::write(&current, b"nonsense").unwrap();
    assert_eq!(reader.refresh().unwrap_err().kind(), ErrorKind::Corruption);
    assert_eq!(values_of(&reader, IterOptions::default()), [OLD; TABLES as usize]);
    std::fs::write(&current, contents).unwrap();
    reader.refresh().unwrap();
    reader.close().unwrap();
    assert_eq!(reader.refresh().unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn an_open_while_the_writer_closes_and_opens_finds_no_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let acknowledged = AtomicU32::new(0);
    let done = AtomicBool::new(false);
    drop(Db::open(&path, tiny(posix())).unwrap());
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut round = 0;
            while !done.load(Ordering::Acquire) {
                let db = Db::open(&path, tiny(posix())).unwrap();
                for _ in 0..50 {
                    round += 1;
                    db.put(
                        b"round",
                        format!("{round} {}", "x".repeat(100)).as_bytes(),
                        &WriteOptions::default(),
                    )
                    .unwrap();
                    acknowledged.store(round, Ordering::Release);
                }
                if round % 4 == 0 {
                    db.compact_range(None, None).unwrap();
                }
                db.close().unwrap();
            }
        });
        let least = if is_short() { WRITES_IN_SHORT } else { WRITES };
        let mut opened = 0;
        let writes = || acknowledged.load(Ordering::Acquire);
        while opened < OPENS || (writes() < least && !writer.is_finished()) {
            let floor = writes();
            let opening = Db::open(&path, Options { read_only: true, ..tiny(posix()) });
            done.store(opening.is_err(), Ordering::Release);
            let value = opening.unwrap().get(b"round", &ReadOptions::default()).unwrap().unwrap_or_default();
            let text = String::from_utf8(value).unwrap();
            let round: u32 = text.split(' ').next().unwrap().parse().unwrap_or(0);
            done.store(round < floor, Ordering::Release);
            assert!(round >= floor, "{round} was seen, and {floor} was acknowledged before");
            opened += 1;
        }
        done.store(true, Ordering::Release);
        println!("{opened} opens beside {} writes", writes());
    });
}
