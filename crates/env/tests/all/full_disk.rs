//! A full disk and a read-only one: small file systems in memory, mounted only for the test's thread.
//!
//! Mounting needs root. Without it these tests say so and pass.
#![cfg(target_os = "linux")]

use std::ffi::CString;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::support::make_room;
use terrace_env::{Env, EnvError, LockError, LogFile, PosixEnv};

/// Mounts `kind` at `target`, for this thread's namespace.
fn mount(kind: &str, target: &Path, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    let [kind, target, options] = [kind.as_bytes(), target.as_os_str().as_bytes(), options.as_bytes()]
        .map(|text| CString::new(text).unwrap());
    // SAFETY: all four pointers are to C strings that live during the call.
    let result =
        unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives this thread a private mount namespace, which ends with it, and mounts a small file system.
fn mount_small(target: &Path) -> io::Result<()> {
    // SAFETY: takes no pointer, and changes only this thread's view of the file system.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(io::Error::last_os_error());
    }
    mount("none", Path::new("/"), libc::MS_REC | libc::MS_PRIVATE, "")?;
    mount("tmpfs", target, 0, "size=256k")
}

/// Runs `test` in a file system of 256 KiB, or prints why it cannot.
fn on_small_disk(test: fn(&Path)) {
    let directory = tempfile::tempdir().unwrap();
    let target: PathBuf = directory.path().to_owned();
    let run = move || match mount_small(&target) {
        Ok(()) => test(&target),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // Written without a macro, whose output the test runner would hide.
            let _ = writeln!(io::stderr(), "skipped: this user may not mount: {error}");
        }
        Err(error) => panic!("could not mount: {error}"),
    };
    if let Err(panic) = std::thread::spawn(run).join() {
        std::panic::resume_unwind(panic);
    }
}

/// Takes up space until at most `left_bytes` are free.
fn fill(directory: &Path, left_bytes: usize) {
    std::fs::write(directory.join("ballast"), vec![1; (256 << 10) - left_bytes]).unwrap();
}

#[test]
fn a_log_is_as_before_when_the_disk_is_full() {
    on_small_disk(|directory| {
        let env = PosixEnv::new();
        fill(directory, 64 << 10);
        let path = directory.join("000003.log");
        let mut log = env.create_log(&path).unwrap();
        let mut expected = Vec::new();
        let error = loop {
            let record = vec![expected.len() as u8; 10_000];
            match log.append(&record) {
                Ok(()) => expected.extend(record),
                Err(error) => break error,
            }
        };
        assert!(error.is_no_space(), "{error}");
        assert!(!error.is_read_only());
        assert_eq!(error.path, path);
        assert!(expected.len() >= 20_000, "some records had room");
        assert!(!log.is_damaged());
        assert_eq!(log.size_bytes(), expected.len() as u64);
        assert!(env.read_file(&path).unwrap() == expected, "nothing of the refused record is there");

        // There is room again: the log continues where it was.
        make_room(&directory.join("ballast"));
        log.append(b"there is room again").unwrap();
        log.sync().unwrap();
        log.close().unwrap();
        expected.extend(b"there is room again");
        assert!(env.read_file(&path).unwrap() == expected);
    });
}

#[test]
fn a_log_with_space_set_aside_is_as_before_when_the_disk_is_full() {
    on_small_disk(|directory| {
        let env = PosixEnv::new();
        let path = directory.join("000003.log");
        let mut log = env.create_log(&path).unwrap();
        let mut expected = Vec::new();
        let mut add = |log: &mut dyn LogFile| {
            let header = [1 + (expected.len() % 251) as u8; 7];
            log.append_record(0, &header, &[9; 1000])?;
            expected.extend(header);
            expected.extend([9; 1000]);
            Ok::<_, EnvError>(expected.clone())
        };
        let after_one = add(&mut *log).unwrap();
        assert!(env.file_size(&path).unwrap() > after_one.len() as u64, "space is set aside");
        let error = loop {
            if let Err(error) = add(&mut *log) {
                break error;
            }
        };
        assert!(error.is_no_space(), "{error}");
        assert!(!log.is_damaged());
        let full = env.read_file(&path).unwrap();
        assert_eq!(log.size_bytes(), full.len() as u64, "nothing of the refused record is there");
        assert!(full.len() > (256 << 10) - (8 << 10), "what room there was is used: {}", full.len());

        // There is room again: the log continues where it was.
        log.truncate(100 * 1007).unwrap();
        log.append_record(0, &[7; 7], b"there is room again").unwrap();
        log.sync().unwrap();
        log.close().unwrap();
        let found = env.read_file(&path).unwrap();
        assert!(found[..100 * 1007] == full[..100 * 1007]);
        assert!(found[100 * 1007..].ends_with(b"there is room again"));
    });
}

