//! Compaction, checkpoints, ingestion, destruction, and the reclaiming of space.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::support::{
    Model, Random, assert_holds, delete, entries, get, level_files, memory, put, table_bytes, tiny,
};
use terrace_engine::env::conformance::eventually;
use terrace_engine::env::simulated::{Mode, SimulatedEnv};
use terrace_engine::env::{Env, HeldClock, MemoryEnv, default_env};
use terrace_engine::{
    BackgroundPool, Compression, Db, ErrorKind, IterOptions, Options, ReadOptions, TableFileOptions,
    TableFileWriter, WriteOptions,
};

#[test]
fn a_close_beside_a_manual_compaction_that_was_begun_and_left_ends() {
    let env = SimulatedEnv::new(1, Mode::StrictPosix);
    let options = || Options { env: Arc::new(env.clone()), ..Options::default() };
    let db = Db::open("/data/db", options()).unwrap();
    for round in 0..12 {
        put(&db, "same", &round.to_string());
        db.flush().unwrap();
    }
    let _begun = db.begin_compact_range(None, None).unwrap();
    db.close().unwrap();
}

/// Writes 2,000 entries with the same value.
fn fill(db: &Db, value: &str) {
    for index in 0..2000 {
        put(db, &format!("{index:05}"), value);
    }
}

#[test]
fn one_call_compacts_a_range_to_one_level_and_drops_its_tombstones() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    for round in 0..3 {
        for index in 0..3000 {
            put(&db, &format!("{index:05}"), &format!("round {round}"));
        }
    }
    for index in 0..3000 {
        delete(&db, &format!("{index:05}"));
    }
    db.compact_range(None, None).unwrap();
    assert_eq!(level_files(&db).iter().sum::<usize>(), 0, "{:?}", level_files(&db));
    assert_eq!(table_bytes(&*env, Path::new("/db")), 0);
    assert_eq!(entries(&db, IterOptions::default()), []);
}

#[test]
fn tables_are_listed_and_verified_one_by_one() {
    let directory = tempfile::tempdir().unwrap();
    let db = Db::open(directory.path(), tiny(default_env())).unwrap();
    fill(&db, &"value".repeat(20));
    db.compact_range(None, None).unwrap();
    let tables = db.tables().unwrap();
    assert!(tables.len() > 1);
    assert_eq!(tables.iter().map(|table| table.counts.unwrap().entries).sum::<u64>(), 2000);
    assert_eq!(
        (&tables[0].smallest[..], &tables.last().unwrap().largest[..]),
        (&b"00000"[..], &b"01999"[..])
    );
    assert!(tables.is_sorted_by(|a, b| a.largest < b.smallest));
    for table in &tables {
        db.verify_table(table.number).unwrap();
    }
    db.close().unwrap();

    let path = directory.path().join(format!("{:06}.ldb", tables[1].number));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[50] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let options = Options { read_only: true, ..Options::default() };
    let db = Db::open(directory.path(), options).unwrap();
    db.verify_table(tables[0].number).unwrap();
    let error = db.verify_table(tables[1].number).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Corruption, Some(&*path)));
    assert_eq!(db.verify_table(9999).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn compacting_on_several_threads_keeps_what_a_snapshot_reads() {
    let options = Options { compaction_threads: 4, ..tiny(memory()) };
    let db = Db::open("/db", options).unwrap();
    let (mut model, mut random) = (Model::new(), Random(11));
    let mut snapshots = Vec::new();
    for round in 0..4 {
        for _ in 0..5_000 {
            let key = format!("{:05}", random.below(3000)).into_bytes();
            if random.below(4) == 0 {
                db.delete(&key, &WriteOptions::default()).unwrap();
                model.remove(&key);
            } else {
                let value = random.bytes(20);
                db.put(&key, &value, &WriteOptions::default()).unwrap();
                model.insert(key, value);
            }
        }
        snapshots.push((db.snapshot(), model.clone()));
        if round % 2 == 1 {
            db.compact_range(None, None).unwrap();
        }
    }
    db.compact_range(None, None).unwrap();
    assert_holds(&db, &model);
    for (snapshot, model) in snapshots {
        let read = ReadOptions { snapshot: Some(snapshot), ..ReadOptions::default() };
        let seen = entries(&db, IterOptions { read, ..IterOptions::default() });
        assert!(seen.into_iter().eq(model), "a snapshot sees something else");
    }
    db.verify().unwrap();
}

#[test]
fn compacting_a_part_leaves_the_rest_correct() {
    let db = Db::open("/db", tiny(memory())).unwrap();
    let mut model = Model::new();
    let mut random = Random(3);
    for _ in 0..10_000 {
        let key = format!("{:05}", random.below(2000)).into_bytes();
        let value = random.bytes(20);
        db.put(&key, &value, &WriteOptions::default()).unwrap();
        model.insert(key, value);
    }
    db.compact_range(Some(b"00500"), Some(b"00700")).unwrap();
    assert_holds(&db, &model);
    db.compact_range(Some(b"01900"), None).unwrap();
    assert_holds(&db, &model);
    db.verify().unwrap();
}

#[test]
fn manual_compactions_run_beside_writers_and_each_other() {
    let options = Options { compaction_threads: 3, ..tiny(memory()) };
    let db = Db::open("/db", options).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let db = db.clone();
            scope.spawn(move || {
                for index in 0..10_000 {
                    put(&db, &format!("{thread}-{:05}", index % 1500), &format!("{index}"));
                }
            });
        }
        for _ in 0..2 {
            let db = db.clone();
            scope.spawn(move || {
                for _ in 0..10 {
                    db.compact_range(None, None).unwrap();
                }
            });
        }
    });
    assert_eq!(entries(&db, IterOptions::default()).len(), 3000);
    for thread in 0..2 {
        for index in 0..1500 {
            let newest = if index < 1000 { 9000 + index } else { 7500 + index };
            assert_eq!(get(&db, &format!("{thread}-{index:05}")), Some(newest.to_string()));
        }
    }
    db.verify().unwrap();
}

