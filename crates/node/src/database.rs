//! A database as one JavaScript environment sees it: the engine, the order of its writes, and the number of
//! operations that must end before it may close. Lives on the JavaScript thread.

use std::cell::{Cell, RefCell};
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use terrace_engine::{Db, Snapshot, WriteBatch};

use crate::environment::Environment;
use crate::error::Fallible;
use crate::external::Held;
use crate::open_database::OpenDatabase;
use crate::value::{Deferred, Env, Value};
use crate::write_queue::WriteQueue;

/// The object that `open` returns to JavaScript.
pub struct Database {
    environment: Rc<Environment>,
    open: Arc<OpenDatabase>,
    write_queue: RefCell<WriteQueue>,
    /// Reused for single writes, so that they allocate nothing.
    scratch: RefCell<WriteBatch>,
    operations: Cell<usize>,
    close_requested: RefCell<Option<Deferred>>,
}

/// A scratch batch that has grown beyond this size is not kept.
const MAX_SCRATCH_BYTES: usize = 1 << 20;

impl Held for Rc<Database> {
    const TAG: u64 = 0x7465_7272_6163_6501;
}

/// The object that `snapshot` returns to JavaScript. Empty once it is closed.
pub struct HeldSnapshot(pub RefCell<Option<Snapshot>>);

impl Held for HeldSnapshot {
    const TAG: u64 = 0x7465_7272_6163_6502;
}

impl Database {
    pub fn new(environment: &Rc<Environment>, open: OpenDatabase) -> Rc<Self> {
        let open = Arc::new(open);
        environment.watch(&open);
        Rc::new(Self {
            environment: Rc::clone(environment),
            open,
            write_queue: RefCell::default(),
            scratch: RefCell::new(WriteBatch::new()),
            operations: Cell::new(0),
            close_requested: RefCell::default(),
        })
    }

    #[inline]
    pub fn db(&self) -> &Db {
        self.open.db()
    }

    #[inline]
    pub fn environment(&self) -> &Rc<Environment> {
        &self.environment
    }

    /// The database, for a thread that must keep it open.
    pub fn opened(&self) -> Arc<OpenDatabase> {
        Arc::clone(&self.open)
    }

    /// The writes that have not ended.
    #[inline]
    pub fn write_queue(&self) -> &RefCell<WriteQueue> {
        &self.write_queue
    }

    /// Calls `build` with an empty batch, whose memory is kept for the next call.
    #[inline]
    pub fn with_scratch<R>(&self, build: impl FnOnce(&mut WriteBatch) -> R) -> R {
        let mut batch = self.scratch.borrow_mut();
        batch.clear();
        let result = build(&mut batch);
        if batch.approximate_size_bytes() > MAX_SCRATCH_BYTES {
            *batch = WriteBatch::new();
        }
        result
    }

    /// Counts an operation that must end before the database may close.
    pub fn begin_operation(&self) {
        self.operations.set(self.operations.get() + 1);
    }

    /// Counts the end of an operation. The last one starts a requested close.
    pub fn end_operation(self: &Rc<Self>, env: Env) {
        let remaining = self.operations.get() - 1;
        self.operations.set(remaining);
        if remaining == 0 {
            let requested = self.close_requested.borrow_mut().take();
            if let Some(deferred) = requested {
                self.start_close(env, deferred);
            }
        }
    }

    /// Closes the database once its operations have ended. Returns a promise.
    pub fn close(self: &Rc<Self>, env: Env) -> Fallible<Value> {
        let (deferred, promise) = env.promise()?;
        if self.operations.get() == 0 {
            self.start_close(env, deferred);
        } else {
            *self.close_requested.borrow_mut() = Some(deferred);
        }
        Ok(promise)
    }

    fn start_close(self: &Rc<Self>, env: Env, deferred: Deferred) {
        let open = self.opened();
        // The memory of the scratch batch is no longer needed.
        drop(mem::replace(&mut *self.scratch.borrow_mut(), WriteBatch::new()));
        let then = self.operation(deferred, |env, ()| env.undefined());
        self.environment.open_or_close(env, move || open.close(), then);
    }

    /// Runs `work` on a separate thread, then passes its result to `finish` and settles a promise with what that
    /// returns. The database does not close before that.
    pub fn run_apart<T: Send + 'static>(
        self: &Rc<Self>,
        env: Env,
        name: &str,
        deferred: Deferred,
        work: impl FnOnce() -> terrace_engine::Result<T> + Send + 'static,
        finish: impl FnOnce(Env, T) -> Fallible<Value> + 'static,
    ) {
        self.environment.run_apart(env, name, work, self.operation(deferred, finish));
    }

    /// Runs `read`, which may wait for the disk, on another thread. Returns a promise of what `finish` makes of its result.
    /// The database does not close before that.
    pub fn read<T: Send + 'static>(
        self: &Rc<Self>,
        env: Env,
        read: impl FnOnce(&Db) -> terrace_engine::Result<T> + Send + 'static,
        finish: impl FnOnce(Env, T) -> Fallible<Value> + 'static,
    ) -> Fallible<Value> {
        let (deferred, promise) = env.promise()?;
        let open = self.opened();
        self.environment.read(env, move || read(open.db()), self.operation(deferred, finish));
        Ok(promise)
    }

    /// Begins an operation. The returned function ends it: it settles the promise with what `finish` makes of the result.
    fn operation<T, F: FnOnce(Env, T) -> Fallible<Value>>(
        self: &Rc<Self>,
        deferred: Deferred,
        finish: F,
    ) -> impl FnOnce(Env, Fallible<T>) + use<T, F> {
        let database = Rc::clone(self);
        self.begin_operation();
        move |env, result| {
            let result = result.and_then(|output| finish(env, output));
            database.environment.settle(env, deferred, result);
            database.end_operation(env);
        }
    }
}
