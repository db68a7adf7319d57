//! Point reads. What memory can answer is answered at once, on the JavaScript thread; what needs the disk is read
//! on libuv's pool, from the state at the time of the call, and comes as a promise.

use std::rc::Rc;

use terrace_engine::{ErrorKind, Pinned, ReadOptions, ReadTier};

use crate::async_work;
use crate::call::Call;
use crate::database::Database;
use crate::error::{Failure, Fallible};
use crate::options::{Flags, read_options};
use crate::parts::Parts;
use crate::value::{Env, Value};

/// More keys than this are read on the pool in any case, so that JavaScript is not held up.
const MAX_KEYS_AT_ONCE: usize = 1024;

/// `get(database, key, flags, snapshot, slab, offset)`: the value or undefined, or a promise of it. A value that is to be a
/// buffer is stored into the slab at the offset, if it fits there, and then its length is returned.
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
            let open = database.opened();
            let read = move || open.db().get_pinned(&key, &options);
            async_work::queue(env, "terrace.get", database, read, move |env, found| match found {
                Some(value) => env.bytes(value.as_ref(), as_buffer),
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
            let open = database.opened();
            let read = move || open.db().get_with(&key, &options, |_value| ());
            async_work::queue(env, "terrace.has", database, read, |env, found| env.boolean(found.is_some()))
        }
        Err(error) => Err(error.into()),
    }
}

/// `getMany(database, flags, snapshot, ...keys)`: an array, or a promise of it, that begins with the buffer of all values
/// that are to be buffers; a value or undefined for each key follows.
pub fn get_many(call: &Call<'_>) -> Fallible<Value> {
    let as_buffers = Flags::of(call.env, call.argument(1))?.has(Flags::VALUES_AS_BUFFERS);
    many(call, "terrace.getMany", true, move |env, parts, found| match found {
        Some(value) => parts.push_bytes(value, as_buffers),
        None => env.undefined().map(|undefined| parts.push(undefined)),
    })
}

/// `hasMany(database, flags, snapshot, ...keys)`: an array of booleans, or a promise of it.
pub fn has_many(call: &Call<'_>) -> Fallible<Value> {
    many(call, "terrace.hasMany", false, |env, parts, found| {
        env.boolean(found.is_some()).map(|answer| parts.push(answer))
    })
}

fn many(
    call: &Call<'_>,
    name: &str,
    with_buffer: bool,
    add: impl Fn(Env, &mut Parts, Option<&[u8]>) -> Fallible<()> + Copy + 'static,
) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let mut options = read_options(call, 2, Flags::of(env, call.argument(1))?)?;
    // All keys are read from one state.
    options.snapshot.get_or_insert_with(|| database.db().snapshot());
    let keys = call.arguments_from(3)?;
    let begin = move |env: Env, count: usize| {
        let mut parts = Parts::new(env, count + 1);
        if with_buffer {
            parts.push_place_of_buffer()?;
        }
        Ok::<_, Failure>(parts)
    };
    let mut parts = begin(env, keys.len())?;
    if keys.len() <= MAX_KEYS_AT_ONCE && all_from_memory(env, database, &keys, &options, &mut parts, add)? {
        return parts.into_array(call.environment);
    }
    options.tier = ReadTier::Disk;
    let mut owned_keys = Vec::with_capacity(keys.len());
    for key in keys {
        let mut bytes = Vec::new();
        env.append_bytes(key, &mut bytes)?;
        owned_keys.push(bytes);
    }
    let open = database.opened();
    let environment = Rc::clone(call.environment);
    let read = move || {
        owned_keys.iter().map(|key| open.db().get_pinned(key, &options)).collect::<Result<Vec<_>, _>>()
    };
    async_work::queue(env, name, database, read, move |env, values| {
        let mut parts = begin(env, values.len())?;
        for found in &values {
            add(env, &mut parts, found.as_ref().map(Pinned::as_ref))?;
        }
        parts.into_array(&environment)
    })
}

/// Adds the answer for each key. Returns whether memory has them all.
fn all_from_memory(
    env: Env,
    database: &Database,
    keys: &[Value],
    options: &ReadOptions,
    parts: &mut Parts,
    add: impl Fn(Env, &mut Parts, Option<&[u8]>) -> Fallible<()>,
) -> Fallible<bool> {
    for key in keys {
        let found = env.with_bytes(*key, |key| {
            database.db().get_with(key, options, |value| add(env, parts, Some(value)))
        })?;
        match found {
            Ok(Some(added)) => added?,
            Ok(None) => add(env, parts, None)?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// What a read on another thread needs: the key, and the state at the time of the call.
fn prepare(
    call: &Call<'_>,
    database: &Database,
    mut options: ReadOptions,
) -> Result<(Vec<u8>, ReadOptions), Failure> {
    let mut key = Vec::new();
    call.env.append_bytes(call.argument(1), &mut key)?;
    options.tier = ReadTier::Disk;
    options.snapshot.get_or_insert_with(|| database.db().snapshot());
    Ok((key, options))
}
