//! The database of this instance, and what the host keeps of it.

use std::cell::RefCell;

use terrace_format::batch::{BatchOp, BatchRef};
use terrace_memory::{Full, Map};
use terrace_wasm_abi::{Condition, Failure, Numbered, Outcome, RangeFlags, conditions, split_bounds};

use crate::iterator::{Iterator, borrowed};

thread_local! {
    static DATABASE: RefCell<Database> = RefCell::default();
}

pub(crate) struct Database {
    map: Map,
    limit_bytes: usize,
    snapshots: Numbered<Map>,
    iterators: Numbered<Iterator>,
}

impl Default for Database {
    fn default() -> Self {
        let (snapshots, iterators) = (Numbered::new(), Numbered::new());
        Self { map: Map::default(), limit_bytes: usize::MAX, snapshots, iterators }
    }
}

/// Runs a call on the database.
pub(crate) fn with_database<T>(call: impl FnOnce(&mut Database) -> T) -> T {
    DATABASE.with_borrow_mut(call)
}

impl Database {
    /// The newest state.
    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    /// The state of a snapshot; the newest for 0.
    pub(crate) fn state(&mut self, snapshot: u32) -> Outcome<&Map> {
        if snapshot == 0 {
            return Ok(&self.map);
        }
        match self.snapshots.get_mut(snapshot) {
            Some(map) => Ok(map),
            None => Err(Failure::unknown("snapshot")),
        }
    }

    pub(crate) fn set_limit(&mut self, limit_bytes: u32) {
        self.limit_bytes = if limit_bytes == u32::MAX { usize::MAX } else { limit_bytes as usize };
    }

    /// Writes a batch in LevelDB's form, all of it or nothing.
    pub(crate) fn write(&mut self, batch: &[u8]) -> Outcome<()> {
        let invalid = |message: String| Failure::new("InvalidArgument", message);
        let operations = operations_of(batch).map_err(|error| invalid(error.to_string()))?;
        if operations.iter().any(|(key, _)| key.len() > Map::LONGEST_KEY_BYTES) {
            return Err(invalid("a key is longer than 1 GiB".to_owned()));
        }
        let full = |full: Full| Failure::new("Full", full.to_string());
        self.map.write_within(self.limit_bytes, || operations.iter().copied()).map_err(full)
    }

    /// Writes a batch in LevelDB's form, if all conditions hold. Returns the indices of those that do not.
    pub(crate) fn write_if(&mut self, given: &[u8], batch: &[u8]) -> Outcome<Vec<usize>> {
        let mut failed = Vec::new();
        for (index, condition) in conditions(given).into_iter().enumerate() {
            if !self.holds(&condition)? {
                failed.push(index);
            }
        }
        if failed.is_empty() {
            self.write(batch)?;
        }
        Ok(failed)
    }

    fn holds(&mut self, condition: &Condition<'_>) -> Outcome<bool> {
        Ok(match condition {
            Condition::Absent(key) => self.map.get(key).is_none(),
            Condition::Present(key) => self.map.get(key).is_some(),
            Condition::Equals(key, value) => self.map.get(key) == Some(*value),
            Condition::Unchanged(bounds, snapshot) => {
                let then = self.state(*snapshot)?.clone();
                self.map.is_same_within(&then, borrowed(bounds))
            }
            Condition::Version(..) | Condition::UnchangedSinceVersion(..) => {
                return Err(Failure::new("InvalidArgument", "entries in memory have no versions"));
            }
        })
    }

    pub(crate) fn snapshot(&mut self) -> i32 {
        self.snapshots.add(self.map.clone())
    }

    pub(crate) fn release_snapshot(&mut self, number: u32) {
        self.snapshots.remove(number);
    }

    pub(crate) fn iterator(
        &mut self,
        input: &[u8],
        snapshot: u32,
        flags: u32,
        lower_length: u32,
        upper_length: u32,
    ) -> Outcome<i32> {
        let (lower, upper) = split_bounds(input, lower_length, upper_length);
        let iterator = Iterator::new(self.state(snapshot)?.cursor(), RangeFlags(flags), lower, upper);
        Ok(self.iterators.add(iterator))
    }

    pub(crate) fn iterator_at(&mut self, number: u32) -> Outcome<&mut Iterator> {
        self.iterators.get_mut(number).ok_or_else(|| Failure::unknown("iterator"))
    }

    pub(crate) fn release_iterator(&mut self, number: u32) {
        self.iterators.remove(number);
    }
}

type Operation<'a> = (&'a [u8], Option<&'a [u8]>);

fn operations_of(batch: &[u8]) -> terrace_format::Result<Vec<Operation<'_>>> {
    let operation = |operation| match operation {
        BatchOp::Put { key, value } => (key, Some(value)),
        BatchOp::Delete { key } => (key, None),
    };
    BatchRef::parse(batch)?.iter().map(|parsed| parsed.map(operation)).collect()
}
