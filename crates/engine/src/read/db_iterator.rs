//! The iterator that callers use: it shows the keys and values of one state of the database.
//!
//! Predecessor: the database, which builds it over a consistent view. Successor: [`MergingIterator`], which yields
//! every version and deletion.
//!
//! ```text
//! at sequence 6     a#9  a#4=x  a#2=w | b#5 deleted  b#3=y | c#6=z  c#1=v
//! it shows               a=x          |                    | c=z
//!
//! Forward: the inner cursor stands on the version that is shown.
//!                        ^                                   then ^
//! Backward: the same, if it is known without moving that the key has no newer version.
//!           Otherwise it stands before every version of the key that is shown, and the entry is saved aside.
//!                                              ^   while c=z is shown
//! After a seek: perhaps nowhere, if the target is a key that was [looked up](super::lookup).
//! ```
//!
//! Rules:
//! 1. An entry above the sequence does not exist. Among the other entries of a user key only the newest counts; a
//!    deletion hides the key.
//! 2. Going forward, the versions of a key come newest first, so the first one that counts is shown in place, without a
//!    copy. Going backward, they come oldest first; see [`backward`].
//! 3. After [`HIDDEN_BEFORE_SEEK`] hidden versions of one key, a seek skips the rest.
//! 4. The iteration ends at the first key outside the bounds, so deletions beyond a bound cost nothing.

mod backward;
mod lookups;
mod sought;

use std::fmt;
use std::ops::Bound;

use terrace_env::ProcessMark;
use terrace_format::FormatError;
use terrace_format::coding::put_fixed64;
use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::{
    InternalKeyComparator, ParsedInternalKey, SEEK_KIND, SequenceNumber, ValueKind, append_internal_key,
    pack_tag, parse_internal_key, unpack_tag, user_key,
};

use crate::error::{Error, ErrorKind, Result};
use crate::iterator::InternalIterator;
use crate::read::bounds::{are_empty, is_above, is_below};
use crate::read::key_rank::{RankedKey, rank};
use crate::read::lookup::{ReadView, Renewal, View};
use crate::read::merging_iterator::MergingIterator;
use crate::read::options::Bounds;
use crate::read::source::Source;
use sought::SoughtKeys;

/// After this many steps over versions of one key, a seek is assumed to be cheaper.
const HIDDEN_BEFORE_SEEK: u32 = 8;

/// Passing over more deleted entries than this takes as long as a read from the disk.
const MOST_PASSED_WITHOUT_WAITING: u32 = 10_000;

/// How often an iterator moves on to a newer view while a writer removes the tables of each.
const MOST_RENEWALS: u32 = 64;

/// Where the inner cursor stands while the iterator stands on an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InnerPosition {
    /// On the version that is shown.
    OnVersion,
    /// On the version that is shown, with no version of its key before it.
    OnFirstVersion,
    /// Before every version of the key that is shown. The entry is saved aside.
    BeforeKey,
    /// Anywhere. The key that is shown came from a lookup, and the entry is saved aside.
    Elsewhere,
}

/// An ordered cursor over the keys of a database. It shows the state at the time when it was made, or that of a snapshot.
///
/// A new iterator is on no entry: position it with a seek. Steps and seeks may follow each other in any order. After an error
/// the iterator is on no entry; a later seek may succeed. While an iterator lives, it keeps the tables and memtables
/// that it reads, so drop it when you are done.
///
/// # Errors
/// Every movement fails with `Corruption` if a table is damaged or missing, with `Unsupported` if this build does not know
/// how a block is compressed, and with `TooManyFiles`, `ReadOnly` (no permission) or `Io` from the operating system. It
/// also fails with
/// - [`WouldBlock`](ErrorKind::WouldBlock) if it would have to wait and the iterator reads with
///   [`ReadTier::MemoryOnly`](crate::read_tier::ReadTier::MemoryOnly);
/// - [`Outdated`](ErrorKind::Outdated) if the database was opened read-only and tables of this state are gone;
/// - [`Forked`](ErrorKind::Forked) in a forked child.
pub struct DbIterator {
    inner: MergingIterator<Source>,
    /// The view that lookups read; `None` in a test of cursors alone.
    view: Option<ReadView>,
    /// Makes a newer view; `None` once an entry was shown.
    renewal: Option<Renewal>,
    /// Whether `inner` has its children, which are made when the first of them is needed.
    is_open: bool,
    /// A lookup answered the last seek, and no step followed yet.
    is_lookup_open: bool,
    comparator: UserComparator,
    sequence: SequenceNumber,
    bounds: Bounds,
    has_upper_bound: bool,
    /// No key can lie within the bounds.
    bounds_are_empty: bool,
    /// How many entries one movement may pass over before it fails; a limit only for readers that must not wait.
    most_passed: u32,
    /// The process that made the iterator. A forked child is refused, as it is by the database.
    process: ProcessMark,
    stand: InnerPosition,
    valid: bool,
    /// Going forward, this key and those before it are hidden.
    hidden: RankedKey,
    /// The current key while the inner cursor stands before it. Otherwise scratch.
    saved_key: Vec<u8>,
    /// The current value while the inner cursor stands before its key.
    saved_value: Vec<u8>,
    /// Scratch for internal keys to seek.
    target: Vec<u8>,
    /// Keeps alive what the inner cursor reads from. Declared last, so that it is dropped last.
    _pin: Box<dyn Send>,
}

