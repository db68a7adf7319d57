//! Stops of the machine or the process at any call: names and synced bytes survive.

use std::path::Path;
use std::sync::Arc;

use terrace_env::simulated::SimulatedHandles;
use terrace_env::{Env, PooledEnv};

use super::{opened, sorted_names, write};

/// What a history appends without a sync.
const UNSYNCED: &[u8] = b"not synced";

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
