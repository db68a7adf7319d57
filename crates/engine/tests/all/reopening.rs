//! Tests the reopening of a closed database: its MANIFEST continues, nothing is synced, and nothing is lost with the
//! power.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::support::leveldb_files::{self, Version};
use terrace_engine::env::Env;
use terrace_engine::env::simulated::{CallCounts, CallKind, Failure, FaultPlan, Mode, SimulatedEnv};
use terrace_engine::{Db, ErrorKind, Options, ReadOptions, WriteOptions};
use terrace_format::batch::BatchRef;
use terrace_format::crc::crc32c;
use terrace_format::current;
use terrace_format::file_name::{self, FileKind};
use terrace_format::log::{LogEncoder, LogEvent, LogReader};
use terrace_format::version_edit::VersionEdit;

const DIRECTORY: &str = "/data/db";

const SYNCED: WriteOptions = WriteOptions { sync: true };

fn open(env: &SimulatedEnv, directory: &str) -> Db {
    open_with_buffer(env, directory, 4 << 10)
}

fn open_with_buffer(env: &SimulatedEnv, directory: &str, write_buffer_size_bytes: usize) -> Db {
    Db::open(directory, Options { write_buffer_size_bytes, ..options(env) }).unwrap()
}

fn options(env: &SimulatedEnv) -> Options {
    Options { env: Arc::new(env.clone()), ..Options::default() }
}

fn syncs(counts: &CallCounts) -> u64 {
    use CallKind::{Replace, Sync, SyncDirectory, SyncLog};
    [Sync, SyncLog, SyncDirectory, Replace].into_iter().map(|kind| counts.of(kind)).sum()
}

fn manifests(env: &SimulatedEnv) -> Vec<String> {
    let names = env.list(Path::new(DIRECTORY)).unwrap();
    names.into_iter().filter(|name| name.starts_with("MANIFEST")).collect()
}

#[test]
fn reopening_a_database_in_which_nothing_was_written_syncs_nothing() {
    let env = SimulatedEnv::new(1, Mode::Ext4Ordered);
    let db = open(&env, DIRECTORY);
    db.put(b"key", b"value", &SYNCED).unwrap();
    db.flush().unwrap();
    db.close().unwrap();
    let manifest = manifests(&env);

    let before = env.counts();
    for _ in 0..20 {
        let db = open(&env, DIRECTORY);
        assert_eq!(db.get(b"key", &ReadOptions::default()).unwrap(), Some(b"value".to_vec()));
    }
    assert_eq!(syncs(&env.counts().since(&before)), 0);
    assert_eq!(manifests(&env), manifest);
}

#[test]
fn a_session_that_was_killed_is_followed_by_a_manifest_of_its_own() {
    let mut env = SimulatedEnv::new(1, Mode::Ext4Ordered);
    open(&env, DIRECTORY).close().unwrap();
    let db = open(&env, DIRECTORY);
    let manifest = manifests(&env);
    db.put(b"key", b"value", &SYNCED).unwrap();
    db.flush().unwrap();
    assert_eq!(manifests(&env), manifest, "the session goes on in the one that it found");
    env.kill_process();

    let _db = open(&env, DIRECTORY);
    assert_ne!(manifests(&env), manifest);
}

#[test]
fn a_session_that_was_killed_before_it_flushed_anything_is_followed_by_one_that_syncs_nothing() {
    let mut env = SimulatedEnv::new(1, Mode::Ext4Ordered);
    let db = open(&env, DIRECTORY);
    let manifest = manifests(&env);
    db.put(b"key", b"value", &SYNCED).unwrap();
    env.kill_process();

    let before = env.counts();
    let db = open(&env, DIRECTORY);
    assert_eq!(db.get(b"key", &ReadOptions::default()).unwrap(), Some(b"value".to_vec()));
    assert_eq!(syncs(&env.counts().since(&before)), 0);
    assert_eq!(manifests(&env), manifest);
}

fn tables(env: &SimulatedEnv) -> usize {
    let names = env.list(Path::new(DIRECTORY)).unwrap();
    names.iter().filter(|name| name.ends_with(".ldb")).count()
}

fn logs(env: &SimulatedEnv) -> usize {
    let names = env.list(Path::new(DIRECTORY)).unwrap();
    names.iter().filter(|name| name.ends_with(".log")).count()
}

