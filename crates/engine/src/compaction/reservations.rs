//! The key ranges of levels that running compactions own. Predecessor: the scheduler, which reserves a plan before it
//! starts its job and releases it afterwards. Successor: the picker, which picks nothing that a running job touches.
//!
//! ```text
//!             keys →
//!   level 1   ░░░░┌───────┐░░░░░░   a job from level 1 to level 2 owns, in both levels, the range from the smallest to
//!   level 2   ░░░░└───────┘░░░░░░   the largest user key of all its inputs: its *hull*
//! ```
//!
//! Outputs lie within the hull of the inputs. If the hulls of two jobs do not meet in any common level, the jobs therefore
//! cannot write overlapping files or move an older entry above a newer one, and can end in any order. For the same reason,
//! jobs with overlapping ranges in level 0 run one after another.

use std::collections::HashSet;

use terrace_format::comparator::UserComparator;

/// A range of user keys, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key.
    pub smallest: Vec<u8>,
    /// The last key.
    pub largest: Vec<u8>,
}

impl KeyRange {
    /// Whether a key is in the range.
    pub fn contains(&self, user: &UserComparator, key: &[u8]) -> bool {
        user.compare(&self.smallest, key).is_le() && user.compare(key, &self.largest).is_le()
    }

    /// Whether a key from `smallest` to `largest` is in the range.
    pub fn meets(&self, user: &UserComparator, smallest: &[u8], largest: &[u8]) -> bool {
        user.compare(&self.smallest, largest).is_le() && user.compare(smallest, &self.largest).is_le()
    }
}

/// The name of one reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReservationId(u64);

#[derive(Debug)]
struct Held {
    id: ReservationId,
    level: usize,
    output_level: usize,
    hull: KeyRange,
    /// The files that the job removes from `level` and from the levels between it and the output level.
    leaving: Vec<u64>,
}

/// Everything that running compactions own.
#[derive(Debug, Default)]
pub struct Reservations {
    held: Vec<Held>,
    leaving: HashSet<u64>,
    next_id: u64,
}

impl Reservations {
    /// Reserves `hull` in `level` and `output_level`, for a job that takes the files `leaving` out of the levels above its
    /// output. Nothing that a running job owns may be in it.
    pub fn reserve(
        &mut self,
        level: usize,
        output_level: usize,
        hull: KeyRange,
        leaving: Vec<u64>,
    ) -> ReservationId {
        let id = ReservationId(self.next_id);
        self.next_id += 1;
        self.leaving.extend(&leaving);
        self.held.push(Held { id, level, output_level, hull, leaving });
        id
    }

    /// Releases the reservation `id`. Before, the job's result must have been installed or abandoned.
    pub fn release(&mut self, id: ReservationId) {
        if let Some(index) = self.held.iter().position(|held| held.id == id) {
            for number in self.held.swap_remove(index).leaving {
                self.leaving.remove(&number);
            }
        }
    }

    /// Whether no job runs.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether a running job owns a key from `smallest` to `largest` in a level from `level` to `output_level`.
    pub fn conflicts(
        &self,
        user: &UserComparator,
        level: usize,
        output_level: usize,
        smallest: &[u8],
        largest: &[u8],
    ) -> bool {
        self.held.iter().any(|held| {
            held.level <= output_level
                && level <= held.output_level
                && held.hull.meets(user, smallest, largest)
        })
    }

    /// Whether a running job moves the entries of the file with this number to a deeper level.
    pub fn takes_away(&self, number: u64) -> bool {
        self.leaving.contains(&number)
    }

    /// The ranges into which running jobs write below `level`, if they meet the range from `smallest` to `largest`.
    pub fn outputs_below(
        &self,
        user: &UserComparator,
        level: usize,
        smallest: &[u8],
        largest: &[u8],
    ) -> Vec<KeyRange> {
        self.held
            .iter()
            .filter(|held| held.output_level > level && held.hull.meets(user, smallest, largest))
            .map(|held| held.hull.clone())
            .collect()
    }
}
