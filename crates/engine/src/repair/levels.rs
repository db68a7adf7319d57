//! Reassembles the database by the MANIFEST's levels. Predecessor: the plan. Successor: the commit, in the
//! [module](super).
//!
//! 1. A table that verifies stays where it is. What is intact of a damaged table goes into a new table in its place.
//! 2. The files of level 0 are ordered by number. If one of them is replaced, those newer than it get new numbers too.
//! 3. The writes from the logs become the newest tables of level 0.
//! 4. If entries are lost and an older table has keys in their range, these keys may now show an older value.

use std::collections::HashSet;

use terrace_format::file_name;
use terrace_format::version_edit::FileEntry;

use crate::error::Result;
use crate::repair::Rebuilt;
use crate::repair::intake::{Intake, keys_of, may_hold, take_in};
use crate::repair::inventory::Inventory;
use crate::repair::manifest::TrustedState;
use crate::repair::repairer::Repairer;
use crate::repair::replay::replay_logs;
use crate::repair::report::{KeyRange, Uncertainty};

/// Entries that are lost.
struct Lost {
    level: usize,
    /// The number of their table in the MANIFEST.
    number: u64,
    name: String,
    keys: KeyRange,
}

pub(super) fn keep_levels(
    repairer: &Repairer,
    inventory: &Inventory,
    trusted: &TrustedState,
    logs: &[u64],
    rebuilt: &mut Rebuilt,
) -> Result<()> {
    let mut lost = Vec::new();
    // The MANIFEST's entries for the tables of which something is left.
    let mut remaining: Vec<(usize, &FileEntry)> = Vec::new();
    let mut is_level0_renumbered = false;
    for (level, files) in trusted.levels.iter().enumerate() {
        for file in files {
            let Some(name) = inventory.tables.get(&file.number) else {
                let name = file_name::table_name(file.number);
                rebuilt.report.tables_missing.push(name.clone());
                lost.push(Lost { level, number: file.number, name, keys: keys_of(file) });
                continue;
            };
            match take_in(repairer, file.number, name, Some(file))? {
                Intake::Intact { mut file, entries } => {
                    if level == 0 && is_level0_renumbered {
                        rebuilt.used_up.push(name.clone());
                        file.number = repairer.renumber(name)?;
                    }
                    rebuilt.report.tables_kept += 1;
                    rebuilt.report.entries_kept += entries;
                    rebuilt.levels[level].push(file);
                }
                Intake::Empty => {}
                Intake::Salvaged { table, report, lost_keys } => {
                    is_level0_renumbered |= level == 0;
                    rebuilt.quarantine(name, "it is damaged");
                    rebuilt.report.tables_salvaged.push(report);
                    rebuilt.report.entries_kept += table.as_ref().map_or(0, |table| table.entries);
                    rebuilt.levels[level].extend(table.map(|table| table.file));
                    let of_table = |keys| Lost { level, number: file.number, name: name.clone(), keys };
                    lost.extend(lost_keys.into_iter().map(of_table));
                }
            }
            remaining.push((level, file));
        }
    }
    let listed: HashSet<u64> = trusted.levels.iter().flatten().map(|file| file.number).collect();
    for (number, name) in &inventory.tables {
        if !listed.contains(number) {
            rebuilt.quarantine(name, "the MANIFEST does not list it");
        }
    }
    let replayed = replay_logs(repairer, logs)?;
    for table in replayed.tables {
        rebuilt.report.entries_kept += table.entries;
        rebuilt.levels[0].push(table.file);
    }
    for log in &replayed.logs {
        if log.damage.is_empty() {
            rebuilt.used_up.push(log.name.clone());
        } else {
            rebuilt.quarantine(&log.name, "it is damaged");
        }
    }
    rebuilt.last_sequence = rebuilt.last_sequence.max(replayed.last_sequence);
    rebuilt.report.logs = replayed.logs;
    for lost in lost {
        let is_older = |(level, file): &&(usize, &FileEntry)| {
            *level > lost.level || (*level == 0 && lost.level == 0 && file.number < lost.number)
        };
        if remaining.iter().filter(is_older).any(|(_, file)| may_hold(repairer, file, &lost.keys)) {
            let reason = format!("{} has lost entries here; older values may show in their place", lost.name);
            rebuilt.report.uncertain.push(Uncertainty { keys: lost.keys, reason });
        }
    }
    Ok(())
}
