//! Opens and reads a damaged copy: each answer is right, or an error that names a damaged place.

use std::sync::Arc;

use terrace_engine::env::{Env, MemoryEnv};
use terrace_engine::{Db, DbIterator, Error, ErrorKind, IterOptions, Options, ReadOptions};

use super::Trial;
use super::database::{DIRECTORY, place, read_files};
use super::history::History;
use crate::campaign::Tally;
use crate::random::Random;

/// The possible contents of a database: the state after one of these sequences.
pub struct States<'a> {
    history: &'a History,
    bounds: Vec<u64>,
}

impl States<'_> {
    /// Records that a read found the write `found` of the key, or nothing.
    fn observe(&mut self, key: usize, found: Option<u64>) -> Result<(), String> {
        let history = self.history;
        let last = self.bounds.last().copied();
        self.bounds.retain(|bound| history.shown(key, *bound) == found);
        if self.bounds.is_empty() {
            let expected = last.and_then(|bound| history.shown(key, bound));
            let key = history.keys[key].escape_ascii();
            return Err(format!("the key {key} shows the write {found:?} instead of {expected:?}"));
        }
        Ok(())
    }
}

pub fn check(trial: &Trial<'_>, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let env: Arc<dyn Env> = Arc::new(MemoryEnv::with_steps());
    place(&*env, &trial.harmed.files);
    let read_only = Options { read_only: true, ..trial.database.options(&env) };
    match Db::open(DIRECTORY, read_only) {
        Err(error) => {
            tally.one("opens that failed");
            trial.judge_open(&error)?;
        }
        Ok(db) => {
            trial.check_reads(&db, random, tally).map_err(|problem| format!("reading only: {problem}"))?;
            trial.check_verify(&db, tally)?;
            db.close().map_err(|error| format!("closing after reading only: {error}"))?;
        }
    }
    if read_files(&*env) != trial.harmed.files {
        return Err("an open to read only changed the directory".to_owned());
    }
    match Db::open(DIRECTORY, trial.database.options(&env)) {
        Err(error) => trial.judge_open(&error),
        Ok(db) => {
            trial.check_reads(&db, random, tally)?;
            // Whatever the background does with the damage, reads stay right.
            let steps = random.below(10);
            let _ = (0..steps).all(|_| db.step());
            trial
                .check_reads(&db, random, tally)
                .map_err(|problem| format!("after {steps} steps: {problem}"))?;
            let _ = db.close();
            Ok(())
        }
    }
}

impl Trial<'_> {
    /// The possible contents of the copy, if it is readable.
    fn states(&self) -> States<'_> {
        let history = &self.database.history;
        let bounds = if self.has_torn_log() {
            let ends = history.batch_ends.iter().copied();
            let from = self.anatomy.newest_in_tables;
            ends.filter(|end| *end >= from).chain((from == 0).then_some(0)).collect()
        } else {
            vec![history.last_sequence()]
        };
        // With neither CURRENT nor a table nor a record, it looks like an interrupted creation, which an open
        // completes.
        let bounds = if self.looks_unfinished() { [bounds, vec![0]].concat() } else { bounds };
        States { history, bounds }
    }

    /// Whether a log may look as a power cut leaves it.
    fn has_torn_log(&self) -> bool {
        let may_be_torn = |name: &String| self.harmed.may_be_a_torn_log(self.database, self.anatomy, name);
        self.anatomy.logs.iter().any(may_be_torn)
    }

    /// Whether CURRENT is gone, and nothing else shows that there was a database.
    fn looks_unfinished(&self) -> bool {
        let holds_data = |(name, bytes): (&String, &Vec<u8>)| {
            !name.starts_with("lost/")
                && (name.ends_with(".ldb") || (name.ends_with(".log") && !bytes.is_empty()))
        };
        self.harmed.deleted.contains("CURRENT") && !self.harmed.files.iter().any(holds_data)
    }

    fn judge_open(&self, error: &Error) -> Result<(), String> {
        let is_nothing_left = |name: &String| !name.ends_with(".ldb") && !name.ends_with(".log");
        if error.kind() == ErrorKind::NoDatabase
            && self.harmed.deleted.contains("CURRENT")
            && self.harmed.files.keys().filter(|name| !name.starts_with("lost/")).all(is_nothing_left)
        {
            return Ok(());
        }
        if error.kind() != ErrorKind::Corruption {
            return Err(format!("the open fails with {:?}: {error}", error.kind()));
        }
        let name = name_in(error);
        let harmed = &self.harmed;
        if name == "CURRENT" && harmed.names.contains(&name) {
            return Ok(());
        }
        // A changed MANIFEST may refer to files that are gone, and so may a changed CURRENT.
        let leads_astray = harmed.names.contains(&self.anatomy.manifest) || harmed.names.contains("CURRENT");
        if !harmed.files.contains_key(&name) && (harmed.deleted.contains(&name) || leads_astray) {
            return Ok(());
        }
        self.judge(error)
    }

    /// Checks that the error names a place in a damaged file.
    fn judge(&self, error: &Error) -> Result<(), String> {
        let name = name_in(error);
        if error.kind() != ErrorKind::Corruption {
            return Err(format!("a read fails with {:?}: {error}", error.kind()));
        }
        let may_count = self.anatomy.is_live(&name) || self.may_be_older();
        if !self.harmed.names.contains(&name) || !may_count {
            return Err(format!("an error names {name}, which is not damaged: {error}"));
        }
        match error.offset() {
            Some(offset) if offset <= self.database.files[&name].len() as u64 => Ok(()),
            offset => Err(format!("an error names the offset {offset:?}: {error}")),
        }
    }

    fn check_reads(&self, db: &Db, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
        let mut states = self.states();
        let mut reads = Reads { trial: self, states: &mut states, tally };
        reads.gets(db)?;
        let mut iterator =
            db.iter(IterOptions::default()).map_err(|error| format!("an iterator: {error}"))?;
        reads.walk(&mut iterator, 0, true)?;
        let count = self.database.history.keys.len();
        reads.walk(&mut iterator, count - 1, false)?;
        for _ in 0..3 {
            let (from, forward) = (random.below(count), random.one_in(2));
            reads.walk(&mut iterator, from, forward)?;
        }
        Ok(())
    }

    fn check_verify(&self, db: &Db, tally: &mut Tally) -> Result<(), String> {
        tally.one("verifies");
        match (self.damaged_tables().next().is_none(), db.verify()) {
            (true, Ok(())) => Ok(()),
            // The log that does not continue may be the one after a missing log.
            (_, Err(error)) if self.has_torn_log() && self.anatomy.logs.contains(&name_in(&error)) => Ok(()),
            (_, Ok(())) if self.may_be_older() => Ok(()),
            (true, Err(error)) if self.may_be_older() => self.judge(&error),
            (true, Err(error)) => Err(format!("verify finds damage that is not there: {error}")),
            (false, Ok(())) => Err("verify finds no damage".to_owned()),
            (false, Err(error)) => {
                tally.one("verifies that failed");
                self.judge(&error)
            }
        }
    }

    /// Whether the MANIFEST may have lost a compaction whose inputs all still exist: the state before it holds the
    /// same in other tables.
    pub fn may_be_older(&self) -> bool {
        self.harmed.names.contains(&self.anatomy.manifest)
    }

    /// Live tables with any changed byte.
    pub fn damaged_tables(&self) -> impl Iterator<Item = &String> {
        self.harmed.names.iter().filter(|name| self.anatomy.tables.contains_key(*name))
    }
}

