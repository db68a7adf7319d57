//! The native objects of a database in memory, and which state a read sees.

use std::cell::{Cell, RefCell};
use std::ptr;

use napi_sys as sys;
use terrace_memory::Map;

use crate::call::Call;
use crate::error::{Failure, Fallible};
use crate::external::Held;
use crate::options::Flags;
use crate::value::Env;

/// V8 learns of changes of at least this size.
const REPORTED_STEP_BYTES: i64 = 1 << 20;

/// The object that `memory` returns to JavaScript.
pub struct HeldMemory {
    pub map: RefCell<Map>,
    /// The most that the entries may count, in bytes.
    pub limit_bytes: Cell<usize>,
    /// The size of the entries that was last reported to V8.
    reported_bytes: Cell<i64>,
}

/// The object that `memorySnapshot` returns to JavaScript. Empty once it is closed.
pub struct HeldMemorySnapshot(pub RefCell<Option<Map>>);

impl Held for HeldMemory {
    const TAG: u64 = 0x7465_7272_6163_6505;

    fn release(&self, env: Env) {
        self.map.borrow_mut().clear();
        adjust_external_memory(env, -self.reported_bytes.get());
    }
}

impl Held for HeldMemorySnapshot {
    const TAG: u64 = 0x7465_7272_6163_6506;
}

impl HeldMemory {
    pub fn new() -> Self {
        Self { map: RefCell::default(), limit_bytes: Cell::new(usize::MAX), reported_bytes: Cell::new(0) }
    }

    /// Reports the memory to V8, which cannot see it, so that V8 collects unused databases.
    #[inline]
    pub fn report(&self, env: Env, map: &Map) {
        let change = map.size_bytes() as i64 - self.reported_bytes.get();
        if change.abs() >= REPORTED_STEP_BYTES {
            self.reported_bytes.set(self.reported_bytes.get() + change);
            adjust_external_memory(env, change);
        }
    }
}

#[cold]
fn adjust_external_memory(env: Env, change: i64) {
    let mut adjusted = 0;
    // SAFETY: on the thread of `env`. If it fails, V8 only has a wrong figure.
    unsafe { sys::napi_adjust_external_memory(env.raw(), change, ptr::addr_of_mut!(adjusted)) };
}

/// Calls `read` with the snapshot in `snapshot` if there is one, or else with the newest state.
#[inline]
pub fn with_state<R>(
    held: &HeldMemory,
    snapshot: Option<&HeldMemorySnapshot>,
    read: impl FnOnce(&Map) -> Fallible<R>,
) -> Fallible<R> {
    match snapshot {
        None => read(&held.map.borrow()),
        Some(snapshot) => match &*snapshot.0.borrow() {
            Some(map) => read(map),
            None => Err(Failure::Argument("the snapshot is closed")),
        },
    }
}

/// The snapshot in an argument, if the flags say that there is one.
#[inline]
pub fn snapshot_of<'a>(
    call: &'a Call<'_>,
    index: usize,
    flags: Flags,
) -> Fallible<Option<&'a HeldMemorySnapshot>> {
    flags.has(Flags::SNAPSHOT).then(|| call.held(index)).transpose()
}

/// The map that a read of `memory` with these flags sees, for itself.
pub fn state_of(call: &Call<'_>, snapshot: usize, flags: Flags) -> Fallible<Map> {
    let held = call.held::<HeldMemory>(0)?;
    with_state(held, snapshot_of(call, snapshot, flags)?, |map| Ok(map.clone()))
}
