//! A database that outgrows memory, and fits again, answers as before.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{Random, get};
use terrace_engine::env::{Env, HeldClock, MemoryEnv};
use terrace_engine::{Bounds, Db, IterOptions, Options, ReadOptions, ReadTier, WriteBatch, WriteOptions};

const KEYS: u64 = 60_000;

fn key(number: u64) -> String {
    format!("{number:012}")
}

/// The value that `round` gives to the key, if it keeps the key.
fn value(number: u64, round: u64) -> Option<Vec<u8>> {
    let seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ round;
    (number % 7 != round % 7).then(|| (0..20).flat_map(|n| seed.rotate_left(n).to_be_bytes()).collect())
}

/// Gives each key the value of `round`, in no order.
fn write(db: &Db, round: u64) {
    for first in (0..KEYS).step_by(100) {
        let mut batch = WriteBatch::new();
        for number in (first..first + 100).map(|number| number * 30_011 % KEYS) {
            match value(number, round) {
                Some(value) => batch.put(key(number).as_bytes(), &value).unwrap(),
                None => batch.delete(key(number).as_bytes()).unwrap(),
            }
        }
        db.write(batch, &WriteOptions::default()).unwrap();
    }
    db.flush().unwrap();
}

fn assert_all_is_there(db: &Db, round: u64, random: &mut Random) {
    for _ in 0..2_000 {
        let number = random.below(KEYS);
        let found = db.get(key(number).as_bytes(), &ReadOptions::default()).unwrap();
        assert_eq!(found, value(number, round), "{number}");
        assert_eq!(get(db, &format!("{}x", key(number))), None);
    }
    let numbers: Vec<u64> = (0..300).map(|_| random.below(KEYS)).collect();
    let keys: Vec<String> = numbers.iter().map(|&number| key(number)).collect();
    let mut found = Vec::new();
    db.get_many_with(&keys, &ReadOptions::default(), |value| found.push(value.map(<[u8]>::to_vec))).unwrap();
    assert_eq!(found, numbers.iter().map(|&number| value(number, round)).collect::<Vec<_>>());

    let expected = |numbers: &mut dyn Iterator<Item = u64>| -> Vec<(String, Vec<u8>)> {
        numbers.filter_map(|number| Some((key(number), value(number, round)?))).collect()
    };
    let mut iter = db.iter(IterOptions { bounds: Bounds::default(), ..IterOptions::default() }).unwrap();
    iter.seek_to_first().unwrap();
    for (key, value) in expected(&mut (0..KEYS)) {
        assert_eq!((iter.key(), iter.value()), (key.as_bytes(), &value[..]));
        iter.next().unwrap();
    }
    assert!(!iter.valid());
    iter.seek_to_last().unwrap();
    for (key, value) in expected(&mut (0..KEYS).rev()) {
        assert_eq!((iter.key(), iter.value()), (key.as_bytes(), &value[..]));
        iter.prev().unwrap();
    }
    for _ in 0..200 {
        let from = random.below(KEYS);
        iter.seek(key(from).as_bytes()).unwrap();
        for (key, value) in
            expected(&mut (from..KEYS.min(from + 200))).into_iter().take(random.below(150) as usize)
        {
            assert_eq!((iter.key(), iter.value()), (key.as_bytes(), &value[..]));
            iter.next().unwrap();
        }
    }
    let hasty = ReadOptions { tier: ReadTier::MemoryOnly, ..ReadOptions::default() };
    for number in (0..KEYS).step_by(997) {
        if let Ok(found) = db.get(key(number).as_bytes(), &hasty) {
            assert_eq!(found, value(number, round));
        }
    }
}

#[test]
fn answers_are_the_same_while_a_database_outgrows_memory_and_fits_again() {
    let clock = HeldClock::new();
    let env = MemoryEnv::new().with_clock(clock.clone());
    let mut random = Random(11);
    let options = || Options {
        env: Arc::new(env.clone()) as Arc<dyn Env>,
        write_buffer_size_bytes: 1 << 20,
        max_file_size_bytes: 512 << 10,
        block_cache_size_bytes: 256 << 10,
        ..Options::default()
    };
    let mut db = Db::open("/db", options()).unwrap();
    for (round, memory_bytes) in [None, Some(1 << 20), Some(1 << 30), Some(2 << 20)].into_iter().enumerate() {
        env.set_memory_for_files_bytes(memory_bytes);
        // An answer holds for a second.
        clock.advance(Duration::from_secs(1));
        write(&db, round as u64);
        assert_all_is_there(&db, round as u64, &mut random);
        let is_outgrown = db.property("terrace.has-outgrown-memory").unwrap() == "1";
        assert_eq!(is_outgrown, memory_bytes.is_some_and(|bytes| bytes < 1 << 30));
        db.compact_range(None, None).unwrap();
        assert_all_is_there(&db, round as u64, &mut random);
        db.verify().unwrap();
        db.close().unwrap();
        db = Db::open("/db", options()).unwrap();
        let was_outgrown = is_outgrown;
        let is_outgrown = db.property("terrace.has-outgrown-memory").unwrap() == "1";
        assert_eq!(is_outgrown, was_outgrown, "an open finds out before the first read");
        assert_all_is_there(&db, round as u64, &mut random);
    }
}
