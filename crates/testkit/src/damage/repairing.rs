//! Repairs a damaged copy, also with an interruption, and examines the result.

use std::sync::Arc;

use terrace_engine::env::simulated::{Mode, SimulatedEnv};
use terrace_engine::env::{Env, MemoryEnv};
use terrace_engine::{Db, IterOptions, Options, ReadOptions, RepairReport};

use super::Trial;
use super::anatomy::FileRange;
use super::database::{DIRECTORY, Files, place, read_files};
use crate::campaign::Tally;
use crate::random::Random;

/// What each key shows after a repair: the sequence of a write, or nothing.
type Shown = Vec<Option<u64>>;

pub fn check(trial: &Trial<'_>, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let env: Arc<dyn Env> = Arc::new(MemoryEnv::with_steps());
    place(&*env, &trial.harmed.files);
    let report = Db::repair(DIRECTORY, &trial.database.options(&env))
        .map_err(|error| format!("the repair fails: {error}"))?;
    tally.one("repairs");
    let with_report = |problem: String| format!("after the repair: {problem}\n{report}");
    trial.check_set_aside(&report, &read_files(&*env)).map_err(with_report)?;
    let shown = trial.read_repaired(&env).map_err(with_report)?;
    trial.check_repaired(&shown, &report, tally).map_err(with_report)?;
    if random.one_in(3) {
        trial.check_interrupted(&shown, &report, random, tally).map_err(with_report)?;
    }
    Ok(())
}

