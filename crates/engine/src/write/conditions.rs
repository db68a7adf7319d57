//! Writes with conditions: what must hold of keys and ranges for a batch to be written. Predecessor: `db`. Successors: reads,
//! then `write/commit`.
//!
//! Reading what the conditions name may take long, so most of it happens without the commit token:
//!
//! 1. Check the conditions against the newest visible state. If one does not hold, the write has failed.
//! 2. Take the token. If nothing was written since, or nothing that a condition names, the conditions still hold: commit.
//! 3. Otherwise go back to 1, a few times. After that, check while holding the token, when nothing else can be written.
//!
//! What was written since 1 is in the active memtable, provided that the super version is the same. It is listed there in the
//! order of its sequence numbers.

use std::ops::Deref;
use std::sync::Arc;

use terrace_format::batch::WriteBatch;
use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::SequenceNumber;

use crate::error::{Error, ErrorKind, Result};
use crate::read::changes::Changes;
use crate::read::get::{Found, get_with};
use crate::read::options::Bounds;
use crate::read::snapshot::Snapshot;
use crate::read::super_version::SuperVersion;
use crate::read_tier::ReadTier;
use crate::table::BlockReadOptions;
use crate::write::writer::{Backlog, CommitState, Writer};

/// How often the conditions are checked without the token.
const CHECKS_WITHOUT_TOKEN: usize = 3;

/// Checking more conditions than this takes too long for a writer that must not wait.
const MOST_CONDITIONS_AT_ONCE: usize = 1_000;

/// What must hold for a conditional write, see [`Db::write_if`](crate::Db::write_if).
#[derive(Clone, Debug)]
pub enum Condition {
    /// There is no entry with this key.
    Absent(Vec<u8>),
    /// There is an entry with this key.
    Present(Vec<u8>),
    /// The entry of the key has this value.
    Equals(Vec<u8>, Vec<u8>),
    /// The entry of the key was last written by the write with this sequence number, see
    /// [`Db::get_entry_with`](crate::Db::get_entry_with).
    Version(Vec<u8>, SequenceNumber),
    /// Since a snapshot, no entry within the bounds was added, changed or deleted. An entry that was written again with the same
    /// value has changed.
    UnchangedSince(Bounds, Snapshot),
    /// As `UnchangedSince`, with the sequence number of a former state in place of a snapshot. If the engine has dropped what
    /// would tell (after the database was reopened, or when a compaction has dropped newer deletions), the condition does not
    /// hold.
    UnchangedSinceVersion(Bounds, SequenceNumber),
}

impl Condition {
    /// Whether a write of `key` may change the answer.
    fn concerns(&self, key: &[u8], comparator: &UserComparator) -> bool {
        match self {
            Self::Absent(own) | Self::Present(own) | Self::Equals(own, _) | Self::Version(own, _) => {
                comparator.compare(own, key).is_eq()
            }
            Self::UnchangedSince(bounds, _) | Self::UnchangedSinceVersion(bounds, _) => {
                bounds.contain(key, comparator)
            }
        }
    }
}

/// A state in which all conditions hold.
struct Checked<V> {
    view: V,
    visible: SequenceNumber,
}

impl<B: Backlog> Writer<B> {
    /// Writes `batch` in its turn if all `conditions` hold.
    pub(crate) fn write_if(&self, mut batch: WriteBatch, conditions: &[Condition], sync: bool) -> Result<()> {
        self.health.check_writable()?;
        let mut checks = 1;
        loop {
            let checked = self.check(conditions, ReadTier::Disk)?;
            if batch.is_empty() {
                return Ok(());
            }
            let mut token = self.queue.take_token();
            if !self.still_holds(&token, &checked, conditions) {
                if checks < CHECKS_WITHOUT_TOKEN {
                    checks += 1;
                    continue;
                }
                self.check(conditions, ReadTier::Disk)?;
            }
            return self.commit_group(&mut token, std::slice::from_mut(&mut batch), sync);
        }
    }

