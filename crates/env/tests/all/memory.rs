//! The environment in memory: the common suite, and tests of its specific features.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use terrace_env::{Background, ClockWatcher, Env, GivenFile, HeldClock, MemoryEnv, conformance};

fn place_in(env: MemoryEnv) -> (Arc<dyn Env>, PathBuf) {
    let directory = PathBuf::from("/some/database");
    env.create_directory_all(&directory).unwrap();
    (Arc::new(env), directory)
}

#[test]
fn conforms() {
    conformance::run_all(&|| place_in(MemoryEnv::new()));
}

#[test]
fn conforms_without_threads() {
    assert_eq!(MemoryEnv::with_steps().background(), Background::Steps);
    conformance::run_all(&|| place_in(MemoryEnv::with_steps()));
}

#[test]
fn conforms_at_relative_paths() {
    conformance::run_all(&|| {
        let env = MemoryEnv::new();
        env.create_directory_all(Path::new("here")).unwrap();
        (Arc::new(env), PathBuf::from("here"))
    });
}

#[test]
fn conforms_with_a_held_clock() {
    conformance::run_all(&|| place_in(MemoryEnv::new().with_clock(HeldClock::new())));
}

#[test]
fn a_held_clock_moves_only_when_it_is_advanced_and_wakes_who_watches() {
    #[derive(Default)]
    struct Watcher(AtomicUsize);

    impl ClockWatcher for Watcher {
        fn clock_advanced(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    let clock = HeldClock::new();
    let env = MemoryEnv::new().with_clock(clock.clone());
    let watcher = Arc::new(Watcher::default());
    let weak = Arc::downgrade(&watcher);
    env.watch_clock(weak.clone());
    assert_eq!((env.monotonic_micros(), env.unix_micros()), (0, 0));
    clock.advance(Duration::from_millis(3));
    assert_eq!((env.monotonic_micros(), env.unix_micros()), (3_000, 3_000));
    env.clone().sleep(Duration::from_secs(1));
    assert_eq!(env.monotonic_micros(), 1_003_000);
    assert_eq!(watcher.0.load(Ordering::Relaxed), 2);
    drop(watcher);
    clock.advance(Duration::from_secs(1));
    assert_eq!(Weak::strong_count(&weak), 0, "the clock keeps nobody alive");
}

#[test]
fn clones_share_and_others_do_not() {
    let (env, other) = (MemoryEnv::new(), MemoryEnv::new());
    let clone = env.clone();
    let path = Path::new("/file");
    env.create(path).unwrap().append(b"shared").unwrap();
    assert_eq!(clone.read_file(path).unwrap(), b"shared");
    assert!(!other.exists(path).unwrap());
    // Relative paths begin at the root.
    assert_eq!(env.read_file(Path::new("file")).unwrap(), b"shared");

    let lock = env.lock(Path::new("LOCK")).unwrap();
    assert!(clone.lock(Path::new("/LOCK")).is_err());
    other.lock(Path::new("/LOCK")).unwrap();
    drop(lock);
    clone.lock(Path::new("/LOCK")).unwrap();
}

#[test]
fn never_waits() {
    let env = MemoryEnv::new();
    env.create(Path::new("file")).unwrap().append(b"abcdef").unwrap();
    let file = env.open_random(Path::new("file")).unwrap();
    let mut buffer = [0; 4];
    assert_eq!(file.read_at_without_waiting(4, &mut buffer).unwrap(), Some(2));
    assert_eq!(&buffer[..2], b"ef");
}

/// A file that the test supplies, which can be read only if `is_readable`.
#[derive(Debug)]
struct Somebodys {
    bytes: &'static [u8],
    is_readable: bool,
}

impl GivenFile for Somebodys {
    fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_readable {
            return Err(io::Error::other("it has changed"));
        }
        let rest = self.bytes.get(offset as usize..).unwrap_or_default();
        // A giver may hand over less than is wanted only at the end.
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

fn given(bytes: &'static [u8], is_readable: bool) -> MemoryEnv {
    let env = MemoryEnv::new();
    env.give(Path::new("fruit/apple"), Arc::new(Somebodys { bytes, is_readable })).unwrap();
    env
}

#[test]
fn a_given_file_is_read_where_it_is() {
    let env = given(b"red and green", true);
    let path = Path::new("/fruit/apple");
    assert_eq!(env.list(Path::new("/fruit")).unwrap(), ["apple"]);
    assert_eq!(env.file_size(path).unwrap(), 13);
    assert_eq!(env.read_file(path).unwrap(), b"red and green");
    let file = env.open_mapped(path).unwrap();
    let mut buffer = [0; 9];
    assert_eq!(file.read_at(8, &mut buffer).unwrap(), 5);
    assert_eq!(&buffer[..5], b"green");
    assert_eq!(file.read_at(14, &mut buffer).unwrap(), 0);
    // Its bytes may have to be waited for, and are not in memory.
    assert_eq!(file.read_at_without_waiting(0, &mut buffer).unwrap(), None);
    assert!(file.mapped().is_none());
}

#[test]
fn what_is_written_to_a_given_file_stays_in_memory() {
    let env = given(b"red", true);
    let path = Path::new("/fruit/apple");
    let mut file = env.open_append(path).unwrap();
    file.append(b" and green").unwrap();
    assert_eq!(file.size_bytes(), 13);
    assert_eq!(env.read_file(path).unwrap(), b"red and green");
    env.link_or_copy(path, Path::new("/fruit/second")).unwrap();
    env.remove_file(path).unwrap();
    assert_eq!(env.read_file(Path::new("/fruit/second")).unwrap(), b"red and green");
}

#[test]
fn a_given_file_that_cannot_be_read_fails_what_needs_it() {
    let env = given(b"red", false);
    let path = Path::new("/fruit/apple");
    let error = env.read_file(path).unwrap_err();
    assert_eq!(error.to_string(), "could not read /fruit/apple: it has changed");
    assert!(env.open_append(path).unwrap().append(b"x").is_err());
    // Nothing of it is needed to empty it.
    env.create(path).unwrap().append(b"new").unwrap();
    assert_eq!(env.read_file(path).unwrap(), b"new");
}

#[test]
fn a_file_cannot_be_given_in_place_of_a_directory() {
    let env = given(b"red", true);
    let file = || Arc::new(Somebodys { bytes: b"", is_readable: true });
    assert!(env.give(Path::new("/fruit"), file()).is_err());
    assert!(env.give(Path::new("/fruit/apple/seed"), file()).is_err());
    assert_eq!(env.read_file(Path::new("/fruit/apple")).unwrap(), b"red");
}
