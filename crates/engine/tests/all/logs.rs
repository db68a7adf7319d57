//! Tests damaged and cut-off logs with values that make them hard to judge: zeros, and images of logs.

use std::path::Path;
use std::sync::{Arc, mpsc};

use crate::support::{entries, memory};
use terrace_engine::env::conformance::HANGS_AFTER;
use terrace_engine::env::{Env, MemoryEnv};
use terrace_engine::{Db, Error, ErrorKind, IterOptions, Options, WriteBatch, WriteOptions};
use terrace_format::file_name;

fn options(env: &Arc<dyn Env>) -> Options {
    Options { env: Arc::clone(env), ..Options::default() }
}

fn put(db: &Db, key: &str, value: &[u8]) {
    db.put(key.as_bytes(), value, &WriteOptions { sync: true }).unwrap();
}

fn keys(db: &Db) -> Vec<Vec<u8>> {
    entries(db, IterOptions::default()).into_iter().map(|(key, _)| key).collect()
}

/// The files of a directory, for copying into others.
#[derive(Clone)]
struct Image(Vec<(String, Vec<u8>)>);

impl Image {
    fn of(env: &dyn Env) -> Self {
        let names = env.list(Path::new("/db")).unwrap();
        Self(names.into_iter().map(|name| (name.clone(), env.read_file(&path(&name)).unwrap())).collect())
    }

    fn log(&mut self) -> &mut Vec<u8> {
        let logs = self.0.iter_mut().filter(|(name, _)| name.ends_with(".log"));
        &mut logs.max_by_key(|(_, bytes)| bytes.len()).unwrap().1
    }

    /// Removes the note of how far the log was synced, as if the process had been killed.
    fn forget_the_close(&mut self) {
        self.0.retain(|(name, _)| name != file_name::SYNCED);
    }

    fn place(&self) -> Arc<dyn Env> {
        let env = memory();
        env.create_directory_all(Path::new("/db")).unwrap();
        for (name, bytes) in &self.0 {
            let mut file = env.create(&path(name)).unwrap();
            file.append(bytes).unwrap();
            file.close().unwrap();
        }
        env
    }
}

fn path(name: &str) -> std::path::PathBuf {
    Path::new("/db").join(name)
}

#[test]
fn a_flipped_bit_in_a_log_of_zeros_is_never_taken_for_a_loss_of_power() {
    let env = memory();
    let db = Db::open("/db", options(&env)).unwrap();
    for index in 0..200 {
        put(&db, &format!("{index:04}"), &[0; 1500]);
    }
    db.close().unwrap();
    let closed = Image::of(&*env);
    let mut killed = Image::of(&*env);
    killed.forget_the_close();
    for mut image in [closed, killed] {
        let sound = image.log().clone();
        for at in (0..sound.len()).step_by(997).chain(45_000..45_030) {
            *image.log() = sound.clone();
            image.log()[at] ^= 1 << (at % 8);
            let error = Db::open("/db", options(&image.place())).map(|_| ()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corruption, "byte {at}: {error}");
        }
    }
}

#[test]
fn a_damaged_value_that_looks_like_log_headers_opens_and_repairs_in_no_time() {
    // Each place looks like the header of a first fragment of nearly a block. Looking for records took quadratic time.
    let value = [0xff, 0xff, 1].repeat(3 << 20);
    let env = memory();
    let db = Db::open("/db", options(&env)).unwrap();
    put(&db, "before", b"kept");
    put(&db, "large", &value);
    put(&db, "after", b"kept");
    let mut killed = Image::of(&*env);
    db.close().unwrap();
    let mut closed = Image::of(&*env);
    let end = closed.log().len();
    let (checked, checks) = mpsc::channel();
    let opens_and_repairs = std::thread::spawn(move || {
        for image in [&mut closed, &mut killed] {
            let sound = image.log().clone();
            for at in [100, 40_000, 5 << 20, end - 200, end - 5] {
                *image.log() = sound.clone();
                image.log()[at] ^= 0x10;
                let env = image.place();
                let opened = Db::open("/db", options(&env)).map(|_| ());
                assert_eq!(opened.unwrap_err().kind(), ErrorKind::Corruption);
                Db::repair("/db", &options(&env)).unwrap();
                let found = keys(&Db::open("/db", options(&env)).unwrap());
                assert!(found.contains(&b"before".to_vec()) && found.len() == 2, "byte {at}: {found:?}");
            }
        }
        let _ = checked.send(());
    });
    // All this took many minutes when the time was quadratic.
    match checks.recv_timeout(HANGS_AFTER) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("looking for records takes as good as for ever"),
        _ => opens_and_repairs.join().unwrap(),
    }
}

