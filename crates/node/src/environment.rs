//! The addon's state for each environment (the main thread and each worker): the error factory, the operations that
//! JavaScript waits for, and the databases to close when the environment ends.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};

use napi_sys as sys;
use parking_lot::Mutex;
use terrace_engine::env::default_env;

use crate::completions::{Completions, Outcome, Ticket};
use crate::error::{Failure, Fallible, check, from_panic};
use crate::open_database::{self, OpenDatabase};
use crate::threads::{Job, Threads};
use crate::value::{Deferred, Env, Value};

/// Half the processors open and close databases, at most this many.
const MOST_OPENERS: usize = 4;

/// As many reads wait for the disk at once. Later ones have asked the disk already.
const READERS: usize = 4;

type Continuation = Box<dyn FnOnce(Env, Outcome)>;

/// The addon's state in one environment. It stays on that environment's thread.
pub struct Environment {
    completions: Arc<Completions>,
    threadsafe_function: Cell<sys::napi_threadsafe_function>,
    waiting: RefCell<HashMap<Ticket, Continuation>>,
    next_ticket: Cell<Ticket>,
    error_factory: Cell<sys::napi_ref>,
    collector: Cell<sys::napi_ref>,
    databases: RefCell<Vec<Weak<OpenDatabase>>>,
    /// Threads of [`run_apart`](Self::run_apart).
    threads: RefCell<Vec<JoinHandle<()>>>,
    openers: Threads,
    readers: Threads,
}

impl Environment {
    /// Sets up the state of `env`, and the work to do when it ends. Returns the pointer with which functions are
    /// registered; it is valid as long as JavaScript can call them.
    pub fn create(env: Env) -> Fallible<*mut c_void> {
        let name = env.string(b"terrace")?;
        let environment = Rc::new(Self {
            completions: Arc::new(Completions::new()),
            threadsafe_function: Cell::new(ptr::null_mut()),
            waiting: RefCell::default(),
            next_ticket: Cell::new(0),
            error_factory: Cell::new(ptr::null_mut()),
            collector: Cell::new(ptr::null_mut()),
            databases: RefCell::default(),
            threads: RefCell::default(),
            openers: Threads::new("terrace-open", most_openers()),
            readers: Threads::new("terrace-read", READERS),
        });
        let slot = Box::into_raw(Box::new(Rc::clone(&environment)));
        let mut function = ptr::null_mut();
        // SAFETY: the context is `slot`, which is freed with the instance data, after the last call of `deliver`.
        check(unsafe {
            sys::napi_create_threadsafe_function(
                env.raw(),
                ptr::null_mut(),
                ptr::null_mut(),
                name.raw(),
                0,
                1,
                ptr::null_mut(),
                None,
                slot.cast(),
                Some(deliver),
                &mut function,
            )
        })?;
        environment.threadsafe_function.set(function);
        environment.completions.begin(function);
        // SAFETY: on the thread of `env`. An idle database must not keep the process alive. The hook runs before
        // the threadsafe function's own, which was added earlier, and the instance data goes after both.
        unsafe {
            check(sys::napi_unref_threadsafe_function(env.raw(), function))?;
            check(sys::napi_add_env_cleanup_hook(env.raw(), Some(clean_up), slot.cast()))?;
            check(sys::napi_set_instance_data(env.raw(), slot.cast(), Some(free), ptr::null_mut()))?;
        }
        Ok(slot.cast())
    }

    /// Keeps the JavaScript functions that make errors and arrays.
    pub fn set_helpers(&self, env: Env, error_factory: Value, collector: Value) -> Fallible<()> {
        keep(env, &self.error_factory, error_factory)?;
        keep(env, &self.collector, collector)
    }

    /// The function that makes errors, once it is set.
    pub fn error_factory(&self, env: Env) -> Option<Value> {
        kept(env, &self.error_factory)
    }

    /// The function that makes an array of its arguments, once it is set.
    pub fn collector(&self, env: Env) -> Option<Value> {
        kept(env, &self.collector)
    }

    /// Makes sure that `database` is closed when the environment ends.
    pub fn watch(&self, database: &Arc<OpenDatabase>) {
        let mut databases = self.databases.borrow_mut();
        databases.retain(|watched| watched.strong_count() > 0);
        databases.push(Arc::downgrade(database));
    }

    /// Where other threads hand in results.
    pub fn completions(&self) -> Arc<Completions> {
        Arc::clone(&self.completions)
    }