#[test]
fn sessions_that_were_killed_before_they_wrote_anything_leave_no_logs() {
    for entries in 0..3 {
        let mut env = SimulatedEnv::new(1, Mode::Ext4Ordered);
        for session in 0..20 {
            let before = env.counts();
            let db = open_with_buffer(&env, DIRECTORY, 64 << 10);
            if session > 1 {
                assert_eq!(syncs(&env.counts().since(&before)), 0, "{entries} entries, session {session}");
            }
            let found =
                (0..entries).filter(|entry| db.get(&[*entry], &ReadOptions::default()).unwrap().is_some());
            assert_eq!(found.count(), if session == 0 { 0 } else { entries.into() });
            for entry in (0..entries).filter(|_| session == 0) {
                db.put(&[entry], b"value", &WriteOptions::default()).unwrap();
            }
            env.kill_process();
            assert!(logs(&env) <= 2, "{entries} entries, session {session}: {} logs", logs(&env));
        }
    }
}

#[test]
fn what_a_killed_process_left_in_a_small_log_stays_there_and_a_new_file_makes_it_durable() {
    for (seed, writes) in (0..40).flat_map(|seed| [(seed, true), (seed, false)]) {
        let mode = if seed % 2 == 0 { Mode::Ext4Ordered } else { Mode::StrictPosix };
        let mut env = SimulatedEnv::new(seed, mode);
        let killed = open_with_buffer(&env, DIRECTORY, 64 << 10);
        killed.put(b"before", b"value", &WriteOptions::default()).unwrap();
        env.kill_process();

        let db = open_with_buffer(&env, DIRECTORY, 64 << 10);
        let before = env.counts();
        if writes {
            db.put(b"after", b"value", &SYNCED).unwrap();
        } else {
            db.close().unwrap();
        }
        let counts = env.counts().since(&before);
        assert!(counts.of(CallKind::Replace) > 0);
        let other_syncs = syncs(&counts) - counts.of(CallKind::Replace);
        assert_eq!(other_syncs, u64::from(writes), "of the new log, whose name is durable then");
        assert_eq!(tables(&env), 0);
        env.cut_power();

        let db = open_with_buffer(&env, DIRECTORY, 64 << 10);
        for key in [b"before".as_slice(), b"after"].into_iter().take(1 + usize::from(writes)) {
            assert!(db.get(key, &ReadOptions::default()).unwrap().is_some(), "seed {seed}: {key:?}");
        }
    }
}

#[test]
fn what_is_found_in_a_log_for_the_second_time_is_flushed() {
    let mut env = SimulatedEnv::new(1, Mode::Ext4Ordered);
    let killed = open(&env, DIRECTORY);
    killed.put(b"key", b"value", &SYNCED).unwrap();
    env.kill_process();
    for expected in [0, 1] {
        open(&env, DIRECTORY).close().unwrap();
        assert_eq!(tables(&env), expected);
    }
}

const LOGGED: [(&str, &str); 4] = [("b", "logged"), ("c", "logged"), ("d", "logged"), ("e", "logged")];

fn log_of_leveldb() -> Vec<u8> {
    leveldb_files::log(3, &LOGGED)
}

