//! One thread's part of a workload.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::thread;

use crate::entries::{KeyBuffer, Values};
use crate::meter::Meter;
use crate::progress::Progress;
use crate::random::ParkMiller;
use crate::store::Store;
use crate::{Failure, Result};

/// One in this many values read is compared with its expected value. Comparing all of them would double the time of a
/// scan.
pub const CHECKED_EVERY: u64 = 64;

/// The task of a workload.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Numbers of keys are drawn from below this.
    pub num: u64,
    /// Operations of a writing thread.
    pub writes: u64,
    /// Operations of a reading thread.
    pub reads: u64,
    /// Number of live entries at the start.
    pub live: u64,
    /// Number of bytes `a` before each key.
    pub key_prefix: usize,
    /// Size of a value, in bytes.
    pub value_size: usize,
    /// Entries per batch.
    pub batch_size: u64,
    /// Whether writes are synced.
    pub sync: bool,
    /// The version of each value that is written.
    pub generation: u32,
    /// Whether this run wrote the values that are read, so that they can be checked.
    pub values_are_known: bool,
    /// Threads that read or write, the extra writer of `readwhilewriting` included.
    pub threads: usize,
}

/// What the threads of a workload tell each other.
#[derive(Debug)]
pub struct Shared {
    /// Number of reading threads that are not done.
    pub readers_left: AtomicUsize,
    /// The lowest number that no thread has inserted or is about to insert.
    pub next_number: AtomicU64,
    /// All numbers below this are inserted.
    pub inserted: AtomicU64,
}

impl Shared {
    /// The state before a workload with that plan.
    pub fn new(plan: &Plan) -> Self {
        Self {
            readers_left: AtomicUsize::new(plan.threads - 1),
            next_number: AtomicU64::new(plan.live),
            inserted: AtomicU64::new(plan.live),
        }
    }
}

/// The surroundings of one thread.
pub struct Lane<'a> {
    /// Index of the thread, from 0.
    pub index: usize,
    /// What to do.
    pub plan: &'a Plan,
    /// The database.
    pub store: &'a dyn Store,
    /// The source of values.
    pub values: &'a Values,
    /// What the threads share.
    pub shared: &'a Shared,
    /// The seed of its random keys.
    pub seed: u32,
    /// The source of its random keys.
    pub random: ParkMiller,
    /// Counts and times its operations.
    pub meter: Meter<'a>,
    /// Number of reads that found something.
    pub found: u64,
    /// Number of entries that it wrote or deleted.
    pub written: u64,
    /// Size of their keys and values, in bytes.
    pub written_bytes: u64,
}

impl Lane<'_> {
    /// Creates a key buffer.
    pub fn key(&self) -> KeyBuffer {
        KeyBuffer::new(self.plan.key_prefix)
    }

    /// Compares what was read for `number` with what was written.
    ///
    /// # Errors
    ///
    /// If they differ.
    pub fn check_value(&self, number: u64, value: &[u8]) -> Result<()> {
        check_value(self.plan, self.values, number, value)
    }
}

/// See [`Lane::check_value`].
pub fn check_value(plan: &Plan, values: &Values, number: u64, value: &[u8]) -> Result<()> {
    let is_right = !plan.values_are_known
        || (value.len() == plan.value_size && values.is_one_of(value, number, plan.generation + 1));
    if is_right { Ok(()) } else { Err(format!("the value of key {number} is not what was written").into()) }
}

/// Everything that the threads of one workload have in common.
pub struct Lanes<'a> {
    /// What to do.
    pub plan: &'a Plan,
    /// The database.
    pub store: &'a dyn Store,
    /// The source of values.
    pub values: &'a Values,
    /// The first thread's seed; the others have the next ones.
    pub first_seed: u32,
    /// Whether each operation is timed.
    pub histogram: bool,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
}

impl<'a> Lanes<'a> {
    /// Runs `work` on every thread, all starting together, and returns what each has done.
    pub fn run(
        &self,
        shared: &'a Shared,
        work: &(dyn Fn(&mut Lane<'a>) -> Result<()> + Sync),
    ) -> Result<Vec<Lane<'a>>> {
        let lanes =
            (0..self.plan.threads).map(|index| self.lane(index, shared)).collect::<Result<Vec<_>>>()?;
        let start = &Barrier::new(lanes.len());
        thread::scope(|scope| {
            let threads: Vec<_> = lanes
                .into_iter()
                .map(|mut lane| {
                    scope.spawn(move || {
                        start.wait();
                        lane.meter.start();
                        let result = work(&mut lane);
                        lane.meter.stop();
                        result.map(|()| lane)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().map_err(panicked)?).collect()
        })
    }

    fn lane(&self, index: usize, shared: &'a Shared) -> Result<Lane<'a>> {
        let seed = self.first_seed + index as u32;
        Ok(Lane {
            index,
            plan: self.plan,
            store: self.store,
            values: self.values,
            shared,
            seed,
            random: ParkMiller::new(seed),
            meter: Meter::new(self.histogram, self.progress)?,
            found: 0,
            written: 0,
            written_bytes: 0,
        })
    }
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Failure {
    "a thread of the benchmark panicked".into()
}
