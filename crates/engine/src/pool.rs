//! Background threads: some for flushes, some for compactions and some for submitted writes. A long compaction
//! therefore never holds up a flush, and a write that waits for flushes and compactions holds up neither. The databases
//! of a process share one pool, unless some are given another.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

use terrace_env::locks::{Condvar, Mutex};
use terrace_env::{Background, ClockWatcher, Env, ProcessMark, ThreadHandle};

use crate::error::{Error, ErrorKind, Result};

type Job = Box<dyn FnOnce() + Send>;

thread_local! {
    /// Whether this is a thread of some pool.
    static IS_POOL_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// What a job does. Each kind has its own threads and queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobKind {
    /// Flushes and short chores.
    Flush,
    /// Compactions.
    Compaction,
    /// Submitted writes. They may wait for jobs of the other kinds, which never wait for them.
    Commit,
}

const JOB_KINDS: [JobKind; 3] = [JobKind::Flush, JobKind::Compaction, JobKind::Commit];

/// A pool of background threads. Pass one in [`Options`](crate::Options) to several databases to let them share its
/// threads. Databases that are given none share the pool of their environment.
///
/// Threads start with the first job of their kind and end with the pool. If the environment has no threads
/// ([`Background::Steps`]), jobs wait until [`run_one`](Self::run_one) is called. If the system refuses to start a
/// thread, jobs wait until a caller waits for them and runs them. A forked process cannot use a pool that was created
/// before the fork.
pub struct BackgroundPool {
    shared: Arc<Shared>,
    env: Arc<dyn Env>,
    limits: [usize; JOB_KINDS.len()],
    process: ProcessMark,
}

struct Shared {
    state: Mutex<State>,
    /// One for each kind of job.
    work: [Condvar; JOB_KINDS.len()],
}

#[derive(Default)]
struct State {
    queues: [VecDeque<Job>; JOB_KINDS.len()],
    /// Flushes that are due later, with the time.
    delayed: Vec<(u64, Job)>,
    idle_threads: [usize; JOB_KINDS.len()],
    threads: [Vec<Box<dyn ThreadHandle>>; JOB_KINDS.len()],
    ending: bool,
}

impl State {
    /// Moves what is due to the queue of flushes. Returns how long it is until the next job is due.
    fn promote_due(&mut self, now_micros: u64) -> Option<Duration> {
        let mut index = 0;
        let mut earliest: Option<u64> = None;
        while index < self.delayed.len() {
            let due = self.delayed[index].0;
            if due <= now_micros {
                let (_, job) = self.delayed.swap_remove(index);
                self.queues[JobKind::Flush as usize].push_back(job);
            } else {
                earliest = Some(earliest.map_or(due, |earliest| earliest.min(due)));
                index += 1;
            }
        }
        earliest.map(|due| Duration::from_micros(due - now_micros))
    }
}

impl ClockWatcher for Shared {
    /// Wakes the threads that wait until a job is due.
    fn clock_advanced(&self) {
        // A thread that has just read the clock waits once the lock is free.
        drop(self.state.lock());
        self.work[JobKind::Flush as usize].notify_all();
    }
}

