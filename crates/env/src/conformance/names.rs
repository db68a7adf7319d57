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

pub(super) fn replaces(scratch: &TestDirectory) {
    let (path, temporary) = (scratch.path("CURRENT"), scratch.path("000001.dbtmp"));
    for contents in [&b"old"[..], b"new and longer", b"", b"short"] {
        scratch.env.replace_file(&path, contents, &temporary).unwrap();
        assert_eq!(scratch.read("CURRENT"), contents);
        assert_eq!(scratch.names(), ["CURRENT"], "the temporary file is gone");
    }
    // A leftover temporary file does not matter.
    scratch.write("000001.dbtmp", b"left behind, and long");
    scratch.env.replace_file(&path, b"newest", &temporary).unwrap();
    assert_eq!(scratch.read("CURRENT"), b"newest");
    assert_eq!(scratch.names(), ["CURRENT"]);

    let missing =
        scratch.env.replace_file(&scratch.path("missing/a"), b"x", &scratch.path("missing/b")).unwrap_err();
    assert!(missing.is_not_found(), "{missing}");
    scratch.env.create_directory_all(&scratch.path("directory")).unwrap();
    assert!(scratch.env.replace_file(&scratch.path("directory"), b"x", &temporary).is_err());
    assert_eq!(scratch.names(), ["CURRENT", "directory"], "nothing is left after a failure");
}

pub(super) fn replaces_under_readers(scratch: &TestDirectory) {
    scratch.write("file", b"old");
    let before = scratch.env.open_random(&scratch.path("file")).unwrap();
    scratch.env.replace_file(&scratch.path("file"), b"new contents", &scratch.path("temporary")).unwrap();
    let after = scratch.env.open_random(&scratch.path("file")).unwrap();
    assert_holds(&*before, b"old");
    assert_holds(&*after, b"new contents");
}

pub(super) fn renames(scratch: &TestDirectory) {
    scratch.write("LOG", b"old log");
    let reader = scratch.env.open_random(&scratch.path("LOG")).unwrap();
    scratch.env.rename(&scratch.path("LOG"), &scratch.path("LOG.old")).unwrap();
    assert_eq!(scratch.names(), ["LOG.old"]);
    assert_eq!(scratch.read("LOG.old"), b"old log");
    assert_holds(&*reader, b"old log");

    scratch.env.create_directory_all(&scratch.path("directory")).unwrap();
    scratch.env.rename(&scratch.path("LOG.old"), &scratch.path("directory/LOG")).unwrap();
    assert_eq!(scratch.names(), ["directory"]);
    assert_eq!(scratch.read("directory/LOG"), b"old log");
}

pub(super) fn tells_files_apart(scratch: &TestDirectory) {
    let id = |name: &str| scratch.env.file_id(&scratch.path(name)).unwrap();
    assert_eq!(id("missing"), None);
    scratch.write("file", b"contents");
    scratch.write("copy", b"contents");
    let Some(file) = id("file") else { return assert_eq!(id("copy"), None) };
    assert_ne!(id("copy"), Some(file));
    scratch.env.open_append(&scratch.path("file")).unwrap().append(b" and more").unwrap();
    scratch.env.rename(&scratch.path("file"), &scratch.path("renamed")).unwrap();
    assert_eq!(id("renamed"), Some(file));
}

