//! A thread that reads in every possible way, and checks that it sees one state, and never an older one.

use terrace_engine::{Db, DbIterator, IterOptions, ReadOptions, Snapshot};

use super::content::{AUTHORS, Entries, Numbers, copy_key, number_in, numbers};
use super::progress::{Progress, Step, Stop, stop};
use crate::campaign::Tally;
use crate::random::Random;

/// Number of views that a reader holds while time passes.
const MOST_HELD: usize = 4;

/// A view, and what it showed.
enum Held {
    Snapshot(Snapshot),
    Iterator(Box<DbIterator>),
}

pub(super) struct Reader<'a> {
    db: &'a Db,
    progress: &'a Progress,
    random: Random,
    /// The newest batches that this thread has seen.
    last_seen: Numbers,
    held: Vec<(Held, Entries)>,
    tally: Tally,
}

impl<'a> Reader<'a> {
    pub(super) fn new(db: &'a Db, progress: &'a Progress, random: Random) -> Self {
        let last_seen = progress.acknowledged();
        Self { db, progress, random, last_seen, held: Vec::new(), tally: Tally::default() }
    }

    /// Reads until the database is closed. Iterators outlive that.
    pub(super) fn run(mut self) -> Result<Tally, String> {
        let progress = self.progress;
        progress.repeat(|| self.step())?;
        for (held, entries) in self.held {
            if let Held::Iterator(mut iterator) = held {
                unchanged(&mut iterator, &entries, "closing").map_err(told)?;
            }
        }
        Ok(self.tally)
    }

    fn step(&mut self) -> Step {
        match self.random.below(8) {
            0 => self.look_again(),
            1 => self.take_snapshot(),
            2 | 3 => self.iterate(),
            _ => self.get(),
        }
    }

    /// The least that a read that begins now must show.
    fn floor(&self) -> Numbers {
        let acknowledged = self.progress.acknowledged();
        std::array::from_fn(|author| acknowledged[author].max(self.last_seen[author]))
    }

    /// Checks a state that was read; `floor` was taken before the read.
    fn see(&mut self, floor: &Numbers, entries: &Entries) -> Step {
        let seen = numbers(entries).map_err(Stop::Broken)?;
        self.progress.check(floor, &seen).map_err(Stop::Broken)?;
        self.last_seen = seen;
        Ok(())
    }

    /// Gets several copies of one author's number, one after the other: it never decreases.
    fn get(&mut self) -> Step {
        let author = self.random.below(AUTHORS);
        for _ in 0..self.random.between(1, 8) {
            let floor = self.floor();
            let key = copy_key(self.random.below(4), author);
            let value = self.db.get(&key, &ReadOptions::default()).map_err(stop("get"))?;
            let number = value.map_or(Ok(0), |value| number_in(author, &value)).map_err(Stop::Broken)?;
            let mut seen = floor;
            seen[author] = number;
            self.progress.check(&floor, &seen).map_err(Stop::Broken)?;
            self.last_seen[author] = number;
        }
        self.tally.one("rounds of gets");
        Ok(())
    }

    fn iterate(&mut self) -> Step {
        let floor = self.floor();
        let mut iterator = self.db.iter(IterOptions::default()).map_err(stop("iter"))?;
        let entries = if self.random.one_in(2) { forwards(&mut iterator) } else { backwards(&mut iterator) };
        let entries = entries?;
        self.see(&floor, &entries)?;
        self.hold(Held::Iterator(Box::new(iterator)), entries);
        self.tally.one("scans");
        Ok(())
    }

    fn take_snapshot(&mut self) -> Step {
        let floor = self.floor();
        let snapshot = self.db.snapshot();
        let mut iterator = self.db.iter(at(&snapshot)).map_err(stop("iter"))?;
        let entries = forwards(&mut iterator)?;
        self.see(&floor, &entries)?;
        self.hold(Held::Snapshot(snapshot), entries);
        self.tally.one("snapshots");
        Ok(())
    }

    fn hold(&mut self, held: Held, entries: Entries) {
        if self.held.len() == MOST_HELD {
            self.held.swap_remove(self.random.below(MOST_HELD));
        }
        self.held.push((held, entries));
    }

    /// Checks whether a view that was held for a while still shows the same.
    fn look_again(&mut self) -> Step {
        if self.held.is_empty() {
            return Ok(());
        }
        let index = self.random.below(self.held.len());
        let (held, entries) = &mut self.held[index];
        match held {
            Held::Iterator(iterator) => unchanged(iterator, entries, "more writes")?,
            Held::Snapshot(snapshot) => {
                let mut iterator = self.db.iter(at(snapshot)).map_err(stop("iter"))?;
                unchanged(&mut iterator, entries, "more writes")?;
                let read = at(snapshot).read;
                for (key, value) in entries.iter().step_by(7) {
                    if self.db.get(key, &read).map_err(stop("get"))?.as_ref() != Some(value) {
                        let key = key.escape_ascii();
                        return Err(Stop::Broken(format!("a get of {key} differs from its snapshot's scan")));
                    }
                }
            }
        }
        self.tally.one("second looks");
        Ok(())
    }
}

fn at(snapshot: &Snapshot) -> IterOptions {
    let read = ReadOptions { snapshot: Some(snapshot.clone()), ..ReadOptions::default() };
    IterOptions { read, ..IterOptions::default() }
}

/// All entries, from the first on.
pub(super) fn forwards(iterator: &mut DbIterator) -> Step<Entries> {
    let mut entries = Entries::new();
    iterator.seek_to_first().map_err(stop("seek_to_first"))?;
    while iterator.valid() {
        entries.insert(iterator.key().to_vec(), iterator.value().to_vec());
        iterator.next().map_err(stop("next"))?;
    }
    Ok(entries)
}

fn backwards(iterator: &mut DbIterator) -> Step<Entries> {
    let mut entries = Entries::new();
    iterator.seek_to_last().map_err(stop("seek_to_last"))?;
    while iterator.valid() {
        entries.insert(iterator.key().to_vec(), iterator.value().to_vec());
        iterator.prev().map_err(stop("prev"))?;
    }
    Ok(entries)
}

fn unchanged(iterator: &mut DbIterator, entries: &Entries, after: &str) -> Step {
    if forwards(iterator)? == *entries && backwards(iterator)? == *entries {
        return Ok(());
    }
    Err(Stop::Broken(format!("a view shows something else after {after}")))
}

/// For places where nothing may be closed any more.
fn told(stop: Stop) -> String {
    match stop {
        Stop::Closed => "an iterator found its database closed".to_owned(),
        Stop::Broken(problem) => problem,
    }
}
