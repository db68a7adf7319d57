//! A full disk and a read-only one: what is refused, what goes on, and that nothing acknowledged is lost.
//!
//! Each test mounts a small file system in memory for its own thread. Mounting needs root; without it these tests
//! say so and pass.
#![cfg(target_os = "linux")]

mod support;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use support::{Model, Random, assert_holds, entries, tiny};
use terrace_engine::env::{Env, PosixEnv};
use terrace_engine::{Db, ErrorKind, IterOptions, Options, WriteOptions};

fn mount(arguments: &[&str], target: &Path) -> bool {
    Command::new("mount").args(arguments).arg(target).status().is_ok_and(|status| status.success())
}

/// Runs `test` in a file system of `size`, or says why not.
fn on_small_disk(size: &str, test: fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let target: PathBuf = folder.path().join("disk");
    std::fs::create_dir(&target).unwrap();
    if !mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], &target) {
        // Not by a macro, whose output the test runner hides.
        let _ = writeln!(io::stderr(), "skipped: this user may not mount");
        return;
    }
    let result = std::panic::catch_unwind(|| test(&target));
    assert!(Command::new("umount").arg("-l").arg(&target).status().unwrap().success());
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

fn posix() -> Arc<dyn Env> {
    Arc::new(PosixEnv::new())
}

#[test]
fn a_full_disk_refuses_writes_keeps_what_was_acknowledged_and_goes_on_when_there_is_room() {
    on_small_disk("1m", |disk| {
        let db = Db::open(disk.join("db"), tiny(posix())).unwrap();
        let mut model = Model::new();
        let mut random = Random(11);
        let mut refusals = 0;
        let mut index = 0u32;
        while refusals < 20 {
            let (key, value) = (index.to_be_bytes().to_vec(), random.bytes(200));
            index += 1;
            match db.put(&key, &value, &WriteOptions::default()) {
                Ok(()) => drop(model.insert(key, value)),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::DiskFull, "{error}");
                    assert!(error.path().is_some(), "{error}");
                    refusals += 1;
                }
            }
        }
        assert!(model.len() > 500, "{}", model.len());
        assert_holds(&db, &model);

        assert!(mount(&["-o", "remount,size=16m"], disk));
        for _ in 0..2000 {
            let (key, value) = (index.to_be_bytes().to_vec(), random.bytes(200));
            index += 1;
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while let Err(error) = db.put(&key, &value, &WriteOptions::default()) {
                // The flush that found no room is tried again every second.
                assert_eq!(error.kind(), ErrorKind::DiskFull, "{error}");
                assert!(std::time::Instant::now() < deadline, "there is room, and still: {error}");
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            model.insert(key, value);
        }
        assert_holds(&db, &model);
        db.close().unwrap();
        let db = Db::open(disk.join("db"), tiny(posix())).unwrap();
        assert_holds(&db, &model);
        db.verify().unwrap();
    });
}

#[test]
fn what_was_acknowledged_before_the_disk_was_full_is_there_after_reopening() {
    on_small_disk("1m", |disk| {
        let mut model = Model::new();
        let mut random = Random(12);
        let db = Db::open(disk.join("db"), tiny(posix())).unwrap();
        for index in 0..10_000u32 {
            let (key, value) = (index.to_be_bytes().to_vec(), random.bytes(150));
            if db.put(&key, &value, &WriteOptions::default()).is_ok() {
                model.insert(key, value);
            }
        }
        drop(db);
        assert!(mount(&["-o", "remount,size=16m"], disk));
        assert_holds(&Db::open(disk.join("db"), tiny(posix())).unwrap(), &model);
    });
}

#[test]
fn a_read_only_disk_is_named_and_can_be_read() {
    on_small_disk("4m", |disk| {
        let db = Db::open(disk.join("db"), tiny(posix())).unwrap();
        for index in 0..1000u32 {
            db.put(&index.to_be_bytes(), b"value", &WriteOptions::default()).unwrap();
        }
        drop(db);
        assert!(mount(&["-o", "remount,ro"], disk));
        let error = Db::open(disk.join("db"), tiny(posix())).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
        let db = Db::open(disk.join("db"), Options { read_only: true, ..tiny(posix()) }).unwrap();
        assert_eq!(entries(&db, IterOptions::default()).len(), 1000);
    });
}
