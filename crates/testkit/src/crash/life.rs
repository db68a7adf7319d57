//! One life of a trial's database, as planned: it is repaired if that is part of the plan, opened and examined, used, and ends
//! with a power cut or the death of the process.

use terrace_engine::{Db, ErrorKind, WriteOptions};

use super::plan::{End, LifePlan};
use super::trial::{DIRECTORY, Step, Stop, Trial};

impl Trial {
    /// Lives one life as planned.
    ///
    /// # Errors
    ///
    /// The promise that was broken, what happened before, and the last calls.
    pub(super) fn live(&mut self, plan: LifePlan) -> Result<(), String> {
        self.event(format!("--- {plan:?}"));
        self.plan = plan;
        self.poisoned = false;
        if let Some(calls) = self.plan.halts_after {
            self.env.halt_after(calls);
        }
        if let Some(fault) = &self.plan.fault {
            self.env.fail_at(fault.clone());
        }
        let db = self.open_and_use().map_err(|problem| {
            let Self { env, events, .. } = self;
            format!("{problem}\n\nevents:\n{events}\nlast calls:\n{}", env.trace())
        })?;
        self.tally.add("faults", u64::from(self.fault_came()));
        self.end();
        if let Some(db) = db {
            // The dead process may do anything.
            let _ = db.put(b"after", b"death", &WriteOptions { sync: true });
            let _ = db.close();
        }
        Ok(())
    }

    fn open_and_use(&mut self) -> Result<Option<Db>, String> {
        let db = match self.open_and_examine() {
            Ok(db) => db,
            Err(Stop::Ended) => {
                self.tally.one("ends while opening");
                self.event("stopped while opening");
                return Ok(None);
            }
            Err(Stop::Broken(problem)) => return Err(problem),
        };
        let lived = match self.use_database(&db) {
            Ok(()) | Err(Stop::Ended) if self.plan.closes => self.close(&db),
            lived => lived,
        };
        match lived {
            Ok(()) | Err(Stop::Ended) => Ok(Some(db)),
            Err(Stop::Broken(problem)) => Err(problem),
        }
    }

    /// Repairs if that is planned, opens, and examines the contents.
    fn open_and_examine(&mut self) -> Step<Db> {
        if self.plan.repairs {
            self.repair()?;
        }
        let db = match Db::open(DIRECTORY, self.options()) {
            Err(error) if self.plan.goes_on => {
                self.recover_from("open", &error)?;
                Db::open(DIRECTORY, self.options())
            }
            result => result,
        };
        let db = db.map_err(|error| self.stop("open", &error))?;
        self.tally.one("opens");
        let found = match self.contents(&db, None) {
            Err(Stop::Ended) if self.plan.goes_on => {
                self.env.heal();
                self.contents(&db, None)?
            }
            result => result?,
        };
        let before = self.history.len();
        let seen = self.history.opened(&found);
        self.event(format!("opened, with {} of {before} batches", self.history.len()));
        seen.map_err(Stop::Broken)?;
        Ok(db)
    }

    fn repair(&mut self) -> Step {
        self.event("repair");
        self.history.repair();
        let report = match Db::repair(DIRECTORY, &self.options()) {
            Err(error) if self.plan.goes_on && error.kind() != ErrorKind::NoDatabase => {
                self.recover_from("repair", &error)?;
                Db::repair(DIRECTORY, &self.options())
            }
            result => result,
        };
        match report {
            Ok(report) => {
                self.event(report.to_string());
                self.tally.one("repairs");
                Ok(())
            }
            // None of it may have reached the disk.
            Err(error) if error.kind() == ErrorKind::NoDatabase => Ok(()),
            Err(error) => Err(self.stop("repair", &error)),
        }
    }

    fn close(&mut self, db: &Db) -> Step {
        self.event("close");
        match db.close() {
            Ok(()) if self.poisoned => Err(Stop::Broken("close reports success".to_owned())),
            Ok(()) => {
                self.history.all_durable();
                Ok(())
            }
            Err(error) => Err(self.stop("close", &error)),
        }
    }

    fn end(&mut self) {
        match self.plan.end {
            End::Death => {
                self.env.kill_process();
                self.tally.one("deaths");
                self.event("killed");
            }
            End::PowerCut => {
                let summary = self.env.cut_power();
                self.history.power_cut();
                self.tally.one("power cuts");
                self.tally.add("power cuts with loss", u64::from(summary.lost_something()));
                self.event(summary.to_string());
            }
        }
    }
}
