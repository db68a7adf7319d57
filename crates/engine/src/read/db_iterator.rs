//! What a caller iterates over: the keys and values of one state of the database.
//!
//! Predecessor: the database, which builds it over a consistent view. Successor:
//! [`MergingIterator`], which yields every version and deletion.
//!
//! ```text
//! at sequence 6     a#9  a#4=x  a#2=w | b#5 deleted  b#3=y | c#6=z  c#1=v
//! it shows               a=x          |                    | c=z
//!
//! Forward: the inner cursor stands on the version that is shown.
//!                        ^                                   then ^
//! Backward: it stands before every version of the key that is shown, which is saved aside.
//!                                              ^   while c=z is shown
//! ```
//!
//! Rules:
//! 1. An entry above the sequence does not exist. Of the others of one user key only the newest counts; a deletion
//!    hides the key.
//! 2. Forward the versions of a key come newest first, so the first one that counts is shown in place, without a
//!    copy. Backward they come oldest first: each is saved over the one before, until the key changes.
//! 3. After [`HIDDEN_BEFORE_SEEK`] hidden versions of one key the rest is skipped by a seek.
//! 4. A key outside the bounds ends the iteration where it is met, so that deletions beyond a bound cost nothing.

mod bounds;

use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::{
    InternalKeyComparator, MAX_SEQUENCE_NUMBER, ParsedInternalKey, SEEK_KIND, SequenceNumber, ValueKind,
    append_internal_key, parse_internal_key, user_key,
};

use crate::error::{Error, ErrorKind, Result};
use crate::iterator::InternalIterator;
use crate::options::Bounds;
use crate::read::merging_iterator::MergingIterator;
use bounds::{are_empty, is_above, is_below};

/// Steps over versions of one key before a seek is taken to be cheaper.
const HIDDEN_BEFORE_SEEK: u32 = 8;
/// A buffer for values that is larger than this is given back when a smaller value follows.
const KEPT_VALUE_BYTES: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// An ordered cursor over the keys of a database, as they were when the iterator was made or at its snapshot.
///
/// It starts out on no entry: position it with a seek. Any step or seek may follow any other. While it lives it
/// keeps the tables and memtables that it reads, so drop it when done.
///
/// After an error it stands on no entry; a later seek may succeed.
pub struct DbIterator {
    inner: MergingIterator,
    comparator: UserComparator,
    sequence: SequenceNumber,
    bounds: Bounds,
    /// No key can lie within the bounds.
    bounds_are_empty: bool,
    direction: Direction,
    valid: bool,
    /// Backward and valid: the current key. Otherwise the last key that is hidden, or scratch.
    saved_key: Vec<u8>,
    /// Backward and valid: the current value.
    saved_value: Vec<u8>,
    /// Scratch for internal keys to seek.
    target: Vec<u8>,
    /// Keeps alive what the inner cursor reads from. Declared last, so dropped after it.
    _pin: Box<dyn Send>,
}

impl DbIterator {
    /// The entries of `inner` as of `sequence`, within `bounds`. `pin` is kept until the iterator is dropped.
    pub(crate) fn new(
        inner: MergingIterator,
        comparator: &InternalKeyComparator,
        sequence: SequenceNumber,
        bounds: Bounds,
        pin: Box<dyn Send>,
    ) -> Self {
        let comparator = comparator.user().clone();
        let bounds_are_empty = are_empty(&bounds, &comparator);
        Self {
            inner,
            comparator,
            sequence,
            bounds,
            bounds_are_empty,
            direction: Direction::Forward,
            valid: false,
            saved_key: Vec::new(),
            saved_value: Vec::new(),
            target: Vec::new(),
            _pin: pin,
        }
    }

    /// Whether the iterator stands on an entry.
    #[inline]
    pub fn valid(&self) -> bool {
        self.valid
    }

    /// The current key.
    ///
    /// # Panics
    /// If the iterator is not [`valid`](Self::valid).
    #[inline]
    pub fn key(&self) -> &[u8] {
        assert!(self.valid, "the iterator stands on an entry");
        match self.direction {
            Direction::Forward => user_key(self.inner.key()),
            Direction::Backward => &self.saved_key,
        }
    }

