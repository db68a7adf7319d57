//! The environment in memory: the common suite, and tests of its own features.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{Background, Env, MemoryEnv, conformance};

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
