//! The queue of submitted writes: any thread puts items in, one thread takes out all that wait at a time. Predecessor
//! and successor: `write/submit`.
//!
//! Promises:
//!
//! 1. What was accepted is written exactly once, in the order in which it was accepted, also if the queue is closed
//!    meanwhile.
//! 2. After the queue was closed nothing is accepted, and nothing is written any more.

use terrace_env::ThreadHandle;

use crate::error::{Error, Result};
use crate::sync::{Condvar, Mutex, ThreadId, current_thread};
use crate::write::gather::gather;

/// The queue and the handle of its thread, which starts with the first item.
pub(crate) struct SubmitQueue<T> {
    state: Mutex<QueueState<T>>,
    changed: Condvar,
}

struct QueueState<T> {
    waiting: Vec<T>,
    running: bool,
    ending: bool,
    thread: Option<Box<dyn ThreadHandle>>,
    /// The thread itself, once it runs.
    thread_id: Option<ThreadId>,
}

impl<T> SubmitQueue<T> {
    pub(crate) fn new() -> Self {
        let state =
            QueueState { waiting: Vec::new(), running: false, ending: false, thread: None, thread_id: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Adds `item`. `start` starts a thread that runs [`serve`](Self::serve), and is called if there is none yet. An
    /// item that is not accepted comes back with the reason.
    pub(crate) fn push(
        &self,
        item: T,
        start: impl FnOnce() -> Result<Box<dyn ThreadHandle>>,
    ) -> std::result::Result<(), (T, Error)> {
        let mut state = self.state.lock();
        if state.ending {
            return Err((item, Error::closed()));
        }
        if state.thread.is_none() {
            match start() {
                Ok(thread) => state.thread = Some(thread),
                Err(error) => return Err((item, error)),
            }
        }
        state.waiting.push(item);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Gives `write` all that waits, again and again, until the queue is closed and empty. If one of those for which
    /// `gathers` holds is there, it first lets as many come as came the last time.
    pub(crate) fn serve(&self, gathers: impl Fn(&T) -> bool, mut write: impl FnMut(Vec<T>)) {
        let mut state = self.state.lock();
        state.thread_id = Some(current_thread().id());
        let mut expected = 0;
        loop {
            while state.waiting.is_empty() {
                if state.ending {
                    return;
                }
                self.changed.wait(&mut state);
            }
            if state.waiting.len() < expected && state.waiting.iter().any(&gathers) {
                drop(state);
                gather(|| (self.state.lock().waiting.len(), expected));
                state = self.state.lock();
            }
            let items = std::mem::take(&mut state.waiting);
            let count = items.len();
            state.running = true;
            drop(state);
            write(items);
            state = self.state.lock();
            state.running = false;
            expected = count + state.waiting.len();
        }
    }

    /// Whether nothing waits or is being written.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state.lock();
        !state.running && state.waiting.is_empty()
    }

    /// Waits until what was accepted is written, then ends the thread. On that thread itself, whose `write` may drop
    /// the last handle of the database, it does not wait: the thread ends after what it is writing.
    pub(crate) fn close(&self) {
        let (thread, is_own) = {
            let mut state = self.state.lock();
            state.ending = true;
            (state.thread.take(), state.thread_id == Some(current_thread().id()))
        };
        self.changed.notify_all();
        if let Some(thread) = thread.filter(|_| !is_own) {
            thread.join();
        }
    }
}
