//! Tests the background step by step on the test's thread, with jobs that only record their calls.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use terrace_env::conformance::eventually;
use terrace_env::locks::Mutex;
use terrace_env::{Env, HeldClock, MemoryEnv};

use super::scheduler::{Background, BackgroundParts, Jobs, RETRY_AFTER};
use super::state::BackgroundState;
use crate::compaction::picker::{CompactionPlan, PickerOptions, RangeCompaction, RangeStep};
use crate::compaction::reservations::Reservations;
use crate::error::{Error, ErrorKind, Result};
use crate::pool::BackgroundPool;
use crate::read::published::Published;
use crate::read::super_version::SealedMemTable;
use crate::testing::Shared;
use crate::version::testing::{comparator, version};

const IDLE_AFTER: Duration = Duration::from_secs(2);

/// What one flush does.
enum Outcome {
    Fails(ErrorKind),
    Panics,
}

struct NotedJobs {
    published: Arc<Published>,
    /// What the next flushes do. Later ones succeed.
    outcomes: Mutex<VecDeque<Outcome>>,
    flushed: Mutex<Vec<u64>>,
    due: Mutex<Option<CompactionPlan>>,
    compacted: AtomicUsize,
    /// How many more times there is work for idle time.
    idle_work: AtomicUsize,
    idle_calls: AtomicUsize,
}

impl Jobs for NotedJobs {
    fn pick_compaction(&self, _state: &BackgroundState) -> Option<CompactionPlan> {
        self.due.lock().take()
    }

    fn flush(&self, sealed: &Arc<SealedMemTable>) -> Result<()> {
        match self.outcomes.lock().pop_front() {
            Some(Outcome::Fails(kind)) => return Err(Error::new(kind, "it cannot be written")),
            Some(Outcome::Panics) => panic!("a flush that panics"),
            None => {}
        }
        self.flushed.lock().push(sealed.file_number);
        self.published.change(|view| view.sealed.retain(|other| !Arc::ptr_eq(other, sealed)));
        Ok(())
    }