pub(super) fn refuses_to_rename_onto_a_file(scratch: &TestDirectory) {
    scratch.write("from", b"from");
    scratch.write("to", b"to");
    let error = scratch.env.rename(&scratch.path("from"), &scratch.path("to")).unwrap_err();
    assert!(error.is_already_exists(), "{error}");
    assert!(scratch.env.rename(&scratch.path("from"), &scratch.path("from")).is_err());
    scratch.env.create_directory_all(&scratch.path("directory")).unwrap();
    assert!(
        scratch
            .env
            .rename(&scratch.path("from"), &scratch.path("directory"))
            .unwrap_err()
            .is_already_exists()
    );
    assert_eq!(scratch.read("from"), b"from");
    assert_eq!(scratch.read("to"), b"to");

    for (from, to) in [("missing", "new"), ("from", "missing/new")] {
        let error = scratch.env.rename(&scratch.path(from), &scratch.path(to)).unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
    assert_eq!(scratch.names(), ["directory", "from", "to"]);
}

pub(super) fn removes(scratch: &TestDirectory) {
    scratch.write("file", b"x");
    scratch.write("other", b"y");
    scratch.env.remove_file(&scratch.path("file")).unwrap();
    assert!(!scratch.env.exists(&scratch.path("file")).unwrap());
    assert_eq!(scratch.names(), ["other"]);
    let error = scratch.env.remove_file(&scratch.path("file")).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert_eq!(error.path, scratch.path("file"));

    scratch.env.create_directory_all(&scratch.path("directory")).unwrap();
    assert!(scratch.env.remove_file(&scratch.path("directory")).is_err());
    assert_eq!(scratch.names(), ["directory", "other"]);
}

pub(super) fn removes_under_readers(scratch: &TestDirectory) {
    scratch.write("file", b"first life");
    let random = scratch.env.open_random(&scratch.path("file")).unwrap();
    let mut sequential = scratch.env.open_sequential(&scratch.path("file")).unwrap();
    scratch.env.remove_file(&scratch.path("file")).unwrap();
    // A new file of the same name is a different file.
    scratch.write("file", b"second");
    assert_holds(&*random, b"first life");
    let mut buffer = [0; 100];
    let read_bytes = sequential.read(&mut buffer).unwrap();
    assert!(read_bytes > 0 && b"first life".starts_with(&buffer[..read_bytes]));
    assert_eq!(scratch.read("file"), b"second");

    // A writer outlives the name of its file too.
    let mut writer = scratch.env.create(&scratch.path("written")).unwrap();
    let mut log = scratch.env.create_log(&scratch.path("log")).unwrap();
    scratch.env.remove_file(&scratch.path("written")).unwrap();
    scratch.env.remove_file(&scratch.path("log")).unwrap();
    writer.append(b"into nothing").unwrap();
    writer.sync().unwrap();
    writer.close().unwrap();
    log.append(b"into nothing").unwrap();
    log.sync().unwrap();
    log.close().unwrap();
    assert_eq!(scratch.names(), ["file"]);
}

pub(super) fn lists(scratch: &TestDirectory) {
    assert!(scratch.names().is_empty());
    for name in ["000005.ldb", "CURRENT", "ä ö", "CURRENT.x"] {
        scratch.write(name, b"");
    }
    scratch.env.create_directory_all(&scratch.path("sst_0/deeper")).unwrap();
    scratch.write("sst_0/inside", b"");
    assert_eq!(scratch.names(), ["000005.ldb", "CURRENT", "CURRENT.x", "sst_0", "ä ö"]);
    let mut inside = scratch.env.list(&scratch.path("sst_0")).unwrap();
    inside.sort();
    assert_eq!(inside, ["deeper", "inside"]);

    let error = scratch.env.list(&scratch.path("missing")).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert!(scratch.env.list(&scratch.path("CURRENT")).is_err());
}

pub(super) fn directories(scratch: &TestDirectory) {
    let deep = scratch.path("a/b/c");
    assert!(!scratch.env.exists(&deep).unwrap());
    scratch.env.create_directory_all(&deep).unwrap();
    scratch.env.create_directory_all(&deep).unwrap();
    for name in ["a", "a/b", "a/b/c"] {
        assert!(scratch.env.exists(&scratch.path(name)).unwrap(), "{name}");
    }
    // The same name in two directories means two files.
    scratch.write("a/file", b"upper");
    scratch.write("a/b/file", b"lower");
    assert_eq!(scratch.read("a/file"), b"upper");
    assert_eq!(scratch.read("a/b/file"), b"lower");

    assert!(scratch.env.create_directory_all(&scratch.path("a/file")).is_err());
    assert!(scratch.env.create_directory_all(&scratch.path("a/file/inside")).is_err());
    assert!(!scratch.env.exists(&scratch.path("a/file/inside")).unwrap());

    assert!(scratch.env.remove_directory(&scratch.path("a/b")).is_err(), "not empty");
    assert!(scratch.env.remove_directory(&scratch.path("a/file")).is_err(), "no directory");
    assert_eq!(scratch.read("a/b/file"), b"lower");
    scratch.env.remove_directory(&deep).unwrap();
    assert!(!scratch.env.exists(&deep).unwrap());
    let error = scratch.env.remove_directory(&deep).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    scratch.env.remove_file(&scratch.path("a/b/file")).unwrap();
    scratch.env.remove_directory(&scratch.path("a/b")).unwrap();
    assert_eq!(scratch.env.list(&scratch.path("a")).unwrap(), ["file"]);
}

pub(super) fn syncs_directories(scratch: &TestDirectory) {
    scratch.env.sync_directory(&scratch.directory).unwrap();
    scratch.write("file", b"x");
    scratch.env.sync_directory(&scratch.directory).unwrap();
    let error = scratch.env.sync_directory(&scratch.path("missing")).unwrap_err();
    assert!(error.is_not_found(), "{error}");
}

pub(super) fn links_or_copies(scratch: &TestDirectory) {
    let mut file = scratch.env.create(&scratch.path("from")).unwrap();
    file.append(b"contents").unwrap();
    file.sync().unwrap();
    file.close().unwrap();
    scratch.env.create_directory_all(&scratch.path("backup")).unwrap();
    scratch.env.link_or_copy(&scratch.path("from"), &scratch.path("backup/to")).unwrap();
    scratch.env.link_or_copy(&scratch.path("from"), &scratch.path("twin")).unwrap();
    assert_eq!(scratch.read("backup/to"), b"contents");

    // The two names are independent.
    scratch.env.replace_file(&scratch.path("from"), b"replaced", &scratch.path("temporary")).unwrap();
    assert_eq!(scratch.read("twin"), b"contents");
    scratch.env.remove_file(&scratch.path("twin")).unwrap();
    assert_eq!(scratch.read("backup/to"), b"contents");
    assert_eq!(scratch.read("from"), b"replaced");

    let error = scratch.env.link_or_copy(&scratch.path("from"), &scratch.path("backup/to")).unwrap_err();
    assert!(error.is_already_exists(), "{error}");
    assert_eq!(scratch.read("backup/to"), b"contents");
    for (from, to) in [("missing", "new"), ("from", "missing/new")] {
        let error = scratch.env.link_or_copy(&scratch.path(from), &scratch.path(to)).unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
    assert_eq!(scratch.names(), ["backup", "from"]);
}

pub(super) fn holds_directories(scratch: &TestDirectory) {
    scratch.env.create_directory_all(&scratch.path("held/lost")).unwrap();
    scratch.write("held/before", b"before");
    scratch.write("outside", b"outside");
    let missing = scratch.env.hold_directory(&scratch.path("missing"));
    assert!(missing.is_ok_and(|held| held.is_none()) || scratch.env.list(&scratch.path("missing")).is_err());
    let directory = scratch.path("held");
    let Some(HeldEnv { env, hold }) = scratch.env.hold_directory(&directory).unwrap() else { return };
    let inside = TestDirectory::new(env, directory.clone());
    // Both environments see what either writes.
    inside.write("after", b"after");
    inside.env.replace_file(&inside.path("CURRENT"), b"x", &inside.path("temporary")).unwrap();
    inside.env.rename(&inside.path("before"), &inside.path("lost/before")).unwrap();
    inside.env.sync_directory(&directory).unwrap();
    inside.env.sync_directory(&inside.path("lost")).unwrap();
    assert_eq!(inside.names(), ["CURRENT", "after", "lost"]);
    assert_eq!(scratch.read("held/after"), b"after");
    assert_eq!(scratch.read("held/lost/before"), b"before");
    assert!(inside.env.exists(&directory).unwrap());
    inside.env.create_directory_all(&inside.path("lost")).unwrap();
    inside.env.create_directory_all(&inside.path("made/below")).unwrap();
    inside.env.remove_directory(&inside.path("made/below")).unwrap();
    // Other paths keep their meaning.
    assert_eq!(inside.env.read_file(&scratch.path("outside")).unwrap(), b"outside");
    inside.env.link_or_copy(&inside.path("after"), &scratch.path("linked")).unwrap();
    assert_eq!(scratch.read("linked"), b"after");
    let lock = inside.env.lock(&inside.path("LOCK")).unwrap();
    assert!(scratch.env.lock(&scratch.path("held/LOCK")).is_err(), "it is one file");
    drop(lock);
    // A clone of the hold keeps the directory held.
    let clone = Arc::clone(&hold);
    drop(hold);
    inside.env.sync_directory(&directory).unwrap();
    drop(clone);
    assert!(inside.env.sync_directory(&directory).is_err(), "nobody holds the directory");
    assert_eq!(inside.env.read_file(&scratch.path("outside")).unwrap(), b"outside");
}
