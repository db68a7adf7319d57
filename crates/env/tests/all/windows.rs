//! The environment of Windows: the common suite, and what only its own files can show.
#![cfg(windows)]

use std::fs::{self, File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::only;
use terrace_env::conformance::{self, HANGS_AFTER, eventually};
use terrace_env::{Background, Env, EnvError, LockError, LockHolder, WindowsEnv};

const SHARE_READ: u32 = 1;
const SHARE_WRITE: u32 = 2;

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    (directory, path)
}

/// Opens a file as another program might, which lets others do this much with it.
fn opened(path: &Path, share: u32) -> File {
    OpenOptions::new().read(true).write(true).share_mode(share).open(path).unwrap()
}

#[test]
fn conforms() {
    for (name, check) in conformance::CHECKS {
        if *name == "replaces a file under its readers" && !replaces_open_files() {
            println!(
                "skipped: {name}: this system cannot replace a file that is open (Windows 10 on NTFS can)"
            );
            continue;
        }
        println!("conformance: {name}");
        let (_directory, path) = scratch();
        check(&conformance::TestDirectory::new(Arc::new(WindowsEnv::new()), path));
    }
}

/// Asks the system, by the library's way.
fn replaces_open_files() -> bool {
    let (_directory, path) = scratch();
    let (old, new) = (path.join("old"), path.join("new"));
    fs::write(&old, b"old").unwrap();
    fs::write(&new, b"new").unwrap();
    let _open = File::open(&old).unwrap();
    fs::rename(&new, &old).is_ok()
}

#[test]
fn a_file_that_cannot_be_replaced_stays_as_it_was() {
    let (_directory, path) = scratch();
    let (file, temporary) = (path.join("CURRENT"), path.join("000001.dbtmp"));
    fs::write(&file, b"old").unwrap();
    let reader = opened(&file, SHARE_READ | SHARE_WRITE);
    let error = WindowsEnv::new().replace_file(&file, b"new", &temporary).unwrap_err();
    assert_eq!((error.operation, error.path.as_path()), ("replace", file.as_path()));
    assert_eq!(fs::read(&file).unwrap(), b"old");
    assert_eq!(WindowsEnv::new().list(&path).unwrap(), ["CURRENT"]);
    drop(reader);
    WindowsEnv::new().replace_file(&file, b"new", &temporary).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
}

#[test]
fn a_held_directory_cannot_be_swapped_for_another() {
    let (_directory, path) = scratch();
    let database = path.join("above").join("database");
    let env = WindowsEnv::new();
    env.create_directory_all(&database).unwrap();
    let held = env.hold_directory(&database).unwrap().unwrap();
    assert!(fs::rename(&database, path.join("above").join("moved")).is_err());
    assert!(fs::remove_dir(&database).is_err());
    // It can be used as before.
    fs::write(database.join("CURRENT"), b"x").unwrap();
    held.env.sync_directory(&database).unwrap();
    assert_eq!(env.list(&database).unwrap(), ["CURRENT"]);
    drop(held);
    fs::rename(&database, path.join("above").join("moved")).unwrap();
}

#[test]
fn a_directory_that_a_program_keeps_from_writers_for_a_moment_is_synced() {
    const BACKUP_SEMANTICS: u32 = 0x0200_0000;
    let (_directory, path) = scratch();
    let mut options = OpenOptions::new();
    let other = options.read(true).share_mode(SHARE_READ).custom_flags(BACKUP_SEMANTICS).open(&path).unwrap();
    let closing = std::thread::spawn(move || {
        // Much shorter than the environment waits.
        std::thread::sleep(Duration::from_millis(10));
        drop(other);
    });
    WindowsEnv::new().sync_directory(&path).unwrap();
    closing.join().unwrap();
}

#[test]
fn a_process_that_is_dead_does_not_hold_the_lock() {
    let (_directory, path) = scratch();
    let lock = path.join("LOCK");
    let env = WindowsEnv::new();
    assert_eq!(env.lock_holder(&lock).unwrap(), LockHolder::Nobody, "there is no file");
    let held = env.lock(&lock).unwrap();
    assert_eq!(env.lock_holder(&lock).unwrap(), LockHolder::Process(Some(std::process::id())));
    drop(held);
    let mut child = Command::new("cmd").args(["/c", "exit"]).stdin(Stdio::null()).spawn().unwrap();
    let dead = child.id();
    child.wait().unwrap();
    drop(child);
    fs::write(&lock, format!("{dead}\n")).unwrap();
    assert_eq!(env.lock_holder(&lock).unwrap(), LockHolder::Unknown(None));
    // LevelDB writes no number.
    let leveldb = opened(&lock, SHARE_READ);
    assert!(matches!(env.lock(&lock), Err(LockError::Held { holder: None, this_process: false })));
    drop(leveldb);
    let _classic_level = opened(&lock, 0);
    assert_eq!(env.lock_holder(&lock).unwrap(), LockHolder::Process(None));
}