    fn compact(&self, _plan: &CompactionPlan, _helpers: usize) -> Result<()> {
        self.compacted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn clean_up(&self) {}

    fn use_idle_time(&self) -> bool {
        self.idle_calls.fetch_add(1, Ordering::Relaxed);
        let less = |left: usize| left.checked_sub(1);
        self.idle_work.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

struct Fixture {
    background: Arc<Background>,
    jobs: Arc<NotedJobs>,
    shared: Shared,
}

impl Fixture {
    fn new(env: Arc<dyn Env>) -> Self {
        let shared = Shared::new(&env);
        let jobs = Arc::new(NotedJobs {
            published: Arc::clone(&shared.published),
            outcomes: Mutex::default(),
            flushed: Mutex::default(),
            due: Mutex::default(),
            compacted: AtomicUsize::new(0),
            idle_work: AtomicUsize::new(0),
            idle_calls: AtomicUsize::new(0),
        });
        let weak: Weak<NotedJobs> = Arc::downgrade(&jobs);
        let parts = BackgroundParts {
            pool: Some(Arc::new(BackgroundPool::new(Arc::clone(&env), 1))),
            jobs: weak,
            health: Arc::clone(&shared.health),
            published: Arc::clone(&shared.published),
            info_log: Arc::clone(&shared.files.info_log),
            env,
            compaction_threads: 1,
            idle_after: IDLE_AFTER,
        };
        Self { background: Background::new(BackgroundState::default(), parts), jobs, shared }
    }

    fn stepped() -> Self {
        Self::new(Arc::new(MemoryEnv::with_steps()))
    }

    /// With threads, on a clock that the test holds.
    fn with_threads() -> (Self, HeldClock) {
        let clock = HeldClock::new();
        (Self::new(Arc::new(MemoryEnv::new().with_clock(clock.clone()))), clock)
    }

    /// Waits until the threads have done what is due.
    fn wait_for_threads(&self) {
        let pool = self.background.parts.pool.as_ref().unwrap();
        eventually("the threads are idle", || pool.is_idle());
    }

    fn schedule(&self) {
        self.background.schedule(&mut self.background.lock());
    }

    fn wait_for_flushes(&self) -> Result<()> {
        self.background.wait_for_change(|| self.shared.published.super_version().sealed.is_empty())
    }

    fn is_quiet(&self) -> bool {
        self.background.lock().is_quiet()
    }
}

#[test]
fn sealed_memtables_are_flushed_one_at_a_time_oldest_first() {
    let fixture = Fixture::stepped();
    assert!(!fixture.background.step(), "nothing is due");
    for number in [4, 6, 8] {
        fixture.shared.seal(number, |_| ());
        fixture.schedule();
    }
    assert!(!fixture.is_quiet());
    for flushed in [&[4][..], &[4, 6], &[4, 6, 8]] {
        assert!(fixture.background.step());
        assert_eq!(*fixture.jobs.flushed.lock(), flushed);
    }
    assert!(!fixture.background.step() && fixture.is_quiet());
}

#[test]
fn whoever_waits_for_a_full_disk_is_told_and_may_try_again() {
    let fixture = Fixture::stepped();
    fixture.jobs.outcomes.lock().push_back(Outcome::Fails(ErrorKind::DiskFull));
    fixture.shared.seal(4, |_| ());
    assert_eq!(fixture.wait_for_flushes().unwrap_err().kind(), ErrorKind::DiskFull);
    assert!(!fixture.shared.health.is_poisoned());
    fixture.wait_for_flushes().unwrap();
    assert_eq!(*fixture.jobs.flushed.lock(), [4]);
}

#[test]
fn with_threads_a_job_that_found_no_room_is_tried_again_by_itself() {
    let (fixture, clock) = Fixture::with_threads();
    fixture.jobs.outcomes.lock().push_back(Outcome::Fails(ErrorKind::TooManyFiles));
    fixture.shared.seal(4, |_| ());
    assert_eq!(fixture.wait_for_flushes().unwrap_err().kind(), ErrorKind::TooManyFiles);
    let almost = RETRY_AFTER - Duration::from_micros(1);
    clock.advance(almost);
    fixture.wait_for_threads();
    assert_eq!(fixture.wait_for_flushes().unwrap_err().kind(), ErrorKind::TooManyFiles);
    assert!(fixture.jobs.flushed.lock().is_empty());
    clock.advance(RETRY_AFTER - almost);
    fixture.wait_for_threads();
    assert!(fixture.background.lock().obstacle.is_none() && fixture.is_quiet());
    assert_eq!(*fixture.jobs.flushed.lock(), [4]);
}

#[test]
fn a_job_that_fails_otherwise_or_panics_poisons_and_nothing_follows() {
    let panics = [Outcome::Fails(ErrorKind::Io), Outcome::Panics];
    for outcome in panics {
        let fixture = Fixture::stepped();
        fixture.jobs.outcomes.lock().push_back(outcome);
        fixture.shared.seal(4, |_| ());
        fixture.shared.seal(6, |_| ());
        assert_eq!(fixture.wait_for_flushes().unwrap_err().kind(), ErrorKind::Poisoned);
        assert!(fixture.shared.health.is_poisoned() && fixture.is_quiet());
        fixture.schedule();
        assert!(!fixture.background.step());
        assert!(fixture.jobs.flushed.lock().is_empty());
    }
}

#[test]
fn nothing_begins_once_the_database_closes() {
    let fixture = Fixture::stepped();
    fixture.shared.seal(4, |_| ());
    fixture.background.lock().closing = true;
    fixture.schedule();
    fixture.background.run_chore(|| panic!("it does not run"));
    assert!(!fixture.background.step() && fixture.is_quiet());
    assert_eq!(fixture.wait_for_flushes().unwrap_err().kind(), ErrorKind::Closed);
}

fn some_plan() -> CompactionPlan {
    let files = version(&[(0, 9, "a", "z"), (0, 8, "a", "z"), (1, 1, "b", "c")]);
    let options = PickerOptions::new(comparator(), 100, 2.0, None);
    let step = RangeCompaction::new(None, None, 100).next_step(&files, &Reservations::default(), &options);
    let RangeStep::Run(plan) = step else { panic!("{step:?}") };
    *plan
}

#[test]
fn no_compaction_begins_before_a_manual_one_that_is_due() {
    let fixture = Fixture::stepped();
    *fixture.jobs.due.lock() = Some(some_plan());
    fixture.background.lock().manual_due = 1;
    fixture.schedule();
    assert!(!fixture.background.step(), "a manual one goes first");
    fixture.background.lock().manual_running = 1;
    fixture.schedule();
    assert!(fixture.background.step(), "a second manual one holds up nothing while a first one runs");
    *fixture.jobs.due.lock() = Some(some_plan());
    let mut state = fixture.background.lock();
    (state.manual_due, state.manual_running) = (0, 0);
    drop(state);
    fixture.schedule();
    assert!(fixture.background.step());
    assert_eq!(fixture.jobs.compacted.load(Ordering::Relaxed), 2);
}

#[test]
fn what_a_compaction_touches_is_reserved_until_it_ends() {
    let fixture = Fixture::stepped();
    *fixture.jobs.due.lock() = Some(some_plan());
    fixture.schedule();
    let reserved = |fixture: &Fixture| !fixture.background.lock().reservations.is_empty();
    assert!(reserved(&fixture) && !fixture.is_quiet());
    assert!(fixture.background.step());
    assert_eq!(fixture.jobs.compacted.load(Ordering::Relaxed), 1);
    assert!(!reserved(&fixture) && fixture.is_quiet());
}

#[test]
fn the_watch_for_idleness_goes_on_while_it_finds_work_and_then_ends() {
    let (fixture, clock) = Fixture::with_threads();
    // Whether the watch still runs, and how often it has looked for work, once this much more time has passed.
    let after = |time: Duration| {
        clock.advance(time);
        fixture.wait_for_threads();
        let goes_on = fixture.background.idle_check_armed.load(Ordering::Acquire);
        (goes_on, fixture.jobs.idle_calls.load(Ordering::Relaxed))
    };
    fixture.jobs.idle_work.store(3, Ordering::Relaxed);
    fixture.background.watch_for_idleness();
    assert_eq!(after(IDLE_AFTER / 2), (true, 0), "it is not idle yet");
    assert_eq!(after(IDLE_AFTER / 2), (true, 1));
    assert_eq!(after(IDLE_AFTER), (true, 2));
    assert_eq!(after(IDLE_AFTER), (true, 3));
    assert_eq!(after(IDLE_AFTER), (false, 4), "three times work, then none");
    assert_eq!(after(IDLE_AFTER), (false, 4));
    // A write came since the last check, so the database is not idle now, but it is at the next check.
    fixture.shared.published.publish(1);
    fixture.background.watch_for_idleness();
    assert_eq!(after(IDLE_AFTER), (true, 4));
    assert_eq!(after(IDLE_AFTER), (false, 5));
}
