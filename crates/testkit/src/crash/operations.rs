//! What a life does to its database, and what it compares.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use terrace_engine::env::simulated::{CallKind, Failure, FaultPlan};
use terrace_engine::{
    Db, Error, ErrorKind, IterOptions, Options, ReadOptions, Snapshot, TableFileOptions, TableFileWriter,
    WriteBatch, WriteOptions,
};

use super::history::{Batch, History, MARK, Model, compare, signature};
use super::trial::{Step, Stop, Trial};

const KEYS: usize = 40;
/// More than the number of jobs that are ever due.
const MOST_STEPS: usize = 300;
/// Longer than a background job that found no room waits before it is retried.
const RETRY_AFTER: Duration = Duration::from_secs(60);

impl Trial {
    /// Does the plan's operations.
    pub(super) fn use_database(&mut self, db: &Db) -> Step {
        self.check_checkpoints().or_else(|stop| self.go_on_after(stop))?;
        let mut snapshots: Vec<(Snapshot, Model)> = Vec::new();
        if self.plan.syncs_first {
            self.write(db, true).or_else(|stop| self.go_on_after(stop))?;
        }
        for _ in 0..self.plan.operations {
            let done = self.operate(db, &mut snapshots);
            done.or_else(|stop| self.go_on_after(stop))?;
            if self.env.is_halted() {
                return Err(Stop::Ended);
            }
        }
        if self.fault_came() {
            self.end_fault(db)?;
        }
        self.check(db, &snapshots)
    }

    fn operate(&mut self, db: &Db, snapshots: &mut Vec<(Snapshot, Model)>) -> Step {
        match self.random.below(100) {
            0..66 => {
                let sync = self.random.one_in(6);
                self.write(db, sync)?;
            }
            66..82 => {
                self.event("step");
                db.step();
            }
            82..85 => {
                self.event("flush");
                let flushed = db.flush();
                self.note(flushed, "flush")?;
                self.history.all_durable();
            }
            85..87 => {
                self.event("compact");
                let compacted = db.compact_range(None, None);
                self.note(compacted, "compact")?;
            }
            87..89 => self.checkpoint(db)?,
            89..91 => self.ingest(db)?,
            91..94 => snapshots.push((db.snapshot(), self.history.model())),
            94..96 => {
                self.event("all steps");
                self.all_steps(db);
            }
            96..98 => drop(snapshots.pop()),
            _ => self.check(db, snapshots)?,
        }
        Ok(())
    }

    /// A job that finds no room is retried again and again.
    fn all_steps(&self, db: &Db) {
        (0..MOST_STEPS).take_while(|_| db.step()).count();
    }

    /// Decides what an error means: after a failed call a life may continue.
    fn go_on_after(&mut self, stop: Stop) -> Step {
        match stop {
            Stop::Ended if self.plan.goes_on && !self.env.is_halted() => Ok(()),
            stop => Err(stop),
        }
    }

    /// Records how a change ended: once the database is poisoned, none succeeds.
    fn note<T>(&mut self, result: Result<T, Error>, what: &str) -> Step<T> {
        match result {
            Ok(_) if self.poisoned => {
                Err(Stop::Broken(format!("{what} succeeded on a database that is poisoned")))
            }
            Ok(value) => Ok(value),
            Err(error) => {
                self.event(format!("{what} failed: {error}"));
                self.poisoned |= error.kind() == ErrorKind::Poisoned;
                Err(self.stop(what, &error))
            }
        }
    }

    /// Ends the fault: the device works again and has room. A database that is not poisoned must resume, in the
    /// background too.
    fn end_fault(&mut self, db: &Db) -> Step {
        self.env.heal();
        self.env.advance(RETRY_AFTER);
        self.all_steps(db);
        if self.write(db, false).is_err() {
            if self.env.is_halted() {
                return Err(Stop::Ended);
            }
            if !self.poisoned {
                return Err(Stop::Broken("neither goes on nor says that it is poisoned".to_owned()));
            }
        }
        let may_pass = self.plan.fault.as_ref().is_some_and(leaves_things_as_they_were);
        if self.poisoned && may_pass {
            return Err(Stop::Broken("want of room, or of a descriptor, poisoned the database".to_owned()));
        }
        self.tally.one(if self.poisoned { "poisoned by a fault" } else { "went on after a fault" });
        Ok(())
    }

    fn check(&self, db: &Db, snapshots: &[(Snapshot, Model)]) -> Step {
        let broken = |what: &str, problem: String| Stop::Broken(format!("{what}: {problem}"));
        compare(&self.contents(db, None)?, &self.history.model())
            .map_err(|problem| broken("the open database", problem))?;
        for (snapshot, model) in snapshots {
            compare(&self.contents(db, Some(snapshot))?, model)
                .map_err(|problem| broken("a snapshot", problem))?;
        }
        Ok(())
    }

    /// All entries, read in both directions.
    pub(super) fn contents(&self, db: &Db, snapshot: Option<&Snapshot>) -> Step<Model> {
        let read = ReadOptions { snapshot: snapshot.cloned(), ..ReadOptions::default() };
        let entries = || -> Result<(Model, Model), Error> {
            let mut iterator = db.iter(IterOptions { read: read.clone(), ..IterOptions::default() })?;
            let (mut forwards, mut backwards) = (Model::new(), Model::new());
            iterator.seek_to_first()?;
            while iterator.valid() {
                forwards.insert(iterator.key().to_vec(), iterator.value().to_vec());
                iterator.next()?;
            }
            iterator.seek_to_last()?;
            while iterator.valid() {
                backwards.insert(iterator.key().to_vec(), iterator.value().to_vec());
                iterator.prev()?;
            }
            Ok((forwards, backwards))
        };
        let (forwards, backwards) = entries().map_err(|error| self.stop("reading all", &error))?;
        compare(&backwards, &forwards).map_err(|problem| Stop::Broken(format!("backwards: {problem}")))?;
        for (key, value) in &forwards {
            let got = db.get(key, &read).map_err(|error| self.stop("get", &error))?;
            if got.as_ref() != Some(value) {
                return Err(Stop::Broken(format!("get of {key:?} differs from the iterator's value")));
            }
        }
        Ok(forwards)
    }

