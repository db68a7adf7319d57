//! What must hold of a map for a batch to be written.

use terrace_engine::{Bounds, Error};
use terrace_memory::Map;

use super::cursor::borrowed;
use super::state::HeldMemorySnapshot;
use crate::conditions::Passed;
use crate::error::{Failure, Fallible};
use crate::external;
use crate::options;
use crate::value::Env;

/// A condition.
pub enum Condition {
    Absent(Vec<u8>),
    Present(Vec<u8>),
    Equals(Vec<u8>, Vec<u8>),
    /// The range has the entries that it has in this snapshot.
    Unchanged(Bounds, Map),
}

impl Condition {
    pub fn new(env: Env, passed: Passed) -> Fallible<Self> {
        Ok(match passed {
            Passed::Absent(key) => Self::Absent(key),
            Passed::Present(key) => Self::Present(key),
            Passed::Equals(key, value) => Self::Equals(key, value),
            Passed::Unchanged(range, snapshot) => {
                let held = external::held::<HeldMemorySnapshot>(env, snapshot)?.0.borrow();
                let shown = held.as_ref().ok_or(Failure::Argument("the snapshot is closed"))?;
                Self::Unchanged(options::bounds(env, range)?, shown.clone())
            }
            Passed::Version(..) | Passed::UnchangedSinceVersion(..) => {
                return Err(Failure::Argument("entries in memory have no versions"));
            }
        })
    }

    fn holds(&self, map: &Map) -> bool {
        match self {
            Self::Absent(key) => map.get(key).is_none(),
            Self::Present(key) => map.get(key).is_some(),
            Self::Equals(key, value) => map.get(key) == Some(value),
            Self::Unchanged(bounds, shown) => map.is_same_within(shown, borrowed(bounds)),
        }
    }
}

/// Fails if one of the conditions does not hold.
pub fn check(conditions: &[Condition], map: &Map) -> Fallible<()> {
    let failed = conditions.iter().enumerate().filter(|(_, condition)| !condition.holds(map));
    let failed: Vec<_> = failed.map(|(index, _)| index).collect();
    if failed.is_empty() { Ok(()) } else { Err(Error::conflict(failed, conditions.len()).into()) }
}
