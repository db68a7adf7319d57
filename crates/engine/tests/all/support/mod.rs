//! Helpers that the engine's tests share.

pub mod leveldb_files;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use terrace_engine::env::{Env, MemoryEnv};
use terrace_engine::{Db, IterOptions, Options, ReadOptions, WriteOptions};

pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// The arguments with which this test program runs only `test`, given with its whole path, in a separate process.
#[cfg(unix)]
pub fn only(test: &str) -> [String; 3] {
    let (_program, test) = test.split_once("::").expect("a path begins with the name of the program");
    ["--exact".to_owned(), test.to_owned(), "--nocapture".to_owned()]
}

/// Whether tests take their short form: `TERRACE_SHORT=1`.
pub fn is_short() -> bool {
    std::env::var_os("TERRACE_SHORT").is_some_and(|value| value == "1")
}

/// `full`, or a tenth of it in the short form, rounded up.
pub fn scaled(full: u32) -> u32 {
    if is_short() { full.div_ceil(10) } else { full }
}

/// The distance of places that are tried one after the other: `full`, or eleven times that in the short form, so that odd and even
/// places are still tried.
pub fn distance(full: usize) -> usize {
    if is_short() { 11 * full } else { full }
}

/// Options in which a few kilobytes make every part of the machinery run.
pub fn tiny(env: Arc<dyn Env>) -> Options {
    Options {
        write_buffer_size_bytes: 8 << 10,
        block_size_bytes: 256,
        max_file_size_bytes: 4 << 10,
        block_cache_size_bytes: 64 << 10,
        manifest_size_limit_bytes: 4 << 10,
        max_open_files: 16,
        idle_after_ms: 50,
        env,
        ..Options::default()
    }
}

pub fn memory() -> Arc<dyn Env> {
    Arc::new(MemoryEnv::new())
}

pub fn put(db: &Db, key: &str, value: &str) {
    db.put(key.as_bytes(), value.as_bytes(), &WriteOptions::default()).unwrap();
}

pub fn delete(db: &Db, key: &str) {
    db.delete(key.as_bytes(), &WriteOptions::default()).unwrap();
}

pub fn get(db: &Db, key: &str) -> Option<String> {
    let value = db.get(key.as_bytes(), &ReadOptions::default()).unwrap();
    value.map(|value| String::from_utf8(value).unwrap())
}

/// Every entry in order, after a check that a backward walk shows the same.
pub fn entries(db: &Db, options: IterOptions) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut iterator = db.iter(options).unwrap();
    let mut forwards = Vec::new();
    iterator.seek_to_first().unwrap();
    while iterator.valid() {
        forwards.push((iterator.key().to_vec(), iterator.value().to_vec()));
        iterator.next().unwrap();
    }
    let mut backwards = Vec::new();
    iterator.seek_to_last().unwrap();
    while iterator.valid() {
        backwards.push((iterator.key().to_vec(), iterator.value().to_vec()));
        iterator.prev().unwrap();
    }
    backwards.reverse();
    assert_eq!(forwards, backwards, "an iterator sees the same both ways");
    forwards
}

pub fn assert_holds(db: &Db, model: &Model) {
    let found = entries(db, IterOptions::default());
    let expected: Vec<_> = model.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    assert_eq!(found.len(), expected.len(), "number of entries");
    assert_eq!(found, expected);
    for (key, value) in model {
        assert_eq!(db.get(key, &ReadOptions::default()).unwrap().as_ref(), Some(value));
    }
}

pub fn level_files(db: &Db) -> Vec<usize> {
    db.stats().levels.iter().map(|level| level.files).collect()
}

/// The total size of the table files in `directory`.
pub fn table_bytes(env: &dyn Env, directory: &Path) -> u64 {
    let names = env.list(directory).unwrap();
    names
        .iter()
        .filter(|name| name.ends_with(".ldb"))
        .map(|name| env.file_size(&directory.join(name)).unwrap_or(0))
        .sum()
}

/// A small generator of numbers, which depend only on the seed (Vigna's splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next() as u8).collect()
    }
}
