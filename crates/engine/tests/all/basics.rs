//! The work of a database from opening to closing, on real files.

use std::ops::Bound;
use std::sync::{Arc, mpsc};

use crate::support::{Model, Random, assert_holds, delete, entries, get, level_files, memory, put, tiny};
use terrace_engine::env::default_env;
use terrace_engine::{Bounds, Db, ErrorKind, IterOptions, Options, ReadOptions, WriteBatch, WriteOptions};

#[test]
fn writes_are_there_after_reopening() {
    let directory = tempfile::tempdir().unwrap();
    let db = Db::open(directory.path(), Options::default()).unwrap();
    put(&db, "a", "1");
    put(&db, "b", "2");
    put(&db, "a", "3");
    delete(&db, "b");
    put(&db, "", "an empty key is a key");
    put(&db, "empty", "");
    assert_eq!(get(&db, "a").as_deref(), Some("3"));
    assert_eq!(get(&db, "b"), None);
    db.close().unwrap();
    assert_eq!(db.get(b"a", &ReadOptions::default()).unwrap_err().kind(), ErrorKind::Closed);

    let db = Db::open(directory.path(), Options::default()).unwrap();
    assert_eq!(get(&db, "a").as_deref(), Some("3"));
    assert_eq!(get(&db, "b"), None);
    assert_eq!(get(&db, "").as_deref(), Some("an empty key is a key"));
    assert_eq!(get(&db, "empty").as_deref(), Some(""));
}

#[test]
fn a_batch_is_applied_in_order_and_seen_whole() {
    let db = Db::open("/db", Options { env: memory(), ..Options::default() }).unwrap();
    let mut batch = WriteBatch::new();
    batch.put(b"k", b"first").unwrap();
    batch.delete(b"k").unwrap();
    batch.put(b"k", b"last").unwrap();
    batch.put(b"other", b"x").unwrap();
    db.write(batch, &WriteOptions { sync: true }).unwrap();
    assert_eq!(get(&db, "k").as_deref(), Some("last"));
    assert_eq!(get(&db, "other").as_deref(), Some("x"));
}

#[test]
fn snapshots_and_iterators_keep_their_view() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    for index in 0..500 {
        put(&db, &format!("{index:05}"), "old");
    }
    let snapshot = db.snapshot();
    let options = IterOptions {
        read: ReadOptions { snapshot: Some(snapshot.clone()), ..ReadOptions::default() },
        ..IterOptions::default()
    };
    let mut early = db.iter(IterOptions::default()).unwrap();
    for round in 0..5 {
        for index in 0..500 {
            put(&db, &format!("{index:05}"), &format!("new {round}"));
        }
    }
    for index in (0..500).step_by(2) {
        delete(&db, &format!("{index:05}"));
    }
    db.compact_range(None, None).unwrap();
    let old = entries(&db, options);
    assert_eq!(old.len(), 500);
    assert!(old.iter().all(|(_, value)| value == b"old"));
    early.seek_to_first().unwrap();
    let mut seen = 0;
    while early.valid() {
        assert_eq!(early.value(), b"old");
        seen += 1;
        early.next().unwrap();
    }
    assert_eq!(seen, 500);
    assert_eq!(entries(&db, IterOptions::default()).len(), 250);

    drop((snapshot, early));
    db.compact_range(None, None).unwrap();
    assert_eq!(entries(&db, IterOptions::default()).len(), 250);
}

#[test]
fn a_snapshot_of_another_database_is_refused() {
    let one = Db::open("/one", Options { env: memory(), ..Options::default() }).unwrap();
    let two = Db::open("/two", Options { env: memory(), ..Options::default() }).unwrap();
    let options = ReadOptions { snapshot: Some(two.snapshot()), ..ReadOptions::default() };
    assert_eq!(one.get(b"k", &options).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn random_work_with_tiny_buffers_matches_a_model_through_reopening() {
    for seed in 0..4 {
        let env = memory();
        let mut random = Random(seed);
        let mut model = Model::new();
        for _session in 0..6 {
            let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
            assert_holds(&db, &model);
            for _ in 0..4_000 {
                let key = format!("key{:04}", random.below(600)).into_bytes();
                if random.below(4) == 0 {
                    db.delete(&key, &WriteOptions::default()).unwrap();
                    model.remove(&key);
                } else {
                    let length = random.below(60) as usize;
                    let value = random.bytes(length);
                    db.put(&key, &value, &WriteOptions::default()).unwrap();
                    model.insert(key, value);
                }
            }
            assert_holds(&db, &model);
            if seed % 2 == 0 {
                db.close().unwrap();
            }
        }
        let db = Db::open("/db", tiny(env)).unwrap();
        db.compact_range(None, None).unwrap();
        assert_holds(&db, &model);
        let levels = level_files(&db);
        assert_eq!(levels.iter().filter(|files| **files > 0).count(), 1, "{levels:?}");
    }
}

#[test]
fn bounds_limit_an_iterator_both_ways() {
    let db = Db::open("/db", tiny(memory())).unwrap();
    for index in 0..1000 {
        put(&db, &format!("{index:04}"), "v");
    }
    let range = |lower: Bound<&str>, upper: Bound<&str>| {
        let bytes = |bound: Bound<&str>| bound.map(|key| key.as_bytes().to_vec());
        let bounds = Bounds { lower: bytes(lower), upper: bytes(upper) };
        let found = entries(&db, IterOptions { bounds, ..IterOptions::default() });
        let name = |entry: Option<&(Vec<u8>, Vec<u8>)>| {
            entry.map(|(key, _)| String::from_utf8(key.clone()).unwrap()).unwrap_or_default()
        };
        (found.len(), name(found.first()), name(found.last()))
    };
    use Bound::{Excluded, Included, Unbounded};
    assert_eq!(range(Included("0100"), Excluded("0200")), (100, "0100".into(), "0199".into()));
    assert_eq!(range(Excluded("0100"), Included("0200")), (100, "0101".into(), "0200".into()));
    assert_eq!(range(Unbounded, Included("0009")), (10, "0000".into(), "0009".into()));
    assert_eq!(range(Included("0990"), Unbounded), (10, "0990".into(), "0999".into()));
    assert_eq!(range(Included("05"), Excluded("04")), (0, String::new(), String::new()));
}

#[test]
fn writers_on_many_threads_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let db = Db::open(directory.path(), tiny(default_env())).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let db = db.clone();
            scope.spawn(move || {
                for index in 0..2_000 {
                    let options = WriteOptions { sync: index % 100 == 0 };
                    let key = format!("{thread}-{index:05}");
                    db.put(key.as_bytes(), key.as_bytes(), &options).unwrap();
                    assert_eq!(get(&db, &key).as_deref(), Some(key.as_str()));
                }
            });
        }
    });
    assert_eq!(entries(&db, IterOptions::default()).len(), 8_000);
    db.close().unwrap();
    let db = Db::open(directory.path(), Options::default()).unwrap();
    assert_eq!(entries(&db, IterOptions::default()).len(), 8_000);
}

