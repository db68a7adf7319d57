//! Checks of clocks and threads.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::TestDirectory;
use crate::Background;

pub(super) fn clocks(place: &TestDirectory) {
    let mut last = place.env.monotonic_micros();
    for _ in 0..1000 {
        let now = place.env.monotonic_micros();
        assert!(now >= last);
        last = now;
    }
    place.env.sleep(Duration::from_millis(3));
    if place.env.background() == Background::Threads {
        assert!(place.env.monotonic_micros() - last >= 3000, "it slept too short");
    }
    place.env.sleep(Duration::ZERO);
    place.env.unix_micros();
}

pub(super) fn threads(place: &TestDirectory) {
    let done = Arc::new(AtomicBool::new(false));
    let work = {
        let (done, env) = (Arc::clone(&done), Arc::clone(&place.env));
        move || {
            env.sleep(Duration::from_millis(5));
            done.store(true, Ordering::SeqCst);
        }
    };
    let started = place.env.spawn("terrace flush", Box::new(work));
    match place.env.background() {
        Background::Threads => {
            started.unwrap().join();
            assert!(done.load(Ordering::SeqCst), "join waits");
            // A panic of the work is not passed on. (This way of raising it prints nothing.)
            let fails = || std::panic::resume_unwind(Box::new("expected"));
            place.env.spawn("fails", Box::new(fails)).unwrap().join();
        }
        Background::Steps => {
            assert_eq!(started.err().unwrap().kind(), ErrorKind::Unsupported);
            assert!(!done.load(Ordering::SeqCst), "refused work does not run");
        }
    }
}

pub(super) fn limits(place: &TestDirectory) {
    assert!(place.env.available_parallelism() >= 1);
    assert_eq!(place.env.process_id(), place.env.process_id());
}
