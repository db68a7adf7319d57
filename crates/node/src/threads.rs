//! A few threads that run jobs in turn, however many jobs there are at once. They stay for a moment in case another job
//! comes, and then end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::open_database;

/// Long enough for the next of several calls, and soon over.
const IDLE: Duration = Duration::from_millis(500);

pub type Job = Box<dyn FnOnce() + Send>;

/// The threads of one environment for one kind of job.
pub struct Threads {
    name: &'static str,
    most: usize,
    /// How long a thread without work waits for more.
    idle: Duration,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    threads: Vec<JoinHandle<()>>,
    running: usize,
    idle: usize,
    ending: bool,
}

impl Threads {
    /// At most `most` threads at a time, called `name`.
    pub fn new(name: &'static str, most: usize) -> Self {
        Self { name, most, idle: IDLE, shared: Arc::default() }
    }

    /// Runs `job`, which must not wait for another one. It runs here if there is no thread and none can be started.
    pub fn run(&self, job: Job) {
        let mut state = self.shared.state.lock();
        state.queue.push_back(job);
        if state.idle < state.queue.len() && state.running < self.most {
            state.threads.retain(|thread| !thread.is_finished());
            let (shared, idle) = (Arc::clone(&self.shared), self.idle);
            if let Ok(thread) =
                thread::Builder::new().name(self.name.to_owned()).spawn(move || shared.serve(idle))
            {
                state.threads.push(thread);
                state.running += 1;
            }
        }
        if state.running == 0 {
            let job = state.queue.pop_back();
            drop(state);
            job.into_iter().for_each(|job| job());
            return;
        }
        drop(state);
        self.shared.work.notify_one();
    }

    /// Waits until all jobs are done and all threads have ended.
    pub fn end(&self) {
        let mut state = self.shared.state.lock();
        state.ending = true;
        let threads = std::mem::take(&mut state.threads);
        drop(state);
        self.shared.work.notify_all();
        for thread in threads {
            // A job catches its own panics.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Runs jobs until none comes for as long as `idle`.
    fn serve(&self, idle: Duration) {
        open_database::allow_waiting();
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                drop(state);
                job();
                state = self.state.lock();
                continue;
            }
            if state.ending {
                break;
            }
            state.idle += 1;
            let waited = self.work.wait_for(&mut state, idle);
            state.idle -= 1;
            if waited.timed_out() && state.queue.is_empty() {
                break;
            }
        }
        state.running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::mpsc;

    use terrace_engine::env::conformance::eventually;

    use super::*;

    #[test]
    fn many_jobs_run_on_few_threads_and_the_end_waits_for_them() {
        // None ends meanwhile, however slow the machine: another one would take its place.
        let threads = Threads { idle: Duration::from_secs(3600), ..Threads::new("test", 3) };
        let (sender, receiver) = mpsc::channel();
        for _ in 0..1000 {
            let sender = sender.clone();
            threads.run(Box::new(move || sender.send(thread::current().id()).unwrap()));
        }
        threads.end();
        let used: Vec<_> = receiver.try_iter().collect();
        assert_eq!(used.len(), 1000);
        assert!(HashSet::<thread::ThreadId>::from_iter(used).len() <= 3);
    }

    #[test]
    fn a_job_after_a_pause_runs() {
        let threads = Threads { idle: Duration::from_millis(1), ..Threads::new("test", 3) };
        for _ in 0..2 {
            let (sender, receiver) = mpsc::channel();
            threads.run(Box::new(move || sender.send(()).unwrap()));
            receiver.recv().unwrap();
            eventually("the thread ends", || threads.shared.state.lock().running == 0);
        }
    }
}
