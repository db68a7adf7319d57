//! The environment on a pool of open files: the common suite, and tests of slots, the map and losses of power.

mod reading;
mod stage;
mod stops;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::pooled::Handles;
use terrace_env::simulated::SimulatedHandles;
use terrace_env::{Env, PooledEnv, conformance};

const MAP: usize = 0;
const COPY_SIZE_BYTES: u64 = 64 << 10;

fn opened(handles: &SimulatedHandles) -> PooledEnv {
    PooledEnv::open(Arc::new(handles.clone())).unwrap()
}

fn write(env: &PooledEnv, name: &str, contents: &[u8]) {
    let mut file = env.create(Path::new(name)).unwrap();
    file.append(contents).unwrap();
    file.sync().unwrap();
    file.close().unwrap();
}

fn sorted_names(env: &PooledEnv) -> Vec<String> {
    let mut names = env.list(Path::new("/")).unwrap();
    names.sort();
    names
}

#[test]
fn conforms() {
    conformance::run_all(&|| {
        let env = opened(&SimulatedHandles::new(1, 32));
        let directory = PathBuf::from("/some/database");
        env.create_directory_all(&directory).unwrap();
        (Arc::new(env), directory)
    });
}

#[test]
fn files_and_directories_are_there_again() {
    let mut handles = SimulatedHandles::new(2, 8);
    let env = opened(&handles);
    env.create_directory_all(Path::new("db/lost")).unwrap();
    write(&env, "db/a", b"first");
    env.link_or_copy(Path::new("db/a"), Path::new("twin")).unwrap();
    env.rename(Path::new("db/a"), Path::new("db/lost/a")).unwrap();
    env.replace_file(Path::new("db/CURRENT"), b"MANIFEST-1\n", Path::new("db/1.dbtmp")).unwrap();
    drop(env);
    for _ in 0..3 {
        handles.kill_process();
        let env = opened(&handles);
        assert_eq!(sorted_names(&env), ["db", "twin"]);
        assert_eq!(env.read_file(Path::new("db/lost/a")).unwrap(), b"first");
        assert_eq!(env.read_file(Path::new("db/CURRENT")).unwrap(), b"MANIFEST-1\n");
        // The two names are of one file.
        assert_eq!(env.file_id(Path::new("twin")).unwrap(), env.file_id(Path::new("db/lost/a")).unwrap());
        assert_eq!(env.free_slots(), 8 - 1 - 2);
    }
}

#[test]
fn a_slot_is_free_after_the_last_name_and_the_last_handle() {
    let handles = SimulatedHandles::new(3, 3);
    let env = opened(&handles);
    write(&env, "a", b"aaaa");
    env.link_or_copy(Path::new("a"), Path::new("b")).unwrap();
    let reader = env.open_random(Path::new("a")).unwrap();
    assert_eq!(env.free_slots(), 1);
    env.remove_file(Path::new("a")).unwrap();
    env.remove_file(Path::new("b")).unwrap();
    assert_eq!(env.free_slots(), 1, "it is being read");
    let mut buffer = [0; 4];
    reader.read_exact_at(0, &mut buffer).unwrap();
    assert_eq!(&buffer, b"aaaa");
    drop(reader);
    assert_eq!(env.free_slots(), 2);
}

#[test]
fn without_a_free_slot_a_file_cannot_be_created_until_the_host_opens_more() {
    let handles = SimulatedHandles::new(4, 3);
    let env = opened(&handles);
    write(&env, "a", b"1");
    write(&env, "b", b"2");
    for error in [
        env.create(Path::new("c")).err().unwrap(),
        env.create_log(Path::new("c")).err().unwrap(),
        env.replace_file(Path::new("a"), b"x", Path::new("c")).unwrap_err(),
    ] {
        assert!(error.is_no_space(), "{error}");
    }
    assert_eq!(sorted_names(&env), ["a", "b"]);
    assert_eq!(env.read_file(Path::new("a")).unwrap(), b"1");
    handles.grow(1);
    assert_eq!(env.free_slots(), 1);
    env.replace_file(Path::new("a"), b"x", Path::new("c")).unwrap();
    write(&env, "c", b"3");
    assert_eq!(env.read_file(Path::new("a")).unwrap(), b"x");
}

#[test]
fn a_map_without_room_refuses_names_and_keeps_the_others() {
    let mut handles = SimulatedHandles::new(5, 300);
    let env = opened(&handles);
    let name = |number: usize| format!("{number:0>250}");
    let full = (0..300).find(|number| env.create(Path::new(&name(*number))).is_err()).unwrap();
    assert!(env.create(Path::new(&name(full))).err().unwrap().is_no_space());
    assert!(full > 200, "{full} names of 250 bytes");
    env.remove_file(Path::new(&name(0))).unwrap();
    env.create(Path::new(&name(full))).unwrap();
    handles.kill_process();
    assert_eq!(sorted_names(&opened(&handles)).len(), full);
}

/// The first bytes of each copy, more than these tests' names take.
const DAMAGED_BYTES: u64 = 200;

