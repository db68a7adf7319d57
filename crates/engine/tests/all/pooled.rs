//! The engine on a pool of open files, as in a browser's worker: losses of power and kills at any call.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_engine::env::simulated::SimulatedHandles;
use terrace_engine::env::{Env, PooledEnv};
use terrace_engine::{Db, ErrorKind, IterOptions, Options, Result, WriteBatch, WriteOptions};

fn pool(handles: &SimulatedHandles) -> PooledEnv {
    PooledEnv::open(Arc::new(handles.clone())).unwrap()
}

fn options(env: PooledEnv) -> Options {
    Options {
        env: Arc::new(env),
        write_buffer_size_bytes: 64 << 10,
        max_file_size_bytes: 64 << 10,
        ..Options::default()
    }
}

/// Files that are kept for the next open, and those that the background leaves of them: as `crates/wasm` has them.
const RESERVED: usize = 8;
const LEFT: usize = 2;
const MOST_STEPS: usize = 1000;

fn open(handles: &SimulatedHandles) -> Result<Db> {
    open_pool(pool(handles))
}

fn open_pool(pool: PooledEnv) -> Result<Db> {
    let tables = pool.free_slots().saturating_sub(RESERVED).max(1) as u64;
    let max_file_size_bytes = (2 * pool.total_bytes() / tables).clamp(64 << 10, 512 << 10);
    let db = Db::open("/", Options { max_file_size_bytes, ..options(pool.clone()) })?;
    pool.reserve_slots(RESERVED);
    Ok(db)
}

/// Lets the background work, with the files that are kept from writes. Returns whether it did something.
fn step(db: &Db, pool: &PooledEnv) -> bool {
    pool.reserve_slots(LEFT);
    let done = (0..MOST_STEPS).take_while(|_| db.step()).count();
    assert!(done < MOST_STEPS, "the background comes to no end");
    pool.reserve_slots(RESERVED);
    done > 0
}

fn contents(db: &Db) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut entries = db.iter(IterOptions::default()).unwrap();
    let mut found = BTreeMap::new();
    entries.seek_to_first().unwrap();
    while entries.valid() {
        found.insert(entries.key().to_vec(), entries.value().to_vec());
        entries.next().unwrap();
    }
    found
}

/// The states after each write, and the numbers of the last writes that were acknowledged, and synced.
struct History {
    states: Vec<BTreeMap<Vec<u8>, Vec<u8>>>,
    acknowledged: usize,
    synced: usize,
}

/// Writes batches until a write fails. Some are synced.
fn write_until_failure(db: &Db, start: BTreeMap<Vec<u8>, Vec<u8>>, seed: usize) -> History {
    let mut history = History { states: vec![start], acknowledged: 0, synced: 0 };
    for number in 1..400_usize {
        let mut state = history.states.last().unwrap().clone();
        let mut batch = WriteBatch::new();
        for index in 0..4 {
            let key = format!("key-{:03}", (number * 37 + index * 101 + seed) % 300).into_bytes();
            if (number + index) % 5 == 0 {
                batch.delete(&key).unwrap();
                state.remove(&key);
            } else {
                let value = format!("{number}-{index}-").repeat(1 + (number * 7 + index) % 120).into_bytes();
                batch.put(&key, &value).unwrap();
                state.insert(key, value);
            }
        }
        let sync = number % 7 == 0;
        // The write that fails may be found later or not.
        history.states.push(state);
        if db.write(batch, &WriteOptions { sync }).is_err() {
            return history;
        }
        history.acknowledged = number;
        if sync {
            history.synced = number;
        }
        if number % 3 == 0 {
            while db.step() {}
        }
    }
    history
}