/// A database as LevelDB leaves it, with a table, which has the sequences 1 and 2, and logs. After a compaction, its
/// MANIFEST records the sequence that was the last one then.
fn write_database_of_leveldb(env: &SimulatedEnv, last_sequence: u64, logs: &[Vec<u8>]) {
    let directory = Path::new(DIRECTORY);
    let versions: [Version<'_>; 2] = [(b"a", 1, Some(b"in the table")), (b"b", 2, Some(b"in the table"))];
    let (table, entry) = leveldb_files::table(5, &versions);
    leveldb_files::write_database(env, directory, last_sequence, vec![(0, table, entry)]);
    for (number, log) in (1000..).zip(logs) {
        leveldb_files::write(env, &directory.join(file_name::log_name(number)), log);
    }
}

fn assert_holds_what_leveldb_logged(db: &Db) {
    let found = [b"a", b"b", b"c", b"d", b"e"].map(|key| db.get(key, &ReadOptions::default()).unwrap());
    let expected = [&b"in the table"[..], b"logged", b"logged", b"logged", b"logged"];
    assert_eq!(found, expected.map(|value| Some(value.to_vec())));
}

/// Some records of the logs that goleveldb reads, by their first sequences, that it skips because they are not above
/// the last sequence in the MANIFEST.
fn skipped_by_goleveldb(env: &SimulatedEnv) -> Vec<u64> {
    let directory = Path::new(DIRECTORY);
    let records = |name: &str| {
        let contents = env.read_file(&directory.join(name)).unwrap();
        let mut reader = LogReader::new(&contents[..]);
        let mut records = Vec::new();
        while let LogEvent::Record { payload, .. } = reader.next().unwrap() {
            records.push(payload.to_vec());
        }
        records
    };
    let manifest = current::decode(&env.read_file(&directory.join(file_name::CURRENT)).unwrap()).unwrap();
    let edits = records(&file_name::manifest_name(manifest));
    let edits: Vec<_> = edits.iter().map(|edit| VersionEdit::decode(edit).unwrap()).collect();
    let first_log = edits.iter().filter_map(|edit| edit.log_number).next_back().unwrap();
    let last_sequence = edits.iter().filter_map(|edit| edit.last_sequence).next_back().unwrap();
    let names = env.list(directory).unwrap();
    let is_read =
        |name: &&String| matches!(file_name::parse(name), Some(FileKind::Log(number)) if number >= first_log);
    let logged = names.iter().filter(is_read).flat_map(|name| records(name));
    let sequences = logged.map(|record| BatchRef::parse(&record).unwrap().sequence());
    sequences.filter(|sequence| *sequence <= last_sequence).collect()
}

#[test]
fn goleveldb_finds_what_leveldb_logged_when_the_session_after_it_was_killed_early() {
    let mut env = SimulatedEnv::new(1, Mode::Ext4Ordered);
    write_database_of_leveldb(&env, 5, &[log_of_leveldb()]);
    assert_eq!(skipped_by_goleveldb(&env), [3]);
    let db = open(&env, DIRECTORY);
    db.put(b"f", b"ours", &WriteOptions::default()).unwrap();
    env.kill_process();
    assert_eq!(skipped_by_goleveldb(&env), [0; 0]);
    assert_holds_what_leveldb_logged(&open(&env, DIRECTORY));
}

/// The second session used to find a MANIFEST of this engine over another engine's log, and set the log aside as one
/// with a hole.
#[test]
fn what_leveldb_logged_around_a_write_that_failed_is_there_whenever_the_session_after_it_is_killed() {
    use CallKind::{Create, CreateLog, Remove, Replace, Sync, SyncDirectory, Write};
    let (before, after) = LOGGED.split_at(2);
    let one_log = [leveldb_files::log(3, before), leveldb_files::log(6, after)].concat();
    let two_logs = [leveldb_files::log(3, before), leveldb_files::log(6, after)];
    for logs in [&[one_log][..], &two_logs] {
        let kinds = [Create, CreateLog, Write, Sync, SyncDirectory, Replace, Remove].into_iter();
        for (kind, call) in kinds.flat_map(|kind| (1..8).map(move |call| (kind, call))) {
            let mut env = SimulatedEnv::new(1, Mode::Ext4Ordered);
            write_database_of_leveldb(&env, 2, logs);
            env.fail_at(FaultPlan::new(call, Failure::Io).of(kind));
            let killed = Db::open(DIRECTORY, options(&env));
            env.kill_process();
            drop(killed);
            for session in 0..2 {
                let db = open(&env, DIRECTORY);
                assert!(db.left_out_logs().is_empty(), "{kind:?} {call}, session {session}");
                assert_holds_what_leveldb_logged(&db);
                env.kill_process();
            }
        }
    }
}

#[test]
fn a_log_of_leveldb_that_begins_after_a_write_that_failed_is_no_log_with_a_hole() {
    let mut env = SimulatedEnv::new(1, Mode::Ext4Ordered);
    write_database_of_leveldb(&env, 1, &[log_of_leveldb()]);
    for _ in 0..3 {
        let db = open(&env, DIRECTORY);
        assert!(db.left_out_logs().is_empty());
        assert_holds_what_leveldb_logged(&db);
        env.kill_process();
    }
}

#[test]
fn a_log_before_the_first_one_that_leveldb_still_needs_is_read() {
    let env = SimulatedEnv::new(1, Mode::Ext4Ordered);
    let (older, newer) = LOGGED.split_at(2);
    write_database_of_leveldb(&env, 2, &[leveldb_files::log(3, older), leveldb_files::log(5, newer)]);
    let name_previous = VersionEdit {
        log_number: Some(1001),
        previous_log_number: Some(1000),
        next_file_number: Some(1002),
        ..VersionEdit::default()
    };
    let manifest = Path::new(DIRECTORY).join(file_name::manifest_name(999));
    let mut contents = env.read_file(&manifest).unwrap();
    LogEncoder::at_offset(contents.len() as u64).encode_into(&name_previous.encode(), &mut contents);
    leveldb_files::write(&env, &manifest, &contents);
    assert_holds_what_leveldb_logged(&open(&env, DIRECTORY));
    assert_holds_what_leveldb_logged(&open(&env, DIRECTORY));
}

#[test]
fn what_a_former_database_noted_of_its_logs_does_not_count_after_an_early_kill() {
    for name in [file_name::SYNCED, file_name::FORMER_SYNCED] {
        let mut env = SimulatedEnv::new(1, Mode::Ext4Ordered);
        write_database_of_leveldb(&env, 2, &[log_of_leveldb()]);
        // One of them is the log that the next session begins.
        let lines = "001001.log 5000\n001002.log 5000\n001003.log 5000\n001004.log 5000\n001005.log 5000\n";
        let stale = format!("{lines}checksum {:08x}\n", crc32c(lines.as_bytes()));
        leveldb_files::write(&env, &Path::new(DIRECTORY).join(name), stale.as_bytes());
        env.fail_at(FaultPlan::new(1, Failure::Io).of(CallKind::Create).on(file_name::SYNCED));
        let db = open(&env, DIRECTORY);
        assert!(env.has_failed());
        db.put(b"f", b"ours", &WriteOptions::default()).unwrap();
        env.kill_process();
        assert_holds_what_leveldb_logged(&open(&env, DIRECTORY));
    }
}

/// What an earlier version of Terrace noted under another name counts, until the new file is written, whenever a session dies.
#[test]
fn what_an_earlier_version_noted_of_its_logs_counts_and_moves_to_the_new_name() {
    let [synced, former] =
        [file_name::SYNCED, file_name::FORMER_SYNCED].map(|name| Path::new(DIRECTORY).join(name));
    for fails in [false, true] {
        let mut env = SimulatedEnv::new(1, Mode::Ext4Ordered);
        let db = open(&env, DIRECTORY);
        db.put(b"key", b"value", &SYNCED).unwrap();
        db.put(b"next", b"value", &SYNCED).unwrap();
        db.close().unwrap();
        env.rename(&synced, &former).unwrap();
        env.sync_directory(DIRECTORY.as_ref()).unwrap();

        let log =
            env.list(DIRECTORY.as_ref()).unwrap().into_iter().find(|name| name.ends_with(".log")).unwrap();
        let log = Path::new(DIRECTORY).join(log);
        let contents = env.read_file(&log).unwrap();
        leveldb_files::write(&env, &log, &contents[..contents.len() - 1]);
        let error = Db::open(DIRECTORY, options(&env)).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "the log was synced as a whole: {error}");
        leveldb_files::write(&env, &log, &contents);

        if fails {
            env.fail_at(
                FaultPlan::new(1, Failure::NoSpace).of(CallKind::Create).on(file_name::SYNCED).lasting(),
            );
        }
        let db = open(&env, DIRECTORY);
        assert_eq!((env.exists(&synced).unwrap(), env.exists(&former).unwrap()), (!fails, fails));
        assert_eq!(db.get(b"next", &ReadOptions::default()).unwrap(), Some(b"value".to_vec()));
        env.kill_process();
        env.heal();
        let db = open(&env, DIRECTORY);
        assert_eq!((env.exists(&synced).unwrap(), env.exists(&former).unwrap()), (true, false));
        assert_eq!(db.get(b"next", &ReadOptions::default()).unwrap(), Some(b"value".to_vec()));
    }
}

