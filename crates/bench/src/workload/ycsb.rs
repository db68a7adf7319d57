//! YCSB's six core workloads (Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010), over a
//! database that fillseq has filled. Values have the size `--value_size`; YCSB's own would be 1,000 bytes.

use std::sync::atomic::Ordering;

use crate::Result;
use crate::entries::{KeyBuffer, number_of};
use crate::lane::{Lane, Plan};
use crate::live_keys::LiveKeys;
use crate::random::SplitMix;
use crate::store::Start;
use crate::workload::Work;
use crate::workload::zipfian::Zipfian;

const MAX_SCAN_LENGTH: u64 = 100;

/// Which keys are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Request {
    /// A few keys anywhere, often.
    Zipfian,
    /// The newest keys, often.
    Latest,
}

/// Shares of the operations, in hundredths; the rest are inserts.
pub(super) struct Ycsb {
    read: u64,
    update: u64,
    scan: u64,
    read_modify_write: u64,
    request: Request,
}

const NONE: Ycsb = Ycsb { read: 0, update: 0, scan: 0, read_modify_write: 0, request: Request::Zipfian };

pub(super) static A: Ycsb = Ycsb { read: 50, update: 50, ..NONE };
pub(super) static B: Ycsb = Ycsb { read: 95, update: 5, ..NONE };
pub(super) static C: Ycsb = Ycsb { read: 100, ..NONE };
pub(super) static D: Ycsb = Ycsb { read: 95, request: Request::Latest, ..NONE };
pub(super) static E: Ycsb = Ycsb { scan: 95, ..NONE };
pub(super) static F: Ycsb = Ycsb { read: 50, read_modify_write: 50, ..NONE };

/// The state of one thread for its operations.
struct Session {
    key: KeyBuffer,
    value: Vec<u8>,
    random: SplitMix,
    zipfian: Zipfian,
}

impl Ycsb {
    fn number(&self, lane: &Lane<'_>, session: &mut Session) -> u64 {
        match self.request {
            Request::Zipfian => session.zipfian.scattered(&mut session.random),
            Request::Latest => {
                let newest = lane.shared.inserted.load(Ordering::Acquire) - 1;
                newest - session.zipfian.rank(&mut session.random)
            }
        }
    }

    fn operate(&self, lane: &mut Lane<'_>, session: &mut Session) -> Result<usize> {
        let dice = session.random.below(100);
        let below_update = self.read + self.update;
        let below_scan = below_update + self.scan;
        if dice >= below_scan + self.read_modify_write {
            return insert(lane, session);
        }
        let number = self.number(lane, session);
        if dice < self.read {
            read(lane, session, number)
        } else if dice < below_update {
            put(lane, session, number)
        } else if dice < below_scan {
            scan(lane, session, number)
        } else {
            Ok(read(lane, session, number)? + put(lane, session, number)?)
        }
    }
}

/// Every key that is read was written, so a missing one is an error.
fn read(lane: &mut Lane<'_>, session: &mut Session, number: u64) -> Result<usize> {
    if !lane.store.get(session.key.set(number), &mut session.value)? {
        return Err(format!("key {number} is missing").into());
    }
    lane.check_value(number, &session.value)?;
    lane.found += 1;
    Ok(session.value.len())
}

fn put(lane: &mut Lane<'_>, session: &mut Session, number: u64) -> Result<usize> {
    let value = lane.values.of(number, lane.plan.generation, lane.plan.value_size);
    let key = session.key.set(number);
    lane.store.put(key, value, lane.plan.sync)?;
    lane.written += 1;
    lane.written_bytes += (key.len() + value.len()) as u64;
    Ok(key.len() + value.len())
}

fn insert(lane: &mut Lane<'_>, session: &mut Session) -> Result<usize> {
    let number = lane.shared.next_number.fetch_add(1, Ordering::Relaxed);
    let bytes = put(lane, session, number)?;
    // Readers may ask for every number below, so the inserts before this one must be done.
    while lane.shared.inserted.load(Ordering::Acquire) != number {
        std::thread::yield_now();
    }
    lane.shared.inserted.store(number + 1, Ordering::Release);
    Ok(bytes)
}

fn scan(lane: &mut Lane<'_>, session: &mut Session, number: u64) -> Result<usize> {
    let wanted = 1 + session.random.below(MAX_SCAN_LENGTH);
    let expected = wanted.min(lane.shared.inserted.load(Ordering::Acquire) - number);
    let (mut bytes, mut seen, mut first) = (0, 0, None);
    lane.store.scan(Start::At(session.key.set(number)), &mut |key, value| {
        first = first.or_else(|| number_of(key));
        bytes += key.len() + value.len();
        seen += 1;
        seen < wanted
    })?;
    if first != Some(number) || seen < expected {
        return Err(format!("a scan from key {number} found {seen} entries instead of {expected}").into());
    }
    lane.found += seen;
    Ok(bytes)
}

impl Work for Ycsb {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        if lane.plan.live == 0 {
            return Err("YCSB's workloads need the entries of fillseq: run it first".into());
        }
        let mut session = Session {
            key: lane.key(),
            value: Vec::new(),
            random: SplitMix::new(u64::from(lane.seed)),
            zipfian: Zipfian::new(lane.plan.live),
        };
        for _ in 0..lane.plan.reads {
            let bytes = self.operate(lane, &mut session)?;
            lane.meter.done(bytes);
        }
        Ok(())
    }

    fn check(&self, lanes: &[Lane<'_>], live: &mut LiveKeys) -> Result<String> {
        let before = lanes[0].plan.live;
        if !live.is_all_below(before) {
            return Err("YCSB's workloads need a database with all keys: run fillseq first".into());
        }
        let inserted = lanes[0].shared.inserted.load(Ordering::Acquire);
        (before..inserted).for_each(|number| live.insert(number));
        let found: u64 = lanes.iter().map(|lane| lane.found).sum();
        let written: u64 = lanes.iter().map(|lane| lane.written).sum();
        Ok(format!("({found} entries read, {written} written)"))
    }

    fn operations(&self, plan: &Plan) -> Option<u64> {
        Some(plan.reads)
    }
}
