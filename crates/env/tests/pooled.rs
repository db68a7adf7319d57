//! The environment on a pool of open files: the common suite, and tests of its own: slots, the map, losses of power.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::pooled::STAGE;
use terrace_env::simulated::SimulatedHandles;
use terrace_env::{Env, PooledEnv, conformance};

const MAP: usize = 0;
const COPY_SIZE_BYTES: u64 = 64 << 10;

/// What a history appends without a sync.
const UNSYNCED: &[u8] = b"not synced";

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
    use terrace_env::pooled::Handles;
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
    use terrace_env::pooled::Handles;
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

const STEPS: u64 = 100;

/// What a history knows of a file.
struct Known {
    name: String,
    synced: Vec<u8>,
}

/// Creates, writes, syncs, renames, replaces and removes files at random, until a call fails. Returns what must be there: after a loss of
/// power, each file has its name, since all changes of names that returned are durable, and its synced bytes. The change that failed may
/// have happened or not, so what it concerns is left out, and named apart.
fn history(env: &PooledEnv, seed: u64, mut known: Vec<Known>) -> (Vec<Known>, Vec<String>) {
    let mut state = seed;
    let mut below = move |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for step in 0..STEPS {
        // With names so long the map has many sectors, so it can be torn.
        let name = format!("file-{seed}-{step}-{}", "x".repeat(200));
        let at = if known.is_empty() { None } else { Some(below(known.len() as u64) as usize) };
        match (below(6), at) {
            (0 | 1, _) | (_, None) => {
                let Ok(mut file) = env.create(Path::new(&name)) else { return (known, vec![name]) };
                let bytes = vec![step as u8 + 1; below(9000) as usize];
                let is_synced = file.append(&bytes).and_then(|()| file.sync()).is_ok();
                known.push(Known { name, synced: if is_synced { bytes } else { Vec::new() } });
                if !is_synced {
                    return (known, Vec::new());
                }
            }
            (2, Some(at)) => {
                let is_unsynced = env
                    .open_append(Path::new(&known[at].name))
                    .and_then(|mut file| file.append(UNSYNCED).and_then(|()| file.close()));
                if is_unsynced.is_err() {
                    return (known, Vec::new());
                }
            }
            (3, Some(at)) => {
                let old = known.remove(at);
                if env.remove_file(Path::new(&old.name)).is_err() {
                    return (known, vec![old.name]);
                }
            }
            (4, Some(at)) => {
                let mut moved = known.remove(at);
                if env.rename(Path::new(&moved.name), Path::new(&name)).is_err() {
                    return (known, vec![moved.name, name]);
                }
                moved.name = name;
                known.push(moved);
            }
            (_, Some(at)) => {
                let new = vec![step as u8 + 1; below(300) as usize];
                let replaced = env.replace_file(Path::new(&known[at].name), &new, Path::new("temporary"));
                let old = &mut known[at];
                if replaced.is_err() {
                    let name = old.name.clone();
                    known.remove(at);
                    return (known, vec![name]);
                }
                old.synced = new;
            }
        }
    }
    (known, Vec::new())
}

/// A history that a stop ends, from what is `known` on: afterwards, what must be there is there.
fn live(handles: &mut SimulatedHandles, seed: u64, halt: u64, is_kill: bool, left: &mut Left) {
    let context = format!("seed {seed}, {halt} calls");
    handles.halt_after(halt);
    let mut known = std::mem::take(&mut left.known);
    // The stop may come while the pool is opened.
    if let Ok(env) = PooledEnv::open(Arc::new(handles.clone())) {
        let unsure;
        (known, unsure) = history(&env, seed, known);
        left.unsure.extend(unsure);
    }
    if is_kill {
        handles.kill_process();
    } else {
        handles.cut_power();
    }
    let env = opened(handles);
    let mut expected: Vec<&str> = known.iter().map(|file| file.name.as_str()).collect();
    expected.sort_unstable();
    let mut found = sorted_names(&env);
    found.retain(|name| !left.unsure.contains(name));
    assert_eq!(found, expected, "{context}");
    for Known { name, synced } in &known {
        let found = env.read_file(Path::new(name)).unwrap();
        assert!(found.starts_with(synced), "{context}: {name}");
    }
    left.known = known;
}

/// What earlier lives have left.
#[derive(Default)]
struct Left {
    known: Vec<Known>,
    unsure: Vec<String>,
}

/// Number of calls that a whole history makes.
fn calls_of(seed: u64) -> u64 {
    let handles = SimulatedHandles::new(seed, SLOTS);
    history(&opened(&handles), seed, Vec::new());
    handles.calls()
}

const SLOTS: usize = STEPS as usize + 2;