#[test]
fn a_log_that_its_close_had_cut_and_the_power_cut_makes_longer_again_costs_no_later_write() {
    // Without threads, what the second open finds in the first log is not flushed before the log is examined.
    let env: Arc<dyn Env> = Arc::new(MemoryEnv::with_steps());
    let open = || Db::open("/db", Options { idle_after_ms: 0, ..options(&env) }).unwrap();
    let db = open();
    put(&db, "first", b"1");
    db.close().unwrap();
    let first_log = Image::of(&*env).log().clone();
    let db = open();
    db.put(b"second", b"2", &WriteOptions::default()).unwrap();
    let mut image = Image::of(&*env);
    let logs = image.0.iter_mut().filter(|(name, bytes)| name.ends_with(".log") && !bytes.is_empty());
    let [earlier, _] = &mut logs.collect::<Vec<_>>()[..] else { panic!("two logs hold records") };
    assert_eq!(earlier.1, first_log);
    // The end of a record whose header was never stored; it was cut off with the rest of its block.
    earlier.1.resize(32 << 10, 0);
    earlier.1[1000..5000].fill(7);
    for keeps_word in [true, false] {
        if !keeps_word {
            image.forget_the_close();
        }
        let db = Db::open("/db", options(&image.place())).unwrap();
        assert_eq!(keys(&db), [b"first".to_vec(), b"second".to_vec()]);
        assert!(db.left_out_logs().is_empty());
    }
}

#[test]
fn a_record_put_in_the_place_of_another_is_no_loss_of_power() {
    let env = memory();
    let db = Db::open("/db", options(&env)).unwrap();
    for index in 0..9 {
        put(&db, &format!("{index}"), &[1; 100]);
    }
    let mut image = Image::of(&*env);
    let size = image.log().iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let record = size / 9;
    for (from, to) in [(0, 5), (8, 2), (3, 4)] {
        let mut image = image.clone();
        image.log().copy_within(from * record..(from + 1) * record, to * record);
        let error = Db::open("/db", options(&image.place())).map(|_| ()).unwrap_err();
        assert_eq!(
            (error.kind(), error.offset()),
            (ErrorKind::Corruption, Some((to * record) as u64)),
            "{error}"
        );
    }
}

#[test]
fn a_header_that_lies_across_a_lost_sector_is_a_loss_of_power() {
    let env = memory();
    let db = Db::open("/db", options(&env)).unwrap();
    // A record of one put has 7 + 12 + 2 + 4 + 2 bytes besides its value.
    put(&db, "kept", &[1; 511 - 27]);
    let mut image = Image::of(&*env);
    assert_eq!(image.log().iter().rposition(|byte| *byte != 0).unwrap() + 1, 511);
    put(&db, "lost", &[2; 200]);
    let mut after = Image::of(&*env);
    image.log().resize(511, 0);
    let first_byte = after.log()[511];
    assert_ne!(first_byte, 0);
    image.log().push(first_byte);
    image.log().resize(730, 0);
    let db = Db::open("/db", options(&image.place())).unwrap();
    assert_eq!(keys(&db), [b"kept".to_vec()]);
    assert!(!db.left_out_logs().is_empty());
}

#[test]
fn word_of_a_synced_log_does_not_outlive_the_database() {
    let env = memory();
    let db = Db::open("/db", options(&env)).unwrap();
    for index in 0..50 {
        put(&db, &format!("{index:04}"), &[1; 1500]);
    }
    db.close().unwrap();
    assert!(env.list(Path::new("/db")).unwrap().contains(&file_name::SYNCED.to_owned()));
    // Acts as LevelDB's destroy does after an earlier version of Terrace: it leaves files that it does not know.
    env.rename(&path(file_name::SYNCED), &path(file_name::FORMER_SYNCED)).unwrap();
    for name in env.list(Path::new("/db")).unwrap().iter().filter(|name| *name != file_name::FORMER_SYNCED) {
        env.remove_file(&path(name)).unwrap();
    }
    let db = Db::open("/db", options(&env)).unwrap();
    put(&db, "new", b"new");
    let killed = Image::of(&*env);
    let reopened = Db::open("/db", options(&killed.place())).unwrap();
    assert_eq!(keys(&reopened), [b"new"]);
}

/// A log whose records have ascending sequences from 1.
fn stored_log() -> Vec<u8> {
    let env = memory();
    let db = Db::open("/db", options(&env)).unwrap();
    for index in 0..400 {
        put(&db, &format!("inner {index}"), &[b'i'; 300]);
    }
    db.close().unwrap();
    std::mem::take(Image::of(&*env).log())
}

