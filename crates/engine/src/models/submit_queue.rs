//! Threads that submit, the thread that writes what they submitted, and one that closes the queue.

use std::sync::Arc;

use loom::thread;
use terrace_env::ThreadHandle;

use super::explore;
use crate::error::{ErrorKind, Result};
use crate::sync::{Condvar, Mutex};
use crate::write::submit_queue::SubmitQueue;

/// The queue and what was taken out of it.
struct Model {
    queue: SubmitQueue<u8>,
    written: Mutex<Vec<u8>>,
    has_written: Condvar,
}

struct ModelThread(thread::JoinHandle<()>);

impl ThreadHandle for ModelThread {
    fn join(self: Box<Self>) {
        self.0.join().unwrap();
    }
}

impl Model {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            queue: SubmitQueue::new(),
            written: Mutex::new(Vec::new()),
            has_written: Condvar::new(),
        })
    }

    /// Whether the queue accepted `item`.
    fn push(self: &Arc<Self>, item: u8) -> bool {
        match self.queue.push(item, || self.start()) {
            Ok(()) => true,
            Err((refused, error)) => {
                assert_eq!((refused, error.kind()), (item, ErrorKind::Closed));
                false
            }
        }
    }

    fn start(self: &Arc<Self>) -> Result<Box<dyn ThreadHandle>> {
        let model = Arc::clone(self);
        let serve = move || {
            model.queue.serve(
                |item| item % 2 == 1,
                |items| {
                    model.written.lock().extend(items);
                    model.has_written.notify_all();
                },
            );
        };
        Ok(Box::new(ModelThread(thread::spawn(serve))))
    }

    fn written(&self) -> Vec<u8> {
        self.written.lock().clone()
    }

    fn wait_until_written(&self, item: u8) {
        let mut written = self.written.lock();
        while !written.contains(&item) {
            self.has_written.wait(&mut written);
        }
    }
}

#[test]
fn what_was_accepted_is_written_once_in_order_also_while_closing() {
    explore(|| {
        let model = Model::new();
        let submitter = thread::spawn({
            let model = Arc::clone(&model);
            move || (0..2).filter(|item| model.push(*item)).collect::<Vec<_>>()
        });
        model.queue.close();
        let written = model.written();
        let accepted = submitter.join().unwrap();
        assert_eq!(written, accepted);
        assert_eq!(model.written(), written, "nothing is written after the queue was closed");
    });
}

#[test]
fn submitters_start_one_thread_which_writes_for_all() {
    explore(|| {
        let model = Model::new();
        let submitter = thread::spawn({
            let model = Arc::clone(&model);
            move || assert!(model.push(0) && model.push(1))
        });
        assert!(model.push(2));
        submitter.join().unwrap();
        model.queue.close();
        let mut written = model.written();
        assert!(written.iter().position(|item| *item == 0) < written.iter().position(|item| *item == 1));
        written.sort_unstable();
        assert_eq!(written, [0, 1, 2]);
    });
}

#[test]
fn an_idle_queue_has_written_what_was_accepted() {
    explore(|| {
        let model = Model::new();
        assert!(model.push(0));
        if model.queue.is_idle() {
            assert_eq!(model.written(), [0]);
        }
        model.queue.close();
    });
}

#[test]
fn what_was_accepted_is_written_without_another_push() {
    explore(|| {
        let model = Model::new();
        for item in 0..2 {
            assert!(model.push(item));
            model.wait_until_written(item);
        }
        model.queue.close();
    });
}
