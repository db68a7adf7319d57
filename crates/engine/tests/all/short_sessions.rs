//! Databases that are opened, written a little and closed, or killed, again and again: no session lasts until a compaction begins. Their
//! tables stay few, for any order of keys, and what a single open or close does about it is bounded.

use std::path::Path;
use std::sync::Arc;

use crate::support::{Random, scaled};
use terrace_engine::env::simulated::{Mode, SimulatedEnv, SimulatedHandles};
use terrace_engine::env::{Env, PooledEnv, default_env};
use terrace_engine::{Db, ErrorKind, IterOptions, Options, WriteOptions};

/// As `crates/wasm` and the pool in a browser have them.
const FILES: usize = 192;
const RESERVED: usize = 8;
const LEFT: usize = 2;
const FEW: usize = 16;

/// A quarter of what they are in a browser, so that the test takes a quarter of the time.
const TABLE_BYTES: u64 = 2 << 20;
const WRITE_BUFFER_BYTES: usize = 1 << 20;
const MOST_TABLE_BYTES: u64 = 16 << 20;
const LARGE_VALUE_BYTES: usize = 256 << 10;

/// What an open or close may write: the merge of small tables, or if they are not small, 16 MiB before the last compaction begins, and that. It
/// takes level 0, which has eight tables of up to eight logs, and level 1.
const SMALL_BYTES: u64 = TABLE_BYTES;
const LARGE_BYTES: u64 = 64 << 20;

/// Those compactions, the flush of what the last session has left in its log, a merge of neighbours, another one where files are few, and a
/// move that was queued behind them.
const MOST_JOBS: u64 = 8 + 4;

#[derive(Clone, Copy, Debug)]
enum Order {
    Same,
    Ascending,
    Descending,
    Random,
}

impl Order {
    const ALL: [Self; 4] = [Self::Same, Self::Ascending, Self::Descending, Self::Random];

    fn key(self, session: usize) -> Vec<u8> {
        let number = match self {
            Self::Same => 0,
            Self::Ascending => session as u64,
            Self::Descending => 1_000_000 - session as u64,
            Self::Random => Random(session as u64).next(),
        };
        format!("{number:020}").into_bytes()
    }
}

/// Jobs that have ended since the open, and the bytes that they have written, flushes included.
fn work(db: &Db) -> (u64, u64) {
    let levels = db.stats().levels;
    levels.iter().fold((0, 0), |(jobs, bytes), level| (jobs + level.jobs, bytes + level.written_bytes))
}

fn assert_bounded(before: (u64, u64), after: (u64, u64), most_bytes: u64, what: &str) {
    let (jobs, bytes) = (after.0 - before.0, after.1 - before.1);
    assert!(jobs <= MOST_JOBS, "{what}: {jobs} jobs");
    assert!(bytes <= most_bytes, "{what}: {bytes} bytes");
}

fn count(db: &Db) -> usize {
    let mut entries = db.iter(IterOptions::default()).unwrap();
    entries.seek_to_first().unwrap();
    let mut count = 0;
    while entries.valid() {
        count += 1;
        entries.next().unwrap();
    }
    count
}

fn tables(env: &dyn Env, path: &str) -> usize {
    env.list(Path::new(path)).unwrap().iter().filter(|name| name.ends_with(".ldb")).count()
}

/// Opens a database on a pool as `crates/wasm` does. It has few files if `pool` says so.
fn open(pool: &PooledEnv) -> Db {
    let tables = pool.free_slots().saturating_sub(RESERVED).max(1) as u64;
    let max_file_size_bytes = (2 * pool.total_bytes() / tables).clamp(TABLE_BYTES, MOST_TABLE_BYTES);
    let options = Options {
        env: Arc::new(pool.clone()),
        max_file_size_bytes,
        write_buffer_size_bytes: WRITE_BUFFER_BYTES,
        ..Options::default()
    };
    let db = Db::open("/", options).unwrap();
    merge_if_few(&db, pool);
    db
}

/// Lets the background work, with files that are kept from writes, as a write does that finds none.
fn step(db: &Db, pool: &PooledEnv) -> bool {
    pool.reserve_slots(LEFT);
    let done = db.step() || db.merge_neighbours(1).unwrap();
    pool.reserve_slots(RESERVED);
    done
}

