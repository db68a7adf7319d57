//! Tests failures of a device that broke a promise in the testkit's trials. Each test is named after its symptom.

use std::path::PathBuf;
use std::sync::Arc;

use terrace_engine::env::Env;
use terrace_engine::env::simulated::{CallKind, Failure, FaultPlan, Mode, SimulatedEnv};
use terrace_engine::{
    Compression, Db, ErrorKind, Options, ReadOptions, TableFileOptions, TableFileWriter, WriteBatch,
    WriteOptions,
};

const DIRECTORY: &str = "/data/db";

fn options(env: &SimulatedEnv) -> Options {
    Options { env: Arc::new(env.clone()), ..Options::default() }
}

#[test]
fn an_ingest_that_found_no_room_does_not_come_back_beside_later_writes() {
    let mut env = SimulatedEnv::new(1, Mode::StrictPosix);
    let db = Db::open(DIRECTORY, options(&env)).unwrap();
    let path = PathBuf::from("/data/table");
    let table_options = TableFileOptions { env: Arc::new(env.clone()), ..TableFileOptions::default() };
    let mut table = TableFileWriter::create(&path, table_options).unwrap();
    table.put(b"refused", b"value").unwrap();
    table.finish().unwrap();

    // The edit is already in the MANIFEST at that point.
    env.fail_at(FaultPlan::new(1, Failure::NoSpace).of(CallKind::Sync).on("MANIFEST"));
    assert_eq!(db.ingest(&[path]).unwrap_err().kind(), ErrorKind::DiskFull);
    db.put(b"later", b"value", &WriteOptions { sync: true }).unwrap();
    env.kill_process();

    let db = Db::open(DIRECTORY, options(&env)).unwrap();
    assert_eq!(db.get(b"later", &ReadOptions::default()).unwrap(), Some(b"value".to_vec()));
    assert_eq!(db.get(b"refused", &ReadOptions::default()).unwrap(), None);
}

#[test]
fn a_compaction_on_a_full_disk_ends_with_an_error_instead_of_waiting_forever() {
    let env = SimulatedEnv::new(1, Mode::StrictPosix);
    let db = Db::open(DIRECTORY, Options { max_file_size_bytes: 4 << 10, ..options(&env) }).unwrap();
    // Enough tables in level 0 for a background compaction that is in the way of the manual one.
    for round in 0..4 {
        for key in 0..100 {
            let value = format!("{round} {key:0>100}");
            db.put(format!("key {key:03}").as_bytes(), value.as_bytes(), &WriteOptions::default()).unwrap();
        }
        db.flush().unwrap();
    }
    env.fail_at(FaultPlan::new(1, Failure::NoSpace).of(CallKind::Write).on(".ldb").lasting());
    assert_eq!(db.compact_range(None, None).unwrap_err().kind(), ErrorKind::DiskFull);
    env.heal();
    db.compact_range(None, None).unwrap();
    db.put(b"room", b"again", &WriteOptions { sync: true }).unwrap();
}

#[test]
fn a_repair_takes_no_part_of_a_table_whose_flush_never_ended() {
    const BATCHES: usize = 30;
    let mut left_behind = 0;
    for seed in 0..60 {
        let mut env = SimulatedEnv::new(seed, Mode::StrictPosix);
        let uncompressed = Options { compression: Compression::None, ..options(&env) };
        let db = Db::open(DIRECTORY, uncompressed).unwrap();
        let half = |side: &str, batch: usize| format!("{side} {batch:02}").into_bytes();
        for number in 0..BATCHES {
            // The batch's two halves are far apart in the table.
            let mut batch = WriteBatch::new();
            ["left", "right"].iter().for_each(|side| batch.put(&half(side, number), &[b'v'; 300]).unwrap());
            db.write(batch, &WriteOptions { sync: number < 5 }).unwrap();
        }
        env.fail_at(FaultPlan::new(1, Failure::Io).of(CallKind::Sync).on(".ldb"));
        if seed % 2 == 0 {
            // This acts as if the process had died at that point.
            env.fail_at(FaultPlan::new(1, Failure::Io).of(CallKind::Remove).on(".ldb"));
        }
        assert!(db.flush().is_err());
        env.cut_power();
        let names = env.list(DIRECTORY.as_ref()).unwrap();
        left_behind += usize::from(names.iter().any(|name| name.ends_with(".ldb")));

        let report = Db::repair(DIRECTORY, &options(&env)).unwrap();
        let db = Db::open(DIRECTORY, options(&env)).unwrap();
        let has = |key: &[u8]| db.get(key, &ReadOptions::default()).unwrap().is_some();
        for number in 0..BATCHES {
            let (left, right) = (has(&half("left", number)), has(&half("right", number)));
            assert!(left == right && (left || number >= 5), "seed {seed}, batch {number}: {report}");
        }
    }
    assert!(left_behind > 10, "{left_behind} tables were left behind: too few for a test");
}

