//! Writes to a database in memory. Each has been carried out when its function returns.

use std::cell::RefCell;

use terrace_memory::Map;

use super::condition::{self, Condition};
use super::cursor::borrowed;
use super::operations::{self, Operations};
use super::state::{HeldMemory, snapshot_of, with_state};
use crate::call::Call;
use crate::conditions;
use crate::error::Fallible;
use crate::external::{self, Held};
use crate::options::{self, Flags};
use crate::value::{Env, Value};

/// The object that `memoryBatch` returns to JavaScript.
#[derive(Default)]
struct HeldMemoryBatch {
    operations: RefCell<Operations>,
    conditions: RefCell<Vec<Condition>>,
}

impl Held for HeldMemoryBatch {
    const TAG: u64 = 0x7465_7272_6163_6507;
}

/// `memoryPut(memory, key, value)`
pub fn put(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    change(call, |map, limit| {
        env.with_bytes(call.argument(1), |key| {
            env.with_bytes(call.argument(2), |value| operations::put(map, limit, key, value))?
        })?
    })
}

/// `memoryDel(memory, key)`
pub fn del(call: &Call<'_>) -> Fallible<Value> {
    change(call, |map, _limit| {
        call.env.with_bytes(call.argument(1), |key| {
            map.remove(key);
        })
    })
}

/// `memoryWrite(memory, ...operations)`, where operations are keys and values alternating, with null for the value of a
/// key to delete.
pub fn write(call: &Call<'_>) -> Fallible<Value> {
    let mut operations = Operations::default();
    operations.append(call.env, &call.arguments_from(1)?)?;
    change(call, |map, limit| operations.apply(map, limit))
}

/// `memoryWriteIf(memory, count, ...conditions, ...operations)`, where `count` is that of the conditions, which are passed as in
/// `memoryBatchIf`, and operations as in `memoryWrite`.
pub fn write_if(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let count = env.get_u32(call.argument(1))?;
    let arguments = call.arguments_from(2)?;
    let (passed, changes) = conditions::split(&arguments, count)?;
    let mut list = Vec::with_capacity(count as usize);
    add_conditions(env, passed, &mut list)?;
    let mut operations = Operations::default();
    operations.append(env, changes)?;
    change(call, |map, limit| {
        condition::check(&list, map)?;
        operations.apply(map, limit)
    })
}

fn add_conditions(env: Env, arguments: &[Value], list: &mut Vec<Condition>) -> Fallible<()> {
    conditions::each(env, arguments, |passed| {
        list.push(Condition::new(env, passed)?);
        Ok(())
    })
}

/// `memoryClear(memory, range, flags, limit, snapshot)`. A negative limit means no limit.
pub fn clear(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let flags = Flags::of(env, call.argument(2))?;
    let limit = env.get_f64(call.argument(3))?;
    let limit = if limit < 0.0 { usize::MAX } else { limit as usize };
    let bounds = options::bounds(env, call.argument(1))?;
    let range = borrowed(&bounds);
    let reverse = flags.has(Flags::REVERSE);
    let Some(snapshot) = snapshot_of(call, 4, flags)? else {
        return change(call, |map, _limit| {
            map.remove_range(range, reverse, limit);
            Ok(())
        });
    };
    let shown = with_state(call.held(0)?, Some(snapshot), |map| Ok(map.clone()))?;
    change(call, |map, _limit| {
        let mut cursor = shown.cursor();
        cursor.seek_within(range, reverse);
        let mut remaining = limit;
        while remaining > 0
            && let Some((key, _)) = cursor.entry()
            && terrace_memory::is_within(key, range)
        {
            map.remove(key);
            cursor.step(reverse);
            remaining -= 1;
        }
        Ok(())
    })
}

/// `memoryBatch()`
pub fn batch(call: &Call<'_>) -> Fallible<Value> {
    external::hold(call.env, HeldMemoryBatch::default())
}

/// `memoryBatchPut(batch, key, value)`
pub fn batch_put(call: &Call<'_>) -> Fallible<Value> {
    change_batch(call, |batch| batch.put(call.env, call.argument(1), call.argument(2)))
}

/// `memoryBatchDel(batch, key)`
pub fn batch_del(call: &Call<'_>) -> Fallible<Value> {
    change_batch(call, |batch| batch.del(call.env, call.argument(1)))
}

/// `memoryBatchAppend(batch, ...operations)`, with operations as in `memoryWrite`.
pub fn batch_append(call: &Call<'_>) -> Fallible<Value> {
    change_batch(call, |batch| batch.append(call.env, &call.arguments_from(1)?))
}

/// `memoryBatchClear(batch)`: forgets its operations.
pub fn batch_clear(call: &Call<'_>) -> Fallible<Value> {
    change_batch(call, |batch| {
        *batch = Operations::default();
        Ok(())
    })
}

/// `memoryBatchIf(batch, ...conditions)`: adds conditions, each a kind and two arguments. `memoryBatchClear` keeps them.
pub fn batch_if(call: &Call<'_>) -> Fallible<Value> {
    let mut list = call.held::<HeldMemoryBatch>(0)?.conditions.borrow_mut();
    add_conditions(call.env, &call.arguments_from(1)?, &mut list)?;
    call.env.undefined()
}

/// `memoryBatchWrite(memory, batch)`
pub fn batch_write(call: &Call<'_>) -> Fallible<Value> {
    let batch = call.held::<HeldMemoryBatch>(1)?;
    change(call, |map, limit| {
        condition::check(&batch.conditions.take(), map)?;
        batch.operations.borrow().apply(map, limit)
    })
}

fn change_batch(call: &Call<'_>, change: impl FnOnce(&mut Operations) -> Fallible<()>) -> Fallible<Value> {
    change(&mut call.held::<HeldMemoryBatch>(0)?.operations.borrow_mut())?;
    call.env.undefined()
}

/// Changes the map of the first argument, within its limit.
#[inline]
fn change(call: &Call<'_>, change: impl FnOnce(&mut Map, usize) -> Fallible<()>) -> Fallible<Value> {
    let held = call.held::<HeldMemory>(0)?;
    let mut map = held.map.borrow_mut();
    change(&mut map, held.limit_bytes.get())?;
    held.report(call.env, &map);
    call.env.undefined()
}