#[test]
fn submitted_writes_are_applied_in_order_and_share_syncs() {
    let db = Db::open("/db", Options { env: memory(), ..Options::default() }).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    for index in 0..1000u32 {
        let mut batch = WriteBatch::new();
        batch.put(b"counter", &index.to_le_bytes()).unwrap();
        let sender = sender.clone();
        db.submit(
            batch,
            WriteOptions { sync: true },
            Box::new(move |result| sender.send((index, result)).unwrap()),
        );
    }
    for expected in 0..1000 {
        let (index, result) = receiver.recv().unwrap();
        result.unwrap();
        assert_eq!(index, expected);
    }
    let last = db.get(b"counter", &ReadOptions::default()).unwrap().unwrap();
    assert_eq!(last, 999u32.to_le_bytes());
}

#[test]
fn a_submitted_write_may_hold_the_last_handle() {
    let env = memory();
    let options = || Options { env: Arc::clone(&env), ..Options::default() };
    let db = Db::open("/db", options()).unwrap();
    let mut batch = WriteBatch::new();
    batch.put(b"k", b"v").unwrap();
    let (dropped, is_dropped) = mpsc::channel::<()>();
    let (closed, is_closed) = mpsc::channel();
    let last = db.clone();
    let done = move |result: terrace_engine::Result<()>| {
        result.unwrap();
        is_dropped.recv().unwrap();
        drop(last);
        closed.send(()).unwrap();
    };
    db.submit(batch, WriteOptions::default(), Box::new(done));
    drop(db);
    dropped.send(()).unwrap();
    is_closed.recv().unwrap();
    assert_eq!(get(&Db::open("/db", options()).unwrap(), "k").as_deref(), Some("v"));
}

#[test]
fn without_threads_the_same_work_is_done_in_steps() {
    let env = Arc::new(terrace_engine::env::MemoryEnv::with_steps());
    let mut model = Model::new();
    let db = Db::open("/db", tiny(env.clone())).unwrap();
    let mut random = Random(7);
    for _ in 0..5_000 {
        let key = random.below(700).to_be_bytes().to_vec();
        let value = random.bytes(30);
        db.put(&key, &value, &WriteOptions::default()).unwrap();
        model.insert(key, value);
    }
    while db.step() {}
    assert_holds(&db, &model);
    db.compact_range(None, None).unwrap();
    assert_holds(&db, &model);
    db.close().unwrap();
    assert_holds(&Db::open("/db", tiny(env)).unwrap(), &model);
}

#[test]
fn many_keys_in_one_call_get_the_same_answers_as_one_by_one() {
    let db = Db::open("/db", tiny(memory())).unwrap();
    for round in 0..4 {
        for number in 0..300 {
            match (number + round) % 5 {
                0 => delete(&db, &format!("key {number}")),
                1..3 => put(&db, &format!("key {number}"), &format!("value {number} {round}")),
                _ => {}
            }
        }
    }
    let snapshot = db.snapshot();
    put(&db, "key 1", "newer");

    let keys: Vec<String> = (0..400).map(|number| format!("key {}", number * 7 % 400)).collect();
    for snapshot in [None, Some(snapshot)] {
        let options = ReadOptions { snapshot, ..ReadOptions::default() };
        let mut found = Vec::new();
        db.get_many_with(&keys, &options, |value| found.push(value.map(<[u8]>::to_vec))).unwrap();
        let one_by_one: Vec<_> = keys.iter().map(|key| db.get(key.as_bytes(), &options).unwrap()).collect();
        assert_eq!(found, one_by_one);
        assert!(found.iter().any(Option::is_some) && found.iter().any(Option::is_none));
    }
    db.get_many_with(&[] as &[&[u8]], &ReadOptions::default(), |_| panic!("no key was asked for")).unwrap();
}
