//! The commit queue, which decides who may write now. Predecessor: `db`. Successor: `write/commit`. Writers wait in
//! `write/wait group`.
//!
//! One writer at a time holds the *token*, and with it the log and the active memtable. The queue promises:
//!
//! 1. Writers get the token in the order in which they joined the queue. A writer that finds no queue takes the token at
//!    once, for the price of one exchange.
//! 2. The holder commits the writes of those after it together with its own, as one group with one append and one sync.
//!    Each writer learns the result when its write is visible.
//! 3. A request for the token alone (to seal, to ingest, to close) never shares a group.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use terrace_format::batch::WriteBatch;

use crate::error::Result;
use crate::sync::{AtomicUsize, Mutex, PlainMemory};
use crate::write::MAX_GROUP_BYTES;
use crate::write::gather::gather;
use crate::write::wait_group::{Seat, WaitGroup};

/// The token is free.
const FREE: usize = 0;
/// The token is held, and no caller waits for it.
const TAKEN: usize = 1;
/// The token is held, and callers may be waiting. This value is set and cleared only with the queue locked.
const AWAITED: usize = 2;

/// The queue and the state `S` that its token guards.
pub(crate) struct CommitQueue<S> {
    /// [`FREE`], [`TAKEN`] or [`AWAITED`].
    token: AtomicUsize,
    waiting: Mutex<Waiting>,
    /// How many writers there were when the last group was done: those in the group and those waiting after it. This is
    /// a forecast on which only speed depends.
    recent_writers: AtomicUsize,
    state: UnsafeCell<S>,
    /// Stands for `state` when a model checker runs.
    state_memory: PlainMemory,
}

// SAFETY: `state` is reached only through a `Token`, and there is one at a time (see `Token`). So `state` moves from
// thread to thread, which requires `Send`, and is never shared.
unsafe impl<S: Send> Sync for CommitQueue<S> {}

#[derive(Default)]
struct Waiting {
    waiters: VecDeque<Waiter>,
    /// The wait group for those who joined after the head of the queue since a group was taken, if anybody did.
    wait_group: Option<Arc<WaitGroup>>,
}

struct Waiter {
    sync: bool,
    /// The batch to write; `None` for a waiter that wants the token alone.
    batch: Option<WriteBatch>,
    seat: Seat,
}

/// The token. Dropping it passes it to the head of the queue.
///
/// There is one at a time. It is created by the thread that changes `token` from [`FREE`] to another value, or by the
/// waiter that the previous holder made leader when it dropped its token. The change from `FREE` acquires what the
/// change to it released; a leader acquires it through the lock of its wait group.
pub(crate) struct Token<'a, S> {
    queue: &'a CommitQueue<S>,
}

impl<S> Deref for Token<'_, S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        self.queue.state_memory.read();
        // SAFETY: this is the only token, and `deref_mut` borrows it exclusively.
        unsafe { &*self.queue.state.get() }
    }
}

impl<S> DerefMut for Token<'_, S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut S {
        self.queue.state_memory.write();
        // SAFETY: this is the only token, and it is borrowed exclusively.
        unsafe { &mut *self.queue.state.get() }
    }
}

impl<S> Drop for Token<'_, S> {
    #[inline]
    fn drop(&mut self) {
        let token = &self.queue.token;
        if token.compare_exchange(TAKEN, FREE, Ordering::Release, Ordering::Relaxed).is_err() {
            self.queue.pass_on();
        }
    }
}

impl<S> CommitQueue<S> {
    pub(crate) fn new(state: S) -> Self {
        Self {
            token: AtomicUsize::new(FREE),
            waiting: Mutex::default(),
            recent_writers: AtomicUsize::new(1),
            state: UnsafeCell::new(state),
            state_memory: PlainMemory::new(),
        }
    }

