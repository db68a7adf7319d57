//! A database whose files the program receives, as a page receives those that its user chose: it is read in place, and
//! repaired in memory.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use terrace_engine::env::{Env, GivenFile, MemoryEnv};
use terrace_engine::{Db, ErrorKind, IterOptions, Options, UserComparator};

/// Entries of each database of testdata that was not written by a browser.
const ENTRIES: usize = 2403;

#[derive(Debug)]
struct Somebodys(Vec<u8>);

impl GivenFile for Somebodys {
    fn size_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.0.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// Gives the files of a database of testdata; `change` may change their bytes.
fn given(name: &str, change: impl Fn(&str, &mut Vec<u8>)) -> MemoryEnv {
    let env = MemoryEnv::with_steps();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let file = entry.file_name().into_string().unwrap();
        let mut bytes = fs::read(entry.path()).unwrap();
        change(&file, &mut bytes);
        env.give(&Path::new("/fruit").join(file), Arc::new(Somebodys(bytes))).unwrap();
    }
    env
}

fn options(env: &MemoryEnv) -> Options {
    Options { create_if_missing: false, env: Arc::new(env.clone()), ..Options::default() }
}

fn count(env: &MemoryEnv) -> terrace_engine::Result<usize> {
    let db = Db::open("/fruit", Options { read_only: true, ..options(env) })?;
    let mut entries = db.iter(IterOptions::default())?;
    let mut count = 0;
    entries.seek_to_first()?;
    while entries.valid() {
        count += 1;
        entries.next()?;
    }
    Ok(count)
}

fn names(env: &MemoryEnv) -> Vec<String> {
    let mut names = env.list(Path::new("/fruit")).unwrap();
    names.sort();
    names
}

#[test]
fn given_databases_are_read_and_stay_as_they_are() {
    for name in ["leveldb-1.23-raw", "leveldb-1.23-snappy-bloom", "leveldb-sst", "bedrock-zlib"] {
        let env = given(name, |_, _| {});
        let before = names(&env);
        assert_eq!(count(&env).unwrap(), ENTRIES, "{name}");
        assert_eq!(names(&env), before, "{name}");
    }
}

#[test]
fn a_damaged_given_database_is_repaired_in_memory() {
    let damage = |file: &str, bytes: &mut Vec<u8>| {
        if file == "000005.ldb" {
            bytes[5000] ^= 0xff;
        }
    };
    let env = given("leveldb-1.23-raw", damage);
    let error = count(&env).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Corruption, Some(4342)));
    assert_eq!(error.path(), Some(Path::new("/fruit/000005.ldb")));

    let report = Db::repair("/fruit", &options(&env)).unwrap();
    assert_eq!(report.lost_bytes(), 1050);
    let left = count(&env).unwrap();
    assert!(left > ENTRIES - 20 && left < ENTRIES, "{left}");
    assert!(env.exists(Path::new("/fruit/lost/000005.ldb")).unwrap());
}

#[test]
fn the_order_of_keys_is_told_as_long_as_the_manifest_is_there() {
    let env = MemoryEnv::with_steps();
    assert_eq!(Db::comparator_name("/fruit", &env), None);
    let comparator = UserComparator::by_name("idb_cmp1").unwrap();
    let options = Options { comparator, create_if_missing: true, ..options(&env) };
    Db::open("/fruit", options).unwrap().close().unwrap();
    assert_eq!(Db::comparator_name("/fruit", &env).as_deref(), Some(&b"idb_cmp1"[..]));

    for name in names(&env).iter().filter(|name| name.starts_with("MANIFEST")) {
        env.remove_file(&Path::new("/fruit").join(name)).unwrap();
    }
    assert_eq!(Db::comparator_name("/fruit", &env), None);
}
