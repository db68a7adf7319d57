//! Whole histories of a database, against a `BTreeMap`.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use terrace_engine::env::{Env, MemoryEnv};
use terrace_engine::{
    Bounds, Compression, Db, DbIterator, IterOptions, Options, ReadOptions, Snapshot, WriteBatch,
    WriteOptions,
};

use crate::input::Input;

const FOLDER: &str = "/db";
const MAX_OPERATIONS: usize = 200;
const MAX_VIEWS: usize = 4;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// The input is options and then operations, each a byte and what it needs.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let env = Arc::new(MemoryEnv::with_steps());
    let mut history = History {
        db: open(&mut input, &env),
        env,
        model: Model::new(),
        snapshots: Vec::new(),
        iterators: Vec::new(),
        operations: 0,
    };
    while !input.is_empty() && history.operations < MAX_OPERATIONS {
        history.operations += 1;
        history.perform(&mut input);
    }
    history.reopen(&mut Input::new(&[]));
    history.compare_all();
    history.db.verify().expect("verify");
}

/// Buffers and files so small that some ten operations go through every path.
fn open(input: &mut Input<'_>, env: &Arc<MemoryEnv>) -> Db {
    let choices = input.byte();
    let sizes = input.byte();
    let env: Arc<dyn Env> = Arc::<MemoryEnv>::clone(env);
    let options = Options {
        env,
        paranoid_checks: choices & 1 != 0,
        write_buffer_size_bytes: 256 << (sizes & 3),
        max_sealed_memtables: usize::from(choices >> 1 & 1) + 1,
        max_open_files: 10,
        block_cache_size_bytes: if choices & 4 == 0 { 0 } else { 4 << 10 },
        block_size_bytes: 32 << (sizes >> 2 & 3),
        block_restart_interval: usize::from(sizes >> 4 & 3) + 1,
        max_file_size_bytes: 256 << (sizes >> 6),
        compression: if choices & 8 == 0 { Compression::None } else { Compression::Snappy },
        filter_bits_per_key: if choices & 16 == 0 { 0 } else { 10 },
        manifest_size_limit_bytes: if choices & 32 == 0 { 256 } else { 4 << 10 },
        ..Options::default()
    };
    Db::open(FOLDER, options).expect("open")
}

struct History {
    env: Arc<MemoryEnv>,
    db: Db,
    model: Model,
    snapshots: Vec<(Snapshot, Model)>,
    iterators: Vec<(DbIterator, Cursor)>,
    operations: usize,
}

impl History {
    fn perform(&mut self, input: &mut Input<'_>) {
        match input.byte() % 24 {
            0..=5 => self.put(input),
            6..=7 => self.delete(input),
            8 => self.write(input),
            9..=10 => self.get(input),
            11 => {
                self.snapshots.truncate(MAX_VIEWS - 1);
                self.snapshots.insert(0, (self.db.snapshot(), self.model.clone()));
            }
            12 => {
                self.snapshots.pop();
            }
            13 => self.open_iterator(input),
            14..=17 => self.move_iterator(input),
            18 => self.db.flush().expect("flush"),
            19 => {
                let (begin, end) = (optional_key(input), optional_key(input));
                self.db.compact_range(begin.as_deref(), end.as_deref()).expect("compact_range");
            }
            20 => while self.db.step() {},
            21 => {
                self.db.step();
            }
            22 => self.reopen(input),
            _ => self.compare_all(),
        }
    }

    fn put(&mut self, input: &mut Input<'_>) {
        let (key, value) = (key(input), value(input, self.operations));
        self.db.put(&key, &value, &WriteOptions::default()).expect("put");
        self.model.insert(key, value);
    }

    fn delete(&mut self, input: &mut Input<'_>) {
        let key = key(input);
        self.db.delete(&key, &WriteOptions { sync: true }).expect("delete");
        self.model.remove(&key);
    }

    fn write(&mut self, input: &mut Input<'_>) {
        let mut batch = WriteBatch::new();
        for _ in 0..input.byte() % 16 {
            let key = key(input);
            if input.byte() & 3 == 0 {
                batch.delete(&key).expect("a small key");
                self.model.remove(&key);
            } else {
                let value = value(input, self.operations);
                batch.put(&key, &value).expect("a small entry");
                self.model.insert(key, value);
            }
        }
        self.db.write(batch, &WriteOptions::default()).expect("write");
    }

    fn get(&self, input: &mut Input<'_>) {
        let key = key(input);
        let found = self.db.get(&key, &ReadOptions::default()).expect("get");
        assert_eq!(found.as_ref(), self.model.get(&key), "get of {key:?}");
        for (snapshot, model) in &self.snapshots {
            let found = self.db.get(&key, &at(Some(snapshot))).expect("get at a snapshot");
            assert_eq!(found.as_ref(), model.get(&key), "get of {key:?} at a snapshot");
        }
    }

