//! Checks of the lock within one process. Each environment's own tests cover other processes.

use std::path::Path;

use super::TestDirectory;
use crate::{Background, LockError};

#[track_caller]
fn assert_held_here(place: &TestDirectory, path: &Path) {
    match place.env.lock(path) {
        Err(LockError::Held { holder, this_process: true }) => {
            assert!(holder.is_none_or(|process| process == place.env.process_id()));
        }
        other => panic!("the lock is held by this process, but: {other:?}"),
    }
}

pub(super) fn once(place: &TestDirectory) {
    let path = place.path("LOCK");
    let lock = place.env.lock(&path).unwrap();
    assert!(place.env.exists(&path).unwrap());
    for _ in 0..3 {
        assert_held_here(place, &path);
    }
    drop(lock);
    assert!(place.env.exists(&path).unwrap(), "the file stays");
    let again = place.env.lock(&path).unwrap();
    assert_held_here(place, &path);
    drop(again);
    assert_eq!(place.names(), ["LOCK"]);
}

pub(super) fn by_any_path(place: &TestDirectory) {
    place.env.create_directory_all(&place.path("directory")).unwrap();
    let lock = place.env.lock(&place.path("LOCK")).unwrap();
    for other in ["./LOCK", "directory/../LOCK"] {
        assert_held_here(place, &place.path(other));
    }
    drop(lock);
    let lock = place.env.lock(&place.path("directory/../LOCK")).unwrap();
    assert_held_here(place, &place.path("LOCK"));
    drop(lock);
    place.env.lock(&place.path("LOCK")).unwrap();
}

pub(super) fn files_apart(place: &TestDirectory) {
    for directory in ["one", "two"] {
        place.env.create_directory_all(&place.path(directory)).unwrap();
    }
    let one = place.env.lock(&place.path("one/LOCK")).unwrap();
    let two = place.env.lock(&place.path("two/LOCK")).unwrap();
    drop(one);
    assert_held_here(place, &place.path("two/LOCK"));
    place.env.lock(&place.path("one/LOCK")).unwrap();
    drop(two);
    // An existing file can be locked, whatever it holds.
    place.write("used", b"12345\n");
    place.env.lock(&place.path("used")).unwrap();
}

pub(super) fn released_from_any_thread(place: &TestDirectory) {
    if place.env.background() == Background::Steps {
        return;
    }
    let lock = place.env.lock(&place.path("LOCK")).unwrap();
    place.env.spawn("releases", Box::new(move || drop(lock))).unwrap().join();
    place.env.lock(&place.path("LOCK")).unwrap();
}

pub(super) fn missing_directory(place: &TestDirectory) {
    match place.env.lock(&place.path("missing/LOCK")) {
        Err(LockError::Env(error)) => assert!(error.is_not_found(), "{error}"),
        other => panic!("there is no such directory, but: {other:?}"),
    }
}
