//! Draws operations from a seed.

use std::ops::Bound;

use crate::keys::KeySpace;
use crate::operation::{Bytes, Change, Movement, Operation, Range};
use crate::random::Random;

/// How many different keys a trial uses.
const KEYS: usize = 3000;

/// An endless sequence of operations.
#[derive(Debug)]
pub struct Generator {
    random: Random,
    keys: KeySpace,
    /// Where most changes currently go, so that tables cover different ranges and runs of deletions occur.
    focus: usize,
}

impl Generator {
    /// Creates the operations of `seed`, on keys of this kind.
    pub fn new(seed: u64, keys: KeySpace) -> Self {
        Self { random: Random::new(seed), keys, focus: 0 }
    }

    fn operation(&mut self) -> Operation {
        // Out of 10,000.
        match self.random.below(10_000) {
            0..5000 => Operation::Change(self.change()),
            5000..5500 => Operation::Batch(self.batch()),
            5500..7800 => Operation::Get(self.key()),
            7800..8200 => Operation::GetAt(self.random.below(64), self.key()),
            8200..8600 => {
                let snapshot = self.random.one_in(3).then(|| self.random.below(64));
                Operation::Walk(snapshot, self.range(), self.movements())
            }
            8600..8640 => Operation::OpenIterator(self.range()),
            8640..9000 => Operation::MoveIterator(self.random.below(64), self.movements()),
            9000..9030 => Operation::CloseIterator(self.random.below(64)),
            9030..9100 => Operation::TakeSnapshot,
            9100..9170 => Operation::DropSnapshot(self.random.below(64)),
            9170..9180 => Operation::Flush,
            9180..9185 => self.compaction(),
            9185..9189 => Operation::Reopen,
            9189 => Operation::Repair(self.random.one_in(2)),
            9190..9193 => Operation::CompareAll,
            9193..9195 => Operation::OpenReadOnly,
            9195..9197 => Operation::Checkpoint,
            9197..9199 => Operation::Verify,
            9199..9220 => Operation::Inspect(self.key(), self.key()),
            9220..9300 => {
                self.focus = self.random.below(KEYS);
                Operation::Get(self.key())
            }
            9300..9310 => Operation::Batch(self.run_of_deletions()),
            9310..9330 => Operation::Submit((0..self.random.between(1, 6)).map(|_| self.batch()).collect()),
            9330..9334 => Operation::Ingest(self.batch()),
            _ => Operation::Step,
        }
    }

    fn key(&mut self) -> Bytes {
        let number = if self.random.one_in(3) {
            self.random.below(KEYS)
        } else {
            (self.focus + self.random.below(200)) % KEYS
        };
        Bytes(self.keys.key(number))
    }

    fn value(&mut self) -> Bytes {
        let size = match self.random.below(100) {
            0..5 => 0,
            5..90 => self.random.below(100),
            90..99 => self.random.below(3000),
            // Larger than the write buffer and the largest table of a trial.
            _ => self.random.below(60_000),
        };
        let byte = self.random.below(256) as u8;
        Bytes(if self.random.one_in(2) { vec![byte; size] } else { self.random.bytes(size) })
    }

    fn change(&mut self) -> Change {
        let key = self.key();
        if self.random.one_in(3) { (key, None) } else { (key, Some(self.value())) }
    }

    fn batch(&mut self) -> Vec<Change> {
        (0..self.random.between(0, 30)).map(|_| self.change()).collect()
    }

    fn run_of_deletions(&mut self) -> Vec<Change> {
        let start = self.random.below(KEYS);
        let end = (start + self.random.below(600)).min(KEYS);
        (start..end).map(|number| (Bytes(self.keys.key(number)), None)).collect()
    }

    fn compaction(&mut self) -> Operation {
        let begin = self.random.one_in(2).then(|| self.key());
        let end = self.random.one_in(2).then(|| self.key());
        Operation::Compact(begin, end)
    }

    fn range(&mut self) -> Range {
        Range { lower: self.bound(), upper: self.bound() }
    }

    fn bound(&mut self) -> Bound<Bytes> {
        match self.random.below(4) {
            0 => Bound::Included(self.key()),
            1 => Bound::Excluded(self.key()),
            _ => Bound::Unbounded,
        }
    }

    fn movements(&mut self) -> Vec<Movement> {
        (0..self.random.between(1, 30)).map(|_| self.movement()).collect()
    }

    fn movement(&mut self) -> Movement {
        match self.random.below(20) {
            0 => Movement::First,
            1 => Movement::Last,
            2 | 3 => Movement::Seek(self.key()),
            4 | 5 => Movement::SeekForPrev(self.key()),
            6..13 => Movement::Next,
            _ => Movement::Prev,
        }
    }
}

impl Iterator for Generator {
    type Item = Operation;

    fn next(&mut self) -> Option<Operation> {
        Some(self.operation())
    }
}
