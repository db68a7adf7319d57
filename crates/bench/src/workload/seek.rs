//! seekrandom, rangerandom, seekordered.

use crate::Result;
use crate::lane::{Lane, Plan};
use crate::live_keys::LiveKeys;
use crate::random::ParkMiller;
use crate::store::Start;
use crate::workload::{Work, expect_count};

/// Seeks random keys, each with a new iterator.
pub(super) struct Random;

impl Work for Random {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        let mut key = lane.key();
        for _ in 0..lane.plan.reads {
            let target = key.set(lane.random.below(lane.plan.num));
            let mut is_there = false;
            lane.store.scan(Start::At(target), &mut |key, _| {
                is_there = key == target;
                false
            })?;
            lane.found += u64::from(is_there);
            lane.meter.done(0);
        }
        Ok(())
    }

    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String> {
        check(lanes, live, |lane| {
            let mut random = ParkMiller::new(lane.seed);
            let num = lane.plan.num;
            Box::new(std::iter::repeat_with(move || random.below(num)))
        })
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(plan.reads)
    }
}

/// Reads ranges of [`RANGE_LENGTH`] entries from random keys, each with a new iterator.
pub(super) struct Ranges;

const RANGE_LENGTH: u64 = 100;

impl Work for Ranges {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        let mut key = lane.key();
        for _ in 0..lane.plan.reads {
            let target = key.set(lane.random.below(lane.plan.num));
            let (mut seen, mut bytes) = (0, 0);
            lane.store.scan(Start::At(target), &mut |key, value| {
                seen += 1;
                bytes += key.len() + value.len();
                seen < RANGE_LENGTH
            })?;
            lane.found += seen;
            lane.meter.done(bytes);
        }
        Ok(())
    }

    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String> {
        for lane in lanes.iter().filter(|lane| live.count() == lane.plan.num) {
            let mut random = ParkMiller::new(lane.seed);
            let ranges =
                (0..lane.plan.reads).map(|_| RANGE_LENGTH.min(lane.plan.num - random.below(lane.plan.num)));
            expect_count("entries", lane.found, ranges.sum())?;
        }
        Ok(String::new())
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(plan.reads)
    }
}

/// Seeks with one iterator, each time up to 99 keys further.
pub(super) struct Ordered;

/// db_bench's largest step, plus 1.
const STEPS: u64 = 100;

impl Work for Ordered {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        let mut key = lane.key();
        let mut reader = lane.store.reader()?;
        let mut number = 0;
        for _ in 0..lane.plan.reads {
            number = (number + lane.random.below(STEPS)) % lane.plan.num;
            lane.found += u64::from(reader.seek(key.set(number))?);
            lane.meter.done(0);
        }
        Ok(())
    }

    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String> {
        check(lanes, live, |lane| {
            let mut random = ParkMiller::new(lane.seed);
            let (mut number, num) = (0, lane.plan.num);
            Box::new(std::iter::repeat_with(move || {
                number = (number + random.below(STEPS)) % num;
                number
            }))
        })
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(plan.reads)
    }
}

/// Compares how many of each thread's targets were found with how many of them are live.
fn check(
    lanes: &[Lane<'_>],
    live: &LiveKeys,
    targets: impl Fn(&Lane<'_>) -> Box<dyn Iterator<Item = u64>>,
) -> Result<String> {
    for lane in lanes {
        let expected = live.count_of(targets(lane).take(lane.plan.reads as usize));
        expect_count("keys found", lane.found, expected)?;
    }
    let found: u64 = lanes.iter().map(|lane| lane.found).sum();
    let reads: u64 = lanes.iter().map(|lane| lane.plan.reads).sum();
    Ok(format!("({found} of {reads} found)"))
}
