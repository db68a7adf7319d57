//! A thread that writes batch after batch, in each of the ways there are.

use std::sync::mpsc;

use terrace_engine::{Db, WriteBatch, WriteOptions};

use super::content::changes;
use super::progress::{Progress, Step, Stop, stop};
use crate::campaign::Tally;
use crate::random::Random;

/// Submissions that one writer has open at once.
const MOST_OPEN: usize = 6;

pub(super) struct Writer<'a> {
    pub(super) db: &'a Db,
    pub(super) progress: &'a Progress,
    pub(super) author: usize,
    pub(super) random: Random,
}

impl Writer<'_> {
    /// Writes until the database is closed.
    pub(super) fn run(mut self) -> Result<Tally, String> {
        let mut tally = Tally::default();
        let progress = self.progress;
        progress.repeat(|| {
            if self.random.one_in(8) { self.submit(&mut tally) } else { self.write(&mut tally) }
        })?;
        Ok(tally)
    }

    fn next_batch(&mut self) -> Step<(u64, WriteBatch)> {
        let number = self.progress.begin(self.author);
        let mut batch = WriteBatch::new();
        for (key, value) in changes(self.author, number) {
            let added = match value {
                Some(value) => batch.put(&key, &value),
                None => batch.delete(&key),
            };
            added.map_err(|error| Stop::Broken(format!("making a batch: {error}")))?;
        }
        Ok((number, batch))
    }

    fn options(&mut self) -> WriteOptions {
        WriteOptions { sync: self.random.one_in(16) }
    }

    fn write(&mut self, tally: &mut Tally) -> Step {
        let (number, mut batch) = self.next_batch()?;
        let options = self.options();
        let tries = self.random.one_in(3);
        if tries && self.db.try_write(&mut batch, &options).map_err(stop("try_write"))? {
            tally.one("writes without waiting");
        } else {
            self.db.write(batch, &options).map_err(stop("write"))?;
        }
        self.progress.acknowledge(self.author, number);
        tally.one("writes");
        Ok(())
    }

    /// Submits several batches. Each must be answered once, in order; after the first that finds the database closed,
    /// so must the others.
    fn submit(&mut self, tally: &mut Tally) -> Step {
        let (sender, answers) = mpsc::channel();
        let count = self.random.between(1, MOST_OPEN);
        let mut numbers = Vec::new();
        for _ in 0..count {
            let (number, batch) = self.next_batch()?;
            numbers.push(number);
            let sender = sender.clone();
            // The other end is gone only after a failure that is reported there.
            let done = move |result| drop(sender.send((number, result)));
            self.db.submit(batch, self.options(), Box::new(done));
        }
        drop(sender);
        let mut closed = false;
        for expected in numbers {
            let Ok((number, result)) = answers.recv() else {
                return Err(Stop::Broken(format!("the submitted batch {expected} was never answered")));
            };
            if number != expected {
                return Err(Stop::Broken(format!("batch {number} was answered when {expected} was due")));
            }
            match result.map_err(stop("submit")) {
                Ok(()) if closed => {
                    return Err(Stop::Broken(format!(
                        "batch {number} was written after one before it was refused"
                    )));
                }
                Ok(()) => self.progress.acknowledge(self.author, number),
                Err(Stop::Closed) => closed = true,
                Err(broken) => return Err(broken),
            }
            tally.one("submitted writes");
        }
        if answers.recv().is_ok() {
            return Err(Stop::Broken("a submitted batch was answered twice".to_owned()));
        }
        if closed { Err(Stop::Closed) } else { Ok(()) }
    }
}
