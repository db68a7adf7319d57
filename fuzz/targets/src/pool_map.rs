//! The map of a pool of files.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use terrace_engine::env::pooled::Handles;
use terrace_engine::env::simulated::SimulatedHandles;
use terrace_engine::env::{Env, PooledEnv};

use crate::input::Input;

/// Files of the pool.
const COUNT: usize = 6;

const MAP: usize = 0;
const COPY_SIZE_BYTES: usize = 64 << 10;

/// The input is which copy it is for, and what the copy holds: once unmodified, and once as a generation and names, in
/// a copy whose length and checksum are right.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let place = usize::from(input.byte() % 2);
    let rest = input.rest();
    open(place, rest);
    open(place, &framed(rest));
}

/// A copy whose generation and names are these bytes.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let mut input = Input::new(bytes);
    let mut copy = b"terrpool".to_vec();
    (0..8).for_each(|_| copy.push(input.byte()));
    let names = input.rest();
    copy.extend_from_slice(&(names.len() as u32).to_le_bytes());
    copy.extend_from_slice(names);
    copy.extend_from_slice(&crc32fast::hash(&copy).to_le_bytes());
    copy
}

/// Opens a pool with this copy. If that succeeds, names can be read and changed, and are found again.
fn open(place: usize, copy: &[u8]) {
    let handles = SimulatedHandles::new(0, COUNT);
    let offset = place * COPY_SIZE_BYTES;
    let copy = &copy[..copy.len().min(COPY_SIZE_BYTES)];
    handles.write_at(MAP, offset as u64, copy).expect("it can be written");
    for slot in MAP + 1..COUNT {
        handles.write_at(slot, 0, b"contents").expect("it can be written");
    }
    let before = handles.calls();
    let env = match PooledEnv::open(Arc::new(handles.clone())) {
        Ok(env) => env,
        Err(error) => {
            let is_untouched = handles.calls() == before;
            assert!(is_untouched || error.kind() != ErrorKind::InvalidData, "a damaged pool has changed");
            return;
        }
    };
    let root = Path::new("/");
    let _ = env.replace_file(Path::new("/CURRENT"), b"new", Path::new("/temporary"));
    let found = env.list(root).expect("the root is a directory");
    let contents: Vec<_> = found.iter().map(|name| env.read_file(&root.join(name)).ok()).collect();
    drop(env);
    let env = PooledEnv::open(Arc::new(handles)).expect("what was written can be opened");
    assert_eq!(env.list(root).expect("the root is a directory"), found);
    for (name, contents) in found.iter().zip(contents) {
        assert_eq!(env.read_file(&root.join(name)).ok(), contents, "{name}");
    }
}