    fn draw_batch(&mut self) -> Batch {
        let mut batch = Batch::new();
        let operations = self.random.choose(&[0, 1, 1, 1, 2, 3, 10]);
        for _ in 0..operations {
            let key = format!("key {:02}", self.random.below(KEYS)).into_bytes();
            let value = if self.random.one_in(4) {
                None
            } else {
                let length = self.random.choose(&[0, 10, 100, 100, 600, 600, self.longest_value_bytes]);
                Some(self.random.bytes(length))
            };
            batch.push((key, value));
        }
        batch.extend(signature(self.history.next_number()));
        batch
    }

    fn write(&mut self, db: &Db, sync: bool) -> Step {
        let batch = self.draw_batch();
        let sync = sync || self.history.wants_sync();
        let mut written = WriteBatch::new();
        for (key, value) in &batch {
            match value {
                Some(value) => written.put(key, value),
                None => written.delete(key),
            }
            .expect("the batch is small");
        }
        self.event(format!("batch {}{}", self.history.next_number(), if sync { ", sync" } else { "" }));
        self.history.begin(batch);
        let result = db.write(written, &WriteOptions { sync });
        self.record_end(db, result, "write", sync)?;
        self.tally.one("batches");
        self.tally.add("synced batches", u64::from(sync));
        Ok(())
    }

    /// Records how the write of the last batch ended.
    fn record_end(&mut self, db: &Db, result: Result<(), Error>, what: &str, durably: bool) -> Step {
        let noted = self.note(result, what);
        match noted {
            Ok(()) => self.history.acknowledge(durably),
            Err(Stop::Ended) if self.env.is_halted() => {}
            Err(Stop::Ended) if self.poisoned => self.history.never_tried(),
            Err(Stop::Ended) => self.refuse(db)?,
            Err(_) => {}
        }
        noted
    }

    /// The last batch was answered with an error. Asks the database whether it holds the batch.
    fn refuse(&mut self, db: &Db) -> Step {
        let mut mark = db.get(MARK, &ReadOptions::default());
        if mark.is_err() {
            // The same device also fails to read.
            self.env.heal();
            mark = db.get(MARK, &ReadOptions::default());
        }
        let mark = match mark {
            Err(_) if self.env.is_halted() => return Err(Stop::Ended),
            mark => mark.map_err(|error| Stop::Broken(format!("reading after a failed write: {error}")))?,
        };
        let found: Model = mark.map(|mark| (MARK.to_vec(), mark)).into_iter().collect();
        self.history.refuse(History::newest_in(&found).map_err(Stop::Broken)?);
        Ok(())
    }

    fn new_path(&mut self, what: &str) -> PathBuf {
        self.files_made += 1;
        Path::new("/data").join(format!("{what} {}", self.files_made))
    }

    fn ingest(&mut self, db: &Db) -> Step {
        let path = self.new_path("table");
        let sorted: BTreeMap<_, _> = self.draw_batch().into_iter().collect();
        let options = TableFileOptions { env: Arc::new(self.env.clone()), ..TableFileOptions::default() };
        let table = (|| {
            let mut writer = TableFileWriter::create(&path, options)?;
            for (key, value) in &sorted {
                match value {
                    Some(value) => writer.put(key, value)?,
                    None => writer.delete(key)?,
                }
            }
            writer.finish()
        })();
        table.map_err(|error| self.stop("making a table", &error))?;
        self.event(format!("batch {}, ingested", self.history.next_number()));
        self.history.begin(sorted.into_iter().collect());
        let result = db.ingest(&[path]);
        self.record_end(db, result.map(|_| ()), "ingest", true)?;
        self.tally.one("ingests");
        Ok(())
    }

    fn checkpoint(&mut self, db: &Db) -> Step {
        let path = self.new_path("checkpoint");
        self.event(format!("checkpoint to {}", path.display()));
        let made = db.checkpoint(&path);
        self.note(made, "checkpoint")?;
        self.history.all_durable();
        self.checkpoints.push((path, self.history.model()));
        self.tally.one("checkpoints");
        Ok(())
    }

    /// Checks that each finished checkpoint holds what it held then, whatever happened since.
    fn check_checkpoints(&self) -> Step {
        for (path, model) in &self.checkpoints {
            let options = Options { read_only: true, ..self.options() };
            let db = Db::open(path, options).map_err(|error| self.stop("opening a checkpoint", &error))?;
            let found = self.contents(&db, None)?;
            compare(&found, model)
                .map_err(|problem| Stop::Broken(format!("checkpoint {}: {problem}", path.display())))?;
        }
        Ok(())
    }
}

/// Whether the failing call lacks room or a descriptor, and so changes nothing. After a failed sync nothing is known.
fn leaves_things_as_they_were(fault: &FaultPlan) -> bool {
    let writes = [CallKind::Write, CallKind::WriteLog, CallKind::CreateLog, CallKind::Link];
    match fault.failure() {
        Failure::Io | Failure::WriteBack => false,
        Failure::Other(kind) if kind != std::io::ErrorKind::QuotaExceeded => false,
        Failure::NoSpace | Failure::Other(_) => {
            !fault.is_lasting() && fault.kind().is_some_and(|kind| writes.contains(&kind))
        }
        Failure::NoDescriptor => true,
    }
}