    /// Registers `continuation`, to be called with the outcome that another thread will hand in for the returned
    /// ticket. The process stays alive until then.
    pub fn expect(&self, env: Env, continuation: impl FnOnce(Env, Outcome) + 'static) -> Ticket {
        let ticket = self.next_ticket.get();
        self.next_ticket.set(ticket.wrapping_add(1));
        let mut waiting = self.waiting.borrow_mut();
        if waiting.is_empty() {
            // SAFETY: on the thread of `env`; the function lives as long as JavaScript runs.
            unsafe { sys::napi_ref_threadsafe_function(env.raw(), self.threadsafe_function.get()) };
        }
        waiting.insert(ticket, Box::new(continuation));
        ticket
    }

    /// Calls the continuations of all outcomes that were handed in.
    fn deliver(&self, env: Env) {
        for (ticket, outcome) in self.completions.take() {
            let continuation = {
                let mut waiting = self.waiting.borrow_mut();
                let continuation = waiting.remove(&ticket);
                if waiting.is_empty() {
                    // SAFETY: as in `expect`.
                    unsafe { sys::napi_unref_threadsafe_function(env.raw(), self.threadsafe_function.get()) };
                }
                continuation
            };
            if let Some(continuation) = continuation {
                env.scoped(|| continuation(env, outcome));
            }
        }
    }

    /// Waits on the JavaScript thread for operations to end until `is_done` holds. An operation must be in progress
    /// as long as it does not hold.
    pub fn deliver_until(&self, env: Env, is_done: impl Fn() -> bool) {
        while !is_done() {
            self.completions.wait();
            self.deliver(env);
        }
    }

    /// Runs `work` on a separate thread, then `then` with its result on the JavaScript thread. If the system refuses to
    /// start a thread, `work` runs here: JavaScript has to wait, but a database can be closed.
    pub fn run_apart<T: Send + 'static>(
        &self,
        env: Env,
        name: &str,
        work: impl FnOnce() -> terrace_engine::Result<T> + Send + 'static,
        then: impl FnOnce(Env, Fallible<T>) + 'static,
    ) {
        // Shared with the thread, so that it can be taken back if there is none.
        let job = Arc::new(Mutex::new(Some(self.job(env, work, then))));
        let run = |job: &Mutex<Option<Job>>| job.lock().take().into_iter().for_each(|job| job());
        let on_thread = {
            let job = Arc::clone(&job);
            move || {
                open_database::allow_waiting();
                run(&job);
            }
        };
        match thread::Builder::new().name(format!("terrace-{name}")).spawn(on_thread) {
            Ok(thread) => {
                let mut threads = self.threads.borrow_mut();
                threads.retain(|thread| !thread.is_finished());
                threads.push(thread);
            }
            Err(_) => run(&job),
        }
    }

    /// Like [`run_apart`](Self::run_apart), for opening and closing databases, on threads that are few and may be there
    /// already.
    pub fn open_or_close<T: Send + 'static>(
        &self,
        env: Env,
        work: impl FnOnce() -> terrace_engine::Result<T> + Send + 'static,
        then: impl FnOnce(Env, Fallible<T>) + 'static,
    ) {
        self.openers.run(self.job(env, work, then));
    }

    /// Like [`run_apart`](Self::run_apart), for reads that may wait for the disk, on a few threads dedicated to them.
    pub fn read<T: Send + 'static>(
        &self,
        env: Env,
        work: impl FnOnce() -> terrace_engine::Result<T> + Send + 'static,
        then: impl FnOnce(Env, Fallible<T>) + 'static,
    ) {
        self.readers.run(self.job(env, work, then));
    }

    /// `work`, to be run on another thread, which hands in its result for `then` on the JavaScript thread.
    fn job<T: Send + 'static>(
        &self,
        env: Env,
        work: impl FnOnce() -> terrace_engine::Result<T> + Send + 'static,
        then: impl FnOnce(Env, Fallible<T>) + 'static,
    ) -> Job {
        let ticket = self.expect(env, move |env, outcome| {
            let result = match outcome {
                Outcome::Apart(result) => result.downcast::<Fallible<T>>().ok(),
                Outcome::Write(_) => None,
            };
            then(env, result.map_or(Err(Failure::Argument("result of another operation")), |result| *result));
        });
        let completions = self.completions();
        Box::new(move || {
            let result: Fallible<T> = catch_unwind(AssertUnwindSafe(work))
                .map_err(|payload| from_panic(&*payload))
                .and_then(|result: terrace_engine::Result<T>| result.map_err(Failure::from));
            completions.push(ticket, Outcome::Apart(Box::new(result) as Box<dyn Any + Send>));
        })
    }

    /// Resolves or rejects a promise with the result of an operation.
    pub fn settle(&self, env: Env, deferred: Deferred, result: Fallible<Value>) {
        match result {
            Ok(value) => env.resolve(deferred, value),
            Err(failure) => {
                // This fails only while the environment is torn down, when the promise has no listener.
                if let Ok(error) = failure.into_value(env, self.error_factory(env)) {
                    env.reject(deferred, error);
                }
            }
        }
    }
}

