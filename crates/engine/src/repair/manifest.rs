//! What CURRENT and the MANIFESTs say, as far as they can be read, and whether one of the MANIFESTs can be relied on.
//! Predecessor: the files. Successor: [`plan`](super::plan).
//!
//! A MANIFEST can be relied on if CURRENT names it and it has lost no record, except perhaps at its end. If CURRENT
//! leads to no such MANIFEST, the newest one counts that is whole and whose tables all exist. Even a MANIFEST that
//! cannot be relied on tells which tables were compacted away and which logs are used up, so that what was deleted
//! stays deleted.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use terrace_format::comparator::UserComparator;
use terrace_format::current;
use terrace_format::file_name;
use terrace_format::internal_key::{KeyCompare, SequenceNumber};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::version_edit::{FileEntry, VersionEdit};

use crate::error::{Error, ErrorKind, Result};
use crate::repair::inventory::Inventory;
use crate::repair::log_salvage::{LogPiece, LogVisitor, read_log};
use crate::repair::repairer::Repairer;
use crate::version::checker;
use crate::version::file_meta::{FileMeta, FileOrigin, ObsoleteFiles};
use crate::version::recover::{FILE_NUMBER_LIMIT, other_comparator, read_current};
use crate::version::version::Version;

/// Which records of a MANIFEST are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    Nothing,
    /// Perhaps some at the end: what remains is the state at an earlier time.
    Tail,
    /// Some that come before others.
    Middle,
}

/// The result of applying the readable edits of one MANIFEST.
struct ManifestState {
    number: u64,
    loss: Loss,
    damage: Vec<String>,
    has_comparator: bool,
    log_number: Option<u64>,
    previous_log_number: u64,
    next_file_number: Option<u64>,
    last_sequence: Option<SequenceNumber>,
    /// The level and description of each file, by its number.
    live: BTreeMap<u64, (usize, FileEntry)>,
    /// Tables that an edit removed for good.
    removed: HashSet<u64>,
}

/// The state according to the MANIFEST that is relied on.
pub(super) struct TrustedState {
    pub(super) manifest_number: u64,
    /// No entry of a listed table has a newer sequence.
    pub(super) last_sequence: SequenceNumber,
    /// Every table that was listed or removed up to this state has a smaller number.
    pub(super) next_file_number: u64,
    /// Whether all of its records are there.
    pub(super) is_whole: bool,
    /// Level 0: oldest first. Deeper levels: by key.
    pub(super) levels: [Vec<FileEntry>; LEVEL_COUNT],
}

/// Everything that the MANIFESTs tell.
pub(super) struct Knowledge {
    pub(super) trusted: Option<TrustedState>,
    /// Tables that were compacted away.
    pub(super) removed: HashSet<u64>,
    /// Logs below this number are used up, except `previous_log_number`.
    pub(super) log_number: u64,
    pub(super) previous_log_number: u64,
    /// The largest of the stored sequences.
    pub(super) last_sequence: SequenceNumber,
    /// Sentences for the report.
    pub(super) damage: Vec<String>,
    /// CURRENT exists but names no MANIFEST.
    pub(super) current_is_damaged: bool,
}

