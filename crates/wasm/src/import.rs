//! Makes a database of the files of a LevelDB directory, which the host hands over piece by piece.
//!
//! They are written to the stage of the pool, checked there, and then take the place of what was there before, in one change. So a database
//! is there whole or not at all, wherever the process dies. The next opening of the pool removes what an import has left that failed.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use terrace_engine::env::pooled::STAGE;
use terrace_engine::env::{Env, PooledEnv, WritableFile};
use terrace_engine::{Db, Options};
use terrace_wasm_abi::{Failure, Outcome};

use crate::database::{DIRECTORY, RESERVED_FILES, pool, reserving};
use crate::failures::{failed, failed_file};

/// Files that an import leaves once the host can open no more: those that no write may take, and some for writes.
const LEFT_FILES: usize = 2 * RESERVED_FILES;

const TOO_MANY_FILES: &str = "these are more files than there may be here. compactRange() makes fewer: where they come from, in Node with a larger maxFileSize";

/// The file without which there is no database.
const CURRENT: &str = "CURRENT";

pub(crate) struct Import {
    env: PooledEnv,
    /// The file that is being written.
    file: Option<Box<dyn WritableFile>>,
    /// Once all files are there: the database, and its tables that were not checked yet.
    opened: Option<(Db, Vec<u64>)>,
}

impl Import {
    /// Begins. Unless `replaces`, it is an error if there is a database.
    pub(crate) fn new(replaces: bool) -> Outcome<Self> {
        let env = pool()?;
        let current = Path::new(DIRECTORY).join(CURRENT);
        if !replaces && env.exists(&current).map_err(failed_file)? {
            return Err(Failure::new("AlreadyExists", "there is a database already"));
        }
        env.create_directory_all(Path::new(STAGE)).map_err(failed_file)?;
        Ok(Self { env, file: None, opened: None })
    }

    /// How many files can be created before the host has to open more.
    pub(crate) fn free_files(&self) -> usize {
        self.env.free_slots()
    }

    /// Begins a file.
    pub(crate) fn create(&mut self, name: &[u8]) -> Outcome<()> {
        let name = str::from_utf8(name)
            .map_err(|_| Failure::new("InvalidArgument", "the name of a file is not UTF-8"))?;
        let create = || self.env.create(&Path::new(STAGE).join(name));
        let file = reserving(LEFT_FILES, Some(&self.env), create).map_err(|error| match error.kind() {
            ErrorKind::StorageFull => Failure::new("Io", TOO_MANY_FILES),
            _ => failed_file(error),
        })?;
        self.file = Some(file);
        Ok(())
    }

    /// Adds bytes to the file.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        let file = self.file.as_mut().ok_or_else(|| Failure::unknown("file"))?;
        file.append(bytes).map_err(failed_file)
    }

    /// Ends the file, which is durable then.
    pub(crate) fn finish_file(&mut self) -> Outcome<()> {
        let mut file = self.file.take().ok_or_else(|| Failure::unknown("file"))?;
        file.sync().and_then(|()| file.close()).map_err(failed_file)
    }

    /// Opens the database, or checks one of its tables. Returns whether there is more to check.
    pub(crate) fn check(&mut self) -> Outcome<bool> {
        if let Some((db, tables)) = &mut self.opened {
            let Some(number) = tables.pop() else { return Ok(false) };
            db.verify_table(number).map_err(failed)?;
            return Ok(!tables.is_empty());
        }
        // The database is opened twice, here and by its user. Each open takes some of the reserved files.
        self.env.reserve_slots(0);
        let options =
            Options { create_if_missing: false, env: Arc::new(self.env.clone()), ..Options::default() };
        let db = Db::open(STAGE, options).map_err(failed)?;
        let tables: Vec<_> = db.tables().map_err(failed)?.iter().map(|table| table.number).collect();
        let is_empty = tables.is_empty();
        self.opened = Some((db, tables));
        Ok(!is_empty)
    }

    /// Puts the database, which was checked, in its place.
    pub(crate) fn finish(self) -> Outcome<()> {
        let (db, _) = self.opened.ok_or_else(|| Failure::unknown("checked import"))?;
        db.close().map_err(failed)?;
        self.env.make_root(Path::new(STAGE)).map_err(failed_file)
    }
}
