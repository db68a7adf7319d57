//! A small database with everything that a repair can meet. It is a set of files, which each test damages in its own way.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use terrace_engine::env::conformance::eventually;
use terrace_engine::env::{Env, MemoryEnv};
use terrace_engine::{Compression, Db, IterOptions, Options, RepairReport, WriteBatch, WriteOptions};

use terrace_format::log::{LogEncoder, LogEvent, LogReader};
use terrace_format::version_edit::VersionEdit;

use crate::support::{Model, Random, entries, level_files, tiny};

pub const DIRECTORY: &str = "/db";

/// The files of a database's directory, by name.
pub type Files = BTreeMap<String, Vec<u8>>;

pub static PLAIN: LazyLock<Fixture> = LazyLock::new(|| Fixture::new(Compression::None));
pub static SNAPPY: LazyLock<Fixture> = LazyLock::new(|| Fixture::new(Compression::Snappy));

pub struct Fixture {
    pub files: Files,
    /// The contents of the database.
    pub model: Model,
    /// The contents of its tables alone, without the log.
    pub in_tables: Model,
    /// Tables that a compaction replaced and removed.
    pub replaced: Files,
}

pub fn options(env: Arc<dyn Env>, compression: Compression) -> Options {
    Options { compression, deletion_ratio_trigger: 2.0, idle_after_ms: 3_600_000, ..tiny(env) }
}

impl Fixture {
    /// A database in which keys are overwritten and deleted again and again, in level 0, two deeper levels and an unflushed
    /// log.
    pub fn new(compression: Compression) -> Self {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
        let db = Db::open(DIRECTORY, options(Arc::clone(&env), compression)).unwrap();
        let mut writer = Writer { random: Random(7), version: 0 };
        let mut model = Model::new();
        writer.write(&db, &mut model, 50, 600);
        db.flush().unwrap();
        let replaced = files(&*env, ".ldb");
        writer.write(&db, &mut model, 1500, 600);
        db.compact_range(None, None).unwrap();
        db.close().unwrap();
        move_tables_to_level_3(&*env);
        let db = Db::open(DIRECTORY, options(Arc::clone(&env), compression)).unwrap();
        let write = &mut |model: &mut Model, count: usize, keys: u64| writer.write(&db, model, count, keys);
        // Enough writes for compactions into the level above.
        for _ in 0..4 {
            write(&mut model, 100, 600);
            db.flush().unwrap();
        }
        eventually("level 0 is compacted", || level_files(&db)[0] == 0);
        for _ in 0..3 {
            write(&mut model, 60, 300);
            db.flush().unwrap();
        }
        let levels = level_files(&db);
        assert_eq!(levels[0], 3, "{levels:?}");
        assert!(levels[1..].iter().filter(|files| **files > 1).count() >= 2, "{levels:?}");
        let in_tables = model.clone();
        write(&mut model, 60, 300);
        db.close().unwrap();
        let files = files(&*env, "");
        let replaced = replaced.into_iter().filter(|(name, _)| !files.contains_key(name)).collect();
        let fixture = Self { files, model, in_tables, replaced };
        assert!(!fixture.replaced.is_empty());
        assert!(fixture.names(".log").iter().any(|name| !fixture.files[name].is_empty()));
        fixture
    }

    pub fn names(&self, part: &str) -> Vec<String> {
        self.files.keys().filter(|name| name.contains(part)).cloned().collect()
    }

    /// The name of the one file whose name contains `part`.
    pub fn name(&self, part: &str) -> String {
        let names = self.names(part);
        assert_eq!(names.len(), 1, "{names:?}");
        names[0].clone()
    }

    /// The database with one file replaced or removed.
    pub fn with(&self, name: &str, contents: Option<Vec<u8>>) -> Files {
        let mut files = self.files.clone();
        match contents {
            Some(contents) => files.insert(name.to_owned(), contents),
            None => files.remove(name),
        };
        files
    }
}

struct Writer {
    random: Random,
    version: u32,
}

impl Writer {
    /// Makes puts and deletions among `keys` keys. No value comes twice.
    fn write(&mut self, db: &Db, model: &mut Model, count: usize, keys: u64) {
        for _ in 0..count {
            self.version += 1;
            let key = format!("key{:04}", self.random.below(keys)).into_bytes();
            if self.random.below(4) == 0 {
                db.delete(&key, &WriteOptions::default()).unwrap();
                model.remove(&key);
            } else {
                let value = format!("value {:06} {}", self.version, self.random.next()).into_bytes();
                db.put(&key, &value, &WriteOptions::default()).unwrap();
                model.insert(key, value);
            }
        }
    }
}

/// The edits in an undamaged MANIFEST.
pub fn edits(manifest: &[u8]) -> Vec<VersionEdit> {
    let mut reader = LogReader::new(manifest);
    let mut edits = Vec::new();
    while let Ok(LogEvent::Record { payload, .. }) = reader.next() {
        edits.push(VersionEdit::decode(payload).unwrap());
    }
    edits
}

/// The MANIFEST of these edits.
pub fn manifest_of(edits: &[VersionEdit]) -> Vec<u8> {
    let mut encoder = LogEncoder::new();
    let mut manifest = Vec::new();
    edits.iter().for_each(|edit| encoder.encode_into(&edit.encode(), &mut manifest));
    manifest
}

