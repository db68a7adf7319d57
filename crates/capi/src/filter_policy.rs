//! Filter policies: LevelDB's Bloom filter, which is built into the engine, and those that a program provides. The
//! engine's [`FilterPolicy`] calls the program's functions for each filter that is written or queried.

use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, OnceLock};

use terrace_engine::FilterPolicy;

use crate::barrier;
use crate::callbacks::{Destructor, State};
use crate::comparator::{Name, learn_name};
use crate::failure::Result;
use crate::memory::{drop_box, free};

type Create =
    unsafe extern "C" fn(*mut c_void, *const *const c_char, *const usize, c_int, *mut usize) -> *mut c_char;
type MayMatch = unsafe extern "C" fn(*mut c_void, *const c_char, usize, *const c_char, usize) -> u8;

/// A `leveldb_filterpolicy_t`.
#[derive(Clone, Debug)]
pub(crate) enum FilterPolicyHandle {
    /// LevelDB's Bloom filter with this many bits per key.
    Bloom(usize),
    /// The program's own policy.
    Callbacks(Arc<CallbackFilterPolicy>),
}

/// A filter policy of the program's own.
#[derive(Debug)]
pub(crate) struct CallbackFilterPolicy {
    state: State,
    create: Create,
    may_match: MayMatch,
    name: Name,
    /// The name as `name` returned it when a database was first opened with it.
    known_name: OnceLock<Vec<u8>>,
}

impl CallbackFilterPolicy {
    /// Notes that a database is about to be opened with it. Pairs with [`end_use`](Self::end_use).
    pub(crate) fn begin_use(&self) -> Result<()> {
        self.state.begin_use("filter policy")?;
        let known = learn_name(&self.known_name, &self.state, self.name, "filter policy");
        if known.is_err() {
            self.state.end_use();
        }
        known
    }

    pub(crate) fn end_use(&self) {
        self.state.end_use();
    }
}

impl FilterPolicy for CallbackFilterPolicy {
    fn name(&self) -> &[u8] {
        self.known_name.get().map_or(b"", Vec::as_slice)
    }

    fn create_filter(&self, user_keys: &[&[u8]]) -> Option<Vec<u8>> {
        let state = self.state.get()?;
        let count = c_int::try_from(user_keys.len()).ok()?;
        let starts: Vec<*const c_char> = user_keys.iter().map(|key| key.as_ptr().cast()).collect();
        let lengths: Vec<usize> = user_keys.iter().map(|key| key.len()).collect();
        let mut length = 0;
        // SAFETY: the program gave the function for this state, whose lifetime is not over; it may read `count`
        // pointers and lengths, and the bytes at each pointer.
        let filter =
            unsafe { (self.create)(state, starts.as_ptr(), lengths.as_ptr(), count, &raw mut length) };
        if filter.is_null() {
            return None;
        }
        let is_length = isize::try_from(length).is_ok();
        let copy = is_length.then(|| {
            // SAFETY: by the header's rule it points to `length` bytes, to which nothing else has a pointer.
            unsafe { std::slice::from_raw_parts(filter.cast::<u8>(), length) }.to_vec()
        });
        // SAFETY: by the header's rule the filter came from malloc and is ours.
        unsafe { free(filter.cast()) };
        copy
    }

    fn may_contain(&self, user_key: &[u8], filter: &[u8]) -> bool {
        let Some(state) = self.state.get() else { return true };
        let (key, bytes) = (user_key.as_ptr().cast(), filter.as_ptr().cast());
        // SAFETY: as in `create_filter`; it may read the slices.
        unsafe { (self.may_match)(state, key, user_key.len(), bytes, filter.len()) != 0 }
    }
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_filterpolicy_create(
    state: *mut c_void,
    destructor: Destructor,
    create_filter: Option<Create>,
    key_may_match: Option<MayMatch>,
    name: Option<Name>,
) -> *mut FilterPolicyHandle {
    barrier::or_else(std::ptr::null_mut(), || {
        let (Some(create), Some(may_match), Some(name)) = (create_filter, key_may_match, name) else {
            return std::ptr::null_mut();
        };
        let state = State::new(state, destructor);
        let policy = CallbackFilterPolicy { state, create, may_match, name, known_name: OnceLock::new() };
        Box::into_raw(Box::new(FilterPolicyHandle::Callbacks(Arc::new(policy))))
    })
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> *mut FilterPolicyHandle {
    barrier::or_else(std::ptr::null_mut(), || {
        // 0 bits would mean no filter to the engine; LevelDB writes the smallest possible one then.
        let bits_per_key = usize::try_from(bits_per_key).unwrap_or(0).max(1);
        Box::into_raw(Box::new(FilterPolicyHandle::Bloom(bits_per_key)))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_filterpolicy_destroy(policy: *mut FilterPolicyHandle) {
    barrier::or_else((), || {
        // SAFETY: by the header's rule it is NULL or came from one of the functions above, and is no longer used.
        let kept = unsafe { policy.as_ref() }.cloned();
        // SAFETY: as above.
        unsafe { drop_box(policy) };
        if let Some(FilterPolicyHandle::Callbacks(policy)) = kept {
            policy.state.destroy();
        }
    });
}
