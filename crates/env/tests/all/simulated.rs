//! The simulated machine: the common suite, and what a test can make it do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use terrace_env::simulated::{CallKind, Failure, FaultPlan, Mode, SimulatedEnv};
use terrace_env::{Background, Env, EnvError, LockError, conformance};

const MODES: [Mode; 2] = [Mode::StrictPosix, Mode::Ext4Ordered];
const DIRECTORY: &str = "/db";

/// A new machine with an empty directory.
fn machine(seed: u64, mode: Mode) -> SimulatedEnv {
    let env = SimulatedEnv::new(seed, mode);
    env.create_directory_all(Path::new(DIRECTORY)).unwrap();
    env
}

fn path(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(name)
}

/// Writes a file that is durable together with its name.
fn write_durably(env: &SimulatedEnv, name: &str, contents: &[u8]) {
    let mut file = env.create(&path(name)).unwrap();
    file.append(contents).unwrap();
    file.sync().unwrap();
    file.close().unwrap();
    env.sync_directory(Path::new(DIRECTORY)).unwrap();
}

/// Every file in the directory.
fn image(env: &SimulatedEnv) -> BTreeMap<String, Vec<u8>> {
    let names = env.list(Path::new(DIRECTORY)).unwrap();
    names.into_iter().map(|name| (name.clone(), env.read_file(&path(&name)).unwrap())).collect()
}

#[test]
fn conforms() {
    for mode in MODES {
        conformance::run_all(&|| (Arc::new(machine(1, mode)) as Arc<dyn Env>, DIRECTORY.into()));
    }
}

/// Some operations of every kind, and a cut at each of the first calls.
fn life(env: &SimulatedEnv) -> Result<(), EnvError> {
    env.replace_file(&path("CURRENT"), b"first", &path("temporary"))?;
    let mut log = env.create_log(&path("log"))?;
    let mut table = env.create(&path("table"))?;
    for number in 0..4 {
        log.append(&vec![b'a' + number; 3000])?;
        table.append(&vec![b'A' + number; 40_000])?;
    }
    log.sync()?;
    table.flush()?;
    env.link_or_copy(&path("table"), &path("twin"))?;
    env.rename(&path("log"), &path("old log"))?;
    env.replace_file(&path("CURRENT"), b"second", &path("temporary"))?;
    env.remove_file(&path("twin"))
}

#[test]
fn the_same_seed_does_the_same() {
    for mode in MODES {
        let run = |seed, halt_after| {
            let mut env = machine(seed, mode);
            env.halt_after(halt_after);
            let _ = life(&env);
            let summary = env.cut_power();
            (summary.to_string(), image(&env), env.counts(), env.trace())
        };
        let mut all = BTreeSet::new();
        for seed in 0..40 {
            for halt_after in [5, 15, 100] {
                let outcome = run(seed, halt_after);
                assert_eq!(outcome, run(seed, halt_after));
                all.insert(outcome.1);
            }
        }
        assert!(all.len() > 20, "other seeds do otherwise: {}", all.len());
    }
}

#[test]
fn every_kind_of_outcome_occurs() {
    for mode in MODES {
        let (mut nothing_lost, mut names_lost, mut kept, mut older, mut lost) = (0, 0, 0, 0, 0);
        let mut sector_sizes = BTreeSet::new();
        for seed in 0..500 {
            let mut env = machine(seed, mode);
            life(&env).unwrap();
            let summary = env.cut_power();
            sector_sizes.insert(summary.sector_size_bytes);
            nothing_lost += u64::from(!summary.lost_something());
            names_lost += u64::from(!summary.lost_names.is_empty());
            for file in &summary.files {
                kept += u64::from(file.kept_sectors > 0);
                older += u64::from(file.older_sectors > 0);
                lost += u64::from(file.lost_sectors > 0);
            }
        }
        assert_eq!(sector_sizes, BTreeSet::from([512, 4096]));
        assert!(
            [nothing_lost, names_lost, kept, older, lost].iter().all(|count| *count > 10),
            "{mode:?}: {nothing_lost} {names_lost} {kept} {older} {lost}"
        );
    }
}

#[test]
fn what_was_synced_survives_any_cut() {
    for mode in MODES {
        for seed in 0..200 {
            let mut env = machine(seed, mode);
            write_durably(&env, "table", b"durable");
            let mut log = env.create_log(&path("log")).unwrap();
            log.append(b"synced").unwrap();
            log.sync().unwrap();
            env.sync_directory(Path::new(DIRECTORY)).unwrap();
            log.append(b", not synced").unwrap();
            env.cut_power();
            assert_eq!(env.read_file(&path("table")).unwrap(), b"durable");
            assert!(env.read_file(&path("log")).unwrap().starts_with(b"synced"));
        }
    }
}