#[test]
fn after_a_flush_whose_manifest_edit_failed_a_database_closes_and_opens_with_every_write() {
    for failure in [Failure::Io, Failure::NoSpace].into_iter().chain(Failure::OTHERS) {
        let mut env = SimulatedEnv::new(1, Mode::StrictPosix);
        let db = Db::open(DIRECTORY, options(&env)).unwrap();
        db.put(b"key", b"value", &WriteOptions { sync: true }).unwrap();
        // The edit is already in the MANIFEST at that point. It names the log that was begun for later writes.
        env.fail_at(FaultPlan::new(1, failure).of(CallKind::Sync).on("MANIFEST"));
        let _ = db.flush();
        let _ = db.close();
        env.kill_process();

        let db = Db::open(DIRECTORY, options(&env)).unwrap();
        assert_eq!(db.get(b"key", &ReadOptions::default()).unwrap(), Some(b"value".to_vec()), "{failure:?}");
    }
}

/// A device fails once while writes wait for it. The test then reopens the database, as the error asks, makes a write
/// that is acknowledged as durable, and cuts the power.
#[test]
fn a_synced_write_after_a_sync_failed_and_the_database_was_reopened_survives_a_power_cut() {
    for seed in 0..40 {
        let mut env = SimulatedEnv::new(seed, Mode::Ext4Ordered);
        let db = Db::open(DIRECTORY, options(&env)).unwrap();
        for key in 0..100 {
            db.put(format!("key {key:02}").as_bytes(), &[b'v'; 100], &WriteOptions::default()).unwrap();
        }
        env.fail_at(FaultPlan::new(1, Failure::Io).of(CallKind::SyncLog));
        assert!(db.put(b"failed", b"", &WriteOptions { sync: true }).is_err());
        env.heal();
        let _ = db.close();

        let db = Db::open(DIRECTORY, options(&env)).unwrap();
        let found = db.get(b"key 50", &ReadOptions::default()).unwrap();
        db.put(b"z0", b"", &WriteOptions { sync: true }).unwrap();
        env.cut_power();

        let db = Db::open(DIRECTORY, options(&env)).unwrap();
        let get = |key: &[u8]| db.get(key, &ReadOptions::default()).unwrap();
        assert_eq!(get(b"z0"), Some(Vec::new()), "seed {seed}: it was acknowledged");
        assert_eq!(get(b"key 50"), found, "seed {seed}: it could still be read");
    }
}

/// The system fails to write a log on its own, so that no call fails, and the process is killed. On ext4, what is written to these
/// pages again, in place, never reaches the disk.
#[test]
fn what_a_killed_process_left_survives_a_power_cut_once_a_sync_or_a_close_counts() {
    for mode in [Mode::StrictPosix, Mode::Ext4Ordered] {
        for seed in 0..40 {
            let mut env = SimulatedEnv::new(seed, mode);
            let db = Db::open(DIRECTORY, options(&env)).unwrap();
            db.put(b"a1", b"", &WriteOptions { sync: true }).unwrap();
            for key in 0..4 {
                db.put(format!("b{key}").as_bytes(), &[b'v'; 30_000], &WriteOptions::default()).unwrap();
            }
            env.fail_at(FaultPlan::new(1, Failure::WriteBack));
            let _ = env.exists(DIRECTORY.as_ref());
            env.kill_process();

            let db = Db::open(DIRECTORY, options(&env)).unwrap();
            if seed % 2 == 0 {
                db.put(b"z0", b"", &WriteOptions { sync: true }).unwrap();
            } else {
                db.close().unwrap();
            }
            env.cut_power();

            let db = Db::open(DIRECTORY, options(&env)).unwrap();
            let has = |key: &[u8]| db.get(key, &ReadOptions::default()).unwrap().is_some();
            assert!(seed % 2 == 1 || has(b"z0"), "{mode:?}, seed {seed}: it was acknowledged");
            assert!([&b"a1"[..], b"b0", b"b1", b"b2", b"b3"].map(has) == [true; 5], "{mode:?}, seed {seed}");
        }
    }
}

