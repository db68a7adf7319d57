//! Iterators. JavaScript asks for a number of entries, which are read into one buffer and turned into values.
//! JavaScript therefore holds a window of bounded size.
//!
//! A window that is in memory is read at once, on the JavaScript thread. Once a read has to wait for the disk, that
//! window and all later ones are read by another thread.
//!
//! The state that an iterator shows is fixed when it is created. The next read carries out a seek.

use std::mem;
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use terrace_engine::{DbIterator, Error, ErrorKind, IterOptions, ReadTier, Result, Snapshot};

use crate::call::Call;
use crate::database::Database;
use crate::environment::Environment;
use crate::error::{Failure, Fallible};
use crate::external::{self, Held};
use crate::open_database::OpenDatabase;
use crate::options::{self, Flags};
use crate::parts::Parts;
use crate::value::{Env, Value};

/// A buffer that has grown beyond this size is not kept for the next read.
const MAX_KEPT_BYTES: usize = 1 << 20;

const BUSY: Failure = Failure::Argument("the iterator is busy");

/// The object that `iterator` returns to JavaScript.
pub struct HeldIterator {
    database: Rc<Database>,
    cursor: Arc<Cursor>,
    flags: Flags,
}

impl Held for HeldIterator {
    const TAG: u64 = 0x7465_7272_6163_6503;
}

/// The part of an iterator that threads share. JavaScript reads one window at a time, so the lock is free whenever
/// JavaScript takes it.
struct Cursor {
    state: Mutex<State>,
    /// Asks a running read to stop.
    stop: AtomicBool,
}

struct State {
    open: Arc<OpenDatabase>,
    /// The database is read-only, nothing was read yet, and no snapshot was requested: a newer state will do if
    /// another process has removed this one.
    may_renew: bool,
    options: IterOptions,
    source: Source,
    next: Next,
    /// The last key read.
    last_key: Vec<u8>,
    reverse: bool,
    keys: bool,
    values: bool,
    /// Kept from the last read.
    spare: Window,
}

enum Source {
    /// No read has used it yet.
    Unopened,
    /// Fails if it would have to wait.
    InMemory(Box<DbIterator>),
    /// Waits for the disk.
    OnDisk(Box<DbIterator>),
    Closed,
}

/// Where the next read begins.
enum Next {
    First,
    At(Vec<u8>),
    /// After the last entry read, at which the source is.
    Following,
    /// After the last key read, which is still to be found.
    After,
    End,
    /// Nowhere: reading on failed, and only a seek helps.
    Failed(Error),
}

/// Entries that were read: keys and values end to end, and the length of each. In a window of only keys or only
/// values, the other part is left out.
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
    let db = database.db();
    let may_renew = read.snapshot.is_none() && db.options().read_only;
    read.snapshot.get_or_insert_with(|| db.snapshot());
    let state = State {
        open: database.opened(),
        may_renew,
        options: IterOptions { read, bounds: options::bounds(env, call.argument(1))? },
        source: Source::Unopened,
        next: Next::First,
        last_key: Vec::new(),
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
    let mut state = iterator.cursor.state.try_lock().ok_or(BUSY)?;
    state.next = if state.is_in_range(&target) { Next::At(target) } else { Next::End };
    call.env.undefined()
}

/// `iteratorRead(iterator, size, highWaterMarkBytes, flags)`: reads up to `size` entries, and stops earlier once they
/// exceed the mark. Returns an array, or a promise of it: whether the end was reached, the buffer of all parts that
/// become buffers, and the requested keys and values alternating.
pub fn read(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let iterator = call.held::<HeldIterator>(0)?;
    let cursor = &iterator.cursor;
    let want = Want {
        entries: env.get_u32(call.argument(1))?.max(1) as usize,
        // Infinity becomes the largest number.
        high_water_mark_bytes: env.get_f64(call.argument(2))?.max(0.0) as usize,
    };
    let flags = iterator.flags;
    let at_once = if Flags::of(env, call.argument(3))?.has(Flags::BLOCKING) {
        Ok(Some(cursor.read(want)?))
    } else {
        cursor.read_from_memory(want)
    };
    if let Some(window) = at_once? {
        return cursor.hand_over(env, call.environment, window, flags);
    }
    let (reader, taker) = (Arc::clone(cursor), Arc::clone(cursor));
    let environment = Rc::clone(call.environment);
    iterator.database.read(
        env,
        move |_db| reader.read(want),
        move |env, window| taker.hand_over(env, &environment, window, flags),
    )
}

