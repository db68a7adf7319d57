//! Writes with conditions.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use terrace_engine::env::{Env, MemoryEnv};
use terrace_engine::{
    Bounds, Condition, Db, ErrorKind, Options, ReadOptions, Result, TableFileOptions, TableFileWriter,
    WriteBatch, WriteOptions,
};

use crate::support::{Random, delete, get, memory, put, scaled, tiny};

fn open(env: &Arc<dyn Env>) -> Db {
    Db::open("/db", tiny(Arc::clone(env))).unwrap()
}

fn one_put(key: &str, value: &str) -> WriteBatch {
    let mut batch = WriteBatch::new();
    batch.put(key.as_bytes(), value.as_bytes()).unwrap();
    batch
}

fn bounds(lower: &str, upper: &str) -> Bounds {
    let [lower, upper] = [lower, upper].map(|key| key.as_bytes().to_vec());
    Bounds { lower: Bound::Included(lower), upper: Bound::Excluded(upper) }
}

fn version(db: &Db, key: &str) -> Option<u64> {
    db.get_entry_with(key.as_bytes(), &ReadOptions::default(), |_, version| version).unwrap()
}

/// The conditions that fail, after a check that both forms say so and that only a success writes.
fn failed(db: &Db, conditions: &[Condition]) -> Vec<usize> {
    let written = |result: Result<bool>| match result {
        Ok(_) => Vec::new(),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
            assert!(!error.failed_conditions().is_empty());
            error.failed_conditions().to_vec()
        }
    };
    // Without an operation there is nothing that would change the answers.
    let failed = written(db.write_if(WriteBatch::new(), conditions, &WriteOptions::default()).map(|()| true));
    let mut empty = WriteBatch::new();
    assert_eq!(written(db.try_write_if(&mut empty, conditions, &WriteOptions::default())), failed);
    let before = get(db, "written");
    let attempt = before.clone().unwrap_or_default() + "!";
    let result = db.write_if(one_put("written", &attempt), conditions, &WriteOptions::default());
    assert_eq!(written(result.map(|()| true)), failed);
    assert_eq!(get(db, "written"), if failed.is_empty() { Some(attempt) } else { before });
    failed
}

#[test]
fn each_condition_on_a_key_holds_or_fails_wherever_the_entry_is() {
    use Condition::{Absent, Equals, Present, Version};
    let env = memory();
    let mut db = open(&env);
    put(&db, "a", "1");
    put(&db, "b", "1");
    delete(&db, "b");
    let written = version(&db, "a").unwrap();
    assert_eq!(version(&db, "b"), None);
    let key = |key: &str| key.as_bytes().to_vec();
    for place in ["memtable", "level 0", "a deeper level", "reopened"] {
        match place {
            "a deeper level" => db.compact_range(None, None).unwrap(),
            "level 0" | "reopened" => {
                db.close().unwrap();
                db = open(&env);
            }
            _ => {}
        }
        assert_eq!(version(&db, "a"), Some(written), "{place}");
        let holds = [
            Present(key("a")),
            Absent(key("b")),
            Absent(key("c")),
            Equals(key("a"), key("1")),
            Version(key("a"), written),
        ];
        assert_eq!(failed(&db, &holds), [] as [usize; 0], "{place}");
        let fails = [
            Absent(key("a")),
            Present(key("a")),
            Present(key("b")),
            Present(key("c")),
            Equals(key("a"), key("2")),
            Equals(key("a"), key("")),
            Equals(key("b"), key("1")),
            Version(key("a"), written + 1),
            Version(key("b"), written + 1),
            Absent(key("b")),
        ];
        assert_eq!(failed(&db, &fails), [0, 2, 3, 4, 5, 6, 7, 8], "{place}");
    }
    put(&db, "a", "1");
    assert_eq!(failed(&db, &[Version(key("a"), written)]), [0], "written again with the same value");
}