/// The disk may keep sectors of either record. None of these sectors is zeros.
#[test]
fn a_record_in_the_place_of_one_that_found_no_room_opens_after_a_power_cut() {
    for seed in 0..400 {
        let mut env = SimulatedEnv::new(seed, Mode::StrictPosix);
        let db = Db::open(DIRECTORY, options(&env)).unwrap();
        db.put(b"synced", &[b's'; 400], &WriteOptions { sync: true }).unwrap();
        env.fail_at(FaultPlan::new(1, Failure::NoSpace).of(CallKind::WriteLog).short());
        let refused = db.put(b"refused", &[b'r'; 19_000], &WriteOptions::default());
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::DiskFull);
        db.put(b"after", &[b'a'; 600], &WriteOptions::default()).unwrap();
        env.cut_power();

        let db = Db::open(DIRECTORY, options(&env)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let get = |key: &[u8]| db.get(key, &ReadOptions::default()).unwrap();
        assert_eq!(get(b"synced"), Some(vec![b's'; 400]), "seed {seed}");
        assert_eq!(get(b"refused"), None, "seed {seed}");
    }
}

/// If a call has already returned the failure, the close returns `Poisoned`; otherwise the close returns the failure
/// itself. The database can be opened again in each case, with everything that was written before the failure.
#[test]
fn a_close_returns_a_failure_that_a_call_has_returned_before_only_as_poisoned() {
    type Use = fn(&Db) -> bool;
    let append: Use = |db| db.put(b"failed", &[b'v'; 100 << 10], &WriteOptions::default()).is_err();
    let sync: Use = |db| db.put(b"failed", b"value", &WriteOptions { sync: true }).is_err();
    let flush: Use = |db| db.flush().is_err();
    let flush_behind: Use = |db| {
        // The second write seals the memtable, and no call waits for the flush.
        db.put(b"large", &vec![b'v'; 70 << 10], &WriteOptions::default()).unwrap();
        db.put(b"next", b"value", &WriteOptions::default()).unwrap();
        while db.step() {}
        // Work that no call needs leaves the failure to the close.
        !db.merge_neighbours(1).unwrap()
    };
    let flush_and_write: Use = |db| {
        db.put(b"large", &vec![b'v'; 70 << 10], &WriteOptions::default()).unwrap();
        db.put(b"next", b"value", &WriteOptions::default()).unwrap();
        while db.step() {}
        db.put(b"later", b"value", &WriteOptions::default()).is_err()
    };
    let nothing: Use = |_| true;
    let log = |kind| FaultPlan::new(1, Failure::Io).of(kind);
    let table = || FaultPlan::new(1, Failure::Io).of(CallKind::Sync).on(".ldb");
    for (name, fault, uses, closed) in [
        ("an append", log(CallKind::WriteLog).lasting(), append, ErrorKind::Poisoned),
        ("a sync", log(CallKind::SyncLog), sync, ErrorKind::Poisoned),
        ("a sync of a device that stays broken", log(CallKind::SyncLog).lasting(), sync, ErrorKind::Poisoned),
        ("a flush that a call waits for", table(), flush, ErrorKind::Poisoned),
        ("a flush in the background", table(), flush_behind, ErrorKind::Io),
        ("a flush before a write", table(), flush_and_write, ErrorKind::Poisoned),
        ("the sync of the close", log(CallKind::SyncLog), nothing, ErrorKind::Io),
    ] {
        let env = SimulatedEnv::new(1, Mode::StrictPosix);
        let small = || Options { write_buffer_size_bytes: 64 << 10, ..options(&env) };
        let db = Db::open(DIRECTORY, small()).unwrap();
        while db.step() {}
        db.put(b"kept", b"value", &WriteOptions::default()).unwrap();
        env.fail_at(fault);
        assert!(uses(&db), "{name}: nothing has failed");
        let error = db.close().expect_err(name);
        assert_eq!(error.kind(), closed, "{name}: {error}");
        db.close().unwrap_or_else(|error| panic!("{name}: a second close: {error}"));
        env.heal();
        let db = Db::open(DIRECTORY, small()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(db.get(b"kept", &ReadOptions::default()).unwrap(), Some(b"value".to_vec()), "{name}");
        db.put(b"again", b"value", &WriteOptions { sync: true }).unwrap();
        db.close().unwrap_or_else(|error| panic!("{name}: closing again: {error}"));
    }
}