impl Trial<'_> {
    /// Checks that every file set aside according to the report is in `lost`, and that every damaged table is one of
    /// them.
    fn check_set_aside(&self, report: &RepairReport, after: &Files) -> Result<(), String> {
        for file in &report.set_aside {
            if self.harmed.files.get(&file.name) != after.get(&file.moved_to) {
                return Err(format!("{} is not the {} of before", file.moved_to, file.name));
            }
        }
        for name in self.damaged_tables() {
            if self.harmed.files.contains_key(name) && report.set_aside.iter().all(|file| file.name != *name)
            {
                return Err(format!("{name} is damaged and was not set aside"));
            }
        }
        Ok(())
    }

    /// Opens the repaired database with every possible check, and reads it in all ways.
    fn read_repaired(&self, env: &Arc<dyn Env>) -> Result<Shown, String> {
        let options = Options { paranoid_checks: true, ..self.database.options(env) };
        let db = Db::open(DIRECTORY, options).map_err(|error| format!("the open fails: {error}"))?;
        db.verify().map_err(|error| format!("verify fails: {error}"))?;
        let history = &self.database.history;
        let mut shown = Shown::new();
        for (key, name) in history.keys.iter().enumerate() {
            let value =
                db.get(name, &ReadOptions::default()).map_err(|error| format!("a get fails: {error}"))?;
            shown.push(value.map(|value| history.identify(key, &value)).transpose()?);
        }
        let mut iterated: Shown = vec![None; shown.len()];
        let walk = |iterated: &mut Shown| -> Result<(), String> {
            let failed = |error| format!("an iterator fails: {error}");
            let mut iterator = db.iter(IterOptions::default()).map_err(failed)?;
            iterator.seek_to_first().map_err(failed)?;
            while iterator.valid() {
                let key = history.index(iterator.key())?;
                iterated[key] = Some(history.identify(key, iterator.value())?);
                iterator.next().map_err(failed)?;
            }
            Ok(())
        };
        walk(&mut iterated)?;
        if iterated != shown {
            return Err("an iterator shows something else than gets".to_owned());
        }
        db.close().map_err(|error| format!("the close fails: {error}"))?;
        Ok(shown)
    }

    fn check_repaired(&self, shown: &Shown, report: &RepairReport, tally: &mut Tally) -> Result<(), String> {
        for (key, found) in shown.iter().enumerate() {
            self.check_key(key, *found, report, tally).map_err(|problem| {
                format!("the key {}: {problem}", self.database.history.keys[key].escape_ascii())
            })?;
        }
        if self.harmed.names.iter().all(|name| !self.anatomy.is_live(name)) && !report.nothing_lost() {
            return Err("nothing that counts was damaged, and the report speaks of loss".to_owned());
        }
        Ok(())
    }

    fn check_key(
        &self,
        key: usize,
        found: Option<u64>,
        report: &RepairReport,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let history = &self.database.history;
        let Some(newest) = history.newest(key, history.last_sequence()) else { return Ok(()) };
        let right = history.shown(key, newest);
        if found == right {
            return Ok(());
        }
        let survivor = history.sequences(key).iter().rev().copied().find(|write| self.survives(*write));
        // A MANIFEST that lost a compaction leads to its inputs if they are left; the output is then not examined.
        let is_demanded = !(self.may_be_older() && self.damaged_any_table());
        if let Some(survivor) = survivor.filter(|_| is_demanded) {
            let kept = history.shown(key, survivor);
            let may_be_deleted = || {
                let later = history.sequences(key).iter().filter(|write| **write > survivor);
                later.copied().any(|write| history.is_deletion(write) && self.may_be_salvaged(write))
            };
            if found != kept && found.map_or_else(|| !may_be_deleted(), |found| found < survivor) {
                return Err(format!(
                    "it shows {found:?}, though the write {survivor} is intact ({newest} was the newest)"
                ));
            }
        }
        tally.one("values that a repair could not keep");
        if self.may_be_gone_untraced(newest) {
            return Ok(());
        }
        if report.nothing_lost() {
            return Err(format!("it shows {found:?} instead of {right:?}, and the report speaks of no loss"));
        }
        let is_reported = report.uncertain.iter().any(|uncertain| {
            let keys = &uncertain.keys;
            history.is_between(&history.keys[key], keys.first.as_deref(), keys.last.as_deref())
        });
        if found.is_some() && !is_reported {
            return Err(format!("it shows {found:?} instead of {right:?}, and is not reported as uncertain"));
        }
        Ok(())
    }

    /// Whether the bytes of a write are unchanged in some live file, and a repair must keep them.
    fn survives(&self, write: u64) -> bool {
        self.anatomy.places(write).iter().any(|place| {
            !self.harmed.has_copies(&place.file)
                && self.harmed.is_intact(self.database, &place.file, &place.bytes)
                && self.harmed.is_told_from_a_value(self.database, self.anatomy, &place.file, &place.bytes)
        })
    }

    fn damaged_any_table(&self) -> bool {
        self.harmed.names.iter().any(|name| name.ends_with(".ldb"))
    }

    /// Whether a repair may keep the write although its bytes have changed: from a copy that the damage made, or
    /// because only a header was hit.
    fn may_be_salvaged(&self, write: u64) -> bool {
        self.anatomy.places(write).iter().any(|place| self.harmed.names.contains(&place.file))
    }

    /// Whether the write was in a log that lost it in a way that a crash explains; or, after other damage, seems to.
    fn may_be_gone_untraced(&self, write: u64) -> bool {
        let (database, anatomy) = (self.database, self.anatomy);
        let is_in_torn_log = |place: &FileRange| {
            let end = self.harmed.unfinished_from(database, anatomy, &place.file);
            self.harmed.may_be_a_torn_log(database, anatomy, &place.file)
                || end.is_some_and(|end| place.bytes.start >= end)
        };
        self.anatomy
            .places(write)
            .iter()
            .any(|place| self.anatomy.logs.contains(&place.file) && is_in_torn_log(place))
    }

    /// A repair that is interrupted at any call and run again ends like an uninterrupted one.
    fn check_interrupted(
        &self,
        expected: &Shown,
        report: &RepairReport,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let mut simulated =
            SimulatedEnv::new(random.number(), random.choose(&[Mode::StrictPosix, Mode::Ext4Ordered]));
        place(&simulated, &self.harmed.files);
        let calls = random.choose(&[30, 100, 300]);
        simulated.halt_after(random.below(calls) as u64);
        let env: Arc<dyn Env> = Arc::new(simulated.clone());
        let first = Db::repair(DIRECTORY, &self.database.options(&env));
        if first.is_ok() && !simulated.is_halted() {
            return Ok(());
        }
        tally.one("repairs interrupted");
        if random.one_in(2) {
            simulated.kill_process();
        } else {
            simulated.cut_power();
        }
        let env: Arc<dyn Env> = Arc::new(simulated.clone());
        Db::repair(DIRECTORY, &self.database.options(&env))
            .map_err(|error| format!("a repair after an interrupted one fails: {error}"))?;
        let shown =
            self.read_repaired(&env).map_err(|problem| format!("after an interruption: {problem}"))?;
        if shown != *expected {
            return Err("an interrupted repair, run again, gives something else".to_owned());
        }
        let after = read_files(&*env);
        for file in &report.set_aside {
            let before = &self.harmed.files[&file.name];
            if !after.iter().any(|(name, bytes)| name.starts_with("lost/") && bytes == before) {
                return Err(format!("{} is gone after an interruption", file.name));
            }
        }
        Ok(())
    }
}
