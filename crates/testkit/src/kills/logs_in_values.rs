//! Writers that are killed while they write large values that look like logs: images of LevelDB logs, and zeros.
//!
//! Such a writer leaves a log that ends amid a record whose value is full of records. Terrace, with paranoid checks,
//! and LevelDB must open it and find what was acknowledged, with or without the write in progress; a repair must also
//! find that and nothing else. Then the log is cut at other places in the record, repeatedly.
//! find that and nothing else. Then the log is cut elsewhere in the record, again and again.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use terrace_engine::{Db, Options, WriteBatch};
use terrace_format::log::LogEncoder;

use super::directory::copy;
use super::leveldb::LevelDb;
use super::oracle::contents;
use crate::campaign::{Tally, TrialResult};
use crate::crash::{Batch, Model};
use crate::operations_file;
use crate::random::Random;

const VALUE_SIZE_BYTES: usize = 24 << 20;
const LARGE_WRITES: usize = 3;
/// Longer than a large write takes.
const LONGEST_WAIT: Duration = Duration::from_millis(300);
const POLL_EVERY: Duration = Duration::from_micros(50);
/// Number of cuts of each log.
const CUTS: usize = 2;
/// Used alternately. The first is LevelDB's own choice; each large write then fills a memtable. The other keeps
/// everything in one log.
const WRITE_BUFFERS_BYTES: [usize; 2] = [4 << 20, 256 << 20];

struct Trial {
    random: Random,
    directory: PathBuf,
    batches: Vec<Batch>,
    write_buffer_bytes: usize,
    leveldb: Option<LevelDb>,
    tally: Tally,
}

/// Runs the trial of `seed`: one life of the program `driver`, which is `terrace-interop`.
///
/// # Errors
///
/// The promise that was broken, and where the directory is.
pub fn run(seed: u64, driver: &Path) -> TrialResult {
    let directory =
        tempfile::Builder::new().prefix("terrace-values-").tempdir().map_err(|error| error.to_string())?;
    let mut random = Random::new(seed);
    let mut trial = Trial {
        directory: directory.path().to_owned(),
        batches: draw_batches(&mut random),
        write_buffer_bytes: WRITE_BUFFERS_BYTES[seed as usize % WRITE_BUFFERS_BYTES.len()],
        leveldb: LevelDb::start()?,
        tally: Tally::default(),
        random,
    };
    match trial.run(driver) {
        Ok(()) => Ok(trial.tally),
        Err(problem) => Err(format!("{problem}\nthe directory is kept: {}", directory.keep().display())),
    }
}

impl Trial {
    fn run(&mut self, driver: &Path) -> Result<(), String> {
        let left = self.directory.join("db");
        let acknowledged = self.write_until_killed(driver, &left)?;
        let found = self.check(&left, &[acknowledged, acknowledged + 1])?;
        if self.write_buffer_bytes == WRITE_BUFFERS_BYTES[1] {
            self.check_log(&left, found)?;
            for _ in 0..CUTS {
                self.check_cut(&left)?;
            }
        }
        Ok(())
    }

    /// Returns the number of acknowledged writes.
    fn write_until_killed(&mut self, driver: &Path, directory: &Path) -> Result<usize, String> {
        let io = |error: std::io::Error| error.to_string();
        let operations = self.directory.join("operations");
        operations_file::save(&operations, &self.batches).map_err(io)?;
        // After this, one of the large writes is next.
        let awaited = self.batches.len() - 1 - self.random.below(LARGE_WRITES);
        // Where all logs stay, this is known before the writer begins, however late its acknowledgement is heard.
        let stays = self.write_buffer_bytes == WRITE_BUFFERS_BYTES[1];
        let acknowledged_bytes = stays.then(|| encoded(&self.batches[..awaited]).0.len() as u64);
        let mut command = Command::new(driver);
        command.arg("apply").arg(directory).arg("--operations").arg(&operations).arg("--acknowledge");
        command.args(["--write-buffer", &self.write_buffer_bytes.to_string()]);
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", driver.display()))?;
        let mut lines = BufReader::new(process.stdout.take().ok_or("no pipe from the writer")?).lines();
        let mut acknowledged = 0;
        while acknowledged < awaited {
            let line = lines.next().ok_or("the writer ended by itself")?.map_err(io)?;
            acknowledged = line.parse().map_err(|_| format!("not a number of writes: {line:?}"))?;
        }
        let bytes_before = acknowledged_bytes.unwrap_or_else(|| size_of_logs(directory));
        wait_for_size_of_logs(directory, bytes_before + self.random.below(VALUE_SIZE_BYTES) as u64);
        process.kill().map_err(io)?;
        process.wait().map_err(io)?;
        for line in lines {
            acknowledged = line.map_err(io)?.parse().map_err(|_| "not a number of writes")?;
        }
        fs::remove_file(&operations).map_err(io)?;
        self.tally.one("kills");
        Ok(acknowledged)
    }

