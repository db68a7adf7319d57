//! Opening and closing, snapshots, and operations on a database as a whole.

use std::cell::RefCell;
use std::ffi::CStr;
use std::path::PathBuf;
use std::rc::Rc;

use terrace_engine::{Db, Error, ErrorKind, Options, RepairReport, Stats};

use crate::call::Call;
use crate::database::{Database, HeldSnapshot};
use crate::error::Fallible;
use crate::external;
use crate::open_database::OpenDatabase;
use crate::options;
use crate::value::{Env, Value};

/// `setHelpers(errorFactory, collector)`
pub fn set_helpers(call: &Call<'_>) -> Fallible<Value> {
    call.environment.set_helpers(call.env, call.argument(0), call.argument(1))?;
    call.env.undefined()
}

/// `open(path, options)`: a promise of a database.
pub fn open(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let directory = PathBuf::from(env.get_string(call.argument(0))?);
    let wanted = options::open_options(env, call.argument(1))?;
    let (deferred, promise) = env.promise()?;
    let environment = Rc::clone(call.environment);
    call.environment.open_or_close(
        env,
        move || OpenDatabase::open(&directory, wanted.options, wanted.multithreading),
        move |env, opened| {
            let held = opened.and_then(|opened| external::hold(env, Database::new(&environment, opened)));
            environment.settle(env, deferred, held);
        },
    );
    Ok(promise)
}

/// `close(database)`: a promise. Waits for operations in progress.
pub fn close(call: &Call<'_>) -> Fallible<Value> {
    call.held::<Rc<Database>>(0)?.close(call.env)
}

/// `snapshot(database)`
pub fn snapshot(call: &Call<'_>) -> Fallible<Value> {
    let snapshot = call.held::<Rc<Database>>(0)?.db().snapshot();
    external::hold(call.env, HeldSnapshot(RefCell::new(Some(snapshot))))
}

/// `snapshotClose(snapshot)`
pub fn snapshot_close(call: &Call<'_>) -> Fallible<Value> {
    let snapshot = call.held::<HeldSnapshot>(0)?.0.borrow_mut().take();
    drop(snapshot);
    call.env.undefined()
}

/// `approximateSize(database, start, end)`: a promise of a number of bytes.
pub fn approximate_size(call: &Call<'_>) -> Fallible<Value> {
    let database = call.held::<Rc<Database>>(0)?;
    let (start, end) = range(call)?;
    database.read(call.env, move |db| db.approximate_size(&start, &end), |env, size| env.number(size as f64))
}

/// `compactRange(database, start, end)`: a promise.
pub fn compact_range(call: &Call<'_>) -> Fallible<Value> {
    let database = call.held::<Rc<Database>>(0)?;
    let (start, end) = range(call)?;
    let open = database.opened();
    let (deferred, promise) = call.env.promise()?;
    let work = move || open.db().compact_range(Some(&start), Some(&end));
    database.run_apart(call.env, "compact-range", deferred, work, |env, ()| env.undefined());
    Ok(promise)
}

/// `checkpoint(database, path)`: a promise.
pub fn checkpoint(call: &Call<'_>) -> Fallible<Value> {
    let database = call.held::<Rc<Database>>(0)?;
    let directory = PathBuf::from(call.env.get_string(call.argument(1))?);
    let open = database.opened();
    let (deferred, promise) = call.env.promise()?;
    let work = move || open.db().checkpoint(&directory);
    database.run_apart(call.env, "checkpoint", deferred, work, |env, ()| env.undefined());
    Ok(promise)
}

/// `refresh(database)`: a promise.
pub fn refresh(call: &Call<'_>) -> Fallible<Value> {
    let database = call.held::<Rc<Database>>(0)?;
    let open = database.opened();
    let (deferred, promise) = call.env.promise()?;
    database.run_apart(call.env, "refresh", deferred, move || open.db().refresh(), |env, ()| env.undefined());
    Ok(promise)
}

/// `property(database, name)`: a string, or undefined if the name is not known.
pub fn property(call: &Call<'_>) -> Fallible<Value> {
    let name = call.env.get_string(call.argument(1))?;
    let found = call.held::<Rc<Database>>(0)?.db().property(&name);
    found.map_or_else(|| call.env.undefined(), |text| call.env.string(text.as_bytes()))
}