    /// The current value.
    ///
    /// # Panics
    /// If the iterator is not [`valid`](Self::valid).
    #[inline]
    pub fn value(&self) -> &[u8] {
        assert!(self.valid, "the iterator stands on an entry");
        match self.direction {
            Direction::Forward => self.inner.value(),
            Direction::Backward => &self.saved_value,
        }
    }

    /// Moves to the first key within the bounds.
    ///
    /// # Errors
    /// Like every movement: if a table cannot be read or is damaged, and with
    /// [`ReadTier::MemoryOnly`](crate::options::ReadTier::MemoryOnly) if the disk is needed.
    pub fn seek_to_first(&mut self) -> Result<()> {
        self.guard(Self::move_to_first)
    }

    /// Moves to the last key within the bounds.
    ///
    /// # Errors
    /// See [`seek_to_first`](Self::seek_to_first).
    pub fn seek_to_last(&mut self) -> Result<()> {
        self.guard(Self::move_to_last)
    }

    /// Moves to the first key at or after `target` within the bounds: to the first key of all if `target` lies
    /// before the lower bound, to none if it lies beyond the upper one.
    ///
    /// # Errors
    /// See [`seek_to_first`](Self::seek_to_first).
    pub fn seek(&mut self, target: &[u8]) -> Result<()> {
        self.guard(|this| {
            if is_below(target, &this.bounds.lower, &this.comparator) {
                return this.move_to_first();
            }
            if is_above(target, &this.bounds.upper, &this.comparator) {
                return Ok(());
            }
            set_target(&mut this.target, target, this.sequence, SEEK_KIND);
            this.inner.seek(&this.target)?;
            this.find_forward(false)
        })
    }

    /// Moves to the last key at or before `target` within the bounds: to the last key of all if `target` lies
    /// beyond the upper bound, to none if it lies before the lower one.
    ///
    /// # Errors
    /// See [`seek_to_first`](Self::seek_to_first).
    pub fn seek_for_prev(&mut self, target: &[u8]) -> Result<()> {
        self.guard(|this| {
            if is_above(target, &this.bounds.upper, &this.comparator) {
                return this.move_to_last();
            }
            if is_below(target, &this.bounds.lower, &this.comparator) {
                return Ok(());
            }
            replace(&mut this.saved_key, target);
            this.go_to_end_of_saved_key()?;
            this.find_backward()
        })
    }

