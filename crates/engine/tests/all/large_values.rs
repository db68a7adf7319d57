//! Large values beside small ones, against a model: overwritten, deleted, seen by snapshots, compacted, reopened.

use std::path::Path;
use std::sync::Arc;

use crate::support::{Model, Random, assert_holds, entries, memory, scaled};
use terrace_engine::env::{Env, default_env};
use terrace_engine::{Compression, Db, IterOptions, Options, ReadOptions, WriteBatch, WriteOptions};

fn options(env: Arc<dyn Env>, compression: Compression) -> Options {
    Options {
        write_buffer_size_bytes: 512 << 10,
        max_file_size_bytes: 256 << 10,
        idle_after_ms: 50,
        compression,
        env,
        ..Options::default()
    }
}

/// A value of up to 300 KB: empty, small, about as large as a large one begins to be, or large; half of them compress.
fn value(random: &mut Random) -> Vec<u8> {
    let size_bytes = match random.below(8) {
        0 => 0,
        1..4 => random.below(200),
        4 => (32 << 10) - 8 + random.below(16),
        5..7 => random.below(120_000),
        _ => random.below(300_000),
    } as usize;
    match random.below(2) {
        0 => random.bytes(size_bytes),
        _ => random.bytes(64).repeat(size_bytes / 64),
    }
}

fn run(path: &Path, env: &Arc<dyn Env>, compression: Compression, seed: u64) {
    let mut random = Random(seed);
    let mut db = Db::open(path, options(Arc::clone(env), compression)).unwrap();
    let mut model = Model::new();
    let mut snapshots = Vec::new();
    for step in 0..400 {
        let key = format!("{:03}", random.below(60)).into_bytes();
        match random.below(40) {
            0..26 => {
                let value = value(&mut random);
                db.put(&key, &value, &WriteOptions { sync: random.below(30) == 0 }).unwrap();
                model.insert(key, value);
            }
            26..32 => {
                db.delete(&key, &WriteOptions::default()).unwrap();
                model.remove(&key);
            }
            32..35 => {
                let mut batch = WriteBatch::new();
                for number in 0..4 {
                    let (key, value) = ([&key[..], &[b'a' + number]].concat(), value(&mut random));
                    batch.put(&key, &value).unwrap();
                    model.insert(key, value);
                }
                db.write(batch, &WriteOptions::default()).unwrap();
            }
            35 => snapshots.push((db.snapshot(), model.clone())),
            36 => drop(snapshots.pop()),
            37 => db.compact_range(None, None).unwrap(),
            38 => assert_eq!(db.get(&key, &ReadOptions::default()).unwrap().as_ref(), model.get(&key)),
            _ if step % 3 == 0 => {
                snapshots.clear();
                db.close().unwrap();
                db = Db::open(path, options(Arc::clone(env), compression)).unwrap();
            }
            _ => {}
        }
        if step % 100 == 99 {
            assert_holds(&db, &model);
            for (snapshot, model) in &snapshots {
                let read = ReadOptions { snapshot: Some(snapshot.clone()), ..ReadOptions::default() };
                let found = entries(&db, IterOptions { read, ..IterOptions::default() });
                assert!(found.iter().map(|(key, value)| (key, value)).eq(model));
            }
        }
    }
    snapshots.clear();
    db.compact_range(None, None).unwrap();
    db.compact_range(None, None).unwrap();
    assert_holds(&db, &model);
    db.close().unwrap();
    let db = Db::open(path, options(Arc::clone(env), compression)).unwrap();
    assert_holds(&db, &model);
}

#[test]
fn large_values_are_what_the_model_says() {
    for seed in 1..=scaled(3) {
        let directory = tempfile::tempdir().unwrap();
        let env = default_env();
        run(directory.path(), &env, Compression::Snappy, seed.into());
    }
}

#[test]
fn they_are_without_compression_and_in_memory_too() {
    run(Path::new("/db"), &memory(), Compression::None, 11);
    run(Path::new("/db"), &memory(), Compression::Snappy, 12);
}