/// `stats(database)`: an object of numbers.
pub fn stats(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let Stats {
        levels,
        memtable_bytes,
        block_cache_bytes,
        sealed_memtables,
        compactions_running,
        last_sequence,
        left_out_log_bytes,
    } = call.held::<Rc<Database>>(0)?.db().stats();
    let array = env.array(levels.len())?;
    for (index, level) in levels.iter().enumerate() {
        let object = numbers(
            env,
            &[
                (c"files", level.files as f64),
                (c"sizeBytes", level.size_bytes as f64),
                (c"compactions", level.jobs as f64),
                (c"compactionMicros", level.micros as f64),
                (c"readBytes", level.read_bytes as f64),
                (c"writtenBytes", level.written_bytes as f64),
            ],
        )?;
        env.set_element(array, index, object)?;
    }
    let object = numbers(
        env,
        &[
            (c"memtableBytes", memtable_bytes as f64),
            (c"blockCacheBytes", block_cache_bytes as f64),
            (c"sealedMemtables", sealed_memtables as f64),
            (c"compactionsRunning", compactions_running as f64),
            (c"lastSequence", last_sequence as f64),
            (c"leftOutLogBytes", left_out_log_bytes as f64),
        ],
    )?;
    env.set_property(object, c"levels", array)?;
    Ok(object)
}

/// `leftOutLogs(database)`: an array of what the open left out of the logs.
pub fn left_out_logs(call: &Call<'_>) -> Fallible<Value> {
    let env = call.env;
    let database = call.held::<Rc<Database>>(0)?;
    let left_out = database.db().left_out_logs();
    let array = env.array(left_out.len())?;
    for (index, log) in left_out.iter().enumerate() {
        let object = numbers(env, &[(c"bytes", log.bytes as f64)])?;
        env.set_property(object, c"file", env.string(log.name.as_bytes())?)?;
        env.set_property(object, c"message", env.string(log.reason.to_string().as_bytes())?)?;
        env.set_element(array, index, object)?;
    }
    Ok(array)
}

/// `destroy(path)`: a promise.
pub fn destroy(call: &Call<'_>) -> Fallible<Value> {
    let work = |directory| Db::destroy(directory, &Options::default()).map(drop);
    apart_from_databases(call, "destroy", work, |env, ()| env.undefined())
}

/// `repair(path, options)`: a promise of what was done.
pub fn repair(call: &Call<'_>) -> Fallible<Value> {
    let options = options::open_options(call.env, call.argument(1))?.options;
    let work = move |directory: PathBuf| {
        // As in classic-level: if there is nothing to repair, it is an error of the system.
        Db::repair(&directory, &options).map_err(|error| match error.kind() {
            ErrorKind::NoDatabase => Error::at_path(ErrorKind::Io, &directory, error.to_string()),
            _ => error,
        })
    };
    apart_from_databases(call, "repair", work, |env, report: RepairReport| {
        let object = numbers(
            env,
            &[(c"entriesKept", report.entries_kept as f64), (c"lostBytes", report.lost_bytes() as f64)],
        )?;
        env.set_property(object, c"nothingLost", env.boolean(report.nothing_lost())?)?;
        env.set_property(object, c"text", env.string(report.to_string().as_bytes())?)?;
        Ok(object)
    })
}

fn apart_from_databases<T: Send + 'static>(
    call: &Call<'_>,
    name: &str,
    work: impl FnOnce(PathBuf) -> terrace_engine::Result<T> + Send + 'static,
    finish: impl FnOnce(Env, T) -> Fallible<Value> + 'static,
) -> Fallible<Value> {
    let directory = PathBuf::from(call.env.get_string(call.argument(0))?);
    let (deferred, promise) = call.env.promise()?;
    let environment = Rc::clone(call.environment);
    call.environment.run_apart(
        call.env,
        name,
        move || work(directory),
        move |env, result| {
            let result = result.and_then(|output| finish(env, output));
            environment.settle(env, deferred, result);
        },
    );
    Ok(promise)
}

fn range(call: &Call<'_>) -> Fallible<(Vec<u8>, Vec<u8>)> {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    call.env.append_bytes(call.argument(1), &mut start)?;
    call.env.append_bytes(call.argument(2), &mut end)?;
    Ok((start, end))
}

pub fn numbers(env: Env, properties: &[(&CStr, f64)]) -> Fallible<Value> {
    let object = env.object()?;
    for (name, number) in properties {
        env.set_property(object, name, env.number(*number)?)?;
    }
    Ok(object)
}
