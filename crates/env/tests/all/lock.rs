//! The lock between processes: Terrace against Terrace, and against the classic record lock that LevelDB takes.
//!
//! The other process is this test program again, running only [`helper_process`]; environment variables tell it what
//! to do. It answers on its standard output and ends when its standard input ends.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::only;
use terrace_env::{Env, FileLock, LockError, LockHolder, PosixEnv};

const ROLE: &str = "TERRACE_LOCK_TEST_ROLE";
const PATH: &str = "TERRACE_LOCK_TEST_PATH";
const ANSWER: &str = "answer: ";
const HAS_LOCKS_OF_OPEN_FILES: bool = cfg!(any(target_os = "linux", target_vendor = "apple"));

fn lock(path: &Path) -> Result<Box<dyn FileLock>, LockError> {
    PosixEnv::new().lock(path)
}

fn holder(path: &Path) -> LockHolder {
    PosixEnv::new().lock_holder(path).unwrap()
}

/// Takes the lock as LevelDB 1.23 does: a classic exclusive record lock on the whole file.
fn lock_as_leveldb(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    // SAFETY: zero is a value for a C structure of integers; the descriptor is open, and the pointer is to a
    // structure that lives during the call.
    let result = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        lock.l_type = libc::F_WRLCK as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw mut lock)
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(file) }
}

/// The other process. Does nothing in an ordinary run of the tests.
#[test]
fn helper_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let path = PathBuf::from(std::env::var_os(PATH).unwrap());
    let (answer, held): (_, Box<dyn std::any::Any>) = match role.as_str() {
        "terrace" => match lock(&path) {
            Ok(lock) => ("locked".to_owned(), Box::new(lock)),
            Err(LockError::Held { holder, this_process: false }) => {
                (format!("refused by {holder:?}"), Box::new(()))
            }
            Err(other) => (format!("{other:?}"), Box::new(())),
        },
        "leveldb" => match lock_as_leveldb(&path) {
            Ok(file) => ("locked".to_owned(), Box::new(file)),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {
                ("refused".to_owned(), Box::new(()))
            }
            Err(error) => (error.to_string(), Box::new(())),
        },
        other => panic!("no such role: {other}"),
    };
    // The test runner has already printed half a line.
    println!("\n{ANSWER}{answer}");
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
    drop(held);
}

struct Other {
    child: Child,
    answer: String,
}