#[test]
fn a_damaged_byte_in_either_copy_of_the_map_loses_nothing() {
    let handles = SimulatedHandles::new(6, 6);
    let env = opened(&handles);
    write(&env, "first", b"1");
    write(&env, "second", b"2");
    write(&env, "old", b"3");
    env.remove_file(Path::new("old")).unwrap();
    env.rename(Path::new("second"), Path::new("last")).unwrap();
    drop(env);
    // Each opening makes both copies whole again, so the next byte is damaged in a pool without damage.
    for offset in (0..DAMAGED_BYTES).flat_map(|offset| [offset, COPY_SIZE_BYTES + offset]) {
        handles.damage(MAP, offset);
        let env = opened(&handles);
        assert_eq!(sorted_names(&env), ["first", "last"], "byte {offset}");
        assert_eq!(env.read_file(Path::new("first")).unwrap(), b"1");
        assert_eq!(env.read_file(Path::new("last")).unwrap(), b"2");
    }
    // Both are damaged, but not at once.
    write(&opened(&handles), "third", b"3");
    assert_eq!(sorted_names(&opened(&handles)), ["first", "last", "third"]);
}

#[test]
fn a_replacement_whose_map_could_not_be_written_leaves_the_old_contents_or_the_new_ones() {
    for (seed, calls) in (0..40).flat_map(|seed| (0..8).map(move |calls| (seed, calls))) {
        let mut handles = SimulatedHandles::new(seed, 6);
        let env = opened(&handles);
        let (path, temporary) = (Path::new("CURRENT"), Path::new("1.dbtmp"));
        env.replace_file(path, b"old", temporary).unwrap();
        handles.fail_after(calls);
        let replaced = env.replace_file(path, b"new", temporary);
        drop(env);
        if seed % 2 == 0 {
            handles.kill_process();
        } else {
            handles.cut_power();
        }
        let found = opened(&handles).read_file(path).unwrap();
        if replaced.is_ok() {
            assert_eq!(found, b"new", "seed {seed}, {calls} calls");
        } else {
            assert!([&b"old"[..], b"new"].contains(&&found[..]), "seed {seed}, {calls} calls: {found:?}");
        }
    }
}

#[test]
fn the_map_has_its_whole_size_from_the_first_name_on_so_that_later_ones_need_no_room() {
    let handles = SimulatedHandles::new(6, 4);
    let env = opened(&handles);
    assert_eq!(handles.size_bytes(MAP).unwrap(), 0);
    write(&env, "first", b"1");
    assert_eq!(handles.size_bytes(MAP).unwrap(), 2 * COPY_SIZE_BYTES);
}

#[test]
fn a_pool_without_a_whole_map_is_refused_and_stays_as_it_is() {
    let handles = SimulatedHandles::new(7, 4);
    let env = opened(&handles);
    write(&env, "first", b"1");
    write(&env, "second", b"2");
    drop(env);
    handles.damage(MAP, 20);
    handles.damage(MAP, COPY_SIZE_BYTES + 20);
    let before = handles.calls();
    for _ in 0..2 {
        let error = PooledEnv::open(Arc::new(handles.clone())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
    assert_eq!(handles.calls(), before);
}

#[test]
fn a_pool_is_refused_where_a_file_of_the_map_is_missing() {
    let (many, few) = (SimulatedHandles::new(8, 5), SimulatedHandles::new(8, 2));
    let env = opened(&many);
    ["a", "b"].into_iter().for_each(|name| write(&env, name, b"x"));
    copy_file(&many, &few, MAP);
    let error = PooledEnv::open(Arc::new(few)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
}

fn copy_file(from: &SimulatedHandles, to: &SimulatedHandles, handle: usize) {
    let mut bytes = vec![0; from.size_bytes(handle).unwrap() as usize];
    from.read_at(handle, 0, &mut bytes).unwrap();
    to.write_at(handle, 0, &bytes).unwrap();
}

#[test]
fn after_a_failed_change_of_names_they_change_no_more_and_open_files_work_on() {
    for calls in 0..4 {
        let handles = SimulatedHandles::new(9, 8);
        let env = opened(&handles);
        write(&env, "a", b"kept");
        let mut log = env.create_log(Path::new("log")).unwrap();
        handles.fail_after(calls);
        env.remove_file(Path::new("a")).unwrap_err();
        env.remove_file(Path::new("a")).unwrap_err();
        env.create(Path::new("b")).err().unwrap();
        assert_eq!(sorted_names(&env), ["a", "log"]);
        assert_eq!(env.read_file(Path::new("a")).unwrap(), b"kept");
        log.append(b"goes on").unwrap();
        log.sync().unwrap();
    }
}

#[test]
fn a_log_refuses_appends_after_a_failed_sync_and_stays_whole_after_a_failed_append() {
    let handles = SimulatedHandles::new(10, 8);
    let env = opened(&handles);
    let mut log = env.create_log(Path::new("log")).unwrap();
    log.append(b"first").unwrap();
    handles.fail_after(0);
    log.append(b"refused").unwrap_err();
    assert!(!log.is_damaged());
    log.append(b", second").unwrap();
    assert_eq!(env.read_file(Path::new("log")).unwrap(), b"first, second");
    handles.fail_after(0);
    log.sync().unwrap_err();
    log.sync().unwrap_err();
    log.append(b"x").unwrap_err();
}

#[test]
fn a_new_file_never_holds_bytes_of_the_file_that_had_its_slot() {
    for seed in 0..50 {
        let mut handles = SimulatedHandles::new(seed, 2);
        let env = opened(&handles);
        write(&env, "old", &[7; 20_000]);
        env.remove_file(Path::new("old")).unwrap();
        let mut log = env.create_log(Path::new("log")).unwrap();
        log.append(&[1; 5000]).unwrap();
        handles.cut_power();
        let found = opened(&handles).read_file(Path::new("log")).unwrap();
        assert!(found.iter().all(|byte| [0, 1].contains(byte)), "seed {seed}");
    }
}
