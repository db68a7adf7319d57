//! Counts and times the operations of one thread. [`crate::report`] adds up the meters of all threads.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::progress::Progress;

/// Operations between two reports of progress.
const REPORTED_EVERY: u64 = 256;
/// The longest latency that is distinguished from longer ones.
const MAX_LATENCY_NANOS: u64 = 600 * 1_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;
/// The length of one interval of the timeline: long enough that one operation in a thousand is many.
const INTERVAL: Duration = Duration::from_secs(1);

/// Latencies of one interval of time, for a plot over time.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Interval {
    /// Its end, in seconds since the start of the workload.
    pub at_seconds: f64,
    /// Number of operations that ended in it.
    pub ops: u64,
    /// Half of them took no longer.
    #[serde(default)]
    pub p50_micros: f64,
    /// 99 % of them took no longer.
    #[serde(default)]
    pub p99_micros: f64,
    /// 99.9 % of them took no longer.
    pub p999_micros: f64,
    /// The longest latency.
    pub max_micros: f64,
}

/// Latencies in the order of the results.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Latency {
    /// Half took no longer.
    pub p50: f64,
    /// 99 % took no longer.
    pub p99: f64,
    /// 99.9 % took no longer.
    pub p999: f64,
    /// The longest latency.
    pub max: f64,
}

impl Latency {
    fn of(nanos: &Histogram<u64>) -> Self {
        let micros = |quantile| nanos.value_at_quantile(quantile) as f64 / 1e3;
        Self { p50: micros(0.5), p99: micros(0.99), p999: micros(0.999), max: nanos.max() as f64 / 1e3 }
    }
}

/// All latencies, and those of the current interval.
struct Latencies {
    all: Histogram<u64>,
    interval: Histogram<u64>,
    timeline: Vec<Interval>,
    last: Instant,
    interval_ends: Instant,
}

impl Latencies {
    fn new() -> Result<Self> {
        let histogram = Histogram::new_with_bounds(1, MAX_LATENCY_NANOS, SIGNIFICANT_DIGITS)?;
        let now = Instant::now();
        Ok(Self {
            all: histogram.clone(),
            interval: histogram,
            timeline: Vec::new(),
            last: now,
            interval_ends: now,
        })
    }

    fn start(&mut self, now: Instant) {
        self.last = now;
        self.interval_ends = now + INTERVAL;
    }

    fn record(&mut self, started: Instant) {
        let now = Instant::now();
        let nanos = (now - self.last).as_nanos() as u64;
        self.last = now;
        self.all.saturating_record(nanos);
        self.interval.saturating_record(nanos);
        if now >= self.interval_ends {
            self.end_interval(now - started);
            self.interval_ends = now + INTERVAL;
            // The time for closing the interval does not count for the next operation.
            self.last = Instant::now();
        }
    }

    /// Ends the last interval if anything happened in it.
    fn stop(&mut self, at: Duration) {
        if !self.interval.is_empty() {
            self.end_interval(at);
        }
    }

    fn end_interval(&mut self, at: Duration) {
        let latency = Latency::of(&self.interval);
        self.timeline.push(Interval {
            at_seconds: at.as_secs_f64(),
            ops: self.interval.len(),
            p50_micros: latency.p50,
            p99_micros: latency.p99,
            p999_micros: latency.p999,
            max_micros: latency.max,
        });
        self.interval.reset();
    }
}

/// Counts and times the operations of one thread.
pub struct Meter<'a> {
    ops: u64,
    bytes: u64,
    unreported: u64,
    started: Instant,
    finished: Instant,
    latencies: Option<Latencies>,
    progress: &'a dyn Progress,
}

impl<'a> Meter<'a> {
    /// Creates a meter; with `histogram` it times each operation.
    pub fn new(histogram: bool, progress: &'a dyn Progress) -> Result<Self> {
        let now = Instant::now();
        let latencies = if histogram { Some(Latencies::new()?) } else { None };
        Ok(Self { ops: 0, bytes: 0, unreported: 0, started: now, finished: now, latencies, progress })
    }

