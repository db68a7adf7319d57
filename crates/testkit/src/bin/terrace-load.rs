//! Loads a large database and checks it: every entry is there, after reopening and according to `verify`; or, for
//! `shrink`, that deletes give space back without a call.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use terrace_engine::{Db, IterOptions, Options, ReadOptions, WriteBatch, WriteOptions};
use terrace_testkit::random::Random;

const VALUE_SIZE_BYTES: usize = 100;
/// How long `shrink` waits for the space.
const SHRINK_WITHIN: Duration = Duration::from_secs(60);
/// How many times the live data's size the directory may take in the end.
const SHRINK_TO: f64 = 1.5;

type Failure = Box<dyn std::error::Error>;

/// Load a large database and check it.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Work,
    /// Where to create the database. It is removed before and afterwards.
    #[arg(long, global = true, default_value = "target/terrace-load")]
    directory: PathBuf,
    /// Entries per batch.
    #[arg(long, global = true, default_value_t = 1000)]
    batch: u64,
}

#[derive(Subcommand, Clone, Copy)]
enum Work {
    /// Load this many entries in ascending order, reopen, verify.
    Sorted { entries: u64 },
    /// Load this many entries in random order, reopen, verify.
    Random { entries: u64 },
    /// Load this many entries, delete nine of ten, and wait until the directory is small.
    Shrink { entries: u64 },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = remove(&arguments.directory).and_then(|()| match arguments.work {
        Work::Sorted { entries } => load_and_check(&arguments, entries, |index| index),
        Work::Random { entries } => load_and_check(&arguments, entries, scatter),
        Work::Shrink { entries } => shrink(&arguments, entries),
    });
    match result.and_then(|()| remove(&arguments.directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn remove(directory: &Path) -> Result<(), Failure> {
    Db::destroy(directory, &Options::default())?;
    Ok(())
}

/// A different number for each index, in no order: the mixing of SplitMix64 is one-to-one.
fn scatter(index: u64) -> u64 {
    Random::new(index).number()
}

fn key_of(number: u64) -> [u8; 16] {
    let mut key = *b"terrace-........";
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

fn number_of(key: &[u8]) -> Option<u64> {
    let digits = key.strip_prefix(b"terrace-")?;
    Some(u64::from_be_bytes(digits.try_into().ok()?))
}

/// The value for a number, which can be checked without remembering it.
fn value_of(number: u64) -> [u8; VALUE_SIZE_BYTES] {
    let mut random = Random::new(number);
    let mut value = [0; VALUE_SIZE_BYTES];
    for chunk in value.chunks_mut(8) {
        chunk.copy_from_slice(&random.number().to_le_bytes()[..chunk.len()]);
    }
    value
}

fn bar(what: &'static str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:10} {bar:40} {human_pos:>11} {per_sec:>16} {elapsed:>5}");
    let bar = ProgressBar::new(length).with_message(what);
    bar.set_style(style.expect("the template is well-formed"));
    bar
}

fn load(db: &Db, entries: u64, batch_size: u64, number: impl Fn(u64) -> u64) -> Result<(), Failure> {
    let bar = bar("loading", entries);
    let mut index = 0;
    while index < entries {
        let end = entries.min(index + batch_size.max(1));
        let mut batch = WriteBatch::new();
        for number in (index..end).map(&number) {
            batch.put(&key_of(number), &value_of(number))?;
        }
        db.write(batch, &WriteOptions::default())?;
        bar.inc(end - index);
        index = end;
    }
    bar.finish();
    Ok(())
}

fn check(db: &Db, entries: u64, number: impl Fn(u64) -> u64) -> Result<(), Failure> {
    let scan = bar("scanning", entries);
    let mut iterator = db.iter(IterOptions::default())?;
    let mut count = 0;
    iterator.seek_to_first()?;
    while iterator.valid() {
        let found = number_of(iterator.key()).ok_or("a key that was never written")?;
        if iterator.value() != value_of(found) {
            return Err(format!("the value of entry {found} is wrong").into());
        }
        count += 1;
        if count % 1000 == 0 {
            scan.inc(1000);
        }
        iterator.next()?;
    }
    scan.finish();
    if count != entries {
        return Err(format!("{count} entries instead of {entries}").into());
    }
    let probes = entries.min(200_000);
    let points = bar("point reads", probes);
    for probe in 0..probes {
        let number = number(scatter(probe) % entries);
        let value = db.get(&key_of(number), &ReadOptions::default())?;
        if value.as_deref() != Some(&value_of(number)[..]) {
            return Err(format!("the value of entry {number} is wrong or missing").into());
        }
        points.inc(1);
    }
    points.finish();
    let started = Instant::now();
    db.verify()?;
    println!("verify     {:.1} s, no damage", started.elapsed().as_secs_f64());
    Ok(())
}

fn load_and_check(arguments: &Arguments, entries: u64, number: fn(u64) -> u64) -> Result<(), Failure> {
    let db = Db::open(&arguments.directory, Options::default())?;
    let started = Instant::now();
    load(&db, entries, arguments.batch, number)?;
    println!("loaded     {entries} entries in {:.1} s", started.elapsed().as_secs_f64());
    db.close()?;
    drop(db);
    let started = Instant::now();
    let db = Db::open(&arguments.directory, Options::default())?;
    println!("reopened   in {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    check(&db, entries, number)?;
    println!("directory  {} MB", directory_bytes(&arguments.directory)? / 1_000_000);
    Ok(db.close()?)
}

fn shrink(arguments: &Arguments, entries: u64) -> Result<(), Failure> {
    let stays = |index: u64| scatter(index).is_multiple_of(10);
    let db = Db::open(&arguments.directory, Options::default())?;
    load(&db, entries, arguments.batch, |index| index)?;
    println!("directory  {} MB with everything", directory_bytes(&arguments.directory)? / 1_000_000);
    let deletes = bar("deleting", entries);
    let mut live = 0u64;
    for index in 0..entries {
        if stays(index) {
            live += 1;
        } else {
            db.delete(&key_of(index), &WriteOptions::default())?;
        }
        deletes.inc(1);
    }
    deletes.finish();
    let live_bytes = live * (16 + VALUE_SIZE_BYTES as u64);
    let started = Instant::now();
    loop {
        let size_bytes = directory_bytes(&arguments.directory)?;
        let times = size_bytes as f64 / live_bytes as f64;
        if times < SHRINK_TO {
            let (size, live) = (size_bytes / 1_000_000, live_bytes / 1_000_000);
            let seconds = started.elapsed().as_secs_f64();
            println!(
                "directory  {size} MB for {live} MB of live data ({times:.2} times), {seconds:.1} s after the last call"
            );
            break;
        }
        if started.elapsed() > SHRINK_WITHIN {
            let stats = db.property("leveldb.stats").unwrap_or_default();
            return Err(format!("still {times:.2} times the live data after a minute\n{stats}").into());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let count = {
        let mut iterator = db.iter(IterOptions::default())?;
        let mut count = 0;
        iterator.seek_to_first()?;
        while iterator.valid() {
            count += 1;
            iterator.next()?;
        }
        count
    };
    if count != live {
        return Err(format!("{count} entries instead of {live}").into());
    }
    db.verify()?;
    Ok(db.close()?)
}

/// Size of the files in `directory`, in bytes.
fn directory_bytes(directory: &Path) -> Result<u64, Failure> {
    let mut total = 0;
    for entry in std::fs::read_dir(directory)? {
        // A file may disappear after the listing.
        total += entry?.metadata().map_or(0, |metadata| metadata.len());
    }
    Ok(total)
}
