//! Seeks of iterators, with and without later steps, compared with a model. If recent seeks found their targets and no
//! step followed, lookups answer the next seeks; each walk here sees both kinds.

use std::ops::Bound;
use std::path::Path;

use crate::support::{self, Model, Random, memory, tiny};
use terrace_engine::env::Env;
use terrace_engine::{
    Bounds, Compression, Db, DbIterator, ErrorKind, IterOptions, Options, ReadOptions, WriteOptions,
};

const KEYS: u64 = 700;

fn key(number: u64) -> Vec<u8> {
    format!("key {number:05}").into_bytes()
}

/// Makes random writes, over several tables and levels. A fourth of them are deletions.
fn write(db: &Db, model: &mut Model, random: &mut Random, writes: u64) {
    for _ in 0..writes {
        let key = key(random.below(KEYS));
        if random.below(4) == 0 {
            db.delete(&key, &WriteOptions::default()).unwrap();
            model.remove(&key);
        } else {
            // Some are too large to be copied.
            let size = if random.below(50) == 0 { 5_000 } else { random.below(60) as usize };
            let value = random.bytes(size);
            db.put(&key, &value, &WriteOptions::default()).unwrap();
            model.insert(key, value);
        }
    }
}

fn check(iterator: &DbIterator, expected: Option<(&Vec<u8>, &Vec<u8>)>) {
    assert_eq!(iterator.valid(), expected.is_some());
    if let Some((key, value)) = expected {
        assert_eq!((iterator.key(), iterator.value()), (&key[..], &value[..]));
    }
}

