//! Work on libuv's thread pool, for reads that may wait for the disk. Node waits for it before it tears an
//! environment down.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use napi_sys as sys;
use terrace_engine::Result;

use crate::database::Database;
use crate::error::{Failure, Fallible, check, from_panic};
use crate::value::{Deferred, Env, Value};

struct Work<T, R, F> {
    /// Used by the pool's thread, and by the JavaScript thread before and after.
    run: Option<R>,
    output: Option<Fallible<T>>,
    /// Only the JavaScript thread uses the rest.
    finish: Option<F>,
    deferred: Option<Deferred>,
    database: Rc<Database>,
    handle: sys::napi_async_work,
}

/// Calls `run` on a thread of the pool, then `finish` with its result on the JavaScript thread, and settles the
/// returned promise with the result of `finish`. The database does not close before that.
pub fn queue<T, R, F>(env: Env, name: &str, database: &Rc<Database>, run: R, finish: F) -> Fallible<Value>
where
    T: Send + 'static,
    R: FnOnce() -> Result<T> + Send + 'static,
    F: FnOnce(Env, T) -> Fallible<Value> + 'static,
{
    let name = env.string(name.as_bytes())?;
    let (deferred, promise) = env.promise()?;
    let work: *mut Work<T, R, F> = Box::into_raw(Box::new(Work {
        run: Some(run),
        output: None,
        finish: Some(finish),
        deferred: Some(deferred),
        database: Rc::clone(database),
        handle: ptr::null_mut(),
    }));
    // SAFETY: `work` is live until `complete` frees it. Both callbacks are made for its type. The resource object is
    // optional.
    let queued = unsafe {
        check(sys::napi_create_async_work(
            env.raw(),
            ptr::null_mut(),
            name.raw(),
            Some(execute::<T, R, F>),
            Some(complete::<T, R, F>),
            work.cast(),
            &mut (*work).handle,
        ))
        .and_then(|()| check(sys::napi_queue_async_work(env.raw(), (*work).handle)))
    };
    if let Err(failure) = queued {
        // SAFETY: it was not queued, so no callback will free it.
        drop(unsafe { Box::from_raw(work) });
        return Err(failure);
    }
    database.begin_operation();
    Ok(promise)
}

unsafe extern "C" fn execute<T, R, F>(_env: sys::napi_env, data: *mut c_void)
where
    T: Send,
    R: FnOnce() -> Result<T> + Send,
{
    let work = data.cast::<Work<T, R, F>>();
    // SAFETY: the JavaScript thread leaves the allocation alone until `complete`. Only `run` and `output`, which
    // may be sent between threads, are touched here.
    unsafe {
        if let Some(run) = (*work).run.take() {
            let result = catch_unwind(AssertUnwindSafe(run));
            (*work).output = Some(
                result
                    .map_err(|payload| from_panic(&*payload))
                    .and_then(|result| result.map_err(Failure::from)),
            );
        }
    }
}

unsafe extern "C" fn complete<T, R, F>(env: sys::napi_env, _status: sys::napi_status, data: *mut c_void)
where
    F: FnOnce(Env, T) -> Fallible<Value>,
{
    let env = Env::new(env);
    // SAFETY: `data` came from `Box::into_raw`, and `complete` runs once, after `execute` or instead of it.
    let mut work = unsafe { Box::from_raw(data.cast::<Work<T, R, F>>()) };
    // A panic must not reach Node.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // There is no output if the work was cancelled because the environment ends.
        if let (Some(output), Some(finish), Some(deferred)) =
            (work.output.take(), work.finish.take(), work.deferred.take())
        {
            let result = output.and_then(|output| finish(env, output));
            work.database.environment().settle(env, deferred, result);
        }
        work.database.end_operation(env);
    }));
    // SAFETY: the handle is that of this work, which has run.
    unsafe { sys::napi_delete_async_work(env.raw(), work.handle) };
}