/// `iteratorAbort(iterator)`: makes the running read and later ones fail.
pub fn abort(call: &Call<'_>) -> Fallible<Value> {
    call.held::<HeldIterator>(0)?.cursor.stop.store(true, Ordering::Relaxed);
    call.env.undefined()
}

/// `iteratorClose(iterator)`: releases the state that it shows and the files that it keeps.
pub fn close(call: &Call<'_>) -> Fallible<Value> {
    let cursor = &call.held::<HeldIterator>(0)?.cursor;
    cursor.stop.store(true, Ordering::Relaxed);
    // If a read is running, which JavaScript rules out, that read closes it.
    let shown = cursor.state.try_lock().map(|mut state| state.close());
    drop(shown);
    call.env.undefined()
}

/// How much a read may return.
#[derive(Clone, Copy)]
struct Want {
    entries: usize,
    high_water_mark_bytes: usize,
}

impl Cursor {
    /// The next window, if it is in memory.
    fn read_from_memory(&self, want: Want) -> Fallible<Option<Window>> {
        let mut state = self.state.try_lock().ok_or(BUSY)?;
        match state.read_from_memory(want, &self.stop) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            result => Ok(Some(state.note_failure(result)?)),
        }
    }

    /// The next window. May wait for the disk.
    fn read(&self, want: Want) -> Result<Window> {
        let mut state = self.state.lock();
        let result = state.read_renewing(want, &self.stop);
        if self.stop.load(Ordering::Relaxed) {
            drop(state.close());
        }
        state.note_failure(result)
    }

    /// Converts the window for JavaScript; keeps its buffer for the next one.
    fn hand_over(
        &self,
        env: Env,
        environment: &Environment,
        window: Window,
        flags: Flags,
    ) -> Fallible<Value> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failure::Aborted);
        }
        let array = window.to_array(env, environment, flags)?;
        if window.bytes.capacity() <= MAX_KEPT_BYTES
            && let Some(mut state) = self.state.try_lock()
        {
            state.spare = window;
        }
        Ok(array)
    }
}

impl State {
    /// Ends reading. Returns what was kept for it.
    fn close(&mut self) -> (Source, Option<Snapshot>) {
        (mem::replace(&mut self.source, Source::Closed), self.options.read.snapshot.take())
    }

    /// Whether a seek to `target` may find anything. As in classic-level, a seek outside the range finds nothing, on
    /// either side.
    fn is_in_range(&self, target: &[u8]) -> bool {
        let comparator = &self.open.db().options().comparator;
        let bounds = &self.options.bounds;
        let above = match &bounds.lower {
            Bound::Unbounded => true,
            Bound::Included(lower) => comparator.compare(target, lower).is_ge(),
            Bound::Excluded(lower) => comparator.compare(target, lower).is_gt(),
        };
        above
            && match &bounds.upper {
                Bound::Unbounded => true,
                Bound::Included(upper) => comparator.compare(target, upper).is_le(),
                Bound::Excluded(upper) => comparator.compare(target, upper).is_lt(),
            }
    }

    /// Remembers a failure: reading on failed, and only a seek helps.
    fn note_failure(&mut self, result: Result<Window>) -> Result<Window> {
        result.inspect_err(|error| self.next = Next::Failed(error.clone()))
    }

    /// Reads a window, or fails with `WouldBlock` and changes nothing.
    fn read_from_memory(&mut self, want: Want, stop: &AtomicBool) -> Result<Window> {
        let mut entries = match mem::replace(&mut self.source, Source::Unopened) {
            Source::InMemory(entries) => entries,
            Source::Unopened => self.open(ReadTier::MemoryOnly)?,
            other => {
                let is_closed = matches!(other, Source::Closed);
                self.source = other;
                return if is_closed {
                    Ok(Window::ended())
                } else {
                    Err(Error::new(ErrorKind::WouldBlock, ""))
                };
            }
        };
        let mut window = mem::take(&mut self.spare);
        let result = self.fill(&mut entries, &mut window, want, stop);
        if let Err(error) = result {
            // The source is no longer at any entry.
            if matches!(self.next, Next::Following) {
                self.next = Next::After;
            }
            if error.kind() != ErrorKind::WouldBlock || window.lengths.is_empty() {
                self.spare = window;
                return Err(error);
            }
        }
        self.source = Source::InMemory(entries);
        self.may_renew = false;
        Ok(window)
    }

