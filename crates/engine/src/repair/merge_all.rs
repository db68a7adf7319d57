//! Reassembles the database without the levels of a MANIFEST. Predecessor: the plan. Successor: the commit, in the
//! [module](super).
//!
//! Damaged tables and logs are first turned into intact tables. Then everything is merged by sequence number into one
//! level. The originals are kept in `lost`, because the result of the merge rests on less evidence than a MANIFEST.

use std::collections::HashSet;

use terrace_format::file_name;
use terrace_format::version_edit::FileEntry;

use crate::error::Result;
use crate::repair::Rebuilt;
use crate::repair::intake::{Intake, keys_of, may_hold, take_in};
use crate::repair::inventory::Inventory;
use crate::repair::merge::{level_for, merge};
use crate::repair::plan::MergeInput;
use crate::repair::repairer::Repairer;
use crate::repair::replay::{logged_sequences, replay_logs};
use crate::repair::report::{KeyRange, LevelSource, Uncertainty};

pub(super) fn merge_all(
    repairer: &Repairer,
    inventory: &Inventory,
    inputs: &[MergeInput],
    missing: &[FileEntry],
    logs: &[u64],
    rebuilt: &mut Rebuilt,
) -> Result<()> {
    rebuilt.report.levels_from = LevelSource::Merge;
    let mut lost: Vec<(String, KeyRange)> = Vec::new();
    // Each table, with the name of the file that its entries came from.
    let mut tables: Vec<(String, FileEntry)> = Vec::new();
    for file in missing {
        let name = file_name::table_name(file.number);
        rebuilt.report.tables_missing.push(name.clone());
        lost.push((name, keys_of(file)));
    }
    for input in inputs {
        match take_in(repairer, input.number, &input.name, input.listed.as_ref())? {
            Intake::Intact { file, .. } => {
                rebuilt.report.tables_kept += 1;
                rebuilt.quarantine(&input.name, "it was merged into new tables");
                tables.push((input.name.clone(), file));
            }
            Intake::Empty => rebuilt.quarantine(&input.name, "it is empty"),
            Intake::Salvaged { table, report, lost_keys } => {
                rebuilt.quarantine(&input.name, "it is damaged");
                rebuilt.report.tables_salvaged.push(report);
                tables.extend(table.map(|table| (input.name.clone(), table.file)));
                lost.extend(lost_keys.into_iter().map(|keys| (input.name.clone(), keys)));
            }
        }
    }
    let merged: HashSet<u64> = inputs.iter().map(|input| input.number).collect();
    for (number, name) in &inventory.tables {
        if !merged.contains(number) {
            rebuilt.quarantine(name, "a MANIFEST says that it was replaced");
        }
    }
    let replayed = replay_logs(repairer, logs)?;
    for log in &replayed.logs {
        let is_intact = log.damage.is_empty();
        rebuilt
            .quarantine(&log.name, if is_intact { "it was merged into new tables" } else { "it is damaged" });
    }
    rebuilt.report.logs = replayed.logs;
    for (name, keys) in lost {
        if tables.iter().any(|(other, file)| *other != name && may_hold(repairer, file, &keys)) {
            let reason = format!("{name} has lost entries here; older values may show in their place");
            rebuilt.report.uncertain.push(Uncertainty { keys, reason });
        }
    }
    let files = tables.into_iter().map(|(_, file)| file);
    let merged = merge(repairer, files.chain(replayed.tables.into_iter().map(|table| table.file)).collect())?;
    rebuilt.last_sequence = rebuilt.last_sequence.max(replayed.last_sequence).max(merged.last_sequence);
    let level = level_for(merged.tables.iter().map(|table| table.file.size_bytes).sum());
    for table in merged.tables {
        rebuilt.report.entries_kept += table.entries;
        rebuilt.levels[level].push(table.file);
    }
    if !inputs.is_empty() {
        let reason = "without a MANIFEST, replaced tables are unknown: a deleted or overwritten value may reappear if the table \
                      with its deletion or newer value was removed before";
        rebuilt.report.uncertain.push(Uncertainty { keys: KeyRange::default(), reason: reason.to_owned() });
    } else if !matches!(logged_sequences(repairer, logs)?[..], [(1, _)]) {
        let reason = "without a MANIFEST, the former tables are unknown, and no table remains";
        rebuilt.report.uncertain.push(Uncertainty { keys: KeyRange::default(), reason: reason.to_owned() });
    }
    Ok(())
}
