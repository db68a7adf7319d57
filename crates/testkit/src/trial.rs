//! Applies each operation to a database and to the model, and compares what both show.

use std::collections::VecDeque;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use terrace_engine::env::Env;
use terrace_engine::{
    Bounds, Compression, Db, DbIterator, Error, ErrorKind, IterOptions, Options, ReadOptions, ReadTier,
    Snapshot, TableFileOptions, TableFileWriter, UserComparator, WriteBatch, WriteOptions,
};

use crate::generator::Generator;
use crate::keys::KeySpace;
use crate::model::{Cursor, Model};
use crate::operation::{Bytes, Change, Movement, Operation, Range};
use crate::random::Random;

const MAX_SNAPSHOTS: usize = 12;
const MAX_ITERATORS: usize = 6;
/// Number of last operations that a failure shows.
const OPERATIONS_SHOWN: usize = 12;
const KIB: usize = 1 << 10;
const EVERYTHING: Range = Range { lower: Bound::Unbounded, upper: Bound::Unbounded };

/// The surroundings of a trial.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The environment of the files.
    pub env: Arc<dyn Env>,
    /// The directory of the database; the trial creates others beside it.
    pub directory: PathBuf,
    /// The kind of keys, which decides the comparator.
    pub keys: KeySpace,
    /// The compression of tables.
    pub compression: Compression,
}

/// What went wrong; empty if the operation alone shows it.
type Outcome = Result<(), String>;

/// A database and the model of its expected contents.
pub struct Trial {
    settings: Settings,
    /// Decides on sizes; separate from the generator, so that either can be changed alone.
    random: Random,
    comparator: UserComparator,
    db: Db,
    model: Model,
    snapshots: Vec<(Snapshot, Model)>,
    iterators: Vec<(DbIterator, Cursor)>,
    checkpoints: usize,
}

impl Trial {
    /// Does `count` operations of `seed`.
    ///
    /// # Errors
    ///
    /// A description of the first difference, with the operations that led to it.
    pub fn run(seed: u64, count: usize, settings: Settings) -> Outcome {
        let operations = Generator::new(seed, settings.keys).take(count);
        Self::perform_all(!seed, operations, settings).map_err(|problem| format!("seed {seed}, {problem}"))
    }

