//! The names of a pool's files, and their durable changes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Handles;
use super::copies::{self, MAP_HANDLE};
use super::map::{Name, damaged, decode_names, encode_name};
use super::slots::{SlotFile, Slots};
use crate::error::given_up;
use crate::names::Names;

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
    /// The generation of both copies, which are durable.
    generation: u64,
    /// Why the map can no longer change: a write or a flush of it failed, so which copy a later process would find is
    /// unknown.
    failure: Option<io::ErrorKind>,
}

impl Pool {
    /// Reads the map, and removes what is in the directory `stage`. A pool whose files are all empty is new.
    pub(super) fn open(handles: Arc<dyn Handles>, stage: &Path) -> io::Result<Self> {
        if !(1..=MAX_HANDLES).contains(&handles.count()) {
            let problem = format!("a pool has from 1 to {MAX_HANDLES} handles");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let newest = copies::newest(&*handles)?;
        let listed =
            decode_names(&newest.names).ok_or_else(|| damaged("the map lists what is not a name"))?;
        let (slots, names) = files_of(Arc::clone(&handles), &listed)?;
        copies::make_durable(&*handles, &newest)?;
        slots.empty_free();
        let state = State { names, stored: newest.names, generation: newest.generation, failure: None };
        let pool = Self { slots, state: Mutex::new(state) };
        if pool.look(|names| names.exists(stage)) {
            pool.change(|names| {
                names.remove_all(stage);
                Ok(())
            })?;
        }
        Ok(pool)
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
            let generation = state.generation.checked_add(1).ok_or(io::ErrorKind::StorageFull)?;
            let copy = copies::encode_change(generation, &listed)?;
            if let Err(error) = copies::store(self.slots.handles(), &copy) {
                state.failure = Some(error.kind());
                // A later process may find these names, so their files keep what they hold.
                names.all().filter_map(|(_, file)| file).for_each(|file| file.set_named(true));
                return Err(error);
            }
            state.generation = generation;
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
        }
        .map_err(|_| damaged("the map lists a name that cannot be"))?;
    }
    Ok((slots, names))
}