#[test]
fn uses_threads_and_knows_its_memory() {
    let env = WindowsEnv::new();
    assert_eq!(env.background(), Background::Threads);
    assert_eq!(env.process_id(), std::process::id());
    assert!(env.memory_for_files_bytes().unwrap() > 1 << 20);
    env.spawn("low", Box::new(|| WindowsEnv::new().lower_priority())).unwrap().join();
}

/// As LevelDB holds it, and as the LevelDB in classic-level does.
#[test]
fn leveldb_and_terrace_keep_each_other_out() {
    let (_directory, path) = scratch();
    let lock = path.join("LOCK");
    for share in [SHARE_READ, 0] {
        let env = WindowsEnv::new();
        let held = env.lock(&lock).unwrap();
        let other = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .share_mode(share)
            .open(&lock);
        assert_eq!(other.unwrap_err().raw_os_error(), Some(32), "a sharing violation");
        drop(held);
        let other = opened(&lock, share);
        assert!(matches!(env.lock(&lock), Err(LockError::Held { this_process: false, .. })));
        drop(other);
        env.lock(&lock).unwrap();
    }
}

#[test]
fn another_process_holds_the_lock_until_it_is_killed() {
    const PLACE: &str = "TERRACE_TEST_LOCK";

    if let Some(lock) = std::env::var_os(PLACE) {
        let _lock = WindowsEnv::new().lock(Path::new(&lock)).unwrap();
        fs::write(Path::new(&lock).with_file_name("held"), b"").unwrap();
        // Longer than the test waits for anything.
        std::thread::sleep(2 * HANGS_AFTER);
        return;
    }
    let (_directory, path) = scratch();
    let lock = path.join("LOCK");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(only(concat!(module_path!(), "::another_process_holds_the_lock_until_it_is_killed")))
        .env(PLACE, &lock)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the child holds the lock", || path.join("held").exists());
    match WindowsEnv::new().lock(&lock) {
        Err(LockError::Held { holder, this_process: false }) => assert_eq!(holder, Some(child.id())),
        other => panic!("the child holds it, but: {other:?}"),
    }
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the lock is free", || WindowsEnv::new().lock(&lock).is_ok());
}

#[test]
fn paths_may_be_long_and_in_any_script() {
    let (_directory, path) = scratch();
    let env = WindowsEnv::new();
    for name in ["x".repeat(200), "數據庫 データ Ω 🗃".to_owned()] {
        let deep = path.join(&name).join("y".repeat(150)).join("z".repeat(100));
        env.create_directory_all(&deep).unwrap();
        let (file, current, temporary) =
            (deep.join("000005.ldb"), deep.join("CURRENT"), deep.join("000006.dbtmp"));
        let mut log = env.create_log(&file).unwrap();
        log.append(b"record").unwrap();
        log.close().unwrap();
        env.replace_file(&current, b"one", &temporary).unwrap();
        env.replace_file(&current, b"two", &temporary).unwrap();
        env.rename(&file, &deep.join("000007.ldb")).unwrap();
        env.link_or_copy(&deep.join("000007.ldb"), &deep.join("twin")).unwrap();
        env.sync_directory(&deep).unwrap();
        drop(env.lock(&deep.join("LOCK")).unwrap());
        assert_eq!(env.read_file(&deep.join("twin")).unwrap(), b"record");
        for name in ["000007.ldb", "twin", "CURRENT", "LOCK"] {
            assert!(env.exists(&deep.join(name)).unwrap());
            env.remove_file(&deep.join(name)).unwrap();
        }
        assert!(env.list(&deep).unwrap().is_empty());
        env.remove_directory(&deep).unwrap();
    }
}

#[test]
fn what_is_no_file_or_no_directory_is_called_that() {
    use std::io::ErrorKind::{IsADirectory, NotADirectory};

    let (_directory, path) = scratch();
    let env = WindowsEnv::new();
    fs::write(path.join("file"), b"").unwrap();
    fs::create_dir(path.join("directory")).unwrap();
    let (file, below, directory) = (path.join("file"), path.join("file/below"), path.join("directory"));
    assert_eq!(env.list(&file).unwrap_err().kind(), NotADirectory);
    assert_eq!(env.create_directory_all(&file).unwrap_err().kind(), NotADirectory);
    assert_eq!(env.create_directory_all(&below).unwrap_err().kind(), NotADirectory);
    assert_eq!(env.open_random(&directory).unwrap_err().kind(), IsADirectory);
    assert_eq!(env.create(&directory).err().unwrap().kind(), IsADirectory);
    assert_eq!(env.replace_file(&directory, b"", &path.join("temporary")).unwrap_err().kind(), IsADirectory);
    assert!(matches!(env.lock(&directory), Err(LockError::Env(error)) if error.kind() == IsADirectory));
}