#[test]
fn a_range_has_changed_if_an_entry_in_it_was_added_changed_or_deleted() {
    let env = memory();
    type Change = fn(&Db);
    let changes: [(&str, bool, Change); 9] = [
        ("nothing", false, |_| {}),
        ("before the range", false, |db| put(db, "az", "2")),
        ("the end of the range", false, |db| put(db, "d", "2")),
        ("added", true, |db| put(db, "bb", "2")),
        ("the beginning of the range", true, |db| put(db, "b", "2")),
        ("the same value", true, |db| put(db, "c", "1")),
        ("deleted", true, |db| delete(db, "c")),
        ("deleted what was not there", true, |db| delete(db, "cc")),
        ("added and deleted", true, |db| {
            put(db, "bb", "2");
            delete(db, "bb");
        }),
    ];
    for (name, is_change, change) in changes {
        for place in ["memtable", "level 0", "bottom"] {
            let db = Db::open(format!("/{name}-{place}"), tiny(Arc::clone(&env))).unwrap();
            for key in ["a", "b", "c", "d", "e"] {
                put(&db, key, "1");
            }
            db.compact_range(None, None).unwrap();
            let snapshot = db.snapshot();
            change(&db);
            match place {
                "level 0" => fill(&db, "x", 20),
                "bottom" => db.compact_range(None, None).unwrap(),
                _ => {}
            }
            let since = |snapshot| Condition::UnchangedSince(bounds("b", "d"), snapshot);
            let expected: &[usize] = if is_change { &[0] } else { &[] };
            assert_eq!(failed(&db, &[since(snapshot.clone())]), expected, "{name}, {place}");
            assert_eq!(failed(&db, &[since(db.snapshot())]), [] as [usize; 0], "{name}, {place}");
            let all = Condition::UnchangedSince(Bounds::default(), snapshot.clone());
            // `failed` has written an entry above.
            assert_eq!(failed(&db, &[all]), [0], "{name}, {place}");
        }
    }
}

/// Fills memtables with entries after those of the tests, until some were flushed.
fn fill(db: &Db, prefix: &str, kib: usize) {
    for index in 0..kib {
        put(db, &format!("{prefix}{index:04}"), &"v".repeat(1024));
    }
}

#[test]
fn a_version_of_a_range_fails_once_what_would_tell_was_dropped() {
    let env = memory();
    let db = open(&env);
    for key in ["a", "b", "c"] {
        put(&db, key, "1");
    }
    let before = version(&db, "c").unwrap();
    let since = |version| Condition::UnchangedSinceVersion(bounds("a", "b"), version);
    assert_eq!(failed(&db, &[since(before)]), [] as [usize; 0]);
    delete(&db, "a");
    let after = db.snapshot().sequence();
    assert_eq!(failed(&db, &[since(before)]), [0]);
    assert_eq!(failed(&db, &[since(after)]), [] as [usize; 0]);
    // Nothing of the deletion is left.
    db.compact_range(None, None).unwrap();
    assert_eq!(failed(&db, &[since(before)]), [0]);
    assert_eq!(failed(&db, &[since(after)]), [] as [usize; 0]);
    db.close().unwrap();

    let db = open(&env);
    assert_eq!(failed(&db, &[since(after)]), [0], "what was dropped before the open is unknown");
    assert_eq!(failed(&db, &[since(db.snapshot().sequence())]), [] as [usize; 0]);
}