#[test]
fn names_and_synced_bytes_survive_a_stop_at_every_call() {
    let mut stops = 0;
    for seed in 0..4 {
        for halt in 0..calls_of(seed) {
            let mut handles = SimulatedHandles::new(seed * 10_000 + halt, SLOTS);
            live(&mut handles, seed, halt, halt % 3 == 0, &mut Left::default());
            stops += 1;
        }
    }
    assert!(stops > 1500, "{stops} stops");
}

#[test]
fn names_and_synced_bytes_survive_a_stop_soon_after_another_one() {
    for seed in 0..600 {
        let mut handles = SimulatedHandles::new(seed, 3 * SLOTS);
        let mut left = Left::default();
        // A kill leaves what is not durable, and the next life may end before it is.
        for (life, halt, is_kill) in
            [(0, 20 + seed % 97, true), (1, seed % 23, seed % 5 == 0), (2, seed % 7, false)]
        {
            live(&mut handles, 3 * seed + life, halt, is_kill, &mut left);
        }
    }
}

/// A name that takes several sectors of the map.
fn long_name(number: usize) -> String {
    format!("{number}-{}", "x".repeat(900))
}

#[test]
fn a_change_of_names_is_whole_or_never_was_even_if_the_next_opening_stops_too() {
    for (seed, first, second) in
        (0..12).flat_map(|seed| (0..9).flat_map(move |first| (0..6).map(move |second| (seed, first, second))))
    {
        let mut handles = SimulatedHandles::new(seed, 24);
        let env = opened(&handles);
        (0..12).for_each(|number| write(&env, &long_name(number), b"kept"));
        handles.halt_after(first);
        let _ = env.create(Path::new("new"));
        drop(env);
        // What the first process wrote and did not flush is there for the second one, but not for the third.
        handles.kill_process();
        handles.halt_after(second);
        let _ = PooledEnv::open(Arc::new(handles.clone()));
        handles.cut_power();
        let env = opened(&handles);
        for number in 0..12 {
            let found = env.read_file(Path::new(&long_name(number))).unwrap();
            assert_eq!(found, b"kept", "seed {seed}, {first} and {second} calls");
        }
    }
}

fn staged(name: &str) -> String {
    format!("{STAGE}/{name}")
}

#[test]
fn what_is_staged_is_gone_after_the_process() {
    let mut handles = SimulatedHandles::new(11, 8);
    let env = opened(&handles);
    write(&env, "a", b"kept");
    env.create_directory_all(Path::new(&staged("export"))).unwrap();
    env.link_or_copy(Path::new("a"), Path::new(&staged("export/a"))).unwrap();
    write(&env, &staged("b"), b"lost");
    assert_eq!(env.free_slots(), 8 - 1 - 2);
    handles.kill_process();
    let env = opened(&handles);
    assert_eq!(sorted_names(&env), ["a"]);
    assert_eq!(env.read_file(Path::new("a")).unwrap(), b"kept");
    assert_eq!(env.free_slots(), 8 - 1 - 1);
}

#[test]
fn staged_files_take_the_place_of_all_others_or_of_none_wherever_the_machine_stops() {
    let (mut olds, mut news) = (0, 0);
    for (seed, halt) in (0..8).flat_map(|seed| (0..40).map(move |halt| (seed, halt))) {
        let mut handles = SimulatedHandles::new(seed, 8);
        let env = opened(&handles);
        write(&env, "a", b"old a");
        write(&env, "b", b"old b");
        handles.halt_after(halt);
        let replaced = env.create_directory_all(Path::new(STAGE)).is_ok()
            && [("b", "new b"), ("c", "new c")].iter().all(|(name, contents)| {
                let file = env.create(Path::new(&staged(name)));
                file.and_then(|mut file| file.append(contents.as_bytes()).and_then(|()| file.sync())).is_ok()
            })
            && env.make_root(Path::new(STAGE)).is_ok();
        drop(env);
        if halt % 2 == 0 {
            handles.kill_process();
        } else {
            handles.cut_power();
        }
        let env = opened(&handles);
        let found = sorted_names(&env);
        let contents: Vec<_> = found.iter().map(|name| env.read_file(Path::new(name)).unwrap()).collect();
        if found == ["a", "b"] {
            assert!(!replaced && contents == [b"old a", b"old b"], "seed {seed}, {halt} calls");
            olds += 1;
        } else {
            assert_eq!(found, ["b", "c"], "seed {seed}, {halt} calls");
            assert!(contents == [b"new b", b"new c"], "seed {seed}, {halt} calls");
            news += 1;
        }
        assert_eq!(env.free_slots(), 8 - 1 - 2);
    }
    assert!(olds > 50 && news > 50, "{olds} old, {news} new");
}
