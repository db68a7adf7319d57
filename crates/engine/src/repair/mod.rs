//! Repair: makes a damaged database openable again, with everything that is intact.
//!
//! ```text
//!   names ─► inventory ─► manifest ─► plan ─┬─► levels ────┬─► set aside ─► new MANIFEST ─► CURRENT ─► tidy up
//!                                           └─► merge_all ─┘
//!            intake ── a table: verify, else table_salvage (by its index, or block_scan) ─► new table
//!            replay ── the logs: log_salvage ─► new tables
//! ```
//!
//! Rules:
//!
//! 1. Before the new MANIFEST is in force, nothing in the directory but the info log is changed or removed. Until that
//!    moment the old state is complete, with some unused tables beside it; after it, the repaired state is. A repair
//!    can therefore be interrupted at any point and run again.
//! 2. Damaged and unused files go to the directory `lost`: they get a second name there before that moment, and lose
//!    their first name after it.
//! 3. If a MANIFEST can be relied on, its levels are the truth. Tables that it does not list are never added, because
//!    they would bring back what was deleted (Level/levelup#520).
//! 4. If no MANIFEST can be relied on, sequence numbers decide which entry is the newest. The report lists what cannot
//!    be known in that case.
//! 5. Only damage counts as damage. If the disk refuses to read, or a format is unknown, the repair fails and changes
//!    nothing.
//!
//! Memory: one memtable, one block and the index of a table, and the list of tables.

mod block_scan;
mod dialect;
mod intake;
mod inventory;
mod levels;
mod log_salvage;
mod manifest;
mod merge;
mod merge_all;
mod plan;
mod quarantine;
mod repairer;
pub(crate) mod replay;
pub(crate) mod report;
mod table_salvage;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use terrace_env::Env;
use terrace_format::file_name;
use terrace_format::internal_key::SequenceNumber;
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::version_edit::{FileEntry, VersionEdit};

use crate::directory::HeldDirectory;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::refuse_foreign_layout;
use crate::info_log::InfoLog;
use crate::options::Options;
use crate::recovery::needed_logs::names_log;
use crate::version::manifest::ManifestWriter;
use crate::version::new_manifest::replace_current;
use inventory::Inventory;
use levels::keep_levels;
use manifest::{Knowledge, TrustedState};
use merge_all::merge_all;
use plan::Plan;
use quarantine::link_to_lost;
pub(crate) use quarantine::{LOST_DIRECTORY, link as link_to_directory};
use repairer::Repairer;
use report::RepairReport;

/// A reassembled database that is not yet in force.
struct Rebuilt {
    levels: [Vec<FileEntry>; LEVEL_COUNT],
    last_sequence: SequenceNumber,
    /// The files that go to `lost`: names and reasons.
    to_lost: Vec<(String, String)>,
    /// The names of undamaged files whose contents are now elsewhere.
    used_up: Vec<String>,
    report: RepairReport,
}

impl Rebuilt {
    fn quarantine(&mut self, name: &str, reason: &str) {
        self.to_lost.push((name.to_owned(), reason.to_owned()));
    }
}

/// See [`Db::repair`](crate::Db::repair).
pub(crate) fn repair(directory: &Path, options: &Options) -> Result<RepairReport> {
    if options.read_only {
        let message = "a repair must write, but the options are read-only; turn read_only off";
        return Err(Error::at_path(ErrorKind::InvalidArgument, directory, message));
    }
    let Some(held) = HeldDirectory::hold_existing(directory, &options.env)? else {
        let message = "no such file or directory, so there is no database to repair";
        return Err(Error::at_path(ErrorKind::NoDatabase, directory, message));
    };
    let options = &Options { env: Arc::clone(&held.env), ..options.clone() };
    let env = &*held.env;
    // This comes before the lock, so that no LOCK file is left in a directory that holds no database.
    list(env, directory)?;
    refuse_foreign_layout(&env.list(directory)?, directory)?;
    let lock = held.lock()?;
    let inventory = list(env, directory)?;
    let info_log = InfoLog::open(Arc::clone(&options.env), directory);
    info_log.line(format_args!("Terrace {} repairs {}", env!("CARGO_PKG_VERSION"), directory.display()));
    let repairer = Repairer::new(directory, options);
    repairer.mark_number_used(inventory.largest_number);
    let in_lost_before = names_in_lost(env, directory)?;
    let result = rebuild(&repairer, &inventory).and_then(|mut rebuilt| {
        rebuilt.report.in_lost_before = in_lost_before;
        commit(&repairer, rebuilt)
    });
    match &result {
        Ok(report) => info_log.line(format_args!("repaired.\n{report}")),
        Err(error) => info_log.line(format_args!("the repair failed: {error}")),
    }
    drop(lock);
    result
}

fn names_in_lost(env: &dyn Env, directory: &Path) -> Result<Vec<String>> {
    match env.list(&directory.join(LOST_DIRECTORY)) {
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        names => Ok(names?),
    }
}

fn list(env: &dyn Env, directory: &Path) -> Result<Inventory> {
    let inventory = Inventory::new(env.list(directory)?);
    if inventory.is_empty() {
        let message = "the directory has no database files, so there is nothing to repair";
        return Err(Error::at_path(ErrorKind::NoDatabase, directory, message));
    }
    Ok(inventory)
}

/// Reads the existing files and writes the new tables. On failure, it removes the new tables again.
fn rebuild(repairer: &Repairer, inventory: &Inventory) -> Result<Rebuilt> {
    let result = rebuild_or_leave(repairer, inventory);
    if result.is_err() {
        repairer.remove_written(|_| false);
    }
    result
}

