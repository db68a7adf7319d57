//! What a database of the writer must hold, lane by lane.

use terrace_engine::{Db, IterOptions, ReadOptions};

use super::lane::Lane;
use crate::crash::{Model, compare};
use crate::digest::Digest;

/// The lanes, each with its contents after the batches that are known to be there.
#[derive(Clone)]
pub struct Oracle {
    lanes: Vec<State>,
}

#[derive(Clone)]
struct State {
    lane: Lane,
    count: u64,
    model: Model,
}

impl Oracle {
    /// Creates the oracle for an empty database.
    pub fn new(lanes: Vec<Lane>) -> Self {
        Self { lanes: lanes.into_iter().map(|lane| State { lane, count: 0, model: Model::new() }).collect() }
    }

    /// Number of batches of each lane that are known to be there.
    pub fn counts(&self) -> Vec<u64> {
        self.lanes.iter().map(|state| state.count).collect()
    }

    /// Accepts `found` as the current contents if each lane is as after one of `at_least` to `at_most` batches.
    ///
    /// # Errors
    ///
    /// Names the entries that are missing or should not be there.
    pub fn accept(&mut self, found: &Model, at_least: &[u64], at_most: &[u64]) -> Result<(), String> {
        let mut parts = vec![Model::new(); self.lanes.len()];
        for (key, value) in found {
            let part = Lane::number_of(key).and_then(|number| parts.get_mut(number));
            let part = part.ok_or_else(|| format!("the key {key:?} belongs to no lane"))?;
            part.insert(key.clone(), value.clone());
        }
        for (number, (state, part)) in self.lanes.iter_mut().zip(&parts).enumerate() {
            state
                .accept(part, at_least[number], at_most[number])
                .map_err(|problem| format!("lane {number}: {problem}"))?;
        }
        Ok(())
    }
}

impl State {
    fn accept(&mut self, found: &Model, at_least: u64, at_most: u64) -> Result<(), String> {
        let newest = match found.get(&self.lane.mark()) {
            Some(mark) => Lane::marked(mark).ok_or("the mark is damaged")?,
            None => 0,
        };
        if newest < at_least {
            return Err(format!("{at_least} batches were acknowledged, only {newest} are there"));
        }
        if newest > at_most {
            return Err(format!("{newest} batches are there, only {at_most} were begun"));
        }
        self.advance(newest);
        compare(found, &self.model).map_err(|problem| format!("after {newest} batches: {problem}"))
    }

    fn advance(&mut self, newest: u64) {
        for number in self.count + 1..=newest {
            for (key, value) in self.lane.batch(number).operations {
                match value {
                    Some(value) => self.model.insert(key, value),
                    None => self.model.remove(&key),
                };
            }
        }
        self.count = newest;
    }
}

/// Reads every entry of `db`, by an iterator and by its key; returns them with their digest. Verifies all tables.
///
/// # Errors
///
/// If an entry is unreadable, or the two ways differ.
pub fn contents(db: &Db) -> Result<(Model, Digest), String> {
    let read = || -> terrace_engine::Result<_> {
        db.verify()?;
        let (mut found, mut digest) = (Model::new(), Digest::default());
        let mut iterator = db.iter(IterOptions::default())?;
        iterator.seek_to_first()?;
        while iterator.valid() {
            let (key, value) = (iterator.key(), iterator.value());
            digest.add(key, Some(value));
            if db.get(key, &ReadOptions::default())?.as_deref() != Some(value) {
                return Ok(Err(format!("get of {key:?} differs from the iterator's value")));
            }
            found.insert(key.to_vec(), value.to_vec());
            iterator.next()?;
        }
        Ok(Ok((found, digest)))
    };
    read().map_err(|error| error.to_string())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model_after(count: u64) -> Model {
        let mut state = State { lane: Lane::new(1, 0), count: 0, model: Model::new() };
        state.advance(count);
        state.model
    }

    #[test]
    fn a_lane_holds_what_was_acknowledged_and_at_most_what_was_begun() {
        let oracle = Oracle::new(vec![Lane::new(1, 0)]);
        let accept = |found: &Model, at_least| oracle.clone().accept(found, &[at_least], &[at_least + 1]);
        assert_eq!(accept(&model_after(10), 10), Ok(()));
        assert_eq!(accept(&model_after(10), 9), Ok(()));
        assert!(accept(&model_after(10), 11).is_err_and(|problem| problem.contains("only 10 are there")));
        assert!(accept(&model_after(10), 8).is_err_and(|problem| problem.contains("only 9 were begun")));
    }

    #[test]
    fn half_a_batch_a_key_too_many_and_a_key_too_few_are_noticed() {
        let mut oracle = Oracle::new(vec![Lane::new(1, 0)]);
        let whole = model_after(10);
        let mut changed = whole.clone();
        changed.insert(Lane::new(1, 0).mark(), 9u64.to_le_bytes().to_vec());
        assert!(oracle.clone().accept(&changed, &[9], &[10]).is_err());
        for foreign in ["0/99", "1/00", "x"] {
            let mut changed = whole.clone();
            changed.insert(foreign.into(), Vec::new());
            assert!(oracle.clone().accept(&changed, &[10], &[10]).is_err(), "{foreign}");
        }
        let mut changed = whole.clone();
        changed.pop_first();
        assert!(oracle.accept(&changed, &[10], &[10]).is_err());
    }
}
