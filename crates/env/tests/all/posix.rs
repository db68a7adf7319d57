//! The environment of the operating system: the common suite, and what only real files can show.
#![cfg(unix)]

use std::cell::RefCell;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use terrace_env::{Background, Env, LockError, PosixEnv, conformance};

#[test]
fn conforms() {
    // Kept until the end, because dropping one removes the directory.
    let directories = RefCell::new(Vec::new());
    conformance::run_all(&|| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        directories.borrow_mut().push(directory);
        (Arc::new(PosixEnv::new()), path)
    });
}

/// `/dev/shm` is a different kind of file system (tmpfs) from that of most temporary directories.
#[cfg(target_os = "linux")]
#[test]
fn conforms_in_shared_memory() {
    let directories = RefCell::new(Vec::new());
    conformance::run_all(&|| {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = directory.path().to_owned();
        directories.borrow_mut().push(directory);
        (Arc::new(PosixEnv::new()), path)
    });
}

#[test]
fn uses_threads_and_the_systems_clock() {
    let env = PosixEnv::new();
    assert_eq!(env.background(), Background::Threads);
    assert_eq!(env.process_id(), std::process::id());
    let before = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert!(
        u128::from(env.unix_micros()).abs_diff(before.as_micros()) < 3_600_000_000,
        "microseconds since 1970"
    );
    let name = env.spawn("terrace\0flush", Box::new(|| ())).err().unwrap();
    assert_eq!(name.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn reads_beyond_4_gib() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sparse");
    let offset = (5 << 30) + 123;
    fs::File::create(&path).unwrap().write_all_at(b"far away", offset).unwrap();
    let env = PosixEnv::new();
    assert_eq!(env.file_size(&path).unwrap(), offset + 8);
    let mut file = env.open_append(&path).unwrap();
    assert_eq!(file.size_bytes(), offset + 8);
    file.append(b"!").unwrap();
    file.close().unwrap();
    let file = env.open_random(&path).unwrap();
    let mut buffer = [0; 20];
    assert_eq!(file.read_at(offset, &mut buffer).unwrap(), 9);
    assert_eq!(&buffer[..9], b"far away!");
    let mut buffer = [1; 9];
    assert_eq!(file.read_at(offset - 9, &mut buffer).unwrap(), 9);
    assert_eq!(buffer, [0; 9]);
}

/// Bytes just written are in the page cache: if the file system can answer from it, the answer is complete.
#[cfg(target_os = "linux")]
#[test]
fn reads_cached_bytes_without_waiting() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, vec![7; 10_000]).unwrap();
    // Asks the kernel directly, without the code under test, whether this file system can.
    let raw = fs::File::open(&path).unwrap();
    let mut byte = [0; 1];
    let slices = &mut [std::io::IoSliceMut::new(&mut byte)];
    let supported = rustix::io::preadv2(&raw, slices, 0, rustix::io::ReadWriteFlags::NOWAIT).is_ok();

    let file = PosixEnv::new().open_random(&path).unwrap();
    let mut buffer = [0; 6000];
    let expected = |count| supported.then_some(count);
    assert_eq!(file.read_at_without_waiting(0, &mut buffer).unwrap(), expected(6000));
    assert_eq!(file.read_at_without_waiting(6000, &mut buffer).unwrap(), expected(4000));
    assert_eq!(file.read_at_without_waiting(20_000, &mut buffer).unwrap(), expected(0));
}

