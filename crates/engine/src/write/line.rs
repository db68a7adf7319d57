//! The commit line: who may write now. Predecessor: `db`. Successor: `write/commit`.
//!
//! One writer at a time holds the *token*, and with it the log and the active memtable. Promises:
//!
//! 1. Writers get the token in the order in which they joined the line; a writer that finds no line takes it at
//!    once, for the price of one uncontended lock.
//! 2. The holder commits the writes of those behind it together with its own, as one group with one append and
//!    one sync; each of them learns the result when its write is visible.
//! 3. A request for the token alone (to seal, to ingest, to close) never shares a group.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use terrace_format::batch::WriteBatch;

use crate::error::Result;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// A group is closed when its batches reach this size.
const MAX_GROUP_BYTES: usize = 1 << 20;

/// The line, and behind it the state `S` that the token guards.
pub(crate) struct CommitLine<S> {
    line: Mutex<Line>,
    state: Mutex<S>,
}

#[derive(Default)]
struct Line {
    taken: bool,
    waiters: VecDeque<Arc<Waiter>>,
}

struct Waiter {
    sync: bool,
    /// The batch to write; none for a waiter that wants the token alone.
    batch: Mutex<Option<WriteBatch>>,
    wants_token: bool,
    phase: Mutex<Phase>,
    changed: Condvar,
}

enum Phase {
    Waiting,
    Lead,
    Done(Result<()>),
}

impl Waiter {
    fn wait(&self) -> Option<Result<()>> {
        let mut phase = self.phase.lock();
        loop {
            match std::mem::replace(&mut *phase, Phase::Waiting) {
                Phase::Waiting => self.changed.wait(&mut phase),
                Phase::Lead => return None,
                Phase::Done(result) => return Some(result),
            }
        }
    }

    fn advance(&self, to: Phase) {
        *self.phase.lock() = to;
        self.changed.notify_one();
    }
}

/// The token. Whoever drops it passes it to the head of the line.
pub(crate) struct Token<'a, S> {
    line: &'a CommitLine<S>,
    state: Option<MutexGuard<'a, S>>,
}

impl<S> Deref for Token<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.state.as_deref().expect("the state is held until the token drops")
    }
}

impl<S> DerefMut for Token<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        self.state.as_deref_mut().expect("the state is held until the token drops")
    }
}

impl<S> Drop for Token<'_, S> {
    fn drop(&mut self) {
        self.state = None;
        let mut line = self.line.line.lock();
        match line.waiters.front().cloned() {
            Some(next) => {
                drop(line);
                next.advance(Phase::Lead);
            }
            None => line.taken = false,
        }
    }
}

impl<S> CommitLine<S> {
    pub(crate) fn new(state: S) -> Self {
        Self { line: Mutex::default(), state: Mutex::new(state) }
    }

