//! Checks of clocks and threads.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::TestDirectory;
use crate::Background;

pub(super) fn clocks(scratch: &TestDirectory) {
    let mut last = scratch.env.monotonic_micros();
    for _ in 0..1000 {
        let now = scratch.env.monotonic_micros();
        assert!(now >= last);
        last = now;
    }
    scratch.env.sleep(Duration::from_millis(3));
    if scratch.env.background() == Background::Threads {
        assert!(scratch.env.monotonic_micros() - last >= 3000, "it slept too short");
    }
    scratch.env.sleep(Duration::ZERO);
    scratch.env.unix_micros();
}

pub(super) fn threads(scratch: &TestDirectory) {
    let done = Arc::new(AtomicBool::new(false));
    let work = {
        let (done, env) = (Arc::clone(&done), Arc::clone(&scratch.env));
        move || {
            env.sleep(Duration::from_millis(5));
            done.store(true, Ordering::SeqCst);
        }
    };
    let started = scratch.env.spawn("terrace flush", Box::new(work));
    match scratch.env.background() {
        Background::Threads => {
            started.unwrap().join();
            assert!(done.load(Ordering::SeqCst), "join waits");
            // A panic of the work is not passed on. (This way of raising it prints nothing.)
            let fails = || std::panic::resume_unwind(Box::new("expected"));
            scratch.env.spawn("fails", Box::new(fails)).unwrap().join();
        }
        Background::Steps => {
            assert_eq!(started.err().unwrap().kind(), ErrorKind::Unsupported);
            assert!(!done.load(Ordering::SeqCst), "refused work does not run");
        }
    }
}

pub(super) fn limits(scratch: &TestDirectory) {
    assert!(scratch.env.available_parallelism() >= 1);
    assert_eq!(scratch.env.process_id(), scratch.env.process_id());
}
