//! A thread that writes batch after batch, in every possible way.

use std::collections::BTreeSet;
use std::sync::mpsc;

use terrace_engine::{Db, WriteBatch, WriteOptions};

use super::content::changes;
use super::progress::{Progress, Step, Stop, stop};
use crate::campaign::Tally;
use crate::random::Random;

/// Number of submissions that one writer has open at once.
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

    /// Submits several batches. Each must be answered once: those that are written in order, the others, which came
    /// after the database began to close, at any time.
    fn submit(&mut self, tally: &mut Tally) -> Step {
        let (sender, answers) = mpsc::channel();
        let mut unanswered = BTreeSet::new();
        for _ in 0..self.random.between(1, MOST_OPEN) {
            let (number, batch) = self.next_batch()?;
            unanswered.insert(number);
            let sender = sender.clone();
            // The other end is gone only after a failure that is reported there.
            let done = move |result| drop(sender.send((number, result)));
            self.db.submit(batch, self.options(), Box::new(done));
        }
        drop(sender);
        let mut first_refused = u64::MAX;
        for (number, result) in answers {
            tally.one("submitted writes");
            match result.map_err(stop("submit")) {
                Ok(()) if unanswered.first() == Some(&number) && number < first_refused => {
                    self.progress.acknowledge(self.author, number);
                }
                Ok(()) => return Err(Stop::Broken(format!("batch {number} was written out of its turn"))),
                Err(Stop::Closed) => first_refused = first_refused.min(number),
                Err(broken) => return Err(broken),
            }
            if !unanswered.remove(&number) {
                return Err(Stop::Broken(format!("batch {number} was answered twice")));
            }
        }
        match unanswered.first() {
            Some(number) => Err(Stop::Broken(format!("batch {number} was never answered"))),
            None if first_refused < u64::MAX => Err(Stop::Closed),
            None => Ok(()),
        }
    }
}
