//! A database whose directory is moved while it is open, while another is made in a new directory at the old path.
//!
//! The other process is this test program again, running only [`helper_process`].
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::support::{only, scaled};
use terrace_engine::{Db, ErrorKind, IterOptions, Options, ReadOptions, WriteOptions};

const DIRECTORY: &str = "TERRACE_MOVED_DIRECTORY";
/// The directory to which the other process changes after it has opened the database.
const WORKS_IN: &str = "TERRACE_MOVED_WORKS_IN";
const WROTE: &str = "wrote ";
/// Enough for several logs, tables and compactions.
const ENTRIES: u32 = 2_000;

/// Options with which logs, tables and the MANIFEST are renewed after a few entries.
fn small() -> Options {
    Options {
        write_buffer_size_bytes: 64 << 10,
        max_file_size_bytes: 64 << 10,
        manifest_size_limit_bytes: 1 << 10,
        ..Options::default()
    }
}

/// Writes the entries of `who` in round `round`, synced now and then, with flushes and a compaction.
fn work(db: &Db, who: &str, round: u32) {
    for number in 0..ENTRIES {
        let options = WriteOptions { sync: number % 500 == 0 };
        db.put(&key(who, round, number), &[number as u8; 200], &options).unwrap();
    }
    db.flush().unwrap();
    if round % 2 == 1 {
        db.compact_range(None, None).unwrap();
    }
}

fn key(who: &str, round: u32, number: u32) -> Vec<u8> {
    format!("{who} {round} {number:06}").into_bytes()
}

/// Asserts that the database in `directory` is sound and holds the rounds of `who`, and nothing else.
#[track_caller]
fn assert_holds(directory: &Path, who: &str, rounds: u32) {
    let db = Db::open(directory, Options { create_if_missing: false, ..small() }).unwrap();
    db.verify().unwrap();
    let mut iterator = db.iter(IterOptions::default()).unwrap();
    iterator.seek_to_first().unwrap();
    for round in 0..rounds {
        for number in 0..ENTRIES {
            let expected = key(who, round, number);
            assert!(
                iterator.valid() && iterator.key() == expected,
                "{}: {}",
                directory.display(),
                expected.escape_ascii()
            );
            iterator.next().unwrap();
        }
    }
    assert!(!iterator.valid(), "{} holds what is another's", directory.display());
    db.close().unwrap();
    drop((iterator, db));
    let report = Db::repair(directory, &small()).unwrap();
    assert!(report.nothing_lost(), "{report}");
}

/// The other process. It has a database open in the directory and writes a round for each line that it reads, until there are
/// no more lines. Does nothing in an ordinary run of the tests.
#[test]
fn helper_process() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let db = Db::open(PathBuf::from(directory), small()).unwrap();
    if let Some(directory) = std::env::var_os(WORKS_IN) {
        std::env::set_current_dir(directory).unwrap();
    }
    println!("\n{WROTE}nothing");
    for (round, _) in std::io::stdin().lines().enumerate() {
        work(&db, "other", round as u32);
        println!("\n{WROTE}{round}");
    }
    db.close().unwrap();
}

/// Another process that keeps a database open.
struct Other {
    child: Child,
    told: ChildStdin,
    answers: std::io::Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn start(directory: &Path) -> Self {
        Self::start_by(Command::new(std::env::current_exe().unwrap()).env(DIRECTORY, directory))
    }