impl Other {
    /// Another process that tries to take the lock, and holds it if it gets it.
    fn start(role: &str, path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(only(concat!(module_path!(), "::helper_process")))
            .env(ROLE, role)
            .env(PATH, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let answer = lines
            .find_map(|line| line.unwrap().strip_prefix(ANSWER).map(str::to_owned))
            .expect("the other process ended without an answer");
        // Discards the rest of its output without closing the pipe under it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, answer }
    }

    /// The answer to another process that tries to take the lock.
    fn answer(role: &str, path: &Path) -> String {
        let other = Self::start(role, path);
        let answer = other.answer.clone();
        other.end();
        answer
    }

    fn id(&self) -> u32 {
        self.child.id()
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("LOCK");
    (directory, path)
}

#[track_caller]
fn assert_held_by(path: &Path, expected: Option<u32>) {
    match lock(path) {
        Err(LockError::Held { holder, this_process: false }) => assert_eq!(holder, expected),
        other => panic!("another process holds the lock, but: {other:?}"),
    }
}

#[test]
fn refused_while_another_terrace_holds_it() {
    let (_directory, path) = scratch();
    let other = Other::start("terrace", &path);
    assert_eq!(other.answer, "locked");
    assert_held_by(&path, Some(other.id()));
    assert_held_by(&path, Some(other.id()));
    other.end();
    assert!(path.exists());
    lock(&path).unwrap();
}

#[test]
fn refused_while_leveldb_holds_it() {
    let (_directory, path) = scratch();
    let other = Other::start("leveldb", &path);
    assert_eq!(other.answer, "locked");
    assert_held_by(&path, Some(other.id()));
    // Our refused attempt has not released its lock.
    assert_eq!(Other::answer("leveldb", &path), "refused");
    other.end();
    lock(&path).unwrap();
}

#[test]
fn refuses_another_terrace_and_leveldb() {
    let (_directory, path) = scratch();
    let held = lock(&path).unwrap();
    let refused = format!("refused by Some({})", std::process::id());
    // Twice: their attempts do not release our lock, and ours release nothing either.
    for _ in 0..2 {
        assert_eq!(Other::answer("leveldb", &path), "refused");
        assert_eq!(Other::answer("terrace", &path), refused);
        assert!(matches!(lock(&path), Err(LockError::Held { this_process: true, .. })));
    }
    drop(held);
    assert_eq!(Other::answer("leveldb", &path), "locked");
    assert_eq!(Other::answer("terrace", &path), "locked");
}

#[test]
fn who_holds_the_lock_is_told_without_taking_or_loosening_it() {
    let (_directory, path) = scratch();
    assert_eq!(holder(&path), LockHolder::Nobody, "there is no file");
    assert!(!path.exists());
    for role in ["terrace", "leveldb"] {
        let other = Other::start(role, &path);
        assert_eq!(holder(&path), LockHolder::Process(Some(other.id())), "{role}");
        other.end();
        assert_eq!(holder(&path), LockHolder::Nobody);
    }
    let held = lock(&path).unwrap();
    assert_eq!(holder(&path), LockHolder::Process(Some(std::process::id())));
    assert_eq!(Other::answer("leveldb", &path), "refused");
    drop(held);
    assert_eq!(holder(&path), LockHolder::Nobody);
}

#[test]
fn free_again_when_the_holder_is_killed() {
    let (_directory, path) = scratch();
    for role in ["terrace", "leveldb"] {
        let other = Other::start(role, &path);
        assert_eq!(other.answer, "locked");
        other.kill();
        lock(&path).unwrap();
    }
}

#[test]
fn does_not_name_a_process_that_is_dead() {
    let (_directory, path) = scratch();
    let dead = Other::start("terrace", &path);
    let dead_id = dead.id();
    dead.kill();
    let left = fs::read(&path).unwrap();
    assert_eq!(left, format!("{dead_id}\n").into_bytes(), "a killed process leaves its number");

    // LevelDB writes none. The kernel knows better than the number that the dead process left.
    let leveldb = Other::start("leveldb", &path);
    assert_held_by(&path, Some(leveldb.id()));
    leveldb.end();

    // As if a holder had not been able to write its own number.
    let other = Other::start("terrace", &path);
    for text in [&left[..], b"", b"nonsense\n", format!("{}\n", std::process::id()).as_bytes()] {
        fs::write(&path, text).unwrap();
        // The kernel knows the process of a classic lock alone.
        assert_held_by(&path, if HAS_LOCKS_OF_OPEN_FILES { None } else { Some(other.id()) });
    }
    other.end();
}

/// LevelDB in our own process: a process drops its classic lock when it closes any descriptor of the file, so a
/// careless attempt would release LevelDB's lock, and a third process could open the database.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn does_not_loosen_the_lock_of_leveldb_in_this_process() {
    let (_directory, path) = scratch();
    let leveldb = lock_as_leveldb(&path).unwrap();
    for _ in 0..3 {
        assert_eq!(holder(&path), LockHolder::Process(Some(std::process::id())));
        match lock(&path) {
            Err(LockError::Held { holder, this_process: true }) => {
                assert_eq!(holder, Some(std::process::id()))
            }
            other => panic!("this process holds the lock, but: {other:?}"),
        }
        assert_eq!(Other::answer("leveldb", &path), "refused");
    }
    drop(leveldb);

    // Now the lock is free, for us and then for LevelDB.
    let held = lock(&path).unwrap();
    assert!(lock_as_leveldb(&path).is_err());
    assert_eq!(Other::answer("leveldb", &path), "refused");
    drop(held);
    lock_as_leveldb(&path).unwrap();
}

/// A copy of this process that does nothing, made by `fork` alone. It ends when this value is dropped.
#[cfg(target_os = "linux")]
struct ForkedChild {
    id: libc::pid_t,
}

#[cfg(target_os = "linux")]
impl ForkedChild {
    fn start() -> Self {
        // SAFETY: the child calls nothing but `pause`, which is safe after a fork in a program with threads.
        let id = unsafe {
            match libc::fork() {
                0 => loop {
                    libc::pause();
                },
                id => id,
            }
        };
        assert!(id > 0, "{}", io::Error::last_os_error());
        Self { id }
    }
}

#[cfg(target_os = "linux")]
impl Drop for ForkedChild {
    fn drop(&mut self) {
        // SAFETY: this is our own child, which has not been waited for, so the number is still its. The null pointer
        // means that its status is not wanted.
        unsafe {
            libc::kill(self.id, libc::SIGKILL);
            libc::waitpid(self.id, std::ptr::null_mut(), 0);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_forked_child_neither_holds_nor_loosens_the_lock() {
    let (_directory, path) = scratch();
    let held = lock(&path).unwrap();
    let child = ForkedChild::start();
    assert_eq!(Other::answer("leveldb", &path), "refused");
    drop(held);
    let again = lock(&path).unwrap();
    drop(child);
    assert_eq!(Other::answer("leveldb", &path), "refused");
    drop(again);
    assert_eq!(Other::answer("leveldb", &path), "locked");
}

#[test]
fn one_of_many_threads_gets_it() {
    let (_directory, path) = scratch();
    for _ in 0..50 {
        let barrier = std::sync::Barrier::new(4);
        let attempts: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        lock(&path)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(attempts.iter().filter(|attempt| attempt.is_ok()).count(), 1);
        for attempt in attempts.iter().filter_map(|attempt| attempt.as_ref().err()) {
            assert!(matches!(attempt, LockError::Held { this_process: true, .. }), "{attempt:?}");
        }
    }
}