    /// Takes the token if it is neither held nor awaited.
    #[inline]
    pub(crate) fn try_token(&self) -> Option<Token<'_, S>> {
        let taken = self.token.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed);
        // Created only if the token was taken, because dropping it would pass it on.
        taken.is_ok().then(|| Token { queue: self })
    }

    /// Waits for the token.
    pub(crate) fn take_token(&self) -> Token<'_, S> {
        if let Some(token) = self.try_token() {
            return token;
        }
        let seat = match self.join(None, false) {
            Joined::Waits(seat) => seat,
            Joined::Holds(token) => return token,
        };
        let led = seat.wait();
        debug_assert!(led.is_none(), "a waiter without a batch is only ever made leader");
        self.waiting.lock().waiters.pop_front();
        Token { queue: self }
    }

    /// Whether there are probably others who could share a sync. [`write`](Self::write) lets them come first.
    #[inline]
    pub(crate) fn expects_others(&self) -> bool {
        self.recent_writers.load(Ordering::Relaxed) > 2
    }

    /// Writes `batch` in its turn. `commit` is called with the state, the batches of a group in order, and whether one
    /// of them asked for a sync. The call happens either here or on the thread of the group's leader.
    pub(crate) fn write(
        &self,
        mut batch: WriteBatch,
        sync: bool,
        commit: impl Fn(&mut S, &mut [WriteBatch], bool) -> Result<()>,
    ) -> Result<()> {
        let joined = self.try_token().map_or_else(|| self.join(Some(&mut batch), sync), Joined::Holds);
        // If the batch waits in the queue, there is none here.
        let (mut token, batch) = match joined {
            Joined::Holds(mut token) if !(sync && self.expects_others()) => {
                return commit(&mut token, std::slice::from_mut(&mut batch), sync);
            }
            Joined::Holds(token) => (token, Some(batch)),
            Joined::Waits(seat) => match seat.wait() {
                Some(result) => return result,
                None => (Token { queue: self }, None),
            },
        };
        if sync {
            self.gather(batch.iter().len());
        }
        let (followers, mut batches) = self.take_group(batch, sync);
        let result = commit(&mut token, &mut batches, sync);
        self.note_writers(batches.len());
        if followers.len() > 1 {
            drop(token);
            Seat::finish(&followers, &result);
        } else {
            Seat::finish(&followers, &result);
            drop(token);
        }
        result
    }

    /// The number of writers that wait for the token.
    #[cfg(test)]
    pub(crate) fn length(&self) -> usize {
        self.waiting.lock().waiters.len()
    }

    /// Gives the token to the head of the queue.
    #[cold]
    fn pass_on(&self) {
        let waiting = self.waiting.lock();
        match waiting.waiters.front().map(|next| next.seat.clone()) {
            Some(next) => {
                drop(waiting);
                next.lead();
            }
            None => self.token.store(FREE, Ordering::Release),
        }
    }

    /// Joins the end of the queue, or takes the token if it has become free. A writer that waits leaves its batch in the
    /// queue.
    fn join(&self, batch: Option<&mut WriteBatch>, sync: bool) -> Joined<'_, S> {
        let mut waiting = self.waiting.lock();
        loop {
            // While the queue is locked, the token does not leave `AWAITED`.
            match self.token.compare_exchange(TAKEN, AWAITED, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) | Err(AWAITED) => break,
                Err(_) => {
                    if let Some(token) = self.try_token() {
                        return Joined::Holds(token);
                    }
                }
            }
        }
        // The head of the queue may be woken alone, to lead.
        let wait_group = match waiting.waiters.is_empty() {
            true => &WaitGroup::new(),
            false => waiting.wait_group.get_or_insert_with(WaitGroup::new),
        };
        let seat = wait_group.add_seat();
        waiting.waiters.push_back(Waiter { sync, batch: batch.map(std::mem::take), seat: seat.clone() });
        Joined::Waits(seat)
    }

    /// Called before a sync: lets writers join that wrote a moment ago and are likely to write again. `elsewhere` is
    /// the number of the group's writers that are not in the queue.
    fn gather(&self, elsewhere: usize) {
        gather(|| {
            (elsewhere + self.waiting.lock().waiters.len(), self.recent_writers.load(Ordering::Relaxed))
        });
    }

    /// Notes that a group of `group` writers is done.
    fn note_writers(&self, group: usize) {
        let writers = group + self.waiting.lock().waiters.len();
        self.recent_writers.store(writers, Ordering::Relaxed);
    }

    /// Takes the leader and the waiters after it that may share its group off the queue. A leader that did not wait in
    /// the queue brings its batch. Returns the seats of the followers and all batches, the leader's first.
    fn take_group(&self, own: Option<WriteBatch>, sync: bool) -> (Vec<Seat>, Vec<WriteBatch>) {
        let mut waiting = self.waiting.lock();
        let own = own.or_else(|| waiting.waiters.pop_front().and_then(|leader| leader.batch));
        let own = own.expect("the leader stands at the head of the queue");
        let mut size_bytes = own.approximate_size_bytes();
        let (mut followers, mut batches) = (Vec::new(), vec![own]);
        // A writer that asked for no sync should not wait for one that did.
        let fits = |next: &Waiter| next.batch.is_some() && (sync || !next.sync);
        while size_bytes < MAX_GROUP_BYTES && waiting.waiters.front().is_some_and(fits) {
            let Some(Waiter { batch: Some(batch), seat, .. }) = waiting.waiters.pop_front() else { break };
            size_bytes += batch.approximate_size_bytes();
            batches.push(batch);
            followers.push(seat);
        }
        waiting.wait_group = None;
        (followers, batches)
    }
}