    /// Checks copies of `left`, opened by both engines and repaired. They must hold the first batches, as many as one
    /// of `counts`, which is returned.
    fn check(&mut self, left: &Path, counts: &[usize]) -> Result<usize, String> {
        let io = |error: std::io::Error| error.to_string();
        let [ours, theirs, repaired] = ["ours", "theirs", "repaired"].map(|name| self.directory.join(name));
        for directory in [&ours, &theirs, &repaired] {
            copy(left, directory).map_err(io)?;
        }
        if let Some(leveldb) = &mut self.leveldb {
            leveldb.ask(&theirs)?;
        }
        let (found, digest) = self.read(&ours)?;
        let is_expected = |count: &&usize| found == self.state_after(**count);
        let count = *counts.iter().find(is_expected).ok_or_else(|| {
            format!("{:?} are there, expected after {counts:?} writes", found.keys().collect::<Vec<_>>())
        })?;
        if let Some(leveldb) = &mut self.leveldb {
            leveldb.expect(&digest)?;
            self.tally.one("LevelDB checks");
        }
        let report =
            Db::repair(&repaired, &self.options()).map_err(|error| format!("repair: {error}"))?.to_string();
        let (after_repair, _) = self.read(&repaired)?;
        if after_repair != found {
            let keys = after_repair.keys().map(|key| key.escape_ascii().to_string()).take(20);
            return Err(format!("after a repair {:?} are there: {report}", keys.collect::<Vec<_>>()));
        }
        self.tally.one("repairs");
        [ours, theirs, repaired].iter().try_for_each(fs::remove_dir_all).map_err(io)?;
        Ok(count)
    }

    fn read(&self, directory: &Path) -> Result<(Model, crate::digest::Digest), String> {
        let db = Db::open(directory, self.options()).map_err(|error| format!("open: {error}"))?;
        let read = contents(&db)?;
        db.close().map_err(|error| format!("close: {error}"))?;
        Ok(read)
    }

    /// Checks that the log of `left`, which holds the first `count` batches, is what LevelDB writes, or a prefix of
    /// it.
    fn check_log(&mut self, left: &Path, count: usize) -> Result<(), String> {
        let log = fs::read(log_of(left)?).map_err(|error| error.to_string())?;
        let whole = encoded(&self.batches).0;
        let end = encoded(&self.batches[..count]).0.len();
        if log.get(..end) != whole.get(..end) {
            return Err("the log is not what LevelDB writes".to_owned());
        }
        self.tally.add("kills amid a large record", u64::from(log[end..].iter().any(|byte| *byte != 0)));
        Ok(())
    }

    /// Cuts the log anywhere in one of the large records.
    fn check_cut(&mut self, left: &Path) -> Result<(), String> {
        let (whole, starts) = encoded(&self.batches);
        let count = self.batches.len() - 1 - self.random.below(LARGE_WRITES);
        let end = starts.get(count + 1).map_or(whole.len(), |start| *start);
        let cut = self.random.between(starts[count] + 1, end - 1);
        let directory = self.directory.join("cut");
        copy(left, &directory).map_err(|error| error.to_string())?;
        fs::write(log_of(&directory)?, &whole[..cut]).map_err(|error| error.to_string())?;
        self.check(&directory, &[count]).map_err(|problem| {
            format!("cut at {cut}, in the record from {} to {end}: {problem}", starts[count])
        })?;
        self.tally.one("cut logs");
        fs::remove_dir_all(directory).map_err(|error| error.to_string())
    }

