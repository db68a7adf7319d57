//! A small database with many levels, one or more unflushed logs, and files that do not belong to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_engine::env::{Env, MemoryEnv};
use terrace_engine::{Compression, Db, Options, UserComparator, WriteBatch, WriteOptions};

use super::history::{History, Write};
use crate::keys::KeySpace;
use crate::random::Random;

/// The directory of every trial's database.
pub const DIRECTORY: &str = "/db";

/// The files of a directory by name; those in `lost` as `lost/name`.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A database at some moment, open or closed.
pub struct Database {
    pub files: Files,
    pub history: History,
    settings: Settings,
}

#[derive(Clone, Debug)]
struct Settings {
    compression: Compression,
    filter_bits_per_key: usize,
    block_size_bytes: usize,
    max_file_size_bytes: u64,
    write_buffer_size_bytes: usize,
    manifest_size_limit_bytes: u64,
    block_cache_size_bytes: usize,
    longest_value: usize,
    /// One value in this many is all zeros.
    zeros_one_in: usize,
    is_closed: bool,
}

impl Settings {
    fn draw(random: &mut Random) -> Self {
        Self {
            compression: random.choose(&[
                Compression::None,
                Compression::Snappy,
                Compression::Zstd { level: 1 },
            ]),
            filter_bits_per_key: random.choose(&[0, 10, 10]),
            block_size_bytes: random.choose(&[64, 128, 256, 512]),
            max_file_size_bytes: random.choose(&[512, 1 << 10, 4 << 10]),
            write_buffer_size_bytes: random.choose(&[2 << 10, 4 << 10, 64 << 10]),
            manifest_size_limit_bytes: random.choose(&[1 << 10, 64 << 10]),
            block_cache_size_bytes: random.choose(&[0, 64 << 10]),
            longest_value: random.choose(&[20, 60, 300]),
            zeros_one_in: random.choose(&[2, 60, 60]),
            is_closed: random.one_in(3),
        }
    }
}

