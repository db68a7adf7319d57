//! One trial: a database on a small disk that fills up and gets room again, and whose writer is killed in either
//! state.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use terrace_engine::{Db, Options};

use super::directory::copy;
use super::leveldb::LevelDb;
use super::oracle::{Oracle, contents};
use super::setup::Setup;
use super::small_disk::SmallDisk;
use super::transcript::Transcript;
use super::trial::begun;
use super::victim::Victim;
use crate::campaign::{Tally, TrialResult};
use crate::digest::Digest;

/// Room for some large batches, and for the files that a crowd of them leaves for a while.
const DISK_SIZE_BYTES: u64 = 32 << 20;
/// Compactions give room back, so the disk is filled again after this time.
const FILL_EVERY_MS: u64 = 20;
/// Refusals of each lane after which the disk counts as full.
const REFUSALS: u64 = 5;
/// Batches of each lane after which it counts as working again.
const BATCHES: u64 = 20;

/// Runs the trial of `seed`: `kills` lives of the program `writer`. If no small disk can be mounted, prints the
/// reason and does nothing.
///
/// # Errors
///
/// The promise that was broken.
pub fn run(seed: u64, kills: u64, writer: &Path) -> TrialResult {
    let directory =
        tempfile::Builder::new().prefix("terrace-full-").tempdir().map_err(|error| error.to_string())?;
    let disk = match SmallDisk::new(directory.path(), DISK_SIZE_BYTES) {
        Ok(disk) => disk,
        Err(reason) => {
            // Written without a macro, whose output the test runner would hide.
            let _ = writeln!(std::io::stderr(), "skipped, no small disk here: {reason}");
            return Ok(Tally::default());
        }
    };
    let setup = Setup::new(seed);
    let oracle = Oracle::new(setup.lanes());
    let leveldb = LevelDb::start()?;
    let mut trial = Trial { seed, writer, directory: directory.path(), disk, setup, oracle, leveldb };
    let mut tally = Tally::default();
    for kill in 1..=kills {
        let is_full = kill % 2 == 0;
        trial
            .life(is_full, &mut tally)
            .map_err(|problem| format!("kill {kill}, while the disk is full: {is_full}: {problem}"))?;
    }
    Ok(tally)
}

struct Trial<'a> {
    seed: u64,
    writer: &'a Path,
    directory: &'a Path,
    disk: SmallDisk,
    setup: Setup,
    oracle: Oracle,
    leveldb: Option<LevelDb>,
}

impl Trial<'_> {
    /// The writer checks after each refusal that reads still work.
    fn life(&mut self, kill_while_full: bool, tally: &mut Tally) -> Result<(), String> {
        let database = self.disk.path().join("db");
        let mut victim = Victim::start(self.writer, &database, self.seed, None, self.oracle.counts())?;
        self.go_on(&mut victim)?;
        self.fill_up(&mut victim)?;
        if !kill_while_full {
            self.disk.free()?;
            self.go_on(&mut victim)?;
        }
        let transcript = victim.kill()?;
        self.disk.remount()?;
        self.check(&database, &transcript, kill_while_full)?;
        tally.one("kills");
        tally.one("full disks");
        tally.add("refused batches", transcript.refusals);
        tally.add("acknowledged batches", transcript.acknowledgements);
        tally.add("LevelDB checks", u64::from(self.leveldb.is_some()));
        Ok(())
    }

    /// Waits until each lane has written some more batches.
    fn go_on(&self, victim: &mut Victim) -> Result<(), String> {
        victim.wait_for(|_, transcript| transcript.opened)?;
        let goals: Vec<_> = victim.transcript().acknowledged.iter().map(|count| count + BATCHES).collect();
        victim.wait_for(|_, transcript| {
            transcript.acknowledged.iter().zip(&goals).all(|(count, goal)| count >= goal)
        })
    }

    /// Fills the disk until it has refused enough writes.
    fn fill_up(&self, victim: &mut Victim) -> Result<(), String> {
        let goal = REFUSALS * self.oracle.counts().len() as u64;
        loop {
            self.disk.fill()?;
            let pause = Duration::from_millis(FILL_EVERY_MS);
            if victim.listen(pause, |_, transcript| transcript.refusals >= goal)? {
                return Ok(());
            }
        }
    }

    fn check(&mut self, database: &Path, transcript: &Transcript, is_full: bool) -> Result<(), String> {
        let for_leveldb = self.directory.join("for LevelDB");
        copy(database, &for_leveldb).map_err(|error| error.to_string())?;
        if is_full {
            // The open succeeds or is refused; in either case nothing may get lost.
            let _ = Db::open(database, self.options()).and_then(|db| db.close());
            self.disk.free()?;
        }
        let digest = self.read(database, transcript)?;
        if let Some(leveldb) = &mut self.leveldb {
            leveldb.ask(&for_leveldb)?;
            leveldb.expect(&digest)?;
        }
        fs::remove_dir_all(&for_leveldb).map_err(|error| error.to_string())
    }

    fn read(&mut self, database: &Path, transcript: &Transcript) -> Result<Digest, String> {
        let db = Db::open(database, self.options()).map_err(|error| format!("open: {error}"))?;
        let (found, digest) = contents(&db)?;
        self.oracle.accept(&found, &transcript.acknowledged, &begun(true, &transcript.acknowledged))?;
        db.close().map_err(|error| format!("close: {error}"))?;
        Ok(digest)
    }

    fn options(&self) -> Options {
        Options { create_if_missing: false, paranoid_checks: true, ..self.setup.options() }
    }
}