    /// Takes the token if nobody holds or awaits it.
    pub(crate) fn try_token(&self) -> Option<Token<'_, S>> {
        let mut line = self.line.lock();
        if line.taken {
            return None;
        }
        line.taken = true;
        drop(line);
        Some(self.token())
    }

    /// Waits for the token.
    pub(crate) fn take_token(&self) -> Token<'_, S> {
        if let Some(token) = self.try_token() {
            return token;
        }
        let Some(waiter) = self.join(None, false) else { return self.token() };
        let led = waiter.wait();
        debug_assert!(led.is_none(), "a waiter without a batch is only ever made leader");
        self.line.lock().waiters.pop_front();
        self.token()
    }

    /// Writes `batch` in its turn: `commit` is called with the state, the batches of a group in order and
    /// whether one of them asked for a sync, either here or on the thread of the group's leader.
    pub(crate) fn write(
        &self,
        mut batch: WriteBatch,
        sync: bool,
        commit: impl Fn(&mut S, &mut [WriteBatch], bool) -> Result<()>,
    ) -> Result<()> {
        if let Some(mut token) = self.try_token() {
            return commit(&mut token, std::slice::from_mut(&mut batch), sync);
        }
        let waiter = match self.join(Some(batch), sync) {
            Some(waiter) => waiter,
            None => unreachable!("a batch always joins the line"),
        };
        if let Some(result) = waiter.wait() {
            return result;
        }
        let mut token = self.token();
        let (followers, mut batches) = self.take_group();
        let result = commit(&mut token, &mut batches, sync);
        for follower in followers {
            follower.advance(Phase::Done(result.clone()));
        }
        drop(token);
        result
    }

    /// How many wait for the token.
    #[cfg(test)]
    pub(crate) fn length(&self) -> usize {
        self.line.lock().waiters.len()
    }

    fn token(&self) -> Token<'_, S> {
        Token { line: self, state: Some(self.state.lock()) }
    }

    /// Joins the line's end. Without a batch, takes the token instead if it has become free.
    fn join(&self, batch: Option<WriteBatch>, sync: bool) -> Option<Arc<Waiter>> {
        let mut line = self.line.lock();
        let wants_token = batch.is_none();
        let mut phase = Phase::Waiting;
        if !line.taken {
            line.taken = true;
            if wants_token {
                return None;
            }
            phase = Phase::Lead;
        }
        let waiter = Arc::new(Waiter {
            sync,
            batch: Mutex::new(batch),
            wants_token,
            phase: Mutex::new(phase),
            changed: Condvar::new(),
        });
        line.waiters.push_back(Arc::clone(&waiter));
        Some(waiter)
    }

    /// Takes the leader and those behind it who may share its group off the line. Returns the followers and the
    /// batches, the leader's first.
    fn take_group(&self) -> (Vec<Arc<Waiter>>, Vec<WriteBatch>) {
        let mut line = self.line.lock();
        let leader = line.waiters.pop_front().expect("the leader stands at the head of the line");
        let mut batches: Vec<WriteBatch> = leader.batch.lock().take().into_iter().collect();
        let mut size_bytes: usize = batches.iter().map(WriteBatch::approximate_size_bytes).sum();
        let mut followers = Vec::new();
        while let Some(next) = line.waiters.front() {
            // A writer that asked for no sync should not wait for one that did.
            let fits = !next.wants_token && (leader.sync || !next.sync) && size_bytes < MAX_GROUP_BYTES;
            if !fits {
                break;
            }
            let follower = line.waiters.pop_front().expect("it is at the front");
            if let Some(batch) = follower.batch.lock().take() {
                size_bytes += batch.approximate_size_bytes();
                batches.push(batch);
            }
            followers.push(follower);
        }
        (followers, batches)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn batch(key: &str) -> WriteBatch {
        let mut batch = WriteBatch::new();
        batch.put(key.as_bytes(), b"").unwrap();
        batch
    }

    #[test]
    fn every_write_is_committed_once_and_groups_form() {
        let line = Arc::new(CommitLine::new(0usize));
        let groups = Arc::new(AtomicUsize::new(0));
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let (line, groups) = (Arc::clone(&line), Arc::clone(&groups));
                std::thread::spawn(move || {
                    for index in 0..500 {
                        let commit = |state: &mut usize, batches: &mut [WriteBatch], _sync: bool| {
                            groups.fetch_add(1, Ordering::Relaxed);
                            *state += batches.len();
                            std::thread::yield_now();
                            Ok(())
                        };
                        line.write(batch(&format!("{writer}-{index}")), index % 3 == 0, commit).unwrap();
                        if index % 50 == 0 {
                            let _alone = line.take_token();
                        }
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(*line.take_token(), 4000);
        assert!(groups.load(Ordering::Relaxed) <= 4000);
    }

    #[test]
    fn a_held_token_is_not_given_twice() {
        let line = CommitLine::new(());
        let token = line.try_token().unwrap();
        assert!(line.try_token().is_none());
        drop(token);
        assert!(line.try_token().is_some());
    }

    #[test]
    fn followers_share_the_leaders_failure() {
        use crate::error::{Error, ErrorKind};
        let line = Arc::new(CommitLine::new(()));
        let token = line.take_token();
        let writers: Vec<_> = (0..4)
            .map(|_| {
                let line = Arc::clone(&line);
                std::thread::spawn(move || {
                    line.write(batch("k"), false, |_, _, _| Err(Error::new(ErrorKind::Io, "no")))
                })
            })
            .collect();
        while line.length() < 4 {
            std::thread::yield_now();
        }
        drop(token);
        for writer in writers {
            assert_eq!(writer.join().unwrap().unwrap_err().kind(), ErrorKind::Io);
        }
    }
}