impl DbIterator {
    /// An iterator over the entries of `view` within `bounds`. If tables of the view are gone before an entry was shown, it
    /// moves on to the view that `renewal` makes.
    #[inline]
    pub(crate) fn over(
        view: View,
        comparator: &InternalKeyComparator,
        bounds: Bounds,
        renewal: Option<Renewal>,
    ) -> Self {
        let unopened = MergingIterator::new(comparator.clone(), Vec::new());
        let mut iterator = Self::new(unopened, comparator, view.sequence, bounds, view.pin);
        if !view.read.may_wait() {
            iterator.most_passed = MOST_PASSED_WITHOUT_WAITING;
        }
        (iterator.view, iterator.is_open) = (Some(view.read), false);
        iterator.renewal = renewal;
        iterator
    }

    /// An iterator over the entries of `inner` as of `sequence`, within `bounds`. It keeps `pin` until it is dropped.
    #[inline]
    pub(crate) fn new(
        inner: MergingIterator<Source>,
        comparator: &InternalKeyComparator,
        sequence: SequenceNumber,
        bounds: Bounds,
        pin: Box<dyn Send>,
    ) -> Self {
        let comparator = comparator.user().clone();
        let bounds_are_empty = are_empty(&bounds, &comparator);
        Self {
            inner,
            view: None,
            renewal: None,
            is_open: true,
            is_lookup_open: false,
            comparator,
            sequence,
            has_upper_bound: bounds.upper != Bound::Unbounded,
            bounds,
            bounds_are_empty,
            most_passed: u32::MAX,
            process: ProcessMark::here(),
            stand: InnerPosition::OnVersion,
            valid: false,
            hidden: RankedKey::default(),
            saved_key: Vec::new(),
            saved_value: Vec::new(),
            target: Vec::new(),
            _pin: pin,
        }
    }