fn most_openers() -> usize {
    (default_env().available_parallelism() / 2).clamp(1, MOST_OPENERS)
}

/// Keeps `value` in `place`, replacing what was there.
fn keep(env: Env, place: &Cell<sys::napi_ref>, value: Value) -> Fallible<()> {
    let mut reference = ptr::null_mut();
    // SAFETY: the value belongs to the running callback.
    check(unsafe { sys::napi_create_reference(env.raw(), value.raw(), 1, &mut reference) })?;
    let previous = place.replace(reference);
    if !previous.is_null() {
        // SAFETY: it was created in this environment and is no longer reachable.
        check(unsafe { sys::napi_delete_reference(env.raw(), previous) })?;
    }
    Ok(())
}

/// The value kept in `place`, if any.
fn kept(env: Env, place: &Cell<sys::napi_ref>) -> Option<Value> {
    let reference = place.get();
    if reference.is_null() {
        return None;
    }
    // SAFETY: the reference is strong and of this environment.
    env.make(|result| unsafe { sys::napi_get_reference_value(env.raw(), reference, result) }).ok()
}

/// A function of the addon, as Node calls it.
pub type Function = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

/// Creates the function `name` of the addon. `data` is what [`Environment::create`] returned.
pub fn define(
    env: Env,
    exports: Value,
    name: &'static str,
    function: Function,
    data: *mut c_void,
) -> Fallible<()> {
    let text = name.as_ptr().cast::<c_char>();
    // SAFETY: the name has the length given; `data` is valid whenever JavaScript can call the function.
    let made = env.make(|result| unsafe {
        sys::napi_create_function(env.raw(), text, name.len() as isize, Some(function), data, result)
    })?;
    let key = env.string(name.as_bytes())?;
    // SAFETY: all values belong to the running callback.
    check(unsafe { sys::napi_set_property(env.raw(), exports.raw(), key.raw(), made.raw()) })
}

/// The environment that a pointer from [`Environment::create`] points to.
///
/// # Safety
///
/// The pointer must come from there, and its environment must not have ended.
pub unsafe fn environment_at<'a>(slot: *mut c_void) -> &'a Rc<Environment> {
    // SAFETY: the caller guarantees it.
    unsafe { &*slot.cast::<Rc<Environment>>() }
}

/// Runs on the JavaScript thread after another thread has handed in results.
unsafe extern "C" fn deliver(
    env: sys::napi_env,
    _callback: sys::napi_value,
    slot: *mut c_void,
    _data: *mut c_void,
) {
    if env.is_null() {
        // The environment is being torn down.
        return;
    }
    // SAFETY: the environment has not ended, because JavaScript can still be called.
    let environment = unsafe { environment_at(slot) };
    // A panic must not reach Node.
    let _ = catch_unwind(AssertUnwindSafe(|| environment.deliver(Env::new(env))));
}

/// Runs when the environment ends: the process exits, or a worker was terminated. Waits for running reads. Closes the
/// databases that JavaScript left open, so that their files are in order and their locks are free.
unsafe extern "C" fn clean_up(slot: *mut c_void) {
    // SAFETY: Node runs the hook once, before it frees the instance data.
    let environment = unsafe { environment_at(slot) };
    environment.completions.end();
    environment.readers.end();
    let databases = environment.databases.take();
    let _ = catch_unwind(AssertUnwindSafe(|| {
        for database in databases.iter().filter_map(Weak::upgrade) {
            // The error has no caller to go to; acknowledged writes are in the log.
            let _ = database.close();
        }
        // Operations on these databases now fail. A database that is still opening is closed by its thread; one that has
        // opened, of which JavaScript was not told, was dropped with the results above.
        for thread in environment.threads.take() {
            let _ = thread.join();
        }
        environment.openers.end();
        open_database::wait_for_closing();
    }));
}

unsafe extern "C" fn free(_env: sys::napi_env, slot: *mut c_void, _hint: *mut c_void) {
    // SAFETY: the slot came from `Box::into_raw`, and Node frees instance data once, after the last callback.
    drop(unsafe { Box::from_raw(slot.cast::<Rc<Environment>>()) });
}