    /// Moves to the next key. On no entry it does nothing.
    ///
    /// # Errors
    /// See [`seek_to_first`](Self::seek_to_first).
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "it moves, as `prev` does; it yields nothing")]
    pub fn next(&mut self) -> Result<()> {
        if !self.valid {
            return Ok(());
        }
        self.guard(|this| {
            match this.direction {
                Direction::Forward => {
                    replace(&mut this.saved_key, user_key(this.inner.key()));
                    this.inner.next()?;
                }
                // The inner cursor is before all versions of the current key; `find_forward` passes them.
                Direction::Backward if this.inner.valid() => this.inner.next()?,
                Direction::Backward => this.inner.seek_to_first()?,
            }
            this.find_forward(true)
        })
    }

    /// Moves to the key before. On no entry it does nothing.
    ///
    /// # Errors
    /// See [`seek_to_first`](Self::seek_to_first).
    #[inline]
    pub fn prev(&mut self) -> Result<()> {
        if !self.valid {
            return Ok(());
        }
        self.guard(|this| {
            if this.direction == Direction::Forward {
                replace(&mut this.saved_key, user_key(this.inner.key()));
                this.leave_key_backward()?;
            }
            this.find_backward()
        })
    }

    /// Runs a movement that sets `valid` if, and only if, it ends on an entry.
    #[inline]
    fn guard(&mut self, movement: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.valid = false;
        if self.bounds_are_empty {
            return Ok(());
        }
        movement(self)
    }

    fn move_to_first(&mut self) -> Result<()> {
        match &self.bounds.lower {
            Bound::Unbounded => {
                self.inner.seek_to_first()?;
                self.find_forward(false)
            }
            Bound::Included(lower) => {
                set_target(&mut self.target, lower, self.sequence, SEEK_KIND);
                self.inner.seek(&self.target)?;
                self.find_forward(false)
            }
            Bound::Excluded(lower) => {
                // Only a deletion can lie at this last of all internal keys of `lower`.
                set_target(&mut self.target, lower, 0, ValueKind::Deletion);
                self.inner.seek(&self.target)?;
                self.find_forward(false)
            }
        }
    }

    fn move_to_last(&mut self) -> Result<()> {
        match &self.bounds.upper {
            Bound::Unbounded => self.inner.seek_to_last()?,
            Bound::Included(upper) => {
                replace(&mut self.saved_key, upper);
                self.go_to_end_of_saved_key()?;
            }
            Bound::Excluded(upper) => {
                replace(&mut self.saved_key, upper);
                self.go_before_saved_key()?;
            }
        }
        self.find_backward()
    }

    /// Forward from the inner cursor's entry on, that included, to the first that is to be shown. With `hiding`,
    /// keys up to the saved one are hidden.
    fn find_forward(&mut self, mut hiding: bool) -> Result<()> {
        self.direction = Direction::Forward;
        let mut hidden = 0;
        let mut too_new = 0;
        // Each key is passed by a seek once only: where keys are out of order it could lead back for ever.
        let mut sought_saved_key = false;
        let mut sought_too_new: Option<Vec<u8>> = None;
        while self.inner.valid() {
            let entry = parse(self.inner.key())?;
            if is_above(entry.user_key, &self.bounds.upper, &self.comparator) {
                return Ok(());
            }
            if entry.sequence > self.sequence {
                // The buffer for targets remembers the key at which the count began. As versions of a key lie
                // together, the same key at the end of the count means that all in between were its versions.
                if too_new == 0 {
                    replace(&mut self.target, entry.user_key);
                }
                too_new += 1;
                if too_new > HIDDEN_BEFORE_SEEK {
                    too_new = 0;
                    if self.comparator.compare(entry.user_key, &self.target).is_eq() {
                        if sought_too_new
                            .replace(entry.user_key.to_vec())
                            .is_some_and(|sought| self.comparator.compare(entry.user_key, &sought).is_le())
                        {
                            return Err(out_of_order());
                        }
                        set_target(&mut self.target, entry.user_key, self.sequence, SEEK_KIND);
                        self.inner.seek(&self.target)?;
                        continue;
                    }
                }
            } else {
                too_new = 0;
                if hiding && self.comparator.compare(entry.user_key, &self.saved_key).is_le() {
                    hidden += 1;
                    if hidden > HIDDEN_BEFORE_SEEK {
                        hidden = 0;
                        if std::mem::replace(&mut sought_saved_key, true) {
                            return Err(out_of_order());
                        }
                        set_target(&mut self.target, &self.saved_key, 0, ValueKind::Deletion);
                        self.inner.seek(&self.target)?;
                        continue;
                    }
                } else if entry.kind == ValueKind::Value {
                    self.valid = true;
                    return Ok(());
                } else {
                    replace(&mut self.saved_key, entry.user_key);
                    hiding = true;
                    hidden = 0;
                    sought_saved_key = false;
                }
            }
            self.inner.next()?;
        }
        Ok(())
    }

    /// Backward from the inner cursor's entry on, which is the last version of some key, to the first key that is to
    /// be shown.
    fn find_backward(&mut self) -> Result<()> {
        self.direction = Direction::Backward;
        let mut has_passed_one = false;
        while self.inner.valid() {
            let found = user_key(self.inner.key());
            if has_passed_one && self.comparator.compare(found, &self.saved_key).is_ge() {
                return Err(out_of_order());
            }
            has_passed_one = true;
            if is_below(found, &self.bounds.lower, &self.comparator) {
                return Ok(());
            }
            replace(&mut self.saved_key, found);
            if self.save_newest_version()? {
                self.valid = true;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Goes backward over all versions of the saved key, on the last of which the inner cursor stands, and saves the
    /// value of the newest that counts. Returns whether there is one and it is no deletion.
    fn save_newest_version(&mut self) -> Result<bool> {
        let mut newest = ValueKind::Deletion;
        let mut seen = 0;
        while self.inner.valid() {
            let entry = parse(self.inner.key())?;
            if self.comparator.compare(entry.user_key, &self.saved_key).is_ne() {
                return Ok(newest == ValueKind::Value);
            }
            if entry.sequence > self.sequence {
                break;
            }
            newest = entry.kind;
            if newest == ValueKind::Value {
                save_value(&mut self.saved_value, self.inner.value());
                // Keys that compare as equal may differ in their bytes: the newest version's are shown.
                replace(&mut self.saved_key, entry.user_key);
            }
            seen += 1;
            if seen == HIDDEN_BEFORE_SEEK {
                // On to the newest that counts. There is one: the entry just seen, or one before it.
                set_target(&mut self.target, &self.saved_key, self.sequence, SEEK_KIND);
                self.inner.seek(&self.target)?;
                continue;
            }
            self.inner.prev()?;
        }
        // What is left of the key is too new.
        self.leave_key_backward()?;
        Ok(newest == ValueKind::Value)
    }

    /// From a version of the saved key to the last entry of a smaller key: by steps, then by a seek.
    fn leave_key_backward(&mut self) -> Result<()> {
        for _ in 0..HIDDEN_BEFORE_SEEK {
            if !self.inner.valid() || self.compare_to_saved_key().is_lt() {
                return Ok(());
            }
            self.inner.prev()?;
        }
        self.go_before_saved_key()
    }

    /// To the last entry of a key smaller than the saved one.
    fn go_before_saved_key(&mut self) -> Result<()> {
        set_target(&mut self.target, &self.saved_key, MAX_SEQUENCE_NUMBER, SEEK_KIND);
        self.go_back_from_target(Ordering::is_ge)
    }

    /// To the last entry of the saved key or a smaller one.
    fn go_to_end_of_saved_key(&mut self) -> Result<()> {
        set_target(&mut self.target, &self.saved_key, 0, ValueKind::Deletion);
        self.go_back_from_target(Ordering::is_gt)
    }

    /// From the first entry at or after the target backward, past all entries whose order to the saved key is
    /// `too_far`.
    fn go_back_from_target(&mut self, too_far: impl Fn(Ordering) -> bool) -> Result<()> {
        self.inner.seek(&self.target)?;
        if !self.inner.valid() {
            self.inner.seek_to_last()?;
        }
        while self.inner.valid() && too_far(self.compare_to_saved_key()) {
            self.inner.prev()?;
        }
        Ok(())
    }

    fn compare_to_saved_key(&self) -> Ordering {
        self.comparator.compare(user_key(self.inner.key()), &self.saved_key)
    }
}

impl fmt::Debug for DbIterator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DbIterator")
            .field("sequence", &self.sequence)
            .field("bounds", &self.bounds)
            .field("valid", &self.valid)
            .finish_non_exhaustive()
    }
}

fn replace(buffer: &mut Vec<u8>, bytes: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(bytes);
}

fn save_value(buffer: &mut Vec<u8>, value: &[u8]) {
    if buffer.capacity() > KEPT_VALUE_BYTES && value.len() < buffer.capacity() / 2 {
        *buffer = value.to_vec();
    } else {
        replace(buffer, value);
    }
}

fn set_target(target: &mut Vec<u8>, user_key: &[u8], sequence: SequenceNumber, kind: ValueKind) {
    target.clear();
    append_internal_key(target, user_key, sequence, kind);
}

/// The error for keys that do not ascend. Reads do not look for that; they only must come to an end.
fn out_of_order() -> Error {
    Error::new(ErrorKind::Corruption, "a table's keys are out of order; verify tells where")
}

#[inline]
fn parse(internal_key: &[u8]) -> Result<ParsedInternalKey<'_>> {
    parse_internal_key(internal_key).map_err(|error| Error::new(ErrorKind::Corruption, error.to_string()))
}

#[cfg(test)]
mod tests;