#[test]
fn a_written_file_is_given_up_when_the_disk_is_full() {
    on_small_disk(|directory| {
        let env = PosixEnv::new();
        fill(directory, 32 << 10);
        let mut file = env.create(&directory.join("000004.ldb")).unwrap();
        file.append(&[2; 50_000]).unwrap();
        assert!(file.flush().unwrap_err().is_no_space());
        // Even with room again: it is unknown whether earlier bytes arrived, so the file never calls them durable.
        make_room(&directory.join("ballast"));
        for error in [file.append(b"x").unwrap_err(), file.flush().unwrap_err(), file.sync().unwrap_err()] {
            assert!(error.is_no_space(), "{error}");
        }
        assert!(file.close().unwrap_err().is_no_space());
        assert!(
            env.file_size(&directory.join("000004.ldb")).unwrap() < 50_000,
            "nothing is written after a failure"
        );

        // Larger than the buffer, so that it fails at once. Closing reports what waited.
        fill(directory, 32 << 10);
        let mut file = env.create(&directory.join("000005.ldb")).unwrap();
        assert!(file.append(&[3; 600_000]).unwrap_err().is_no_space());
        drop(file);
        let mut file = env.create(&directory.join("000006.ldb")).unwrap();
        file.append(&[3; 60_000]).unwrap();
        assert!(file.close().unwrap_err().is_no_space());
    });
}

#[test]
fn a_replaced_file_keeps_its_contents_when_the_disk_is_full() {
    on_small_disk(|directory| {
        let env = PosixEnv::new();
        let (path, temporary) = (directory.join("CURRENT"), directory.join("000007.dbtmp"));
        env.replace_file(&path, b"MANIFEST-000001\n", &temporary).unwrap();
        fill(directory, 16 << 10);
        let error = env.replace_file(&path, &[4; 100_000], &temporary).unwrap_err();
        assert!(error.is_no_space(), "{error}");
        assert_eq!(env.read_file(&path).unwrap(), b"MANIFEST-000001\n");
        assert!(!env.exists(&temporary).unwrap());
    });
}

#[test]
fn a_lock_needs_no_room() {
    on_small_disk(|directory| {
        let env = PosixEnv::new();
        std::fs::write(directory.join("LOCK"), b"").unwrap();
        let full = std::fs::write(directory.join("ballast"), vec![1; 1 << 20]).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        env.lock(&directory.join("LOCK")).unwrap();
    });
}

#[test]
fn a_read_only_file_system_is_recognised() {
    on_small_disk(|directory| {
        let env = PosixEnv::new();
        let path = directory.join("CURRENT");
        std::fs::write(&path, b"MANIFEST-000001\n").unwrap();
        mount("tmpfs", directory, libc::MS_REMOUNT | libc::MS_RDONLY, "").unwrap();

        assert_eq!(env.read_file(&path).unwrap(), b"MANIFEST-000001\n");
        assert_eq!(env.list(directory).unwrap(), ["CURRENT"]);
        let new = directory.join("new");
        let Err(LockError::Env(lock)) = env.lock(&directory.join("LOCK")) else {
            panic!("it could not lock")
        };
        for error in [
            lock,
            env.create(&new).err().unwrap(),
            env.create_log(&new).err().unwrap(),
            env.open_append(&path).err().unwrap(),
            env.replace_file(&path, b"x", &new).unwrap_err(),
            env.rename(&path, &new).unwrap_err(),
            env.remove_file(&path).unwrap_err(),
            env.create_directory_all(&new).unwrap_err(),
            env.link_or_copy(&path, &new).unwrap_err(),
        ] {
            assert!(error.is_read_only(), "{error}");
            assert!(!error.is_no_space() && !error.is_not_found());
        }
        assert_eq!(env.read_file(&path).unwrap(), b"MANIFEST-000001\n");
    });
}
