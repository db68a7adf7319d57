//! Checks of the lock within one process. Each environment's own tests cover other processes.

use std::path::Path;

use super::TestDirectory;
use crate::{Background, LockError};

#[track_caller]
fn assert_held_here(scratch: &TestDirectory, path: &Path) {
    match scratch.env.lock(path) {
        Err(LockError::Held { holder, this_process: true }) => {
            assert!(holder.is_none_or(|process| process == scratch.env.process_id()));
        }
        other => panic!("the lock is held by this process, but: {other:?}"),
    }
}

pub(super) fn once(scratch: &TestDirectory) {
    let path = scratch.path("LOCK");
    let lock = scratch.env.lock(&path).unwrap();
    assert!(scratch.env.exists(&path).unwrap());
    for _ in 0..3 {
        assert_held_here(scratch, &path);
    }
    drop(lock);
    assert!(scratch.env.exists(&path).unwrap(), "the file stays");
    let again = scratch.env.lock(&path).unwrap();
    assert_held_here(scratch, &path);
    drop(again);
    assert_eq!(scratch.names(), ["LOCK"]);
}

pub(super) fn by_any_path(scratch: &TestDirectory) {
    scratch.env.create_directory_all(&scratch.path("directory")).unwrap();
    let lock = scratch.env.lock(&scratch.path("LOCK")).unwrap();
    for other in ["./LOCK", "directory/../LOCK"] {
        assert_held_here(scratch, &scratch.path(other));
    }
    drop(lock);
    let lock = scratch.env.lock(&scratch.path("directory/../LOCK")).unwrap();
    assert_held_here(scratch, &scratch.path("LOCK"));
    drop(lock);
    scratch.env.lock(&scratch.path("LOCK")).unwrap();
}

pub(super) fn files_apart(scratch: &TestDirectory) {
    for directory in ["one", "two"] {
        scratch.env.create_directory_all(&scratch.path(directory)).unwrap();
    }
    let one = scratch.env.lock(&scratch.path("one/LOCK")).unwrap();
    let two = scratch.env.lock(&scratch.path("two/LOCK")).unwrap();
    drop(one);
    assert_held_here(scratch, &scratch.path("two/LOCK"));
    scratch.env.lock(&scratch.path("one/LOCK")).unwrap();
    drop(two);
    // An existing file can be locked, whatever it holds.
    scratch.write("used", b"12345\n");
    scratch.env.lock(&scratch.path("used")).unwrap();
}

pub(super) fn released_from_any_thread(scratch: &TestDirectory) {
    if scratch.env.background() == Background::Steps {
        return;
    }
    let lock = scratch.env.lock(&scratch.path("LOCK")).unwrap();
    scratch.env.spawn("releases", Box::new(move || drop(lock))).unwrap().join();
    scratch.env.lock(&scratch.path("LOCK")).unwrap();
}

pub(super) fn missing_directory(scratch: &TestDirectory) {
    match scratch.env.lock(&scratch.path("missing/LOCK")) {
        Err(LockError::Env(error)) => assert!(error.is_not_found(), "{error}"),
        other => panic!("there is no such directory, but: {other:?}"),
    }
}