impl fmt::Debug for BackgroundPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackgroundPool").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl BackgroundPool {
    /// Creates a pool with at most `compaction_threads` threads (at least one) for compactions. For flushes and for
    /// submitted writes it has two each, or a quarter as many as there are processors if that is more, and never more
    /// than there are processors. A database uses one of either kind at a time; other databases proceed meanwhile.
    pub fn new(env: Arc<dyn Env>, compaction_threads: usize) -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), work: Default::default() });
        let watcher: Weak<Shared> = Arc::downgrade(&shared);
        env.watch_clock(watcher);
        let processors = env.available_parallelism();
        let threads = (processors / 4).max(2).min(processors);
        let limits = [threads, compaction_threads.max(1), threads];
        Self { shared, env, limits, process: ProcessMark::here() }
    }

    /// Whether the pool was created in this process. A forked child has none of its threads.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.process.is_here()
    }

    /// Queues `job`. Returns whether a thread will run it. If not, the job waits for [`run_one_of`](Self::run_one_of)
    /// or [`lend_a_hand`](Self::lend_a_hand).
    pub(crate) fn submit(&self, kind: JobKind, job: Job) -> bool {
        let mut state = self.shared.state.lock();
        state.queues[kind as usize].push_back(job);
        let has_thread = self.ensure_thread(&mut state, kind);
        drop(state);
        self.shared.work[kind as usize].notify_one();
        has_thread
    }

    /// Queues `job` as a flush once `delay` has passed. Without threads, it waits for a later
    /// [`run_one`](Self::run_one).
    pub(crate) fn submit_after(&self, delay: Duration, job: Job) {
        let due = self.env.monotonic_micros().saturating_add(delay.as_micros() as u64);
        let mut state = self.shared.state.lock();
        state.delayed.push((due, job));
        if state.threads[JobKind::Flush as usize].is_empty() {
            self.ensure_thread(&mut state, JobKind::Flush);
        }
        drop(state);
        self.shared.work[JobKind::Flush as usize].notify_one();
    }

    /// Runs one waiting job on the calling thread, flushes first. Returns whether there was one.
    pub fn run_one(&self) -> bool {
        self.run_one_of(&JOB_KINDS)
    }

    /// Whether no thread runs a job and none is due. Jobs that are due later do not count.
    pub fn is_idle(&self) -> bool {
        let state = self.shared.state.lock();
        let now = self.env.monotonic_micros();
        JOB_KINDS.map(|kind| kind as usize).iter().all(|&index| {
            state.queues[index].is_empty() && state.idle_threads[index] == state.threads[index].len()
        }) && state.delayed.iter().all(|(due, _)| *due > now)
    }

    /// Runs one waiting job of these kinds on the calling thread. Returns whether there was one.
    pub(crate) fn run_one_of(&self, kinds: &[JobKind]) -> bool {
        let job = {
            let mut state = self.shared.state.lock();
            let now = self.env.monotonic_micros();
            state.promote_due(now);
            kinds.iter().find_map(|kind| state.queues[*kind as usize].pop_front())
        };
        match job {
            Some(job) => {
                job();
                true
            }
            None => false,
        }
    }

    /// Runs one waiting job here if no thread will, because this environment has none or the system refuses to start
    /// one. Returns whether it ran one. Called by those who wait for the background.
    pub(crate) fn lend_a_hand(&self) -> bool {
        if self.needs_steps() {
            return self.run_one();
        }
        let mut state = self.shared.state.lock();
        let has_nobody = |state: &mut State, kind: JobKind| {
            !state.queues[kind as usize].is_empty() && !self.ensure_thread(state, kind)
        };
        let abandoned: Vec<JobKind> =
            JOB_KINDS.into_iter().filter(|kind| has_nobody(&mut state, *kind)).collect();
        drop(state);
        self.run_one_of(&abandoned)
    }

    /// Whether a job waits.
    pub(crate) fn has_waiting(&self) -> bool {
        self.shared.state.lock().queues.iter().any(|queue| !queue.is_empty())
    }

    /// Whether jobs wait for [`run_one`](Self::run_one) instead of running on threads.
    pub(crate) fn needs_steps(&self) -> bool {
        self.env.background() == Background::Steps
    }

    /// Starts a thread for a job of a kind if that is wanted and possible. Returns whether jobs of that kind have any threads.
    fn ensure_thread(&self, state: &mut State, kind: JobKind) -> bool {
        let index = kind as usize;
        let enough = state.idle_threads[index] >= state.queues[index].len().max(1);
        if self.needs_steps() || enough || state.threads[index].len() >= self.limits[index] {
            return !state.threads[index].is_empty();
        }
        let shared = Arc::clone(&self.shared);
        let env = Arc::clone(&self.env);
        let name = match kind {
            JobKind::Flush => "terrace-flush",
            JobKind::Compaction => "terrace-compact",
            JobKind::Commit => "terrace-commit",
        };
        // If the system refuses, the existing threads continue, and the next job tries again.
        state.threads[index].extend(self.env.spawn(name, Box::new(move || run_thread(&shared, &*env, kind))));
        !state.threads[index].is_empty()
    }
}

impl Drop for BackgroundPool {
    /// Ends the threads once all queued jobs have run. Jobs that are not due yet are dropped. In a forked child there
    /// is nothing to end.
    fn drop(&mut self) {
        if !self.is_of_this_process() {
            return;
        }
        let threads = {
            let mut state = self.shared.state.lock();
            state.ending = true;
            state.delayed.clear();
            std::mem::take(&mut state.threads)
        };
        for work in &self.shared.work {
            work.notify_all();
        }
        if IS_POOL_THREAD.get() {
            // The last job held the last handle. A thread cannot wait for itself, so this one ends on its own.
            return;
        }
        for thread in threads.into_iter().flatten() {
            thread.join();
        }
    }
}