#[test]
fn a_snapshot_of_another_database_is_refused() {
    let (db, other) = (open(&memory()), open(&memory()));
    let condition = Condition::UnchangedSince(Bounds::default(), other.snapshot());
    let error = db.write_if(one_put("a", "1"), &[condition], &WriteOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(get(&db, "a"), None);
}

#[test]
fn a_conditional_write_that_would_wait_says_so_and_writes_nothing() {
    let db = Db::open("/db", Options { env: memory(), ..Options::default() }).unwrap();
    let sync = WriteOptions { sync: true };
    let absent = |key: &str| Condition::Absent(key.as_bytes().to_vec());
    assert!(!db.try_write_if(&mut one_put("a", "1"), &[absent("a")], &sync).unwrap());
    let many: Vec<_> = (0..1_001).map(|index| absent(&index.to_string())).collect();
    let options = WriteOptions::default();
    assert!(!db.try_write_if(&mut one_put("a", "1"), &many, &options).unwrap());
    let snapshot = db.snapshot();
    fill(&db, "x", 3_000);
    let range = Condition::UnchangedSince(bounds("a", "b"), snapshot);
    let ranges = std::slice::from_ref(&range);
    assert!(!db.try_write_if(&mut one_put("a", "1"), ranges, &options).unwrap(), "3,000 entries");
    assert_eq!(get(&db, "a"), None);
    db.write_if(one_put("a", "1"), ranges, &options).unwrap();
    assert_eq!(get(&db, "a").as_deref(), Some("1"));
    assert!(db.try_write_if(&mut one_put("b", "1"), &[absent("b")], &options).unwrap());
}

#[test]
fn submitted_writes_with_conditions_see_those_submitted_before_them() {
    let db = open(&memory());
    let (sender, results) = mpsc::channel();
    let count = 200u64;
    for index in 0..count {
        let sender = sender.clone();
        let done = Box::new(move |result: Result<()>| sender.send((index, result)).unwrap());
        let (batch, options) = (one_put("turn", &index.to_string()), WriteOptions { sync: index % 7 == 0 });
        if index % 2 == 0 {
            db.submit(batch, options, done);
        } else {
            // One in three expects a wrong value.
            let expected = if index % 3 == 0 { "no".to_owned() } else { (index - 1).to_string() };
            let condition = Condition::Equals(b"turn".to_vec(), expected.into_bytes());
            db.submit_if(batch, vec![condition], options, done);
        }
    }
    for expected in 0..count {
        let (index, result) = results.recv().unwrap();
        assert_eq!(index, expected);
        let kind = result.err().map(|error| error.kind());
        let fails = index % 2 == 1 && index % 3 == 0;
        assert_eq!(kind, fails.then_some(ErrorKind::Conflict), "{index}");
    }
}

#[test]
fn a_write_if_a_condition_fails_is_not_in_the_log() {
    let env = memory();
    let db = open(&env);
    put(&db, "a", "1");
    let sequence = db.snapshot().sequence();
    let absent = [Condition::Absent(b"a".to_vec())];
    assert!(db.write_if(one_put("b", "1"), &absent, &WriteOptions { sync: true }).is_err());
    assert_eq!(db.snapshot().sequence(), sequence);
    db.close().unwrap();
    assert_eq!(get(&open(&env), "b"), None);
}

/// Threads add to counters by reading, then writing under a condition, while memtables are sealed, tables are flushed,
/// compacted and ingested, and other writers go on.
#[test]
fn no_increment_under_a_condition_is_lost_between_threads() {
    const COUNTERS: u64 = 3;
    let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
    let db = open(&env);
    let increments = u64::from(scaled(600));
    let (conflicts, writers) = (Arc::new(AtomicU64::new(0)), 4u64);
    thread::scope(|scope| {
        for writer in 0..writers {
            let (db, conflicts) = (&db, &conflicts);
            scope.spawn(move || {
                let mut random = Random(writer);
                for _ in 0..increments {
                    let key = format!("counter {}", random.below(COUNTERS)).into_bytes();
                    while !increment(db, &key, writer, &mut random) {
                        conflicts.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let (db, env) = (&db, &env);
        scope.spawn(move || {
            for round in 0..increments / 20 {
                fill(db, &format!("other {round} "), 4);
                let path = format!("/ingest-{round}.ldb");
                let options = TableFileOptions { env: Arc::clone(env), ..TableFileOptions::default() };
                let mut table = TableFileWriter::create(&path, options).unwrap();
                table.put(b"ingested", round.to_string().as_bytes()).unwrap();
                table.finish().unwrap();
                db.ingest(&[PathBuf::from(path)]).unwrap();
            }
        });
    });
    let total: u64 = (0..COUNTERS)
        .filter_map(|counter| get(&db, &format!("counter {counter}")))
        .map(|value| value.parse::<u64>().unwrap())
        .sum();
    assert_eq!(total, writers * increments);
    println!("{} conflicts in {} increments", conflicts.load(Ordering::Relaxed), writers * increments);
}

/// Adds one to the counter of `key` unless another thread came first. Each writer uses another kind of condition.
fn increment(db: &Db, key: &[u8], writer: u64, random: &mut Random) -> bool {
    let snapshot = db.snapshot();
    let read = ReadOptions { snapshot: Some(snapshot.clone()), ..ReadOptions::default() };
    let found = db.get_entry_with(key, &read, |value, version| (value.to_vec(), version)).unwrap();
    let next =
        found.as_ref().map_or(0, |(value, _)| std::str::from_utf8(value).unwrap().parse::<u64>().unwrap())
            + 1;
    let only = Bounds { lower: Bound::Included(key.to_vec()), upper: Bound::Included(key.to_vec()) };
    let condition = match (&found, writer) {
        (_, 2) => Condition::UnchangedSince(only, snapshot),
        (_, 3) => Condition::UnchangedSinceVersion(only, snapshot.sequence()),
        (None, _) => Condition::Absent(key.to_vec()),
        (Some((value, _)), 0) => Condition::Equals(key.to_vec(), value.clone()),
        (Some((_, version)), _) => Condition::Version(key.to_vec(), *version),
    };
    let mut batch = WriteBatch::new();
    batch.put(key, next.to_string().as_bytes()).unwrap();
    let options = WriteOptions { sync: random.below(50) == 0 };
    let result = match random.below(3) {
        0 => db.write_if(batch, &[condition], &options),
        1 => match db.try_write_if(&mut batch, std::slice::from_ref(&condition), &options) {
            Ok(true) => Ok(()),
            Ok(false) => db.write_if(batch, &[condition], &options),
            Err(error) => Err(error),
        },
        _ => {
            let (sender, result) = mpsc::channel();
            let done = Box::new(move |result| sender.send(result).unwrap());
            db.submit_if(batch, vec![condition], options, done);
            result.recv().unwrap()
        }
    };
    match result {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
            assert_eq!(error.failed_conditions(), [0]);
            false
        }
    }
}

/// Random writes and conditions, against a map that keeps the version of each entry and when each key last changed.
#[test]
fn conditions_agree_with_a_model_over_flushes_compactions_and_snapshots() {
    for seed in 0..u64::from(scaled(40)) {
        let mut random = Random(seed);
        let db = open(&memory());
        let mut entries: BTreeMap<Vec<u8>, (Vec<u8>, u64)> = BTreeMap::new();
        let mut changed: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let mut snapshots = Vec::new();
        for _ in 0..300 {
            let key = format!("k{:02}", random.below(30)).into_bytes();
            let length = random.below(300) as usize;
            let mut batch = WriteBatch::new();
            let value = (random.below(3) > 0).then(|| random.bytes(length));
            match &value {
                Some(value) => batch.put(&key, value).unwrap(),
                None => batch.delete(&key).unwrap(),
            }
            let mut conditions = Vec::new();
            let mut expected = Vec::new();
            for index in 0..random.below(3) as usize {
                let (condition, holds) = any_condition(&mut random, &entries, &changed, &snapshots);
                conditions.push(condition);
                if !holds {
                    expected.push(index);
                }
            }
            match db.write_if(batch, &conditions, &WriteOptions::default()) {
                Ok(()) => {
                    assert_eq!(expected, [] as [usize; 0], "seed {seed}");
                    let sequence = db.snapshot().sequence();
                    changed.insert(key.clone(), sequence);
                    match value {
                        Some(value) => entries.insert(key, (value, sequence)),
                        None => entries.remove(&key),
                    };
                }
                Err(error) => assert_eq!(error.failed_conditions(), expected, "seed {seed}: {error}"),
            }
            match random.below(40) {
                0 => snapshots.push(db.snapshot()),
                1 => drop(snapshots.pop()),
                2 => db.compact_range(None, None).unwrap(),
                _ => {}
            }
        }
        for (key, (_, sequence)) in &entries {
            assert_eq!(version(&db, std::str::from_utf8(key).unwrap()), Some(*sequence), "seed {seed}");
        }
    }
}

fn any_condition(
    random: &mut Random,
    entries: &BTreeMap<Vec<u8>, (Vec<u8>, u64)>,
    changed: &BTreeMap<Vec<u8>, u64>,
    snapshots: &[terrace_engine::Snapshot],
) -> (Condition, bool) {
    let key = format!("k{:02}", random.below(30)).into_bytes();
    let entry = entries.get(&key);
    match random.below(if snapshots.is_empty() { 4 } else { 6 }) {
        0 => (Condition::Absent(key), entry.is_none()),
        1 => (Condition::Present(key), entry.is_some()),
        2 => match entry {
            Some((value, _)) if random.below(2) == 0 => (Condition::Equals(key, value.clone()), true),
            _ => (Condition::Equals(key, b"other".to_vec()), false),
        },
        3 => match entry {
            Some((_, version)) if random.below(2) == 0 => (Condition::Version(key, *version), true),
            _ => (Condition::Version(key, 0), false),
        },
        _ => {
            let snapshot = &snapshots[random.below(snapshots.len() as u64) as usize];
            let upper = format!("k{:02}", random.below(30)).into_bytes();
            let holds = changed.iter().all(|(changed, sequence)| {
                *changed < key || *changed >= upper || *sequence <= snapshot.sequence()
            });
            let bounds = Bounds { lower: Bound::Included(key), upper: Bound::Excluded(upper) };
            (Condition::UnchangedSince(bounds, snapshot.clone()), holds)
        }
    }
}