#[test]
fn a_database_of_leveldb_on_a_full_disk_is_refused_and_opens_when_there_is_room() {
    use CallKind::{Create, Sync, Write};
    let of_table = [Create, Write, Sync].map(|kind| (kind, ".ldb"));
    let of_manifest = [Create, Write, Sync].map(|kind| (kind, "MANIFEST"));
    for (kind, file) in of_table.into_iter().chain(of_manifest) {
        let env = SimulatedEnv::new(1, Mode::Ext4Ordered);
        write_database_of_leveldb(&env, 5, &[log_of_leveldb()]);
        for _ in 0..3 {
            env.fail_at(FaultPlan::new(1, Failure::NoSpace).of(kind).on(file));
            let error = Db::open(DIRECTORY, options(&env)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DiskFull, "{kind:?} {file}: {error}");
            assert_eq!(skipped_by_goleveldb(&env), [3], "it is as LevelDB left it");
            let read_only = Options { read_only: true, ..options(&env) };
            assert_holds_what_leveldb_logged(&Db::open(DIRECTORY, read_only).unwrap());
        }
        let db = open(&env, DIRECTORY);
        assert_holds_what_leveldb_logged(&db);
        assert_eq!(logs(&env), 1, "the refused opens leave nothing");
        db.close().unwrap();
    }
}

