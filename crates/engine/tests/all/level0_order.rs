//! Level 0 as LevelDB's repair leaves it: every table is in it, old or new, and has kept its number.

use std::path::Path;
use std::sync::Arc;

use crate::support::leveldb_files::{Version, table, write_database};
use crate::support::{Model, Random, assert_holds, delete, entries, get, memory, put, tiny};
use terrace_engine::env::Env;
use terrace_engine::{Db, IterOptions, Options, ReadOptions};

const DIRECTORY: &str = "/db";
const KEYS: u64 = 60;

/// A database in which the numbers of the tables in level 0 say nothing about their age, and its contents.
fn repaired_by_leveldb(seed: u64) -> (Arc<dyn Env>, Model) {
    let mut random = Random(seed);
    let mut model = Model::new();
    let mut sequence = 0;
    let table_count = 2 + random.below(9);
    let mut numbers: Vec<u64> = (5..5 + table_count).collect();
    for index in (1..numbers.len()).rev() {
        numbers.swap(index, random.below(index as u64 + 1) as usize);
    }
    let mut tables = Vec::new();
    for number in numbers {
        let mut written: Vec<(Vec<u8>, u64, Option<Vec<u8>>)> = Vec::new();
        for _ in 0..1 + random.below(40) {
            sequence += 1;
            let key = format!("key{:02}", random.below(KEYS)).into_bytes();
            let value = (random.below(4) > 0).then(|| format!("value {sequence}").into_bytes());
            match &value {
                Some(value) => model.insert(key.clone(), value.clone()),
                None => model.remove(&key),
            };
            written.push((key, sequence, value));
        }
        let versions: Vec<Version<'_>> =
            written.iter().map(|(key, sequence, value)| (&key[..], *sequence, value.as_deref())).collect();
        let (bytes, entry) = table(number, &versions);
        tables.push((0, bytes, entry));
    }
    let env = memory();
    write_database(&*env, Path::new(DIRECTORY), sequence, tables);
    (env, model)
}

/// Checks every get, of present and absent keys, a scan, and a seek to each key.
fn assert_reads_agree(db: &Db, model: &Model, place: &str) {
    let scanned: Model = entries(db, IterOptions::default()).into_iter().collect();
    assert_eq!(&scanned, model, "{place}");
    let mut iterator = db.iter(IterOptions::default()).unwrap();
    for number in 0..KEYS {
        let key = format!("key{number:02}");
        let expected = model.get(key.as_bytes());
        let found = db.get(key.as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(found.as_ref(), expected, "{place}: get of {key}");
        iterator.seek(key.as_bytes()).unwrap();
        let found = (iterator.valid() && iterator.key() == key.as_bytes()).then(|| iterator.value().to_vec());
        assert_eq!(found.as_ref(), expected, "{place}: seek to {key}");
    }
}

#[test]
fn a_get_is_neither_stale_nor_missing_where_a_larger_number_is_older() {
    for seed in 0..40 {
        let (env, mut model) = repaired_by_leveldb(seed);
        let read_only = Options { read_only: true, ..tiny(Arc::clone(&env)) };
        let db = Db::open(DIRECTORY, read_only.clone()).unwrap();
        assert_reads_agree(&db, &model, &format!("seed {seed}, read-only"));
        db.close().unwrap();

        let db = Db::open(DIRECTORY, tiny(Arc::clone(&env))).unwrap();
        assert_reads_agree(&db, &model, &format!("seed {seed}, opened"));
        let snapshot = db.snapshot();
        let before = model.clone();
        for number in (0..KEYS).step_by(7) {
            let key = format!("key{number:02}");
            if number % 2 == 0 {
                delete(&db, &key);
                model.remove(key.as_bytes());
            } else {
                put(&db, &key, "new");
                model.insert(key.into_bytes(), b"new".to_vec());
            }
        }
        db.flush().unwrap();
        assert_reads_agree(&db, &model, &format!("seed {seed}, after a flush"));
        for (key, value) in &before {
            let options = ReadOptions { snapshot: Some(snapshot.clone()), ..ReadOptions::default() };
            assert_eq!(db.get(key, &options).unwrap().as_ref(), Some(value), "seed {seed}, snapshot");
        }
        drop(snapshot);
        db.close().unwrap();
        let db = Db::open(DIRECTORY, tiny(Arc::clone(&env))).unwrap();
        assert_reads_agree(&db, &model, &format!("seed {seed}, opened again"));
        db.compact_range(None, None).unwrap();
        assert_reads_agree(&db, &model, &format!("seed {seed}, compacted"));
        db.verify().unwrap();
        db.close().unwrap();
        let db = Db::open(DIRECTORY, read_only).unwrap();
        assert_reads_agree(&db, &model, &format!("seed {seed}, compacted and read-only"));
    }
}

#[test]
fn our_own_repair_of_such_a_database_keeps_what_is_newest() {
    for seed in 100..110 {
        let (env, model) = repaired_by_leveldb(seed);
        let report = Db::repair(DIRECTORY, &tiny(Arc::clone(&env))).unwrap();
        assert!(report.nothing_lost(), "{report}");
        let db = Db::open(DIRECTORY, tiny(env)).unwrap();
        assert_reads_agree(&db, &model, &format!("seed {seed}"));
    }
}

#[test]
fn our_own_tables_are_skipped_once_they_cannot_hold_a_newer_entry() {
    let env = memory();
    let options = Options { idle_after_ms: 3_600_000, ..tiny(Arc::clone(&env)) };
    let db = Db::open(DIRECTORY, options.clone()).unwrap();
    for round in 0..3 {
        put(&db, "key", &format!("value {round}"));
        put(&db, "other", &format!("other {round}"));
        db.flush().unwrap();
    }
    db.close().unwrap();
    let db = Db::open(DIRECTORY, options).unwrap();
    assert_eq!(get(&db, "key"), Some("value 2".to_owned()));
    let tables = db.tables().unwrap();
    let newest: Vec<_> =
        tables.iter().map(|table| table.counts.and_then(|counts| counts.newest_sequence)).collect();
    assert_eq!(newest, [Some(6), Some(4), Some(2)]);
    let model = [("key", "value 2"), ("other", "other 2")];
    let model = model.map(|(key, value)| (key.as_bytes().to_vec(), value.as_bytes().to_vec()));
    assert_holds(&db, &Model::from(model));
}