    /// Whether the iterator is on an entry.
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
        match self.stand {
            InnerPosition::OnVersion | InnerPosition::OnFirstVersion => user_key(self.inner.key()),
            InnerPosition::BeforeKey | InnerPosition::Elsewhere => &self.saved_key,
        }
    }

    /// The current value.
    ///
    /// # Panics
    /// If the iterator is not [`valid`](Self::valid).
    #[inline]
    pub fn value(&self) -> &[u8] {
        assert!(self.valid, "the iterator stands on an entry");
        match self.stand {
            InnerPosition::OnVersion | InnerPosition::OnFirstVersion => self.inner.value(),
            InnerPosition::BeforeKey | InnerPosition::Elsewhere => &self.saved_value,
        }
    }

    /// Moves to the first key within the bounds.
    ///
    /// # Errors
    /// See [`DbIterator`](Self#errors).
    pub fn seek_to_first(&mut self) -> Result<()> {
        self.guard_seek(Self::move_to_first)
    }

    /// Moves to the last key within the bounds.
    ///
    /// # Errors
    /// See [`DbIterator`](Self#errors).
    pub fn seek_to_last(&mut self) -> Result<()> {
        self.guard_seek(Self::move_to_last)
    }

    /// Moves to the first key at or after `target` within the bounds. If `target` lies before the lower bound, that is the first
    /// key within the bounds; if it lies beyond the upper bound, there is none.
    ///
    /// # Errors
    /// See [`DbIterator`](Self#errors).
    pub fn seek(&mut self, target: &[u8]) -> Result<()> {
        self.guard_seek(|this| {
            if is_below(target, &this.bounds.lower, &this.comparator) {
                return this.move_to_first();
            }
            if is_above(target, &this.bounds.upper, &this.comparator) {
                return Ok(());
            }
            if this.find_target(target) {
                return Ok(());
            }
            this.open()?;
            set_target(&mut this.target, target, this.sequence, SEEK_KIND);
            this.inner.seek(&this.target)?;
            this.find_forward(false)
        })
    }

    /// Moves to the last key at or before `target` within the bounds. If `target` lies beyond the upper bound, that is the last
    /// key within the bounds; if it lies before the lower bound, there is none.
    ///
    /// # Errors
    /// See [`DbIterator`](Self#errors).
    pub fn seek_for_prev(&mut self, target: &[u8]) -> Result<()> {
        self.guard_seek(|this| {
            if is_above(target, &this.bounds.upper, &this.comparator) {
                return this.move_to_last();
            }
            if is_below(target, &this.bounds.lower, &this.comparator) {
                return Ok(());
            }
            if this.find_target(target) {
                return Ok(());
            }
            this.open()?;
            replace(&mut this.saved_key, target);
            this.go_to_end_of_saved_key()?;
            this.find_backward(false)
        })
    }

    /// Moves to the next key. Does nothing if the iterator is not [`valid`](Self::valid).
    ///
    /// # Errors
    /// See [`DbIterator`](Self#errors).
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "it moves, as `prev` does; it yields nothing")]
    pub fn next(&mut self) -> Result<()> {
        if !self.valid {
            return Ok(());
        }
        self.guard(|this| {
            match this.stand {
                InnerPosition::OnVersion | InnerPosition::OnFirstVersion => {
                    this.hide_current_key();
                    this.inner.next()?;
                    return if this.shows_plainly() { this.show() } else { this.find_forward(true) };
                }
                // `find_forward` passes over the versions of the current key.
                InnerPosition::BeforeKey if this.inner.valid() => this.inner.next()?,
                InnerPosition::BeforeKey => this.inner.seek_to_first()?,
                InnerPosition::Elsewhere => {
                    this.leave_lookup()?;
                    set_target(&mut this.target, &this.saved_key, 0, ValueKind::Deletion);
                    this.inner.seek(&this.target)?;
                }
            }
            this.hide_saved_key();
            this.find_forward(true)
        })
    }

    /// Moves to the previous key. Does nothing if the iterator is not [`valid`](Self::valid).
    ///
    /// # Errors
    /// See [`DbIterator`](Self#errors).
    #[inline]
    pub fn prev(&mut self) -> Result<()> {
        if !self.valid {
            return Ok(());
        }
        self.guard(|this| {
            match this.stand {
                InnerPosition::OnVersion => {
                    replace(&mut this.saved_key, user_key(this.inner.key()));
                    this.leave_key_backward(None)?;
                }
                // The previous entry is known to have a smaller key.
                InnerPosition::OnFirstVersion => {
                    this.inner.prev()?;
                    return this.find_backward(false);
                }
                InnerPosition::BeforeKey => {}
                InnerPosition::Elsewhere => {
                    this.leave_lookup()?;
                    this.go_before_saved_key()?;
                }
            }
            this.find_backward(true)
        })
    }

    /// Runs a movement that sets `valid` if and only if it ends on an entry.
    #[inline]
    fn guard(&mut self, movement: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.valid = false;
        if !self.process.is_here() {
            return Err(Error::forked());
        }
        if self.bounds_are_empty {
            return Ok(());
        }
        movement(self)
    }

    /// Runs a seek. Runs it again on a newer view if tables of the view are gone and no entry of it was shown.
    #[inline]
    fn guard_seek(&mut self, seek: impl Fn(&mut Self) -> Result<()>) -> Result<()> {
        let result = self.guard(&seek);
        if self.renewal.is_none() {
            return result;
        }
        self.seek_renewing(result, &seek)
    }

    #[cold]
    fn seek_renewing(&mut self, first: Result<()>, seek: &impl Fn(&mut Self) -> Result<()>) -> Result<()> {
        let mut result = first;
        for _ in 0..MOST_RENEWALS {
            match (&result, &self.renewal, &self.view) {
                (Err(error), Some(renewal), Some(view)) if error.kind() == ErrorKind::Outdated => {
                    let View { read, sequence, pin } = renewal(&view.super_version)?;
                    let comparator = InternalKeyComparator::new(self.comparator.clone());
                    self.inner = MergingIterator::new(comparator, Vec::new());
                    (self.view, self.sequence, self._pin) = (Some(read), sequence, pin);
                    (self.is_open, self.is_lookup_open) = (false, false);
                    result = self.guard(seek);
                }
                _ => break,
            }
        }
        if self.valid {
            self.renewal = None;
        }
        result
    }

    fn move_to_first(&mut self) -> Result<()> {
        self.open()?;
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
                // This is the last internal key that `lower` can have. Only a deletion can be there.
                set_target(&mut self.target, lower, 0, ValueKind::Deletion);
                self.inner.seek(&self.target)?;
                self.find_forward(false)
            }
        }
    }

    fn move_to_last(&mut self) -> Result<()> {
        self.open()?;
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
        self.find_backward(false)
    }

    /// Hides the key that the inner cursor stands on.
    #[inline]
    fn hide_current_key(&mut self) {
        let head = self.inner.head();
        let told = (head.rank, head.user_key_length);
        self.hidden.set(&self.comparator, told, || user_key(self.inner.key()));
    }

    /// Hides the saved key.
    fn hide_saved_key(&mut self) {
        set_target(&mut self.target, &self.saved_key, 0, ValueKind::Deletion);
        let told = (rank(&self.comparator, &self.target), self.saved_key.len());
        self.hidden.set(&self.comparator, told, || &self.saved_key);
    }

    /// Whether the inner cursor's entry is plainly the next one to show after the hidden key. `false` decides nothing.
    #[inline]
    fn shows_plainly(&self) -> bool {
        if !self.inner.valid() || self.has_upper_bound {
            return false;
        }
        let head = self.inner.head();
        head.tag as u8 == ValueKind::Value as u8
            && head.tag >> 8 <= self.sequence
            && self.hidden.is_before_rank(head.rank)
    }

    /// Shows the inner cursor's entry.
    #[inline]
    fn show(&mut self) -> Result<()> {
        self.stand = InnerPosition::OnVersion;
        self.valid = true;
        Ok(())
    }

    /// Moves forward to the first entry to show, beginning with the inner cursor's current one. With `hiding`, passes
    /// over keys up to the hidden one.
    fn find_forward(&mut self, mut hiding: bool) -> Result<()> {
        self.stand = InnerPosition::OnVersion;
        let mut hidden = 0;
        let mut too_new = 0;
        let mut passed = 0;
        let mut sought_hidden = SoughtKeys::default();
        let mut sought_too_new = SoughtKeys::default();
        while self.inner.valid() {
            let head = self.inner.head();
            let (sequence, kind) = unpack(head.tag)?;
            if self.has_upper_bound
                && is_above(user_key(self.inner.key()), &self.bounds.upper, &self.comparator)
            {
                return Ok(());
            }
            if sequence > self.sequence {
                let found = user_key(self.inner.key());
                // The buffer for targets remembers the key at which the count began. Versions of a key are adjacent,
                // so the same key at the end of the count means that all entries in between were its versions.
                if too_new == 0 {
                    replace(&mut self.target, found);
                }
                too_new += 1;
                if too_new > HIDDEN_BEFORE_SEEK {
                    too_new = 0;
                    if self.comparator.compare(found, &self.target).is_eq() {
                        sought_too_new.note(found)?;
                        set_target(&mut self.target, found, self.sequence, SEEK_KIND);
                        self.inner.seek(&self.target)?;
                        continue;
                    }
                }
            } else {
                too_new = 0;
                let is_hidden = hiding
                    && (self.hidden)
                        .compare(&self.comparator, (head.rank, head.user_key_length), || {
                            user_key(self.inner.key())
                        })
                        .is_ge();
                if is_hidden {
                    hidden += 1;
                    if hidden > HIDDEN_BEFORE_SEEK {
                        hidden = 0;
                        self.target.clear();
                        self.hidden.append_to(&self.comparator, &mut self.target);
                        sought_hidden.note(&self.target)?;
                        put_fixed64(&mut self.target, pack_tag(0, ValueKind::Deletion));
                        self.inner.seek(&self.target)?;
                        continue;
                    }
                } else if kind == ValueKind::Value {
                    return self.show();
                } else {
                    self.hide_current_key();
                    hiding = true;
                    hidden = 0;
                }
            }
            self.inner.next()?;
            self.note_passed(&mut passed)?;
        }
        Ok(())
    }

    /// Counts an entry that was passed over. Fails if there are too many for a reader that must not wait.
    #[inline]
    fn note_passed(&self, passed: &mut u32) -> Result<()> {
        *passed += 1;
        if *passed > self.most_passed {
            return Err(Error::new(
                ErrorKind::WouldBlock,
                "the iterator would have to pass over many deleted entries",
            ));
        }
        Ok(())
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

fn set_target(target: &mut Vec<u8>, user_key: &[u8], sequence: SequenceNumber, kind: ValueKind) {
    target.clear();
    append_internal_key(target, user_key, sequence, kind);
}

/// The error for keys that do not ascend. Reads do not check the order; they only make sure that they end.
fn out_of_order() -> Error {
    Error::new(
        ErrorKind::Corruption,
        "a table's keys are out of order; verify the database to find the table",
    )
}

#[inline]
fn unpack(tag: u64) -> Result<(SequenceNumber, ValueKind)> {
    match tag as u8 {
        0 => Ok((tag >> 8, ValueKind::Deletion)),
        1 => Ok((tag >> 8, ValueKind::Value)),
        _ => unpack_tag(tag).map_err(unknown_kind),
    }
}

#[inline]
pub(super) fn parse(internal_key: &[u8]) -> Result<ParsedInternalKey<'_>> {
    parse_internal_key(internal_key).map_err(unknown_kind)
}

#[cold]
fn unknown_kind(error: FormatError) -> Error {
    Error::new(ErrorKind::Corruption, error.to_string())
}

#[cfg(test)]
mod tests;
