//! Seeks that a lookup answers before any cursors exist. Predecessor: [`DbIterator`]'s movements. Successor:
//! [`lookup`](crate::read::lookup).

use super::{DbIterator, InnerPosition, replace};
use crate::error::Result;
use crate::read::lookup::SeekOutcome;

impl DbIterator {
    /// Shows the entry of `target` if that is a key and a lookup can find it. Then no cursor needs to be positioned.
    pub(super) fn find_target(&mut self, target: &[u8]) -> bool {
        self.note_lookup(SeekOutcome::Lookup);
        let Some(view) = &self.view else { return false };
        if !view.find(&self.comparator, target, self.sequence, &mut self.saved_value) {
            return false;
        }
        replace(&mut self.saved_key, target);
        self.stand = InnerPosition::Elsewhere;
        self.valid = true;
        self.is_lookup_open = true;
        true
    }

    /// Prepares for a step from an entry that a lookup found.
    pub(super) fn leave_lookup(&mut self) -> Result<()> {
        self.note_lookup(SeekOutcome::Cursors);
        self.open()
    }

    /// Notes what became of the lookup that answered the last seek, if one did.
    fn note_lookup(&mut self, outcome: SeekOutcome) {
        if std::mem::take(&mut self.is_lookup_open)
            && let Some(view) = &self.view
        {
            view.note(outcome);
        }
    }

    /// Makes the inner cursor's children unless they exist. New children are not positioned.
    pub(super) fn open(&mut self) -> Result<()> {
        if !self.is_open
            && let Some(view) = &self.view
        {
            self.inner.set_children(view.cursors()?);
            self.is_open = true;
        }
        Ok(())
    }
}

impl Drop for DbIterator {
    fn drop(&mut self) {
        self.note_lookup(SeekOutcome::Lookup);
    }
}
