//! Whole histories of a database, against the model of the testkit.

use std::ops::Bound;
use std::sync::Arc;

use terrace_engine::Compression;
use terrace_engine::env::MemoryEnv;
use terrace_testkit::keys::KeySpace;
use terrace_testkit::operation::{Bytes, Change, Movement, Operation, Range};
use terrace_testkit::trial::{Settings, Trial};

use crate::input::Input;

const DIRECTORY: &str = "/db";
const MAX_OPERATIONS: usize = 200;
/// So few that most operations meet a key that was used before.
const KEYS: u8 = 25;

/// The input is a choice of settings and then operations, each a byte and its arguments.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let choices = input.byte();
    let keys = if choices & 1 == 0 { KeySpace::Bytes } else { KeySpace::IndexedDb };
    let compressions = [Compression::None, Compression::Snappy, Compression::Zstd { level: 1 }];
    let settings = Settings {
        env: Arc::new(MemoryEnv::with_steps()),
        directory: DIRECTORY.into(),
        keys,
        compression: compressions[usize::from(choices >> 1) % compressions.len()],
    };
    let seed = u64::from(input.u16());
    let mut history = History { input, keys };
    let operations = std::iter::from_fn(|| history.operation()).take(MAX_OPERATIONS);
    if let Err(problem) = Trial::perform_all(seed, operations, settings) {
        panic!("{problem}");
    }
}

/// Operations, until the input ends.
struct History<'a> {
    input: Input<'a>,
    keys: KeySpace,
}

impl History<'_> {
    fn operation(&mut self) -> Option<Operation> {
        if self.input.is_empty() {
            return None;
        }
        Some(match self.input.byte() % 32 {
            0..=7 => Operation::Change(self.change()),
            8..=9 => Operation::Batch(self.changes()),
            10 => Operation::Submit((0..1 + self.input.byte() % 3).map(|_| self.changes()).collect()),
            11 => Operation::Get(self.key()),
            12 => Operation::GetAt(self.number(), self.key()),
            13 => Operation::TakeSnapshot,
            14 => Operation::DropSnapshot(self.number()),
            15 => Operation::OpenIterator(self.range()),
            16..=17 => Operation::MoveIterator(self.number(), self.movements()),
            18 => Operation::CloseIterator(self.number()),
            19 => {
                let number = self.input.byte();
                let snapshot = (number & 1 != 0).then_some(usize::from(number >> 1));
                Operation::Walk(snapshot, self.range(), self.movements())
            }
            20..=22 => Operation::Flush,
            23 => Operation::Compact(self.optional_key(), self.optional_key()),
            24..=25 => Operation::Step,
            26 => Operation::Reopen,
            27 => Operation::Repair(self.input.byte() & 1 != 0),
            28 => Operation::Ingest(self.changes()),
            29 => Operation::Checkpoint,
            30 => Operation::OpenReadOnly,
            _ => Operation::CompareAll,
        })
    }

    fn number(&mut self) -> usize {
        self.input.byte().into()
    }

    fn key(&mut self) -> Bytes {
        Bytes(self.keys.key((self.input.byte() % KEYS).into()))
    }

    fn optional_key(&mut self) -> Option<Bytes> {
        (self.input.byte() & 1 != 0).then(|| self.key())
    }

    fn change(&mut self) -> Change {
        let key = self.key();
        let size = self.input.byte();
        (key, (size % 4 != 0).then(|| self.value(size)))
    }

    fn changes(&mut self) -> Vec<Change> {
        (0..self.input.byte() % 8).map(|_| self.change()).collect()
    }

    /// Most values are short; some are longer than a block, or than a memtable.
    fn value(&mut self, size: u8) -> Bytes {
        let size = usize::from(size) * if size > 250 { 100 } else { 1 };
        Bytes(vec![self.input.byte(); size])
    }

    fn range(&mut self) -> Range {
        Range { lower: self.bound(), upper: self.bound() }
    }

    fn bound(&mut self) -> Bound<Bytes> {
        match self.input.byte() & 3 {
            0 => Bound::Included(self.key()),
            1 => Bound::Excluded(self.key()),
            _ => Bound::Unbounded,
        }
    }

    fn movements(&mut self) -> Vec<Movement> {
        (0..=self.input.byte() % 8).map(|_| self.movement()).collect()
    }

    fn movement(&mut self) -> Movement {
        match self.input.byte() & 7 {
            0 => Movement::First,
            1 => Movement::Last,
            2 => Movement::Seek(self.key()),
            3 => Movement::SeekForPrev(self.key()),
            4 | 5 => Movement::Next,
            _ => Movement::Prev,
        }
    }
}