#[test]
fn synced_writes_survive_a_loss_of_power_and_all_writes_a_kill_at_any_call_that_stops_or_fails() {
    let mut stops = 0;
    for seed in 0..24 {
        let mut handles = SimulatedHandles::new(seed as u64, 60);
        let mut start = BTreeMap::new();
        // Several lives, each on what the one before left.
        for life in 0..3 {
            let is_kill = (seed + life) % 3 == 0;
            let calls = (seed as u64 * 29 + life as u64 * 517) % 1500;
            if seed % 2 == 0 {
                handles.halt_after(calls)
            } else {
                handles.fail_after(calls)
            }
            let Ok(db) = open(&handles) else {
                end_life(&mut handles, is_kill);
                continue;
            };
            let history = write_until_failure(&db, start, seed);
            end_life(&mut handles, is_kill);
            drop(db);
            stops += 1;
            let db = open(&handles).unwrap();
            let found = contents(&db);
            let first = if is_kill { history.acknowledged } else { history.synced };
            let at = history.states.iter().rposition(|state| *state == found);
            let at = at.unwrap_or_else(|| panic!("seed {seed}, life {life}: a state that never was"));
            assert!(at >= first, "seed {seed}, life {life}: {at} writes of {first} are left");
            db.verify().unwrap();
            db.close().unwrap();
            start = found;
        }
    }
    assert!(stops > 60, "{stops} stops");
}

fn end_life(handles: &mut SimulatedHandles, is_kill: bool) {
    if is_kill { handles.kill_process() } else { handles.cut_power() }
}

#[test]
fn without_free_files_writes_are_refused_reads_go_on_and_more_files_help() {
    let handles = SimulatedHandles::new(1, 12);
    let db = open(&handles).unwrap();
    let mut stored = 0;
    let error = loop {
        let value = vec![(stored % 251) as u8; 5000];
        match db.put(format!("{stored:06}").as_bytes(), &value, &WriteOptions::default()) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 10_000, "twelve files are not enough for this");
    };
    assert_eq!(error.kind(), ErrorKind::DiskFull, "{error}");
    assert_eq!(contents(&db).len(), stored);
    handles.grow(100);
    for number in stored..stored + 100 {
        db.put(format!("{number:06}").as_bytes(), &[0; 5000], &WriteOptions::default()).unwrap();
    }
    assert_eq!(contents(&db).len(), stored + 100);
    db.close().unwrap();
}

#[test]
fn a_database_whose_files_were_all_in_use_opens_again_with_all_that_was_stored() {
    for count in [24, 26, 29, 32, 40] {
        let mut handles = SimulatedHandles::new(1, count);
        let mut stored = 0;
        for life in 0..30 {
            let pool = pool(&handles);
            let db =
                open_pool(pool.clone()).unwrap_or_else(|error| panic!("{count} files, life {life}: {error}"));
            assert_eq!(contents(&db).len(), stored, "{count} files, life {life}");
            while stored < 300 * (life + 1) {
                let value = vec![(stored % 251) as u8; 5000 * (1 + life % 3)];
                let put = || db.put(format!("{stored:06}").as_bytes(), &value, &WriteOptions::default());
                let may_write = !pool.lacks_reserve() || (step(&db, &pool) && !pool.lacks_reserve());
                if !(may_write && (put().is_ok() || (step(&db, &pool) && put().is_ok()))) {
                    break;
                }
                stored += 1;
            }
            if life % 4 == 0 {
                step(&db, &pool);
                db.close().unwrap_or_default();
            } else {
                handles.kill_process();
                drop(db);
            }
        }
    }
}

