//! fillseq, fillbatch, fillrandom, fillonce, fillsync, fill100K, overwrite, deleteseq, deleterandom.

use crate::Result;
use crate::entries::KeyBuffer;
use crate::lane::{Lane, Plan};
use crate::live_keys::LiveKeys;
use crate::random::ParkMiller;
use crate::store::BatchSink;
use crate::workload::Work;

/// The order of the keys.
#[derive(Clone, Copy)]
enum Order {
    Ascending,
    Random,
    /// Each number once, in steps of [`STEP`].
    Once,
}

impl Order {
    #[inline]
    fn number(self, index: u64, random: &mut ParkMiller, num: u64) -> u64 {
        match self {
            Self::Ascending => index,
            Self::Random => random.below(num),
            Self::Once => (index * STEP) % num,
        }
    }

    /// The numbers that a thread with that seed visited, once more.
    fn numbers(self, seed: u32, count: u64, num: u64) -> impl Iterator<Item = u64> {
        let mut random = ParkMiller::new(seed);
        (0..count).map(move |index| self.number(index, &mut random, num))
    }
}

/// A step that visits all numbers below `num` before it repeats the first: a prime larger than any `num`.
const STEP: u64 = 2_654_435_761;

/// The operation on a key.
trait Operation {
    /// Does it on its own; returns the bytes moved.
    fn apply(&self, lane: &Lane<'_>, key: &[u8], number: u64) -> Result<usize>;

    /// Does it as part of a batch; returns the bytes moved.
    fn add(&self, lane: &Lane<'_>, key: &[u8], number: u64, sink: &mut dyn BatchSink) -> Result<usize>;
}

struct Put;

impl Operation for Put {
    #[inline]
    fn apply(&self, lane: &Lane<'_>, key: &[u8], number: u64) -> Result<usize> {
        let value = lane.values.of(number, lane.plan.generation, lane.plan.value_size);
        lane.store.put(key, value, lane.plan.sync)?;
        Ok(key.len() + value.len())
    }

    #[inline]
    fn add(&self, lane: &Lane<'_>, key: &[u8], number: u64, sink: &mut dyn BatchSink) -> Result<usize> {
        let value = lane.values.of(number, lane.plan.generation, lane.plan.value_size);
        sink.put(key, value)?;
        Ok(key.len() + value.len())
    }
}

struct Remove;

impl Operation for Remove {
    #[inline]
    fn apply(&self, lane: &Lane<'_>, key: &[u8], _number: u64) -> Result<usize> {
        lane.store.delete(key, lane.plan.sync)?;
        Ok(key.len())
    }

    #[inline]
    fn add(&self, _lane: &Lane<'_>, key: &[u8], _number: u64, sink: &mut dyn BatchSink) -> Result<usize> {
        sink.delete(key)?;
        Ok(key.len())
    }
}

/// Applies `operation` to as many keys as the plan says.
fn write(lane: &mut Lane<'_>, order: Order, operation: &impl Operation) -> Result<()> {
    let mut key = lane.key();
    let Plan { writes, batch_size, .. } = *lane.plan;
    let mut index = 0;
    while index < writes {
        if batch_size > 1 {
            let end = writes.min(index + batch_size);
            write_batch(lane, &mut key, order, operation, index..end)?;
            index = end;
        } else {
            let number = order.number(index, &mut lane.random, lane.plan.num);
            let bytes = operation.apply(lane, key.set(number), number)?;
            lane.meter.done(bytes);
            index += 1;
        }
    }
    lane.written = writes;
    lane.written_bytes = lane.meter.bytes();
    Ok(())
}

fn write_batch(
    lane: &mut Lane<'_>,
    key: &mut KeyBuffer,
    order: Order,
    operation: &impl Operation,
    indexes: std::ops::Range<u64>,
) -> Result<()> {
    let (store, sync) = (lane.store, lane.plan.sync);
    let mut fill = |sink: &mut dyn BatchSink| {
        for index in indexes.clone() {
            let number = order.number(index, &mut lane.random, lane.plan.num);
            let bytes = operation.add(lane, key.set(number), number, sink)?;
            lane.meter.done(bytes);
        }
        Ok(())
    };
    store.write(&mut fill, sync)
}

/// Writes values.
pub(super) struct Fill(Order);

impl Fill {
    pub(super) const IN_ORDER: Self = Self(Order::Ascending);
    pub(super) const AT_RANDOM: Self = Self(Order::Random);
    pub(super) const ONCE: Self = Self(Order::Once);
}

impl Work for Fill {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        write(lane, self.0, &Put)
    }

    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String> {
        for lane in lanes {
            self.0.numbers(lane.seed, lane.written, lane.plan.num).for_each(|number| live.insert(number));
        }
        Ok(short_of_num(lanes[0].plan))
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(plan.writes)
    }
}

/// Deletes keys.
pub(super) struct Delete(Order);

impl Delete {
    pub(super) const IN_ORDER: Self = Self(Order::Ascending);
    pub(super) const AT_RANDOM: Self = Self(Order::Random);
}

impl Work for Delete {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        write(lane, self.0, &Remove)
    }

    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String> {
        for lane in lanes {
            self.0.numbers(lane.seed, lane.written, lane.plan.num).for_each(|number| live.remove(number));
        }
        Ok(short_of_num(lanes[0].plan))
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(plan.writes)
    }
}

/// Like db_bench, reports if there were fewer than NUM operations.
fn short_of_num(plan: &Plan) -> String {
    if plan.writes == plan.num { String::new() } else { format!("({} ops)", plan.writes) }
}
