//! A process that is forked while a database is open. It is this test program again, running only [`helper_process`]. It
//! forks with a system call that Rust's standard library does not have.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{only, scaled};
use terrace_engine::env::conformance::HANGS_AFTER;
use terrace_engine::{
    BackgroundPool, Db, DbIterator, Error, ErrorKind, IterOptions, Options, ReadOptions, Snapshot,
    WriteBatch, WriteOptions,
};

const ROLE: &str = "TERRACE_FORKED_ROLE";
const DIRECTORY: &str = "TERRACE_FORKED_DIRECTORY";
const DONE: &str = "done as told";
const ENTRIES: u32 = 3000;

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
    safe fn alarm(seconds: u32) -> u32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

/// Runs `role` in another process, with a time limit.
fn run(role: &str) {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(only(concat!(module_path!(), "::helper_process")))
        .env(ROLE, role)
        .env(DIRECTORY, directory.path())
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(DONE), "{:?}: {said}", output.status);
}

/// The helper process. Does nothing in an ordinary run of the tests.
#[test]
fn helper_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    // Longer than a child has.
    alarm(2 * HANGS_AFTER.as_secs() as u32);
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
    match role.as_str() {
        "idle" => fork_an_idle_process(&directory),
        "busy" => fork_a_busy_process(&directory),
        other => panic!("no such role: {other}"),
    }
    println!("\n{DONE}");
}

/// Forks, and panics unless `child` returns an empty list in the child, which reports it by its exit status.
fn in_child(meanwhile: impl FnOnce(), child: impl FnOnce() -> Vec<String>) {
    let number = fork();
    if number == 0 {
        // The child needs its own time limit, because it does not inherit the parent's.
        alarm(HANGS_AFTER.as_secs() as u32);
        let failures = child();
        if !failures.is_empty() {
            eprintln!("in the child: {failures:#?}");
        }
        _exit(i32::from(!failures.is_empty()));
    }
    assert!(number > 0, "the system does not fork");
    meanwhile();
    let mut status = 0;
    // SAFETY: waits for the child; the number lives during the call.
    assert_eq!(unsafe { waitpid(number, &raw mut status, 0) }, number);
    assert_eq!(status, 0, "the child was not refused, or hung, or died");
}

/// Tables of a few thousand entries.
fn small() -> Options {
    Options { write_buffer_size_bytes: 64 << 10, ..Options::default() }
}

fn key(who: &str, number: u32) -> Vec<u8> {
    format!("{who} {number:07}").into_bytes()
}

fn put(db: &Db, who: &str, number: u32) -> Result<(), Error> {
    db.put(&key(who, number), &[1; 100], &WriteOptions::default())
}

fn fill(db: &Db, who: &str) {
    (0..ENTRIES).for_each(|number| put(db, who, number).unwrap());
}

/// Calls everything that a database offers in a child, and returns what was not refused there and should be.
fn not_refused(db: Db, directory: &Path, mut iterator: DbIterator, snapshot: Snapshot) -> Vec<String> {
    let mut batch = WriteBatch::new();
    batch.put(b"child", b"value").unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    db.submit(
        batch.clone(),
        WriteOptions::default(),
        Box::new(move |result| sender.send(result.map(drop)).unwrap()),
    );
    let at = |snapshot| ReadOptions { snapshot: Some(snapshot), ..ReadOptions::default() };
    let keys = [key("before", 1)];
    let answers = [
        ("put", put(&db, "child", 1)),
        ("synced put", db.put(b"child", b"synced", &WriteOptions { sync: true })),
        ("delete", db.delete(&keys[0], &WriteOptions::default())),
        ("try_write", db.try_write(&mut batch.clone(), &WriteOptions::default()).map(drop)),
        ("write", db.write(batch, &WriteOptions::default())),
        ("submit", receiver.recv().unwrap()),
        ("get", db.get(&keys[0], &ReadOptions::default()).map(drop)),
        ("get_many_with", db.get_many_with(&keys, &ReadOptions::default(), |_| {})),
        ("get from a new snapshot", db.get(&keys[0], &at(db.snapshot())).map(drop)),
        ("get from a snapshot", db.get(&keys[0], &at(snapshot)).map(drop)),
        ("iter", db.iter(IterOptions::default()).map(drop)),
        ("next", iterator.next()),
        ("prev", iterator.seek_to_last()),
        ("approximate_size", db.approximate_size(b"a", b"z").map(drop)),
        ("refresh", db.refresh()),
        ("flush", db.flush()),
        ("compact_range", db.compact_range(None, None)),
        ("ingest", db.ingest(&[directory.join("none.ldb")])),
        ("checkpoint", db.checkpoint(directory.with_extension("copy"))),
        ("verify", db.verify()),
        ("verify_table", db.verify_table(1)),
        ("tables", db.tables().map(drop)),
    ];
    let mut wrong: Vec<String> = answers
        .into_iter()
        .filter(|(_, answer)| !matches!(answer, Err(error) if error.kind() == ErrorKind::Forked))
        .map(|(call, answer)| format!("{call}: {answer:?}"))
        .collect();
    if db.property("leveldb.stats").is_some() || db.stats() != Default::default() || db.step() {
        wrong.push("it tells of the parent's work".to_owned());
    }
    drop(iterator);
    if let Err(error) = db.close() {
        wrong.push(format!("close: {error}"));
    }
    drop(db);
    wrong
}