#[test]
fn space_comes_back_after_deletes_without_any_call() {
    let clock = HeldClock::new();
    let env: Arc<dyn Env> = Arc::new(MemoryEnv::new().with_clock(clock.clone()));
    let db = Db::open(
        "/db",
        Options {
            write_buffer_size_bytes: 64 << 10,
            max_file_size_bytes: 32 << 10,
            ..tiny(Arc::clone(&env))
        },
    )
    .unwrap();
    let mut random = Random(1);
    let mut values: Vec<Vec<u8>> = Vec::new();
    for index in 0..20_000u32 {
        let value = random.bytes(100);
        db.put(&index.to_be_bytes(), &value, &WriteOptions::default()).unwrap();
        values.push(value);
    }
    let mut live = 0;
    for index in 0..20_000u32 {
        if random.below(10) > 0 {
            db.delete(&index.to_be_bytes(), &WriteOptions::default()).unwrap();
        } else {
            live += 4 + values[index as usize].len() as u64;
        }
    }
    eventually("most of the space of what was deleted is free", || {
        clock.advance(Duration::from_millis(50));
        table_bytes(&*env, Path::new("/db")) * 2 < live * 3
    });
    db.verify().unwrap();
}

#[test]
fn a_checkpoint_is_a_database_with_what_was_there_before_the_call() {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy");
    let db = Db::open(directory.path().join("db"), tiny(default_env())).unwrap();
    for index in 0..2000 {
        put(&db, &format!("{index:05}"), "before");
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for index in 2000..4000 {
                put(&db, &format!("{index:05}"), "during");
            }
        });
        db.checkpoint(&copy).unwrap();
    });
    for index in 0..2000 {
        put(&db, &format!("{index:05}"), "after");
    }
    db.compact_range(None, None).unwrap();

    let copied = Db::open(&copy, Options::default()).unwrap();
    let found = entries(&copied, IterOptions::default());
    assert!((2000..=4000).contains(&found.len()), "{}", found.len());
    for (index, (key, value)) in found.iter().enumerate() {
        assert_eq!(key, format!("{index:05}").as_bytes(), "writes are there in their order");
        assert_eq!(value, if index < 2000 { &b"before"[..] } else { b"during" });
    }
    put(&copied, "mine", "x");
    assert_eq!(get(&db, "mine"), None);
    let again = db.checkpoint(&copy).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::InvalidArgument);
    assert!(again.to_string().contains("the directory is not empty"), "{again}");
}

