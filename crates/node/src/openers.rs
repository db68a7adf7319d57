//! Threads that open and close databases: few, however many databases a program opens at once. They stay for a moment in case
//! another is to be opened or closed, and then end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::open_database;

/// How long a thread without work waits for more.
const IDLE: Duration = Duration::from_millis(500);

/// Half the processors, at most this many.
const MOST_THREADS: usize = 4;

pub type Job = Box<dyn FnOnce() + Send>;

/// The threads of one environment.
#[derive(Default)]
pub struct Openers {
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

impl Openers {
    /// Runs `job`, which must not wait for another one. It runs here if there is no thread and none can be started.
    pub fn run(&self, job: Job) {
        let mut state = self.shared.state.lock();
        state.queue.push_back(job);
        if state.idle < state.queue.len() && state.running < most_threads() {
            state.threads.retain(|thread| !thread.is_finished());
            let shared = Arc::clone(&self.shared);
            if let Ok(thread) =
                thread::Builder::new().name("terrace-open".to_owned()).spawn(move || shared.serve())
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

fn most_threads() -> usize {
    thread::available_parallelism().map_or(1, |processors| (processors.get() / 2).clamp(1, MOST_THREADS))
}

impl Shared {
    /// Runs jobs until none comes for a while.
    fn serve(&self) {
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
            let waited = self.work.wait_for(&mut state, IDLE);
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

    use super::*;

    #[test]
    fn many_jobs_run_on_few_threads_and_the_end_waits_for_them() {
        let openers = Openers::default();
        let (sender, receiver) = mpsc::channel();
        for _ in 0..1000 {
            let sender = sender.clone();
            openers.run(Box::new(move || sender.send(thread::current().id()).unwrap()));
        }
        openers.end();
        let threads: Vec<_> = receiver.try_iter().collect();
        assert_eq!(threads.len(), 1000);
        assert!(HashSet::<thread::ThreadId>::from_iter(threads).len() <= most_threads());
    }

    #[test]
    fn a_job_after_a_pause_runs() {
        let openers = Openers::default();
        for _ in 0..2 {
            let (sender, receiver) = mpsc::channel();
            openers.run(Box::new(move || sender.send(()).unwrap()));
            receiver.recv().unwrap();
            thread::sleep(IDLE + IDLE / 2);
            assert_eq!(openers.shared.state.lock().running, 0, "the thread has ended");
        }
    }
}