    fn read_renewing(&mut self, want: Want, stop: &AtomicBool) -> Result<Window> {
        const MOST_RENEWALS: u32 = 64;
        let mut result = self.read(want, stop);
        for _ in 0..MOST_RENEWALS {
            let is_outdated =
                result.as_ref().is_err_and(|error| error.kind() == ErrorKind::Outdated) && self.may_renew;
            if !is_outdated {
                break;
            }
            let db = self.open.db();
            db.refresh()?;
            self.options.read.snapshot = Some(db.snapshot());
            result = self.read(want, stop);
        }
        self.may_renew = false;
        result
    }

    fn read(&mut self, want: Want, stop: &AtomicBool) -> Result<Window> {
        let mut entries = match mem::replace(&mut self.source, Source::Unopened) {
            Source::OnDisk(entries) => entries,
            Source::Closed => {
                self.source = Source::Closed;
                return Ok(Window::ended());
            }
            Source::Unopened | Source::InMemory(_) => {
                if matches!(self.next, Next::Following) {
                    self.next = Next::After;
                }
                self.open(ReadTier::Disk)?
            }
        };
        let mut window = mem::take(&mut self.spare);
        self.fill(&mut entries, &mut window, want, stop)?;
        self.source = Source::OnDisk(entries);
        Ok(window)
    }

    fn open(&self, tier: ReadTier) -> Result<Box<DbIterator>> {
        let mut options = self.options.clone();
        options.read.tier = tier;
        Ok(Box::new(self.open.db().iter(options)?))
    }

    /// Reads entries into `window`. After an error, the entries in it are valid, and more follow them.
    fn fill(
        &mut self,
        entries: &mut DbIterator,
        window: &mut Window,
        want: Want,
        stop: &AtomicBool,
    ) -> Result<()> {
        window.clear();
        match &self.next {
            Next::First if self.reverse => entries.seek_to_last()?,
            Next::First => entries.seek_to_first()?,
            Next::At(target) if self.reverse => entries.seek_for_prev(target)?,
            Next::At(target) => entries.seek(target)?,
            Next::Following => step(entries, self.reverse)?,
            Next::After => self.find_after(entries)?,
            Next::End => {
                window.ended = true;
                return Ok(());
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
            self.last_key.clear();
            self.last_key.extend_from_slice(entries.key());
            self.next = Next::Following;
            if count >= want.entries || window.bytes.len() > want.high_water_mark_bytes {
                return Ok(());
            }
            step(entries, self.reverse)?;
        }
        self.next = Next::End;
        window.ended = true;
        Ok(())
    }

    /// Moves to the entry after the last key read.
    fn find_after(&self, entries: &mut DbIterator) -> Result<()> {
        if self.reverse {
            entries.seek_for_prev(&self.last_key)?;
        } else {
            entries.seek(&self.last_key)?;
        }
        if entries.valid() && entries.key() == self.last_key {
            step(entries, self.reverse)?;
        }
        Ok(())
    }
}

fn step(entries: &mut DbIterator, reverse: bool) -> Result<()> {
    if reverse { entries.prev() } else { entries.next() }
}

impl Window {
    /// An empty window after the last entry.
    fn ended() -> Self {
        Self { ended: true, ..Self::default() }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
        self.ended = false;
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.lengths.push(bytes.len());
    }

    /// Whether the end was reached, the buffer of all parts that become buffers, and the parts.
    fn to_array(&self, env: Env, environment: &Environment, flags: Flags) -> Fallible<Value> {
        let mut parts = Parts::new(env, self.lengths.len() + 2);
        parts.push(env.boolean(self.ended)?);
        parts.push_place_of_buffer()?;
        let both = flags.has(Flags::KEYS) && flags.has(Flags::VALUES);
        let mut rest = &self.bytes[..];
        for (index, length) in self.lengths.iter().enumerate() {
            let (bytes, following) = rest.split_at(*length);
            rest = following;
            let is_value = if both { index % 2 == 1 } else { flags.has(Flags::VALUES) };
            parts.push_bytes(
                bytes,
                flags.has(if is_value { Flags::VALUES_AS_BUFFERS } else { Flags::KEYS_AS_BUFFERS }),
            )?;
        }
        parts.into_array(environment)
    }
}