    fn state_after(&self, count: usize) -> Model {
        let changes = self.batches.iter().take(count).flatten();
        changes.filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect()
    }

    fn options(&self) -> Options {
        Options {
            create_if_missing: false,
            paranoid_checks: true,
            write_buffer_size_bytes: self.write_buffer_bytes,
            ..Options::default()
        }
    }
}

/// Draws some small batches, so that the large ones begin anywhere and with any sequence, and then the large ones.
/// All are puts with different keys.
fn draw_batches(random: &mut Random) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut sequence = 1;
    for number in 0..random.between(1, 40) {
        let size = random.below(2_000);
        batches.push(vec![(format!("small {number:02}").into_bytes(), Some(random.bytes(size)))]);
        sequence += 1;
    }
    for number in 0..LARGE_WRITES {
        let value = draw_value(random, sequence);
        batches.push(vec![(format!("value {number}").into_bytes(), Some(value))]);
        sequence += 1;
    }
    batches
}

/// Draws a value for a batch with that sequence.
fn draw_value(random: &mut Random, sequence: u64) -> Vec<u8> {
    // The records in it begin anywhere in a block.
    let before = random.choose(&[0, 7, 1_000, 20_000]);
    let mut value = random.bytes(before);
    match random.below(5) {
        0 => value.extend(stored_log(1, VALUE_SIZE_BYTES)),
        // As if the records continued after this one.
        1 => value.extend(stored_log(sequence + 1, VALUE_SIZE_BYTES)),
        2 => value.resize(VALUE_SIZE_BYTES, 0),
        _ => {
            while value.len() < VALUE_SIZE_BYTES {
                let first = random.choose(&[1, sequence, sequence + 1]);
                value.extend(stored_log(first, random.choose(&[5_000, 70_000, 1 << 20])));
                value.resize(value.len() + random.choose(&[0, 600, 5_000, 70_000]), 0);
            }
        }
    }
    value
}

/// A log of at least this many bytes, as LevelDB writes it, of puts that were never made.
fn stored_log(first_sequence: u64, size_bytes: usize) -> Vec<u8> {
    let mut encoder = LogEncoder::new();
    let mut log = Vec::with_capacity(size_bytes + (1 << 10));
    let mut sequence = first_sequence;
    while log.len() < size_bytes {
        let key = format!("nobody wrote {sequence}");
        encoder.encode_into(put(sequence, key.as_bytes(), &[b'n'; 300]).as_bytes(), &mut log);
        sequence += 1;
    }
    log
}

fn put(sequence: u64, key: &[u8], value: &[u8]) -> WriteBatch {
    let mut batch = WriteBatch::new();
    batch.put(key, value).expect("the batch is within the limits");
    batch.set_sequence(sequence);
    batch
}

/// The log of a database to which only `batches` of one put each were written, and the offset of each.
fn encoded(batches: &[Batch]) -> (Vec<u8>, Vec<usize>) {
    let mut encoder = LogEncoder::new();
    let (mut log, mut starts) = (Vec::new(), Vec::new());
    for (sequence, (key, value)) in (1..).zip(batches.iter().flatten()) {
        let batch = put(sequence, key, value.as_ref().expect("all are puts"));
        starts.push(log.len());
        encoder.encode_into(batch.as_bytes(), &mut log);
    }
    (log, starts)
}

/// Waits until the logs in `directory` have this many bytes, or one was removed in the meantime, so that they never will.
fn wait_for_size_of_logs(directory: &Path, wanted_bytes: u64) {
    let start = Instant::now();
    while size_of_logs(directory) < wanted_bytes && start.elapsed() < LONGEST_WAIT {
        sleep(POLL_EVERY);
    }
}

fn size_of_logs(directory: &Path) -> u64 {
    let sizes = logs_in(directory).into_iter().filter_map(|log| log.metadata().ok());
    sizes.map(|metadata| metadata.len()).sum()
}

fn logs_in(directory: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "log")).collect()
}

/// The only log in `directory`.
fn log_of(directory: &Path) -> Result<PathBuf, String> {
    let logs = logs_in(directory);
    match &logs[..] {
        [log] => Ok(log.clone()),
        _ => Err(format!("one log was expected: {logs:?}")),
    }
}