#[test]
fn a_compaction_in_steps_lets_writes_go_on_between_them_and_frees_the_space() {
    // 80 MB that do not compress, because a step that goes down several levels takes up to 64.
    const ENTRIES: usize = 16_000;
    let handles = SimulatedHandles::new(2, 400);
    let db = open(&handles).unwrap();
    let key = |number: usize| format!("{number:06}").into_bytes();
    let value = |number: usize, words: u32| -> Vec<u8> {
        let words = (0..words).map(|index| (number as u32 * 1250 + index).wrapping_mul(2_654_435_761));
        words.flat_map(u32::to_be_bytes).collect()
    };
    for first in (0..ENTRIES).step_by(200) {
        let mut batch = WriteBatch::new();
        for number in first..first + 200 {
            batch.put(&key(number), &value(number, 1250)).unwrap();
        }
        db.write(batch, &WriteOptions::default()).unwrap();
    }
    while db.step() {}
    // In one batch: between single deletions, a slow machine has time for compactions that leave nothing for the one below.
    let mut deletions = WriteBatch::new();
    for number in 0..ENTRIES {
        deletions.delete(&key(number)).unwrap();
    }
    db.write(deletions, &WriteOptions::default()).unwrap();
    let (mut steps, mut written) = (0, ENTRIES);
    let mut compaction = db.begin_compact_range(Some(&key(0)), Some(&key(ENTRIES - 1))).unwrap();
    while compaction.step().unwrap() {
        steps += 1;
        // More than level 0 takes before writes have to wait for a compaction.
        for _ in 0..2000 {
            db.put(&key(written), &value(written, 125), &WriteOptions::default()).unwrap();
            written += 1;
        }
    }
    assert!(steps > 1, "{steps} steps");
    drop(compaction);
    while db.step() {}
    assert_eq!(db.approximate_size(&key(0), &key(ENTRIES)).unwrap(), 0);
    assert_eq!(contents(&db).len(), written - ENTRIES);
    db.close().unwrap();
}

#[test]
fn a_compaction_that_merges_small_tables_leaves_few_of_entries_in_order() {
    let handles = SimulatedHandles::new(4, 200);
    let pool = pool(&handles);
    let options = || Options { max_file_size_bytes: 1 << 20, ..options(pool.clone()) };
    let db = Db::open("/", options()).unwrap();
    for number in 0..20_000_u32 {
        db.put(&number.to_be_bytes(), &number.to_le_bytes().repeat(30), &WriteOptions::default()).unwrap();
    }
    while db.step() {}
    let (before, expected) = (db.tables().unwrap().len(), contents(&db));
    assert!(before > 30, "{before} tables");
    // Without merging, tables that overlap none are kept.
    let mut compaction = db.begin_compact_range(None, None).unwrap();
    while compaction.step().unwrap() {}
    drop(compaction);
    assert!(db.tables().unwrap().len() > before / 2);

    let mut compaction = db.begin_compact_range(None, None).unwrap().merging_below(512 << 10);
    while compaction.step().unwrap() {}
    drop(compaction);
    let total_bytes: u64 = db.tables().unwrap().iter().map(|table| table.size_bytes).sum();
    assert_eq!(db.tables().unwrap().len() as u64, total_bytes.div_ceil(1 << 20));
    assert!(pool.used_slots() < before / 2, "{} files", pool.used_slots());
    assert_eq!(contents(&db), expected);
    db.close().unwrap();
    assert_eq!(contents(&Db::open("/", options()).unwrap()), expected);
}

#[test]
fn a_compaction_in_steps_ends_with_its_database() {
    let handles = SimulatedHandles::new(3, 60);
    let db = open(&handles).unwrap();
    db.put(b"key", b"value", &WriteOptions::default()).unwrap();
    let mut compaction = db.begin_compact_range(None, None).unwrap();
    db.close().unwrap();
    assert!(!matches!(compaction.step(), Ok(true)));
    assert_eq!(db.begin_compact_range(None, None).err().unwrap().kind(), ErrorKind::Closed);
}

/// What happens to the file that leads to all others.
#[derive(Debug, Clone, Copy)]
enum Damage {
    ManifestGone,
    ManifestEmpty,
    ManifestCut,
    CurrentGone,
    CurrentDamaged,
}

impl Damage {
    const ALL: [Self; 5] =
        [Self::ManifestGone, Self::ManifestEmpty, Self::ManifestCut, Self::CurrentGone, Self::CurrentDamaged];

