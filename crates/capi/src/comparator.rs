//! Orders of keys that a program provides. The engine's [`Comparator`] calls the program's function for each
//! comparison.
//!
//! The engine accepts any answers: it reports keys that it finds out of order as damage, and memory safety never
//! depends on the order being valid.

use std::cmp::Ordering;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, OnceLock};

use terrace_engine::Comparator;

use crate::barrier;
use crate::callbacks::{Destructor, State};
use crate::failure::{Failure, Result};

type Compare = unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> c_int;
/// Returns the name that is stored in the database or its tables.
pub(crate) type Name = unsafe extern "C" fn(*mut c_void) -> *const c_char;

/// A `leveldb_comparator_t`.
#[derive(Debug)]
pub(crate) struct CallbackComparator {
    state: State,
    compare: Compare,
    name: Name,
    /// The name as `name` returned it when a database was first opened with it.
    known_name: OnceLock<Vec<u8>>,
}

impl CallbackComparator {
    /// Notes that a database is about to be opened with it. Pairs with [`end_use`](Self::end_use).
    pub(crate) fn begin_use(&self) -> Result<()> {
        self.state.begin_use("comparator")?;
        let known = learn_name(&self.known_name, &self.state, self.name, "comparator");
        if known.is_err() {
            self.state.end_use();
        }
        known
    }

    pub(crate) fn end_use(&self) {
        self.state.end_use();
    }
}

/// Asks for the name, the first time.
pub(crate) fn learn_name(known: &OnceLock<Vec<u8>>, state: &State, name: Name, what: &str) -> Result<()> {
    if known.get().is_some() {
        return Ok(());
    }
    let Some(pointer) = state.get() else {
        return Err(Failure::argument(format_args!("the {what} was destroyed, so its name is unknown")));
    };
    // SAFETY: the program gave the function for this state, whose lifetime is not over.
    let text = unsafe { name(pointer) };
    if text.is_null() {
        return Err(Failure::argument(format_args!("the name of the {what} is NULL")));
    }
    // SAFETY: by the header's rule it is a string that ends with a zero.
    let name = unsafe { CStr::from_ptr(text) };
    known.get_or_init(|| name.to_bytes().to_vec());
    Ok(())
}

impl Comparator for CallbackComparator {
    fn name(&self) -> &[u8] {
        self.known_name.get().map_or(b"", Vec::as_slice)
    }

    #[inline]
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let Some(state) = self.state.get() else { return a.cmp(b) };
        // SAFETY: the program gave the function for this state, whose lifetime is not over; it may read the slices.
        let order = unsafe { (self.compare)(state, a.as_ptr().cast(), a.len(), b.as_ptr().cast(), b.len()) };
        order.cmp(&0)
    }

    fn find_shortest_separator(&self, _start: &mut Vec<u8>, _limit: &[u8]) {}

    fn find_short_successor(&self, _key: &mut Vec<u8>) {}
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_comparator_create(
    state: *mut c_void,
    destructor: Destructor,
    compare: Option<Compare>,
    name: Option<Name>,
) -> *const CallbackComparator {
    barrier::or_else(std::ptr::null(), || {
        let (Some(compare), Some(name)) = (compare, name) else { return std::ptr::null() };
        let state = State::new(state, destructor);
        Arc::into_raw(Arc::new(CallbackComparator { state, compare, name, known_name: OnceLock::new() }))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_comparator_destroy(comparator: *const CallbackComparator) {
    barrier::or_else((), || {
        if !comparator.is_null() {
            // SAFETY: by the header's rule it came from `leveldb_comparator_create`, and is no longer used.
            unsafe { Arc::from_raw(comparator) }.state.destroy();
        }
    });
}
