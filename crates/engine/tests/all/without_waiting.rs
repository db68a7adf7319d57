//! Calls that must not hold up their thread: they do what is possible at once, and otherwise say that they would wait.

use std::sync::Arc;
use std::time::Duration;

use terrace_engine::{
    BackgroundPool, Db, ErrorKind, IterOptions, Options, ReadOptions, ReadTier, WriteBatch, WriteOptions,
};
use terrace_env::{HeldClock, MemoryEnv};

fn memory_only() -> IterOptions {
    let read = ReadOptions { tier: ReadTier::MemoryOnly, ..ReadOptions::default() };
    IterOptions { read, ..IterOptions::default() }
}

fn open(options: Options) -> Db {
    Db::open("/db", Options { env: Arc::new(MemoryEnv::new()), ..options }).unwrap()
}

/// Writes keys that are not in order.
fn write_many(db: &Db, count: u32) {
    for number in 0..count {
        let key = number.wrapping_mul(2_654_435_761).to_be_bytes();
        db.put(&key, b"value", &WriteOptions::default()).unwrap();
    }
}

#[test]
fn an_iterator_that_would_have_to_sort_many_entries_first_says_so() {
    let db = open(Options::default());
    write_many(&db, 1_000);
    db.iter(memory_only()).unwrap().seek_to_first().expect("a thousand entries are sorted at once");
    write_many(&db, 50_000);
    let mut hasty = db.iter(memory_only()).unwrap();
    assert_eq!(hasty.seek_to_first().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert!(!hasty.valid());
    assert_eq!(hasty.seek_to_last().unwrap_err().kind(), ErrorKind::WouldBlock);

    let mut patient = db.iter(IterOptions::default()).unwrap();
    patient.seek_to_first().unwrap();
    assert!(patient.valid());
    // The entries are sorted now.
    hasty.seek_to_first().unwrap();
    assert_eq!(hasty.key(), patient.key());
}

#[test]
fn an_iterator_that_would_have_to_pass_over_many_deleted_entries_says_so() {
    let db = open(Options::default());
    for number in 0..30_000u32 {
        db.put(&number.to_be_bytes(), b"value", &WriteOptions::default()).unwrap();
    }
    for number in 1..29_999u32 {
        db.delete(&number.to_be_bytes(), &WriteOptions::default()).unwrap();
    }
    let mut patient = db.iter(IterOptions::default()).unwrap();
    patient.seek_to_first().unwrap();
    patient.next().unwrap();
    assert_eq!(patient.key(), 29_999u32.to_be_bytes());

    let mut hasty = db.iter(memory_only()).unwrap();
    hasty.seek_to_first().unwrap();
    assert_eq!(hasty.next().unwrap_err().kind(), ErrorKind::WouldBlock);
    hasty.seek_to_last().unwrap();
    assert_eq!(hasty.key(), 29_999u32.to_be_bytes());
    assert_eq!(hasty.prev().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_write_begins_a_log_at_once_and_is_refused_only_while_flushes_lag() {
    // Flushes run only when the test runs them.
    let clock = HeldClock::new();
    let env = Arc::new(MemoryEnv::with_steps().with_clock(clock.clone()));
    let pool = Arc::new(BackgroundPool::new(env.clone(), 1));
    let options = Options {
        env,
        write_buffer_size_bytes: 64 << 10,
        background_pool: Some(pool.clone()),
        ..Options::default()
    };
    let db = Db::open("/db", options).unwrap();
    let mut refused = 0;
    for number in 0..2_000u32 {
        let mut batch = WriteBatch::new();
        batch.put(&number.to_be_bytes(), &[7; 200]).unwrap();
        while !db.try_write(&mut batch, &WriteOptions::default()).unwrap() {
            assert!(refused > 0 || db.stats().sealed_memtables > 0, "there was nothing to wait for");
            refused += 1;
            if !pool.run_one() {
                clock.advance(Duration::from_millis(1));
            }
        }
    }
    assert!(refused > 0, "nothing was flushed, and no write was refused");
    for number in 0..2_000u32 {
        assert_eq!(db.get(&number.to_be_bytes(), &ReadOptions::default()).unwrap().unwrap(), [7; 200]);
    }
}