    /// Does these operations. `seed` decides what they leave open: options, and whether a write is synced.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn perform_all(
        seed: u64,
        operations: impl IntoIterator<Item = Operation>,
        settings: Settings,
    ) -> Outcome {
        let mut recent = VecDeque::new();
        let mut trial = Self::start(seed, settings)?;
        for (index, operation) in operations.into_iter().enumerate() {
            let shown = format!("  {index}: {operation:?}");
            let outcome = trial.perform(operation);
            recent.push_back(shown);
            if let Err(problem) = outcome {
                let list = recent.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
                return Err(format!("operation {index}: {problem}\nthe last operations:\n{list}"));
            }
            if recent.len() == OPERATIONS_SHOWN {
                recent.pop_front();
            }
        }
        trial.finish().map_err(|problem| format!("at the end: {problem}"))
    }

    fn start(seed: u64, settings: Settings) -> Result<Self, String> {
        let mut random = Random::new(seed);
        let name = match settings.keys {
            KeySpace::Bytes => "leveldb.BytewiseComparator",
            KeySpace::IndexedDb => "idb_cmp1",
        };
        let comparator = UserComparator::by_name(name).ok_or("a comparator is unknown")?;
        let options = options(&mut random, &settings, &comparator);
        let db = Db::open(&settings.directory, options).map_err(told("open"))?;
        let model = Model::new(comparator.clone());
        let (snapshots, iterators) = (Vec::new(), Vec::new());
        Ok(Self { settings, random, comparator, db, model, snapshots, iterators, checkpoints: 0 })
    }

    fn finish(mut self) -> Outcome {
        self.perform(Operation::Verify)?;
        self.perform(Operation::Reopen)?;
        self.perform(Operation::Compact(None, None))?;
        self.perform(Operation::CompareAll)?;
        self.db.close().map_err(told("close"))
    }

    fn perform(&mut self, operation: Operation) -> Outcome {
        match operation {
            Operation::Change(change) => self.change(change),
            Operation::Batch(changes) => self.batch(changes),
            Operation::Submit(batches) => self.submit(&batches),
            Operation::Ingest(changes) => self.ingest(changes),
            Operation::Get(key) => compare_get(&self.db, None, &self.model, &key),
            Operation::GetAt(number, key) => match pick(&self.snapshots, number) {
                Some((snapshot, model)) => compare_get(&self.db, Some(snapshot), model, &key),
                None => Ok(()),
            },
            Operation::Walk(number, range, movements) => self.walk(number, &range, &movements),
            Operation::OpenIterator(range) => self.open_iterator(&range),
            Operation::MoveIterator(number, movements) => {
                let count = self.iterators.len();
                if count == 0 {
                    return Ok(());
                }
                let (iterator, cursor) = &mut self.iterators[number % count];
                compare_movements(iterator, cursor, &movements)
            }
            Operation::CloseIterator(number) => {
                remove(&mut self.iterators, number);
                Ok(())
            }
            Operation::TakeSnapshot => {
                if self.snapshots.len() == MAX_SNAPSHOTS {
                    self.snapshots.swap_remove(0);
                }
                self.snapshots.push((self.db.snapshot(), self.model.clone()));
                Ok(())
            }
            Operation::DropSnapshot(number) => {
                remove(&mut self.snapshots, number);
                Ok(())
            }
            Operation::CompareAll => {
                compare_all(&self.db, None, &self.model)?;
                self.snapshots
                    .iter()
                    .try_for_each(|(snapshot, model)| compare_all(&self.db, Some(snapshot), model))
            }
            Operation::Flush => self.db.flush().map_err(told("flush")),
            Operation::Compact(begin, end) => {
                let (begin, end) = (begin.as_ref().map(|key| &*key.0), end.as_ref().map(|key| &*key.0));
                self.db.compact_range(begin, end).map_err(told("compact_range"))
            }
            Operation::Step => {
                self.db.step();
                Ok(())
            }
            Operation::Reopen => self.reopen(None),
            Operation::Repair(without_manifest) => self.reopen(Some(without_manifest)),
            Operation::OpenReadOnly => self.open_read_only(),
            Operation::Checkpoint => self.checkpoint(),
            Operation::Verify => self.db.verify().map_err(told("verify")),
            Operation::Inspect(start, end) => self.inspect(&start, &end),
        }
    }

    fn change(&mut self, change: Change) -> Outcome {
        let options = WriteOptions { sync: self.random.one_in(200) };
        match &change {
            (key, Some(value)) => self.db.put(&key.0, &value.0, &options).map_err(told("put"))?,
            (key, None) => self.db.delete(&key.0, &options).map_err(told("delete"))?,
        }
        self.model.apply(&change);
        Ok(())
    }

    fn batch(&mut self, changes: Vec<Change>) -> Outcome {
        let mut batch = batch_of(&changes)?;
        let options = WriteOptions::default();
        // If it need not wait, this is the path of the Node package.
        if !self.random.one_in(2) || !self.db.try_write(&mut batch, &options).map_err(told("try_write"))? {
            self.db.write(batch, &options).map_err(told("write"))?;
        }
        changes.iter().for_each(|change| self.model.apply(change));
        Ok(())
    }

    fn submit(&mut self, batches: &[Vec<Change>]) -> Outcome {
        let (sender, results) = mpsc::channel();
        for (index, changes) in batches.iter().enumerate() {
            let sender = sender.clone();
            let options = WriteOptions { sync: self.random.one_in(20) };
            let done = move |result| sender.send((index, result)).expect("the trial waits");
            self.db.submit(batch_of(changes)?, options, Box::new(done));
        }
        for (expected, changes) in batches.iter().enumerate() {
            let (index, result) = results.recv().expect("each submission is answered");
            result.map_err(told("submit"))?;
            if index != expected {
                return Err(format!("submission {index} was answered when {expected} was due"));
            }
            changes.iter().for_each(|change| self.model.apply(change));
        }
        Ok(())
    }

    fn ingest(&mut self, mut changes: Vec<Change>) -> Outcome {
        changes.sort_by(|(a, _), (b, _)| self.comparator.compare(&a.0, &b.0));
        changes.dedup_by(|(a, _), (b, _)| a == b);
        let files = self.random.between(1, 4);
        let mut paths = Vec::new();
        for part in changes.chunks(changes.len().div_ceil(files).max(1)) {
            let path = self.settings.directory.with_extension(format!("table-{}", paths.len()));
            self.write_table(&path, part).map_err(told("write a table file"))?;
            paths.push(path);
        }
        self.db.ingest(&paths).map_err(told("ingest"))?;
        for path in paths {
            self.settings.env.remove_file(&path).map_err(|error| error.to_string())?;
        }
        changes.iter().for_each(|change| self.model.apply(change));
        Ok(())
    }

    fn write_table(&self, path: &Path, changes: &[Change]) -> terrace_engine::Result<()> {
        let options = TableFileOptions {
            comparator: self.comparator.clone(),
            compression: self.settings.compression,
            env: Arc::clone(&self.settings.env),
            ..TableFileOptions::default()
        };
        let mut table = TableFileWriter::create(path, options)?;
        for (key, value) in changes {
            match value {
                Some(value) => table.put(&key.0, &value.0)?,
                None => table.delete(&key.0)?,
            }
        }
        table.finish().map(|_| ())
    }

    fn walk(&mut self, number: Option<usize>, range: &Range, movements: &[Movement]) -> Outcome {
        let at = number.and_then(|number| pick(&self.snapshots, number));
        let (snapshot, model) = at.map_or((None, &self.model), |(snapshot, model)| (Some(snapshot), model));
        let mut iterator = iterate(&self.db, snapshot, range)?;
        compare_movements(&mut iterator, &mut model.cursor(range), movements)
    }

    fn open_iterator(&mut self, range: &Range) -> Outcome {
        if self.iterators.len() == MAX_ITERATORS {
            self.iterators.swap_remove(0);
        }
        self.iterators.push((iterate(&self.db, None, range)?, self.model.cursor(range)));
        Ok(())
    }

    /// Closes and opens again; in between repairs if requested, with or without the files that guide a repair.
    fn reopen(&mut self, repair_without_manifest: Option<bool>) -> Outcome {
        let options = options(&mut self.random, &self.settings, &self.comparator);
        match Db::open(&self.settings.directory, options.clone()) {
            Err(error) if error.kind() == ErrorKind::Locked => {}
            Err(error) => return Err(format!("a second open failed otherwise than by the lock: {error}")),
            Ok(_) => return Err("a database that is open was opened a second time".into()),
        }
        self.db.close().map_err(told("close"))?;
        for (iterator, cursor) in &mut self.iterators {
            compare_movements(iterator, cursor, &[Movement::First, Movement::Next, Movement::Last])?;
        }
        self.iterators.clear();
        self.snapshots.clear();
        if let Some(without_manifest) = repair_without_manifest {
            self.repair(without_manifest, &options)?;
        }
        self.db = Db::open(&self.settings.directory, options).map_err(told("open"))?;
        compare_all(&self.db, None, &self.model)
    }

    fn repair(&self, without_manifest: bool, options: &Options) -> Outcome {
        let Settings { env, directory, .. } = &self.settings;
        let remove_all = |directory: &Path, which: &dyn Fn(&str) -> bool| {
            let names = env.list(directory)?;
            names
                .iter()
                .filter(|name| which(name))
                .try_for_each(|name| env.remove_file(&directory.join(name)))
        };
        if without_manifest {
            // The next open removes tables that an iterator kept beyond the close. Without a MANIFEST they would
            // bring back what was deleted since.
            let clean = Db::open(directory, options.clone()).map_err(told("open"))?;
            clean.close().map_err(told("close"))?;
            remove_all(directory, &|name| name == "CURRENT" || name.starts_with("MANIFEST-"))
                .map_err(|error| error.to_string())?;
        }
        let report = Db::repair(directory, options).map_err(told("repair"))?;
        // Without a MANIFEST it reports that it cannot be certain, although it has everything it needs.
        let as_before = report.lost_bytes() == 0 && (without_manifest || report.nothing_lost());
        if !as_before {
            return Err(format!("nothing was damaged, and repair reports: {report}"));
        }
        let lost = directory.join("lost");
        if env.exists(&lost).map_err(|error| error.to_string())? {
            remove_all(&lost, &|_| true).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn open_read_only(&mut self) -> Outcome {
        let options = Options { read_only: true, ..self.plain_options() };
        let beside = Db::open(&self.settings.directory, options).map_err(told("open read-only"))?;
        compare_all(&beside, None, &self.model).map_err(|problem| format!("read-only: {problem}"))?;
        match beside.put(b"key", b"value", &WriteOptions::default()) {
            Err(error) if error.kind() == ErrorKind::ReadOnly => beside.close().map_err(told("close")),
            other => Err(format!("a write to a read-only database gave {other:?}")),
        }
    }

    fn checkpoint(&mut self) -> Outcome {
        self.checkpoints += 1;
        let directory = self.settings.directory.with_extension(format!("checkpoint-{}", self.checkpoints));
        self.db.checkpoint(&directory).map_err(told("checkpoint"))?;
        let copy = Db::open(&directory, self.plain_options()).map_err(told("open the checkpoint"))?;
        compare_all(&copy, None, &self.model).map_err(|problem| format!("checkpoint: {problem}"))?;
        copy.close().map_err(told("close the checkpoint"))?;
        Db::destroy(&directory, &self.plain_options()).map(drop).map_err(told("destroy the checkpoint"))
    }

    fn inspect(&mut self, start: &Bytes, end: &Bytes) -> Outcome {
        self.db.approximate_size(&start.0, &end.0).map_err(told("approximate_size"))?;
        for name in ["leveldb.stats", "leveldb.sstables", "leveldb.approximate-memory-usage"] {
            self.db.property(name).ok_or_else(|| format!("property {name} is unknown"))?;
        }
        let files_by_property: usize = (0..7)
            .filter_map(|level| {
                self.db.property(&format!("leveldb.num-files-at-level{level}"))?.parse::<usize>().ok()
            })
            .sum();
        let known = self.db.property("leveldb.num-files-at-level7").is_some();
        // Background work may change the number between two questions.
        if known || files_by_property > 10_000 {
            return Err(format!("{files_by_property} files, level 7 known: {known}"));
        }
        Ok(())
    }

    fn plain_options(&self) -> Options {
        Options {
            comparator: self.comparator.clone(),
            create_if_missing: false,
            env: Arc::clone(&self.settings.env),
            ..Options::default()
        }
    }
}

/// Options with sizes so small that a few operations exercise every path of flush and compaction.
fn options(random: &mut Random, settings: &Settings, comparator: &UserComparator) -> Options {
    Options {
        comparator: comparator.clone(),
        compression: settings.compression,
        env: Arc::clone(&settings.env),
        paranoid_checks: random.one_in(2),
        write_buffer_size_bytes: random.choose(&[4, 16, 64]) * KIB,
        max_sealed_memtables: random.between(1, 4),
        max_open_files: random.choose(&[10, 100]),
        block_cache_size_bytes: random.choose(&[0, 64 * KIB, 4096 * KIB]),
        block_size_bytes: random.choose(&[100, 1000, 4096]),
        block_restart_interval: random.choose(&[1, 2, 16]),
        max_file_size_bytes: (random.choose(&[4, 16, 64]) * KIB) as u64,
        filter_bits_per_key: random.choose(&[0, 10]),
        manifest_size_limit_bytes: (random.choose(&[1, 16]) * KIB) as u64,
        compaction_threads: random.between(1, 4),
        idle_after_ms: random.choose(&[1, 50, 10_000]),
        ..Options::default()
    }
}

fn batch_of(changes: &[Change]) -> Result<WriteBatch, String> {
    let mut batch = WriteBatch::new();
    for (key, value) in changes {
        match value {
            Some(value) => batch.put(&key.0, &value.0),
            None => batch.delete(&key.0),
        }
        .map_err(|error| error.to_string())?;
    }
    Ok(batch)
}

fn told(what: &str) -> impl Fn(Error) -> String {
    move |error| format!("{what} failed: {error}")
}

fn pick<T>(list: &[T], number: usize) -> Option<&T> {
    list.get(number.checked_rem(list.len())?)
}

fn remove<T>(list: &mut Vec<T>, number: usize) {
    if let Some(index) = number.checked_rem(list.len()) {
        list.swap_remove(index);
    }
}

fn read_options(snapshot: Option<&Snapshot>) -> ReadOptions {
    ReadOptions { snapshot: snapshot.cloned(), ..ReadOptions::default() }
}

fn iterate(db: &Db, snapshot: Option<&Snapshot>, range: &Range) -> Result<DbIterator, String> {
    let bounds = Bounds {
        lower: range.lower.as_ref().map(|key| key.0.clone()),
        upper: range.upper.as_ref().map(|key| key.0.clone()),
    };
    db.iter(IterOptions { read: read_options(snapshot), bounds }).map_err(told("iter"))
}

fn compare_get(db: &Db, snapshot: Option<&Snapshot>, model: &Model, key: &Bytes) -> Outcome {
    let expected = model.get(key);
    let found = db.get(&key.0, &read_options(snapshot)).map_err(told("get"))?;
    let pinned = db.get_pinned(&key.0, &read_options(snapshot)).map_err(told("get_pinned"))?;
    if found.as_deref() != expected || pinned.as_ref().map(AsRef::as_ref) != expected {
        return Err(format!("get gave {:?}, expected {:?}", shown(found.as_deref()), shown(expected)));
    }
    let in_memory = ReadOptions { tier: ReadTier::MemoryOnly, ..read_options(snapshot) };
    match db.get(&key.0, &in_memory) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        Ok(found) if found.as_deref() == expected => Ok(()),
        other => Err(format!("get from memory gave {other:?}, expected {:?}", shown(expected))),
    }
}

