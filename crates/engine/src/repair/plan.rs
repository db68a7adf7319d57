//! Decides how the database is put together again. Predecessor: [`manifest`](super::manifest). Successors:
//! [`levels`](super::levels), which keeps the MANIFEST's levels; [`merge`](super::merge), which does without.
//!
//! A MANIFEST that lost its last records is in itself sound: it states how the database was at an earlier time. Two traces
//! give it away.
//!
//! 1. A table that it lists is gone, and another, that it does not know, is newer and has keys in the same range: a
//!    compaction put the one in place of the other.
//! 2. A table that it does not know has entries that are newer than all tables it lists, and in no log: the log was
//!    removed when the table was recorded.
//!
//! Without such traces a table that is not listed is the input of a compaction, or the unfinished output of one. It is
//! never added: that brings back what was deleted (Level/levelup#520).

use std::collections::BTreeSet;

use terrace_format::internal_key::{SequenceNumber, parse_internal_key, user_key};
use terrace_format::version_edit::FileEntry;

use crate::error::{Error, Result};
use crate::repair::inventory::Inventory;
use crate::repair::manifest::{Knowledge, TrustedState};
use crate::repair::replay::logged_sequences;
use crate::repair::table_salvage::read_table;
use crate::repair::workshop::Workshop;

/// A table to be merged.
#[derive(Debug)]
pub(super) struct MergeInput {
    pub(super) number: u64,
    pub(super) name: String,
    /// What the MANIFEST says of it, if it lists it.
    pub(super) listed: Option<FileEntry>,
}

/// What is to be done.
pub(super) enum Plan {
    KeepLevels(TrustedState),
    Merge {
        inputs: Vec<MergeInput>,
        /// What the MANIFEST lists and is not there.
        missing: Vec<FileEntry>,
        /// A sentence for the report.
        why: String,
    },
}

/// Decides. `logs` are the logs that are not used up.
pub(super) fn make(
    workshop: &Workshop,
    inventory: &Inventory,
    knowledge: &mut Knowledge,
    logs: &[u64],
) -> Result<Plan> {
    let Some(trusted) = knowledge.trusted.take() else {
        let remaining = inventory.tables.iter().filter(|(number, _)| !knowledge.removed.contains(number));
        let inputs = remaining
            .map(|(number, name)| MergeInput { number: *number, name: name.clone(), listed: None })
            .collect();
        let why = "No MANIFEST can be relied on.".to_owned();
        return Ok(Plan::Merge { inputs, missing: Vec::new(), why });
    };
    let listed: Vec<&FileEntry> = trusted.levels.iter().flatten().collect();
    let is_listed = |number: u64| listed.iter().any(|file| file.number == number);
    let unknown: Vec<(u64, &String)> = inventory
        .tables
        .iter()
        .map(|(number, name)| (*number, name))
        .filter(|(number, _)| !is_listed(*number) && !knowledge.removed.contains(number))
        .collect();
    if unknown.is_empty() {
        return Ok(Plan::KeepLevels(trusted));
    }
    let missing: Vec<FileEntry> = listed
        .iter()
        .filter(|file| !inventory.tables.contains_key(&file.number))
        .map(|file| (*file).clone())
        .collect();
    let logged = logged_sequences(workshop, logs)?;
    let mut newer = BTreeSet::new();
    for (number, name) in &unknown {
        if is_newer(workshop, *number, name, &trusted, &missing, &logged)? {
            newer.insert(*number);
        }
    }
    if newer.is_empty() {
        return Ok(Plan::KeepLevels(trusted));
    }
    // Whatever came after the first missing table may have taken part in replacing it.
    let first_missing = missing.iter().map(|file| file.number).min().unwrap_or(u64::MAX);
    let mut inputs = Vec::new();
    for (number, name) in &inventory.tables {
        let listed = listed.iter().find(|file| file.number == *number).map(|file| (*file).clone());
        let is_candidate =
            !knowledge.removed.contains(number) && (*number > first_missing || newer.contains(number));
        if listed.is_some() || is_candidate {
            inputs.push(MergeInput { number: *number, name: name.clone(), listed });
        }
    }
    let why = "The MANIFEST has lost its last records: there are tables that it should know.".to_owned();
    Ok(Plan::Merge { inputs, missing, why })
}

/// Whether the table is a trace of records that the MANIFEST has lost.
fn is_newer(
    workshop: &Workshop,
    number: u64,
    name: &str,
    trusted: &TrustedState,
    missing: &[FileEntry],
    logged: &[(SequenceNumber, SequenceNumber)],
) -> Result<bool> {
    let mut first: Option<Vec<u8>> = None;
    let mut last = Vec::new();
    let mut has_unlogged = false;
    let path = workshop.path(name);
    read_table(workshop, name, None, &mut |key, _| {
        let parsed = parse_internal_key(key).map_err(|error| Error::format(&path, 0, error))?;
        has_unlogged |= parsed.sequence > trusted.last_sequence && !is_in(logged, parsed.sequence);
        first.get_or_insert_with(|| parsed.user_key.to_vec());
        last.clear();
        last.extend_from_slice(parsed.user_key);
        Ok(())
    })?;
    let Some(first) = first else { return Ok(false) };
    let user = workshop.comparator.user();
    let replaces = |file: &FileEntry| {
        number > file.number
            && user.compare(user_key(&file.smallest), &last).is_le()
            && user.compare(&first, user_key(&file.largest)).is_le()
    };
    Ok(has_unlogged || missing.iter().any(replaces))
}

fn is_in(ranges: &[(SequenceNumber, SequenceNumber)], sequence: SequenceNumber) -> bool {
    let index = ranges.partition_point(|(_, last)| *last < sequence);
    ranges.get(index).is_some_and(|(first, _)| *first <= sequence)
}
