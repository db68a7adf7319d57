//! Opening: what it refuses, what it repairs automatically, and what it leaves in the directory.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::support::{entries, get, memory, put, tiny};
use terrace_engine::env::Env;
use terrace_engine::{Comparator, Db, ErrorKind, IterOptions, Options, UserComparator, WriteOptions};
use terrace_format::file_name;

fn kind_of(result: terrace_engine::Result<Db>) -> ErrorKind {
    result.map(|_| ()).unwrap_err().kind()
}

fn write_file(env: &dyn Env, path: &str, contents: &[u8]) {
    let mut file = env.create(Path::new(path)).unwrap();
    file.append(contents).unwrap();
    file.close().unwrap();
}

fn names(env: &dyn Env, ending: &str) -> Vec<String> {
    let mut names = env.list(Path::new("/db")).unwrap();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    names
}

#[test]
fn create_and_exists_options_are_obeyed() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let options = Options { create_if_missing: false, ..Options::default() };
    assert_eq!(kind_of(Db::open(&missing, options.clone())), ErrorKind::NoDatabase);
    assert!(!missing.exists(), "a refused open leaves nothing behind");
    assert_eq!(kind_of(Db::open(directory.path(), options)), ErrorKind::NoDatabase);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);

    drop(Db::open(&missing, Options::default()).unwrap());
    let options = Options { error_if_exists: true, ..Options::default() };
    assert_eq!(kind_of(Db::open(&missing, options)), ErrorKind::AlreadyExists);
    let options = Options { read_only: true, ..Options::default() };
    assert_eq!(kind_of(Db::open(directory.path().join("none"), options)), ErrorKind::NoDatabase);
}

#[test]
fn a_second_open_is_refused_and_says_who_holds_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let db = Db::open(directory.path(), Options::default()).unwrap();
    let error = Db::open(directory.path(), Options::default()).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert!(error.to_string().contains("this process"), "{error}");
    db.close().unwrap();
    Db::open(directory.path(), Options::default()).unwrap();
}

#[test]
fn another_comparator_is_refused() {
    let env = memory();
    drop(Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap());
    let comparator = UserComparator::by_name("idb_cmp1").unwrap();
    let error = Db::open("/db", Options { env, comparator, ..Options::default() }).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let text = error.to_string();
    let leveldbs = "leveldb.BytewiseComparator does not match existing comparator : idb_cmp1";
    assert!(text.starts_with(leveldbs), "{text}");
}

/// The bytewise order under a name that is not UTF-8.
#[derive(Debug)]
struct Unprintable;

const UNPRINTABLE: &[u8] = b"order \xff\xfe\x80";

impl Comparator for Unprintable {
    fn name(&self) -> &[u8] {
        UNPRINTABLE
    }
    fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        a.cmp(b)
    }
    fn find_shortest_separator(&self, _: &mut Vec<u8>, _: &[u8]) {}
    fn find_short_successor(&self, _: &mut Vec<u8>) {}
}

#[test]
fn a_comparator_whose_name_is_not_utf8_works_as_any_other() {
    let env = memory();
    let plain = Options { env: Arc::clone(&env), ..Options::default() };
    let options = Options { comparator: UserComparator::Custom(Arc::new(Unprintable)), ..plain.clone() };
    for round in 0..3 {
        let db = Db::open("/db", options.clone()).unwrap();
        put(&db, &format!("key {round}"), "value");
        db.compact_range(None, None).unwrap();
        assert_eq!(entries(&db, IterOptions::default()).len(), round + 1);
    }
    assert!(Db::repair("/db", &options).unwrap().nothing_lost());
    assert_eq!(entries(&Db::open("/db", options).unwrap(), IterOptions::default()).len(), 3);
    let refused = [
        Db::open("/db", plain.clone()).map(drop).unwrap_err(),
        Db::open("/db", Options { read_only: true, ..plain.clone() }).map(drop).unwrap_err(),
        Db::repair("/db", &plain).map(drop).unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        let text = error.to_string();
        let leveldbs =
            "order \\xff\\xfe\\x80 does not match existing comparator : leveldb.BytewiseComparator";
        assert!(text.starts_with(leveldbs), "{text}");
    }
}

