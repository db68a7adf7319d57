//! The progress bar.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How much time has passed, and what was done so far.
pub struct Progress(ProgressBar);

impl Progress {
    /// Creates a bar for a run of this length.
    pub fn new(time: Duration) -> Self {
        let bar = ProgressBar::new(time.as_secs());
        let style = ProgressStyle::with_template("{elapsed_precise} {bar:30} {msg}");
        bar.set_style(style.expect("the template is right"));
        Self(bar)
    }

    /// Shows the state after this time.
    pub fn show(&self, elapsed: Duration, summary: &str) {
        self.0.set_position(elapsed.as_secs());
        self.0.set_message(summary.to_owned());
    }

    /// Removes the bar.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}