#[test]
fn a_second_cut_loses_no_more() {
    for seed in 0..100 {
        let mut env = machine(seed, Mode::StrictPosix);
        life(&env).unwrap();
        env.cut_power();
        let after = image(&env);
        assert!(!env.cut_power().lost_something());
        assert_eq!(image(&env), after);
    }
}

#[test]
fn a_replacement_is_whole_wherever_the_power_is_cut() {
    for mode in MODES {
        let (mut old, mut new, mut left_behind) = (0, 0, 0);
        for seed in 0..100 {
            for calls in 0..=5 {
                let mut env = machine(seed, mode);
                write_durably(&env, "CURRENT", b"old");
                env.halt_after(calls);
                let replaced = env.replace_file(&path("CURRENT"), b"new", &path("temporary"));
                assert_eq!(replaced.is_ok(), calls == 5, "five calls");
                env.cut_power();
                match env.read_file(&path("CURRENT")).unwrap().as_slice() {
                    b"old" if replaced.is_err() => old += 1,
                    b"new" if calls >= 4 => new += 1,
                    other => panic!("after {calls} calls: {other:?}"),
                }
                left_behind += u64::from(env.exists(&path("temporary")).unwrap());
            }
        }
        assert!(old > 100 && new > 100 && left_behind > 20, "{old} {new} {left_behind}");
    }
}

#[test]
fn a_killed_process_loses_its_buffers_and_nothing_else() {
    for mode in MODES {
        for seed in 0..50 {
            let mut env = machine(seed, mode);
            let mut file = env.create(&path("file")).unwrap();
            file.append(b"flushed").unwrap();
            file.flush().unwrap();
            file.append(b", in the buffer").unwrap();
            let mut log = env.create_log(&path("log")).unwrap();
            log.append(b"record").unwrap();
            env.kill_process();
            // The dead process's file is dropped now, which must not write its buffer.
            drop(file);
            assert_eq!(env.read_file(&path("file")).unwrap(), b"flushed");
            assert!(env.read_file(&path("log")).unwrap().starts_with(b"record"));
        }
    }
}

#[test]
fn a_kill_does_not_make_anything_durable() {
    let mut lost = 0;
    for seed in 0..50 {
        let mut env = machine(seed, Mode::StrictPosix);
        env.create(&path("file")).unwrap().append(b"flushed by its end").unwrap();
        env.kill_process();
        assert!(env.exists(&path("file")).unwrap());
        env.cut_power();
        lost += u64::from(!env.exists(&path("file")).unwrap());
    }
    assert!(lost > 5, "{lost}");
}

#[test]
fn nothing_of_a_dead_process_works() {
    for kill in [false, true] {
        let mut env = machine(3, Mode::Ext4Ordered);
        write_durably(&env, "file", b"contents");
        let dead = env.clone();
        let random = dead.open_random(&path("file")).unwrap();
        let mut sequential = dead.open_sequential(&path("file")).unwrap();
        let mut writer = dead.create(&path("written")).unwrap();
        let mut log = dead.create_log(&path("log")).unwrap();
        let lock = dead.lock(&path("LOCK")).unwrap();
        if kill {
            env.kill_process();
        } else {
            env.cut_power();
        }
        let before = image(&env);
        assert!(random.read_at(0, &mut [0; 4]).is_err());
        assert!(random.size_bytes().is_err());
        assert!(sequential.read(&mut [0; 4]).is_err());
        assert!(writer.flush().is_err() && writer.append(b"x").is_err());
        assert!(writer.close().is_err());
        assert!(log.append(b"x").is_err());
        assert!(log.sync().is_err());
        assert!(dead.create(&path("new")).is_err());
        assert!(dead.remove_file(&path("file")).is_err());
        assert!(dead.list(Path::new(DIRECTORY)).is_err());
        assert!(dead.lock(&path("LOCK")).is_err());
        assert_eq!(image(&env), before);

        // Its lock is gone, and dropping it does not release the new one.
        let new_lock = env.lock(&path("LOCK")).unwrap();
        drop(lock);
        assert!(matches!(env.lock(&path("LOCK")), Err(LockError::Held { .. })));
        drop(new_lock);
        assert_ne!(env.process_id(), dead.process_id());
    }
}