    /// Starts the clock.
    pub fn start(&mut self) {
        self.started = Instant::now();
        if let Some(latencies) = &mut self.latencies {
            latencies.start(self.started);
        }
    }

    /// Records the end of one operation, which moved `bytes`.
    #[inline]
    pub fn done(&mut self, bytes: usize) {
        self.ops += 1;
        self.bytes += bytes as u64;
        if let Some(latencies) = &mut self.latencies {
            latencies.record(self.started);
        }
        self.unreported += 1;
        if self.unreported >= REPORTED_EVERY {
            self.progress.advance(self.unreported);
            self.unreported = 0;
        }
    }

    /// Whether each operation is timed, so that each must be recorded.
    pub fn times_each(&self) -> bool {
        self.latencies.is_some()
    }

    /// Records the end of `ops` operations, which moved `bytes`. Only if operations are not timed.
    pub fn done_many(&mut self, ops: u64, bytes: usize) {
        self.ops += ops;
        self.bytes += bytes as u64;
        self.unreported += ops;
        if self.unreported >= REPORTED_EVERY {
            self.progress.advance(self.unreported);
            self.unreported = 0;
        }
    }

    /// Stops the clock.
    pub fn stop(&mut self) {
        self.finished = Instant::now();
        if let Some(latencies) = &mut self.latencies {
            latencies.stop(self.finished - self.started);
        }
    }

    /// Number of operations so far.
    pub fn ops(&self) -> u64 {
        self.ops
    }

    /// Number of bytes of keys and values that they moved.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The meters of all threads, added up.
pub struct Total {
    /// Operations of all threads.
    pub ops: u64,
    /// Bytes of keys and values that they moved.
    pub bytes: u64,
    /// Sum of the threads' times.
    pub thread_time: Duration,
    /// From the first start to the last end.
    pub elapsed: Duration,
    /// Latencies, if requested.
    pub latency: Option<Latency>,
    /// The first thread's latencies over time, if requested.
    pub timeline: Vec<Interval>,
}

impl Total {
    /// Adds up `meters`.
    ///
    /// # Panics
    ///
    /// If `meters` is empty.
    pub fn of(mut meters: Vec<Meter<'_>>) -> Result<Self> {
        let started = meters.iter().map(|meter| meter.started).min().expect("there is a thread");
        let finished = meters.iter().map(|meter| meter.finished).max().expect("there is a thread");
        let mut latencies = meters.iter_mut().filter_map(|meter| meter.latencies.take());
        let mut first = latencies.next();
        if let Some(first) = &mut first {
            for other in latencies {
                first.all.add(&other.all)?;
            }
        }
        Ok(Self {
            // db_bench pretends that at least one operation was done, for workloads that count none.
            ops: meters.iter().map(Meter::ops).sum::<u64>().max(1),
            bytes: meters.iter().map(Meter::bytes).sum(),
            thread_time: meters.iter().map(|meter| meter.finished - meter.started).sum(),
            elapsed: finished - started,
            latency: first.as_ref().map(|first| Latency::of(&first.all)),
            timeline: first.map_or_else(Vec::new, |first| first.timeline),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn meters_of_several_threads_add_up() {
        let meters = [3, 4].map(|ops| {
            let mut meter = Meter::new(true, &Silent).unwrap();
            meter.start();
            (0..ops).for_each(|_| meter.done(10));
            meter.stop();
            meter
        });
        let total = Total::of(meters.into()).unwrap();
        assert_eq!((total.ops, total.bytes), (7, 70));
        let latency = total.latency.unwrap();
        assert_eq!(total.timeline.iter().map(|interval| interval.ops).sum::<u64>(), 3);
        assert!(latency.p50 <= latency.p99 && latency.p99 <= latency.p999 && latency.p999 <= latency.max);
    }

    #[test]
    fn work_without_operations_counts_as_one() {
        let total = Total::of(vec![Meter::new(false, &Silent).unwrap()]).unwrap();
        assert_eq!((total.ops, total.latency, total.timeline.len()), (1, None, 0));
    }
}