/// Bytes that are not in the page cache: a short read must not look like the end of the file.
#[cfg(target_os = "linux")]
#[test]
fn does_not_take_a_cold_page_for_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let contents: Vec<u8> = (0..2 << 20).map(|index: u32| (index / 4096) as u8).collect();
    fs::write(&path, &contents).unwrap();
    let raw = fs::File::open(&path).unwrap();
    raw.sync_all().unwrap();
    rustix::fs::fadvise(&raw, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    rustix::fs::fadvise(&raw, 0, None, rustix::fs::Advice::Random).unwrap();
    // One page warm, its neighbours cold: the read below is cut short in the middle.
    raw.read_exact_at(&mut [0; 4096], 1 << 20).unwrap();

    let file = PosixEnv::new().open_random(&path).unwrap();
    let mut buffer = vec![0; 512 << 10];
    for offset in [0, 1 << 20] {
        match file.read_at_without_waiting(offset, &mut buffer).unwrap() {
            None => {}
            // The system may have kept the pages all the same.
            Some(read_bytes) => {
                assert_eq!(read_bytes, buffer.len());
                assert!(buffer == contents[offset as usize..][..read_bytes]);
            }
        }
    }
    assert_eq!(file.read_at(1 << 20, &mut buffer).unwrap(), buffer.len());
    assert!(buffer == contents[1 << 20..][..buffer.len()]);
}

#[test]
fn leaves_out_names_that_are_no_text() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("text"), b"").unwrap();
    let strange = directory.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    if let Err(error) = fs::write(&strange, b"") {
        // Written without a macro, whose output the test runner would hide.
        let _ = writeln!(std::io::stderr(), "skipped: this file system takes no such names: {error}");
        return;
    }
    assert_eq!(PosixEnv::new().list(directory.path()).unwrap(), ["text"]);
}

#[test]
fn links_where_it_can() {
    use std::os::unix::fs::MetadataExt;

    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    fs::write(&from, b"x").unwrap();
    PosixEnv::new().link_or_copy(&from, &to).unwrap();
    assert_eq!(fs::metadata(&from).unwrap().ino(), fs::metadata(&to).unwrap().ino());
}

#[cfg(target_os = "linux")]
#[test]
fn copies_to_another_device() {
    use std::os::unix::fs::MetadataExt;

    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
    let (from, to) = (here.path().join("from"), there.path().join("to"));
    fs::write(&from, vec![5; 100_000]).unwrap();
    if fs::metadata(here.path()).unwrap().dev() == fs::metadata(there.path()).unwrap().dev() {
        // Written without a macro, whose output the test runner would hide.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: the directory for temporary files is on the device of /dev/shm"
        );
        return;
    }
    let env = PosixEnv::new();
    env.link_or_copy(&from, &to).unwrap();
    assert_eq!(fs::read(&to).unwrap(), vec![5; 100_000]);
    fs::write(&to, b"mine").unwrap();
    assert!(env.link_or_copy(&from, &to).unwrap_err().is_already_exists());
    assert_eq!(fs::read(&to).unwrap(), b"mine");
    // There is no rename between devices, nor half of one.
    let error = env.rename(&from, &there.path().join("renamed")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::CrossesDevices);
    assert!(from.exists());
}

#[test]
fn errors_name_the_path_that_is_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    fs::write(&from, b"").unwrap();
    fs::write(&to, b"").unwrap();
    let env = PosixEnv::new();
    let error = env.rename(&from, &to).unwrap_err();
    assert_eq!(error.path, to);
    assert!(
        error.to_string().starts_with(&format!("could not rename a file to {}: ", to.display())),
        "{error}"
    );
    assert_eq!(env.rename(Path::new("/nonexistent/x"), &to).unwrap_err().path, Path::new("/nonexistent/x"));
}

#[test]
fn locks_through_links() {
    let directory = tempfile::tempdir().unwrap();
    let (path, symbolic, hard) =
        (directory.path().join("LOCK"), directory.path().join("symbolic"), directory.path().join("hard"));
    let env = PosixEnv::new();
    let lock = env.lock(&path).unwrap();
    std::os::unix::fs::symlink(&path, &symbolic).unwrap();
    fs::hard_link(&path, &hard).unwrap();
    for other in [&symbolic, &hard] {
        assert!(matches!(env.lock(other), Err(LockError::Held { this_process: true, .. })));
    }
    drop(lock);
    env.lock(&hard).unwrap();
}