/// The result of joining the queue.
enum Joined<'a, S> {
    /// The writer waits in the queue.
    Waits(Seat),
    /// The token was free.
    Holds(Token<'a, S>),
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use terrace_env::conformance::eventually;

    use super::*;

    fn batch(key: &str) -> WriteBatch {
        let mut batch = WriteBatch::new();
        batch.put(key.as_bytes(), b"").unwrap();
        batch
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes when interpreted")]
    fn every_write_is_committed_once_and_groups_form() {
        let queue = Arc::new(CommitQueue::new(0usize));
        let groups = Arc::new(AtomicUsize::new(0));
        // The first write of each writer waits until all of them do, so that they are one group.
        let held = queue.take_token();
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let (queue, groups) = (Arc::clone(&queue), Arc::clone(&groups));
                std::thread::spawn(move || {
                    for index in 0..500 {
                        let commit = |state: &mut usize, batches: &mut [WriteBatch], _sync: bool| {
                            groups.fetch_add(1, Ordering::Relaxed);
                            *state += batches.len();
                            std::thread::yield_now();
                            Ok(())
                        };
                        queue.write(batch(&format!("{writer}-{index}")), index % 3 == 0, commit).unwrap();
                        if index % 50 == 0 {
                            let _alone = queue.take_token();
                        }
                    }
                })
            })
            .collect();
        eventually("all writers are in the queue", || queue.length() == 8);
        drop(held);
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(*queue.take_token(), 4000);
        let groups = groups.load(Ordering::Relaxed);
        assert!(groups <= 4000 - 7, "{groups} groups");
    }

    #[test]
    fn a_held_token_is_not_given_twice() {
        let queue = CommitQueue::new(());
        let token = queue.try_token().unwrap();
        assert!(queue.try_token().is_none());
        drop(token);
        assert!(queue.try_token().is_some());
    }

    #[test]
    fn followers_share_the_leaders_failure() {
        use crate::error::{Error, ErrorKind};
        let queue = Arc::new(CommitQueue::new(()));
        let token = queue.take_token();
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let queue = Arc::clone(&queue);
                std::thread::spawn(move || {
                    queue.write(batch("k"), false, |_, _, _| Err(Error::new(ErrorKind::Io, "no")))
                })
            })
            .collect();
        eventually("all writers are in the queue", || queue.length() == 4);
        drop(token);
        for writer in writers {
            assert_eq!(writer.join().unwrap().unwrap_err().kind(), ErrorKind::Io);
        }
    }
}
