//! A full disk and a read-only one: what is rejected and what keeps working, and that nothing acknowledged is lost.
//!
//! Each test mounts a small file system, most of them in memory. Mounting needs root; without it these tests print a
//! note and pass.
#![cfg(target_os = "linux")]

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::support::{Model, Random, assert_holds, entries, tiny};
use terrace_engine::env::conformance::eventually;
use terrace_engine::env::{Env, PosixEnv};
use terrace_engine::{Db, ErrorKind, IterOptions, Options, WriteOptions};

fn mount(arguments: &[&str], target: &Path) -> bool {
    Command::new("mount").args(arguments).arg(target).status().is_ok_and(|status| status.success())
}

/// Runs `test` in a file system that `mount` makes from these arguments, or prints why it cannot.
fn on_disk(arguments: &[&str], test: fn(&Path)) {
    let directory = tempfile::tempdir().unwrap();
    let target: PathBuf = directory.path().join("disk");
    std::fs::create_dir(&target).unwrap();
    if !mount(arguments, &target) {
        skip("this user may not mount");
        return;
    }
    let result = std::panic::catch_unwind(|| test(&target));
    assert!(Command::new("umount").arg("-l").arg(&target).status().unwrap().success());
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

/// Prints without a macro, because the test runner hides a macro's output.
fn skip(why: &str) {
    let _ = writeln!(io::stderr(), "skipped: {why}");
}

fn on_small_disk(size: &str, test: fn(&Path)) {
    on_disk(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], test);
}

/// The smallest XFS that its tools make.
fn on_xfs(test: fn(&Path)) {
    let image = tempfile::NamedTempFile::new().unwrap();
    image.as_file().set_len(320 << 20).unwrap();
    match Command::new("mkfs.xfs").arg("-q").arg(image.path()).status() {
        Ok(status) if status.success() => {}
        Ok(status) => return skip(&format!("mkfs.xfs: {status}")),
        Err(error) => return skip(&format!("mkfs.xfs (Debian's package xfsprogs): {error}")),
    }
    on_disk(&["-o", "loop", image.path().to_str().unwrap()], test);
}

fn posix() -> Arc<dyn Env> {
    Arc::new(PosixEnv::new())
}

/// Since coreutils 9, `cp -r` by default makes copies that share their extents with the files of an open database. A store
/// into one of these files then needs new space. If it went through a mapping, it would end this process.
#[test]
fn a_copy_that_shares_extents_on_a_full_disk_makes_the_next_put_an_error() {
    on_xfs(|disk| {
        let (directory, copy, ballast) = (disk.join("db"), disk.join("copy"), disk.join("ballast"));
        let never_idle = Options { idle_after_ms: 3_600_000, ..tiny(posix()) };
        let db = Db::open(&directory, never_idle).unwrap();
        let mut model = Model::new();
        let mut random = Random(12);
        let put = |model: &mut Model, index: u32, random: &mut Random| {
            let (key, value) = (index.to_be_bytes().to_vec(), random.bytes(200));
            db.put(&key, &value, &WriteOptions::default())?;
            model.insert(key, value);
            Ok::<(), terrace_engine::Error>(())
        };
        for index in 0..300 {
            put(&mut model, index, &mut random).unwrap();
        }
        // The background has nothing left to do. If it removed files during the copying, `cp` would not find them.
        db.compact_range(None, None).unwrap();
        for index in 300..303 {
            put(&mut model, index, &mut random).unwrap();
        }
        let copied = Command::new("cp").args(["-r", "--reflink=always"]).args([&directory, &copy]).status();
        assert!(copied.unwrap().success());
        let copied_model = model.clone();
        let mut file = std::fs::File::create(&ballast).unwrap();
        for piece_bytes in [1 << 20, 4096, 512] {
            while file.write_all(&vec![1; piece_bytes]).is_ok() {}
        }
        drop(file);

        let refused = (303..100_000).find_map(|index| put(&mut model, index, &mut random).err());
        let refused = refused.expect("a put for which there is no room is refused");
        assert_eq!(refused.kind(), ErrorKind::DiskFull, "{refused}");
        assert_holds(&db, &model);

        // Cut off first: a program that another test is starting may have it open for a moment.
        std::fs::File::create(&ballast).unwrap();
        std::fs::remove_file(&ballast).unwrap();
        put(&mut model, 100_000, &mut random).unwrap();
        db.close().unwrap();
        assert_holds(&Db::open(&directory, tiny(posix())).unwrap(), &model);
        assert_holds(&Db::open(&copy, tiny(posix())).unwrap(), &copied_model);
    });
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
            // The flush that found no room is tried again every second.
            eventually("a put succeeds once there is room", || {
                let put = db.put(&key, &value, &WriteOptions::default());
                put.inspect_err(|error| assert_eq!(error.kind(), ErrorKind::DiskFull, "{error}")).is_ok()
            });
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