    fn open_iterator(&mut self, input: &mut Input<'_>) {
        let bounds = Bounds { lower: bound(input), upper: bound(input) };
        let number = usize::from(input.byte()) % (self.snapshots.len() + 1);
        let view = self.snapshots.get(number);
        let model = view.map_or(&self.model, |(_, model)| model);
        let cursor = Cursor::new(model, &bounds);
        let read = at(view.map(|(snapshot, _)| snapshot));
        let iterator = self.db.iter(IterOptions { read, bounds }).expect("iter");
        self.iterators.truncate(MAX_VIEWS - 1);
        self.iterators.insert(0, (iterator, cursor));
    }

    fn move_iterator(&mut self, input: &mut Input<'_>) {
        let choice = input.byte();
        let count = self.iterators.len();
        if count > 0 {
            let (iterator, cursor) = &mut self.iterators[usize::from(choice >> 4) % count];
            cursor.go(iterator, choice & 7, input);
        }
    }

    fn reopen(&mut self, input: &mut Input<'_>) {
        self.snapshots.clear();
        self.db.close().expect("close");
        // Iterators stay usable beyond the close.
        for (iterator, cursor) in &mut self.iterators {
            cursor.go(iterator, 0, input);
            cursor.go(iterator, 4, input);
        }
        self.iterators.clear();
        self.db = open(input, &self.env);
    }

    fn compare_all(&self) {
        compare(&self.db, None, &self.model);
        for (snapshot, model) in &self.snapshots {
            compare(&self.db, Some(snapshot), model);
        }
    }
}

fn compare(db: &Db, snapshot: Option<&Snapshot>, model: &Model) {
    let mut iterator = db.iter(IterOptions { read: at(snapshot), bounds: Bounds::default() }).expect("iter");
    let mut cursor = Cursor::new(model, &Bounds::default());
    for (start, step) in [(0, 4), (1, 5)] {
        cursor.go(&mut iterator, start, &mut Input::new(&[]));
        for _ in 0..model.len() {
            cursor.go(&mut iterator, step, &mut Input::new(&[]));
        }
    }
}

/// Where the model's iterator stands: what [`DbIterator`] must show.
struct Cursor {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    position: Option<usize>,
}

impl Cursor {
    fn new(model: &Model, bounds: &Bounds) -> Self {
        let within = |key: &Vec<u8>| {
            (match &bounds.lower {
                Bound::Included(lower) => key >= lower,
                Bound::Excluded(lower) => key > lower,
                Bound::Unbounded => true,
            }) && (match &bounds.upper {
                Bound::Included(upper) => key <= upper,
                Bound::Excluded(upper) => key < upper,
                Bound::Unbounded => true,
            })
        };
        let entries = model.iter().filter(|(key, _)| within(key));
        Self { entries: entries.map(|(key, value)| (key.clone(), value.clone())).collect(), position: None }
    }

    /// Moves both and compares where they stand.
    fn go(&mut self, iterator: &mut DbIterator, movement: u8, input: &mut Input<'_>) {
        let count = self.entries.len();
        let (result, position) = match movement {
            0 => (iterator.seek_to_first(), Some(0)),
            1 => (iterator.seek_to_last(), count.checked_sub(1)),
            2 => {
                let target = key(input);
                (iterator.seek(&target), Some(self.entries.partition_point(|(key, _)| *key < target)))
            }
            3 => {
                let target = key(input);
                let after = self.entries.partition_point(|(key, _)| *key <= target);
                (iterator.seek_for_prev(&target), after.checked_sub(1))
            }
            4 | 6 => (iterator.next(), self.position.map(|position| position + 1)),
            _ => (iterator.prev(), self.position.and_then(|position| position.checked_sub(1))),
        };
        result.expect("a movement");
        self.position = position.filter(|&position| position < count);
        let expected = self.position.map(|position| &self.entries[position]);
        let found = iterator.valid().then(|| (iterator.key(), iterator.value()));
        assert_eq!(found, expected.map(|(key, value)| (&key[..], &value[..])), "movement {movement}");
    }
}

fn at(snapshot: Option<&Snapshot>) -> ReadOptions {
    ReadOptions { snapshot: snapshot.cloned(), ..ReadOptions::default() }
}

/// One of 25 short keys, the empty one among them, so that most operations meet a key that was there before.
fn key(input: &mut Input<'_>) -> Vec<u8> {
    let choice = input.byte();
    match usize::from(choice & 3) {
        0 => Vec::new(),
        length => [&[choice >> 2 & 7], &b"key"[..length]].concat(),
    }
}

fn optional_key(input: &mut Input<'_>) -> Option<Vec<u8>> {
    (input.byte() & 1 != 0).then(|| key(input))
}

fn bound(input: &mut Input<'_>) -> Bound<Vec<u8>> {
    match input.byte() & 3 {
        0 => Bound::Included(key(input)),
        1 => Bound::Excluded(key(input)),
        _ => Bound::Unbounded,
    }
}

/// Up to 255 bytes, begun with a number that tells which operation wrote it.
fn value(input: &mut Input<'_>, operation: usize) -> Vec<u8> {
    let mut value = vec![b'v'; input.byte().into()];
    for (byte, number) in value.iter_mut().zip(operation.to_le_bytes()) {
        *byte = number;
    }
    value
}
