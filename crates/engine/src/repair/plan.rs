//! Decides how the database is reassembled. Predecessor: [`manifest`](super::manifest). Successors:
//! [`levels`](super::levels), which keeps the MANIFEST's levels; [`merge`](super::merge), which needs none.
//!
//! A MANIFEST that lost its last records is sound in itself: it states how the database was at an earlier time. Two
//! traces give it away.
//!
//! 1. A table that it lists is gone, and a newer table that it does not know has keys in the same range: a compaction
//!    replaced one by the other.
//! 2. A table that it does not know has entries that are newer than all tables it lists and are in no log: the log was
//!    removed when the table was recorded. The MANIFEST states an upper bound for the sequences in the listed tables.
//!    LevelDB writes a larger number than necessary. The listed tables are then read to find their newest sequence, but
//!    only for tables made after the last record: an older one may hold a deletion that a compaction has dropped since.
//!    This trace counts only for tables that are younger than the logs that the MANIFEST needs. What was in older logs
//!    is in tables that the MANIFEST lists, so an older table that it does not know is one that a loss of power undid,
//!    and its sequence numbers have been reused since. If the first log that the MANIFEST needs exists, no flush after
//!    that log was recorded. In that case only an undamaged table counts, because an ingest may have made it. A damaged
//!    one is what a flush or an ingest had written when the power was lost, and holds parts of batches.
//!
//! Without such traces, a table that is not listed is the input of a compaction or its unfinished output. It is never
//! added, because that would bring back what was deleted (Level/levelup#520).

use std::collections::{BTreeMap, BTreeSet};

use terrace_format::internal_key::{SequenceNumber, parse_internal_key};
use terrace_format::version_edit::FileEntry;

use crate::error::{Error, Result};
use crate::recovery::needed_logs::names_log;
use crate::repair::intake::may_hold;
use crate::repair::inventory::Inventory;
use crate::repair::manifest::{Knowledge, TrustedState};
use crate::repair::repairer::Repairer;
use crate::repair::replay::logged_sequences;
use crate::repair::report::KeyRange;
use crate::repair::table_salvage::read_table;

/// A table to merge.
#[derive(Debug)]
pub(super) struct MergeInput {
    pub(super) number: u64,
    pub(super) name: String,
    /// What the MANIFEST says of it, if the MANIFEST lists it.
    pub(super) listed: Option<FileEntry>,
}

/// What the repair is to do.
pub(super) enum Plan {
    KeepLevels(TrustedState),
    Merge {
        inputs: Vec<MergeInput>,
        /// Tables that the MANIFEST lists and that do not exist.
        missing: Vec<FileEntry>,
        /// A sentence for the report.
        why: String,
    },
}

/// Makes the plan. `logs` are the logs that are not used up.
pub(super) fn make(
    repairer: &Repairer,
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
    let listed: BTreeMap<u64, &FileEntry> =
        trusted.levels.iter().flatten().map(|file| (file.number, file)).collect();
    let unknown: Vec<(u64, &String)> = inventory
        .tables
        .iter()
        .map(|(number, name)| (*number, name))
        .filter(|(number, _)| !listed.contains_key(number) && !knowledge.removed.contains(number))
        .collect();
    if unknown.is_empty() {
        return Ok(Plan::KeepLevels(trusted));
    }
    let is_missing = |file: &&&FileEntry| !inventory.tables.contains_key(&file.number);
    let missing: Vec<FileEntry> = listed.values().filter(is_missing).map(|file| (*file).clone()).collect();
    let logged = logged_sequences(repairer, logs)?;
    let has_first_log =
        names_log(knowledge.log_number, trusted.manifest_number) && logs.contains(&knowledge.log_number);
    let mut newest_listed = None;
    let mut newer = BTreeSet::new();
    for (number, name) in &unknown {
        let Some(facts) = examine(repairer, name, &logged)? else { continue };
        let is_unlogged = if *number < knowledge.log_number || (has_first_log && facts.is_damaged) {
            false
        } else if facts.newest_unlogged > trusted.last_sequence {
            true
        } else if facts.newest_unlogged > 0 && *number >= trusted.next_file_number {
            let newest = match newest_listed {
                Some(newest) => newest,
                None => *newest_listed.insert(newest_sequence(repairer, inventory, &trusted)?),
            };
            facts.newest_unlogged > newest
        } else {
            false
        };
        let replaces = |file: &FileEntry| *number > file.number && may_hold(repairer, file, &facts.keys);
        if is_unlogged || missing.iter().any(replaces) {
            newer.insert(*number);
        }
    }
    if newer.is_empty() {
        return Ok(Plan::KeepLevels(trusted));
    }
    // Any table that came after the first missing one may have taken part in replacing it.
    let first_missing = missing.iter().map(|file| file.number).min().unwrap_or(u64::MAX);
    let mut inputs = Vec::new();
    for (number, name) in &inventory.tables {
        let listed = listed.get(number).map(|file| (*file).clone());
        let is_candidate =
            !knowledge.removed.contains(number) && (*number > first_missing || newer.contains(number));
        if listed.is_some() || is_candidate {
            inputs.push(MergeInput { number: *number, name: name.clone(), listed });
        }
    }
    let why = "The MANIFEST has lost its last records: there are tables that it should know.".to_owned();
    Ok(Plan::Merge { inputs, missing, why })
}

/// Facts about a table that no MANIFEST knows.
struct Facts {
    keys: KeyRange,
    /// The newest sequence number that is in no log; 0 if the logs have all of them.
    newest_unlogged: SequenceNumber,
    is_damaged: bool,
}

/// Reads through the table. `None` if it holds no entries.
fn examine(
    repairer: &Repairer,
    name: &str,
    logged: &[(SequenceNumber, SequenceNumber)],
) -> Result<Option<Facts>> {
    let mut facts: Option<Facts> = None;
    let path = repairer.path(name);
    let salvaged = read_table(repairer, name, None, &mut |key, _| {
        let parsed = parse_internal_key(key).map_err(|error| Error::format(&path, 0, error))?;
        let facts = facts.get_or_insert_with(|| {
            let keys = KeyRange { first: Some(parsed.user_key.to_vec()), last: Some(Vec::new()) };
            Facts { keys, newest_unlogged: 0, is_damaged: false }
        });
        if parsed.sequence > facts.newest_unlogged && !is_in(logged, parsed.sequence) {
            facts.newest_unlogged = parsed.sequence;
        }
        let last = facts.keys.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(parsed.user_key);
        Ok(())
    })?;
    Ok(facts.map(|facts| Facts { is_damaged: !salvaged.damage.is_empty(), ..facts }))
}

/// The newest sequence number in any listed table.
fn newest_sequence(
    repairer: &Repairer,
    inventory: &Inventory,
    trusted: &TrustedState,
) -> Result<SequenceNumber> {
    let mut newest = 0;
    for file in trusted.levels.iter().flatten() {
        let Some(name) = inventory.tables.get(&file.number) else { continue };
        let path = repairer.path(name);
        read_table(repairer, name, Some(file), &mut |key, _| {
            let parsed = parse_internal_key(key).map_err(|error| Error::format(&path, 0, error))?;
            newest = newest.max(parsed.sequence);
            Ok(())
        })?;
    }
    Ok(newest)
}

fn is_in(ranges: &[(SequenceNumber, SequenceNumber)], sequence: SequenceNumber) -> bool {
    let index = ranges.partition_point(|(_, last)| *last < sequence);
    ranges.get(index).is_some_and(|(first, _)| *first <= sequence)
}
