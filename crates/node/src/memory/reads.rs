//! Point reads of a database in memory.

use super::state::{HeldMemory, snapshot_of, with_state};
use crate::call::Call;
use crate::error::Fallible;
use crate::options::Flags;
use crate::parts::Parts;
use crate::value::{Env, Value};

/// `memoryGet(memory, key, flags, snapshot, slab, offset)`: as `get` of a database in a directory.
pub fn get(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let flags = Flags::of(env, call.argument(2))?;
    let slab = if flags.has(Flags::VALUES_AS_BUFFERS) {
        Some(env.slab(call.argument(4), env.get_u32(call.argument(5))? as usize)?)
    } else {
        None
    };
    find(call, flags, |value| match (value, &slab) {
        (None, _) => env.undefined(),
        (Some(value), None) => env.string(value),
        (Some(value), Some(slab)) if slab.store(value) => env.number(value.len() as f64),
        (Some(value), Some(_)) => env.buffer(value),
    })
}

/// `memoryHas(memory, key, flags, snapshot)`: a boolean.
pub fn has(call: &Call<'_>) -> Fallible<Value> {
    let flags = Flags::of(call.env, call.argument(2))?;
    find(call, flags, |value| call.env.boolean(value.is_some()))
}

/// Looks up the key in argument 1, in the snapshot in argument 3 if there is one.
#[inline]
fn find(
    call: &Call<'_>,
    flags: Flags,
    answer: impl FnOnce(Option<&[u8]>) -> Fallible<Value>,
) -> Fallible<Value> {
    let held = call.held::<HeldMemory>(0)?;
    with_state(held, snapshot_of(call, 3, flags)?, |map| {
        call.env.with_bytes(call.argument(1), |key| answer(map.get(key)))?
    })
}

/// `memoryGetMany(memory, flags, snapshot, ...keys)`: an array, as `getMany` of a database in a directory makes it.
pub fn get_many(call: &Call<'_>) -> Fallible<Value> {
    let as_buffers = Flags::of(call.env, call.argument(1))?.has(Flags::VALUES_AS_BUFFERS);
    many(call, true, |env, parts, found| match found {
        Some(value) => parts.push_bytes(value, as_buffers),
        None => env.undefined().map(|undefined| parts.push(undefined)),
    })
}

/// `memoryHasMany(memory, flags, snapshot, ...keys)`: an array of booleans.
pub fn has_many(call: &Call<'_>) -> Fallible<Value> {
    many(call, false, |env, parts, found| env.boolean(found.is_some()).map(|answer| parts.push(answer)))
}

fn many(
    call: &Call<'_>,
    with_buffer: bool,
    add: impl Fn(Env, &mut Parts, Option<&[u8]>) -> Fallible<()>,
) -> Fallible<Value> {
    let env = call.env;
    let held = call.held::<HeldMemory>(0)?;
    let flags = Flags::of(env, call.argument(1))?;
    let keys = call.arguments_from(3)?;
    let mut parts = Parts::new(env, keys.len() + 1);
    if with_buffer {
        parts.push_place_of_buffer()?;
    }
    with_state(held, snapshot_of(call, 2, flags)?, |map| {
        keys.iter().try_for_each(|key| env.with_bytes(*key, |key| add(env, &mut parts, map.get(key)))?)
    })?;
    parts.into_array(call.environment)
}