#[test]
fn what_is_in_a_kept_log_that_cannot_be_replaced_is_flushed() {
    for seed in 0..20 {
        let mut env = SimulatedEnv::new(seed, Mode::StrictPosix);
        let killed = open(&env, DIRECTORY);
        killed.put(b"before", b"value", &WriteOptions::default()).unwrap();
        env.kill_process();

        let db = open(&env, DIRECTORY);
        // To create, write, sync and rename the new file, and to sync the directory.
        env.fail_at(FaultPlan::new(1 + seed % 5, Failure::Io).of(CallKind::Replace));
        db.put(b"after", b"value", &SYNCED).unwrap();
        assert!(env.has_failed());
        assert_eq!(tables(&env), 1);
        env.cut_power();

        let db = open(&env, DIRECTORY);
        for key in [b"before".as_slice(), b"after"] {
            assert!(db.get(key, &ReadOptions::default()).unwrap().is_some(), "seed {seed}: {key:?}");
        }
    }
}

#[test]
fn what_an_open_made_durable_is_not_synced_again() {
    let env = SimulatedEnv::new(1, Mode::StrictPosix);
    let db = open(&env, DIRECTORY);
    let before = env.counts();
    db.put(b"key", b"value", &SYNCED).unwrap();
    let counts = env.counts().since(&before);
    assert_eq!(
        (syncs(&counts), counts.of(CallKind::SyncLog)),
        (1, 1),
        "the name of the first log is durable"
    );

    let other = open(&env, "/data/other");
    let before = env.counts();
    other.close().unwrap();
    assert_eq!(syncs(&env.counts().since(&before)), 0);
}

/// Sessions that continue in each other's MANIFEST, each ended by a close, a kill or a loss of power.
#[test]
fn what_was_synced_in_any_session_survives_a_power_cut_in_a_later_one() {
    let mut went_on = 0;
    for seed in 0..60 {
        let mode = if seed % 2 == 0 { Mode::Ext4Ordered } else { Mode::StrictPosix };
        let mut env = SimulatedEnv::new(seed, mode);
        let mut synced: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        let mut latest = synced.clone();
        for session in 0..8u64 {
            let before = env.counts();
            let db = open(&env, DIRECTORY);
            went_on += u32::from(session > 0 && syncs(&env.counts().since(&before)) == 0);
            for (key, value) in &synced {
                let found = db.get(key, &ReadOptions::default()).unwrap();
                assert!(
                    found.as_ref() >= Some(value),
                    "seed {seed}, session {session}: {found:?} for {value:?}"
                );
            }
            let mut random = (seed << 8 | session).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            for number in 0..random % 60 {
                random ^= random >> 29;
                random = random.wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let key = format!("key {:02}", random % 40).into_bytes();
                let value = format!("{session:02} {number:02} {:>100}", "").into_bytes();
                let sync = random % 5 == 0;
                db.put(&key, &value, &WriteOptions { sync }).unwrap();
                latest.insert(key, value);
                if sync {
                    synced = latest.clone();
                }
                if random % 23 == 0 {
                    db.flush().unwrap();
                    synced = latest.clone();
                }
            }
            match random % 4 {
                0 => env.kill_process(),
                1 => drop(env.cut_power()),
                _ => {
                    db.close().unwrap();
                    synced = latest.clone();
                }
            }
            if random % 4 == 1 {
                latest = synced.clone();
            }
        }
    }
    assert!(went_on > 100, "{went_on} sessions went on in the MANIFEST of the one before");
}

/// A copy as `cp -r` makes it: nothing of it is on the disk.
#[test]
fn a_synced_write_to_a_copy_of_a_closed_database_survives_a_power_cut() {
    for seed in 0..50 {
        let mut env = SimulatedEnv::new(seed, Mode::Ext4Ordered);
        let db = open(&env, DIRECTORY);
        db.put(b"before", b"value", &WriteOptions::default()).unwrap();
        db.close().unwrap();
        env.create_directory_all(Path::new("/data/copy")).unwrap();
        for name in env.list(Path::new(DIRECTORY)).unwrap() {
            let contents = env.read_file(&Path::new(DIRECTORY).join(&name)).unwrap();
            let mut file = env.create(&Path::new("/data/copy").join(&name)).unwrap();
            file.append(&contents).unwrap();
            file.close().unwrap();
        }

        open(&env, "/data/copy").put(b"after", b"value", &SYNCED).unwrap();
        env.cut_power();

        let db = open(&env, "/data/copy");
        for key in [b"before".as_slice(), b"after"] {
            assert!(db.get(key, &ReadOptions::default()).unwrap().is_some(), "seed {seed}");
        }
    }
}
