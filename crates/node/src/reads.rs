//! Point reads. What memory can answer is answered at once, on the JavaScript thread; what needs the disk is read
//! on libuv's pool, from the state at the time of the call, and comes as a promise.

use std::rc::Rc;

use terrace_engine::{ErrorKind, Pinned, ReadOptions, ReadTier};

use crate::async_work;
use crate::call::Call;
use crate::database::Database;
use crate::error::{Failure, Fallible};
use crate::options::{Flags, read_options};
use crate::value::{Env, Value};

/// More keys than this are read on the pool in any case, so that JavaScript is not held up.
const MAX_KEYS_AT_ONCE: u32 = 256;

/// `get(database, key, flags, snapshot)`: the value or undefined, or a promise of it.
pub fn get(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let flags = Flags::of(env, call.argument(2))?;
    let options = read_options(call, 3, flags)?;
    let as_buffer = flags.has(Flags::VALUES_AS_BUFFERS);
    let found = env.with_bytes(call.argument(1), |key| {
        database.db().get_with(key, &options, |value| env.bytes(value, as_buffer))
    })?;
    match found {
        Ok(Some(value)) => value,
        Ok(None) => env.undefined(),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            let (key, options) = prepare(call, database, options)?;
            let open = database.opened();
            let read = move || open.db().get_pinned(&key, &options);
            async_work::queue(env, "terrace.get", database, read, move |env, found| {
                optional(env, found.as_ref().map(Pinned::as_ref), as_buffer)
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

/// `getMany(database, keys, flags, snapshot)`: an array with a value or undefined for each key, or a promise of it.
pub fn get_many(call: &Call<'_>) -> Fallible<Value> {
    let as_buffers = Flags::of(call.env, call.argument(2))?.has(Flags::VALUES_AS_BUFFERS);
    many(call, "terrace.getMany", move |env, found| optional(env, found, as_buffers))
}

/// `hasMany(database, keys, flags, snapshot)`: an array of booleans, or a promise of it.
pub fn has_many(call: &Call<'_>) -> Fallible<Value> {
    many(call, "terrace.hasMany", |env, found| env.boolean(found.is_some()))
}

fn many(
    call: &Call<'_>,
    name: &str,
    convert: impl Fn(Env, Option<&[u8]>) -> Fallible<Value> + Copy + 'static,
) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let mut options = read_options(call, 3, Flags::of(env, call.argument(2))?)?;
    // All keys are read from one state.
    options.snapshot.get_or_insert_with(|| database.db().snapshot());
    let keys = call.argument(1);
    let count = env.array_length(keys)?;
    if count <= MAX_KEYS_AT_ONCE
        && let Some(values) = many_from_memory(env, database, keys, &options, convert)?
    {
        return Ok(values);
    }
    options.tier = ReadTier::Disk;
    let mut owned_keys = Vec::with_capacity(count as usize);
    for index in 0..count {
        let mut key = Vec::new();
        env.append_bytes(env.element(keys, index)?, &mut key)?;
        owned_keys.push(key);
    }
    let open = database.opened();
    let read = move || {
        owned_keys.iter().map(|key| open.db().get_pinned(key, &options)).collect::<Result<Vec<_>, _>>()
    };
    async_work::queue(env, name, database, read, move |env, values| {
        let array = env.array(values.len())?;
        for (index, found) in values.iter().enumerate() {
            env.set_element(array, index, convert(env, found.as_ref().map(Pinned::as_ref))?)?;
        }
        Ok(array)
    })
}

/// The answer for all keys, if memory has it.
fn many_from_memory(
    env: Env,
    database: &Database,
    keys: Value,
    options: &ReadOptions,
    convert: impl Fn(Env, Option<&[u8]>) -> Fallible<Value>,
) -> Fallible<Option<Value>> {
    let count = env.array_length(keys)?;
    let array = env.array(count as usize)?;
    for index in 0..count {
        let key = env.element(keys, index)?;
        let found = env
            .with_bytes(key, |key| database.db().get_with(key, options, |value| convert(env, Some(value))))?;
        let value = match found {
            Ok(Some(value)) => value?,
            Ok(None) => convert(env, None)?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        env.set_element(array, index as usize, value)?;
    }
    Ok(Some(array))
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

fn optional(env: Env, found: Option<&[u8]>, as_buffer: bool) -> Fallible<Value> {
    found.map_or_else(|| env.undefined(), |value| env.bytes(value, as_buffer))
}