#[test]
fn the_machine_stops_after_so_many_calls() {
    let env = machine(5, Mode::StrictPosix);
    let before = env.counts().total();
    env.halt_after(2);
    assert!(env.exists(&path("a")).is_ok());
    assert!(!env.is_halted());
    assert!(env.create(&path("a")).is_ok());
    assert!(env.create(&path("b")).is_err());
    assert!(env.is_halted());
    assert!(env.exists(&path("a")).is_err());
    assert_eq!(env.counts().total(), before + 2, "calls that were not made are not counted");
    let mut next = env.clone();
    next.kill_process();
    assert!(next.exists(&path("a")).unwrap() && !next.exists(&path("b")).unwrap());
}

#[test]
fn the_planned_call_fails_and_no_other() {
    let env = machine(5, Mode::StrictPosix);
    env.fail_at(FaultPlan::new(2, Failure::Io).of(CallKind::Create).on("table"));
    assert!(env.create(&path("table 1")).is_ok());
    assert!(env.create(&path("log")).is_ok());
    assert!(env.remove_file(&path("table 1")).is_ok());
    assert!(!env.has_failed());
    let error = env.create(&path("table 2")).err().unwrap();
    assert!(!error.is_no_space() && error.path == path("table 2"), "{error}");
    assert!(!env.exists(&path("table 2")).unwrap(), "nothing of it was done");
    assert!(env.has_failed());
    assert!(env.create(&path("table 3")).is_ok());

    env.fail_at(FaultPlan::new(1, Failure::NoSpace).lasting());
    for _ in 0..3 {
        assert!(env.create(&path("x")).err().unwrap().is_no_space());
    }
    env.heal();
    assert!(env.create(&path("x")).is_ok());
}

/// One operation and the kind of its call.
type Operation = (CallKind, fn(&SimulatedEnv) -> Result<(), EnvError>);

#[test]
fn every_kind_of_call_is_counted_and_can_fail() {
    let operations: [Operation; 21] = [
        (CallKind::Open, |env| env.open_random(&path("file")).map(drop)),
        (CallKind::Read, |env| env.read_file(&path("file")).map(drop)),
        (CallKind::Create, |env| env.create(&path("new")).map(drop)),
        (CallKind::Write, |env| {
            let mut file = env.create(&path("new"))?;
            file.append(b"x")?;
            file.flush()
        }),
        (CallKind::Sync, |env| env.create(&path("new"))?.sync()),
        (CallKind::CreateLog, |env| env.create_log(&path("log")).map(drop)),
        (CallKind::WriteLog, |env| env.create_log(&path("log"))?.append(b"x")),
        (CallKind::TruncateLog, |env| env.create_log(&path("log"))?.truncate(0)),
        (CallKind::SyncLog, |env| env.create_log(&path("log"))?.sync()),
        (CallKind::Close, |env| env.create_log(&path("log"))?.close()),
        (CallKind::Replace, |env| env.replace_file(&path("file"), b"x", &path("temporary"))),
        (CallKind::Rename, |env| env.rename(&path("file"), &path("renamed"))),
        (CallKind::Link, |env| env.link_or_copy(&path("file"), &path("link"))),
        (CallKind::Remove, |env| env.remove_file(&path("file"))),
        (CallKind::Look, |env| env.exists(&path("file")).map(drop)),
        (CallKind::List, |env| env.list(Path::new(DIRECTORY)).map(drop)),
        (CallKind::CreateDirectory, |env| env.create_directory_all(&path("directory"))),
        (CallKind::RemoveDirectory, |env| env.remove_directory(&path("empty"))),
        (CallKind::OpenDirectory, |env| env.hold_directory(Path::new(DIRECTORY)).map(drop)),
        (CallKind::SyncDirectory, |env| env.sync_directory(Path::new(DIRECTORY))),
        (CallKind::Lock, |env| match env.lock(&path("LOCK")) {
            Err(LockError::Env(error)) => Err(error),
            other => other.map(drop).map_err(|error| panic!("{error}")),
        }),
    ];
    assert_eq!(operations.map(|(kind, _)| kind), CallKind::ALL);
    for (kind, operation) in operations {
        let prepared = || {
            let env = machine(1, Mode::StrictPosix);
            write_durably(&env, "file", b"contents");
            env.create_directory_all(&path("empty")).unwrap();
            env
        };
        let env = prepared();
        let before = env.counts().of(kind);
        operation(&env).unwrap();
        let calls = env.counts().of(kind) - before;
        assert!(calls >= 1, "{kind:?}");
        for call in 1..=calls {
            let env = prepared();
            env.fail_at(FaultPlan::new(call, Failure::Io).of(kind));
            assert!(operation(&env).is_err(), "{kind:?}, call {call} of {calls}");
            let line = env.trace().lines().filter(|line| line.contains("FAILED")).count();
            assert!(line >= 1, "{}", env.trace());
        }
    }
}

