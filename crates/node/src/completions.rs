//! Results on their way from other threads to the JavaScript thread. All ready results travel together: only the
//! first one wakes JavaScript, through one threadsafe function per environment.
//!
//! A result names the ticket to which it belongs. Its continuation waits on the JavaScript thread, in
//! [`Environment`](crate::environment::Environment), so that nothing of JavaScript ever leaves its thread.

use std::any::Any;
use std::mem;
use std::ptr;

use napi_sys as sys;
use parking_lot::{Condvar, Mutex};
use terrace_engine::Result;

/// Identifies an operation that JavaScript waits for.
pub type Ticket = usize;

/// The result of an operation.
pub enum Outcome {
    /// A write that the engine's commit thread made.
    Write(Result<()>),
    /// What a job of [`Environment`](crate::environment::Environment) computed.
    Apart(Box<dyn Any + Send>),
}

/// Results that are ready but not yet taken, and the way to announce them.
pub struct Completions {
    state: Mutex<State>,
    /// Signalled for each result, for [`wait`](Self::wait).
    arrived: Condvar,
}

struct State {
    /// `None` before the start, and once the environment is being torn down, when results are no longer received.
    wake: Option<Wake>,
    ready: Vec<(Ticket, Outcome)>,
}

struct Wake(sys::napi_threadsafe_function);

// SAFETY: Node-API lets any thread call a threadsafe function until it is released. Ours is called under the mutex
// around it, and released only after it was taken out of that.
unsafe impl Send for Wake {}

impl Completions {
    pub fn new() -> Self {
        Self { state: Mutex::new(State { wake: None, ready: Vec::new() }), arrived: Condvar::new() }
    }

    /// Takes over `function`, which must call [`take`](Self::take) on the JavaScript thread.
    pub fn begin(&self, function: sys::napi_threadsafe_function) {
        self.state.lock().wake = Some(Wake(function));
    }

    /// Passes on a result. May be called on any thread, never waits, and does nothing once the environment is being
    /// torn down.
    pub fn push(&self, ticket: Ticket, outcome: Outcome) {
        let mut state = self.state.lock();
        let Some(wake) = &state.wake else {
            // The outcome may be large, or close a database when it is dropped: not under the lock.
            drop(state);
            drop(outcome);
            return;
        };
        let function = wake.0;
        state.ready.push((ticket, outcome));
        self.arrived.notify_one();
        if state.ready.len() == 1 {
            // SAFETY: the function is released only after `wake` was taken under this lock.
            unsafe {
                sys::napi_call_threadsafe_function(
                    function,
                    ptr::null_mut(),
                    sys::ThreadsafeFunctionCallMode::nonblocking,
                );
            }
        }
    }

    /// Waits on the JavaScript thread until there is a result to take.
    pub fn wait(&self) {
        let mut state = self.state.lock();
        while state.ready.is_empty() {
            self.arrived.wait(&mut state);
        }
    }

    /// Takes all ready results.
    pub fn take(&self) -> Vec<(Ticket, Outcome)> {
        mem::take(&mut self.state.lock().ready)
    }

    /// Shuts down, on the JavaScript thread: later results are dropped.
    pub fn end(&self) {
        let (wake, ready) = {
            let mut state = self.state.lock();
            (state.wake.take(), mem::take(&mut state.ready))
        };
        drop(ready);
        if let Some(Wake(function)) = wake {
            // SAFETY: no other thread can reach the function any more.
            unsafe {
                sys::napi_release_threadsafe_function(function, sys::ThreadsafeFunctionReleaseMode::abort);
            }
        }
    }
}