#[test]
fn a_missing_current_is_not_taken_for_an_empty_directory() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    put(&db, "k", "v");
    drop(db);
    env.remove_file(Path::new("/db/CURRENT")).unwrap();
    let before = names(&*env, "");
    let error = Db::open("/db", tiny(Arc::clone(&env))).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains("CURRENT"), "{error}");
    let after: Vec<String> = names(&*env, "").into_iter().filter(|name| name != "LOCK").collect();
    assert_eq!(after, before.into_iter().filter(|name| name != "LOCK").collect::<Vec<_>>());
}

#[test]
fn a_damaged_current_or_manifest_is_reported_with_its_file() {
    for (contents, expected) in [
        (&b""[..], "CURRENT"),
        (b"MANIFEST-000002", "CURRENT"),
        (b"nonsense\n", "CURRENT"),
        (b"MANIFEST-099999\n", "MANIFEST-099999"),
    ] {
        let env = memory();
        drop(Db::open("/db", tiny(Arc::clone(&env))).unwrap());
        write_file(&*env, "/db/CURRENT", contents);
        let error = Db::open("/db", tiny(env)).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_missing_table_is_reported_by_name() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    for index in 0..1000 {
        put(&db, &format!("{index}"), "v");
    }
    db.flush().unwrap();
    drop(db);
    let table = names(&*env, ".ldb").remove(0);
    env.remove_file(&Path::new("/db").join(&table)).unwrap();
    let error = Db::open("/db", tiny(env)).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains(&table), "{error}");
}

/// Removes what a close records about how far it has synced. The directory is then as after a kill.
fn forget_the_close(env: &dyn Env) {
    env.remove_file(&Path::new("/db").join(file_name::SYNCED)).unwrap();
}

#[test]
fn a_torn_log_keeps_what_is_whole() {
    let env = memory();
    let db = Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
    for index in 0..10 {
        put(&db, &format!("{index}"), "value");
    }
    drop(db);
    let log = format!("/db/{}", names(&*env, ".log").pop().unwrap());
    let whole = env.read_file(Path::new(&log)).unwrap();
    for (cut, expected) in [(1, 9), (whole.len() / 10 - 1, 9), (whole.len() / 10, 9), (whole.len(), 0)] {
        let copy = memory();
        copy.create_directory_all(Path::new("/db")).unwrap();
        for name in env.list(Path::new("/db")).unwrap() {
            let path = format!("/db/{name}");
            write_file(&*copy, &path, &env.read_file(Path::new(&path)).unwrap());
        }
        write_file(&*copy, &log, &whole[..whole.len() - cut]);
        assert_is_refused(&copy, &log, Some(expected * (whole.len() / 10)));
        forget_the_close(&*copy);
        let db = Db::open("/db", Options { env: copy, paranoid_checks: true, ..Options::default() }).unwrap();
        assert_eq!(entries(&db, IterOptions::default()).len(), expected, "cut {cut}");
    }
}

#[test]
fn a_log_record_may_be_cut_off_between_two_fragments() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    put(&db, "before", "kept");
    put(&db, "large", &"x".repeat(100_000));
    let path = format!("/db/{}", names(&*env, ".log").pop().unwrap());
    let log = env.read_file(Path::new(&path)).unwrap();
    drop(db);
    let whole = [32 << 10, 64 << 10, 96 << 10];
    for size_bytes in whole {
        let env = memory();
        drop(Db::open("/db", tiny(Arc::clone(&env))).unwrap());
        let path = format!("/db/{}", names(&*env, ".log").pop().unwrap());
        write_file(&*env, &path, &log[..size_bytes]);
        let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
        assert_eq!((get(&db, "before").as_deref(), get(&db, "large")), (Some("kept"), None));
    }
}

#[test]
fn damage_within_a_log_is_reported_and_nothing_is_changed() {
    let env = memory();
    let db = Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
    for index in 0..10 {
        // One record in each log block, so that records after the damaged one can be read.
        db.put(&[index], &[index; 30_000], &WriteOptions::default()).unwrap();
    }
    drop(db);
    let log = format!("/db/{}", names(&*env, ".log").pop().unwrap());
    let mut bytes = env.read_file(Path::new(&log)).unwrap();
    bytes[100_000] ^= 1;
    write_file(&*env, &log, &bytes);
    for paranoid_checks in [false, true] {
        let options = Options { env: Arc::clone(&env), paranoid_checks, ..Options::default() };
        let error = Db::open("/db", options).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert!(error.to_string().contains(".log") && error.offset().is_some(), "{error}");
    }
    assert_eq!(env.read_file(Path::new(&log)).unwrap(), bytes);
}