fn compare_movements(iterator: &mut DbIterator, cursor: &mut Cursor, movements: &[Movement]) -> Outcome {
    for (index, movement) in movements.iter().enumerate() {
        compare_movement(iterator, cursor, movement)
            .map_err(|problem| format!("movement {index}: {problem}"))?;
    }
    Ok(())
}

fn compare_movement(iterator: &mut DbIterator, cursor: &mut Cursor, movement: &Movement) -> Outcome {
    match movement {
        Movement::First => iterator.seek_to_first(),
        Movement::Last => iterator.seek_to_last(),
        Movement::Seek(key) => iterator.seek(&key.0),
        Movement::SeekForPrev(key) => iterator.seek_for_prev(&key.0),
        Movement::Next => iterator.next(),
        Movement::Prev => iterator.prev(),
    }
    .map_err(told("movement"))?;
    cursor.go(movement);
    let found = iterator.valid().then(|| (iterator.key(), iterator.value()));
    if found == cursor.entry() {
        return Ok(());
    }
    let key_and_value = |entry: Option<(&[u8], &[u8])>| entry.map(|(key, value)| (bytes(key), bytes(value)));
    let (found, expected) = (key_and_value(found), key_and_value(cursor.entry()));
    Err(format!("{movement:?} led to {found:?}, expected {expected:?}"))
}

fn compare_all(db: &Db, snapshot: Option<&Snapshot>, model: &Model) -> Outcome {
    let walk = |start: Movement, step: Movement| {
        let mut iterator = iterate(db, snapshot, &EVERYTHING)?;
        let mut cursor = model.cursor(&EVERYTHING);
        compare_movement(&mut iterator, &mut cursor, &start)?;
        // One step more than there are entries, to see that nothing follows.
        (0..model.len()).try_for_each(|_| compare_movement(&mut iterator, &mut cursor, &step))
    };
    walk(Movement::First, Movement::Next)?;
    walk(Movement::Last, Movement::Prev)
}

fn bytes(bytes: &[u8]) -> Bytes {
    Bytes(bytes.to_vec())
}

fn shown(value: Option<&[u8]>) -> Option<Bytes> {
    value.map(bytes)
}
