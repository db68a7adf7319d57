//! readwhilewriting: readers, and one writer that keeps writing until they are done. Only the reads count.

use std::sync::atomic::Ordering;

use crate::Result;
use crate::lane::{CHECKED_EVERY, Lane, Plan};
use crate::live_keys::LiveKeys;
use crate::random::ParkMiller;
use crate::workload::Work;

/// See the module.
pub(super) struct ReadWhileWriting;

/// The thread that writes.
const WRITER: usize = 0;

fn write(lane: &mut Lane<'_>) -> Result<()> {
    let mut key = lane.key();
    while lane.shared.readers_left.load(Ordering::Relaxed) > 0 {
        let number = lane.random.below(lane.plan.num);
        let value = lane.values.of(number, lane.plan.generation, lane.plan.value_size);
        let key = key.set(number);
        lane.store.put(key, value, lane.plan.sync)?;
        lane.written += 1;
        lane.written_bytes += (key.len() + value.len()) as u64;
    }
    // None of the writer's time counts.
    lane.meter.start();
    Ok(())
}

/// Reads the newest state each time: a reader that kept its view would not meet the writer.
fn read(lane: &mut Lane<'_>) -> Result<()> {
    let (mut key, mut value) = (lane.key(), Vec::new());
    for index in 0..lane.plan.reads {
        let number = lane.random.below(lane.plan.num);
        let found = lane.store.get(key.set(number), &mut value)?;
        lane.found += u64::from(found);
        lane.meter.done(value.len());
        if found && index.is_multiple_of(CHECKED_EVERY) {
            lane.check_value(number, &value)?;
        }
    }
    Ok(())
}

impl Work for ReadWhileWriting {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        if lane.index == WRITER {
            return write(lane);
        }
        let result = read(lane);
        lane.shared.readers_left.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// A key that is written during the run may or may not be found: the count lies between those of before and
    /// after.
    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String> {
        let num = lanes[WRITER].plan.num;
        let found_in = |live: &LiveKeys, lane: &Lane<'_>| {
            let mut random = ParkMiller::new(lane.seed);
            live.count_of((0..lane.plan.reads).map(|_| random.below(num)))
        };
        let (writer, readers) = lanes.split_at(WRITER + 1);
        let least: Vec<u64> = readers.iter().map(|lane| found_in(live, lane)).collect();
        let mut random = ParkMiller::new(writer[0].seed);
        (0..writer[0].written).for_each(|_| live.insert(random.below(num)));
        for (lane, least) in readers.iter().zip(least) {
            let most = found_in(live, lane);
            if !(least..=most).contains(&lane.found) {
                return Err(format!("{} keys found instead of {least} to {most}", lane.found).into());
            }
        }
        let found: u64 = readers.iter().map(|lane| lane.found).sum();
        Ok(format!(
            "({found} of {} found, {} written)",
            readers.len() as u64 * lanes[0].plan.reads,
            writer[0].written
        ))
    }

    fn extra_threads(&self) -> usize {
        1
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(plan.reads)
    }
}