    fn inflict(self, env: &PooledEnv) {
        let names = env.list(Path::new("/")).unwrap();
        let manifest = names.iter().find(|name| name.starts_with("MANIFEST")).unwrap();
        let (manifest, current) = (Path::new("/").join(manifest), PathBuf::from("/CURRENT"));
        match self {
            Self::ManifestGone => env.remove_file(&manifest).unwrap(),
            Self::ManifestEmpty => rewrite(env, &manifest, &[]),
            Self::ManifestCut => {
                let bytes = env.read_file(&manifest).unwrap();
                rewrite(env, &manifest, &bytes[..bytes.len() / 2]);
            }
            Self::CurrentGone => env.remove_file(&current).unwrap(),
            Self::CurrentDamaged => rewrite(env, &current, b"?"),
        }
    }
}

fn rewrite(env: &PooledEnv, path: &Path, contents: &[u8]) {
    let mut file = env.create(path).unwrap();
    file.append(contents).unwrap();
    file.sync().unwrap();
    file.close().unwrap();
}

/// A database without deletions, so that a repair can restore all of it without a MANIFEST, with tables and a log.
fn damaged(damage: Damage) -> (SimulatedHandles, BTreeMap<Vec<u8>, Vec<u8>>) {
    let handles = SimulatedHandles::new(4, 80);
    let db = open(&handles).unwrap();
    for number in 0..600_u32 {
        let value = format!("{number} ").repeat(1 + (number % 90) as usize).into_bytes();
        db.put(format!("key-{:03}", number * 37 % 400).as_bytes(), &value, &WriteOptions::default()).unwrap();
        while number % 50 == 0 && db.step() {}
    }
    db.put(b"last", b"in the log", &WriteOptions { sync: true }).unwrap();
    let expected = contents(&db);
    db.close().unwrap();
    damage.inflict(&pool(&handles));
    (handles, expected)
}

#[test]
fn a_repair_that_stops_at_any_call_leaves_a_database_that_opens_whole_or_is_repaired() {
    let (mut unchanged, mut repaired_in_time) = (0, 0);
    for (index, damage) in Damage::ALL.into_iter().enumerate() {
        for calls in 0.. {
            let (mut handles, expected) = damaged(damage);
            let error = open(&handles).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Corruption, "{damage:?}: {error}");
            let what = format!("{damage:?}, stopped at call {calls}");
            let env = pool(&handles);
            if calls % 3 == 2 {
                handles.fail_after(calls)
            } else {
                handles.halt_after(calls)
            }
            let before = handles.calls();
            let report = Db::repair("/", &options(env));
            let was_stopped = handles.calls() - before > calls;
            end_life(&mut handles, (calls as usize + index).is_multiple_of(4));
            match open(&handles) {
                Ok(db) => {
                    assert_eq!(contents(&db), expected, "{what}");
                    db.close().unwrap();
                    repaired_in_time += u32::from(report.is_err());
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corruption, "{what}: {error}");
                    assert!(report.is_err(), "{what}: the repair has succeeded, but {error}");
                    Db::repair("/", &options(pool(&handles))).unwrap();
                    unchanged += 1;
                }
            }
            let db = open(&handles).unwrap();
            assert_eq!(contents(&db), expected, "{what}");
            db.verify().unwrap();
            db.put(b"later", b"value", &WriteOptions::default()).unwrap();
            db.close().unwrap();
            if !was_stopped {
                assert!(report.is_ok() && calls > 20, "{what}");
                break;
            }
        }
    }
    assert!(
        unchanged > 100 && repaired_in_time > 5,
        "{unchanged} unchanged, {repaired_in_time} repaired in time"
    );
}

#[test]
fn a_repair_without_free_files_changes_nothing_and_more_files_help() {
    let (handles, expected) = damaged(Damage::ManifestGone);
    let env = pool(&handles);
    let mut taken = 0;
    while env.free_slots() > 1 {
        rewrite(&env, Path::new(&format!("/other-{taken}")), b"");
        taken += 1;
    }
    drop(env);
    let error = Db::repair("/", &options(pool(&handles))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DiskFull, "{error}");
    assert_eq!(open(&handles).err().unwrap().kind(), ErrorKind::Corruption);
    handles.grow(80);
    Db::repair("/", &options(pool(&handles))).unwrap();
    let db = open(&handles).unwrap();
    assert_eq!(contents(&db), expected);
    db.close().unwrap();
}
