//! Iterators. JavaScript asks for a number of entries; a thread of libuv's pool reads them into one buffer; the
//! JavaScript thread makes values of them. So what JavaScript holds is a window of bounded size.
//!
//! The state that an iterator shows is fixed when it is made, on the JavaScript thread. The tables it needs are
//! opened at the first read, and a seek is carried out by the next one, because both may wait for the disk.

use std::mem;
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use terrace_engine::{Bounds, DbIterator, Error, IterOptions, ReadTier, Result};

use crate::async_work;
use crate::call::Call;
use crate::database::Database;
use crate::error::{Failure, Fallible};
use crate::external::{self, Held};
use crate::open_database::OpenDatabase;
use crate::options::{self, Flags};
use crate::value::{Env, Value};

/// A buffer that has grown beyond this is not kept for the next read.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// What `iterator` gives to JavaScript.
pub struct HeldIterator {
    database: Rc<Database>,
    cursor: Arc<Cursor>,
    flags: Flags,
}

impl Held for HeldIterator {
    const TAG: u64 = 0x7465_7272_6163_6503;
}

/// The part of an iterator that threads share. JavaScript reads one window at a time, so the lock is free
/// whenever it asks.
struct Cursor {
    state: Mutex<State>,
    /// Asks a running read to stop.
    stop: AtomicBool,
}

struct State {
    open: Arc<OpenDatabase>,
    bounds: Bounds,
    source: Source,
    next: Next,
    reverse: bool,
    keys: bool,
    values: bool,
    /// Kept from the last read.
    spare: Window,
}

enum Source {
    /// Not read from yet.
    Unopened(IterOptions),
    Open(Box<DbIterator>),
    Closed,
}

/// Where the next read begins.
enum Next {
    First,
    At(Vec<u8>),
    /// Behind the entry that was read last.
    Following,
    End,
    /// Nowhere: what follows could not be read, and only a seek leads on.
    Failed(Error),
}

/// Entries that were read: keys and values end to end, and the length of each. In a window of keys only, or of
/// values only, the other part is left out.
#[derive(Default)]
struct Window {
    bytes: Vec<u8>,
    lengths: Vec<usize>,
    ended: bool,
}

/// `iterator(database, range, flags, snapshot)`
pub fn create(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let flags = Flags::of(env, call.argument(2))?;
    let mut read = options::read_options(call, 3, flags)?;
    read.tier = ReadTier::Disk;
    read.snapshot.get_or_insert_with(|| database.db().snapshot());
    let bounds = options::bounds(env, call.argument(1))?;
    let state = State {
        open: database.opened(),
        bounds: bounds.clone(),
        source: Source::Unopened(IterOptions { read, bounds }),
        next: Next::First,
        reverse: flags.has(Flags::REVERSE),
        keys: flags.has(Flags::KEYS),
        values: flags.has(Flags::VALUES),
        spare: Window::default(),
    };
    let cursor = Arc::new(Cursor { state: Mutex::new(state), stop: AtomicBool::new(false) });
    external::hold(env, HeldIterator { database: Rc::clone(database), cursor, flags })
}

/// `iteratorSeek(iterator, target)`
pub fn seek(call: &Call<'_>) -> Fallible<Value> {
    let iterator = call.held::<HeldIterator>(0)?;
    let mut target = Vec::new();
    call.env.append_bytes(call.argument(1), &mut target)?;
    let mut state = iterator.cursor.state.try_lock().ok_or(Failure::Argument("the iterator is busy"))?;
    state.next = if state.is_in_range(&target) { Next::At(target) } else { Next::End };
    call.env.undefined()
}

/// `iteratorRead(iterator, size, highWaterMarkBytes)`: reads up to `size` entries, and stops earlier once they exceed
/// the mark. A promise of an array that begins with whether the end was reached, followed by the keys and values that
/// were asked for, in turns.
pub fn read(call: &Call<'_>) -> Fallible<Value> {
    let iterator = call.held::<HeldIterator>(0)?;
    let size = call.env.get_u32(call.argument(1))?.max(1) as usize;
    // Infinity becomes the largest number.
    let high_water_mark_bytes = call.env.get_f64(call.argument(2))?.max(0.0) as usize;
    let cursor = Arc::clone(&iterator.cursor);
    let taken = Arc::clone(&iterator.cursor);
    let flags = iterator.flags;
    async_work::queue(
        call.env,
        "terrace.iterator",
        &iterator.database,
        move || cursor.read(size, high_water_mark_bytes),
        move |env, window| {
            if taken.stop.load(Ordering::Relaxed) {
                return Err(Failure::Aborted);
            }
            let array = window.to_array(env, flags)?;
            if window.bytes.capacity() <= MAX_KEPT_BYTES
                && let Some(mut state) = taken.state.try_lock()
            {
                state.spare = window;
            }
            Ok(array)
        },
    )
}