    /// Writes `batch` without a sync if all `conditions` hold and it need not wait for anything. Returns whether it was written.
    pub(crate) fn try_write_if(&self, batch: &mut WriteBatch, conditions: &[Condition]) -> Result<bool> {
        self.health.check_writable()?;
        let attempt = self.write_if_at_once(batch, conditions);
        match attempt {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            attempt => attempt,
        }
    }

    fn write_if_at_once(&self, batch: &mut WriteBatch, conditions: &[Condition]) -> Result<bool> {
        if conditions.len() > MOST_CONDITIONS_AT_ONCE {
            return Ok(false);
        }
        if batch.is_empty() {
            self.check(conditions, ReadTier::MemoryOnly)?;
            return Ok(true);
        }
        let Some(mut token) = self.queue.try_token() else { return Ok(false) };
        self.check(conditions, ReadTier::MemoryOnly)?;
        self.try_commit(&mut token, batch)
    }

    /// Checks the conditions against the newest visible state, and returns that state.
    ///
    /// # Errors
    /// `Conflict` if one does not hold.
    fn check(
        &self,
        conditions: &[Condition],
        tier: ReadTier,
    ) -> Result<Checked<impl Deref<Target = Arc<SuperVersion>> + use<B>>> {
        let (view, visible) = self.published.for_read(None);
        self.health.check_open()?;
        let options = BlockReadOptions { tier, ..BlockReadOptions::default() };
        let mut changes = Changes::new(&view, &self.files.tables, visible, options);
        let mut failed = Vec::new();
        for (index, condition) in conditions.iter().enumerate() {
            if !self.holds(condition, &view, visible, &options, &mut changes)? {
                failed.push(index);
            }
        }
        if failed.is_empty() {
            Ok(Checked { view, visible })
        } else {
            Err(Error::conflict(failed, conditions.len()))
        }
    }

    fn holds(
        &self,
        condition: &Condition,
        view: &SuperVersion,
        visible: SequenceNumber,
        options: &BlockReadOptions,
        changes: &mut Changes<'_>,
    ) -> Result<bool> {
        let entry = |key: &[u8], is_right: &dyn Fn(Found<'_>) -> bool| {
            get_with(view, &self.files.tables, key, visible, options, &mut Some(is_right))
        };
        Ok(match condition {
            Condition::Absent(key) => entry(key, &|_| true)?.is_none(),
            Condition::Present(key) => entry(key, &|_| true)?.is_some(),
            Condition::Equals(key, value) => entry(key, &|found| found.bytes() == value)? == Some(true),
            Condition::Version(key, version) => {
                entry(key, &|found| found.sequence == *version)? == Some(true)
            }
            Condition::UnchangedSince(bounds, snapshot) => {
                if !self.published.owns(snapshot) {
                    let message = "the snapshot of a condition belongs to another database";
                    return Err(Error::new(ErrorKind::InvalidArgument, message));
                }
                !changes.are_within(bounds, snapshot.sequence())?
            }
            Condition::UnchangedSinceVersion(bounds, version) => {
                // What is missing from the view was noted before the view was shown.
                *version >= self.published.forgotten() && !changes.are_within(bounds, *version)?
            }
        })
    }

    /// Whether the conditions that held in the state `checked` still do. May be false even if they do.
    fn still_holds<V: Deref<Target = Arc<SuperVersion>>>(
        &self,
        commit: &CommitState,
        checked: &Checked<V>,
        conditions: &[Condition],
    ) -> bool {
        let newer = commit.last_sequence - checked.visible;
        if newer == 0 {
            return true;
        }
        if !Arc::ptr_eq(&self.published.super_version(), &checked.view) {
            return false;
        }
        let comparator = self.files.comparator.user();
        let mut untouched = 0;
        for (_, key) in commit.memtable.newer_than(checked.visible) {
            if conditions.iter().any(|condition| condition.concerns(key, comparator)) {
                return false;
            }
            untouched += 1;
        }
        // What an ingestion added is in no memtable.
        untouched == newer
    }
}
