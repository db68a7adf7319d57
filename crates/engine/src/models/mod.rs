//! Models of what threads share, run by a model checker. Each test runs in every order of what its threads do, with every
//! old value that an atomic may still show, up to [`PREEMPTIONS`] switches that no thread asked for. The code is the
//! engine's own; only the primitives below it are loom's (`sync`).
//!
//! For each atomic, loom remembers only the last access and the last access that changed it. It therefore misses that a
//! store could have come before another thread's load if the storing thread has loaded the same atomic in between. That is
//! why writers run on the first thread, which starts first, and readers on threads that start later.
//!
//! The models are built with `--cfg loom` only; `scripts/threads loom` runs them.

mod commit_queue;
mod memtable;
mod readers;
mod submit_queue;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Few bugs need more switches than this (Musuvathi and Qadeer, 2007), and each one multiplies the orders to try.
/// `LOOM_MAX_PREEMPTIONS` sets another number.
const PREEMPTIONS: usize = 2;

/// Enough for every model here. A thread that runs for ever is reported instead of waited for.
const MAX_BRANCHES: usize = 10_000;

/// A model with fewer orders than this tests nothing.
const LEAST_ORDERS: usize = 5;

/// Runs `model` in every order.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(PREEMPTIONS);
    builder.max_branches = MAX_BRANCHES;
    let orders = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&orders);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let orders = orders.load(Ordering::Relaxed);
    println!("{orders} orders");
    assert!(orders >= LEAST_ORDERS, "the threads of this model never meet: {orders} orders");
}
