//! Moving backward through the versions of keys. Predecessor: [`DbIterator`]'s movements.
//!
//! Going backward, the versions of a key come oldest first. If it is known without moving that a version is the only one
//! left of its key, it is shown in place. Otherwise each version overwrites the saved one, until the key changes.

use std::cmp::Ordering;
use std::ops::Bound;

use terrace_format::internal_key::{MAX_SEQUENCE_NUMBER, SEEK_KIND, ValueKind, user_key};

use super::sought::SoughtKeys;
use super::{
    DbIterator, HIDDEN_BEFORE_SEEK, InnerPosition, out_of_order, parse, replace, set_target, unpack,
};
use crate::error::Result;
use crate::iterator::InternalIterator;
use crate::read::bounds::is_below;

/// A value buffer larger than this is freed when a smaller value follows.
const KEPT_VALUE_BYTES: usize = 1 << 20;

impl DbIterator {
    /// Moves backward to the first key to show, beginning with the inner cursor's current entry, which is the last version of
    /// some key. With `below_saved` the key must be smaller than the saved one, which was shown: where keys are out of
    /// order, moving backward could meet it again, for ever.
    pub(super) fn find_backward(&mut self, below_saved: bool) -> Result<()> {
        let mut has_passed_one = below_saved;
        let mut sought = SoughtKeys::default();
        let mut passed = 0;
        while self.inner.valid() {
            self.note_passed(&mut passed)?;
            if has_passed_one && self.compare_to_saved_key().is_ge() {
                return Err(out_of_order());
            }
            if self.inner.begins_its_key() {
                let (sequence, kind) = unpack(self.inner.head().tag)?;
                if self.bounds.lower != Bound::Unbounded
                    && is_below(user_key(self.inner.key()), &self.bounds.lower, &self.comparator)
                {
                    return Ok(());
                }
                if kind == ValueKind::Value && sequence <= self.sequence {
                    self.stand = InnerPosition::OnFirstVersion;
                    self.valid = true;
                    return Ok(());
                }
                // The only version is hidden.
                self.inner.prev()?;
                continue;
            }
            let found = user_key(self.inner.key());
            has_passed_one = true;
            if is_below(found, &self.bounds.lower, &self.comparator) {
                return Ok(());
            }
            replace(&mut self.saved_key, found);
            if self.save_newest_version(&mut sought)? {
                self.stand = InnerPosition::BeforeKey;
                self.valid = true;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Moves backward over all versions of the saved key and saves the value of the newest that counts. The inner cursor
    /// starts on the last of these versions. Returns whether there is one that counts and it is not a deletion.
    fn save_newest_version(&mut self, sought: &mut SoughtKeys) -> Result<bool> {
        let mut newest = ValueKind::Deletion;
        let mut seen = 0;
        while self.inner.valid() {
            let entry = parse(self.inner.key())?;
            if self.comparator.compare(entry.user_key, &self.saved_key).is_ne() {
                // The first entry is the saved key itself. With an order in which a key differs from itself, this loop
                // would never move.
                return if seen == 0 { Err(out_of_order()) } else { Ok(newest == ValueKind::Value) };
            }
            if entry.sequence > self.sequence {
                break;
            }
            newest = entry.kind;
            if newest == ValueKind::Value {
                save_value(&mut self.saved_value, self.inner.value());
                // Keys that compare as equal may differ in their bytes. Those of the newest version are shown.
                replace(&mut self.saved_key, entry.user_key);
            }
            seen += 1;
            if seen == HIDDEN_BEFORE_SEEK {
                // Seek the newest version that counts. There is one: the entry just seen, or one before it.
                sought.note(&self.saved_key)?;
                set_target(&mut self.target, &self.saved_key, self.sequence, SEEK_KIND);
                self.inner.seek(&self.target)?;
                continue;
            }
            self.inner.prev()?;
        }
        // The remaining versions of the key are too new.
        self.leave_key_backward((seen < HIDDEN_BEFORE_SEEK).then_some(sought))?;
        Ok(newest == ValueKind::Value)
    }

    /// Moves from a version of the saved key to the last entry of a smaller key: by steps, then by a seek, which is noted.
    pub(super) fn leave_key_backward(&mut self, sought: Option<&mut SoughtKeys>) -> Result<()> {
        for _ in 0..HIDDEN_BEFORE_SEEK {
            if !self.inner.valid() || self.compare_to_saved_key().is_lt() {
                return Ok(());
            }
            self.inner.prev()?;
        }
        if let Some(sought) = sought {
            sought.note(&self.saved_key)?;
        }
        self.go_before_saved_key()
    }

    /// Moves to the last entry of a key smaller than the saved one.
    pub(super) fn go_before_saved_key(&mut self) -> Result<()> {
        set_target(&mut self.target, &self.saved_key, MAX_SEQUENCE_NUMBER, SEEK_KIND);
        self.go_back_from_target(Ordering::is_ge)
    }

    /// Moves to the last entry of the saved key or of a smaller one.
    pub(super) fn go_to_end_of_saved_key(&mut self) -> Result<()> {
        set_target(&mut self.target, &self.saved_key, 0, ValueKind::Deletion);
        self.go_back_from_target(Ordering::is_gt)
    }

    /// Seeks the first entry at or after the target, then moves backward past all entries whose order to the saved key is
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

pub(super) fn save_value(buffer: &mut Vec<u8>, value: &[u8]) {
    if buffer.capacity() > KEPT_VALUE_BYTES && value.len() < buffer.capacity() / 2 {
        *buffer = value.to_vec();
    } else {
        replace(buffer, value);
    }
}