fn rebuild_or_leave(repairer: &Repairer, inventory: &Inventory) -> Result<Rebuilt> {
    let mut knowledge = Knowledge::gather(repairer, inventory)?;
    let mut rebuilt = Rebuilt {
        levels: Default::default(),
        last_sequence: knowledge.last_sequence,
        to_lost: Vec::new(),
        used_up: Vec::new(),
        report: RepairReport::new(),
    };
    rebuilt.report.manifest_damage = std::mem::take(&mut knowledge.damage);
    if knowledge.current_is_damaged {
        rebuilt.quarantine(file_name::CURRENT, "it is damaged");
    }
    let logs = inventory.needed_logs(knowledge.log_number, knowledge.previous_log_number);
    dialect::decide_dialect(repairer, inventory, &logs);
    let mut replaced_manifest = None;
    match plan::make(repairer, inventory, &mut knowledge, &logs)? {
        Plan::KeepLevels(trusted) => {
            replaced_manifest = trusted.is_whole.then_some(trusted.manifest_number);
            if let Some(missing) = missing_log(knowledge.log_number, &trusted, &logs) {
                rebuilt.report.logs_missing.push(missing);
            }
            keep_levels(repairer, inventory, &trusted, &logs, &mut rebuilt)?;
        }
        Plan::Merge { inputs, missing, why } => {
            rebuilt.report.manifest_damage.push(why);
            merge_all(repairer, inventory, &inputs, &missing, &logs, &mut rebuilt)?;
        }
    }
    for log in &rebuilt.report.logs {
        if log.damage.iter().any(|damage| damage.lost_bytes > 0) {
            let reason = format!("{} has lost writes; the keys that they wrote show older values", log.name);
            let keys = report::KeyRange::default();
            rebuilt.report.uncertain.push(report::Uncertainty { keys, reason });
        }
    }
    for name in rebuilt.report.logs_missing.clone() {
        let reason = format!("{name} is missing; the keys that it wrote show older values");
        rebuilt.report.uncertain.push(report::Uncertainty { keys: report::KeyRange::default(), reason });
    }
    for name in &inventory.logs {
        if rebuilt.report.logs.iter().all(|log| log.name != *name) {
            rebuilt.quarantine(name, "its writes are in tables");
        }
    }
    for number in &inventory.manifests {
        let name = file_name::manifest_name(*number);
        if Some(*number) == replaced_manifest {
            rebuilt.used_up.push(name);
        } else {
            rebuilt.quarantine(&name, "it is not in force");
        }
    }
    for name in &inventory.others {
        rebuilt.quarantine(name, "it is unused");
    }
    Ok(rebuilt)
}

/// The first log that the MANIFEST needs, if it is missing. Engines create that log before they name it.
fn missing_log(log_number: u64, trusted: &TrustedState, logs: &[u64]) -> Option<String> {
    let is_named = names_log(log_number, trusted.manifest_number);
    (is_named && !logs.contains(&log_number)).then(|| file_name::log_name(log_number))
}

/// Brings `rebuilt` into force.
fn commit(repairer: &Repairer, rebuilt: Rebuilt) -> Result<RepairReport> {
    let Rebuilt { levels, last_sequence, to_lost, used_up, mut report } = rebuilt;
    let (env, directory) = (&repairer.env, &repairer.directory);
    let in_force: HashSet<u64> = levels.iter().flatten().map(|file| file.number).collect();
    let number = repairer.new_number();
    let prepared = link_to_lost(repairer, &to_lost).and_then(|quarantine| {
        let manifest = ManifestWriter::create(
            env,
            directory,
            number,
            snapshot(repairer, number, last_sequence, levels),
        )?;
        manifest.close()?;
        // The names of the MANIFEST and of new tables must be durable before CURRENT leads to them.
        env.sync_directory(directory)?;
        Ok(quarantine)
    });
    match prepared {
        Ok(quarantine) => report.set_aside = quarantine,
        Err(error) => {
            repairer.remove_written(|_| false);
            let _ = env.remove_file(&repairer.path(&file_name::manifest_name(number)));
            return Err(error);
        }
    }
    // If this fails, it is unknown which state is in force, so both must stay.
    replace_current(&**env, directory, number)?;
    repairer.remove_written(|number| in_force.contains(&number));
    let moved = to_lost.iter().map(|(name, _)| name).filter(|name| *name != file_name::CURRENT);
    for name in moved.chain(&used_up) {
        // If the file stays, it is unused, and the next open removes it.
        let _ = env.remove_file(&repairer.path(name));
    }
    env.sync_directory(directory)?;
    Ok(report)
}

/// The edit that states the whole database. No earlier log is needed: all of them have numbers below the MANIFEST's.
fn snapshot(
    repairer: &Repairer,
    number: u64,
    last_sequence: SequenceNumber,
    levels: [Vec<FileEntry>; LEVEL_COUNT],
) -> VersionEdit {
    let files = levels.into_iter().enumerate();
    VersionEdit {
        comparator: Some(repairer.comparator.user().name().to_vec()),
        log_number: Some(number),
        previous_log_number: Some(0),
        next_file_number: Some(repairer.next_number()),
        last_sequence: Some(last_sequence),
        new_files: files
            .flat_map(|(level, files)| files.into_iter().map(move |file| (level, file)))
            .collect(),
        ..VersionEdit::default()
    }
}
