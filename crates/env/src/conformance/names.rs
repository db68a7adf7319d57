//! Checks of names: replacing, renaming, removing, listing, directories and links.

use std::sync::Arc;

use super::TestDirectory;
use crate::{HeldEnv, RandomAccessFile};

#[track_caller]
fn assert_holds(file: &dyn RandomAccessFile, expected: &[u8]) {
    let mut buffer = [0; 100];
    let read_bytes = file.read_at(0, &mut buffer).unwrap();
    assert_eq!(&buffer[..read_bytes], expected);
    assert_eq!(file.size_bytes().unwrap(), expected.len() as u64);
}

pub(super) fn replaces(place: &TestDirectory) {
    let (path, temporary) = (place.path("CURRENT"), place.path("000001.dbtmp"));
    for contents in [&b"old"[..], b"new and longer", b"", b"short"] {
        place.env.replace_file(&path, contents, &temporary).unwrap();
        assert_eq!(place.read("CURRENT"), contents);
        assert_eq!(place.names(), ["CURRENT"], "the temporary file is gone");
    }
    // A leftover temporary file does not matter.
    place.write("000001.dbtmp", b"left behind, and long");
    place.env.replace_file(&path, b"newest", &temporary).unwrap();
    assert_eq!(place.read("CURRENT"), b"newest");
    assert_eq!(place.names(), ["CURRENT"]);

    let missing =
        place.env.replace_file(&place.path("missing/a"), b"x", &place.path("missing/b")).unwrap_err();
    assert!(missing.is_not_found(), "{missing}");
    place.env.create_directory_all(&place.path("directory")).unwrap();
    assert!(place.env.replace_file(&place.path("directory"), b"x", &temporary).is_err());
    assert_eq!(place.names(), ["CURRENT", "directory"], "nothing is left after a failure");
}

pub(super) fn replaces_under_readers(place: &TestDirectory) {
    place.write("file", b"old");
    let before = place.env.open_random(&place.path("file")).unwrap();
    place.env.replace_file(&place.path("file"), b"new contents", &place.path("temporary")).unwrap();
    let after = place.env.open_random(&place.path("file")).unwrap();
    assert_holds(&*before, b"old");
    assert_holds(&*after, b"new contents");
}

pub(super) fn renames(place: &TestDirectory) {
    place.write("LOG", b"old log");
    let reader = place.env.open_random(&place.path("LOG")).unwrap();
    place.env.rename(&place.path("LOG"), &place.path("LOG.old")).unwrap();
    assert_eq!(place.names(), ["LOG.old"]);
    assert_eq!(place.read("LOG.old"), b"old log");
    assert_holds(&*reader, b"old log");

    place.env.create_directory_all(&place.path("directory")).unwrap();
    place.env.rename(&place.path("LOG.old"), &place.path("directory/LOG")).unwrap();
    assert_eq!(place.names(), ["directory"]);
    assert_eq!(place.read("directory/LOG"), b"old log");
}

pub(super) fn tells_files_apart(place: &TestDirectory) {
    let id = |name: &str| place.env.file_id(&place.path(name)).unwrap();
    assert_eq!(id("missing"), None);
    place.write("file", b"contents");
    place.write("copy", b"contents");
    let Some(file) = id("file") else { return assert_eq!(id("copy"), None) };
    assert_ne!(id("copy"), Some(file));
    place.env.open_append(&place.path("file")).unwrap().append(b" and more").unwrap();
    place.env.rename(&place.path("file"), &place.path("renamed")).unwrap();
    assert_eq!(id("renamed"), Some(file));
}

