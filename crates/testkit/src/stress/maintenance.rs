//! Threads that flush, compact, make checkpoints and ingest while others read and write.

use std::path::PathBuf;
use std::sync::Arc;

use terrace_engine::env::Env;
use terrace_engine::{Db, Error, IterOptions, Options, TableFileOptions, TableFileWriter};

use super::content::{WRITERS, changes, numbers};
use super::progress::{Progress, Step, Stop, stop};
use super::reader::forwards;
use crate::campaign::Tally;
use crate::random::Random;

/// The author of the ingested tables.
const INGESTER: usize = WRITERS;

pub(super) struct Maintenance<'a> {
    pub(super) db: &'a Db,
    pub(super) progress: &'a Progress,
    pub(super) random: Random,
    pub(super) env: Arc<dyn Env>,
    /// A prefix of paths that only this thread uses.
    pub(super) scratch: PathBuf,
}

impl Maintenance<'_> {
    /// Flushes, compacts and makes checkpoints until the database is closed.
    pub(super) fn run(mut self) -> Result<Tally, String> {
        let mut tally = Tally::default();
        let progress = self.progress;
        let mut checkpoints = 0;
        progress.repeat(|| {
            match self.random.below(8) {
                0 => {
                    checkpoints += 1;
                    self.checkpoint(checkpoints)?;
                    tally.one("checkpoints");
                }
                1 | 2 => {
                    let begin = self.random.below(4).to_string();
                    let begin = self.random.one_in(2).then_some(begin.as_bytes());
                    self.db.compact_range(begin, None).map_err(stop("compact_range"))?;
                    tally.one("compactions of a range");
                }
                _ => {
                    self.db.flush().map_err(stop("flush"))?;
                    tally.one("flushes");
                }
            }
            Ok(())
        })?;
        Ok(tally)
    }

    /// Checks that a checkpoint holds at least what was acknowledged before, and each batch completely.
    fn checkpoint(&self, number: usize) -> Step {
        let target = self.scratch.with_extension(format!("checkpoint-{number}"));
        let floor = self.progress.acknowledged();
        self.db.checkpoint(&target).map_err(stop("checkpoint"))?;
        let broken = |error: Error| Stop::Broken(format!("reading a checkpoint: {error}"));
        let options = Options { env: Arc::clone(&self.env), read_only: true, ..Options::default() };
        let copy = Db::open(&target, options).map_err(broken)?;
        let entries = forwards(&mut copy.iter(IterOptions::default()).map_err(broken)?)?;
        let seen =
            numbers(&entries).map_err(|problem| Stop::Broken(format!("in a checkpoint: {problem}")))?;
        self.progress.check(&floor, &seen).map_err(Stop::Broken)?;
        copy.close().map_err(broken)?;
        Db::destroy(&target, &Options { env: Arc::clone(&self.env), ..Options::default() })
            .map(drop)
            .map_err(broken)
    }

    /// Writes batches as tables and ingests them until the database is closed.
    pub(super) fn run_ingester(self) -> Result<Tally, String> {
        let mut tally = Tally::default();
        self.progress.repeat(|| {
            let number = self.progress.begin(INGESTER);
            let path = self.scratch.with_extension("table");
            self.make_table(&path, number).map_err(stop("making a table"))?;
            self.db.ingest(&[path]).map_err(stop("ingest"))?;
            self.progress.acknowledge(INGESTER, number);
            tally.one("ingests");
            Ok(())
        })?;
        Ok(tally)
    }

    fn make_table(&self, path: &PathBuf, number: u64) -> Result<(), Error> {
        let options = TableFileOptions { env: Arc::clone(&self.env), ..TableFileOptions::default() };
        let mut table = TableFileWriter::create(path, options)?;
        for (key, value) in changes(INGESTER, number) {
            match value {
                Some(value) => table.put(&key, &value)?,
                None => table.delete(&key)?,
            }
        }
        table.finish().map(drop)
    }
}
