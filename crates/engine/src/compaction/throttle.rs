//! Smooth back-pressure: writers are slowed a little and early, so that they are never stopped for long.
//!
//! Level 0 grows when flushes outrun compactions. From [`SLOWDOWN_FILES`] files on, writers are charged per byte
//! against a rate that falls as level 0 grows, and that follows the measured throughput of compactions out of
//! level 0. At [`STOP_FILES`] writers wait: a safety that the rate should keep out of reach.

/// Files in level 0 from which writers are slowed.
pub(crate) const SLOWDOWN_FILES: usize = 8;
/// Files in level 0 at which writers wait for a compaction.
pub(crate) const STOP_FILES: usize = 32;
/// The slowest that writers are made, in bytes a second.
const MIN_RATE_BYTES_PER_SECOND: f64 = (1 << 20) as f64;
/// Assumed throughput of compactions before one was measured, in bytes a second.
const INITIAL_DRAIN_BYTES_PER_SECOND: f64 = (64 << 20) as f64;
/// Debt, in microseconds, below which a writer need not sleep: shorter sleeps cost more than they delay.
const SLEEP_FROM_MICROS: u64 = 1_000;
/// The longest that one write is delayed.
const MAX_DELAY_MICROS: u64 = 20_000;

/// The rate that writers may have with `level0_files` in level 0 where compactions move
/// `drain_bytes_per_second` out of it; `None` is no limit.
fn allowed_rate(level0_files: usize, drain_bytes_per_second: f64) -> Option<f64> {
    if level0_files < SLOWDOWN_FILES {
        return None;
    }
    let span = (STOP_FILES - SLOWDOWN_FILES) as f64;
    let fill = ((level0_files - SLOWDOWN_FILES) as f64 / span).min(1.0);
    // From twice the drain at the start of the ramp, where level 0 may still grow, to a quarter at its end.
    let share = 2.0 * (0.125_f64).powf(fill);
    Some((drain_bytes_per_second * share).max(MIN_RATE_BYTES_PER_SECOND))
}

/// A token bucket for writers. Kept by whoever holds the commit token.
#[derive(Debug)]
pub(crate) struct Throttle {
    drain_bytes_per_second: f64,
    rate_bytes_per_second: Option<f64>,
    /// When the bytes charged so far are paid for.
    paid_at_micros: u64,
}

impl Throttle {
    pub(crate) fn new() -> Self {
        Self {
            drain_bytes_per_second: INITIAL_DRAIN_BYTES_PER_SECOND,
            rate_bytes_per_second: None,
            paid_at_micros: 0,
        }
    }

    /// Takes note of a finished compaction out of level 0.
    pub(crate) fn record_drain(&mut self, input_bytes: u64, micros: u64) {
        if input_bytes > 0 && micros > 0 {
            let measured = input_bytes as f64 * 1e6 / micros as f64;
            self.drain_bytes_per_second = 0.7 * self.drain_bytes_per_second + 0.3 * measured;
        }
    }

    /// Takes note of the number of files in level 0.
    pub(crate) fn set_level0_files(&mut self, files: usize) {
        self.rate_bytes_per_second = allowed_rate(files, self.drain_bytes_per_second);
    }

    /// How long a write has to wait, in microseconds, before it may begin at `now_micros`. 0: no wait.
    pub(crate) fn delay_micros(&self, now_micros: u64) -> u64 {
        if self.rate_bytes_per_second.is_none() {
            return 0;
        }
        let debt = self.paid_at_micros.saturating_sub(now_micros);
        if debt < SLEEP_FROM_MICROS { 0 } else { debt.min(MAX_DELAY_MICROS) }
    }

    /// Charges a write of `bytes` that begins at `now_micros`.
    pub(crate) fn charge(&mut self, bytes: usize, now_micros: u64) {
        if let Some(rate) = self.rate_bytes_per_second {
            let micros = (bytes as f64 * 1e6 / rate) as u64;
            self.paid_at_micros = self.paid_at_micros.max(now_micros).saturating_add(micros);
        }
    }

    /// Whether writes are being slowed.
    pub(crate) fn is_active(&self) -> bool {
        self.rate_bytes_per_second.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_falls_smoothly_with_level_0() {
        assert_eq!(allowed_rate(SLOWDOWN_FILES - 1, 1e8), None);
        let rates: Vec<f64> = (SLOWDOWN_FILES..=STOP_FILES).map(|n| allowed_rate(n, 1e8).unwrap()).collect();
        assert!((rates[0] - 2e8).abs() < 1.0);
        assert!((rates.last().unwrap() - 2.5e7).abs() < 1.0);
        for pair in rates.windows(2) {
            assert!(pair[1] < pair[0] && pair[1] > pair[0] * 0.85, "{pair:?}");
        }
    }

    #[test]
    fn a_slowed_writer_gets_the_rate_and_no_more() {
        let mut throttle = Throttle::new();
        throttle.set_level0_files(STOP_FILES);
        let rate = throttle.rate_bytes_per_second.unwrap();
        let (mut now, mut written) = (0u64, 0u64);
        while now < 10_000_000 {
            now += throttle.delay_micros(now);
            throttle.charge(10_000, now);
            written += 10_000;
            now += 1;
        }
        let expected = rate * 10.0;
        assert!((written as f64) < expected * 1.02 && (written as f64) > expected * 0.95);
    }

    #[test]
    fn a_large_write_is_not_delayed_for_long() {
        let mut throttle = Throttle::new();
        throttle.set_level0_files(STOP_FILES);
        throttle.charge(1 << 30, 0);
        assert_eq!(throttle.delay_micros(0), MAX_DELAY_MICROS);
    }

    #[test]
    fn the_measured_drain_moves_the_rate() {
        let mut throttle = Throttle::new();
        for _ in 0..30 {
            throttle.record_drain(10_000_000, 1_000_000);
        }
        throttle.set_level0_files(SLOWDOWN_FILES);
        let rate = throttle.rate_bytes_per_second.unwrap();
        assert!((rate - 2e7).abs() < 1e6, "{rate}");
    }
}