/// A database of ten small records in one log, with the path and the contents of the log.
fn ten_records() -> (Arc<dyn Env>, String, Vec<u8>) {
    let env = memory();
    let db = Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
    for index in 0..10 {
        put(&db, &format!("{index}"), "value");
    }
    db.close().unwrap();
    let log = format!("/db/{}", names(&*env, ".log").pop().unwrap());
    let bytes = env.read_file(Path::new(&log)).unwrap();
    (env, log, bytes)
}

fn assert_is_refused(env: &Arc<dyn Env>, path: &str, offset: Option<usize>) {
    for read_only in [true, false] {
        let options = Options { env: Arc::clone(env), read_only, ..Options::default() };
        let error = Db::open("/db", options).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        assert_eq!(error.path().unwrap(), Path::new(path), "{error}");
        assert_eq!(error.offset(), offset.map(|offset| offset as u64), "{error}");
    }
}

#[test]
fn a_damaged_length_does_not_hide_the_log_records_after_it() {
    let (env, log, whole) = ten_records();
    let size = whole.len() / 10;
    // The last record has none after it, but is whole.
    for record in [0, 4, 9] {
        let mut damaged = whole.clone();
        damaged[record * size + 5] ^= 0x40;
        write_file(&*env, &log, &damaged);
        assert_is_refused(&env, &log, Some(record * size));
    }
}

#[test]
fn zeros_over_a_header_do_not_hide_the_log_records_after_it() {
    let (env, log, whole) = ten_records();
    let size = whole.len() / 10;
    for record in [0, 4, 9] {
        let mut damaged = whole.clone();
        damaged[record * size..record * size + 7].fill(0);
        write_file(&*env, &log, &damaged);
        assert_is_refused(&env, &log, Some(record * size));
    }
}

#[test]
fn a_log_whose_writer_was_killed_during_a_store_opens_with_paranoid_checks() {
    for copied in [8, 20, 1000] {
        let (env, log, mut left) = ten_records();
        // As in a mapped log: the header of the last record is stored last, and free space follows.
        let last = left.len() / 10 * 9;
        left[last..last + 8].fill(0);
        left.truncate(last + copied);
        left.resize(32 << 10, 0);
        write_file(&*env, &log, &left);
        forget_the_close(&*env);
        for read_only in [true, false] {
            let options =
                Options { env: Arc::clone(&env), paranoid_checks: true, read_only, ..Options::default() };
            let db = Db::open("/db", options).unwrap();
            assert_eq!(entries(&db, IterOptions::default()).len(), 9, "{copied} {read_only}");
        }
    }
}

#[test]
fn a_value_that_holds_a_log_may_be_torn() {
    let (env, log, inner) = ten_records();
    let db = Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
    db.flush().unwrap();
    db.put(b"backup", &inner, &WriteOptions::default()).unwrap();
    drop(db);
    let outer = format!("/db/{}", names(&*env, ".log").pop().unwrap());
    assert_ne!(outer, log);
    let whole = env.read_file(Path::new(&outer)).unwrap();
    write_file(&*env, &outer, &whole[..whole.len() - 1]);
    forget_the_close(&*env);
    let db = Db::open("/db", Options { env, ..Options::default() }).unwrap();
    assert_eq!(entries(&db, IterOptions::default()).len(), 10);
}

