//! The engine against the reference model: at least a million operations over both comparators, every compression and
//! three environments. `TERRACE_SEED` sets the seed, which every failure names.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use terrace_engine::Compression;
use terrace_engine::env::{Env, MemoryEnv, default_env};
use terrace_testkit::form::scaled;
use terrace_testkit::keys::KeySpace;
use terrace_testkit::random::{SEED_VARIABLE, seed};
use terrace_testkit::trial::{Settings, Trial};

/// Background work in explicit steps: the same seed does the same in the same order.
const OPERATIONS_IN_STEPS: u64 = 90_000;
/// Background work on threads.
const OPERATIONS_ON_THREADS: u64 = 70_000;
/// On a disk, where each flush costs a sync.
const OPERATIONS_ON_DISK: u64 = 10_000;

static BACKGROUND_PANICKED: AtomicBool = AtomicBool::new(false);

/// Remembers that a thread of the engine panicked, which alone fails no test.
fn watch_background_threads() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let thread = std::thread::current();
            if thread.name().is_some_and(|name| name.starts_with("terrace-")) {
                BACKGROUND_PANICKED.store(true, Ordering::Relaxed);
            }
            usual(panic);
        }));
    });
}

fn run(keys: KeySpace, compression: Compression) {
    watch_background_threads();
    let seed = seed();
    let disk = tempfile::tempdir().expect("a temporary directory");
    let environments: [(&str, Arc<dyn Env>, PathBuf, u64); 3] = [
        ("in steps", Arc::new(MemoryEnv::with_steps()), "/db".into(), OPERATIONS_IN_STEPS),
        ("on threads", Arc::new(MemoryEnv::new()), "/db".into(), OPERATIONS_ON_THREADS),
        ("on disk", default_env(), disk.path().join("db"), OPERATIONS_ON_DISK),
    ];
    for (name, env, directory, full) in environments {
        let count = scaled(full);
        println!("{SEED_VARIABLE}={seed}, {count} operations {name}");
        let settings = Settings { env, directory, keys, compression };
        if let Err(problem) = Trial::run(seed, count as usize, settings) {
            panic!("{keys:?}, {compression:?}, {name}, {SEED_VARIABLE}={seed}: {problem}");
        }
        assert!(!BACKGROUND_PANICKED.load(Ordering::Relaxed), "a background thread panicked, see above");
    }
}

#[test]
fn at_least_a_million_operations_are_done() {
    let tests = 6;
    let operations = [OPERATIONS_IN_STEPS, OPERATIONS_ON_THREADS, OPERATIONS_ON_DISK].map(scaled);
    assert!(tests * operations.iter().sum::<u64>() >= scaled(1_000_000));
}

#[test]
fn bytewise_uncompressed() {
    run(KeySpace::Bytes, Compression::None);
}

#[test]
fn bytewise_snappy() {
    run(KeySpace::Bytes, Compression::Snappy);
}

#[test]
fn bytewise_zstd() {
    run(KeySpace::Bytes, Compression::Zstd { level: 1 });
}

#[test]
fn indexed_db_uncompressed() {
    run(KeySpace::IndexedDb, Compression::None);
}

#[test]
fn indexed_db_snappy() {
    run(KeySpace::IndexedDb, Compression::Snappy);
}

#[test]
fn indexed_db_zstd() {
    run(KeySpace::IndexedDb, Compression::Zstd { level: 1 });
}