#[test]
fn a_log_cut_anywhere_in_a_record_that_holds_a_log_opens_and_repair_creates_nothing() {
    let env = memory();
    let db = Db::open("/db", options(&env)).unwrap();
    put(&db, "before", b"kept");
    let mut image = Image::of(&*env);
    let start = image.log().len();
    put(&db, "large", &stored_log());
    db.close().unwrap();
    let whole = Image::of(&*env).log().clone();
    image.forget_the_close();
    assert!(whole.len() > 100_000);
    let check = |image: &Image, what: &str| {
        let paranoid = Options { paranoid_checks: true, ..options(&image.place()) };
        let db = Db::open("/db", paranoid).unwrap_or_else(|error: Error| panic!("{what}: {error}"));
        assert_eq!(keys(&db), [b"before"], "{what}");
        let env = image.place();
        let report = Db::repair("/db", &options(&env)).unwrap();
        assert_eq!(keys(&Db::open("/db", options(&env)).unwrap()), [b"before"], "{what}: {report}");
    };
    for cut in (start + 1..whole.len()).step_by(331).chain([32 << 10, 64 << 10, (64 << 10) + 3]) {
        *image.log() = whole[..cut].to_vec();
        check(&image, &format!("cut at {cut}"));
    }
    // A mapped log looks like this if its process dies before it stores the header of the first fragment.
    for stored in [32 << 10, 20_000, 3_000, 300] {
        *image.log() = whole[..stored].to_vec();
        image.log().resize(32 << 10, 0);
        image.log()[start..start + 8].fill(0);
        check(&image, &format!("without header, {stored} bytes stored"));
    }
}

/// Logs in which one of three records of a killed database has a damaged header, or damaged lengths inside and outside
/// its batch. Returns what was damaged, and the log. Nothing in it is sound from there on.
fn logs_with_damaged_lengths() -> Vec<(String, Image)> {
    let env = memory();
    let db = Db::open("/db", options(&env)).unwrap();
    let mut starts = Vec::new();
    for index in 0..3 {
        starts.push(Image::of(&*env).log().len());
        put(&db, &format!("{index}"), &[b'v'; 200]);
    }
    let killed = Image::of(&*env);
    // A header of 7 bytes, the batch's header of 12, then the kind, the key with its length, and the value's length in
    // two bytes.
    let value_length = 7 + 12 + 1 + 2;
    let damages: [(&str, &[(usize, u8)]); 4] = [
        ("the lengths of record and value are damaged", &[(5, 0x10), (value_length + 1, 0x7f)]),
        ("the record's length leads beyond its block", &[(4, 0xff), (5, 0xff), (value_length + 1, 0x7f)]),
        (
            "the record is said to go on, and not to fill its block",
            &[(5, 0x10), (6, 2), (value_length + 1, 0x7f)],
        ),
        ("the record's length and the key's are damaged", &[(5, 0x10), (7 + 12 + 1, 0xff)]),
    ];
    let mut logs = Vec::new();
    for (index, start) in starts.into_iter().enumerate() {
        for (what, bytes) in damages {
            let mut image = killed.clone();
            bytes.iter().for_each(|(at, byte)| image.log()[start + at] = *byte);
            logs.push((format!("record {index}: {what}"), image));
        }
    }
    logs
}

#[test]
fn a_log_does_not_end_at_a_record_whose_lengths_are_damaged() {
    for (what, image) in logs_with_damaged_lengths() {
        let opened = Db::open("/db", options(&image.place()));
        let error = opened.map(|db| keys(&db)).expect_err(&what);
        assert_eq!(error.kind(), ErrorKind::Corruption, "{what}: {error}");
    }
}

#[test]
fn repair_does_not_take_a_record_whose_lengths_are_damaged_for_an_unfinished_one() {
    for (what, image) in logs_with_damaged_lengths() {
        let report = Db::repair("/db", &options(&image.place())).unwrap();
        assert!(!report.nothing_lost(), "{what}: {report}");
    }
}

#[test]
fn a_log_that_is_cut_off_anywhere_has_lost_nothing_that_was_acknowledged() {
    let env = memory();
    let db = Db::open("/db", options(&env)).unwrap();
    let mut batch = WriteBatch::new();
    for index in 0..20u32 {
        batch.put(&index.to_be_bytes(), &vec![b'v'; 40 * index as usize]).unwrap();
        batch.delete(b"").unwrap();
    }
    db.write(batch, &WriteOptions::default()).unwrap();
    put(&db, "second", &[b'w'; 300]);
    let mut image = Image::of(&*env);
    let whole = image.log().clone();
    for cut in 0..whole.len() {
        *image.log() = whole[..cut].to_vec();
        let paranoid = Options { paranoid_checks: true, ..options(&image.place()) };
        Db::open("/db", paranoid).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        let report = Db::repair("/db", &options(&image.place())).unwrap();
        assert!(report.nothing_lost(), "cut at {cut}: {report}");
    }
}