/// Makes random seeks, and one or more steps after one seek in three.
fn walk(db: &Db, options: &IterOptions, model: &Model, random: &mut Random) {
    let within: Model = model
        .range::<Vec<u8>, _>((options.bounds.lower.as_ref(), options.bounds.upper.as_ref()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for _ in 0..150 {
        let mut iterator = db.iter(options.clone()).unwrap();
        for _ in 0..1 + random.below(4) {
            let mut target = key(random.below(KEYS));
            if random.below(8) == 0 {
                target.truncate(random.below(10) as usize);
            }
            let is_above = match &options.bounds.upper {
                Bound::Included(upper) => target > *upper,
                Bound::Excluded(upper) => target >= *upper,
                Bound::Unbounded => false,
            };
            let is_below = match &options.bounds.lower {
                Bound::Included(lower) => target < *lower,
                Bound::Excluded(lower) => target <= *lower,
                Bound::Unbounded => false,
            };
            let found = if random.below(3) > 0 {
                iterator.seek(&target).unwrap();
                within.range(target..).next().filter(|_| !is_above)
            } else {
                iterator.seek_for_prev(&target).unwrap();
                within.range(..=target).next_back().filter(|_| !is_below)
            };
            check(&iterator, found);
            let mut at = found.map(|(key, _)| key.clone());
            let steps = if random.below(3) == 0 { 1 + random.below(3) } else { 0 };
            for _ in 0..steps {
                let Some(key) = at else { break };
                let next = if random.below(2) == 0 {
                    iterator.next().unwrap();
                    within.range((Bound::Excluded(key), Bound::Unbounded)).next()
                } else {
                    iterator.prev().unwrap();
                    within.range(..key).next_back()
                };
                check(&iterator, next);
                at = next.map(|(key, _)| key.clone());
            }
        }
    }
}

#[test]
fn seeks_agree_with_a_model_whatever_follows_them() {
    let of_all = [Compression::None, Compression::Snappy]
        .into_iter()
        .flat_map(|compression| [0, 100].map(|percent| (compression, percent)))
        .flat_map(|(compression, percent)| [true, false].map(|maps| (compression, percent, maps)));
    for (round, (compression, hash_index_percent, map_tables)) in of_all.enumerate() {
        let mut random = Random(round as u64);
        let options = Options { compression, hash_index_percent, map_tables, ..tiny(memory()) };
        let db = Db::open("db", options).unwrap();
        let mut model = Model::new();
        write(&db, &mut model, &mut random, 2_000);
        let (snapshot, old) = (db.snapshot(), model.clone());
        write(&db, &mut model, &mut random, 1_000);
        let bounds = Bounds {
            lower: [Bound::Included(key(100)), Bound::Excluded(key(100))][round % 2].clone(),
            upper: [Bound::Excluded(key(500)), Bound::Included(key(500))][round % 2].clone(),
        };
        for bounds in [Bounds::default(), bounds] {
            walk(&db, &IterOptions { bounds: bounds.clone(), ..IterOptions::default() }, &model, &mut random);
            let read = ReadOptions { snapshot: Some(snapshot.clone()), ..ReadOptions::default() };
            walk(&db, &IterOptions { read, bounds }, &old, &mut random);
        }
        drop(snapshot);
        db.compact_range(None, None).unwrap();
        walk(&db, &IterOptions::default(), &model, &mut random);
    }
}

#[test]
fn an_iterator_whose_seek_was_looked_up_goes_on_with_the_state_at_its_creation() {
    let db = Db::open("db", tiny(memory())).unwrap();
    for number in 0..10 {
        support::put(&db, &format!("key {number:05}"), "old");
    }
    let mut iterator = db.iter(IterOptions::default()).unwrap();
    iterator.seek(&key(3)).unwrap();
    for number in 0..10 {
        support::put(&db, &format!("key {number:05}"), "new");
        support::put(&db, &format!("key {number:05} and more"), "new");
    }
    db.flush().unwrap();
    db.compact_range(None, None).unwrap();
    for number in 3..10 {
        assert_eq!((iterator.key(), iterator.value()), (&key(number)[..], &b"old"[..]));
        iterator.next().unwrap();
    }
    assert!(!iterator.valid());
}

#[test]
fn damage_beside_a_key_that_was_looked_up_is_an_error_of_the_step() {
    let env = memory();
    // While it is idle, a database would merge the two tables.
    let options = Options { compression: Compression::None, idle_after_ms: 3_600_000, ..tiny(env.clone()) };
    let db = Db::open("db", options.clone()).unwrap();
    for numbers in [[0, 2, 4], [1, 3, 5]] {
        for number in numbers {
            db.put(&key(number), b"value", &WriteOptions::default()).unwrap();
        }
        db.flush().unwrap();
    }
    db.close().unwrap();
    drop(db);
    let mut tables = env.list(Path::new("db")).unwrap();
    tables.retain(|name| name.ends_with(".ldb"));
    tables.sort();
    assert_eq!(tables.len(), 2);
    damage(&*env, &Path::new("db").join(&tables[0]));

    for is_forward in [true, false] {
        // A lookup is tried first, because nothing is known about seeks yet.
        let db = Db::open("db", options.clone()).unwrap();
        let mut iterator = db.iter(IterOptions::default()).unwrap();
        if is_forward {
            iterator.seek(&key(3)).unwrap()
        } else {
            iterator.seek_for_prev(&key(3)).unwrap()
        }
        assert_eq!((iterator.key(), iterator.value()), (&key(3)[..], &b"value"[..]));
        let error = if is_forward { iterator.next() } else { iterator.prev() }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert!(!iterator.valid());
        assert_eq!(iterator.seek(b"key").unwrap_err().kind(), ErrorKind::Corruption);
        iterator.seek(&key(5)).unwrap();
        assert_eq!(iterator.key(), key(5));
    }
}

/// Changes a byte of the first block.
fn damage(env: &dyn Env, path: &Path) {
    let mut bytes = vec![0; env.file_size(path).unwrap() as usize];
    env.open_random(path).unwrap().read_exact_at(0, &mut bytes).unwrap();
    bytes[5] ^= 1;
    let mut file = env.create(path).unwrap();
    file.append(&bytes).unwrap();
    file.sync().unwrap();
}