impl Knowledge {
    /// Reads CURRENT and every MANIFEST.
    ///
    /// # Errors
    /// - `InvalidArgument` if a MANIFEST names another comparator.
    /// - `Unsupported` for a future or foreign format.
    /// - The errors of reading the files.
    pub(super) fn gather(repairer: &Repairer, inventory: &Inventory) -> Result<Self> {
        let mut damage = Vec::new();
        let mut current_is_damaged = false;
        let mut named = None;
        if inventory.has_current {
            match current::decode(&read_current(&*repairer.env, &repairer.directory)?) {
                Ok(number) => named = Some(number),
                Err(error) => {
                    current_is_damaged = true;
                    damage.push(format!("CURRENT is damaged: {}.", error.problem));
                }
            }
        } else {
            damage.push("CURRENT is missing.".to_owned());
        }
        let mut states = Vec::new();
        for number in &inventory.manifests {
            states.push(ManifestState::read(repairer, *number)?);
        }
        // Newest first.
        states.sort_by_key(|state| std::cmp::Reverse(state.number));
        if let Some(number) = named
            && states.iter().all(|state| state.number != number)
        {
            damage.push(format!("{}, which CURRENT names, is missing.", file_name::manifest_name(number)));
            named = None;
        }
        repairer.comparator_is_known.set(states.iter().any(|state| state.has_comparator));
        let chosen = choose(repairer, &states, named, inventory);
        let trusted = chosen.map(|index| states[index].trusted(repairer));
        // A MANIFEST that never came into force may name a table in place of a log. It counts only if there is no
        // better one and its tables exist. (A loss of power while a repair wrote it may have taken them.)
        let in_force = states.iter().find(|state| Some(state.number) == named);
        let logs_from = chosen.map(|index| &states[index]).or(in_force).or_else(|| {
            states.iter().find(|state| state.loss == Loss::Nothing && state.has_its_tables(inventory))
        });
        Ok(Self {
            removed: states.iter().flat_map(|state| state.removed.iter().copied()).collect(),
            log_number: logs_from.and_then(|state| state.log_number).unwrap_or(0),
            previous_log_number: logs_from.map_or(0, |state| state.previous_log_number),
            last_sequence: states.iter().filter_map(|state| state.last_sequence).max().unwrap_or(0),
            damage: damage.into_iter().chain(states.into_iter().flat_map(|state| state.damage)).collect(),
            trusted,
            current_is_damaged,
        })
    }
}

/// The index of the MANIFEST to rely on. `named` is the number of the one that CURRENT names, if that exists.
fn choose(
    repairer: &Repairer,
    states: &[ManifestState],
    named: Option<u64>,
    inventory: &Inventory,
) -> Option<usize> {
    if let Some(index) = states.iter().position(|state| Some(state.number) == named)
        && states[index].loss != Loss::Middle
        && states[index].is_consistent(repairer)
    {
        return Some(index);
    }
    // A MANIFEST that is older than the one that CURRENT names was replaced.
    let eligible = |state: &ManifestState| {
        named.is_none_or(|named| state.number > named)
            && state.loss == Loss::Nothing
            && state.has_its_tables(inventory)
            && state.is_consistent(repairer)
    };
    states.iter().position(eligible)
}

impl ManifestState {
    fn read(repairer: &Repairer, number: u64) -> Result<Self> {
        let path = repairer.path(&file_name::manifest_name(number));
        let state = Self {
            number,
            loss: Loss::Nothing,
            damage: Vec::new(),
            has_comparator: false,
            log_number: None,
            previous_log_number: 0,
            next_file_number: None,
            last_sequence: None,
            live: BTreeMap::new(),
            removed: HashSet::new(),
        };
        let comparator = repairer.comparator.user().clone();
        let mut visitor = EditVisitor { path, comparator, state };
        let path = visitor.path.clone();
        read_log(&*repairer.env, &path, &mut visitor)?;
        let state = visitor.state;
        let numbers = [state.next_file_number.map(|next| next.saturating_sub(1)), state.log_number];
        let named = state.live.keys().chain(&state.removed).copied();
        for used in named.chain(numbers.into_iter().flatten()).chain([state.previous_log_number]) {
            repairer.mark_number_used(used);
        }
        Ok(state)
    }

    fn apply(&mut self, edit: VersionEdit) {
        self.has_comparator |= edit.comparator.is_some();
        self.log_number = edit.log_number.or(self.log_number);
        self.previous_log_number = edit.previous_log_number.unwrap_or(self.previous_log_number);
        self.next_file_number = edit.next_file_number.or(self.next_file_number);
        self.last_sequence = edit.last_sequence.or(self.last_sequence);
        for (level, number) in edit.deleted_files {
            if self.live.get(&number).is_none_or(|(listed, _)| *listed == level) {
                self.live.remove(&number);
                self.removed.insert(number);
            }
        }
        for (level, file) in edit.new_files {
            // The table was moved to another level, not removed.
            self.removed.remove(&file.number);
            self.live.insert(file.number, (level, file));
        }
    }