#[test]
fn names_of_devices_are_refused_with_advice() {
    let (_directory, path) = scratch();
    for name in ["CON", "nul.db", "dot.", "space "] {
        let error = WindowsEnv::new().create_directory_all(&path.join(name).join("inside")).unwrap_err();
        assert!(error.to_string().contains("choose another name"), "{error}");
    }
    assert!(WindowsEnv::new().list(&path).unwrap().is_empty());
}

/// What a virus scanner does: it has a file open for a moment, and prevents renaming and removing it.
#[test]
fn waits_for_a_program_that_has_a_file_open_for_a_moment() {
    let (_directory, path) = scratch();
    let file = path.join("file");
    type Work<'a> = &'a dyn Fn() -> Result<(), EnvError>;
    let works: [(&str, Work<'_>); 4] = [
        ("remove", &|| WindowsEnv::new().remove_file(&file)),
        ("rename", &|| WindowsEnv::new().rename(&file, &path.join("renamed"))),
        ("replace", &|| WindowsEnv::new().replace_file(&file, b"new", &path.join("temporary"))),
        ("open", &|| WindowsEnv::new().open_random(&file).map(drop)),
    ];
    for (name, work) in works {
        fs::write(&file, b"contents").unwrap();
        let scanner = opened(&file, 0);
        let ends = std::thread::spawn(move || {
            // Much shorter than the environment waits.
            std::thread::sleep(Duration::from_millis(10));
            drop(scanner);
        });
        work().unwrap_or_else(|error| panic!("{name}: {error}"));
        ends.join().unwrap();
        let _ = fs::remove_file(&file);
    }
}

#[test]
fn a_program_that_keeps_a_file_open_is_an_error_and_nothing_is_lost() {
    let (_directory, path) = scratch();
    let file = path.join("file");
    fs::write(&file, b"contents").unwrap();
    let scanner = opened(&file, 0);
    let env = WindowsEnv::new();
    let start = Instant::now();
    for error in [
        env.remove_file(&file).unwrap_err(),
        env.rename(&file, &path.join("renamed")).unwrap_err(),
        env.open_random(&file).unwrap_err(),
    ] {
        assert_eq!(error.source.raw_os_error(), Some(32), "{error}");
    }
    assert!(start.elapsed() < HANGS_AFTER);
    drop(scanner);
    assert_eq!(fs::read(&file).unwrap(), b"contents");
    assert_eq!(env.list(&path).unwrap(), ["file"]);
}

#[test]
fn a_mapped_file_can_be_removed_and_is_gone_once_it_is_no_longer_mapped() {
    let (_directory, path) = scratch();
    let env = WindowsEnv::new();
    let table = path.join("000005.ldb");
    fs::write(&table, vec![7; 100_000]).unwrap();
    let mapped = env.open_mapped(&table).unwrap();
    let bytes = mapped.mapped().expect("files of this machine are mapped");
    assert!(bytes.iter().all(|byte| *byte == 7));
    assert!(mapped.mapped_is_in_memory(0, 100_000));
    mapped.start_reading(50_000, 10_000);
    mapped.stop_reading(0, 100_000);
    env.remove_file(&table).unwrap();
    assert!(env.list(&path).unwrap().is_empty());
    fs::write(&table, b"another").unwrap();
    drop(mapped);
    assert!(bytes.iter().all(|byte| *byte == 7), "whoever holds the bytes goes on");
    drop(bytes);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
    assert_eq!(env.read_file(&table).unwrap(), b"another");
}

#[test]
fn a_file_that_was_removed_while_it_was_open_is_gone_once_it_is_closed() {
    let (_directory, path) = scratch();
    let env = WindowsEnv::new();
    let of_system =
        || fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    fs::write(path.join("000005.ldb"), b"table").unwrap();
    let open = env.open_random(&path.join("000005.ldb")).unwrap();
    env.remove_file(&path.join("000005.ldb")).unwrap();
    assert!(env.list(&path).unwrap().is_empty());
    let left = of_system();
    assert!(
        left.len() <= 1 && left.iter().all(|name| name.to_str().unwrap().ends_with(".dbtmp")),
        "{left:?}"
    );
    drop(open);
    fs::write(path.join("other"), b"").unwrap();
    env.remove_file(&path.join("other")).unwrap();
    assert!(of_system().is_empty());
    drop(env);
}
