//! Smooth back-pressure: writers are slowed a little and early, so that they are never stopped for long.
//!
//! Writers are charged per byte against the lower of two rates:
//!
//! - **Flushes.** While the maximum number of sealed memtables wait, the active one must not fill up before the oldest
//!   is flushed. The rate is the measured throughput of flushes. A flush may take longer than those before, for example
//!   when the disk is busy with other work. The rate therefore also falls with the room that is left: the last of it
//!   lasts for a tenth of a second.
//! - **Level 0** grows when flushes outrun compactions. From [`SLOWDOWN_FILES`] files on, the rate falls as level 0
//!   grows. It follows the measured throughput of compactions out of level 0.
//!
//! At [`STOP_FILES`] files, writers wait. This is a safety limit that the rate should keep out of reach.

use crate::background::state::Throughput;

/// Number of files in level 0 from which writers are slowed.
pub(crate) const SLOWDOWN_FILES: usize = 8;
/// Number of files in level 0 at which writers wait for a compaction.
pub(crate) const STOP_FILES: usize = 40;
/// The same where compactions run in steps. A writer in a loop then runs them itself: waiting longer would save nothing, and level 0 would
/// take the files that a compaction needs.
pub(crate) const STOP_FILES_IN_STEPS: usize = 6;
/// Number of additional files in level 0 that reduce the rate to an eighth.
const EIGHTH_FILES: f64 = 24.0;
/// The lowest rate to which writers are slowed, in bytes per second.
const MIN_RATE_BYTES_PER_SECOND: f64 = (1 << 20) as f64;
/// Assumed throughput of compactions before the first measurement, in bytes per second.
const INITIAL_DRAIN_BYTES_PER_SECOND: f64 = (64 << 20) as f64;
/// Assumed throughput of flushes before the first measurement, in bytes per second.
const INITIAL_FLUSH_BYTES_PER_SECOND: f64 = (256 << 20) as f64;
/// At its rate, a writer would use up the remaining room within this time, in seconds. But the room keeps shrinking,
/// and the rate with it.
const ROOM_LASTS_SECONDS: f64 = 0.1;
/// The pressure is checked again after this many bytes.
const STALE_AFTER_BYTES: usize = 64 << 10;
/// Share of the newest measurement in the average.
const NEWEST_SHARE: f64 = 0.3;
/// The debt, in microseconds, below which a writer does not sleep. Shorter sleeps cost more than they delay. Longer
/// ones would be fewer, but each would be felt.
const SLEEP_FROM_MICROS: u64 = 250;
/// The longest delay of one write.
const MAX_DELAY_MICROS: u64 = 20_000;

/// The rate that writers may have with `level0_files` in level 0 when compactions move `drain_bytes_per_second` out of
/// it. `None` means no limit.
fn level0_rate(level0_files: usize, drain_bytes_per_second: f64) -> Option<f64> {
    if level0_files < SLOWDOWN_FILES {
        return None;
    }
    // The share falls from twice the drain at the start of the ramp, where level 0 may still grow, to an eighth of the
    // drain at its end.
    let share = 2.0 * (0.125_f64).powf((level0_files - SLOWDOWN_FILES) as f64 / EIGHTH_FILES);
    Some((drain_bytes_per_second * share).max(MIN_RATE_BYTES_PER_SECOND))
}

/// Reasons to slow writers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pressure {
    pub(crate) level0_files: usize,
    /// The bytes that the active memtable may still grow by, if no further memtable may be sealed before one is
    /// flushed.
    pub(crate) room_bytes: Option<usize>,
}

/// A token bucket for writers. The holder of the commit token keeps it.
#[derive(Debug)]
pub(crate) struct Throttle {
    drain_bytes_per_second: f64,
    flush_bytes_per_second: f64,
    rate_bytes_per_second: Option<f64>,
    /// When the bytes charged so far are paid for. In nanoseconds, because a small write costs less than a microsecond.
    paid_at_nanos: u64,
    /// The bytes charged since the pressure was last noted.
    charged_bytes: usize,
}

impl Throttle {
    pub(crate) fn new() -> Self {
        Self {
            drain_bytes_per_second: INITIAL_DRAIN_BYTES_PER_SECOND,
            flush_bytes_per_second: INITIAL_FLUSH_BYTES_PER_SECOND,
            rate_bytes_per_second: None,
            paid_at_nanos: 0,
            charged_bytes: 0,
        }
    }

    /// Notes what compactions took out of level 0.
    pub(crate) fn record_drain(&mut self, drained: Throughput) {
        blend(&mut self.drain_bytes_per_second, drained);
    }

    /// Notes finished flushes.
    pub(crate) fn record_flush(&mut self, flushed: Throughput) {
        blend(&mut self.flush_bytes_per_second, flushed);
    }

    /// Notes what work the background has before it.
    pub(crate) fn set_pressure(&mut self, pressure: Pressure) {
        self.charged_bytes = 0;
        let level0 = level0_rate(pressure.level0_files, self.drain_bytes_per_second);
        let flush = pressure.room_bytes.map(|room_bytes| {
            let room_rate = (room_bytes as f64 / ROOM_LASTS_SECONDS).max(MIN_RATE_BYTES_PER_SECOND);
            self.flush_bytes_per_second.min(room_rate)
        });
        self.rate_bytes_per_second = level0.into_iter().chain(flush).reduce(f64::min);
    }

