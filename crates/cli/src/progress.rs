//! Shows the progress of a command: a bar on standard error, after a second, and only on a terminal.

use std::fmt;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// A command that ends within this time shows nothing.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
const REDRAWN_EVERY: Duration = Duration::from_millis(200);

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Entries, tables or other things.
    Pieces,
    Bytes,
    /// Nothing: only time passes.
    Time,
}

/// A progress bar, shown until it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Waits until the time to show the bar; `None` if the bar is invisible.
    waiter: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Creates a bar for `what`, with `total` pieces if that is known.
    pub(crate) fn new(what: &str, unit: Unit, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden())
            .with_style(style(unit, total.is_some()))
            .with_message(what.to_owned());
        let target = ProgressDrawTarget::stderr();
        if target.is_hidden() {
            return Self { bar, waiter: None };
        }
        let (done, is_done) = mpsc::channel();
        let shown = bar.clone();
        let thread = thread::spawn(move || {
            if is_done.recv_timeout(SHOWN_AFTER) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(target);
                shown.enable_steady_tick(REDRAWN_EVERY);
            }
        });
        Self { bar, waiter: Some((done, thread)) }
    }

    /// Adds to the number that is done. Cheap if the bar is invisible, but not free: call it for thousands of entries
    /// at once.
    pub(crate) fn advance(&self, amount: u64) {
        if self.waiter.is_some() {
            self.bar.inc(amount);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.waiter.take() {
            // The waiter may already have ended.
            let _ = done.send(());
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

fn style(unit: Unit, is_known: bool) -> ProgressStyle {
    let template = match (unit, is_known) {
        (Unit::Pieces, true) => "{msg} {bar:40} {human_pos}/{human_len} {rate} {eta}",
        (Unit::Pieces, false) => "{msg} {spinner} {human_pos} {rate} {elapsed}",
        (Unit::Bytes, true) => {
            "{msg} {bar:40} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}"
        }
        (Unit::Bytes, false) => "{msg} {spinner} {binary_bytes} {binary_bytes_per_sec} {elapsed}",
        (Unit::Time, _) => "{msg} {spinner} {elapsed}",
    };
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A bar that cannot be drawn is no reason to fail.
        let _ = write!(out, "{:.0}/s", state.per_sec());
    };
    ProgressStyle::with_template(template).expect("the template is well-formed").with_key("rate", rate)
}
