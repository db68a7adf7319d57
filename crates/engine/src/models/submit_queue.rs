//! Threads that submit, threads that write what was submitted, and one that closes the queue.

use std::sync::Arc;

use super::explore;
use crate::sync::{Condvar, Mutex};
use crate::write::submit_queue::{Next, SubmitQueue};
use loom::thread;

/// The queue and what was taken out of it.
struct Model {
    queue: SubmitQueue<u8>,
    written: Mutex<Vec<u8>>,
    has_written: Condvar,
}

impl Model {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            queue: SubmitQueue::new(),
            written: Mutex::new(Vec::new()),
            has_written: Condvar::new(),
        })
    }

    /// Pushes `item` and returns whether the queue accepted it. Starts a thread to serve the queue if one is needed.
    fn push(self: &Arc<Self>, item: u8) -> bool {
        match self.queue.push(item) {
            Ok(next) => {
                if next == Next::Serve {
                    let model = Arc::clone(self);
                    thread::spawn(move || while model.serve() == Next::Serve {});
                }
                true
            }
            Err(refused) => {
                assert_eq!(refused, item);
                false
            }
        }
    }

    fn serve(&self) -> Next {
        self.queue.serve(|item| item % 2 == 1, |items| self.write(items))
    }

    fn write(&self, items: Vec<u8>) {
        self.written.lock().extend(items);
        self.has_written.notify_all();
    }

    fn close(&self) {
        self.queue.close(|items| self.write(items));
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
fn accepted_items_are_written_once_in_order_even_while_closing() {
    explore(|| {
        let model = Model::new();
        let submitter = thread::spawn({
            let model = Arc::clone(&model);
            move || (0..2).filter(|item| model.push(*item)).collect::<Vec<_>>()
        });
        model.close();
        let written = model.written();
        let accepted = submitter.join().unwrap();
        assert_eq!(written, accepted);
        assert_eq!(model.written(), written, "nothing is written after the queue was closed");
    });
}

#[test]
fn submitters_share_one_writer() {
    explore(|| {
        let model = Model::new();
        let submitter = thread::spawn({
            let model = Arc::clone(&model);
            move || assert!(model.push(0) && model.push(1))
        });
        assert!(model.push(2));
        submitter.join().unwrap();
        model.close();
        let mut written = model.written();
        assert!(written.iter().position(|item| *item == 0) < written.iter().position(|item| *item == 1));
        written.sort_unstable();
        assert_eq!(written, [0, 1, 2]);
    });
}

#[test]
fn an_idle_queue_has_written_all_accepted_items() {
    explore(|| {
        let model = Model::new();
        assert!(model.push(0));
        if model.queue.is_idle() {
            assert_eq!(model.written(), [0]);
        }
        model.close();
    });
}

#[test]
fn accepted_items_are_written_without_another_push() {
    explore(|| {
        let model = Model::new();
        for item in 0..2 {
            assert!(model.push(item));
            model.wait_until_written(item);
        }
        model.close();
    });
}
