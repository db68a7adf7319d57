//! Iterators over a database in memory. The state that an iterator shows is fixed when it is created.

use std::cell::RefCell;
use std::ops::Bound;

use terrace_engine::Bounds;
use terrace_memory::{Cursor, is_within};

use super::state::state_of;
use crate::call::Call;
use crate::error::Fallible;
use crate::external::{self, Held};
use crate::options::{self, Flags};
use crate::parts::Parts;
use crate::value::Value;

/// The object that `memoryIterator` returns to JavaScript. Empty once it is closed.
struct HeldMemoryIterator(RefCell<Option<Walk>>);

impl Held for HeldMemoryIterator {
    const TAG: u64 = 0x7465_7272_6163_6508;
}

struct Walk {
    cursor: Cursor,
    /// Whether the cursor is at the next entry to read.
    is_placed: bool,
    /// Where to look for the next entry if not: a target, or else where the range begins.
    target: Option<Vec<u8>>,
    bounds: Bounds,
    flags: Flags,
}

/// `memoryIterator(memory, range, flags, snapshot)`
pub fn create(call: &Call<'_>) -> Fallible<Value> {
    let flags = Flags::of(call.env, call.argument(2))?;
    let walk = Walk {
        cursor: state_of(call, 3, flags)?.cursor(),
        is_placed: false,
        target: None,
        bounds: options::bounds(call.env, call.argument(1))?,
        flags,
    };
    external::hold(call.env, HeldMemoryIterator(RefCell::new(Some(walk))))
}

/// `memoryIteratorSeek(iterator, target)`: a target outside the range leaves nothing to read.
pub fn seek(call: &Call<'_>) -> Fallible<Value> {
    let mut target = Vec::new();
    call.env.append_bytes(call.argument(1), &mut target)?;
    if let Some(walk) = &mut *call.held::<HeldMemoryIterator>(0)?.0.borrow_mut() {
        walk.is_placed = false;
        walk.target = Some(target);
    }
    call.env.undefined()
}

/// `memoryIteratorRead(iterator, size, highWaterMarkBytes)`: an array, as `iteratorRead` makes it.
pub fn read(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let most_entries = env.get_u32(call.argument(1))?.max(1) as usize;
    // Infinity becomes the largest number.
    let high_water_mark_bytes = env.get_f64(call.argument(2))?.max(0.0) as usize;
    let mut parts = Parts::new(env, most_entries.min(1000) * 2 + 2);
    // The end is known only when the entries have been read.
    parts.push(env.boolean(true)?);
    parts.push_place_of_buffer()?;
    if let Some(walk) = &mut *call.held::<HeldMemoryIterator>(0)?.0.borrow_mut()
        && !walk.read(&mut parts, most_entries, high_water_mark_bytes)?
    {
        parts.replace(0, env.boolean(false)?);
    }
    parts.into_array(call.environment)
}

/// `memoryIteratorClose(iterator)`: releases the state that it shows.
pub fn close(call: &Call<'_>) -> Fallible<Value> {
    call.held::<HeldMemoryIterator>(0)?.0.borrow_mut().take();
    call.env.undefined()
}

impl Walk {
    /// Adds the next entries. Returns whether the end was reached.
    fn read(
        &mut self,
        parts: &mut Parts,
        most_entries: usize,
        high_water_mark_bytes: usize,
    ) -> Fallible<bool> {
        self.place();
        let range = borrowed(&self.bounds);
        let flags = self.flags;
        let reverse = flags.has(Flags::REVERSE);
        let (mut entries, mut bytes) = (0, 0);
        while let Some((key, value)) = self.cursor.entry() {
            if !is_within(key, range) {
                break;
            }
            if entries >= most_entries || bytes > high_water_mark_bytes {
                return Ok(false);
            }
            if flags.has(Flags::KEYS) {
                parts.push_bytes(key, flags.has(Flags::KEYS_AS_BUFFERS))?;
                bytes += key.len();
            }
            if flags.has(Flags::VALUES) {
                parts.push_bytes(value, flags.has(Flags::VALUES_AS_BUFFERS))?;
                bytes += value.len();
            }
            entries += 1;
            self.cursor.step(reverse);
        }
        Ok(true)
    }

    /// Moves the cursor to the next entry to read.
    fn place(&mut self) {
        if self.is_placed {
            return;
        }
        self.is_placed = true;
        let range = borrowed(&self.bounds);
        let reverse = self.flags.has(Flags::REVERSE);
        match &self.target {
            None => self.cursor.seek_within(range, reverse),
            Some(target) if !is_within(target, range) => self.cursor.leave(),
            Some(target) => {
                let at = Bound::Included(&target[..]);
                self.cursor.seek_within((at, at), reverse);
            }
        }
    }
}

/// A range of keys as the map takes it.
pub fn borrowed(bounds: &Bounds) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (bounds.lower.as_ref().map(Vec::as_slice), bounds.upper.as_ref().map(Vec::as_slice))
}
