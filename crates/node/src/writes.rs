//! Writes: single ones, arrays of operations, and batches that JavaScript builds step by step. They fill a
//! [`WriteBatch`], which goes to [`write_order`](crate::write_order).

use std::cell::RefCell;
use std::rc::Rc;

use terrace_engine::{Condition, Error, WriteBatch, WriteOptions};

use crate::call::Call;
use crate::clear::Clear;
use crate::conditions::{self, Passed};
use crate::database::{Database, HeldSnapshot};
use crate::error::{Failure, Fallible};
use crate::external::{self, Held};
use crate::options::{self, Flags};
use crate::value::{Env, Value};
use crate::write_order::{self, WriteMode};

/// The object that `batch` returns to JavaScript. Empty once it is written or closed.
pub struct HeldBatch {
    database: Rc<Database>,
    batch: RefCell<Option<WriteBatch>>,
    conditions: RefCell<Vec<Condition>>,
}

impl Held for HeldBatch {
    const TAG: u64 = 0x7465_7272_6163_6504;
}

/// `put(database, key, value, flags)`: undefined if it is written, otherwise a promise.
pub fn put(call: &Call<'_>) -> Fallible<Value> {
    let database = call.held::<Rc<Database>>(0)?;
    let mode = mode(call.env, call.argument(3))?;
    database.with_scratch(|batch| {
        append_put(call.env, batch, call.argument(1), call.argument(2))?;
        write_order::write(call.env, database, batch, mode)
    })
}

/// `del(database, key, flags)`: undefined if it is written, otherwise a promise.
pub fn del(call: &Call<'_>) -> Fallible<Value> {
    let database = call.held::<Rc<Database>>(0)?;
    let mode = mode(call.env, call.argument(2))?;
    database.with_scratch(|batch| {
        append_del(call.env, batch, call.argument(1))?;
        write_order::write(call.env, database, batch, mode)
    })
}

/// `write(database, flags, ...operations)`, where operations are keys and values alternating, with null for the value
/// of a key to delete: undefined if it is written, otherwise a promise.
pub fn write(call: &Call<'_>) -> Fallible<Value> {
    let database = call.held::<Rc<Database>>(0)?;
    let mode = mode(call.env, call.argument(1))?;
    database.with_scratch(|batch| {
        append_all(call.env, batch, &call.arguments_from(2)?)?;
        write_order::write(call.env, database, batch, mode)
    })
}

/// `writeIf(database, flags, count, ...conditions, ...operations)`, where `count` is that of the conditions, which are passed as in
/// `batchIf`, and operations as in `write`: undefined if it is written, otherwise a promise.
pub fn write_if(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let mode = mode(env, call.argument(1))?;
    let count = env.get_u32(call.argument(2))?;
    let arguments = call.arguments_from(3)?;
    let (passed, operations) = conditions::split(&arguments, count)?;
    let mut list = Vec::with_capacity(count as usize);
    add_conditions(env, passed, &mut list)?;
    database.with_scratch(|batch| {
        append_all(env, batch, operations)?;
        write_order::write_if(env, database, batch, list, mode)
    })
}

fn add_conditions(env: Env, arguments: &[Value], list: &mut Vec<Condition>) -> Fallible<()> {
    conditions::each(env, arguments, |passed| {
        list.push(match passed {
            Passed::Absent(key) => Condition::Absent(key),
            Passed::Present(key) => Condition::Present(key),
            Passed::Equals(key, value) => Condition::Equals(key, value),
            Passed::Version(key, version) => Condition::Version(key, version),
            Passed::Unchanged(range, snapshot) => {
                let held = external::held::<HeldSnapshot>(env, snapshot)?.0.borrow();
                let snapshot = held.clone().ok_or(Failure::Argument("the snapshot is closed"))?;
                Condition::UnchangedSince(options::bounds(env, range)?, snapshot)
            }
            Passed::UnchangedSinceVersion(range, version) => {
                Condition::UnchangedSinceVersion(options::bounds(env, range)?, version)
            }
        });
        Ok(())
    })
}

fn append_all(env: Env, batch: &mut WriteBatch, operations: &[Value]) -> Fallible<()> {
    for operation in operations.chunks_exact(2) {
        let [key, value] = [operation[0], operation[1]];
        if env.is_null(value)? {
            append_del(env, batch, key)?;
        } else {
            append_put(env, batch, key, value)?;
        }
    }
    Ok(())
}