/// Does by hand what compactions would do to a large database. Level 1 of such a small one never exceeds its limit.
fn move_tables_to_level_3(env: &dyn Env) {
    let manifest = files(env, "").into_keys().find(|name| name.starts_with("MANIFEST")).unwrap();
    let path = Path::new(DIRECTORY).join(manifest);
    let bytes = env.read_file(&path).unwrap();
    let mut encoder = LogEncoder::at_offset(bytes.len() as u64);
    let mut live = BTreeMap::new();
    for edit in edits(&bytes) {
        for (_, number) in edit.deleted_files {
            live.remove(&number);
        }
        live.extend(edit.new_files.into_iter().map(|(level, file)| (file.number, (level, file))));
    }
    let edit = VersionEdit {
        deleted_files: live.iter().map(|(number, (level, _))| (*level, *number)).collect(),
        new_files: live.into_values().map(|(_, file)| (3, file)).collect(),
        ..VersionEdit::default()
    };
    let mut record = Vec::new();
    encoder.encode_into(&edit.encode(), &mut record);
    let mut file = env.open_append(&path).unwrap();
    file.append(&record).unwrap();
    file.close().unwrap();
}

pub fn files(env: &dyn Env, ending: &str) -> Files {
    let names = env.list(Path::new(DIRECTORY)).unwrap().into_iter();
    let names = names.filter(|name| name.ends_with(ending) && name != "LOCK" && name != "lost");
    names.map(|name| (name.clone(), env.read_file(&Path::new(DIRECTORY).join(name)).unwrap())).collect()
}

pub fn place(files: &Files) -> Arc<dyn Env> {
    let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
    env.create_directory_all(Path::new(DIRECTORY)).unwrap();
    for (name, contents) in files {
        let mut file = env.create(&Path::new(DIRECTORY).join(name)).unwrap();
        file.append(contents).unwrap();
        file.close().unwrap();
    }
    env
}

/// The names in the directory `lost`, sorted.
pub fn in_lost(env: &dyn Env) -> Vec<String> {
    let mut names = env.list(&Path::new(DIRECTORY).join("lost")).unwrap_or_default();
    names.sort();
    names
}

pub fn repair(env: &Arc<dyn Env>) -> RepairReport {
    Db::repair(DIRECTORY, &options(Arc::clone(env), Compression::None)).unwrap()
}

/// The contents of the database, after every possible check. The database is opened read-only, so nothing changes.
pub fn contents(env: &Arc<dyn Env>) -> Model {
    let options =
        Options { read_only: true, paranoid_checks: true, ..options(Arc::clone(env), Compression::None) };
    let db = Db::open(DIRECTORY, options).unwrap();
    db.verify().unwrap();
    entries(&db, IterOptions::default()).into_iter().collect()
}

/// One complete record of a log: where it begins and ends, and its batch.
pub struct Record {
    pub start: usize,
    pub end: usize,
    pub batch: WriteBatch,
}

/// The records of an undamaged log of one block.
pub fn records(log: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut start = 0;
    while start + 7 <= log.len() {
        let end = start + 7 + usize::from(u16::from_le_bytes([log[start + 4], log[start + 5]]));
        assert_eq!(log[start + 6], 1, "a record that is not split");
        let batch = WriteBatch::from_bytes(log[start + 7..end].to_vec()).unwrap();
        records.push(Record { start, end, batch });
        start = end;
    }
    records
}

/// `model` after the batches of `records`.
pub fn replayed<'a>(model: &Model, records: impl Iterator<Item = &'a Record>) -> Model {
    let mut model = model.clone();
    for operation in records.flat_map(|record| record.batch.iter()) {
        match operation.unwrap() {
            terrace_engine::BatchOp::Put { key, value } => model.insert(key.to_vec(), value.to_vec()),
            terrace_engine::BatchOp::Delete { key } => model.remove(key),
        };
    }
    model
}

/// How the contents differ from the expected ones.
#[derive(Debug, Default)]
pub struct Difference {
    /// Keys that are gone.
    pub gone: Vec<Vec<u8>>,
    /// Keys with a value that was overwritten or deleted.
    pub stale: Vec<Vec<u8>>,
}

pub fn compare(found: &Model, expected: &Model) -> Difference {
    let gone = expected.keys().filter(|key| !found.contains_key(*key)).cloned().collect();
    let stale = found.iter().filter(|(key, value)| expected.get(*key) != Some(value));
    Difference { gone, stale: stale.map(|(key, _)| key.clone()).collect() }
}

/// Checks that older values show only in ranges of keys that the report names.
pub fn assert_stale_are_reported(difference: &Difference, report: &RepairReport) {
    for key in &difference.stale {
        let is_reported = report.uncertain.iter().any(|uncertainty| {
            let keys = &uncertainty.keys;
            (keys.first.is_some() || keys.last.is_some())
                && keys.first.as_ref().is_none_or(|first| first <= key)
                && keys.last.as_ref().is_none_or(|last| key <= last)
        });
        assert!(is_reported, "{} came back:\n{report}", key.escape_ascii());
    }
}