/// Opens and uses a database of the child's own in `directory`.
fn own_database(directory: &Path) -> Result<(), Error> {
    let db = Db::open(directory, small())?;
    fill(&db, "own");
    db.flush()?;
    assert!(db.get(&key("own", 1), &ReadOptions::default())?.is_some());
    db.close()
}

fn fork_an_idle_process(directory: &Path) {
    let own = directory.join("own");
    let directory = &directory.join("db");
    let pool = Arc::new(BackgroundPool::new(small().env, 1));
    let with_pool = Options { background_pool: Some(pool), ..small() };
    let db = Db::open(directory, with_pool.clone()).unwrap();
    fill(&db, "before");
    let mut iterator = db.iter(IterOptions::default()).unwrap();
    iterator.seek_to_first().unwrap();
    let snapshot = db.snapshot();
    in_child(
        || fill(&db, "during"),
        || {
            let (db, snapshot) = (db.clone(), snapshot.clone());
            let iterator = db.iter(IterOptions::default());
            assert_eq!(iterator.map(drop).unwrap_err().kind(), ErrorKind::Forked);
            let mut wrong = Vec::new();
            let mut expect = |kind, result: Result<Db, Error>| match result {
                Err(error) if error.kind() == kind => {}
                other => wrong.push(format!("not {kind:?}: {other:?}")),
            };
            expect(ErrorKind::Forked, Db::open(&own, with_pool.clone()));
            expect(ErrorKind::Locked, Db::open(directory, small()));
            drop((db, snapshot));
            // Reading needs no lock.
            let reader = Db::open(directory, Options { read_only: true, ..small() }).unwrap();
            let read = reader.get(&key("before", 1), &ReadOptions::default()).unwrap();
            if read.is_none() {
                wrong.push("the reader finds nothing".to_owned());
            }
            wrong.extend(own_database(&own).err().map(|error| error.to_string()));
            wrong
        },
    );
    // The parent continues.
    iterator.next().unwrap();
    drop(iterator);
    fill(&db, "after");
    assert_eq!(
        Db::open(directory, small()).unwrap_err().kind(),
        ErrorKind::Locked,
        "the child released no lock"
    );
    db.close().unwrap();
    // Now the child can open it, though the parent's handle still exists.
    in_child(
        || {},
        || {
            let opened = Db::open(directory, small()).and_then(|own| {
                put(&own, "of the child", 0)?;
                own.close()
            });
            opened.err().map(|error| error.to_string()).into_iter().collect()
        },
    );
    drop(db);
    let db = Db::open(directory, small()).unwrap();
    db.verify().unwrap();
    for who in ["before", "during", "after"] {
        for number in 0..ENTRIES {
            assert!(db.get(&key(who, number), &ReadOptions::default()).unwrap().is_some(), "{who} {number}");
        }
    }
    assert_eq!(db.get(b"child", &ReadOptions::default()).unwrap(), None);
    assert!(db.get(&key("of the child", 0), &ReadOptions::default()).unwrap().is_some());
}

struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Forks while other threads are within every lock of the database.
fn fork_a_busy_process(directory: &Path) {
    let own = directory.join("own");
    let db = Db::open(directory.join("db"), small()).unwrap();
    let ends = AtomicBool::new(false);
    fill(&db, "before");
    let written = std::thread::scope(|scope| {
        let works = |work: fn(&Db, &Path, u32) -> Result<(), Error>| {
            let (db, ends) = (db.clone(), &ends);
            scope.spawn(move || {
                let mut round = 0;
                while !ends.load(Ordering::Relaxed) {
                    work(&db, directory, round).unwrap();
                    round += 1;
                }
                round
            })
        };
        let writer = works(|db, _, round| put(db, "written", round));
        works(|db, _, round| db.get(&key("written", round % 10_000), &ReadOptions::default()).map(drop));
        works(|db, _, _| {
            let mut iterator = db.iter(IterOptions::default())?;
            iterator.seek_to_first()?;
            while iterator.valid() {
                iterator.next()?;
            }
            drop(db.snapshot());
            Ok(())
        });
        works(|_, directory, _| Db::open(directory.join("other"), Options::default())?.close());
        // Also ends the threads when an assertion fails.
        let _ends = OnDrop(|| ends.store(true, Ordering::Relaxed));
        for _ in 0..scaled(30) {
            let mut iterator = db.iter(IterOptions::default()).unwrap();
            iterator.seek_to_first().unwrap();
            let snapshot = db.snapshot();
            let of_child = (db.clone(), iterator, snapshot);
            let mut of_child = Some(of_child);
            in_child(
                || {},
                || {
                    let (db, iterator, snapshot) = of_child.take().unwrap();
                    let mut wrong = not_refused(db, directory, iterator, snapshot);
                    wrong.extend(own_database(&own).err().map(|error| error.to_string()));
                    wrong
                },
            );
        }
        ends.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    db.close().unwrap();
    drop(db);
    let db = Db::open(directory.join("db"), small()).unwrap();
    db.verify().unwrap();
    let mut iterator = db.iter(IterOptions::default()).unwrap();
    iterator.seek_to_first().unwrap();
    for (who, count) in [("before", ENTRIES), ("written", written)] {
        for number in 0..count {
            assert!(iterator.valid() && iterator.key() == key(who, number), "{who} {number} of {count}");
            iterator.next().unwrap();
        }
    }
    assert!(!iterator.valid(), "nobody else has written");
}

#[test]
fn a_put_in_a_forked_child_is_refused_and_no_put_of_its_parent_is_lost() {
    run("idle");
}

#[test]
fn a_forked_child_does_not_hang_on_locks_that_other_threads_held_at_the_fork() {
    run("busy");
}
