//! The lifetime of objects with callbacks that a program provides: a comparator, a filter policy.
//!
//! ```text
//! created ──► in use by n open databases ──► destroyed by the program and in use by none ──► destructor runs
//! ```
//!
//! LevelDB runs the destructor when the program destroys the object, which must not happen before the databases that
//! use it are closed. A program that obeys this rule sees the same here. For one that does not, the destructor runs
//! late, so that no database calls what is gone.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::failure::{Failure, Result};

/// The program's function that destroys the state; may be NULL.
pub(crate) type Destructor = Option<unsafe extern "C" fn(*mut c_void)>;

/// The program's state, and where it is in its lifetime.
#[derive(Debug)]
pub(crate) struct State {
    pointer: *mut c_void,
    destructor: Destructor,
    users: Mutex<Users>,
    /// The destructor ran, or is about to: nothing may be called any more.
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct Users {
    open_databases: usize,
    is_destroyed: bool,
}

// SAFETY: the pointer is only passed to the program's functions, which by the header's rule may be called from any
// thread.
unsafe impl Send for State {}
// SAFETY: as above; several threads may call them at once.
unsafe impl Sync for State {}

impl State {
    pub(crate) fn new(pointer: *mut c_void, destructor: Destructor) -> Self {
        Self { pointer, destructor, users: Mutex::default(), over: AtomicBool::new(false) }
    }

    /// The program's state, for a call of its functions, unless its lifetime is over.
    #[inline]
    pub(crate) fn get(&self) -> Option<*mut c_void> {
        // The caller belongs to an open database, so this cannot change before the call ends. A closed database that
        // still has a reference learns of it here.
        if self.over.load(Ordering::Acquire) { None } else { Some(self.pointer) }
    }

    /// Notes that another database is about to use it.
    ///
    /// # Errors
    ///
    /// `Invalid argument` if the program destroyed it.
    pub(crate) fn begin_use(&self, what: &str) -> Result<()> {
        let mut users = self.users.lock();
        if users.is_destroyed {
            return Err(Failure::argument(format_args!("the {what} of the options was destroyed")));
        }
        users.open_databases += 1;
        Ok(())
    }

    /// Notes that a database that used it is closed.
    pub(crate) fn end_use(&self) {
        let mut users = self.users.lock();
        users.open_databases -= 1;
        let is_over = users.is_destroyed && users.open_databases == 0;
        drop(users);
        if is_over {
            self.end();
        }
    }

    /// Notes that the program destroys it.
    pub(crate) fn destroy(&self) {
        let mut users = self.users.lock();
        let is_over = !users.is_destroyed && users.open_databases == 0;
        users.is_destroyed = true;
        drop(users);
        if is_over {
            self.end();
        }
    }

    fn end(&self) {
        self.over.store(true, Ordering::Release);
        if let Some(destructor) = self.destructor {
            // SAFETY: the program gave both for each other, and this happens once: `is_destroyed` is set once, and
            // from then on the number of databases only falls.
            unsafe { destructor(self.pointer) };
        }
    }
}