impl Database {
    pub fn generate(random: &mut Random) -> Self {
        let settings = Settings::draw(random);
        let history = History::new(UserComparator::Bytewise, Vec::new());
        let mut database = Self { files: Files::new(), history, settings };
        database.history = draw_keys(random);
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::with_steps());
        let lives = random.between(1, 4);
        let leaves_replaced = random.one_in(3);
        let mut replaced = Files::new();
        for life in 0..lives {
            let db = Db::open(DIRECTORY, database.options(&env)).expect("a sound database opens");
            for _ in 0..random.between(1, 60) {
                database.act(&db, random);
                if leaves_replaced && random.one_in(10) {
                    replaced.extend(read_files(&*env).into_iter().filter(|(name, _)| name.ends_with(".ldb")));
                }
            }
            if life + 1 < lives {
                db.close().expect("a sound database closes");
                if random.one_in(6) {
                    Db::repair(DIRECTORY, &database.options(&env)).expect("a sound database can be repaired");
                }
                continue;
            }
            if database.settings.is_closed {
                db.close().expect("a sound database closes");
            }
            database.files = read_files(&*env);
        }
        // Tables that a compaction replaced but could not remove.
        for (name, bytes) in replaced {
            database.files.entry(name).or_insert(bytes);
        }
        for name in ["photo.jpg", "lost/000001.ldb", "LOCK", "LOG"] {
            database.files.entry(name.to_owned()).or_insert_with(|| random.bytes(100));
        }
        database
    }

    fn act(&mut self, db: &Db, random: &mut Random) {
        match random.below(40) {
            0..34 => {
                let size = random.choose(&[1, 1, 2, 5, 20]);
                self.write(db, random, size);
            }
            34..36 => db.flush().expect("a sound database flushes"),
            36 => db.compact_range(None, None).expect("a sound database compacts"),
            _ => drop(db.step()),
        }
    }

    fn write(&mut self, db: &Db, random: &mut Random, size: usize) {
        let mut batch = WriteBatch::new();
        let deletes = random.one_in(5);
        for _ in 0..size {
            let key = random.below(self.history.keys.len());
            let is_deletion = random.one_in(if deletes { 2 } else { 8 });
            let value = (!is_deletion).then(|| self.draw_value(random));
            match &value {
                Some(value) => batch.put(&self.history.keys[key], value),
                None => batch.delete(&self.history.keys[key]),
            }
            .expect("the write is small");
            self.history.add(Write { key, value });
        }
        db.write(batch, &WriteOptions::default()).expect("a sound database takes writes");
        self.history.end_batch();
    }

    fn draw_value(&self, random: &mut Random) -> Vec<u8> {
        self.history.draw_value(random, self.settings.longest_value, self.settings.zeros_one_in)
    }

    /// Whether the last process that wrote it closed it.
    pub fn is_closed(&self) -> bool {
        self.settings.is_closed
    }

    /// The options of every open and repair of this database.
    pub fn options(&self, env: &Arc<dyn Env>) -> Options {
        let settings = &self.settings;
        Options {
            comparator: self.history.comparator.clone(),
            compression: settings.compression,
            filter_bits_per_key: settings.filter_bits_per_key,
            block_size_bytes: settings.block_size_bytes,
            max_file_size_bytes: settings.max_file_size_bytes,
            write_buffer_size_bytes: settings.write_buffer_size_bytes,
            manifest_size_limit_bytes: settings.manifest_size_limit_bytes,
            block_cache_size_bytes: settings.block_cache_size_bytes,
            max_open_files: 64,
            idle_after_ms: 3_600_000,
            env: Arc::clone(env),
            ..Options::default()
        }
    }

    /// The kind of database, for the message of a failure.
    pub fn story(&self) -> String {
        let names: Vec<_> =
            self.files.iter().map(|(name, bytes)| format!("{name} ({})", bytes.len())).collect();
        let name = self.history.comparator.name_text();
        let writes = self.history.last_sequence();
        format!("{writes} writes, {name}, {:?}\nfiles: {}", self.settings, names.join(", "))
    }
}

fn draw_keys(random: &mut Random) -> History {
    let count = random.choose(&[8, 40, 150]);
    if random.one_in(6) {
        let comparator = UserComparator::by_name("idb_cmp1").expect("a built-in order");
        return History::new(comparator, (0..count).map(|number| KeySpace::IndexedDb.key(number)).collect());
    }
    let keys = (0..count).map(|number| format!("key {number:03}").into_bytes());
    History::new(UserComparator::Bytewise, keys.collect())
}

/// The path of a file of the directory.
pub fn path_of(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(name)
}

/// All files in the directory, and in `lost`.
pub fn read_files(env: &dyn Env) -> Files {
    let mut files = Files::new();
    for name in env.list(Path::new(DIRECTORY)).unwrap_or_default() {
        if name == "lost" {
            for name in env.list(&path_of("lost")).unwrap_or_default() {
                let name = format!("lost/{name}");
                files.insert(name.clone(), env.read_file(&path_of(&name)).expect("a file that is there"));
            }
        } else {
            files.insert(name.clone(), env.read_file(&path_of(&name)).expect("a file that is there"));
        }
    }
    files
}

/// Writes the files into a file system, durably.
pub fn place(env: &dyn Env, files: &Files) {
    let write = || -> Result<(), terrace_engine::env::EnvError> {
        env.create_directory_all(&path_of("lost"))?;
        for (name, contents) in files {
            let mut file = env.create(&path_of(name))?;
            file.append(contents)?;
            file.sync()?;
            file.close()?;
        }
        for directory in [path_of("lost"), PathBuf::from(DIRECTORY), PathBuf::from("/")] {
            env.sync_directory(&directory)?;
        }
        Ok(())
    };
    write().expect("a file system that takes files");
}