    /// How long a write must wait, in microseconds, before it may begin at `now_micros`. 0 means no wait.
    pub(crate) fn delay_micros(&self, now_micros: u64) -> u64 {
        if self.rate_bytes_per_second.is_none() {
            return 0;
        }
        let debt = (self.paid_at_nanos / 1000).saturating_sub(now_micros);
        if debt < SLEEP_FROM_MICROS { 0 } else { debt.min(MAX_DELAY_MICROS) }
    }

    /// Charges a write of `bytes` that begins at `now_micros`.
    pub(crate) fn charge(&mut self, bytes: usize, now_micros: u64) {
        if let Some(rate) = self.rate_bytes_per_second {
            let nanos = bytes as f64 * 1e9 / rate;
            let from_nanos = self.paid_at_nanos.max(now_micros.saturating_mul(1000));
            self.paid_at_nanos = from_nanos.saturating_add(nanos as u64);
            self.charged_bytes += bytes;
        }
    }

    /// Whether enough was written since the pressure was noted that it may have changed.
    pub(crate) fn is_stale(&self) -> bool {
        self.charged_bytes >= STALE_AFTER_BYTES
    }

    /// Whether writes are being slowed.
    pub(crate) fn is_active(&self) -> bool {
        self.rate_bytes_per_second.is_some()
    }
}

fn blend(average: &mut f64, measured: Throughput) {
    *average += NEWEST_SHARE * (measured.bytes_per_second() - *average);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level0(level0_files: usize) -> Pressure {
        Pressure { level0_files, room_bytes: None }
    }

    #[test]
    fn the_rate_falls_smoothly_with_level_0() {
        assert_eq!(level0_rate(SLOWDOWN_FILES - 1, 1e8), None);
        let rates: Vec<f64> = (SLOWDOWN_FILES..=STOP_FILES).map(|n| level0_rate(n, 1e8).unwrap()).collect();
        assert!((rates[0] - 2e8).abs() < 1.0);
        assert!(*rates.last().unwrap() < 0.15 * 1e8);
        for pair in rates.windows(2) {
            assert!(pair[1] < pair[0] && pair[1] > pair[0] * 0.85, "{pair:?}");
        }
    }

    #[test]
    fn a_slowed_writer_gets_the_rate_and_no_more() {
        // This also holds for writes so small that each is paid for in less than a microsecond.
        for write_bytes in [10, 10_000] {
            let mut throttle = Throttle::new();
            throttle.set_pressure(level0(STOP_FILES));
            let rate = throttle.rate_bytes_per_second.unwrap();
            let (mut now, mut written) = (0u64, 0);
            while now < 10_000_000 {
                let delay = throttle.delay_micros(now);
                now += delay;
                throttle.charge(write_bytes, now);
                written += write_bytes;
                now += u64::from(delay > 0);
            }
            let expected = rate * 10.0;
            assert!((written as f64) < expected * 1.02 && (written as f64) > expected * 0.95);
        }
    }

    #[test]
    fn a_large_write_is_not_delayed_for_long() {
        let mut throttle = Throttle::new();
        throttle.set_pressure(level0(STOP_FILES));
        throttle.charge(1 << 30, 0);
        assert_eq!(throttle.delay_micros(0), MAX_DELAY_MICROS);
    }

    #[test]
    fn the_measured_drain_moves_the_rate() {
        let mut throttle = Throttle::new();
        for _ in 0..30 {
            throttle.record_drain(Throughput { bytes: 10_000_000, micros: 1_000_000 });
        }
        throttle.set_pressure(level0(SLOWDOWN_FILES));
        let rate = throttle.rate_bytes_per_second.unwrap();
        assert!((rate - 2e7).abs() < 1e6, "{rate}");
    }

    #[test]
    fn while_flushes_lag_a_writer_gets_no_more_than_they_manage() {
        let mut throttle = Throttle::new();
        for _ in 0..30 {
            throttle.record_flush(Throughput { bytes: 5_000_000, micros: 1_000_000 });
        }
        throttle.set_pressure(level0(0));
        assert!(!throttle.is_active());
        throttle.set_pressure(Pressure { level0_files: SLOWDOWN_FILES, room_bytes: Some(16 << 20) });
        let rate = throttle.rate_bytes_per_second.unwrap();
        assert!((rate - 5e6).abs() < 1e5, "{rate}");
    }

    #[test]
    fn a_flush_that_takes_long_does_not_stop_a_writer_at_once() {
        let mut throttle = Throttle::new();
        let (mut room_bytes, mut now, mut longest) = (16 << 20, 0u64, 0);
        while room_bytes > 0 {
            throttle.set_pressure(Pressure { level0_files: 0, room_bytes: Some(room_bytes) });
            let delay = throttle.delay_micros(now);
            longest = longest.max(delay);
            now += delay;
            throttle.charge(116, now);
            room_bytes = room_bytes.saturating_sub(116);
            // No write takes less.
            now += u64::from(room_bytes % 4 == 0);
        }
        assert!(now > 400_000, "the room was used up in {now} µs");
        assert!(longest < 1_000, "a write was delayed by {longest} µs");
    }
}