    fn has_its_tables(&self, inventory: &Inventory) -> bool {
        self.live.keys().all(|number| inventory.tables.contains_key(number))
    }

    /// Whether the edits state everything that a state needs, and its levels obey the rules of levels.
    fn is_consistent(&self, repairer: &Repairer) -> bool {
        let is_complete = self.has_comparator
            && self.log_number.is_some()
            && self.next_file_number.is_some()
            && self.last_sequence.is_some();
        if !is_complete || self.live.keys().any(|number| *number >= FILE_NUMBER_LIMIT) {
            return false;
        }
        let queue = Arc::new(ObsoleteFiles::new());
        let mut levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT] = Default::default();
        for (level, files) in self.levels(repairer).into_iter().enumerate() {
            let metas = files
                .into_iter()
                .map(|file| Arc::new(FileMeta::new(file, 0, FileOrigin::Recovered, Arc::clone(&queue))));
            levels[level] = metas.collect();
        }
        levels[0].reverse();
        checker::check(&Version::new(repairer.comparator.clone(), levels)).is_ok()
    }

    fn levels(&self, repairer: &Repairer) -> [Vec<FileEntry>; LEVEL_COUNT] {
        let mut levels: [Vec<FileEntry>; LEVEL_COUNT] = Default::default();
        for (level, file) in self.live.values() {
            levels[*level].push(file.clone());
        }
        for files in &mut levels[1..] {
            files.sort_by(|a, b| repairer.comparator.compare_keys(&a.smallest, &b.smallest));
        }
        levels
    }

    fn trusted(&self, repairer: &Repairer) -> TrustedState {
        TrustedState {
            manifest_number: self.number,
            last_sequence: self.last_sequence.unwrap_or_default(),
            next_file_number: self.next_file_number.unwrap_or_default(),
            is_whole: self.loss == Loss::Nothing,
            levels: self.levels(repairer),
        }
    }
}

struct EditVisitor {
    path: PathBuf,
    comparator: UserComparator,
    state: ManifestState,
}

impl EditVisitor {
    fn lose(&mut self, offset: u64, what: &str) {
        if self.state.loss == Loss::Nothing {
            self.state.loss = Loss::Tail;
        }
        let name = file_name::manifest_name(self.state.number);
        self.state.damage.push(format!("{name} is damaged at byte {offset}: {what}."));
    }
}

impl LogVisitor for EditVisitor {
    fn take(&mut self, piece: LogPiece<'_>) -> Result<()> {
        match piece {
            LogPiece::Record { payload, offset } => {
                if self.state.loss == Loss::Tail {
                    self.state.loss = Loss::Middle;
                }
                let edit = match VersionEdit::decode(payload)
                    .map_err(|error| Error::format(&self.path, offset, error))
                {
                    Err(error) if error.kind() == ErrorKind::Corruption => {
                        self.lose(offset, &error.to_string());
                        return Ok(());
                    }
                    edit => edit?,
                };
                if let Some(stored) = &edit.comparator
                    && let Some(error) = other_comparator(&self.path, stored, &self.comparator)
                {
                    return Err(error);
                }
                self.state.apply(edit);
            }
            LogPiece::Damage { lost_bytes: 0, .. } => {}
            LogPiece::Damage { offset, reason, .. } => self.lose(offset, reason),
            LogPiece::Zeros { offset, .. } => self.lose(offset, "zeros before a further record"),
            LogPiece::UnfinishedTail { offset, .. } => self.lose(offset, "its last record is cut off"),
        }
        Ok(())
    }

    fn is_plausible(&self, payload: &[u8], is_whole: bool) -> bool {
        is_whole && VersionEdit::decode(payload).is_ok()
    }
}
