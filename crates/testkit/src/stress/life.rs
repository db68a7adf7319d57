//! One trial: a few lives of a database, each closed by a separate thread while the others work.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use terrace_engine::env::Env;
use terrace_engine::{Db, Error, IterOptions, Options};

use super::content::{Numbers, WRITERS, numbers};
use super::maintenance::Maintenance;
use super::progress::{Progress, Stop};
use super::reader::{Reader, forwards};
use super::writer::Writer;
use crate::campaign::{Tally, TrialResult};
use crate::random::Random;

const READERS: usize = 2;
const LIVES: u64 = 2;
const MOST_BATCHES_OF_A_LIFE: usize = 800;

/// Runs the trial of `seed` on threads, in the directory `directory` of `env`, which must not exist. Other files are
/// created beside it, with names that begin with its own. Takes some tenths of a second.
///
/// The seed decides what each thread does, but not how they interleave: reproducing a failure may take several runs.
///
/// # Errors
///
/// The promise that was broken.
pub fn run(seed: u64, env: &Arc<dyn Env>, directory: &Path) -> TrialResult {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    let mut before = Numbers::default();
    for life in 0..LIVES {
        let options = options(&mut random, env);
        let db = Db::open(directory, options).map_err(|error| format!("life {life}: open: {error}"))?;
        let progress = Progress::new(before);
        let done = live(&db, &progress, &mut random, env, directory);
        tally.merge(&done.map_err(|problem| format!("life {life}: {problem}"))?);
        drop(db);
        before =
            reopened(env, directory, &progress).map_err(|problem| format!("after life {life}: {problem}"))?;
    }
    tally.add("lives", LIVES);
    Ok(tally)
}

/// So small that every part of the machinery runs all the time.
fn options(random: &mut Random, env: &Arc<dyn Env>) -> Options {
    Options {
        write_buffer_size_bytes: random.choose(&[4 << 10, 8 << 10, 32 << 10]),
        max_sealed_memtables: random.between(1, 4),
        block_size_bytes: 256,
        max_file_size_bytes: random.choose(&[4 << 10, 16 << 10]),
        block_cache_size_bytes: random.choose(&[0, 16 << 10, 1 << 20]),
        max_open_files: random.choose(&[4, 16, 1000]),
        map_tables: random.one_in(2),
        manifest_size_limit_bytes: 8 << 10,
        compaction_threads: random.between(1, 4),
        idle_after_ms: 5,
        env: Arc::clone(env),
        ..Options::default()
    }
}

/// Starts all threads, closes the database once they have written enough, and collects what they did.
fn live(
    db: &Db,
    progress: &Progress,
    random: &mut Random,
    env: &Arc<dyn Env>,
    directory: &Path,
) -> TrialResult {
    let target = progress.acknowledged().iter().sum::<u64>() + random.below(MOST_BATCHES_OF_A_LIFE) as u64;
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for author in 0..WRITERS {
            let writer = Writer { db, progress, author, random: Random::new(random.number()) };
            threads.push(scope.spawn(|| progress.guard(|| writer.run())));
        }
        for _ in 0..READERS {
            let random = Random::new(random.number());
            threads.push(scope.spawn(|| progress.guard(|| Reader::new(db, progress, random).run())));
        }
        let mut maintenance = |name| Maintenance {
            db,
            progress,
            random: Random::new(random.number()),
            env: Arc::clone(env),
            scratch: directory.with_extension(name),
        };
        let (general, ingester) = (maintenance("general"), maintenance("ingester"));
        threads.push(scope.spawn(|| progress.guard(|| general.run())));
        threads.push(scope.spawn(|| progress.guard(|| ingester.run_ingester())));

        while progress.acknowledged().iter().sum::<u64>() < target && !progress.has_failed() {
            thread::sleep(Duration::from_micros(200));
        }
        let closed = db.close().map_err(|error| format!("close: {error}"));
        for thread in threads {
            tally.merge(&thread.join().map_err(|_| "a thread panicked, see above".to_owned())??);
        }
        closed.map(|()| tally)
    })
}

/// Checks what the database holds when it is opened again: everything acknowledged, and at most what was begun.
fn reopened(env: &Arc<dyn Env>, directory: &Path, progress: &Progress) -> Result<Numbers, String> {
    let told = |error: Error| format!("reading: {error}");
    let options = Options { env: Arc::clone(env), ..Options::default() };
    let db = Db::open(directory, options).map_err(told)?;
    db.verify().map_err(told)?;
    let entries = forwards(&mut db.iter(IterOptions::default()).map_err(told)?);
    let entries = entries.map_err(|stop| match stop {
        Stop::Closed => "an open database says that it is closed".to_owned(),
        Stop::Broken(problem) => problem,
    })?;
    let seen = numbers(&entries)?;
    progress.check(&progress.acknowledged(), &seen)?;
    db.close().map_err(told)?;
    Ok(seen)
}