#[test]
fn a_failed_replacement_leaves_the_old_contents() {
    for call in 1..=5 {
        let env = machine(1, Mode::StrictPosix);
        write_durably(&env, "CURRENT", b"old");
        env.fail_at(FaultPlan::new(call, Failure::Io).of(CallKind::Replace));
        env.replace_file(&path("CURRENT"), b"new", &path("temporary")).unwrap_err();
        let expected: &[u8] = if call == 5 { b"new" } else { b"old" };
        assert_eq!(env.read_file(&path("CURRENT")).unwrap(), expected, "call {call}");
        assert_eq!(env.list(Path::new(DIRECTORY)).unwrap(), ["CURRENT"], "call {call}");
    }
}

#[test]
fn a_short_write_leaves_a_part_and_the_file_is_given_up() {
    let mut sizes = BTreeSet::new();
    for seed in 0..50 {
        let env = machine(seed, Mode::StrictPosix);
        let mut file = env.create(&path("file")).unwrap();
        file.append(b"0123456789").unwrap();
        env.fail_at(FaultPlan::new(1, Failure::NoSpace).of(CallKind::Write).short());
        assert!(file.flush().unwrap_err().is_no_space());
        assert!(file.append(b"x").is_err() && file.sync().is_err());
        drop(file);
        let contents = env.read_file(&path("file")).unwrap();
        assert!(contents.len() < 10 && b"0123456789".starts_with(&contents));
        sizes.insert(contents.len());
    }
    assert!(sizes.len() > 5, "{sizes:?}");
}

#[test]
fn a_log_heals_after_a_short_append_unless_it_cannot_be_cut() {
    let env = machine(9, Mode::StrictPosix);
    let mut log = env.create_log(&path("log")).unwrap();
    log.append(b"first").unwrap();
    env.fail_at(FaultPlan::new(1, Failure::NoSpace).of(CallKind::WriteLog).short());
    assert!(log.append(b"refused").unwrap_err().is_no_space());
    assert!(!log.is_damaged());
    log.append(b", second").unwrap();
    assert_eq!(env.read_file(&path("log")).unwrap(), b"first, second");

    env.fail_at(FaultPlan::new(1, Failure::Io).of(CallKind::WriteLog).short());
    env.fail_at(FaultPlan::new(1, Failure::Io).of(CallKind::TruncateLog));
    assert!(log.append(b"refused").is_err());
    assert!(log.is_damaged());
    assert!(log.append(b"x").is_err() && log.sync().is_err());
    log.truncate(5).unwrap();
    assert!(!log.is_damaged());
    log.sync().unwrap();
    assert_eq!(env.read_file(&path("log")).unwrap(), b"first");
}