fn merge_if_few(db: &Db, pool: &PooledEnv) -> bool {
    pool.reserve_slots(RESERVED);
    if pool.free_slots() >= FEW {
        return false;
    }
    pool.reserve_slots(LEFT);
    let merged = db.merge_neighbours(1).unwrap();
    pool.reserve_slots(RESERVED);
    merged
}

/// Sessions on a pool of so many files, which cannot grow, each of which writes one value. Returns the most files in use after one of them.
fn sessions_on_a_pool(
    files: usize,
    order: Order,
    value_bytes: usize,
    sessions: usize,
    are_closed: bool,
) -> usize {
    let mut handles = SimulatedHandles::new(1, files);
    let most_bytes = if value_bytes < 1000 { SMALL_BYTES } else { LARGE_BYTES };
    let mut most = 0;
    for session in 0..sessions {
        let end = if are_closed { "closed" } else { "killed" };
        let what = format!("{order:?}, {value_bytes} bytes, {end}, session {session}");
        let pool = PooledEnv::open(Arc::new(handles.clone())).unwrap();
        let db = open(&pool);
        assert_bounded((0, 0), work(&db), most_bytes, &what);
        assert!(!pool.lacks_reserve(), "{what}: no files are left");
        let mut value = Vec::with_capacity(value_bytes);
        let mut random = Random(session as u64);
        while value.len() < value_bytes {
            value.extend_from_slice(&random.next().to_le_bytes());
        }
        let put = || db.put(&order.key(session), &value, &WriteOptions::default());
        while let Err(error) = put() {
            assert!(error.kind() == ErrorKind::DiskFull && step(&db, &pool), "{what}: {error}");
        }
        let before = work(&db);
        if are_closed {
            merge_if_few(&db, &pool);
            pool.reserve_slots(LEFT);
            db.close().unwrap();
            assert_bounded(before, work(&db), most_bytes, &what);
        } else {
            handles.kill_process();
        }
        most = most.max(pool.used_slots());
    }
    let db = open(&PooledEnv::open(Arc::new(handles)).unwrap());
    assert_eq!(count(&db), if matches!(order, Order::Same) { 1 } else { sessions });
    db.verify().unwrap();
    most
}

#[test]
fn sessions_that_write_an_entry_each_use_few_files_of_a_pool_closed_or_killed_in_any_order_of_keys() {
    for order in Order::ALL {
        for (are_closed, limit) in [(true, 28), (false, 48)] {
            let most = sessions_on_a_pool(FILES, order, 10, 400, are_closed);
            assert!(most <= limit, "{order:?}, closed: {are_closed}: {most} files");
        }
    }
}

/// Larger ones are not merged as soon as there are eight: a merge takes no more than a table's size, so a few of them are enough. In the
/// smaller pool files are few, and there is just one to save with each merge.
#[test]
fn sessions_that_write_a_quarter_of_a_write_buffer_each_do_not_fill_a_pool_in_any_order_of_keys() {
    for (files, sessions) in [(FILES, scaled(250)), (40, scaled(150))] {
        for order in Order::ALL {
            for are_closed in [true, false] {
                let most = sessions_on_a_pool(files, order, LARGE_VALUE_BYTES, sessions as usize, are_closed);
                assert!(most < files - RESERVED, "{order:?}, closed: {are_closed}: {most} of {files} files");
            }
        }
    }
}

#[test]
fn sessions_that_write_an_entry_each_leave_few_tables_where_threads_and_where_calls_run_compactions() {
    let directory = tempfile::tempdir().unwrap();
    let in_steps: Arc<dyn Env> = Arc::new(SimulatedEnv::new(1, Mode::StrictPosix));
    for order in Order::ALL {
        let on_disk = directory.path().join(format!("{order:?}")).to_str().unwrap().to_owned();
        for (env, path) in [(&in_steps, format!("/data/{order:?}")), (&default_env(), on_disk)] {
            let options = || Options { env: Arc::clone(env), ..Options::default() };
            let sessions = 200;
            for session in 0..sessions {
                let db = Db::open(&path, options()).unwrap();
                db.put(&order.key(session), b"value", &WriteOptions::default()).unwrap();
                db.close().unwrap();
                let tables = tables(&**env, &path);
                assert!(tables <= 40, "{path}: {tables} tables after {session} sessions");
            }
            let db = Db::open(&path, options()).unwrap();
            assert_eq!(count(&db), if matches!(order, Order::Same) { 1 } else { sessions });
        }
    }
}