    fn start_by(command: &mut Command) -> Self {
        let mut child = command
            .args(only(concat!(module_path!(), "::helper_process")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (told, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut other = Self { child, told, answers: answers.lines() };
        other.wait();
        other
    }

    fn wait(&mut self) {
        let answered = self.answers.any(|line| line.unwrap().starts_with(WROTE));
        assert!(answered, "the other process ended");
    }

    fn work(&mut self) {
        writeln!(self.told).unwrap();
        self.wait();
    }

    fn close(mut self) {
        drop(self.told);
        self.answers.by_ref().for_each(drop);
        assert!(self.child.wait().unwrap().success());
    }
}

fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let (place, elsewhere) = (directory.path().join("db"), directory.path().join("moved"));
    (directory, place, elsewhere)
}

#[test]
fn a_database_in_a_moved_directory_shares_nothing_with_a_new_one_at_the_old_path() {
    let (_directory, place, elsewhere) = places();
    let moved = Db::open(&place, small()).unwrap();
    work(&moved, "moved", 0);
    fs::rename(&place, &elsewhere).unwrap();
    let new = Db::open(&place, small()).unwrap();
    for round in 0..4 {
        work(&new, "new", round);
        work(&moved, "moved", round + 1);
    }
    assert_eq!(Db::open(&place, small()).unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(Db::open(&elsewhere, small()).unwrap_err().kind(), ErrorKind::Locked);
    moved.close().unwrap();
    new.close().unwrap();
    assert_holds(&place, "new", 4);
    assert_holds(&elsewhere, "moved", 5);
}

#[test]
fn a_moved_database_of_another_process_shares_nothing_with_a_new_one_at_the_old_path() {
    let (_directory, place, elsewhere) = places();
    let moved = Db::open(&place, small()).unwrap();
    work(&moved, "moved", 0);
    fs::rename(&place, &elsewhere).unwrap();
    let mut other = Other::start(&place);
    for round in 0..2 {
        other.work();
        work(&moved, "moved", round + 1);
    }
    other.close();
    moved.close().unwrap();
    assert_holds(&place, "other", 2);
    assert_holds(&elsewhere, "moved", 3);
}

#[test]
fn a_relative_path_still_means_the_directory_of_the_open_after_a_chdir() {
    let (directory, place, elsewhere) = places();
    fs::create_dir(&elsewhere).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    let mut other =
        Other::start_by(command.current_dir(directory.path()).env(DIRECTORY, "db").env(WORKS_IN, &elsewhere));
    other.work();
    other.work();
    other.close();
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    assert_holds(&place, "other", 2);
}

#[test]
fn nothing_is_made_at_the_old_place_of_a_moved_directory() {
    let (_directory, place, elsewhere) = places();
    let db = Db::open(&place, small()).unwrap();
    fs::rename(&place, &elsewhere).unwrap();
    work(&db, "moved", 0);
    let copy = elsewhere.with_extension("copy");
    db.checkpoint(&copy).unwrap();
    db.close().unwrap();
    assert!(!place.exists());
    assert_holds(&elsewhere, "moved", 1);
    assert_holds(&copy, "moved", 1);
}

#[test]
fn readers_and_iterators_stay_with_the_directory_that_they_opened() {
    let (_directory, place, elsewhere) = places();
    // With these options, tables are opened by name when they are needed.
    let options = || Options { map_tables: false, max_open_files: 1, ..small() };
    let db = Db::open(&place, options()).unwrap();
    work(&db, "moved", 0);
    let reader = Db::open(&place, Options { read_only: true, ..options() }).unwrap();
    let mut iterator = db.iter(IterOptions::default()).unwrap();
    fs::rename(&place, &elsewhere).unwrap();
    let new = Db::open(&place, options()).unwrap();
    work(&new, "new", 0);
    work(&db, "moved", 1);
    let found = |round| reader.get(&key("moved", round, 7), &ReadOptions::default()).unwrap().is_some();
    assert!(found(0) && !found(1));
    reader.refresh().unwrap();
    assert!(found(0) && found(1), "a refresh looks where the database is now");
    db.close().unwrap();
    drop(db);
    iterator.seek_to_first().unwrap();
    let mut count = 0;
    while iterator.valid() {
        assert_eq!(iterator.key(), key("moved", 0, count));
        count += 1;
        iterator.next().unwrap();
    }
    assert_eq!(count, ENTRIES, "an iterator outlives its database");
    drop(iterator);
    new.close().unwrap();
    assert_holds(&place, "new", 1);
    assert_holds(&elsewhere, "moved", 2);
}

/// The directories under `directory` that this process has open.
#[cfg(target_os = "linux")]
fn open_below(directory: &Path) -> Vec<PathBuf> {
    let descriptors = fs::read_dir("/proc/self/fd").unwrap();
    let targets = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets.filter(|target| target.starts_with(directory)).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_database_whose_handle_lives_on_keeps_no_directory_open() {
    let (directory, place, _) = places();
    let db = Db::open(&place, small()).unwrap();
    let reader = Db::open(&place, Options { read_only: true, ..small() }).unwrap();
    work(&db, "held", 0);
    let directory = directory.path().canonicalize().unwrap();
    assert!(!open_below(&directory).is_empty());
    db.close().unwrap();
    reader.close().unwrap();
    assert_eq!(open_below(&directory), Vec::<PathBuf>::new());
    assert_eq!(db.put(b"k", b"v", &WriteOptions::default()).unwrap_err().kind(), ErrorKind::Closed);
}

/// Moves several databases at random. Each is recognized by its contents.
#[test]
fn databases_that_are_moved_at_random_keep_their_contents() {
    let directory = tempfile::tempdir().unwrap();
    let at = |place: u32| directory.path().join(place.to_string());
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = move |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % bound) as u32
    };
    type Entries = BTreeMap<Vec<u8>, Vec<u8>>;
    // For each place, what was written there, and the database while it is open.
    let mut databases: BTreeMap<u32, (Entries, Option<Db>)> = BTreeMap::new();
    for step in 0..scaled(3_000) {
        let place = below(5);
        let Some((entries, db)) = databases.get_mut(&place) else {
            let db = Db::open(at(place), small()).unwrap();
            databases.insert(place, (Entries::new(), Some(db)));
            continue;
        };
        match (below(40), db) {
            (0, Some(open)) => {
                open.close().unwrap();
                databases.get_mut(&place).unwrap().1 = None;
            }
            (1, Some(open)) => open.compact_range(None, None).unwrap(),
            (2, Some(open)) => open.flush().unwrap(),
            (3..=9, _) => {
                let target = below(5);
                if !databases.contains_key(&target) {
                    fs::rename(at(place), at(target)).unwrap();
                    let moved = databases.remove(&place).unwrap();
                    databases.insert(target, moved);
                }
            }
            (_, Some(open)) => {
                for _ in 0..20 {
                    let (key, value) = (below(1_000).to_be_bytes(), vec![step as u8; 300]);
                    open.put(&key, &value, &WriteOptions { sync: below(30) == 0 }).unwrap();
                    entries.insert(key.to_vec(), value);
                }
            }
            (_, closed) => {
                let db = Db::open(at(place), small()).unwrap();
                assert_eq!(read_all(&db), *entries, "in step {step}");
                *closed = Some(db);
            }
        }
    }
    for (place, (entries, db)) in databases {
        if let Some(db) = db {
            assert_eq!(read_all(&db), entries);
            db.close().unwrap();
        }
        let db = Db::open(at(place), small()).unwrap();
        db.verify().unwrap();
        assert_eq!(read_all(&db), entries);
    }
}

fn read_all(db: &Db) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut iterator = db.iter(IterOptions::default()).unwrap();
    iterator.seek_to_first().unwrap();
    let mut entries = BTreeMap::new();
    while iterator.valid() {
        entries.insert(iterator.key().to_vec(), iterator.value().to_vec());
        iterator.next().unwrap();
    }
    entries
}