#[test]
fn a_missing_log_is_reported_and_not_taken_for_an_empty_one() {
    let (env, log, _) = ten_records();
    env.remove_file(Path::new(&log)).unwrap();
    assert_is_refused(&env, &log, None);
    let report = Db::repair("/db", &Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
    assert_eq!(report.logs_missing.len(), 1, "{report}");
    assert!(!report.nothing_lost(), "{report}");
    // The repaired database needs no log, and misses none when it is opened again.
    for _ in 0..3 {
        Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap().close().unwrap();
    }
}

#[test]
fn a_manifest_that_lost_its_last_edit_does_not_silently_lead_to_an_older_state() {
    let (env, ..) = ten_records();
    let db = Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
    // Until this flush the MANIFEST may be the one that was found.
    db.flush().unwrap();
    let manifest =
        format!("/db/{}", names(&*env, "").into_iter().find(|name| name.starts_with("MAN")).unwrap());
    put(&db, "key", "value");
    let before = env.read_file(Path::new(&manifest)).unwrap();
    let logs = names(&*env, ".log");
    db.flush().unwrap();
    db.close().unwrap();
    write_file(&*env, &manifest, &before);
    assert_is_refused(&env, &format!("/db/{}", logs[0]), None);
}

#[test]
fn a_read_only_open_changes_nothing_and_refuses_writes() {
    let env = memory();
    let writer = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    for index in 0..2000 {
        put(&writer, &format!("{index:05}"), "v");
    }
    let options = Options { read_only: true, ..tiny(Arc::clone(&env)) };
    let reader = Db::open("/db", options).unwrap();
    assert_eq!(entries(&reader, IterOptions::default()).len(), 2000);
    let error = reader.put(b"k", b"v", &WriteOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    for index in 0..2000 {
        put(&writer, &format!("{index:05}"), "w");
    }
    assert_eq!(get(&reader, "00007").as_deref(), Some("v"), "the view is that of the moment of opening");
    reader.close().unwrap();
    drop(writer);

    let before: Vec<_> = contents(&*env);
    let options = Options { read_only: true, ..tiny(Arc::clone(&env)) };
    drop(Db::open("/db", options).unwrap());
    assert_eq!(contents(&*env), before);
}

fn contents(env: &dyn Env) -> Vec<(String, Vec<u8>)> {
    names(env, "")
        .into_iter()
        .map(|name| (name.clone(), env.read_file(&Path::new("/db").join(name)).unwrap()))
        .collect()
}

#[test]
fn what_a_crash_left_behind_is_removed_and_other_files_stay() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    put(&db, "k", "v");
    drop(db);
    for orphan in ["/db/000777.ldb", "/db/000778.sst", "/db/000001.dbtmp", "/db/MANIFEST-000999"] {
        write_file(&*env, orphan, b"left behind");
    }
    write_file(&*env, "/db/holiday.jpg", b"not ours");
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    assert_eq!(get(&db, "k").as_deref(), Some("v"));
    let left = names(&*env, "");
    assert!(left.contains(&"holiday.jpg".to_owned()));
    assert!(
        !left.iter().any(|name| name.contains("777") || name.contains("778") || name.contains("999")),
        "{left:?}"
    );
    assert_eq!(names(&*env, ".dbtmp"), [file_name::SYNCED]);
}

#[test]
fn the_manifest_is_written_anew_at_its_size_limit() {
    let env = memory();
    let db = Db::open("/db", tiny(Arc::clone(&env))).unwrap();
    for index in 0..30_000 {
        put(&db, &format!("{:05}", index % 5000), &format!("value {index}"));
    }
    db.compact_range(None, None).unwrap();
    let manifests: Vec<String> =
        env.list(Path::new("/db")).unwrap().into_iter().filter(|name| name.starts_with("MANIFEST")).collect();
    assert_eq!(manifests.len(), 1, "{manifests:?}");
    let size = env.file_size(&Path::new("/db").join(&manifests[0])).unwrap();
    assert!(size < 64 << 10, "{size}");
    drop(db);
    let db = Db::open("/db", tiny(env)).unwrap();
    assert_eq!(entries(&db, IterOptions::default()).len(), 5000);
}

#[test]
fn a_directory_in_which_creation_was_cut_short_can_be_opened() {
    let env = memory();
    drop(Db::open("/db", tiny(Arc::clone(&env))).unwrap());
    for name in names(&*env, "").iter().filter(|name| !name.starts_with("MANIFEST")) {
        env.remove_file(&Path::new("/db").join(name)).unwrap();
    }
    let db = Db::open("/db", tiny(env)).unwrap();
    put(&db, "k", "v");
    assert_eq!(get(&db, "k").as_deref(), Some("v"));
}

#[test]
fn a_read_only_open_beside_a_busy_writer_sees_a_state_that_existed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let env = terrace_engine::env::default_env();
    let writer = Db::open(&path, tiny(Arc::clone(&env))).unwrap();
    let (done, opened) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut last = 0;
            while !done.load(Ordering::Acquire) {
                // Open tables stay readable when the writer removes them.
                let options = Options { read_only: true, max_open_files: 1000, ..tiny(Arc::clone(&env)) };
                let reader = Db::open(&path, options).unwrap();
                let found = entries(&reader, IterOptions::default());
                let value = |key: &[u8]| {
                    let value = found.iter().find(|(found, _)| found == key).map(|(_, value)| value.clone());
                    value.map(|value| u32::from_be_bytes(value.try_into().unwrap()))
                };
                assert_eq!(value(b"left"), value(b"right"));
                if let Some(round) = value(b"left") {
                    assert!(round >= last, "{round} after {last}");
                    assert_eq!(value(&(round % 500).to_be_bytes()), Some(round));
                    let before = round.saturating_sub(499);
                    assert!((before..=round).all(|round| value(&(round % 500).to_be_bytes()) == Some(round)));
                    last = round;
                }
                opened.fetch_add(1, Ordering::Relaxed);
            }
        });
        // Two keys in one batch have always equal values. A third value only grows.
        let mut round = 0u32;
        while round < 30_000 || (opened.load(Ordering::Relaxed) < 4 && !reader.is_finished()) {
            let mut batch = terrace_engine::WriteBatch::new();
            batch.put(b"left", &round.to_be_bytes()).unwrap();
            batch.put(b"right", &round.to_be_bytes()).unwrap();
            batch.put(&(round % 500).to_be_bytes(), &round.to_be_bytes()).unwrap();
            let written = writer.write(batch, &WriteOptions::default());
            done.store(written.is_err(), Ordering::Release);
            written.unwrap();
            round += 1;
        }
        done.store(true, Ordering::Release);
    });
}

