//! The writer that is killed: see `terrace_testkit::kills`.
//!
//!     terrace-writer DIRECTORY SEED [DIRECTORY FOR CHECKPOINTS]
//!
//! It writes until it dies. Each line on standard output is one system call, made when the line is true.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use terrace_engine::{Db, Error, ErrorKind, ReadOptions, WriteBatch, WriteOptions};
use terrace_testkit::kills::lane::{Lane, LaneBatch};
use terrace_testkit::kills::setup::Setup;
use terrace_testkit::kills::transcript::Line;
use terrace_testkit::random::Random;

type Problem = Box<dyn std::error::Error>;

/// Pause before retrying a write that a full disk refused, in milliseconds.
const REFUSED_PAUSE_MS: u64 = 5;
const LONGEST_PAUSE_BETWEEN_CHORES_MS: usize = 15;

fn main() -> Result<(), Problem> {
    let mut words = std::env::args_os().skip(1);
    let directory = PathBuf::from(words.next().ok_or("no directory")?);
    let seed: u64 = words.next().and_then(|word| word.to_str()?.parse().ok()).ok_or("no seed")?;
    let checkpoints = words.next().map(PathBuf::from);
    let setup = Setup::new(seed);
    let writer = Writer {
        db: Db::open(directory, setup.options())?,
        // Not `std::io::stdout()`, which has a buffer.
        output: File::from(std::io::stdout().as_fd().try_clone_to_owned()?),
    };
    let lanes = setup.lanes();
    let counts = lanes.iter().map(|lane| writer.newest(*lane)).collect::<Result<Vec<_>, _>>()?;
    writer.say(&Line::Opened(counts.clone()))?;
    thread::scope(|scope| {
        for (number, (lane, count)) in lanes.into_iter().zip(counts).enumerate() {
            let writer = &writer;
            scope.spawn(move || end(writer.write_lane(number, lane, count)));
        }
        end(writer.do_chores(checkpoints.as_deref()))
    })
}

/// Ends a thread that should run until the process dies.
fn end(result: Result<Infallible, Problem>) -> ! {
    let Err(problem) = result;
    eprintln!("{problem}");
    exit(1)
}

struct Writer {
    db: Db,
    output: File,
}

impl Writer {
    fn say(&self, line: &Line) -> std::io::Result<()> {
        (&self.output).write_all(format!("{line}\n").as_bytes())
    }

    /// The number of the lane's newest batch; 0 if there is none.
    fn newest(&self, lane: Lane) -> Result<u64, Problem> {
        match self.db.get(&lane.mark(), &ReadOptions::default())? {
            Some(mark) => Lane::marked(&mark).ok_or_else(|| "the mark is damaged".into()),
            None => Ok(0),
        }
    }

    fn write_lane(&self, number: usize, lane: Lane, count: u64) -> Result<Infallible, Problem> {
        let mut newest = count;
        loop {
            let batch = lane.batch(newest + 1);
            if batch.is_large {
                self.say(&Line::Large(number))?;
            }
            match self.write(&batch, newest % 4) {
                Ok(()) => {
                    newest += 1;
                    self.say(&Line::Acknowledged(number, newest))?;
                }
                Err(error) if error.kind() == ErrorKind::DiskFull => {
                    self.say(&Line::Refused(number))?;
                    thread::sleep(Duration::from_millis(REFUSED_PAUSE_MS));
                }
                Err(error) => return Err(error.into()),
            }
            let read = self.newest(lane)?;
            if read != newest {
                return Err(format!("lane {number} reads batch {read} as its newest, not {newest}").into());
            }
        }
    }

    /// Writes the batch in one of the possible ways.
    fn write(&self, batch: &LaneBatch, way: u64) -> Result<(), Error> {
        let options = WriteOptions { sync: batch.sync };
        let mut operations = WriteBatch::new();
        for (key, value) in &batch.operations {
            let added = match value {
                Some(value) => operations.put(key, value),
                None => operations.delete(key),
            };
            added.expect("the batch is within the limits");
        }
        match way {
            0 => {
                let (sender, done) = channel();
                self.db.submit(operations, options, Box::new(move |result| drop(sender.send(result))));
                done.recv().expect("every submitted write ends")
            }
            1 if self.db.try_write(&mut operations, &options)? => Ok(()),
            _ => self.db.write(operations, &options),
        }
    }

    /// Flushes, compactions and checkpoints at random moments.
    fn do_chores(&self, checkpoints: Option<&Path>) -> Result<Infallible, Problem> {
        let mut random = Random::new(terrace_testkit::random::seed());
        for chore in 0u64.. {
            thread::sleep(Duration::from_millis(random.below(LONGEST_PAUSE_BETWEEN_CHORES_MS) as u64));
            let done = match (random.below(6), checkpoints) {
                (0..3, _) => self.chore(|db| db.flush())?,
                (3..5, _) | (_, None) => self.chore(|db| db.compact_range(None, None))?,
                (_, Some(directory)) => self.checkpoint(directory, chore)?,
            };
            if let Err(error) = done
                && error.kind() != ErrorKind::DiskFull
            {
                return Err(error.into());
            }
        }
        unreachable!("chores never end")
    }

    fn chore(&self, chore: impl FnOnce(&Db) -> Result<(), Error>) -> std::io::Result<Result<(), Error>> {
        self.say(&Line::Chore)?;
        Ok(chore(&self.db))
    }

    fn checkpoint(&self, directory: &Path, chore: u64) -> std::io::Result<Result<(), Error>> {
        let name = format!("{}-{chore}", std::process::id());
        fs::create_dir_all(directory)?;
        self.say(&Line::CheckpointBegins(name.clone()))?;
        let done = self.db.checkpoint(directory.join(&name));
        if done.is_ok() {
            self.say(&Line::CheckpointDone(name))?;
        }
        Ok(done)
    }
}