/// `clear(database, range, reverse, limit, snapshot)`: a promise. A negative limit means no limit.
pub fn clear(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let flags = Flags::of(env, call.argument(2))?;
    let limit = env.get_f64(call.argument(3))?;
    let clear = Clear {
        options: terrace_engine::IterOptions {
            read: options::read_options(call, 4, flags)?,
            bounds: options::bounds(env, call.argument(1))?,
        },
        reverse: flags.has(Flags::REVERSE),
        limit: if limit < 0.0 { u64::MAX } else { limit as u64 },
    };
    write_order::clear(env, database, clear)
}

/// `batch(database)`
pub fn batch(call: &Call<'_>) -> Fallible<Value> {
    let database = Rc::clone(call.held::<Rc<Database>>(0)?);
    let batch = RefCell::new(Some(WriteBatch::new()));
    external::hold(call.env, HeldBatch { database, batch, conditions: RefCell::default() })
}

/// `batchPut(batch, key, value)`
pub fn batch_put(call: &Call<'_>) -> Fallible<Value> {
    change(call, |batch| append_put(call.env, batch, call.argument(1), call.argument(2)))
}

/// `batchDel(batch, key)`
pub fn batch_del(call: &Call<'_>) -> Fallible<Value> {
    change(call, |batch| append_del(call.env, batch, call.argument(1)))
}

/// `batchAppend(batch, ...operations)`, with operations as in `write`.
pub fn batch_append(call: &Call<'_>) -> Fallible<Value> {
    change(call, |batch| append_all(call.env, batch, &call.arguments_from(1)?))
}

/// `batchClear(batch)`
pub fn batch_clear(call: &Call<'_>) -> Fallible<Value> {
    change(call, |batch| {
        batch.clear();
        Ok(())
    })
}

/// `batchIf(batch, ...conditions)`: adds conditions, each a kind and two arguments. `batchClear` keeps them.
pub fn batch_if(call: &Call<'_>) -> Fallible<Value> {
    let mut list = call.held::<HeldBatch>(0)?.conditions.borrow_mut();
    add_conditions(call.env, &call.arguments_from(1)?, &mut list)?;
    call.env.undefined()
}

/// `batchWrite(batch, flags)`: undefined if it is written, otherwise a promise.
pub fn batch_write(call: &Call<'_>) -> Fallible<Value> {
    let held = call.held::<HeldBatch>(0)?;
    let mode = mode(call.env, call.argument(1))?;
    let mut batch = held.batch.borrow_mut().take().ok_or(CLOSED)?;
    let conditions = held.conditions.take();
    if conditions.is_empty() {
        write_order::write(call.env, &held.database, &mut batch, mode)
    } else {
        write_order::write_if(call.env, &held.database, &mut batch, conditions, mode)
    }
}

/// `batchClose(batch)`: releases its memory.
pub fn batch_close(call: &Call<'_>) -> Fallible<Value> {
    *call.held::<HeldBatch>(0)?.batch.borrow_mut() = None;
    call.env.undefined()
}

const CLOSED: Failure = Failure::Argument("the batch is closed");

fn change(call: &Call<'_>, change: impl FnOnce(&mut WriteBatch) -> Fallible<()>) -> Fallible<Value> {
    let mut batch = call.held::<HeldBatch>(0)?.batch.borrow_mut();
    change(batch.as_mut().ok_or(CLOSED)?)?;
    call.env.undefined()
}

fn mode(env: Env, flags: Value) -> Fallible<WriteMode> {
    let flags = Flags::of(env, flags)?;
    Ok(WriteMode {
        options: WriteOptions { sync: flags.has(Flags::SYNC) },
        blocking: flags.has(Flags::BLOCKING),
    })
}

#[inline]
fn append_put(env: Env, batch: &mut WriteBatch, key: Value, value: Value) -> Fallible<()> {
    let appended = env.with_bytes(key, |key| env.with_bytes(value, |value| batch.put(key, value)))??;
    appended.map_err(|error| Failure::Engine(Error::refused(error)))
}

#[inline]
fn append_del(env: Env, batch: &mut WriteBatch, key: Value) -> Fallible<()> {
    let appended = env.with_bytes(key, |key| batch.delete(key))?;
    appended.map_err(|error| Failure::Engine(Error::refused(error)))
}