fn run_thread(shared: &Shared, env: &dyn Env, kind: JobKind) {
    IS_POOL_THREAD.set(true);
    // Foreground writes and the host program take priority. A submitted write has a caller that waits for it.
    if kind != JobKind::Commit {
        env.lower_priority();
    }
    let index = kind as usize;
    let mut state = shared.state.lock();
    loop {
        let next_due = if kind == JobKind::Flush { state.promote_due(env.monotonic_micros()) } else { None };
        if let Some(job) = state.queues[index].pop_front() {
            drop(state);
            job();
            state = shared.state.lock();
            continue;
        }
        if state.ending {
            return;
        }
        state.idle_threads[index] += 1;
        match next_due {
            Some(delay) => {
                shared.work[index].wait_for(&mut state, delay);
            }
            None => shared.work[index].wait(&mut state),
        }
        state.idle_threads[index] -= 1;
    }
}

/// Runs a job and turns a panic into an error, so that the database is poisoned instead of stuck.
pub(crate) fn without_panic<T>(job: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        Err(Error::new(ErrorKind::Poisoned, format!("a background job panicked: {message}")))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use terrace_env::conformance::{HANGS_AFTER, eventually};
    use terrace_env::{HeldClock, MemoryEnv};

    use super::*;

    #[test]
    fn jobs_run_and_the_pool_waits_for_them_when_dropped() {
        let done = Arc::new(AtomicUsize::new(0));
        let pool = BackgroundPool::new(Arc::new(MemoryEnv::new()), 2);
        for index in 0..100 {
            let done = Arc::clone(&done);
            let kind = if index % 2 == 0 { JobKind::Flush } else { JobKind::Compaction };
            let job = move || {
                done.fetch_add(1, Ordering::Relaxed);
            };
            assert!(pool.submit(kind, Box::new(job)));
        }
        drop(pool);
        assert_eq!(done.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn a_long_compaction_does_not_hold_up_a_flush() {
        let pool = BackgroundPool::new(Arc::new(MemoryEnv::new()), 1);
        let (release, wait) = mpsc::channel::<()>();
        let (flushed, flush_done) = mpsc::channel();
        pool.submit(JobKind::Compaction, Box::new(move || wait.recv().unwrap()));
        pool.submit(JobKind::Flush, Box::new(move || flushed.send(()).unwrap()));
        flush_done.recv().unwrap();
        release.send(()).unwrap();
    }

    #[test]
    fn a_delayed_job_runs_by_itself() {
        let clock = HeldClock::new();
        let pool = BackgroundPool::new(Arc::new(MemoryEnv::new().with_clock(clock.clone())), 1);
        let (sender, receiver) = mpsc::channel();
        pool.submit_after(Duration::from_secs(5), Box::new(move || sender.send(()).unwrap()));
        for _ in 0..2 {
            clock.advance(Duration::from_micros(2_499_999));
            eventually("the pool is idle", || pool.is_idle());
            assert!(receiver.try_recv().is_err(), "it is not due");
        }
        clock.advance(Duration::from_micros(2));
        receiver.recv_timeout(HANGS_AFTER).unwrap();
    }

    #[test]
    fn a_pool_is_idle_once_its_jobs_are_done() {
        let pool = BackgroundPool::new(Arc::new(MemoryEnv::new()), 1);
        assert!(pool.is_idle());
        let (release, wait) = mpsc::channel::<()>();
        for kind in JOB_KINDS {
            pool.submit(kind, Box::new(|| ()));
        }
        eventually("the jobs are done", || pool.is_idle());
        pool.submit(JobKind::Compaction, Box::new(move || wait.recv().unwrap()));
        assert!(!pool.is_idle());
        release.send(()).unwrap();
        eventually("the job is done", || pool.is_idle());
    }

    #[test]
    fn the_last_job_may_hold_the_last_handle() {
        let pool = Arc::new(BackgroundPool::new(Arc::new(MemoryEnv::new()), 1));
        let (sender, receiver) = mpsc::channel();
        let (dropped, wait) = mpsc::channel::<()>();
        let last = Arc::clone(&pool);
        let job = move || {
            wait.recv().unwrap();
            drop(last);
            sender.send(()).unwrap();
        };
        pool.submit(JobKind::Compaction, Box::new(job));
        drop(pool);
        dropped.send(()).unwrap();
        receiver.recv().unwrap();
    }

    #[test]
    fn without_threads_jobs_run_in_steps() {
        let pool = BackgroundPool::new(Arc::new(MemoryEnv::with_steps()), 1);
        let (sender, receiver) = mpsc::channel();
        pool.submit(JobKind::Flush, Box::new(move || sender.send(()).unwrap()));
        assert!(receiver.try_recv().is_err());
        assert!(pool.run_one());
        assert!(receiver.try_recv().is_ok());
        assert!(!pool.run_one());
    }
}
