//! readseq, readreverse, readrandom, readmissing, readhot.

use crate::entries::number_of;
use crate::lane::{CHECKED_EVERY, Lane, Plan};
use crate::live_keys::LiveKeys;
use crate::random::ParkMiller;
use crate::store::Start;
use crate::workload::{Work, expect_count};
use crate::{Failure, Result};

/// Reads entries one after the other.
pub(super) struct Scan {
    backward: bool,
}

impl Scan {
    pub(super) const FORWARD: Self = Self { backward: false };
    pub(super) const BACKWARD: Self = Self { backward: true };
}

impl Work for Scan {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        let start = if self.backward { Start::Last } else { Start::First };
        let (store, reads) = (lane.store, lane.plan.reads);
        let mut order = OrderCheck { backward: self.backward, last: None };
        let mut failure: Option<Failure> = None;
        let is_timed = lane.meter.times_each();
        // A step takes an engine some hundred instructions, so the work between two steps is kept to a few.
        let (mut found, mut counted, mut bytes) = (0, 0, 0);
        let mut visit = |key: &[u8], value: &[u8]| {
            if found % CHECKED_EVERY == 0 {
                failure = order.check(lane, key, value).err();
                if !is_timed {
                    lane.meter.done_many(found - counted, bytes);
                    (counted, bytes) = (found, 0);
                }
            }
            found += 1;
            bytes += key.len() + value.len();
            if is_timed {
                lane.meter.done(key.len() + value.len());
            }
            found < reads && (found % CHECKED_EVERY != 1 || failure.is_none())
        };
        store.scan(start, &mut visit)?;
        if !is_timed {
            lane.meter.done_many(found - counted, bytes);
        }
        lane.found = found;
        failure.map_or(Ok(()), Err)
    }

    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String> {
        for lane in lanes {
            expect_count("entries", lane.found, live.count().min(lane.plan.reads))?;
        }
        Ok(String::new())
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(plan.reads.min(plan.live))
    }
}

/// Checks that keys come in order, each with its value.
struct OrderCheck {
    backward: bool,
    last: Option<u64>,
}

impl OrderCheck {
    fn check(&mut self, lane: &Lane<'_>, key: &[u8], value: &[u8]) -> Result<()> {
        let number = number_of(key).ok_or("a key that is not one of db_bench's")?;
        let is_ordered =
            self.last.is_none_or(|last| if self.backward { number < last } else { number > last });
        if !is_ordered {
            return Err(format!("key {number} is out of order").into());
        }
        self.last = Some(number);
        lane.check_value(number, value)
    }
}

/// Which keys are read.
#[derive(Clone, Copy)]
enum Which {
    All,
    /// Keys without their last digit.
    Missing,
    /// The first 1 %.
    Hot,
}

/// Reads one key after the other.
pub(super) struct Points(Which);

impl Points {
    pub(super) const ALL: Self = Self(Which::All);
    pub(super) const MISSING: Self = Self(Which::Missing);
    pub(super) const HOT: Self = Self(Which::Hot);

    /// Numbers are drawn from below this.
    fn range(&self, num: u64) -> u64 {
        match self.0 {
            Which::All | Which::Missing => num,
            Which::Hot => num.div_ceil(100),
        }
    }
}

impl Work for Points {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        let range = self.range(lane.plan.num);
        let dropped_digits = usize::from(matches!(self.0, Which::Missing));
        let (mut key, mut value) = (lane.key(), Vec::new());
        let mut reader = lane.store.reader()?;
        for index in 0..lane.plan.reads {
            let number = lane.random.below(range);
            let key = key.set(number);
            let found = reader.get(&key[..key.len() - dropped_digits], &mut value)?;
            lane.found += u64::from(found);
            lane.meter.done(if found { key.len() + value.len() } else { 0 });
            if found && index.is_multiple_of(CHECKED_EVERY) {
                lane.check_value(number, &value)?;
            }
        }
        Ok(())
    }

    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String> {
        for lane in lanes {
            let expected = match self.0 {
                Which::Missing => 0,
                Which::All | Which::Hot => {
                    let mut random = ParkMiller::new(lane.seed);
                    let range = self.range(lane.plan.num);
                    live.count_of((0..lane.plan.reads).map(|_| random.below(range)))
                }
            };
            expect_count("keys found", lane.found, expected)?;
        }
        let found: u64 = lanes.iter().map(|lane| lane.found).sum();
        let reads: u64 = lanes.iter().map(|lane| lane.plan.reads).sum();
        Ok(format!("({found} of {reads} found)"))
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(plan.reads)
    }
}
