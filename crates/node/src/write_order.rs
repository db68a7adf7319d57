//! Carries out a database's writes in the order of their calls. A write that need not wait is done at once, on the JavaScript
//! thread. Once a write has to wait, later ones wait for it in the [`write_queue`](crate::write_queue).

use std::mem;
use std::rc::Rc;

use terrace_engine::{Condition, WriteBatch, WriteDone, WriteOptions};

use crate::clear::Clear;
use crate::completions::Outcome;
use crate::database::Database;
use crate::error::{Failure, Fallible};
use crate::value::{Deferred, Env, Value};
use crate::write_queue::Operation;

/// The commit thread writes larger batches, so that they do not hold JavaScript up.
const MAX_BYTES_AT_ONCE: usize = 256 << 10;

/// How a write is done.
#[derive(Clone, Copy)]
pub struct WriteMode {
    pub options: WriteOptions,
    /// On the JavaScript thread, however long it has to wait.
    pub blocking: bool,
}

/// Writes `batch`, or takes it if it has to wait. Returns undefined if it is written, otherwise a promise.
#[inline]
pub fn write(
    env: Env,
    database: &Rc<Database>,
    batch: &mut WriteBatch,
    WriteMode { options, blocking }: WriteMode,
) -> Fallible<Value> {
    if blocking {
        database.environment().deliver_until(env, || database.write_queue().borrow().is_empty());
    }
    if database.write_queue().borrow().is_empty()
        && (blocking || batch.approximate_size_bytes() <= MAX_BYTES_AT_ONCE)
        && database.db().try_write(batch, &options)?
    {
        return env.undefined();
    }
    if blocking {
        database.db().write(mem::replace(batch, WriteBatch::new()), &options)?;
        return env.undefined();
    }
    let (deferred, promise) = env.promise()?;
    let batch = mem::replace(batch, WriteBatch::new());
    enqueue(env, database, Operation::Write { batch, conditions: None, options, deferred });
    Ok(promise)
}

/// Writes `batch` if the conditions hold, or takes it if it has to wait. Returns undefined if it is written, otherwise a promise.
pub fn write_if(
    env: Env,
    database: &Rc<Database>,
    batch: &mut WriteBatch,
    conditions: Vec<Condition>,
    WriteMode { options, blocking }: WriteMode,
) -> Fallible<Value> {
    if blocking {
        database.environment().deliver_until(env, || database.write_queue().borrow().is_empty());
        database.db().write_if(mem::replace(batch, WriteBatch::new()), &conditions, &options)?;
        return env.undefined();
    }
    if database.write_queue().borrow().is_empty()
        && batch.approximate_size_bytes() <= MAX_BYTES_AT_ONCE
        && database.db().try_write_if(batch, &conditions, &options)?
    {
        return env.undefined();
    }
    let (deferred, promise) = env.promise()?;
    let batch = mem::replace(batch, WriteBatch::new());
    let conditions = Some(conditions);
    enqueue(env, database, Operation::Write { batch, conditions, options, deferred });
    Ok(promise)
}

/// Deletes a range. Returns a promise.
pub fn clear(env: Env, database: &Rc<Database>, clear: Clear) -> Fallible<Value> {
    let (deferred, promise) = env.promise()?;
    enqueue(env, database, Operation::Clear { clear, deferred });
    Ok(promise)
}

fn enqueue(env: Env, database: &Rc<Database>, operation: Operation) {
    database.begin_operation();
    database.write_queue().borrow_mut().push(operation);
    advance(env, database);
}

/// Begins every operation that may begin.
fn advance(env: Env, database: &Rc<Database>) {
    loop {
        let next = database.write_queue().borrow_mut().begin_next();
        match next {
            None => break,
            Some(Operation::Write { batch, conditions, options, deferred }) => {
                let done = when_written(env, database, deferred);
                match conditions {
                    None => database.db().submit(batch, options, done),
                    Some(conditions) => database.db().submit_if(batch, conditions, options, done),
                }
            }
            Some(Operation::Clear { clear, deferred }) => begin_clear(env, database, clear, deferred),
        }
    }
}

/// Settles the promise of a submitted write.
fn when_written(env: Env, database: &Rc<Database>, deferred: Deferred) -> WriteDone {
    let waiting = Rc::clone(database);
    let ticket = database.environment().expect(env, move |env, outcome| {
        let result = match outcome {
            Outcome::Write(result) => result.map_err(Failure::from),
            Outcome::Apart(_) => Err(Failure::Argument("result of another operation")),
        };
        waiting.write_queue().borrow_mut().end_write();
        end(env, &waiting, deferred, result);
    });
    let completions = database.environment().completions();
    Box::new(move |result| completions.push(ticket, Outcome::Write(result)))
}

fn begin_clear(env: Env, database: &Rc<Database>, clear: Clear, deferred: Deferred) {
    let waiting = Rc::clone(database);
    let open = database.opened();
    database.environment().run_apart(
        env,
        "clear",
        move || clear.run(open.db()),
        move |env, result| {
            waiting.write_queue().borrow_mut().end_clear();
            end(env, &waiting, deferred, result);
        },
    );
}

fn end(env: Env, database: &Rc<Database>, deferred: Deferred, result: Fallible<()>) {
    let result = result.and_then(|()| env.undefined());
    database.environment().settle(env, deferred, result);
    advance(env, database);
    database.end_operation(env);
}
