//! One trial: a database that lives through several kills.

use std::fs;
use std::path::{Path, PathBuf};

use terrace_engine::{Db, Options};

use super::directory::{copy, holds_database};
use super::leveldb::LevelDb;
use super::moment::Moment;
use super::oracle::{Oracle, contents};
use super::setup::Setup;
use super::transcript::{Checkpoint, Transcript};
use super::victim::Victim;
use crate::campaign::{Tally, TrialResult};
use crate::digest::Digest;
use crate::random::Random;

/// A guess until an opening was measured.
const FIRST_OPENING_US: usize = 20_000;

struct Trial<'a> {
    random: Random,
    seed: u64,
    writer: &'a Path,
    directory: &'a Path,
    setup: Setup,
    oracle: Oracle,
    leveldb: Option<LevelDb>,
    opening_us: usize,
    tally: Tally,
}

/// Runs the trial of `seed`: `kills` lives of the program `writer` on one database, in a temporary directory that
/// remains if the trial fails.
///
/// # Errors
///
/// The promise that was broken, and where the directory is.
pub fn run(seed: u64, kills: u64, writer: &Path) -> TrialResult {
    let directory =
        tempfile::Builder::new().prefix("terrace-kills-").tempdir().map_err(|error| error.to_string())?;
    let setup = Setup::new(seed);
    let mut trial = Trial {
        random: Random::new(seed.rotate_left(32)),
        seed,
        writer,
        directory: directory.path(),
        oracle: Oracle::new(setup.lanes()),
        setup,
        leveldb: LevelDb::start()?,
        opening_us: FIRST_OPENING_US,
        tally: Tally::default(),
    };
    let result = (1..=kills).try_for_each(|kill| {
        let moment = Moment::draw(&mut trial.random, trial.opening_us);
        trial.life(moment).map_err(|problem| format!("kill {kill}, {moment:?}: {problem}"))
    });
    let tally = trial.tally;
    match result {
        Ok(()) => Ok(tally),
        Err(problem) => Err(format!("{problem}\nthe directory is kept: {}", directory.keep().display())),
    }
}

impl Trial<'_> {
    fn database(&self) -> PathBuf {
        self.directory.join("db")
    }

    fn checkpoints(&self) -> PathBuf {
        self.directory.join("checkpoints")
    }

    /// The options for checking what a writer left.
    fn options(&self) -> Options {
        Options { create_if_missing: false, paranoid_checks: true, ..self.setup.options() }
    }

    fn life(&mut self, moment: Moment) -> Result<(), String> {
        let counts = self.oracle.counts();
        let checkpoints = self.checkpoints();
        let mut victim =
            Victim::start(self.writer, &self.database(), self.seed, Some(&checkpoints), counts.clone())?;
        if !matches!(moment, Moment::Start(_)) {
            victim.wait_for(|_, transcript| transcript.opened)?;
            self.opening_us = victim.age().as_micros() as usize;
        }
        moment.wait(&mut victim)?;
        let transcript = victim.kill()?;
        self.tally.one("kills");
        self.tally.add("kills while opening", u64::from(!transcript.opened));
        self.tally.add("kills in a large batch", u64::from(matches!(moment, Moment::Large(_))));
        self.tally.add("acknowledged batches", transcript.acknowledgements);
        if transcript.refusals > 0 {
            return Err("the disk is full".to_owned());
        }
        let before = self.oracle.clone();
        if holds_database(&self.database()) {
            self.check_database(&transcript)?;
        } else if transcript.opened || counts.iter().any(|count| *count > 0) {
            return Err("the database is gone".to_owned());
        }
        for checkpoint in &transcript.checkpoints {
            self.check_checkpoint(checkpoint, before.clone())
                .map_err(|problem| format!("checkpoint {}: {problem}", checkpoint.name))?;
        }
        Ok(())
    }

    /// Checks that Terrace and LevelDB both recover what the writer left, and find the same. The next writer
    /// continues with what either recovered, or recovers the rest itself.
    fn check_database(&mut self, transcript: &Transcript) -> Result<(), String> {
        let io = |error: std::io::Error| error.to_string();
        let for_leveldb = self.directory.join("for LevelDB");
        copy(&self.database(), &for_leveldb).map_err(io)?;
        if let Some(leveldb) = &mut self.leveldb {
            leveldb.ask(&for_leveldb)?;
        }
        let found = if self.random.one_in(2) {
            self.recover(&self.database(), transcript)
        } else {
            let for_us = self.directory.join("for Terrace");
            copy(&self.database(), &for_us).map_err(io)?;
            let found = self.recover(&for_us, transcript);
            fs::remove_dir_all(&for_us).map_err(io)?;
            found
        };
        let (oracle, digest) = found?;
        self.oracle = oracle;
        let Some(leveldb) = &mut self.leveldb else { return fs::remove_dir_all(&for_leveldb).map_err(io) };
        leveldb.expect(&digest)?;
        self.tally.one("LevelDB checks");
        if self.random.one_in(4) {
            self.tally.one("databases taken over from LevelDB");
            fs::remove_dir_all(self.database()).map_err(io)?;
            return fs::rename(&for_leveldb, self.database()).map_err(io);
        }
        fs::remove_dir_all(&for_leveldb).map_err(io)
    }

    fn recover(&self, directory: &Path, transcript: &Transcript) -> Result<(Oracle, Digest), String> {
        let mut oracle = self.oracle.clone();
        let digest = self.check(
            directory,
            &mut oracle,
            &transcript.acknowledged,
            &begun(transcript.opened, &transcript.acknowledged),
        )?;
        Ok((oracle, digest))
    }

    /// Opens `directory` and asks the oracle.
    fn check(
        &self,
        directory: &Path,
        oracle: &mut Oracle,
        at_least: &[u64],
        at_most: &[u64],
    ) -> Result<Digest, String> {
        let db = Db::open(directory, self.options()).map_err(|error| format!("open: {error}"))?;
        let (found, digest) = contents(&db)?;
        oracle.accept(&found, at_least, at_most)?;
        db.close().map_err(|error| format!("close: {error}"))?;
        Ok(digest)
    }

    /// Checks that a checkpoint that is done, or already has a CURRENT, holds what was acknowledged before.
    fn check_checkpoint(&mut self, checkpoint: &Checkpoint, mut oracle: Oracle) -> Result<(), String> {
        let directory = self.checkpoints().join(&checkpoint.name);
        if checkpoint.done_at.is_some() || holds_database(&directory) {
            let at_most =
                checkpoint.done_at.clone().map_or_else(|| self.oracle.counts(), |at| begun(true, &at));
            let digest = self.check(&directory, &mut oracle, &checkpoint.at_least, &at_most)?;
            if let Some(leveldb) = &mut self.leveldb {
                leveldb.ask(&directory)?;
                leveldb.expect(&digest)?;
                self.tally.one("LevelDB checks");
            }
            self.tally.one("checkpoints");
        }
        if directory.exists() {
            fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// How many batches of each lane may be there: one more than was acknowledged if the lanes were writing.
pub(super) fn begun(is_writing: bool, acknowledged: &[u64]) -> Vec<u64> {
    acknowledged.iter().map(|count| count + u64::from(is_writing)).collect()
}
