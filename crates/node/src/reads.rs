//! Point reads. A read that memory can answer is answered at once, on the JavaScript thread. A read that needs the
//! disk runs on another thread, on the state at the time of the call, and returns a promise.

use std::rc::Rc;

use terrace_engine::{Db, ErrorKind, ReadOptions, ReadTier};

use crate::call::Call;
use crate::database::Database;
use crate::error::{Failure, Fallible};
use crate::options::{Flags, read_options};
use crate::parts::Parts;
use crate::value::{Env, Value};

/// More keys than this are always read on the pool, so that JavaScript is not held up.
const MAX_KEYS_AT_ONCE: usize = 1024;

/// `get(database, key, flags, snapshot, slab, offset)`: the value or undefined, or a promise of it. A value that
/// becomes a buffer is stored into the slab at the offset if it fits there; then its length is returned.
pub fn get(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let flags = Flags::of(env, call.argument(2))?;
    let options = read_options(call, 3, flags)?;
    let as_buffer = flags.has(Flags::VALUES_AS_BUFFERS);
    let slab = if as_buffer {
        Some(env.slab(call.argument(4), env.get_u32(call.argument(5))? as usize)?)
    } else {
        None
    };
    let found = env.with_bytes(call.argument(1), |key| {
        database.db().get_with(key, &options, |value| match &slab {
            None => env.string(value),
            Some(slab) if slab.store(value) => env.number(value.len() as f64),
            Some(_) => env.buffer(value),
        })
    })?;
    match found {
        Ok(Some(value)) => value,
        Ok(None) => env.undefined(),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            let (key, options) = prepare(call, database, options)?;
            let read = move |db: &Db| db.get_pinned(&key, &options);
            database.read(env, read, move |env, found| match found {
                Some(value) => env.bytes(value.as_ref(), as_buffer),
                None => env.undefined(),
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// `getEntry(database, key, flags, snapshot)`: an array of the value and its version, or undefined, or a promise of that.
pub fn get_entry(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let flags = Flags::of(env, call.argument(2))?;
    let options = read_options(call, 3, flags)?;
    let entry = move |env: Env, value: &[u8], version: u64| {
        let entry = env.array(2)?;
        env.set_element(entry, 0, env.bytes(value, flags.has(Flags::VALUES_AS_BUFFERS))?)?;
        env.set_element(entry, 1, env.version(version)?)?;
        Ok(entry)
    };
    let found = env.with_bytes(call.argument(1), |key| {
        database.db().get_entry_with(key, &options, |value, version| entry(env, value, version))
    })?;
    match found {
        Ok(Some(found)) => found,
        Ok(None) => env.undefined(),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            let (key, options) = prepare(call, database, options)?;
            let read =
                move |db: &Db| db.get_entry_with(&key, &options, |value, version| (value.to_vec(), version));
            database.read(env, read, move |env, found| match found {
                Some((value, version)) => entry(env, &value, version),
                None => env.undefined(),
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// `has(database, key, flags, snapshot)`: a boolean, or a promise of it.
pub fn has(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let options = read_options(call, 3, Flags::of(env, call.argument(2))?)?;
    let found = env.with_bytes(call.argument(1), |key| database.db().get_with(key, &options, |_value| ()))?;
    match found {
        Ok(found) => env.boolean(found.is_some()),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            let (key, options) = prepare(call, database, options)?;
            let read = move |db: &Db| db.get_with(&key, &options, |_value| ());
            database.read(env, read, |env, found| env.boolean(found.is_some()))
        }
        Err(error) => Err(error.into()),
    }
}

/// `getMany(database, flags, snapshot, ...keys)`: an array, or a promise of it. It begins with the buffer of all
/// values that become buffers; a value or undefined for each key follows.
pub fn get_many(call: &Call<'_>) -> Fallible<Value> {
    let as_buffers = Flags::of(call.env, call.argument(1))?.has(Flags::VALUES_AS_BUFFERS);
    many(call, true, move |env, parts, found| match found {
        Some(value) => parts.push_bytes(value, as_buffers),
        None => env.undefined().map(|undefined| parts.push(undefined)),
    })
}

/// `hasMany(database, flags, snapshot, ...keys)`: an array of booleans, or a promise of it.
pub fn has_many(call: &Call<'_>) -> Fallible<Value> {
    many(call, false, |env, parts, found| env.boolean(found.is_some()).map(|answer| parts.push(answer)))
}

fn many(
    call: &Call<'_>,
    with_buffer: bool,
    add: impl Fn(Env, &mut Parts, Option<&[u8]>) -> Fallible<()> + Copy + 'static,
) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let mut options = read_options(call, 2, Flags::of(env, call.argument(1))?)?;
    let keys = Keys::of(call, 3)?;
    let count = keys.ends.len();
    let begin = move || {
        let mut parts = Parts::new(env, count + 1);
        if with_buffer {
            parts.push_place_of_buffer()?;
        }
        Ok::<_, Failure>(parts)
    };
    if count <= MAX_KEYS_AT_ONCE {
        let mut parts = begin()?;
        let mut added = Ok(());
        let read = database.db().get_many_with(&keys.each(), &options, |found| {
            if added.is_ok() {
                added = add(env, &mut parts, found);
            }
        });
        match read {
            Ok(()) => return added.and_then(|()| parts.into_array(call.environment)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
    options.tier = ReadTier::Disk;
    keep_state(database, &mut options);
    let environment = Rc::clone(call.environment);
    let read = move |db: &Db| {
        let mut values = Vec::with_capacity(count);
        db.get_many_with(&keys.each(), &options, |found| values.push(found.map(<[u8]>::to_vec)))?;
        Ok(values)
    };
    database.read(env, read, move |env, values| {
        let mut parts = begin()?;
        for found in &values {
            add(env, &mut parts, found.as_deref())?;
        }
        parts.into_array(&environment)
    })
}

/// The keys of one call, end to end.
struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// The arguments of `call` from `first` on.
    fn of(call: &Call<'_>, first: usize) -> Fallible<Self> {
        let arguments = call.arguments_from(first)?;
        let mut keys = Self { bytes: Vec::new(), ends: Vec::with_capacity(arguments.len()) };
        for argument in arguments {
            call.env.append_bytes(argument, &mut keys.bytes)?;
            keys.ends.push(keys.bytes.len());
        }
        Ok(keys)
    }

    fn each(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &self.bytes[start..end]).collect()
    }
}

/// The input of a read on another thread: the key, and the state at the time of the call.
fn prepare(
    call: &Call<'_>,
    database: &Database,
    mut options: ReadOptions,
) -> Result<(Vec<u8>, ReadOptions), Failure> {
    let mut key = Vec::new();
    call.env.append_bytes(call.argument(1), &mut key)?;
    options.tier = ReadTier::Disk;
    keep_state(database, &mut options);
    Ok((key, options))
}

/// Makes a read on another thread see the state at the time of the call. A read-only database shows the same state
/// until it is refreshed; a snapshot would keep the read from moving on if another process has removed that state.
fn keep_state(database: &Database, options: &mut ReadOptions) {
    let db = database.db();
    if !db.options().read_only {
        options.snapshot.get_or_insert_with(|| db.snapshot());
    }
}