fn table_file(env: &Arc<dyn Env>, path: &str, keys: impl Iterator<Item = u32>, value: &str) -> PathBuf {
    let options = TableFileOptions { env: Arc::clone(env), ..TableFileOptions::default() };
    let mut writer = TableFileWriter::create(path, options).unwrap();
    for key in keys {
        writer.put(format!("{key:05}").as_bytes(), value.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    PathBuf::from(path)
}

#[test]
fn ingested_tables_hide_what_was_there_and_snapshots_do_not_see_them() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    for index in 0..1000 {
        put(&db, &format!("{index:05}"), "old");
    }
    let snapshot = db.snapshot();
    let files = [
        table_file(&env, "/b.ldb", 600..800, "ingested"),
        table_file(&env, "/a.ldb", (100..300).chain(2000..2100).filter(|key| *key < 600), "ingested"),
        table_file(&env, "/c.ldb", 5000..5010, "ingested"),
    ];
    db.ingest(&files).unwrap();
    put(&db, "00100", "newer");

    let check = |db: &Db| {
        assert_eq!(get(db, "00100").as_deref(), Some("newer"));
        assert_eq!(get(db, "00101").as_deref(), Some("ingested"));
        assert_eq!(get(db, "00300").as_deref(), Some("old"));
        assert_eq!(get(db, "05009").as_deref(), Some("ingested"));
        assert_eq!(entries(db, IterOptions::default()).len(), 1010);
    };
    check(&db);
    let at_snapshot = ReadOptions { snapshot: Some(snapshot), ..ReadOptions::default() };
    assert_eq!(db.get(b"00101", &at_snapshot).unwrap().unwrap(), b"old");
    assert_eq!(db.get(b"05000", &at_snapshot).unwrap(), None);
    db.compact_range(None, None).unwrap();
    check(&db);
    assert_eq!(db.get(b"00101", &at_snapshot).unwrap().unwrap(), b"old");
    drop((at_snapshot, db));
    check(&Db::open("/db", tiny(env)).unwrap());
}

#[test]
fn overlapping_or_damaged_tables_are_not_ingested() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    let one = table_file(&env, "/one.ldb", 0..100, "v");
    let two = table_file(&env, "/two.ldb", 99..200, "v");
    let error = db.ingest(&[one.clone(), two]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let mut bytes = env.read_file(&one).unwrap();
    bytes[20] ^= 1;
    let mut file = env.create(&one).unwrap();
    file.append(&bytes).unwrap();
    file.close().unwrap();
    let error = db.ingest(&[one]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains("one.ldb"), "{error}");
    assert_eq!(entries(&db, IterOptions::default()), []);
    put(&db, "still", "writable");
}

#[test]
fn properties_are_those_of_leveldb() {
    let db = Db::open("/db", tiny(memory())).unwrap();
    fill(&db, "value");
    db.compact_range(None, None).unwrap();
    let files: usize = (0..7)
        .map(|level| {
            db.property(&format!("leveldb.num-files-at-level{level}")).unwrap().parse::<usize>().unwrap()
        })
        .sum();
    assert!(files > 0);
    assert!(db.property("leveldb.stats").unwrap().contains("Compactions\nLevel  Files Size(MB)"));
    let tables = db.property("leveldb.sstables").unwrap();
    assert!(tables.starts_with("--- level 0 ---\n") && tables.contains("00000"), "{tables}");
    assert!(db.property("leveldb.approximate-memory-usage").unwrap().parse::<u64>().unwrap() > 0);
    for unknown in [
        "leveldb.num-files-at-level7",
        "leveldb.num-files-at-level",
        "leveldb.num-files-at-level+1",
        "leveldb.x",
        "stats",
    ] {
        assert_eq!(db.property(unknown), None, "{unknown}");
    }
}

#[test]
fn approximate_sizes_add_up() {
    let db = Db::open("/db", tiny(memory())).unwrap();
    let mut random = Random(5);
    for index in 0..5000 {
        let value = random.bytes(100);
        db.put(format!("{index:05}").as_bytes(), &value, &WriteOptions::default()).unwrap();
    }
    db.compact_range(None, None).unwrap();
    let all = db.approximate_size(b"", b"\xff").unwrap();
    let half = db.approximate_size(b"", b"02500").unwrap();
    assert!((500_000..750_000).contains(&all), "{all}");
    assert!((all * 45 / 100..all * 55 / 100).contains(&half), "{half} of {all}");
    assert_eq!(db.approximate_size(b"02500", b"02500").unwrap(), 0);
    assert_eq!(db.approximate_size(b"9", b"0").unwrap(), 0);
}

#[test]
fn tables_that_only_an_iterator_held_are_deleted_when_it_drops() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    fill(&db, "value");
    db.flush().unwrap();
    let mut iterator = db.iter(IterOptions::default()).unwrap();
    for index in 0..2000 {
        delete(&db, &format!("{index:05}"));
    }
    db.compact_range(None, None).unwrap();
    assert!(table_bytes(&*env, Path::new("/db")) > 0, "the iterator needs them");
    iterator.seek_to_last().unwrap();
    assert_eq!(iterator.key(), b"01999");
    drop(iterator);
    eventually("the tables are deleted", || table_bytes(&*env, Path::new("/db")) == 0);
}