#[test]
fn says_in_the_file_who_holds_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("LOCK");
    fs::write(&path, b"a longer text that somebody left here\n").unwrap();
    let lock = PosixEnv::new().lock(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), format!("{}\n", std::process::id()).into_bytes());
    drop(lock);
    assert_eq!(fs::read(&path).unwrap(), b"", "empty again, as LevelDB leaves it");
}

#[test]
fn a_pipe_under_a_files_name_is_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("000005.log");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let (sender, receiver) = std::sync::mpsc::channel();
    let opened = path.clone();
    std::thread::spawn(move || {
        let env = PosixEnv::new();
        let errors = [
            env.open_random(&opened).err(),
            env.open_sequential(&opened).err(),
            env.create(&opened).err(),
            env.open_append(&opened).err(),
            env.create_log(&opened).err(),
        ];
        sender.send(errors.map(|error| error.map(|error| error.to_string()))).unwrap();
    });
    let errors = receiver.recv_timeout(conformance::HANGS_AFTER).expect("no call waits");
    for error in errors {
        assert!(error.as_ref().is_some_and(|error| error.contains("000005.log")), "{error:?}");
    }
}

#[test]
fn a_held_directory_is_followed_wherever_it_is_moved_to() {
    let root = tempfile::tempdir().unwrap();
    let (place, moved) = (root.path().join("db"), root.path().join("moved"));
    std::fs::create_dir(&place).unwrap();
    let plain = PosixEnv::new();
    let held = plain.hold_directory(&place).unwrap().unwrap();
    let write = |env: &dyn Env, name: &str| {
        let mut file = env.create(&place.join(name)).unwrap();
        file.append(name.as_bytes()).unwrap();
        file.close().unwrap();
    };
    write(&*held.env, "before");
    let lock = held.env.lock(&place.join("LOCK")).unwrap();
    std::fs::rename(&place, &moved).unwrap();
    std::fs::create_dir(&place).unwrap();
    write(&*held.env, "after");
    write(&plain, "of the new one");
    held.env.create_log(&place.join("log")).unwrap().append(b"x").unwrap();
    held.env.replace_file(&place.join("CURRENT"), b"x", &place.join("temporary")).unwrap();
    held.env.rename(&place.join("before"), &place.join("renamed")).unwrap();
    held.env.link_or_copy(&place.join("renamed"), &place.join("linked")).unwrap();
    held.env.create_directory_all(&place.join("lost")).unwrap();
    held.env.sync_directory(&place).unwrap();
    let names = |env: &dyn Env, directory: &Path| {
        let mut names = env.list(directory).unwrap();
        names.sort();
        names
    };
    let ours = ["CURRENT", "LOCK", "after", "linked", "log", "lost", "renamed"];
    assert_eq!(names(&*held.env, &place), ours);
    assert_eq!(names(&plain, &moved), ours);
    assert_eq!(names(&plain, &place), ["of the new one"]);
    assert!(!held.env.exists(&place.join("of the new one")).unwrap());
    assert_eq!(held.env.file_size(&place.join("after")).unwrap(), 5);
    held.env.remove_file(&place.join("after")).unwrap();
    assert!(!moved.join("after").exists());
    // A lock at the old place is a different lock.
    assert!(matches!(plain.lock(&moved.join("LOCK")), Err(terrace_env::LockError::Held { .. })));
    drop((plain.lock(&place.join("LOCK")).unwrap(), lock));
    plain.lock(&moved.join("LOCK")).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_lower_priority_is_that_of_its_thread_alone() {
    /// The 19th and the 41st field, of which the second, a name in parentheses, may hold anything.
    fn niceness_and_policy() -> (i32, i32) {
        let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_ascii_whitespace().collect();
        (fields[16].parse().unwrap(), fields[38].parse().unwrap())
    }
    let before = niceness_and_policy();
    let lowered = std::thread::spawn(|| {
        PosixEnv::new().lower_priority();
        niceness_and_policy()
    });
    assert_eq!(lowered.join().unwrap(), ((before.0 + 5).min(19), libc::SCHED_BATCH));
    assert_eq!(niceness_and_policy(), before);
}