#[test]
fn a_log_ends_where_a_loss_of_power_took_records_and_the_rest_is_set_aside() {
    for whole_record in [false, true] {
        let env = memory();
        let db = Db::open("/db", Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
        for index in 1..=10 {
            db.put(&[index], &[index; 30_000], &WriteOptions::default()).unwrap();
        }
        drop(db);
        let log = format!("/db/{}", names(&*env, ".log").pop().unwrap());
        let mut bytes = env.read_file(Path::new(&log)).unwrap();
        // In the fourth record: a sector in its middle, or all of it and the beginning of the next record.
        let hole = if whole_record { 90_089..120_832 } else { 100_352..100_864 };
        bytes[hole].fill(0);
        write_file(&*env, &log, &bytes);
        assert_is_refused(&env, &log, Some(if whole_record { 131_072 } else { 90_089 }));
        forget_the_close(&*env);
        let paranoid = Options { env: Arc::clone(&env), paranoid_checks: true, ..Options::default() };
        let error = Db::open("/db", paranoid).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert_eq!(error.path().unwrap(), Path::new(&log));

        // Opens again and again, with new writes that get the sequences of those after the hole.
        let options = Options { env: Arc::clone(&env), ..Options::default() };
        let reader = Db::open("/db", Options { read_only: true, ..options.clone() }).unwrap();
        assert_eq!(reader.verify().unwrap_err().path().unwrap(), Path::new(&log), "verify tells beforehand");
        for session in 0..3 {
            let db = Db::open("/db", options.clone()).unwrap();
            assert_eq!(entries(&db, IterOptions::default()).len(), 3 + session, "{whole_record}");
            assert_eq!(
                db.left_out_logs().first().map(|left_out| left_out.bytes > 100_000),
                (session == 0).then_some(true)
            );
            assert_eq!(db.property("terrace.left-out-log-bytes").unwrap() != "0", session == 0);
            db.put(&[100 + session as u8], b"new", &WriteOptions::default()).unwrap();
        }
        let lost = Path::new("/db/lost").join(log.rsplit('/').next().unwrap());
        assert_eq!(env.read_file(&lost).unwrap(), bytes);
    }
}