#[test]
fn a_failed_sync_drops_pages_and_the_next_handle_is_told_nothing() {
    let (mut lost, mut kept) = (0, 0);
    for seed in 0..50 {
        let mut env = machine(seed, Mode::StrictPosix);
        write_durably(&env, "file", b"");
        let mut file = env.open_append(&path("file")).unwrap();
        file.append(b"page").unwrap();
        env.fail_at(FaultPlan::new(1, Failure::Io).of(CallKind::Sync));
        assert!(file.sync().is_err());
        assert!(file.sync().is_err(), "this handle remembers");
        drop(file);
        env.kill_process();
        assert_eq!(env.read_file(&path("file")).unwrap(), b"page", "the next process still sees it");
        env.open_append(&path("file")).unwrap().sync().unwrap();
        env.cut_power();
        match env.read_file(&path("file")).unwrap().as_slice() {
            b"page" => kept += 1,
            b"\0\0\0\0" => lost += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(lost > 5 && kept > 5, "{lost} {kept}");
}

#[test]
fn a_failed_write_back_is_told_once_to_who_had_the_file_open_and_perhaps_to_who_opens_it_later() {
    let (mut lost, mut told_later, mut again_whole, mut never) = (0, 0, 0, 0);
    for seed in 0..100 {
        let mut env = machine(seed, Mode::StrictPosix);
        write_durably(&env, "file", b"");
        write_durably(&env, "other", b"other");
        let mut first = env.open_append(&path("file")).unwrap();
        let second = (seed % 2 == 0).then(|| env.open_append(&path("file")).unwrap());
        first.append(b"page").unwrap();
        first.flush().unwrap();
        env.fail_at(FaultPlan::new(1, Failure::WriteBack).of(CallKind::Look));
        assert!(env.exists(&path("other")).unwrap(), "the call itself goes on");
        assert!(env.has_failed());
        env.open_append(&path("other")).unwrap().sync().expect("nothing of it was waiting");
        let dropped = match (second, first.sync()) {
            (Some(mut second), Err(_)) => {
                assert!(second.sync().is_err(), "each handle is told");
                env.open_append(&path("file")).unwrap().sync().expect("a later one is not");
                true
            }
            (_, Err(_)) => true,
            (_, Ok(())) => false,
        };
        let mut again = env.open_append(&path("file")).unwrap();
        again.append(b"s").unwrap();
        again.sync().expect("it is told once");
        env.cut_power();
        match env.read_file(&path("file")).unwrap().as_slice() {
            b"pages" => again_whole += u64::from(dropped),
            b"\0\0\0\0\0" => {
                assert!(dropped);
                never += 1;
            }
            other => panic!("written again, the page goes as a whole or never does: {other:?}"),
        }

        // No process has the file open.
        let mut writer = env.create(&path("file")).unwrap();
        writer.append(&[b'x'; 8192]).unwrap();
        writer.close().unwrap();
        env.fail_at(FaultPlan::new(1, Failure::WriteBack).of(CallKind::Look));
        env.exists(&path("other")).unwrap();
        told_later += u64::from(env.open_append(&path("file")).unwrap().sync().is_err());
        env.open_append(&path("file")).unwrap().sync().ok();
        env.cut_power();
        lost += u64::from(dropped && env.read_file(&path("file")).unwrap() != [b'x'; 8192]);
    }
    assert!(lost > 10 && told_later > 10, "{lost} {told_later}");
    assert!(again_whole > 10 && never > 10, "{again_whole} {never}");
}

#[test]
fn a_full_device_takes_what_fits_until_there_is_room() {
    let env = machine(1, Mode::StrictPosix);
    write_durably(&env, "other", &[1; 90]);
    env.set_capacity(Some(100));
    let mut log = env.create_log(&path("log")).unwrap();
    log.append(b"12345").unwrap();
    assert!(log.append(b"678901").unwrap_err().is_no_space());
    assert!(!log.is_damaged());
    assert_eq!(env.used_bytes(), 95);
    log.append(b"67890").unwrap();
    let mut file = env.create(&path("file")).unwrap();
    file.append(b"x").unwrap();
    assert!(file.flush().unwrap_err().is_no_space());
    // Two names of a file are one file.
    env.link_or_copy(&path("other"), &path("twin")).unwrap();
    assert_eq!(env.used_bytes(), 100);
    env.remove_file(&path("other")).unwrap();
    assert!(log.append(b"x").is_err());
    env.remove_file(&path("twin")).unwrap();
    log.append(b"x").unwrap();
    env.set_capacity(None);
    log.append(&[0; 1000]).unwrap();
}

#[test]
fn time_passes_when_told_to() {
    let env = machine(1, Mode::StrictPosix);
    assert_eq!(env.background(), Background::Steps);
    let (monotonic, unix) = (env.monotonic_micros(), env.unix_micros());
    env.sleep(Duration::from_secs(3));
    env.advance(Duration::from_secs(2));
    // Each reading takes a microsecond, so that a loop waiting for a time ends.
    assert_eq!(env.monotonic_micros(), monotonic + 5_000_000 + 2);
    assert_eq!(env.unix_micros(), unix + 5_000_000 + 2);
    env.set_unix_micros(1000);
    assert_eq!(env.unix_micros(), 1001);
    assert!(env.monotonic_micros() > monotonic + 5_000_000);
}

#[test]
fn the_trace_tells_the_last_calls() {
    let mut env = machine(1, Mode::StrictPosix);
    env.create_log(&path("log")).unwrap().append(b"12345").unwrap();
    env.kill_process();
    let _ = env.open_random(&path("missing"));
    // Paths are joined as the system joins them.
    let trace = env.trace().replace('\\', "/");
    let lines: Vec<_> = trace.lines().rev().take(3).collect();
    assert!(lines[0].contains("open /db/missing FAILED"), "{trace}");
    assert!(lines[1].contains("the process was killed"), "{trace}");
    assert!(lines[2].contains("write log /db/log [0, +5]"), "{trace}");
}