/// The name of the file that an error is about.
fn name_in(error: &Error) -> String {
    let name = error.path().and_then(|path| path.file_name());
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The reads of one database.
struct Reads<'a, 'b> {
    trial: &'a Trial<'a>,
    states: &'b mut States<'a>,
    tally: &'b mut Tally,
}

impl Reads<'_, '_> {
    fn failed(&mut self, error: &Error) -> Result<(), String> {
        self.tally.one("reads that failed");
        self.trial.judge(error)
    }

    fn gets(&mut self, db: &Db) -> Result<(), String> {
        let history = &self.trial.database.history;
        for (key, name) in history.keys.iter().enumerate() {
            self.tally.one("reads");
            match db.get(name, &ReadOptions::default()) {
                Ok(value) => {
                    let found = value.map(|value| history.identify(key, &value)).transpose()?;
                    self.states.observe(key, found).map_err(|problem| format!("get: {problem}"))?;
                }
                Err(error) => self.failed(&error)?,
            }
            let absent = [name.as_slice(), b"!"].concat();
            if history.index(&absent).is_err() {
                match db.get(&absent, &ReadOptions::default()) {
                    Ok(None) => {}
                    Ok(Some(_)) => return Err("a key that was never written is there".to_owned()),
                    Err(error) => self.failed(&error)?,
                }
            }
        }
        Ok(())
    }

    /// Walks from the key `from` to the end, or until an error.
    fn walk(&mut self, iterator: &mut DbIterator, from: usize, forward: bool) -> Result<(), String> {
        let history = &self.trial.database.history;
        let count = history.keys.len();
        self.tally.one("reads");
        let target = &history.keys[from];
        let mut step = if forward { iterator.seek(target) } else { iterator.seek_for_prev(target) };
        // The keys that must follow from there on.
        let mut next = Some(from);
        let beyond =
            |key: usize| if forward { Some(key + 1).filter(|key| *key < count) } else { key.checked_sub(1) };
        loop {
            if let Err(error) = step {
                return self.failed(&error);
            }
            let found = if iterator.valid() { Some(history.index(iterator.key())?) } else { None };
            loop {
                let Some(key) = next else {
                    return found.map_or(Ok(()), |_| Err("an iterator shows keys out of order".to_owned()));
                };
                next = beyond(key);
                if found == Some(key) {
                    let write = history.identify(key, iterator.value())?;
                    self.observe(key, Some(write), forward)?;
                    break;
                }
                self.observe(key, None, forward)?;
            }
            step = if forward { iterator.next() } else { iterator.prev() };
        }
    }

    fn observe(&mut self, key: usize, found: Option<u64>, forward: bool) -> Result<(), String> {
        let direction = if forward { "forward" } else { "backward" };
        self.states.observe(key, found).map_err(|problem| format!("iterating {direction}: {problem}"))
    }
}
