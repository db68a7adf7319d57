//! The queue of submitted writes. Any thread puts items in; one thread at a time takes out all waiting items.
//! Predecessor and successor: `write/submit`.
//!
//! The queue promises:
//!
//! 1. What was accepted is written exactly once, in the order in which it was accepted, even if the queue is closed
//!    meanwhile.
//! 2. After the queue was closed, nothing is accepted and nothing more is written.

use crate::sync::{Condvar, Mutex, MutexGuard, ThreadId, current_thread};
use crate::write::gather::gather;

/// The queue. It has no thread: the caller that puts an item into an idle queue has it served.
pub(crate) struct SubmitQueue<T> {
    state: Mutex<QueueState<T>>,
    /// Signalled when a round of writing ends after the queue was closed.
    written: Condvar,
}

struct QueueState<T> {
    waiting: Vec<T>,
    /// Whether a call of [`serve`](SubmitQueue::serve) is due or running.
    is_served: bool,
    /// The thread that is writing.
    writer: Option<ThreadId>,
    ending: bool,
    /// How many items came the last time, and since.
    expected: usize,
}

/// What to do after an item was put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing: the item will be served.
    Nothing,
    /// The caller must arrange a call of [`serve`](SubmitQueue::serve).
    Serve,
}

impl<T> SubmitQueue<T> {
    pub(crate) fn new() -> Self {
        let waiting = Vec::new();
        let state = QueueState { waiting, is_served: false, writer: None, ending: false, expected: 0 };
        Self { state: Mutex::new(state), written: Condvar::new() }
    }

    /// Adds `item`, or returns it if the queue was closed.
    pub(crate) fn push(&self, item: T) -> Result<Next, T> {
        let mut state = self.state.lock();
        if state.ending {
            return Err(item);
        }
        state.waiting.push(item);
        Ok(if std::mem::replace(&mut state.is_served, true) { Next::Nothing } else { Next::Serve })
    }

    /// Gives `write` everything that waits, once. If `gathers` holds for one of the items, it first lets as many arrive
    /// as came the last time. Returns [`Next::Serve`] if more came meanwhile, and must then be called again.
    pub(crate) fn serve(&self, gathers: impl Fn(&T) -> bool, write: impl FnOnce(Vec<T>)) -> Next {
        let mut state = self.state.lock();
        let expected = state.expected;
        if !state.ending && state.waiting.len() < expected && state.waiting.iter().any(&gathers) {
            drop(state);
            gather(|| (self.state.lock().waiting.len(), expected));
            state = self.state.lock();
        }
        // Once the queue was closed, the thread that closed it writes the rest.
        if !state.ending {
            let count = state.waiting.len();
            state = self.write_all(state, write);
            state.expected = count + state.waiting.len();
            if !state.waiting.is_empty() && !state.ending {
                return Next::Serve;
            }
        }
        state.is_served = false;
        Next::Nothing
    }

    fn write_all<'a>(
        &'a self,
        mut state: MutexGuard<'a, QueueState<T>>,
        write: impl FnOnce(Vec<T>),
    ) -> MutexGuard<'a, QueueState<T>> {
        let items = std::mem::take(&mut state.waiting);
        if items.is_empty() {
            return state;
        }
        state.writer = Some(current_thread().id());
        drop(state);
        write(items);
        let mut state = self.state.lock();
        state.writer = None;
        if state.ending {
            self.written.notify_all();
        }
        state
    }

    /// Whether nothing waits or is being written.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state.lock();
        state.writer.is_none() && state.waiting.is_empty()
    }

    /// Accepts nothing more, waits for what is being written, and gives `write` the rest. All of that runs on the
    /// calling thread, so that no other is needed. If the caller is within a `write` of this queue (which may drop the
    /// last handle of the database), it does not wait for itself.
    pub(crate) fn close(&self, write: impl FnOnce(Vec<T>)) {
        let mut state = self.state.lock();
        state.ending = true;
        let own = current_thread().id();
        while state.writer.is_some_and(|writer| writer != own) {
            self.written.wait(&mut state);
        }
        let items = std::mem::take(&mut state.waiting);
        drop(state);
        if !items.is_empty() {
            write(items);
        }
    }
}