/// `iteratorAbort(iterator)`: makes the running read and later ones fail.
pub fn abort(call: &Call<'_>) -> Fallible<Value> {
    call.held::<HeldIterator>(0)?.cursor.stop.store(true, Ordering::Relaxed);
    call.env.undefined()
}

/// `iteratorClose(iterator)`: lets go of the state that it shows and of the files it keeps.
pub fn close(call: &Call<'_>) -> Fallible<Value> {
    let cursor = &call.held::<HeldIterator>(0)?.cursor;
    cursor.stop.store(true, Ordering::Relaxed);
    // If a read is running, which JavaScript rules out, that read closes it.
    let source = cursor.state.try_lock().map(|mut state| mem::replace(&mut state.source, Source::Closed));
    drop(source);
    call.env.undefined()
}

impl Cursor {
    fn read(&self, size: usize, high_water_mark_bytes: usize) -> Result<Window> {
        let mut state = self.state.lock();
        let result = state.read(size, high_water_mark_bytes, &self.stop);
        if let Err(error) = &result {
            state.next = Next::Failed(error.clone());
        }
        if self.stop.load(Ordering::Relaxed) {
            state.source = Source::Closed;
        }
        result
    }
}

impl State {
    /// Whether a seek to `target` may find anything. As in classic-level, one outside the range finds nothing, on
    /// either side.
    fn is_in_range(&self, target: &[u8]) -> bool {
        let comparator = &self.open.db().options().comparator;
        let above = match &self.bounds.lower {
            Bound::Unbounded => true,
            Bound::Included(lower) => comparator.compare(target, lower).is_ge(),
            Bound::Excluded(lower) => comparator.compare(target, lower).is_gt(),
        };
        above
            && match &self.bounds.upper {
                Bound::Unbounded => true,
                Bound::Included(upper) => comparator.compare(target, upper).is_le(),
                Bound::Excluded(upper) => comparator.compare(target, upper).is_lt(),
            }
    }

    fn read(&mut self, size: usize, high_water_mark_bytes: usize, stop: &AtomicBool) -> Result<Window> {
        let mut window = mem::take(&mut self.spare);
        window.clear();
        if let Source::Unopened(options) = &self.source {
            let entries = self.open.db().iter(options.clone())?;
            self.source = Source::Open(Box::new(entries));
        }
        let Source::Open(entries) = &mut self.source else {
            window.ended = true;
            return Ok(window);
        };
        match &self.next {
            Next::First if self.reverse => entries.seek_to_last()?,
            Next::First => entries.seek_to_first()?,
            Next::At(target) if self.reverse => entries.seek_for_prev(target)?,
            Next::At(target) => entries.seek(target)?,
            Next::Following => step(entries, self.reverse)?,
            Next::End => {
                window.ended = true;
                return Ok(window);
            }
            Next::Failed(error) => return Err(error.clone()),
        }
        let mut count = 0;
        while entries.valid() && !stop.load(Ordering::Relaxed) {
            if self.keys {
                window.push(entries.key());
            }
            if self.values {
                window.push(entries.value());
            }
            count += 1;
            if count >= size || window.bytes.len() > high_water_mark_bytes {
                self.next = Next::Following;
                return Ok(window);
            }
            step(entries, self.reverse)?;
        }
        self.next = Next::End;
        window.ended = true;
        Ok(window)
    }
}

fn step(entries: &mut DbIterator, reverse: bool) -> Result<()> {
    if reverse { entries.prev() } else { entries.next() }
}

impl Window {
    fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
        self.ended = false;
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.lengths.push(bytes.len());
    }

    fn to_array(&self, env: Env, flags: Flags) -> Fallible<Value> {
        let array = env.array(self.lengths.len() + 1)?;
        env.set_element(array, 0, env.boolean(self.ended)?)?;
        let both = flags.has(Flags::KEYS) && flags.has(Flags::VALUES);
        let mut rest = &self.bytes[..];
        for (index, length) in self.lengths.iter().enumerate() {
            let (bytes, following) = rest.split_at(*length);
            rest = following;
            let is_value = if both { index % 2 == 1 } else { flags.has(Flags::VALUES) };
            let as_buffer =
                flags.has(if is_value { Flags::VALUES_AS_BUFFERS } else { Flags::KEYS_AS_BUFFERS });
            env.set_element(array, index + 1, env.bytes(bytes, as_buffer)?)?;
        }
        Ok(array)
    }
}
