//! The names of a pool's files, and their durable changes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Handles;
use super::map::{COPY_SIZE_BYTES, Name, decode, decode_names, encode, encode_name};
use super::slots::{SlotFile, Slots};
use crate::error::given_up;
use crate::names::Names;

/// The handle that holds the map.
const MAP_HANDLE: usize = 0;

/// The largest number of handles whose numbers the map can hold.
const MAX_HANDLES: usize = 1 << 12;

#[derive(Debug)]
pub(super) struct Pool {
    slots: Arc<Slots>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    names: Names<Arc<SlotFile>>,
    /// What is stored of the names.
    stored: Vec<u8>,
    /// The generation of the newest copy, which is durable.
    generation: u64,
    /// Why the map can no longer change: a write or a flush of it failed, so nobody knows which copy a later process would find.
    failure: Option<io::ErrorKind>,
}

impl Pool {
    /// Reads the map. A pool whose files are all empty is new.
    pub(super) fn open(handles: Arc<dyn Handles>) -> io::Result<Self> {
        if !(1..=MAX_HANDLES).contains(&handles.count()) {
            let problem = format!("a pool has from 1 to {MAX_HANDLES} handles");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let (generation, stored) = newest_copy(&*handles)?;
        let listed = decode_names(&stored).ok_or_else(|| damaged("the map lists what is not a name"))?;
        let (slots, names) = files_of(handles, &listed)?;
        let state = State { names, stored, generation, failure: None };
        Ok(Self { slots, state: Mutex::new(state) })
    }

    pub(super) fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// Looks at the names.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Names<Arc<SlotFile>>) -> T) -> T {
        look(&self.state.lock().names)
    }

    /// Changes names: all of it, durably, or nothing.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Names<Arc<SlotFile>>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state.lock();
        if let Some(kind) = state.failure {
            return Err(given_up(kind));
        }
        let mut names = state.names.clone();
        let result = change(&mut names)?;
        let mut listed = Vec::new();
        for (path, file) in names.all() {
            encode_name(path, file.map(|file| file.slot()), &mut listed)?;
        }
        if listed != state.stored {
            let copy = encode(state.generation + 1, &listed)?;
            self.store(&mut state, &copy)?;
            state.stored = listed;
        }
        for (names, is_named) in [(&state.names, false), (&names, true)] {
            names.all().filter_map(|(_, file)| file).for_each(|file| file.set_named(is_named));
        }
        state.names = names;
        Ok(result)
    }

    /// The file at `path`, created if missing.
    pub(super) fn create(&self, path: &Path) -> io::Result<Arc<SlotFile>> {
        match self.look(|names| names.file(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.change(|names| names.create(path, || self.slots.take()))
            }
            found => found,
        }
    }

    /// Writes the next generation in place of the copy before the newest one.
    fn store(&self, state: &mut State, copy: &[u8]) -> io::Result<()> {
        let generation = state.generation + 1;
        let handles = self.slots.handles();
        let written = handles
            .write_at(MAP_HANDLE, copy_offset(generation), copy)
            .and_then(|()| handles.flush(MAP_HANDLE));
        if let Err(error) = &written {
            state.failure = Some(error.kind());
        } else {
            state.generation = generation;
        }
        written
    }
}

fn copy_offset(generation: u64) -> u64 {
    generation % 2 * COPY_SIZE_BYTES as u64
}

/// The newest whole copy: its generation and its names.
fn newest_copy(handles: &dyn Handles) -> io::Result<(u64, Vec<u8>)> {
    let mut bytes = vec![0; 2 * COPY_SIZE_BYTES];
    let read_bytes = handles.read_at(MAP_HANDLE, 0, &mut bytes)?;
    bytes[read_bytes..].fill(0);
    let (even, odd) = bytes.split_at(COPY_SIZE_BYTES);
    let newest = [even, odd].into_iter().filter_map(decode).max_by_key(|(generation, _)| *generation);
    match newest {
        Some((generation, names)) => Ok((generation, names.to_vec())),
        // The first generation is an odd one. It may be torn, but then no name was given yet.
        None if even.iter().all(|&byte| byte == 0) && are_empty(handles)? => Ok((0, Vec::new())),
        None => Err(damaged("no copy of the map is whole")),
    }
}

/// Whether all slots are empty.
fn are_empty(handles: &dyn Handles) -> io::Result<bool> {
    for slot in MAP_HANDLE + 1..handles.count() {
        if handles.size_bytes(slot)? > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The files that the map lists, by their names.
fn files_of(handles: Arc<dyn Handles>, listed: &[Name]) -> io::Result<(Arc<Slots>, Names<Arc<SlotFile>>)> {
    let used: BTreeSet<usize> = listed.iter().filter_map(|(_, slot)| *slot).collect();
    let slots_end = handles.count();
    if let Some(missing) = used.iter().find(|slot| !(MAP_HANDLE + 1..slots_end).contains(slot)) {
        return Err(damaged(&format!("the map lists file {missing}, which is missing")));
    }
    let slots = Slots::new(handles, &used);
    let mut files = BTreeMap::new();
    for slot in used {
        files.insert(slot, slots.named_file(slot, slots.handles().size_bytes(slot)?));
    }
    let mut names = Names::new();
    for (path, slot) in listed {
        match slot {
            None => names.create_directory_all(path),
            Some(slot) => names.create(path, || Ok(Arc::clone(&files[slot]))).map(drop),
        }?;
    }
    Ok((slots, names))
}

fn damaged(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the pool of files is damaged: {problem}"))
}