pub(super) fn refuses_to_rename_onto_a_file(place: &TestDirectory) {
    place.write("from", b"from");
    place.write("to", b"to");
    let error = place.env.rename(&place.path("from"), &place.path("to")).unwrap_err();
    assert!(error.is_already_exists(), "{error}");
    assert!(place.env.rename(&place.path("from"), &place.path("from")).is_err());
    place.env.create_directory_all(&place.path("directory")).unwrap();
    assert!(place.env.rename(&place.path("from"), &place.path("directory")).unwrap_err().is_already_exists());
    assert_eq!(place.read("from"), b"from");
    assert_eq!(place.read("to"), b"to");

    for (from, to) in [("missing", "new"), ("from", "missing/new")] {
        let error = place.env.rename(&place.path(from), &place.path(to)).unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
    assert_eq!(place.names(), ["directory", "from", "to"]);
}

pub(super) fn removes(place: &TestDirectory) {
    place.write("file", b"x");
    place.write("other", b"y");
    place.env.remove_file(&place.path("file")).unwrap();
    assert!(!place.env.exists(&place.path("file")).unwrap());
    assert_eq!(place.names(), ["other"]);
    let error = place.env.remove_file(&place.path("file")).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert_eq!(error.path, place.path("file"));

    place.env.create_directory_all(&place.path("directory")).unwrap();
    assert!(place.env.remove_file(&place.path("directory")).is_err());
    assert_eq!(place.names(), ["directory", "other"]);
}

pub(super) fn removes_under_readers(place: &TestDirectory) {
    place.write("file", b"first life");
    let random = place.env.open_random(&place.path("file")).unwrap();
    let mut sequential = place.env.open_sequential(&place.path("file")).unwrap();
    place.env.remove_file(&place.path("file")).unwrap();
    // A new file of the same name is a different file.
    place.write("file", b"second");
    assert_holds(&*random, b"first life");
    let mut buffer = [0; 100];
    let read_bytes = sequential.read(&mut buffer).unwrap();
    assert!(read_bytes > 0 && b"first life".starts_with(&buffer[..read_bytes]));
    assert_eq!(place.read("file"), b"second");

    // A writer outlives the name of its file too.
    let mut writer = place.env.create(&place.path("written")).unwrap();
    let mut log = place.env.create_log(&place.path("log")).unwrap();
    place.env.remove_file(&place.path("written")).unwrap();
    place.env.remove_file(&place.path("log")).unwrap();
    writer.append(b"into nothing").unwrap();
    writer.sync().unwrap();
    writer.close().unwrap();
    log.append(b"into nothing").unwrap();
    log.sync().unwrap();
    log.close().unwrap();
    assert_eq!(place.names(), ["file"]);
}

pub(super) fn lists(place: &TestDirectory) {
    assert!(place.names().is_empty());
    for name in ["000005.ldb", "CURRENT", "ä ö", "CURRENT.x"] {
        place.write(name, b"");
    }
    place.env.create_directory_all(&place.path("sst_0/deeper")).unwrap();
    place.write("sst_0/inside", b"");
    assert_eq!(place.names(), ["000005.ldb", "CURRENT", "CURRENT.x", "sst_0", "ä ö"]);
    let mut inside = place.env.list(&place.path("sst_0")).unwrap();
    inside.sort();
    assert_eq!(inside, ["deeper", "inside"]);

    let error = place.env.list(&place.path("missing")).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert!(place.env.list(&place.path("CURRENT")).is_err());
}

pub(super) fn directories(place: &TestDirectory) {
    let deep = place.path("a/b/c");
    assert!(!place.env.exists(&deep).unwrap());
    place.env.create_directory_all(&deep).unwrap();
    place.env.create_directory_all(&deep).unwrap();
    for name in ["a", "a/b", "a/b/c"] {
        assert!(place.env.exists(&place.path(name)).unwrap(), "{name}");
    }
    // The same name in two directories means two files.
    place.write("a/file", b"upper");
    place.write("a/b/file", b"lower");
    assert_eq!(place.read("a/file"), b"upper");
    assert_eq!(place.read("a/b/file"), b"lower");

    assert!(place.env.create_directory_all(&place.path("a/file")).is_err());
    assert!(place.env.create_directory_all(&place.path("a/file/inside")).is_err());
    assert!(!place.env.exists(&place.path("a/file/inside")).unwrap());

    assert!(place.env.remove_directory(&place.path("a/b")).is_err(), "not empty");
    assert!(place.env.remove_directory(&place.path("a/file")).is_err(), "no directory");
    assert_eq!(place.read("a/b/file"), b"lower");
    place.env.remove_directory(&deep).unwrap();
    assert!(!place.env.exists(&deep).unwrap());
    let error = place.env.remove_directory(&deep).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    place.env.remove_file(&place.path("a/b/file")).unwrap();
    place.env.remove_directory(&place.path("a/b")).unwrap();
    assert_eq!(place.env.list(&place.path("a")).unwrap(), ["file"]);
}

pub(super) fn syncs_directories(place: &TestDirectory) {
    place.env.sync_directory(&place.directory).unwrap();
    place.write("file", b"x");
    place.env.sync_directory(&place.directory).unwrap();
    let error = place.env.sync_directory(&place.path("missing")).unwrap_err();
    assert!(error.is_not_found(), "{error}");
}

pub(super) fn links_or_copies(place: &TestDirectory) {
    let mut file = place.env.create(&place.path("from")).unwrap();
    file.append(b"contents").unwrap();
    file.sync().unwrap();
    file.close().unwrap();
    place.env.create_directory_all(&place.path("backup")).unwrap();
    place.env.link_or_copy(&place.path("from"), &place.path("backup/to")).unwrap();
    place.env.link_or_copy(&place.path("from"), &place.path("twin")).unwrap();
    assert_eq!(place.read("backup/to"), b"contents");

    // The two names are independent.
    place.env.replace_file(&place.path("from"), b"replaced", &place.path("temporary")).unwrap();
    assert_eq!(place.read("twin"), b"contents");
    place.env.remove_file(&place.path("twin")).unwrap();
    assert_eq!(place.read("backup/to"), b"contents");
    assert_eq!(place.read("from"), b"replaced");

    let error = place.env.link_or_copy(&place.path("from"), &place.path("backup/to")).unwrap_err();
    assert!(error.is_already_exists(), "{error}");
    assert_eq!(place.read("backup/to"), b"contents");
    for (from, to) in [("missing", "new"), ("from", "missing/new")] {
        let error = place.env.link_or_copy(&place.path(from), &place.path(to)).unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
    assert_eq!(place.names(), ["backup", "from"]);
}

pub(super) fn holds_directories(place: &TestDirectory) {
    place.env.create_directory_all(&place.path("held/lost")).unwrap();
    place.write("held/before", b"before");
    place.write("outside", b"outside");
    let missing = place.env.hold_directory(&place.path("missing"));
    assert!(missing.is_ok_and(|held| held.is_none()) || place.env.list(&place.path("missing")).is_err());
    let directory = place.path("held");
    let Some(HeldEnv { env, hold }) = place.env.hold_directory(&directory).unwrap() else { return };
    let inside = TestDirectory::new(env, directory.clone());
    // Both environments see what either writes.
    inside.write("after", b"after");
    inside.env.replace_file(&inside.path("CURRENT"), b"x", &inside.path("temporary")).unwrap();
    inside.env.rename(&inside.path("before"), &inside.path("lost/before")).unwrap();
    inside.env.sync_directory(&directory).unwrap();
    inside.env.sync_directory(&inside.path("lost")).unwrap();
    assert_eq!(inside.names(), ["CURRENT", "after", "lost"]);
    assert_eq!(place.read("held/after"), b"after");
    assert_eq!(place.read("held/lost/before"), b"before");
    assert!(inside.env.exists(&directory).unwrap());
    inside.env.create_directory_all(&inside.path("lost")).unwrap();
    inside.env.create_directory_all(&inside.path("made/below")).unwrap();
    inside.env.remove_directory(&inside.path("made/below")).unwrap();
    // Other paths keep their meaning.
    assert_eq!(inside.env.read_file(&place.path("outside")).unwrap(), b"outside");
    inside.env.link_or_copy(&inside.path("after"), &place.path("linked")).unwrap();
    assert_eq!(place.read("linked"), b"after");
    let lock = inside.env.lock(&inside.path("LOCK")).unwrap();
    assert!(place.env.lock(&place.path("held/LOCK")).is_err(), "it is one file");
    drop(lock);
    // A clone of the hold keeps the directory held.
    let clone = Arc::clone(&hold);
    drop(hold);
    inside.env.sync_directory(&directory).unwrap();
    drop(clone);
    assert!(inside.env.sync_directory(&directory).is_err(), "nobody holds the directory");
    assert_eq!(inside.env.read_file(&place.path("outside")).unwrap(), b"outside");
}