#[test]
fn a_trickle_of_deletions_does_not_cost_a_table_each_time_the_database_rests() {
    let clock = HeldClock::new();
    let env: Arc<dyn Env> = Arc::new(MemoryEnv::new().with_clock(clock.clone()));
    let pool = Arc::new(BackgroundPool::new(Arc::clone(&env), 1));
    let options = Options {
        // The deletions below do not fill a memtable.
        write_buffer_size_bytes: 1 << 20,
        compression: Compression::None,
        background_pool: Some(Arc::clone(&pool)),
        ..tiny(env)
    };
    let idle_after = Duration::from_millis(options.idle_after_ms);
    let db = Db::open("/db", options).unwrap();
    for index in 0..5000 {
        put(&db, &format!("{index:05}"), "a value of some length");
    }
    db.compact_range(None, None).unwrap();
    let rest = || {
        // The first check notes what was written last, the second one finds that nothing was written since.
        for _ in 0..2 {
            clock.advance(idle_after);
            eventually("the background has done what is due", || pool.is_idle());
        }
    };
    rest();
    let before = db.stats().levels[0].jobs;
    for index in 0..10 {
        delete(&db, &format!("{index:05}"));
        rest();
        assert_eq!(db.stats().levels[0].jobs, before);
    }
    for index in 0..3000 {
        delete(&db, &format!("{index:05}"));
    }
    assert_eq!(db.stats().levels[0].jobs, before);
    rest();
    assert_eq!(db.stats().levels[0].jobs, before + 1, "many deletions are worth a table");
}

#[test]
fn an_iterator_that_outlives_its_database_deletes_nothing_of_the_next_one() {
    let env = memory();
    let pool = Arc::new(BackgroundPool::new(Arc::clone(&env), 1));
    let options = || Options { background_pool: Some(Arc::clone(&pool)), ..tiny(Arc::clone(&env)) };
    let db = Db::open("/db", options()).unwrap();
    fill(&db, "value");
    db.flush().unwrap();
    let mut iterator = db.iter(IterOptions::default()).unwrap();
    iterator.seek_to_first().unwrap();
    fill(&db, "other");
    db.compact_range(None, None).unwrap();
    db.close().unwrap();
    drop(db);
    Db::destroy("/db", &options()).unwrap();

    let next = Db::open("/db", options()).unwrap();
    fill(&next, "next");
    next.flush().unwrap();
    drop(iterator);
    eventually("whatever that had the background do is done", || pool.is_idle());
    next.verify().unwrap();
    next.close().unwrap();
    let next = Db::open("/db", tiny(env)).unwrap();
    assert_eq!(entries(&next, IterOptions::default()).len(), 2000);
}

/// Bytes that take about as much space in a table as in memory.
fn incompressible(seed: u64, size_bytes: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..size_bytes).map(|_| next()).collect()
}

#[test]
fn approximate_size_counts_what_is_in_memory() {
    let env = memory();
    let db = Db::open("/db", Options { env, ..Options::default() }).unwrap();
    let size = |start: &str, end: &str| db.approximate_size(start.as_bytes(), end.as_bytes()).unwrap();
    assert_eq!(size("", "z"), 0);
    for index in 0..10_000 {
        db.put(format!("{index:05}").as_bytes(), &incompressible(index, 995), &WriteOptions::default())
            .unwrap();
    }
    let (all, half) = (size("", "z"), size("00000", "05000"));
    assert!((9_000_000..11_000_000).contains(&all), "{all}");
    assert!((4_500_000..5_500_000).contains(&half), "{half}");
    assert_eq!(size("z", ""), 0);
    db.flush().unwrap();
    let in_tables = size("", "z");
    assert!(
        in_tables.abs_diff(all) < all / 10,
        "{all} in memory, {in_tables} in tables: nothing counts twice"
    );
}
