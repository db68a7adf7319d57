//! Shows the progress of a workload.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Receives the progress of a workload from several threads.
pub trait Progress: Send + Sync {
    /// A workload begins that takes `operations`, if that is known.
    fn begin(&self, workload: &str, operations: Option<u64>);

    /// This many more operations are done.
    fn advance(&self, operations: u64);

    /// The workload is over.
    fn end(&self);
}

/// Shows nothing.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _workload: &str, _operations: Option<u64>) {}
    fn advance(&self, _operations: u64) {}
    fn end(&self) {}
}

/// A workload that ends within this time shows nothing.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
const REDRAWN_EVERY: Duration = Duration::from_millis(200);

/// A bar on standard error, shown once a workload has taken a second.
pub struct Bar {
    state: Mutex<BarState>,
}

struct BarState {
    bar: ProgressBar,
    /// When the workload began; `None` once the bar is shown.
    waits_since: Option<Instant>,
}

impl Default for Bar {
    fn default() -> Self {
        Self { state: Mutex::new(BarState { bar: ProgressBar::hidden(), waits_since: None }) }
    }
}

impl Bar {
    fn style(is_known: bool) -> ProgressStyle {
        let known = "{msg:17} {bar:40} {human_pos:>11} {per_sec:>16} {elapsed:>5}";
        let unknown = "{msg:17} {spinner} {elapsed:>5}";
        let template = if is_known { known } else { unknown };
        ProgressStyle::with_template(template).expect("the template is well-formed")
    }
}

impl Progress for Bar {
    fn begin(&self, workload: &str, operations: Option<u64>) {
        let bar = ProgressBar::with_draw_target(operations, ProgressDrawTarget::hidden())
            .with_style(Self::style(operations.is_some()))
            .with_message(workload.to_owned());
        if operations.is_none() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(REDRAWN_EVERY);
        }
        let waits_since = operations.is_some().then(Instant::now);
        *self.state.lock().expect("drawing does not panic") = BarState { bar, waits_since };
    }

    fn advance(&self, operations: u64) {
        let mut state = self.state.lock().expect("drawing does not panic");
        if state.waits_since.is_some_and(|began| began.elapsed() >= SHOWN_AFTER) {
            state.waits_since = None;
            state.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        state.bar.inc(operations);
    }

    fn end(&self) {
        self.state.lock().expect("drawing does not panic").bar.finish_and_clear();
    }
}
